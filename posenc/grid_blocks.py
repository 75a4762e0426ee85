"""Tables over the cells of an image in which each column follows one axis, cut into blocks and never made.

Row y·W + x of the table is cell (y, x). A column holds either v(y), which W rows share, or v(x), which comes
again every W rows. So sums over rows are differences of sums over an axis, and the extremes are those of a
part of an axis: blocks of the table cost what its axes cost, H + W values a column and not H·W.

The sinusoidal tables of `posenc.grid.GRID_FORMS` are of this kind, and so are the angles of axial RoPE.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.blocks import (
    MOST_COLUMNS,
    MOST_ROWS,
    Blocks,
    Span,
    check_span,
    edges,
    equal_blocks,
)
from posenc.grid import GridForm, check_shape, split_width
from posenc.parameters import BASE
from posenc.sinusoidal import columns as columns_of
from posenc.sinusoidal import inv_freq

Int64 = NDArray[np.int64]
# What column j holds at the coordinates of its axis: (axis, columns) → (n, columns).
Values = Callable[[int, NDArray[np.intp]], Floats]

_CHUNK_VALUES = 1 << 18  # worked on at once: two mebibytes an array


def axial_blocks(
    shape: Sequence[int],
    axes: NDArray[np.integer],
    values: Values,
    rows: Span,
    columns: Span,
    *,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of a table over the cells of an image whose columns follow one axis each.

    Parameters
    ----------
    shape
        (H, W) of the image; the table has H·W rows.
    axes
        (d,) the axis of each column: 0 for y, 1 for x.
    values
        ``values(axis, columns)`` is (n, len(columns)): what these columns of that axis hold at each of its n
        coordinates.
    rows, columns
        The view: (start, stop) of each.
    most_rows, most_columns
        How many blocks there may be along each.

    Returns
    -------
    Blocks
        Exact, at a cost that depends on H + W, the columns in view and the number of blocks.

    Raises
    ------
    ValueError
        For a view that is not within the table.
    """
    height, width = check_shape(shape)
    row_edges = edges(*check_span("rows", rows, height * width), MOST_ROWS.check(most_rows))
    column_edges = edges(*check_span("columns", columns, len(axes)), MOST_COLUMNS.check(most_columns))
    cells = len(row_edges) - 1, len(column_edges) - 1
    mean, least, greatest = np.zeros(cells), np.full(cells, np.inf), np.full(cells, -np.inf)
    # What is measured of a column has a value for each block of rows, and before that for each coordinate.
    together = max(1, _CHUNK_VALUES // max(height, 2 * width, cells[0]))
    for axis, measure in ((0, _down), (1, _across)):
        mine = np.arange(columns[0], columns[1])
        mine = mine[axes[mine] == axis]
        for start in range(0, len(mine), together):
            some = mine[start : start + together]
            sums, low, high = measure(values(axis, some), width, row_edges)  # (rows, columns)
            block = np.searchsorted(column_edges, some, side="right") - 1
            first = np.flatnonzero(np.diff(block, prepend=-1))  # where columns of another block begin
            here = block[first]
            mean[:, here] += np.add.reduceat(sums, first, axis=1)
            least[:, here] = np.minimum(least[:, here], np.minimum.reduceat(low, first, axis=1))
            greatest[:, here] = np.maximum(greatest[:, here], np.maximum.reduceat(high, first, axis=1))
    mean /= np.multiply.outer(np.diff(row_edges), np.diff(column_edges))
    # The differences of sums round: a single value is all three, and no mean leaves its extremes.
    return Blocks(row_edges, column_edges, np.clip(mean, least, greatest, out=mean), least, greatest)


class GridColumns(NamedTuple):
    """What each column of a form's table holds: sin or cos (`is_cos`) of rate · coordinate on this `axis`.

    Arrays (d,). `pair` counts the rates of each axis from 0, the fastest; `rate` is in radians per unit of
    the form's coordinates.
    """

    axis: NDArray[np.intp]
    pair: NDArray[np.intp]
    is_cos: NDArray[np.bool_]
    rate: Floats


def form_columns(form: GridForm, d_model: int, *, base: float = BASE.default) -> GridColumns:
    """Return what each column of a form's table holds.

    Parameters
    ----------
    form
        How a library builds its table.
    d_model, base
        As in `GridForm.table`.

    Examples
    --------
    >>> from posenc.grid import GRID_FORMS
    >>> form_columns(GRID_FORMS["mae"], 8).axis.tolist()  # x first
    [1, 1, 1, 1, 0, 0, 0, 0]
    """
    joined = form.grid_layout == "sines_first"
    widths = split_width(d_model, form.shares)
    orders = [columns_of(width, layout="sin_cos" if joined else form.grid_layout) for width in widths]
    rates = [
        inv_freq(width, base=base, freq_shift=form.freq_shift)[order.pair]
        for width, order in zip(widths, orders, strict=True)
    ]
    is_cos = np.concatenate([order.is_cos for order in orders])
    # Sorting keeps the order of equals: all sines, part by part, then all cosines.
    of_all = np.argsort(is_cos, kind="stable") if joined else np.arange(len(is_cos))
    return GridColumns(
        np.repeat(form.axes, widths)[of_all],
        np.concatenate([order.pair for order in orders])[of_all],
        is_cos[of_all],
        np.concatenate(rates)[of_all],
    )


def form_blocks(
    form: GridForm, shape: Sequence[int], d_model: int, rows: Span, columns: Span, *, base: float, **most: Any
) -> Blocks:
    """Return the blocks of a view of a form's table, ``form.table(shape, d_model).reshape(H * W, d_model)``.

    Parameters
    ----------
    form
        Of an image, two axes.
    shape, d_model, base
        As in `GridForm.table`.
    rows, columns, most
        As in `axial_blocks`.
    """
    order, places = form_columns(form, d_model, base=base), form.coordinates(shape)
    along = places[:, 0, 0], places[0, :, 1]  # each coordinate changes along its own axis only

    def values(axis: int, some: NDArray[np.intp]) -> Floats:
        angles = np.multiply.outer(along[axis], order.rate[some])
        return np.asarray(np.where(order.is_cos[some], np.cos(angles), np.sin(angles)))

    return axial_blocks(shape, order.axis, values, rows, columns, **most)


def angle_blocks(shape: Sequence[int], inv_freq: Floats, rows: Span, columns: Span, **most: Any) -> Blocks:
    """Return the blocks of a view of the angles of axial RoPE, (H·W, 2m): y·ω of m pairs, then x·ω.

    Parameters
    ----------
    shape
        (H, W).
    inv_freq
        (m,) rates, the same for both axes, in radians per cell.
    rows, columns, most
        As in `axial_blocks`.
    """
    height, width = check_shape(shape)

    def values(axis: int, some: NDArray[np.intp]) -> Floats:
        along = np.arange(float((height, width)[axis]))
        return np.asarray(np.multiply.outer(along, inv_freq[some % len(inv_freq)]))

    return axial_blocks(shape, np.repeat([0, 1], len(inv_freq)), values, rows, columns, **most)


def _down(values: Floats, width: int, row_edges: Int64) -> tuple[Floats, Floats, Floats]:
    """Return sum, least and greatest of each block of rows, of columns that hold v(y)."""
    full, rest = np.divmod(row_edges, width)
    padded = np.vstack([values, values[-1:]])  # where the last row ends there is no next
    before = np.vstack([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])
    until = width * before[full] + rest[:, np.newaxis] * padded[full]
    first, last = row_edges[:-1] // width, (row_edges[1:] - 1) // width
    ends = np.stack([first, last + 1], axis=1).ravel()
    low, high = (kind.reduceat(padded, ends, axis=0)[::2] for kind in (np.minimum, np.maximum))
    return np.diff(until, axis=0), low, high


def _across(values: Floats, width: int, row_edges: Int64) -> tuple[Floats, Floats, Floats]:
    """Return sum, least and greatest of each block of rows, of columns that hold v(x)."""
    full, rest = np.divmod(row_edges, width)
    before = np.vstack([np.zeros((1, values.shape[1])), values.cumsum(axis=0)])
    until = np.multiply.outer(full, before[-1]) + before[rest]
    shape = len(row_edges) - 1, values.shape[1]
    low, high = np.empty(shape), np.empty(shape)
    for blocks, length in equal_blocks(row_edges):
        starts = row_edges[blocks] % width if length < width else np.zeros(1, dtype=np.int64)
        for kind, found in ((np.minimum, low), (np.maximum, high)):
            found[blocks] = _windows(kind, np.vstack([values, values]), starts, min(length, width))
    return np.diff(until, axis=0), low, high


def _windows(kind: np.ufunc, values: Floats, starts: Int64, length: int) -> Floats:
    """Reduce the `length` rows from each start, by windows of powers of two that overlap."""
    reach = 1
    while 2 * reach <= length:
        values = kind(values[:-reach], values[reach:])
        reach *= 2
    return np.asarray(kind(values[starts], values[starts + length - reach]))
