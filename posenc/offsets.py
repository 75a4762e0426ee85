"""Matrices whose cell (p, q) depends on the offset k = p − q alone, cut into blocks and never made.

Blocks are square, so that all along a diagonal hold the same: r × c blocks have only r + c − 1 different
contents, each a function of the start, the offset between the block's first row and its first column.

Letters: a × b positions p × q in a block, ω_i rate of pair i in radians per position, m number of pairs.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from posenc.blocks import FARTHEST, MOST_COLUMNS, MOST_ROWS, Blocks, Span, check_span, cut, equal_blocks
from posenc.extremes import nearest, orbit
from posenc.parameters import BASE, FREQ_SHIFT
from posenc.similarity import MEASURE
from posenc.sinusoidal import inv_freq

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]

LOOKS = 64  # offsets looked at for the extremes of a block that has more of them
_CHUNK_RATES = 512


class OffsetFunction(Protocol):
    """A function f of the offset k = p − q."""

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Float64) -> tuple[Float64, Float64]:
        """Return the means over blocks, and values in them.

        Parameters
        ----------
        starts
            Offset between the first row and the first column of each of s blocks, equally far apart.
        block
            Numbers of rows a and of columns b of all of them.
        lags
            (l,) offsets from the start.

        Returns
        -------
        (s,) means of f(start + p − q) over 0 ≤ p < a, 0 ≤ q < b, and (s, l) values f(start + lag)
        """


@dataclass(frozen=True)
class Waves:
    """f(k) = Σ weight_i · cos(ω_i·k + phase_i), arrays (m,).

    The mean over a block of a × b positions is that of its middle, each wave shrunk by D_a(ω)·D_b(ω), where
    D_n(ω) = sin(n·ω/2)/(n·sin(ω/2)) is what the mean of n positions in a row keeps of a wave.
    """

    rates: Float64
    weights: Float64
    phases: Float64

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Float64) -> tuple[Float64, Float64]:
        """Return the means over blocks (s,), and values in them (s, l): see `OffsetFunction`.

        cos(x + y) = cos x·cos y − sin x·sin y makes it a product of matrices, starts by lags; the starts are
        turned into place in the same way, √s by √s.
        """
        rows, columns = block
        few = math.isqrt(len(starts))
        coarse: Float64 = np.array(starts[::few], dtype=np.float64)
        fine: Float64 = np.array(range(0, few * starts.step, starts.step), dtype=np.float64)
        moved = np.append((rows - columns) / 2, lags)  # the middle, then the lags
        found = np.zeros((len(coarse) * few, len(moved)))
        for first in range(0, len(self.rates), _CHUNK_RATES):
            some = slice(first, first + _CHUNK_RATES)
            rates, weights = self.rates[some], self.weights[some]
            cos_x, sin_x = _sums(_wave(coarse, rates, self.phases[some]), _wave(fine, rates))
            cos_y, sin_y = _wave(moved, rates)
            weighted = np.tile(weights, (len(moved), 1))
            weighted[0] *= kept(rates, rows) * kept(rates, columns)
            found += cos_x @ (weighted * cos_y).T
            found -= sin_x @ (weighted * sin_y).T
        return found[: len(starts), 0], found[: len(starts), 1:]


def _wave(offsets: Float64, rates: Float64, phases: Float64 | float = 0.0) -> tuple[Float64, Float64]:
    """Return cosine and sine of ω·k + phase, each (offsets, rates)."""
    angles = np.outer(offsets, rates) + phases
    return np.cos(angles), np.sin(angles)


def _sums(x: tuple[Float64, Float64], y: tuple[Float64, Float64]) -> tuple[Float64, Float64]:
    """Return cosine and sine of every sum of an angle of x (n, m) and one of y (k, m), each (n·k, m)."""
    (cos_x, sin_x), (cos_y, sin_y) = (x[0][:, np.newaxis], x[1][:, np.newaxis]), y
    shape = -1, cos_y.shape[1]
    return (
        (cos_x * cos_y - sin_x * sin_y).reshape(shape),
        (sin_x * cos_y + cos_x * sin_y).reshape(shape),
    )


def kept(rates: Float64, length: int | Int64) -> Float64:
    """Return sin(n·ω/2)/(n·sin(ω/2)): what the mean of n positions in a row keeps of a wave, |ω| < 2π.

    Of a rate of 0 it keeps all, and so of one that is too small to be told from it.
    """
    halves = np.maximum(np.abs(rates) / 2, np.finfo(np.float64).tiny)
    share: Float64 = np.sin(length * halves) / (length * np.sin(halves))
    return share


def offset_blocks(
    function: OffsetFunction,
    rows: Span,
    columns: Span,
    *,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of the matrix f(p − q).

    Parameters
    ----------
    function
        f, which gives its own block means.
    rows, columns
        Positions p (start, stop) down and q (start, stop) across, up to twenty million.
    most_rows, most_columns
        How many blocks there may be along each axis; blocks are square, so that one axis may have fewer.

    Returns
    -------
    Blocks
        Means are those of `function`. Extremes are exact for blocks with up to `LOOKS` offsets (32 × 32
        positions); in a larger one `LOOKS` offsets all over it are looked at, and the one nearest to 0, where
        such functions peak or bend: `exact` is false, and the true extremes lie there or beyond.

    Raises
    ------
    ValueError
        For a view or a number of blocks outside its limits.
    """
    down, across = check_span("rows", rows, FARTHEST), check_span("columns", columns, FARTHEST)
    each = max(
        -(-(down[1] - down[0]) // MOST_ROWS.check(most_rows)),
        -(-(across[1] - across[0]) // MOST_COLUMNS.check(most_columns)),
    )
    row_edges, column_edges = cut(*down, each), cut(*across, each)
    shape = len(row_edges) - 1, len(column_edges) - 1
    mean, least, greatest = np.empty(shape), np.empty(shape), np.empty(shape)
    exact = True
    for i, high in equal_blocks(row_edges):
        for j, wide in equal_blocks(column_edges):
            first = int(row_edges[i.start] - column_edges[j.start])
            # From the block at the upper right, down the first column: [i, j] is that of i − j.
            n_columns = j.stop - j.start
            starts = range(first - each * (n_columns - 1), first + each * (i.stop - i.start), each)
            found = _contents(function, starts, (high, wide))
            for matrix, values in zip((mean, least, greatest), found, strict=True):
                matrix[i, j] = sliding_window_view(values[::-1], n_columns)[::-1]
            exact &= high + wide - 1 <= LOOKS
    return Blocks(row_edges, column_edges, mean, least, greatest, exact)


def sinusoid_similarity_blocks(
    measure: str,
    rows: Span,
    columns: Span,
    d_model: int,
    *,
    base: float = BASE.default,
    freq_shift: int = FREQ_SHIFT.default,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of the sinusoid's similarity matrix, for any number of positions.

    PE(p)·PE(q) = Σ_i cos((p − q)·ω_i), the cosine is that over m, the distance √(2m − 2·PE(p)·PE(q)): of the
    offset alone. An odd width with ``freq_shift=0`` has one more sine, of rate ω, without its cosine: it adds
    s_p·s_q to the dot product and s_p² to the square of a norm, s_p = sin(p·ω).

    Parameters
    ----------
    measure
        ``"cosine"``, ``"dot"`` or ``"distance"``, as in `posenc.similarity`.
    rows, columns, most_rows, most_columns
        The view, as in `offset_blocks`.
    d_model, base, freq_shift
        As in `posenc.sinusoidal.sinusoidal`; the order of columns makes no difference.

    Returns
    -------
    Blocks
        Means are exact: of distances, the root of the mean square, as the mean of a root has no closed form;
        of cosines with a lone sine, the mean product over the root of the mean squares. Extremes are those of
        `offset_blocks`; a lone sine is added to them by its own, and `exact` is false if a block is more than
        one position.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    measure, rates = MEASURE.check(measure), inv_freq(d_model, base=base, freq_shift=freq_shift)
    lone = rates[d_model // 2 :]  # empty where every sine has its cosine
    pairs = rates[: d_model // 2]
    dots = Waves(pairs, np.ones_like(pairs), np.zeros_like(pairs))
    function = dots if lone.size else similarity_waves(measure, dots)
    blocks = offset_blocks(function, rows, columns, most_rows=most_rows, most_columns=most_columns)
    return _with_lone_sine(measure, blocks, len(pairs), float(lone[0])) if lone.size else blocks


def similarity_waves(measure: str, dots: Waves) -> OffsetFunction:
    """Return a measure of rows that are all equally long, whose dot products are waves of their offset.

    Parameters
    ----------
    measure
        ``"cosine"``, ``"dot"`` or ``"distance"``, as in `posenc.similarity`.
    dots
        Waves of phase 0, as a sinusoid's and those of `posenc.scheme_tables.scheme_waves`.

    Returns
    -------
    A function of the offset; as a mean of distances it gives the root of the mean square, which has a closed
    form

    Raises
    ------
    ValueError
        For an unknown measure.
    """
    return _Similarity(MEASURE.check(measure), dots)


def _contents(
    function: OffsetFunction, starts: range, block: tuple[int, int]
) -> tuple[Float64, Float64, Float64]:
    """Return the mean of f over each block, and the least and the greatest value that are known of it."""
    rows, columns = block
    lags = _lags(rows + columns - 1) - (columns - 1.0)
    means, values = function.over_blocks(starts, block, lags)
    begin = np.array(starts)
    zero = (begin - columns < 0) & (begin + rows > 0)  # the blocks that hold offset 0
    at_zero = function.over_blocks(range(1), (1, 1), np.zeros(1))[
        0
    ]  # not the sum of two offsets, hence exact
    if rows == columns == 1:
        means[zero] = at_zero
        return means, means, means
    least, greatest = values.min(axis=1), values.max(axis=1)
    least[zero], greatest[zero] = np.minimum(least[zero], at_zero), np.maximum(greatest[zero], at_zero)
    if len(lags) == rows + columns - 1:  # all of them were looked at: only rounding leads a mean out of them
        return np.clip(means, least, greatest), least, greatest
    return means, np.minimum(least, means), np.maximum(greatest, means)


def _lags(count: int) -> Float64:
    """Return the numbers 0 … count − 1, or `LOOKS` of them from the first to the last.

    One in each of equal parts, each time at another place, by the golden ratio: no wave goes in step with it.
    """
    if count <= LOOKS:
        return np.arange(float(count))
    part = np.arange(LOOKS - 1)
    lags = np.floor((part + part * (np.sqrt(5) - 1) / 2 % 1) * count / (LOOKS - 1))
    return np.append(lags, count - 1.0)


@dataclass(frozen=True)
class _Similarity:
    """A measure as a function of the dot product of pairs: of distances the root of the mean square."""

    measure: str
    dots: Waves

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Float64) -> tuple[Float64, Float64]:
        means, values = self.dots.over_blocks(starts, block, lags)
        square = float(self.dots.weights.sum())
        return of_dots(self.measure, means, square), of_dots(self.measure, values, square)


def of_dots(measure: str, dots: Float64, square: float) -> Float64:
    """Turn dot products of rows into another measure; `square` is that of a row with itself, of all the same.

    Of a sinusoid of even width it is the number of its pairs.
    """
    if measure == "cosine":
        with np.errstate(invalid="ignore"):  # a table of zeros has no directions: 0/0
            return np.clip(dots / square, -1.0, 1.0)
    return np.sqrt(np.maximum(2 * (square - dots), 0.0)) if measure == "distance" else dots


class _Sine(NamedTuple):
    """A sine over each block of positions, arrays (blocks,)."""

    mean: Float64
    variance: Float64
    least: Float64
    greatest: Float64


def _sine(edges: Int64, rate: float) -> _Sine:
    """Follow sin(rate·p) over the blocks with these edges."""
    sizes, rates = np.diff(edges), np.array(rate)
    middle = edges[:-1] + (sizes - 1) / 2
    mean = np.sin(rate * middle) * kept(rates, sizes)
    square = 0.5 - 0.5 * np.cos(2 * rate * middle) * kept(2 * rates, sizes)  # sin² x = ½ − ½·cos 2x
    variance = np.maximum(square - mean**2, 0.0)
    least, greatest = mean.copy(), mean.copy()
    turns = np.full((1, 1), rate / (2 * np.pi))
    for blocks, length in equal_blocks(edges):
        if length > 1:
            to_peak, phases = 0.25 - turns * edges[blocks].astype(np.float64), orbit(turns, length)
            greatest[blocks] = np.cos(2 * np.pi * nearest(phases, to_peak))
            least[blocks] = -np.cos(2 * np.pi * nearest(phases, to_peak + 0.5))
    return _Sine(mean, variance, least, greatest)


def _with_lone_sine(measure: str, dots: Blocks, pairs: int, rate: float) -> Blocks:
    """Add the sine of this rate to the dot products of `pairs` pairs, and turn them into the measure."""
    p, q = _sine(dots.rows, rate), _sine(dots.columns, rate)
    if measure == "distance":
        found = _distances(dots, pairs, p, q)
    else:
        corners = [np.multiply.outer(s, t) for s in (p.least, p.greatest) for t in (q.least, q.greatest)]
        products = (
            dots.mean + np.multiply.outer(p.mean, q.mean),
            dots.minimum + np.min(corners, axis=0),
            dots.maximum + np.max(corners, axis=0),
        )
        found = products if measure == "dot" else _cosines(products, pairs, p, q)
    mean, least, greatest = found
    return replace(
        dots, mean=np.clip(mean, least, greatest), minimum=least, maximum=greatest, exact=dots.single
    )


def _distances(dots: Blocks, pairs: int, p: _Sine, q: _Sine) -> tuple[Float64, ...]:
    """|PE(p) − PE(q)|² = 2m − 2·(dot product of the pairs) + (s_p − s_q)²: mean, least and greatest root."""
    square = np.subtract.outer(p.mean, q.mean) ** 2 + np.add.outer(p.variance, q.variance)
    low, high = _squares(np.subtract.outer(p.least, q.greatest), np.subtract.outer(p.greatest, q.least))
    sums = (
        (dots.mean, square),
        (dots.maximum, low),
        (dots.minimum, high),
    )
    return tuple(np.sqrt(np.maximum(2 * (pairs - dot) + more, 0.0)) for dot, more in sums)


def _cosines(products: tuple[Float64, ...], pairs: int, p: _Sine, q: _Sine) -> tuple[Float64, ...]:
    """Divide products by the norms √(m + s²) of both rows: mean, least and greatest."""
    mean, least, greatest = products
    (low_p, high_p), (low_q, high_q) = (_squares(sine.least, sine.greatest) for sine in (p, q))
    usual, short, long = (
        np.sqrt(np.multiply.outer(pairs + down, pairs + across))
        for down, across in (
            (p.mean**2, q.mean**2),
            (low_p, low_q),
            (high_p, high_q),
        )
    )
    with np.errstate(divide="ignore", invalid="ignore"):  # a row of zeros has no direction: 0/0
        quotients = (
            mean / usual,
            least / np.where(least < 0, short, long),
            greatest / np.where(greatest < 0, long, short),
        )
    return tuple(np.clip(values, -1.0, 1.0) for values in quotients)


def _squares(least: Float64, greatest: Float64) -> tuple[Float64, Float64]:
    """Return the least and the greatest square of what lies between."""
    nearest_zero = np.maximum(np.maximum(least, -greatest), 0.0)
    return nearest_zero**2, np.maximum(least**2, greatest**2)
