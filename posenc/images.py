"""The cells of an image and their codes, as measured on the page about images and grids.

A cell (y, x) of H × W. Three sets of wave vectors k_i stand side by side (`posenc.grid`): along the axes, all
along one direction because the cells are counted row by row, and those along the axes turned by an angle.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.grid import (
    GRID_FORMS,
    GridForm,
    Table,
    axial_vectors,
    cell_similarity,
    check_cell,
    check_shape,
    flat_vectors,
    grid_sinusoidal,
    misread_cells,
    mixed_vectors,
    split_width,
    wave_sum,
)
from posenc.grid_blocks import form_columns
from posenc.parameters import HEAD_DIM, HEIGHT, WIDTH, Choice, Integer
from posenc.rotary import axial_angles, turn
from posenc.sinusoidal import inv_freq

# 256 cells a side: an image of 4,096 × 4,096 pixels in patches of 16. All of them are compared in a second.
IMAGE_HEIGHT = replace(HEIGHT, maximum=256)
IMAGE_WIDTH = replace(WIDTH, maximum=256)
AXIAL_HEAD_DIM = replace(HEAD_DIM, default=64)
TURN = Integer("turn", default=30, minimum=0, maximum=90)
IMAGE_FORMS: Mapping[str, GridForm] = MappingProxyType(
    {name: form for name, form in GRID_FORMS.items() if len(form.axes) == 2}
)
FORM = Choice("form", tuple(IMAGE_FORMS))
KINDS = ("axial", "flat", "mixed")
AXES = ("y", "x")
LETTERS = "xyt"  # of all axes there are, in the order of their colours
OFFSETS = ("right", "below", "corner", "ends", "wrap")
FOUR = 4  # columns of a pair of sine and cosine on each of two axes

MOST_VALUES = 2**20  # of a table that is offered: four mebibytes of float32

SPREAD = 0.1  # of the cosines that a scale of colours shows at least

_MOVE = (100, 7)  # rows and columns by which a query and its key are moved together
_SAMPLE = 64  # cells of which all pairs are compared


def whole_width(d_model: int) -> int:
    """Return the width in which both axes have whole pairs: rounded down to a multiple of 4, at least 4."""
    return max(d_model - d_model % FOUR, FOUR)


def count(shape: Sequence[int]) -> int:
    """Return the number of cells."""
    return math.prod(check_shape(shape))


def scale(*maps: Floats) -> dict[str, Any]:
    """Return one scale of colours for cosines that are mostly near 1: from the least of all to 1."""
    least = min(float(values.min()) for values in maps)
    return {"limit": 1.0, "low": min(least, 1 - SPREAD), "sequential": True}


def row_and_column(shape: Sequence[int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return y and x of every cell in row-major order, (H·W,) each."""
    y, x = np.divmod(np.arange(count(shape)), shape[1])
    return y, x


