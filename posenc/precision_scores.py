"""The score of every two positions with rounding, cut into blocks and never made; beside it what is exact.

The score of positions p and q is that of a rotated query and key of ones, and the cosine of two rows of the
sinusoid, with the waves as they come out in a format (`posenc.precision.waves_in`):

    s(p, q) = (1/m) Σ_i cos(p·ω_i)·cos(q·ω_i) + sin(p·ω_i)·sin(q·ω_i)

Products and sum are exact. Rounding takes from s that it depends on p − q alone, so that `posenc.offsets` has
no answer; but it stays a product of a part of p and a part of q, and the mean over a block of positions is
that of the two means. Letters: b blocks along an axis, l positions looked at in each, m pairs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats
from posenc.blocks import FARTHEST, MOST_COLUMNS, MOST_ROWS, Blocks, Span, check_span, cut, equal_blocks
from posenc.offsets import Waves, kept
from posenc.parameters import PRECISION, SEQ_LEN, SHIFT, STAGE, Integer, Positions
from posenc.precision import angles_in, check_rates, rounded, score_in, waves_in
from posenc.precision_ranges import spread

Int64 = NDArray[np.int64]

LOOKS, _FEWEST = 16, 4  # positions looked at in a block that has more; fewer where there are many pairs
_SEEN = 2  # of them whose scores are compared for the least and the greatest of a block
_CELLS = 1 << 20  # positions × pairs looked at: a quarter of a second
_CHUNK_CELLS = 1 << 17


def first_position(position: int, seq_len: int) -> int:
    """Return where `seq_len` positions around one begin, none of them below 0 or above the last."""
    n = SEQ_LEN.check(seq_len)
    middle = Integer("position", 0, 0, SEQ_LEN.maximum - 1).check(position)
    return min(max(middle - n // 2, 0), SEQ_LEN.maximum - n)


def exact_scores(inv_freq: ArrayLike) -> Waves:
    """Return s without rounding, a function of the offset for `posenc.offsets.offset_blocks`."""
    omega = _checked(inv_freq)
    return Waves(omega, np.full(len(omega), 1 / len(omega)), np.zeros(len(omega)))


class Pictured(NamedTuple):
    """Blocks of the scores with rounding, and of the same less the exact scores."""

    made: Blocks
    difference: Blocks


def score_blocks(
    rows: Span,
    columns: Span,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
    first: int = 0,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Pictured:
    """Return the blocks of a view of the scores of positions with rounding, and of what it does to them.

    Parameters
    ----------
    rows, columns
        The view: (start, stop) of each axis, counted from the position `first`.
    inv_freq, precision, stage
        As in `posenc.precision.waves_in`.
    first
        The position of row and column 0.
    most_rows, most_columns
        How many blocks there may be along each axis. They are square, as those of `posenc.offsets`, and
        larger where there are many pairs.

    Returns
    -------
    Pictured
        Up to `LOOKS` positions a block the means are exact. Of more, so many are looked at, spread over the
        block, and what is known of the exact waves makes up for the rest: the mean of a wave is
        mean(looked at) + β·(exact mean − mean(exact ones of those looked at)), with the β between 0 and 1
        that fits best. That is the exact mean in float64, and right where a block is all one number.
        Extremes are those of a few pairs of positions: `exact` is false unless a block is one position. Where
        the format has no number for a position the score is NaN.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    omega, start = _checked(inv_freq, precision, stage), Integer("first", 0, 0, FARTHEST).check(first)
    down, across = check_span("rows", rows, FARTHEST), check_span("columns", columns, FARTHEST)
    each = max(
        -(-(down[1] - down[0]) // MOST_ROWS.check(most_rows)),
        -(-(across[1] - across[0]) // MOST_COLUMNS.check(most_columns)),
    )
    looks = min(LOOKS, max(_FEWEST, _CELLS // (max(most_rows, most_columns) * len(omega))))
    if each > 1:
        each = max(each, -(-max(down[1] - down[0], across[1] - across[0]) * looks * len(omega) // _CELLS))
    row_edges, column_edges = cut(*down, each), cut(*across, each)
    seen = _SEEN if looks > _FEWEST else 1
    means = np.zeros((2, len(row_edges) - 1, len(column_edges) - 1))
    compared: dict[tuple[int, int], Floats] = {}
    most = max(len(row_edges), len(column_edges)) * min(each, looks)
    for some in _chunks(len(omega), most):
        axes = [
            [
                _part(start + edges[blocks], blocks, size, looks, seen, omega[some], precision, stage)
                for blocks, size in equal_blocks(edges)
            ]
            for edges in ((row_edges,) if down == across else (row_edges, column_edges))
        ]
        with np.errstate(invalid="ignore"):
            for i, p in enumerate(axes[0]):
                for j, q in enumerate(axes[-1]):
                    means[:, p.blocks, q.blocks] += _scores(p.means, q.means)
                    if each > 1:
                        compared[i, j] = compared.get((i, j), 0.0) + _scores(p.looked, q.looked)
    means /= len(omega)
    if each == 1:
        return Pictured(*(Blocks(row_edges, column_edges, mean, mean, mean) for mean in means))
    least, greatest = means.copy(), means.copy()
    for i, (high, _) in enumerate(equal_blocks(row_edges)):
        for j, (wide, _) in enumerate(equal_blocks(column_edges)):
            here, shape = (slice(None), high, wide), (high.stop - high.start, wide.stop - wide.start)
            # Rows and columns of the scores: all blocks at the first look, all at the second, …
            scores = compared[i, j]
            scores = scores.reshape(2, -1, shape[0], scores.shape[2] // shape[1], shape[1])
            least[here] = np.minimum(least[here], scores.min(axis=(1, 3)) / len(omega))
            greatest[here] = np.maximum(greatest[here], scores.max(axis=(1, 3)) / len(omega))
    parts = zip(means, least, greatest, strict=True)
    return Pictured(*(Blocks(row_edges, column_edges, *values, exact=False) for values in parts))


def matrix(
    first: int, n: int, inv_freq: ArrayLike, precision: str = PRECISION.default, *, stage: str = STAGE.default
) -> Floats:
    """Return the scores of the n positions from the first on, (n, n), n up to 2048."""
    return score_blocks(
        (0, n),
        (0, n),
        inv_freq,
        precision,
        stage=stage,
        first=first,
        most_rows=MOST_ROWS.maximum,
        most_columns=MOST_COLUMNS.maximum,
    ).made.mean


def score_along(
    positions: Positions,
    offset: float,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> Floats:
    """Return s(p + k, p) for each p, as `posenc.precision.score_in`, a few positions at a time."""
    omega, k = _checked(inv_freq, precision, stage), SHIFT.check(offset)
    given = np.arange(positions) if isinstance(positions, (int, np.integer)) else np.asarray(positions)
    few = max(1, _CHUNK_CELLS // len(omega))
    parts = [given[start : start + few] for start in range(0, len(given), few)]
    return np.concatenate([score_in(part, k, omega, precision, stage=stage) for part in parts])


def _checked(inv_freq: ArrayLike, precision: str = PRECISION.default, stage: str = STAGE.default) -> Floats:
    """Refuse what `waves_in` refuses, before any work is done."""
    PRECISION.check(precision)
    STAGE.check(stage)
    return check_rates(inv_freq)


class _Part(NamedTuple):
    """Blocks of one axis: their mean waves, and the waves at a few positions; each (made, exact).

    Sines stand beside cosines: `means` (b, 2m), `looked` (positions, 2m).
    """

    blocks: slice
    means: tuple[Floats, Floats]
    looked: tuple[Floats, Floats]


def _part(
    starts: Int64, blocks: slice, size: int, looks: int, seen: int, rates: Floats, precision: str, stage: str
) -> _Part:
    """Look at `looks` positions of each block of `size` from each start on."""
    looks = min(size, looks)
    inside = spread(size, looks)
    right = _turned(starts, inside, rates)
    places = (starts + inside[:, np.newaxis]).ravel()
    made = _made(places, rates, precision, stage, right.reshape(len(places), -1)).reshape(right.shape)
    if size == 1:
        return _Part(blocks, (made[0], right[0]), (made[0], right[0]))
    target = _waves(starts + (size - 1) / 2, rates) * np.tile(kept(rates, size), 2)
    few = np.linspace(0, looks - 1, min(seen, looks)).astype(np.int64)
    looked = made[few].reshape(-1, target.shape[1]), right[few].reshape(-1, target.shape[1])
    return _Part(blocks, (_mean(made, right, target), target), looked)


def _waves(places: NDArray[np.floating] | Int64, rates: Floats) -> Floats:
    """Return the exact waves, (n, 2m)."""
    return np.concatenate(waves_in(places, rates, "float64", stage="table"), axis=1)


def _turned(starts: Int64, inside: Floats, rates: Floats) -> Floats:
    """Return the exact waves at l places inside each block from b starts on, (l, b, 2m).

    Those at the starts, turned on: sin(x + y) = sin x·cos y + cos x·sin y, in a tenth of the time of a sine.
    """
    m = len(rates)
    at = _waves(starts, rates)
    if len(inside) == 1:
        return at[np.newaxis]
    sine, cosine = at[:, :m], at[:, m:]
    on = _waves(inside, rates)[:, np.newaxis]
    sine_on, cosine_on = on[..., :m], on[..., m:]
    turned = np.empty((len(inside), len(starts), 2 * m))
    np.multiply(sine, cosine_on, out=turned[..., :m])
    np.multiply(cosine, cosine_on, out=turned[..., m:])
    turned[..., :m] += cosine * sine_on
    turned[..., m:] -= sine * sine_on
    return turned


def _made(places: Floats, rates: Floats, precision: str, stage: str, right: Floats) -> Floats:
    """Return the waves as they come out, (n, 2m): what no rounding moves is, to the last digit, `right`."""
    if precision == "float64":
        return right
    if stage == "table":
        return rounded(right, precision)
    made = np.concatenate(waves_in(places, rates, precision, stage=stage), axis=1)
    if stage != "chain":
        same = angles_in(places, rates, precision, stage=stage) == np.multiply.outer(places, rates)
        np.copyto(made, right, where=np.tile(same, 2))
    return made


def _mean(made: Floats, right: Floats, target: Floats) -> Floats:
    """Estimate the mean over blocks of what is known at l positions, (l, b, 2m), beside an exact wave.

    A regression estimator: the mean of the exact wave is known, `target` (b, 2m).
    """
    mean, usual = made.mean(axis=0), right.mean(axis=0)
    off = right - usual
    with np.errstate(invalid="ignore", divide="ignore"):  # no number; or one value: 0/0
        slope = np.einsum("lbm,lbm->bm", off, made - mean) / np.einsum("lbm,lbm->bm", off, off)
        slope = np.where(np.all(made == right, axis=0), 1.0, np.clip(np.nan_to_num(slope), 0.0, 1.0))
        return np.asarray(slope * target + (mean - slope * usual))


def _scores(p: tuple[Floats, Floats], q: tuple[Floats, Floats]) -> Floats:
    """Return the scores with rounding, and less the exact ones, (2, rows, columns)."""
    made, right = (each @ other.T for each, other in zip(p, q, strict=True))
    return np.stack([made, made - right])


def _chunks(count: int, cells: int) -> Iterator[slice]:
    """Cut pairs so that an array of so many positions × pairs is not large."""
    few = max(1, _CHUNK_CELLS // cells)
    for start in range(0, count, few):
        yield slice(start, start + few)
