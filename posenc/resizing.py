"""The table of a grid resized, and beside it the sinusoid computed for the new grid: how far apart they are.

The new cells divide the same image: cell o of n_out lies at (o + ½)·n_in/n_out − ½, in cells of the old grid,
where `posenc.interpolation` reads it. There the sinusoid has a value, which the resized table should have.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from posenc.arrays import Floats
from posenc.grid import GRID_FORMS, check_shape, grid_cells, grid_sinusoidal
from posenc.images import FOUR, IMAGE_HEIGHT, whole_width
from posenc.interpolation import GRID_METHOD, SquareGrid, resize_grid, square_grid
from posenc.learned import random_init
from posenc.parameters import Choice, Integer
from posenc.sinusoidal import wavelengths

VALUES: Choice[str] = Choice("values", ("sinusoid", "random"))
MOST_VALUES = 2**19  # of a table that is resized: four mebibytes
# Old and new cells a side, of which a ratio in place of the size loses one (facebookresearch/dinov2#378).
LOST = ((14, 61), (37, 43))


@dataclass(frozen=True)
class Task:
    """What is to be resized, and how.

    Parameters
    ----------
    values
        ``"sinusoid"``, in the order of MAE (x before y), or ``"random"``: independent N(0, 0.02²), as tables
        are before they are trained.
    old, new
        (H, W) and (H′, W′).
    d_model
        A multiple of 4.
    base
        Of the sinusoid.
    method, antialias
        As in `posenc.interpolation.resize_grid`.
    class_token
        Whether a row for it stands before those of the cells: zero beside the sinusoid, as in MAE, and drawn
        as the others are in a random table.
    """

    values: str
    old: tuple[int, int]
    new: tuple[int, int]
    d_model: int
    base: float
    method: str
    antialias: bool
    class_token: bool

    @property
    def given(self) -> Floats:
        """The table before, a row for each cell, (H·W, d_model) or one row more."""
        rows, extra = math.prod(check_shape(self.old)), int(self.class_token)
        if VALUES.check(self.values) == "random":
            return random_init(extra + rows, self.d_model).astype(np.float64)
        cells = GRID_FORMS["mae"].table(self.old, self.d_model, base=self.base, dtype=np.float64)
        return np.concatenate([np.zeros((extra, self.d_model)), cells.reshape(rows, self.d_model)])

    @property
    def direct(self) -> Floats:
        """The sinusoid at the new cells, (H′, W′, d_model)."""
        step = [old / new for old, new in zip(self.old, self.new, strict=True)]
        places = grid_cells(self.new, first=[(s - 1) / 2 for s in step], step=step)
        half = self.d_model // 2
        table = grid_sinusoidal(places, (half, half), axes=(1, 0), base=self.base, dtype=np.float64)
        return table.astype(np.float64, copy=False)

    @property
    def products(self) -> tuple[int, int, int]:
        """How much work it is: cells, columns, and the weights of a kernel that make one value."""
        return max(math.prod(self.old), math.prod(self.new)), self.d_model, 4

    def resize(self, table: Floats, method: str) -> Floats:
        """Return a table at the new size, by this method."""
        prefix = int(self.class_token)
        return resize_grid(table, self.old, self.new, prefix=prefix, method=method, antialias=self.antialias)


@dataclass(frozen=True)
class Resized:
    """A table resized.

    Parameters
    ----------
    given, table
        Before and after, (rows, d_model), with the row of the class token where there is one.
    before, after
        The cells alone, (H, W, d_model) and (H′, W′, d_model).
    """

    given: Floats
    table: Floats
    before: Floats
    after: Floats

    @cached_property
    def rms(self) -> tuple[float, float]:
        """Root mean square of the cells' values before and after."""
        return _rms(self.before), _rms(self.after)

    @cached_property
    def class_change(self) -> float:
        """How much the row of the class token changed; 0 where there is none."""
        extra = len(self.given) - math.prod(self.before.shape[:2])
        return float(np.abs(self.table[:extra] - self.given[:extra]).max(initial=0.0))

    @cached_property
    def largest(self) -> float:
        """Largest absolute value before and after."""
        return float(max(np.abs(self.before).max(), np.abs(self.after).max()))


class Compared(NamedTuple):
    """A resized sinusoid beside the one computed at the new cells, `direct`.

    `error` is the root mean square of their difference in each cell, (H′, W′); `by_wave` that of each pair,
    whose `wavelengths` are in old cells, by method.
    """

    direct: Floats
    error: Floats
    wavelengths: Floats
    by_wave: dict[str, Floats]


def target(name: str, cells: int) -> Integer:
    """Return the parameter for the new number of cells on an axis: by default half as many again."""
    return replace(IMAGE_HEIGHT, name=name, default=min(cells * 3 // 2, IMAGE_HEIGHT.maximum))


def kept_width(d_model: int, *shapes: Sequence[int]) -> int:
    """Return how many columns tables of these shapes have here: a multiple of 4, `d_model` at most."""
    return min(whole_width(d_model), whole_width(MOST_VALUES // max(map(math.prod, shapes))))


def resized(task: Task) -> Resized:
    """Resize a table."""
    given, extra = task.given, int(task.class_token)
    table = task.resize(given, GRID_METHOD.check(task.method))
    return Resized(
        given,
        table,
        given[extra:].reshape(*task.old, task.d_model),
        table[extra:].reshape(*task.new, task.d_model),
    )


def compared(task: Task, found: Resized) -> Compared:
    """Compare a resized sinusoid with the one computed at the new cells, by both methods.

    Parameters
    ----------
    task
        Of a sinusoid.
    found
        What `resized` makes of it.
    """
    direct, extra, quarter = task.direct, int(task.class_token), task.d_model // FOUR
    squares = {}
    for method in GRID_METHOD.options:
        table = found.table if method == task.method else task.resize(found.given, method)
        squares[method] = (table[extra:].reshape(direct.shape) - direct) ** 2
    return Compared(
        direct,
        np.sqrt(squares[task.method].mean(axis=2)),
        wavelengths(2 * quarter, base=task.base),
        # The columns are four blocks, of sines and cosines of x and of y, with the same rates.
        {
            method: np.sqrt(square.reshape(-1, FOUR, quarter).mean(axis=(0, 1)))
            for method, square in squares.items()
        },
    )


def by_ratio(old: int, new: int) -> int:
    """Return how many cells come of a ratio in place of the size: ⌊old · (new/old)⌋ in floating point."""
    return math.floor(old * (new / old))


class Guess(NamedTuple):
    """The square grid that a number of rows is for, or why there is none."""

    square: SquareGrid | None
    refusal: str = ""


def guess(rows: int) -> Guess:
    """Guess the grid from the rows of its table alone."""
    try:
        return Guess(square_grid(rows))
    except ValueError as refused:
        return Guess(None, str(refused))


def _rms(values: Floats) -> float:
    return float(np.sqrt((values**2).mean()))
