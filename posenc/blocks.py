"""A view of a table, cut into no more cells than a screen shows: the exact mean and extremes of each block.

A view is a part of a table, rows [start, stop) × columns [start, stop). It is cut into equal blocks (the last
of each axis may be smaller). Of a table in memory the blocks are gathered in one pass; those of the sinusoid
have a closed form, so that ten million rows cost what a thousand do.

Letters: r, c number of rows and columns of blocks, n positions in a block, ω rate in radians per position.
"""

import functools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import check_table
from posenc.extremes import Orbit, nearest, orbit
from posenc.parameters import BASE, D_MODEL, FREQ_SHIFT, LAYOUT, SEQ_LEN, Integer, shown
from posenc.similarity import MEASURE, MEASURES
from posenc.sinusoidal import columns as columns_of
from posenc.sinusoidal import inv_freq

Float64 = NDArray[np.float64]
Int64 = NDArray[np.int64]
Table = NDArray[np.floating]
Span = tuple[int, int]

MOST_ROWS = Integer("most_rows", default=400, minimum=1, maximum=2048)
MOST_COLUMNS = Integer("most_columns", default=800, minimum=1, maximum=2048)
# Where positions end: the longest table, seen from as far out as it is long.
FARTHEST = 2 * SEQ_LEN.maximum
# Cells worked on at once: a quarter of a mebibyte an array, so that several stay in a core's cache.
_CHUNK_CELLS = 1 << 15
_SHORT = 16  # cells of a block along one axis
_FEW = 2  # positions of a block: up to so many, a look at each of them is quicker than the closed form
_TILE_SIDE = 512  # rows and columns of a tile of a table or of a similarity matrix: two mebibytes


@dataclass(frozen=True)
class Window:
    """A part of a matrix, written as its rows and columns from–to, the ends left out: ``"0-50x0-128"``.

    The default, an empty text, is all of it.
    """

    name: str
    shape: tuple[int, int]
    default: str = field(default="", init=False)

    def check(self, value: object) -> str:
        """Return the text if it names a part of the matrix, and an empty text if that part is all of it."""
        return self.write(*self.spans(value))

    def spans(self, value: object) -> tuple[Span, Span]:
        """Return the rows and the columns that a text names, as (start, stop)."""
        if value == "":
            return (0, self.shape[0]), (0, self.shape[1])
        found = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})x([0-9]{1,9})-([0-9]{1,9})", str(value), re.ASCII)
        if not found:
            raise ValueError(f'{self.name} must be written as "0-50x0-128", got {shown(value)}')
        top, bottom, left, right = map(int, found.groups())
        rows = check_span(f"{self.name} rows", (top, bottom), self.shape[0])
        return rows, check_span(f"{self.name} columns", (left, right), self.shape[1])

    def write(self, rows: Span, columns: Span) -> str:
        """Return the text for rows and columns."""
        whole = rows == (0, self.shape[0]) and columns == (0, self.shape[1])
        return "" if whole else f"{rows[0]}-{rows[1]}x{columns[0]}-{columns[1]}"


@dataclass(frozen=True)
class Cut:
    """Where the blocks of a view end: block i holds the rows ``rows[i] … rows[i + 1] − 1``."""

    rows: Int64  # (r + 1,) edges
    columns: Int64  # (c + 1,) edges

    @property
    def shape(self) -> tuple[int, int]:
        """How many blocks there are down and across, r × c."""
        return len(self.rows) - 1, len(self.columns) - 1

    @property
    def rows_each(self) -> int:
        """How many rows a block has; the last may have fewer."""
        return int(self.rows[1] - self.rows[0])

    @property
    def columns_each(self) -> int:
        """How many columns a block has; the last may have fewer."""
        return int(self.columns[1] - self.columns[0])

    @property
    def middles(self) -> Float64:
        """The middle of the columns of each block: the column itself where it is one."""
        middle: Float64 = (self.columns[:-1] + self.columns[1:] - 1) / 2
        return middle

    @property
    def single(self) -> bool:
        """Whether every block is one value."""
        return self.rows_each == self.columns_each == 1


