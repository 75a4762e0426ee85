"""Any schemes on the same measures: what each makes of all scores, and what that costs, learns and keeps.

Scores are those of `posenc.registry.position_scores`. Schemes of one axis are measured on n positions; those
of several axes on a grid of about n cells, and for their curve on one row of n cells.

Letters: i, j position of a query and of a key, k = i − j how far the key lies back, n positions.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from posenc.arrays import Floats
from posenc.grid import grid_cells
from posenc.implementations import IMPLEMENTATIONS, Implementation
from posenc.parameters import BASE, HEAD_DIM, N_HEADS, Choice, Integer
from posenc.registry import SCHEMES, Scheme, Sizes, position_scores
from posenc.similarity import by_offset

MAX_LEN = Integer("max_len", default=512, minimum=1, maximum=1_048_576)
# No published model that we know has more; all scores of all heads are then 16 MiB.
COMPARED_HEADS = replace(N_HEADS, maximum=128)
SCORE_SCALE: Choice[str] = Choice("score_scale", ("change", "own"))
MOST_POSITIONS = 128  # of which every pair is shown
USUAL = ("sinusoidal", "learned", "rotary", "alibi", "t5")
# Smaller differences, as a share of the largest score, are rounding.
ROUNDING = 1e-12
# Published with a base of their own, which the shared one does not replace.
OWN_BASE = frozenset({"llama3", "proportional", "axial_rotary", "mixed_rotary"})
# A table of these needs whole pairs for each axis: the width is a multiple of this.
_MULTIPLES = {"multimodal_rotary": 16, "video": 16}


class Setting(NamedTuple):
    """What a model is like in which schemes are compared; `head` counts from 0."""

    n: int
    d_model: int
    n_heads: int
    head: int
    max_len: int
    base: float
    seed: int

    @property
    def sizes(self) -> Sizes:
        """What decides how many numbers are learned; a window has the cells of the grid."""
        return Sizes(self.max_len, self.d_model, self.n_heads, *shape(2, self.n))


class Arguments(NamedTuple):
    """How `position_scores` is called: for all pairs, and for a curve along the last axis."""

    places: int | tuple[int, ...]
    line: int | tuple[int, ...]
    size: int
    options: dict[str, Any]


class Measured(NamedTuple):
    """One scheme in one setting.

    `scores` (n, n) of all pairs; `curve` (n,) the mean score of the pairs with the key k = 0 … n − 1 back.
    `spread` is the largest difference between two scores of one offset, as a share of `greatest` − `least`:
    0 where that is rounding, NaN where there is but one position. `rises` are the k at which the curve is
    higher than at k − 1, `level` whether it never changes.
    """

    scores: Floats
    curve: Floats
    least: float
    greatest: float
    spread: float
    rises: tuple[int, ...]
    level: bool


class Cost(NamedTuple):
    """Arithmetic for one token: once (``"input"``), or in each layer; ``"rows"`` leaves a product uncounted.

    Making what is the same for all sequences (a table, angles, biases of offsets) is not counted.
    """

    where: Literal["nothing", "input", "turn", "bias", "rows"]
    multiplications: int
    additions: int


def drawn(seq_len: int, max_len: int) -> int:
    """Return how many positions are compared pair by pair, all of them within the trained length."""
    return min(seq_len, max_len, MOST_POSITIONS)


def of_kind(kind: str) -> list[str]:
    """Return all schemes of a kind."""
    return [scheme.name for scheme in SCHEMES.values() if scheme.kind == kind]


def implementations(name: str) -> list[Implementation]:
    """Return the functions and classes of libraries that are this scheme."""
    return [each for each in IMPLEMENTATIONS.values() if each.scheme == name]


def shape(axes: int, n: int) -> tuple[int, ...]:
    """Return a grid of n cells or a few less, wider than high; with three axes of two frames, if it can."""
    if axes == 1:
        return (n,)
    if axes == 3:
        frames = min(n, 2)
        return frames, *shape(2, n // frames)
    height = max(1, math.isqrt(n // 2))
    return height, n // height


def undefined(names: list[str], base: float) -> list[str]:
    """Return the schemes that this base does not define: YaRN needs pairs of different rates."""
    return [name for name in names if name == "yarn" and base == BASE.minimum]


def arguments(name: str, setting: Setting) -> Arguments:
    """Say how a scheme is built in this setting.

    Tables have `d_model` columns and a head d_model/n_heads features, both rounded down to whole pairs for
    each axis. Whatever else a scheme has is as published, see `posenc.registry`.
    """
    scheme = SCHEMES[name]
    offered = {"base": setting.base, "seed": setting.seed, "max_len": setting.n}
    options = {key: offered[key] for key in scheme.parameters if key in offered}
    if name in OWN_BASE:
        options.pop("base")
    if name == "sandwich":
        options["d_model"] = _whole(setting.d_model, 2)
    places, line = shape(scheme.axes, setting.n), (*(1,) * (scheme.axes - 1), setting.n)
    one = scheme.axes == 1
    return Arguments(
        setting.n if one else places, setting.n if one else line, _size(scheme, setting), options
    )


def measure(name: str, setting: Setting) -> Measured:
    """Measure one scheme; of a bias the chosen head. The arrays are read-only."""
    places, line, size, options = arguments(name, setting)
    head = setting.head if SCHEMES[name].kind == "bias" else 0
    return _measured(name, places, line, size, tuple(options.items()), head)


# Whatever else a setting says does not count. Of 0.13 MB at most each: all schemes twice.
@lru_cache(maxsize=64)
def _measured(
    name: str,
    places: int | tuple[int, ...],
    line: int | tuple[int, ...],
    size: int,
    options: tuple[tuple[str, Any], ...],
    head: int,
) -> Measured:
    scores = _scores(name, places, size, options, head)
    along = scores if places == line else _scores(name, line, size, options, head)
    curve = by_offset(along.T).mean
    least, greatest = float(scores.min()), float(scores.max())
    rounding = ROUNDING * max(abs(least), abs(greatest))
    steps = np.diff(curve)
    scores.flags.writeable = curve.flags.writeable = False
    return Measured(
        scores,
        curve,
        least,
        greatest,
        _spread(scores, (places,) if isinstance(places, int) else places, rounding),
        tuple((np.flatnonzero(steps > rounding) + 1).tolist()),
        bool((np.abs(steps) <= rounding).all()),
    )


def _scores(
    name: str, places: int | tuple[int, ...], size: int, options: tuple[tuple[str, Any], ...], head: int
) -> Floats:
    """Return the scores of one head, and let go of those of the others."""
    scores: Floats = position_scores(name, places, size, **dict(options))[head].copy()
    return scores


def scaled(values: Floats, zero: float, scale: str) -> Floats:
    """Return scores as they are, or their change from offset 0, the largest change counting as 1."""
    if SCORE_SCALE.check(scale) == "own":
        return values
    change = values - zero
    largest = float(np.abs(change).max())
    # What only rounding tells from offset 0 has not changed.
    rounding = ROUNDING * float(np.abs(values).max())
    return change / largest if largest > rounding else np.zeros_like(values)


def curves(found: Iterable[Measured], scale: str) -> Floats:
    """Return the curves of several schemes, a row each."""
    return np.stack([scaled(each.curve, float(each.curve[0]), scale) for each in found])


def cost(name: str, setting: Setting) -> Cost:
    """Count what a scheme adds to the work on one token, in a model of this setting with n keys."""
    scheme = SCHEMES[name]
    if name == "none":
        return Cost("nothing", 0, 0)
    if scheme.kind in ("absolute", "grid"):
        return Cost("input", 0, _size(scheme, setting))
    if scheme.kind == "rotary":  # 4 products and 2 sums for each pair, of the query and of the key
        turned = _size(scheme, setting) * setting.n_heads
        return Cost("turn", 4 * turned, 2 * turned)
    sums = setting.n * setting.n_heads
    if name == "deberta":  # content to position, and position to content
        return Cost("rows", 0, 2 * sums)
    return Cost("rows" if name == "shaw" else "bias", 0, sums)


def _size(scheme: Scheme, setting: Setting) -> int:
    if scheme.kind == "bias":
        return setting.n_heads
    multiple = _MULTIPLES.get(scheme.name, 4 if scheme.axes > 1 else 2)
    if scheme.kind == "rotary":
        return _whole(min(setting.d_model // setting.n_heads, HEAD_DIM.maximum), multiple)
    return setting.d_model if scheme.kind == "absolute" else _whole(setting.d_model, multiple)


def _whole(width: int, multiple: int) -> int:
    """Round down to a multiple, but not to 0."""
    return max(multiple, width - width % multiple)


def _spread(scores: Floats, grid: tuple[int, ...], rounding: float) -> float:
    """Return the largest difference of two scores of one offset, as a share of all differences."""
    if len(scores) == 1:
        return math.nan
    cells = grid_cells(grid).reshape(len(scores), -1).astype(np.int64) if len(grid) > 1 else None
    places = np.arange(len(scores))[:, np.newaxis] if cells is None else cells
    apart = places[:, np.newaxis] - places + (np.array(grid) - 1)  # from 0, along each axis
    sides = tuple(2 * side - 1 for side in grid)
    offset = np.ravel_multi_index(tuple(np.moveaxis(apart, -1, 0)), sides)
    least, greatest = np.full(math.prod(sides), np.inf), np.full(math.prod(sides), -np.inf)
    np.minimum.at(least, offset, scores)
    np.maximum.at(greatest, offset, scores)
    widest = float((greatest - least).max())
    return widest / float(np.ptp(scores)) if widest > rounding else 0.0