def kept_cells(shape: Sequence[int], d_model: int) -> int:
    """Return how many rows of the table are offered: all, or as many as make a file of reasonable size."""
    return min(count(shape), max(1, MOST_VALUES // d_model))


def vectors(kind: str, shape: Sequence[int], d_model: int, *, base: float, turn: int = 0) -> Floats:
    """Return the wave vectors of one of the `KINDS`.

    Parameters
    ----------
    kind
        ``"axial"``, ``"flat"`` (row-major count), or ``"mixed"`` (the axial ones turned).
    shape
        (H, W).
    d_model
        A multiple of 4.
    base
        As in `posenc.sinusoidal`.
    turn
        Of the mixed ones, in degrees.

    Returns
    -------
    (2, d_model/2) float64, radians per cell
    """
    if kind == "flat":
        return flat_vectors(shape, d_model, base=base)
    return mixed_vectors(d_model, math.radians(turn) if kind == "mixed" else 0.0, base=base)


@lru_cache(maxsize=24)  # 12 MB of the largest grids, of which one takes a second at the largest widths
def similarity(
    kind: str, shape: tuple[int, int], cell: tuple[int, int], d_model: int, *, base: float, turn: int = 0
) -> Floats:
    """Return the cosine of the code of one cell and that of every cell, (H, W), read-only.

    Parameters
    ----------
    cell
        (y, x).
    kind, shape, d_model, base, turn
        As in `vectors`.
    """
    found = cell_similarity(vectors(kind, shape, d_model, base=base, turn=turn), shape, cell)
    found.flags.writeable = False
    return found


def neighbours(vectors: Floats, shape: Sequence[int]) -> dict[str, float]:
    """Return the cosine of the codes of two cells at telling offsets; NaN where the grid is too small.

    ``right`` and ``below`` are next to each other, ``corner`` touch at a corner, ``ends`` are the two ends of
    one row, and ``wrap`` the last cell of a row and the first of the next.
    """
    height, width = check_shape(shape)
    found = {}
    for name, offset in zip(OFFSETS, ((0, 1), (1, 0), (1, 1), (0, width - 1), (1, 1 - width)), strict=True):
        there = abs(offset[0]) < height and abs(offset[1]) < width and (name != "ends" or width > 1)
        found[name] = _cosine(vectors, offset) if there else math.nan
    return found


@lru_cache(maxsize=96)  # five numbers each
def near(
    kind: str, shape: tuple[int, int], d_model: int, *, base: float, turn: int = 0
) -> Mapping[str, float]:
    """Return the `neighbours` of one of the `KINDS`, whose arguments are those of `vectors`."""
    return MappingProxyType(neighbours(vectors(kind, shape, d_model, base=base, turn=turn), shape))


class Tile(NamedTuple):
    """A column of a table: the letter of its axis, its function, and the number of its rate on that axis."""

    axis: str
    is_cos: bool
    pair: int


@lru_cache(maxsize=len(GRID_FORMS))  # all there are, sixteen columns each
def tiles(name: str) -> tuple[Tile, ...]:
    """Return the columns of a form of `GRID_FORMS` in their order, at width 16, which all of them take."""
    form = GRID_FORMS[name]
    letters, order = "tyx"[-len(form.axes) :], form_columns(form, 16)
    columns = zip(order.axis, order.pair, order.is_cos, strict=True)
    return tuple(Tile(letters[axis], bool(is_cos), int(pair)) for axis, pair, is_cos in columns)


def rates_per_cell(name: str, shape: Sequence[int], d_model: int, *, base: float) -> Floats:
    """Return the rate of each column of a form's table in radians per cell, (d_model,).

    DETR stretches the coordinates, so there a cell is not a step of 1.
    """
    form, order = IMAGE_FORMS[name], form_columns(IMAGE_FORMS[name], d_model, base=base)
    steps = form.vectors(shape, FOUR, base=base).max(axis=1)  # of the fastest pair, whose rate is 1
    return np.asarray(order.rate * steps[order.axis])


def first_cells(name: str, shape: Sequence[int], d_model: int, count: int, *, base: float) -> Table:
    """Return the first rows of a form's table over the cells, (count, d_model) float32."""
    form = IMAGE_FORMS[name]
    return grid_sinusoidal(
        form.coordinates(shape).reshape(-1, 2)[:count],
        split_width(d_model, form.shares),
        axes=form.axes,
        base=base,
        freq_shift=form.freq_shift,
        grid_layout=form.grid_layout,
    )


class Order(NamedTuple):
    """How far a form is from that of MAE: the largest difference of any value, and of any cosine."""

    table: float
    similarity: float


def besides(name: str) -> str:
    """Say in what a form differs from MAE: ``"rates"``, ``"coordinates"``, or nothing but the ``"order"``."""
    form = IMAGE_FORMS[name]
    return "rates" if form.freq_shift else "coordinates" if form.scale or form.first else "order"


@lru_cache(maxsize=32)  # a dozen numbers each
def orders(shape: tuple[int, int], d_model: int, *, base: float) -> Mapping[str, Order]:
    """Compare the table of every form with that of MAE, and the cosines of its cells with MAE's.

    Computed from the tables, for all pairs of up to 64 cells spread over the grid.

    Parameters
    ----------
    shape
        (H, W).
    d_model
        A multiple of 4.
    base
        As in `posenc.sinusoidal`.
    """
    cells = count(shape)
    some = np.linspace(0, cells - 1, min(cells, _SAMPLE, MOST_VALUES // (4 * d_model))).astype(np.intp)
    tables = {
        name: grid_sinusoidal(
            form.coordinates(shape).reshape(cells, 2)[some],
            split_width(d_model, form.shares),
            axes=form.axes,
            base=base,
            freq_shift=form.freq_shift,
            grid_layout=form.grid_layout,
            dtype=np.float64,
        )
        for name, form in IMAGE_FORMS.items()
    }
    grams = {name: table @ table.T / (d_model / 2) for name, table in tables.items()}
    return MappingProxyType(
        {
            name: Order(
                float(np.abs(table - tables["mae"]).max()), float(np.abs(grams[name] - grams["mae"]).max())
            )
            for name, table in tables.items()
        }
    )


class Swap(NamedTuple):
    """What becomes of the codes when height and width are swapped.

    ``kept`` of the cells have their own code; `right` and `below` are the mean cosine of two cells side by
    side and one above the other, as they should be and as they are read; NaN where the grid is too small.
    """

    cells: NDArray[np.intp]  # (H, W, 2), as `misread_cells`
    kept: int
    right: tuple[float, float]
    below: tuple[float, float]

    @property
    def last(self) -> tuple[float, float]:
        """Number of the last row and of the last column."""
        return float(self.cells.shape[0] - 1), float(self.cells.shape[1] - 1)

    @property
    def square(self) -> bool:
        """Whether the swap is only a transposition."""
        return bool(self.cells.shape[0] == self.cells.shape[1])


def swap(vectors: Floats, shape: Sequence[int]) -> Swap:
    """Swap height and width, and measure what becomes of neighbours.

    Parameters
    ----------
    vectors
        (2, m) wave vectors of the table.
    shape
        (H, W).
    """
    cells = misread_cells(shape)
    own = np.moveaxis(np.indices(cells.shape[:2]), 0, -1)
    across, down = np.diff(cells, axis=1).reshape(-1, 2), np.diff(cells, axis=0).reshape(-1, 2)
    return Swap(
        cells,
        int((cells == own).all(axis=2).sum()),
        (_mean(vectors, [(0, 1)] * len(across)), _mean(vectors, across)),
        (_mean(vectors, [(1, 0)] * len(down)), _mean(vectors, down)),
    )


def misread_similarity(vectors: Floats, shape: Sequence[int], cell: Sequence[int]) -> Floats:
    """Return the cosine of the code that a cell gets and those that all cells get, after a swap, (H, W)."""
    sizes = check_shape(shape)
    given = misread_cells(sizes)
    here = given[check_cell(cell, sizes)]
    found = cell_similarity(vectors, sizes, tuple(map(int, here)))
    return found[given[..., 0], given[..., 1]]


class Scores(NamedTuple):
    """Scores of axial rotary embedding between a query at one cell and keys at all cells, (H, W).

    `ones` where both are all ones, `drawn` where both are normal; `score` is that of `drawn` with the key at
    cell (0, 0), `moved` the same with both cells moved on, each by rotating the vectors themselves.
    """

    ones: Floats
    drawn: Floats
    score: float
    moved: float
    move: tuple[int, int]


def rotary_scores(
    shape: Sequence[int], cell: tuple[int, int], head_dim: int, *, base: float, seed: int
) -> Scores:
    """Return the scores of axial rotary embedding, without the division by √head_dim.

    Half of the pairs turn by y and half by x. The score is Re Σ conj(q_i)·k_i·exp(i·k_i·(c′ − c)), a function
    of (y′ − y, x′ − x).

    Parameters
    ----------
    shape
        (H, W).
    cell
        Where the query is.
    head_dim
        A multiple of 4.
    base, seed
        Of the rates, and of the drawn vectors.
    """
    half, query_and_key = (
        HEAD_DIM.check(head_dim) // 2,
        np.random.default_rng(seed).normal(size=(2, head_dim)),
    )
    waves = axial_vectors((half, half), base=base)
    query, key = query_and_key[:, :half] + 1j * query_and_key[:, half:]
    rates = rotary_pairs(head_dim, base=base).one_axis

    def score(at_query: tuple[int, int], at_key: tuple[int, int]) -> float:
        angles = axial_angles([at_query, at_key], [rates, rates])
        first, second = turn(query_and_key, angles)
        return float(first @ second)

    down, across = _MOVE
    return Scores(
        wave_sum(waves, shape, cell, np.full(half, 2.0 + 0j)),
        wave_sum(waves, shape, cell, query.conj() * key),
        score(cell, (0, 0)),
        score((cell[0] + down, cell[1] + across), _MOVE),
        _MOVE,
    )


class AxialPairs(NamedTuple):
    """The pairs of axial rotary embedding, (head_dim/2,): their rates, and whether they turn by x or by y."""

    rates: Floats
    by_x: NDArray[np.bool_]

    @property
    def one_axis(self) -> Floats:
        """The rates of the pairs of one axis, (head_dim/4,), the same for both."""
        return self.rates[self.by_x]


def rotary_pairs(head_dim: int, *, base: float) -> AxialPairs:
    """Return the pairs of axial rotary embedding: the first half turns by y, the second by x.

    Parameters
    ----------
    head_dim
        A multiple of 4.
    base
        As in `posenc.rotary`: the rates are those of half the width.
    """
    rates = inv_freq(head_dim // 2, base=base)
    return AxialPairs(np.tile(rates, 2), np.repeat([False, True], len(rates)))


def _cosine(vectors: Floats, offset: Sequence[float]) -> float:
    return float(np.cos(np.asarray(offset) @ vectors).mean())


def _mean(vectors: Floats, offsets: Sequence[tuple[int, int]] | NDArray[np.intp]) -> float:
    """Return the mean cosine over pairs of cells at these offsets, of which only few differ."""
    if len(offsets) == 0:
        return math.nan
    different, counts = np.unique(np.asarray(offsets) @ (1, 1j), return_counts=True)
    cosines = [_cosine(vectors, (offset.real, offset.imag)) for offset in different]
    return float(np.average(cosines, weights=counts))