@dataclass(frozen=True)
class Blocks(Cut):
    """The blocks of a view: where they end, and the mean, the least and the greatest value of each, (r, c).

    With `exact` false `minimum` and `maximum` are the extremes of those values in a block that were looked
    at: the true ones lie there or beyond.
    """

    mean: Float64
    minimum: Float64
    maximum: Float64
    exact: bool = True

    @property
    def largest(self) -> float:
        """The largest absolute value; 0 where none is defined."""
        ends = np.abs([self.minimum, self.maximum])
        return float(ends[np.isfinite(ends)].max(initial=0.0))


def edges(start: int, stop: int, most: int) -> Int64:
    """Cut start … stop − 1 into at most `most` equal blocks, of ⌈(stop − start)/most⌉ each.

    Returns
    -------
    (blocks + 1,) int64
        Where each block starts, then `stop`; the last block may be shorter.
    """
    return cut(start, stop, -(-(stop - start) // most))


def cut(start: int, stop: int, each: int) -> Int64:
    """Return the edges of blocks of this size, as `edges` does; the last block may be shorter."""
    return np.append(np.arange(start, stop, each, dtype=np.int64), stop)


def check_span(name: str, value: object, length: int) -> Span:
    """Return `value` as whole numbers (start, stop) with 0 ≤ start < stop ≤ length."""
    if isinstance(value, (tuple, list)) and len(value) == 2:
        whole = all(isinstance(end, (int, np.integer)) and not isinstance(end, bool) for end in value)
        if whole and 0 <= value[0] < value[1] <= length:
            return int(value[0]), int(value[1])
    raise ValueError(
        f"{name} must be two integers (start, stop) with 0 <= start < stop <= {length}, got {shown(value)}"
    )


def sinusoid_blocks(
    rows: Span,
    columns: Span,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    freq_shift: int = FREQ_SHIFT.default,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of the sinusoidal table without making the table.

    The mean of sin(ω·p) over n positions with middle m is sin(ω·m) · sin(n·ω/2)/(n·sin(ω/2)), and so for the
    cosine; the mean of a block is that of its columns' means. The extremes are those over all of its
    positions and columns (`posenc.extremes`).

    Parameters
    ----------
    rows
        Positions (start, stop), up to twenty million.
    columns
        Columns (start, stop) of the table's `d_model`.
    d_model, base, layout, freq_shift
        As in `posenc.sinusoidal.sinusoidal`.
    most_rows, most_columns
        How many blocks there may be along each axis.

    Returns
    -------
    Blocks
        Time and memory depend on the number of blocks and of the columns in view, not on the positions. Means
        are right to 5e-9 up to position 1e7, nearly all of it from rounding the angle; so are the extremes,
        but for blocks of more than 2,000 positions that come within 1e-6 of ±1 everywhere: there they are ±1.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    row_edges = edges(*check_span("rows", rows, FARTHEST), MOST_ROWS.check(most_rows))
    span = check_span("columns", columns, D_MODEL.check(d_model))
    column_edges = edges(*span, MOST_COLUMNS.check(most_columns))
    turns, is_cos = _waves(span, d_model, base, layout, freq_shift)
    shape = len(row_edges) - 1, len(column_edges) - 1
    mean = np.zeros(shape)
    single = shape == (row_edges[-1] - row_edges[0], span[1] - span[0])  # then all three are the value
    least, greatest = (mean, mean) if single else (np.zeros(shape), np.zeros(shape))
    wave_edges = np.minimum(column_edges - span[0], len(turns))  # without the column of zeros
    for down, length in equal_blocks(row_edges):
        waves = _Waves(turns, is_cos, orbit(turns, length))
        for across, each in equal_blocks(wave_edges):
            by_value = length <= _FEW
            cells = each * length if by_value else each  # of a block, that are worked on
            for here in _tiles(down, across, max(1, _CHUNK_CELLS // cells)):
                some = waves.part(slice(wave_edges[here[1].start], wave_edges[here[1].stop]))
                starts = row_edges[here[0]].astype(np.float64)  # `length` apart
                found = (some.by_value if by_value else some.by_formula)(starts, each)
                mean[here], least[here], greatest[here] = (values.T for values in found)
    mean /= np.diff(column_edges)
    if len(turns) < span[1] - span[0]:
        least[:, -1], greatest[:, -1] = np.minimum(least[:, -1], 0), np.maximum(greatest[:, -1], 0)
    return _blocks(row_edges, column_edges, mean, least, greatest)


def table_blocks(
    table: ArrayLike,
    rows: Span,
    columns: Span,
    *,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of a table in memory, which is read once and never copied as a whole.

    Parameters
    ----------
    table
        (n, d) of real numbers of any dtype. Those that are NaN are left out; a block of nothing else is NaN.
    rows, columns
        The view: (start, stop) of each axis, within the table.
    most_rows, most_columns
        How many blocks there may be along each axis.

    Raises
    ------
    ValueError
        For a table that is not a 2-D array of real numbers, or a view that is not within it.
    """
    whole = _check_shape("table", table)
    (top, bottom), (left, right) = (
        check_span(name, value, length)
        for name, value, length in zip(("rows", "columns"), (rows, columns), whole.shape, strict=True)
    )
    row_edges = edges(top, bottom, MOST_ROWS.check(most_rows))
    column_edges = edges(left, right, MOST_COLUMNS.check(most_columns))
    view = whole[top:bottom, left:right]
    if view.shape == (len(row_edges) - 1, len(column_edges) - 1):  # each block is one value
        mean = view.astype(np.float64)
        mean += 0.0  # no zero has a sign
        return Blocks(row_edges, column_edges, mean, mean, mean)
    return _gather(lambda down, across: whole[down, across], row_edges, column_edges, _TILE_SIDE)


def similarity_blocks(
    table: ArrayLike,
    measure: str,
    rows: Span,
    columns: Span,
    *,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of a table's similarity matrix, a tile of which is in memory at a time.

    Parameters
    ----------
    table
        (n, d) of real numbers.
    measure
        ``"cosine"``, ``"dot"`` or ``"distance"``, as in `posenc.similarity`; the matrix is (n, n).
    rows, columns
        The view: positions (start, stop) down and across.
    most_rows, most_columns
        How many blocks there may be along each axis.

    Returns
    -------
    Blocks
        Undefined cosines (NaN) are left out; a block of nothing else is NaN.

    Raises
    ------
    ValueError
        For a table that is not a 2-D array of real numbers, an unknown measure, or a view outside the matrix.
    """
    whole, between = _check_shape("table", table), MEASURES[MEASURE.check(measure)]
    down, across = (
        check_span(name, span, len(whole)) for name, span in (("rows", rows), ("columns", columns))
    )
    return _gather(
        lambda p, q: between(whole[p], whole[q]),
        edges(*down, MOST_ROWS.check(most_rows)),
        edges(*across, MOST_COLUMNS.check(most_columns)),
        min(_TILE_SIDE, max(1, _TILE_SIDE**2 // whole.shape[1])),  # so that the rows of a tile are few, too
    )


def _waves(
    span: Span, d_model: int, base: float, layout: str, freq_shift: int
) -> tuple[Float64, NDArray[np.bool_]]:
    """Return the turns per position of each column in `span`, and whether it is a cosine.

    The column of zeros is left out; it is the last of a table.
    """
    held = columns_of(d_model, layout=layout, freq_shift=freq_shift)
    pair, is_cos = held.pair[slice(*span)], held.is_cos[slice(*span)]
    wave = pair >= 0
    return inv_freq(d_model, base=base, freq_shift=freq_shift)[pair[wave]] / (2 * np.pi), is_cos[wave]


class _Waves(NamedTuple):
    """Columns of a table, (w,) or (w, 1), and their orbits over a block of positions."""

    turns: Float64
    is_cos: NDArray[np.bool_]
    orbits: Orbit

    def part(self, some: slice) -> "_Waves":
        """Return some of the columns, one in each row."""
        at = some, np.newaxis
        return _Waves(self.turns[at], self.is_cos[at], self.orbits.part(at))

    def by_formula(self, starts: Float64, each: int) -> tuple[Float64, Float64, Float64]:
        """Return what each `each` waves do in the block of positions from each start on, (w/each, starts).

        The sum of their means, the least and the greatest value, in closed form.
        """
        half, length = np.pi * self.turns, self.orbits.length  # half: ω/2
        mean = self._at(starts[0] + (length - 1) / 2, length, len(starts))
        mean *= np.sin(length * half) / (length * np.sin(half))
        to_peak = np.where(self.is_cos, 0.0, 0.25) - _fraction(self.turns * starts)
        found = mean, nearest(self.orbits, to_peak), nearest(self.orbits, to_peak + 0.5)
        means, peaks, troughs = (values.reshape(-1, each, len(starts)) for values in found)
        turn = 2 * np.pi
        return means.sum(axis=1), -np.cos(turn * troughs.min(axis=1)), np.cos(turn * peaks.min(axis=1))

    def by_value(self, starts: Float64, each: int) -> tuple[Float64, Float64, Float64]:
        """Return the same as `by_formula`, from every value."""
        length = self.orbits.length
        values = self._at(starts[0], 1, len(starts) * length)
        shape = len(values) // each, len(starts)
        total, least, greatest = (_fold(gather, values, shape) for gather in (np.add, np.minimum, np.maximum))
        return total / length, least, greatest

    def _at(self, first: float, step: int, count: int) -> Float64:
        """Return the value of each wave, (w, 1), at `count` positions from `first` on: (w, count).

        sin(a + b) = sin a · cos b + cos a · sin b, so that of each wave some 4·√count sines and cosines are
        enough.
        """
        root = math.isqrt(count)
        far, near = first + np.arange(0.0, count, root) * step, np.arange(float(root)) * step
        a, b = (2 * np.pi * _fraction(self.turns * positions) for positions in (far, near))
        sine, cosine = np.sin(a), np.cos(a)
        value = np.where(self.is_cos, cosine, sine)[..., np.newaxis] * np.cos(b)[:, np.newaxis]
        value += np.where(self.is_cos, -sine, cosine)[..., np.newaxis] * np.sin(b)[:, np.newaxis]
        return value.reshape(len(value), -1)[:, :count]


def _fraction(turns: Float64) -> Float64:
    """Leave out whole turns, in place: the cosine of a small angle is quicker and loses no digits."""
    turns -= np.floor(turns)
    return turns


def equal_blocks(edges: Int64) -> Iterator[tuple[slice, int]]:
    """Yield the blocks of full size and that size, then the last one if it is shorter but not empty."""
    sizes = np.diff(edges)
    full = int(np.count_nonzero(sizes == sizes[0]))
    for blocks in (slice(0, full), slice(full, len(sizes))):
        if sizes[blocks].any():
            yield blocks, int(sizes[blocks.start])


def _tiles(down: slice, across: slice, most: int) -> Iterator[tuple[slice, slice]]:
    """Cut blocks down × across into tiles of at most `most` blocks, whole columns of them if these fit."""
    high = min(most, down.stop - down.start)
    wide = most // high
    for top in range(down.start, down.stop, high):
        for left in range(across.start, across.stop, wide):
            yield slice(top, min(top + high, down.stop)), slice(left, min(left + wide, across.stop))


def _pieces(edges: Int64, most: int) -> Iterator[tuple[slice, slice]]:
    """Cut a span into pieces of at most `most`, blocks of one size or part of one: yield blocks and piece."""
    for blocks, size in equal_blocks(edges):
        together = max(1, most // size)
        for first in range(blocks.start, blocks.stop, together):
            last = min(first + together, blocks.stop)
            for start in range(edges[first], edges[last], most):
                yield slice(first, last), slice(start, min(start + most, edges[last]))


def _gather(
    read: Callable[[slice, slice], Table], row_edges: Int64, column_edges: Int64, side: int
) -> Blocks:
    """Sum up a view, read tile by tile of at most side × side cells; those that are NaN are left out."""
    shape = len(row_edges) - 1, len(column_edges) - 1
    total, least, greatest = np.empty(shape), np.empty(shape), np.empty(shape)
    count = np.empty(shape, dtype=np.int64)
    joined = ((total, np.add), (count, np.add), (least, np.fmin), (greatest, np.fmax))
    with np.errstate(over="ignore", invalid="ignore"):  # sums past the largest float64, 0/0 where all are NaN
        for i, rows in _pieces(row_edges, side):
            for j, columns in _pieces(column_edges, side):
                found = _sums(read(rows, columns), (i.stop - i.start, j.stop - j.start))
                begun = rows.start > row_edges[i.start] or columns.start > column_edges[j.start]
                for (all_blocks, join), values in zip(joined, found, strict=True):
                    all_blocks[i, j] = join(all_blocks[i, j], values) if begun else values
        mean = np.divide(total, count, out=total)
        mean += 0.0  # no zero has a sign
    return _blocks(row_edges, column_edges, mean, least, greatest)


def _sums(cells: Table, blocks: tuple[int, int]) -> tuple[NDArray[Any] | int, ...]:
    """Return sum, number, least and greatest of the cells of down × across blocks that are not NaN."""
    least, greatest = _fold(np.minimum, cells, blocks), _fold(np.maximum, cells, blocks)
    if not np.isnan(least).any():  # in half of the time
        total = _fold(np.add, cells.astype(np.float64, copy=False), blocks)
        return total, cells.size // (blocks[0] * blocks[1]), least, greatest
    undefined = np.isnan(cells)
    return (
        _fold(np.add, np.where(undefined, np.float64(0), cells), blocks),
        _fold(np.add, (~undefined).astype(np.int64), blocks),
        _fold(np.fmin, cells, blocks),
        _fold(np.fmax, cells, blocks),
    )


def _fold(gather: np.ufunc, cells: NDArray[Any], blocks: tuple[int, int]) -> NDArray[Any]:
    """Reduce cells to down × across equal blocks."""
    (down, across), (rows, columns) = blocks, cells.shape
    cells = _reduce(gather, cells.reshape(down, rows // down, columns), 1)
    return _reduce(gather, cells.reshape(down, across, columns // across), 2)


def _reduce(gather: np.ufunc, cells: NDArray[Any], axis: int) -> NDArray[Any]:
    """Reduce one axis; a short one step by step, each for all blocks at once: block by block takes longer."""
    if cells.shape[axis] > _SHORT:
        return np.asarray(gather.reduce(cells, axis=axis))
    return functools.reduce(gather, np.moveaxis(cells, axis, 0))


def _check_shape(name: str, table: ArrayLike) -> Table:
    """Return a table as it lies in memory; anything but an array is copied, or refused."""
    if isinstance(table, np.ndarray) and table.ndim == 2 and table.size and table.dtype.kind in "iuf":
        return table
    return check_table(name, table)


def _blocks(
    row_edges: Int64, column_edges: Int64, mean: Float64, least: Float64, greatest: Float64
) -> Blocks:
    """Put a record together: a single value is all three, and no mean leaves its extremes by rounding."""
    if mean.shape == (row_edges[-1] - row_edges[0], column_edges[-1] - column_edges[0]):
        return Blocks(row_edges, column_edges, mean, mean, mean)
    return Blocks(row_edges, column_edges, np.clip(mean, least, greatest, out=mean), least, greatest)
