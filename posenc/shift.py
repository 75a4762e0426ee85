"""What a shift by k positions does to the sinusoid: its similarity at any offset, and the rotation M_k.

Letters: p position, k offset, ω_i rate of pair i (`posenc.inv_freq`), d = `d_model`. A pair is complete if it
has a sine and a cosine; the last sine of an odd width has no partner, and nothing here speaks of it.
"""

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.blocks import MOST_COLUMNS, MOST_ROWS, Blocks, Span, check_span, edges
from posenc.parameters import BASE, D_MODEL, LAYOUT, SHIFT, Positions, check_positions
from posenc.sinusoidal import Columns, inv_freq, sinusoidal
from posenc.sinusoidal import columns as columns_of


def offset_cosine(offsets: Positions, d_model: int, *, base: float = BASE.default) -> Floats:
    """Cosine of PE(p) and PE(p + k), the same for every p: Σ_i cos(k·ω_i) / n_pairs, for each offset k.

    Parameters
    ----------
    offsets
        A number n, for the offsets 0 … n − 1, or a 1-D array of offsets of any sign and size.
    d_model
        Width of the table, at least 2; of an odd width the complete pairs count.
    base
        As in `posenc.sinusoidal`.

    Returns
    -------
    (n,) float64. The dot product is this times n_pairs, the distance √(2·n_pairs·(1 − this)).

    Raises
    ------
    ValueError
        If there is no complete pair or an argument is outside its limits.
    """
    rates, shifts = _complete_rates(d_model, base), check_positions(offsets)
    given = np.arange(float(shifts)) if isinstance(shifts, int) else shifts
    # One offset after the other: a table of all of them would be as large as 10⁴ × 8192.
    return np.array([np.cos(k * rates).mean() for k in given])


def first_rise(d_model: int, *, base: float = BASE.default) -> int:
    """Return the smallest offset k with `offset_cosine` at k above that at k − 1.

    There is one for every width and base: a sum of cosines comes back near its first value again and again,
    so it cannot fall for ever.
    """
    rates, before = _complete_rates(d_model, base), 1.0
    for k in itertools.count(1):
        here = float(np.cos(k * rates).mean())
        if here > before:
            break
        before = here
    return k


class Far(NamedTuple):
    """Cosine at offsets up to ten times 2π·base, some of them drawn.

    `offset` and `cosine` (n,); `at_base` and `at_turn` the cosine at the whole offsets nearest to `base` and
    2π·base; `highest` the largest of the n cosines from offset `late` = base/10 on, at `highest_offset`.
    """

    offset: NDArray[np.float64]
    cosine: Floats
    base_offset: int
    at_base: float
    turn_offset: int
    at_turn: float
    late: float
    highest_offset: int
    highest: float


def far(d_model: int, *, base: float = BASE.default, count: int = 1200) -> Far:
    """Follow `offset_cosine` far out, at about `count` whole offsets spaced evenly on a log axis.

    Whoever believes that the table starts again after `base` or 2π·base positions can look there: a table
    that did would have a cosine of 1.
    """
    ends = round(BASE.check(base)), round(math.tau * base)
    drawn = np.geomspace(1, 10 * ends[1], count).round()
    offset = np.unique(np.concatenate([drawn, ends]))
    cosine = offset_cosine(offset, d_model, base=base)
    at_base, at_turn = (float(cosine[offset == end][0]) for end in ends)
    late = base / 10
    beyond = np.flatnonzero(offset >= late)
    top = beyond[np.argmax(cosine[beyond])]
    return Far(offset, cosine, ends[0], at_base, ends[1], at_turn, late, int(offset[top]), float(cosine[top]))


class Shift(NamedTuple):
    """PE(p), M_k·PE(p) and PE(p + k) for the same positions p, each (n, d), and how they differ.

    The column of an unpaired sine is NaN in `moved`. `angles` (n_pairs,) holds k·ω_i, rad; `error` is
    max |M_k·PE(p) − PE(p + k)| over all positions and all complete pairs.
    """

    before: Floats
    moved: Floats
    after: Floats
    angles: Floats
    error: float


def shift(
    k: float,
    positions: Positions,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
) -> Shift:
    """Move every position by `k` with the one rotation M_k, and compare with the table k positions on.

    Each pair is turned by its own 2×2 block, which is what the product with M_k comes to; M_k itself, whose
    d² cells are nearly all 0, is not made.

    Parameters
    ----------
    k
        Positions to move by: negative and fractional ones too.
    positions, d_model, base, layout
        As in `posenc.sinusoidal`; at least one pair must be complete.

    Returns
    -------
    Shift

    Raises
    ------
    ValueError
        If there is no complete pair or an argument is outside its limits.
    """
    k, rates = SHIFT.check(k), _complete_rates(d_model, base)
    place = columns_of(d_model, layout=layout)
    given = check_positions(positions)
    p = np.arange(float(given)) if isinstance(given, int) else given
    before, after = (
        sinusoidal(x, d_model, base=base, layout=layout, dtype=np.float64).astype(np.float64, copy=False)
        for x in (p, p + k)
    )
    angles = k * rates
    sine_at, cosine_at = _partners(place)
    sines, cosines = before[:, sine_at], before[:, cosine_at]  # (n, n_pairs)
    moved = np.full_like(before, np.nan)
    moved[:, sine_at] = np.cos(angles) * sines + np.sin(angles) * cosines
    moved[:, cosine_at] = -np.sin(angles) * sines + np.cos(angles) * cosines
    error = float(np.nanmax(np.abs(moved - after)))
    return Shift(before, moved, after, angles, error)


def shift_blocks(
    k: float,
    rows: Span,
    columns: Span,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of M_k from the cells of its rotations; the others are 0 and not made.

    Parameters
    ----------
    k, d_model, base, layout
        As in `shift`.
    rows, columns, most_rows, most_columns
        As in `posenc.blocks.table_blocks`, of the (d_model, d_model) matrix.

    Returns
    -------
    Blocks
        The row and the column of an unpaired sine are left out, as there are no such numbers: blocks of
        nothing else are NaN.

    Raises
    ------
    ValueError
        If there is no complete pair or an argument is outside its limits.
    """
    angles = SHIFT.check(k) * _complete_rates(d_model, base)
    row_edges = edges(*check_span("rows", rows, d_model), MOST_ROWS.check(most_rows))
    column_edges = edges(*check_span("columns", columns, d_model), MOST_COLUMNS.check(most_columns))
    sine, cosine = _partners(columns_of(d_model, layout=layout))
    # [[cos, sin], [−sin, cos]] on each pair.
    down, across = np.concatenate([sine, sine, cosine, cosine]), np.concatenate([sine, cosine, sine, cosine])
    turn = np.concatenate([np.cos(angles), np.sin(angles), -np.sin(angles), np.cos(angles)])
    paired = np.zeros(d_model)
    paired[sine] = paired[cosine] = 1
    high, wide = (np.add.reduceat(paired[: e[-1]], e[:-1]) for e in (row_edges, column_edges))
    area = np.multiply.outer(high, wide)
    inside = (rows[0] <= down) & (down < rows[1]) & (columns[0] <= across) & (across < columns[1])
    at = tuple(
        (place[inside] - e[0]) // (e[1] - e[0]) for place, e in ((down, row_edges), (across, column_edges))
    )
    total, turned = np.zeros_like(area), np.zeros_like(area)
    least, greatest = np.full_like(area, np.inf), np.full_like(area, -np.inf)
    np.add.at(total, at, turn[inside])
    np.add.at(turned, at, 1)
    np.minimum.at(least, at, turn[inside])
    np.maximum.at(greatest, at, turn[inside])
    zeros = turned < area
    least[zeros], greatest[zeros] = np.minimum(least[zeros], 0), np.maximum(greatest[zeros], 0)
    empty = area == 0
    total[empty] = least[empty] = greatest[empty] = np.nan
    return Blocks(row_edges, column_edges, total / np.maximum(area, 1), least, greatest)


def complete_pairs(d_model: int) -> int:
    """Count the pairs of a table that have both a sine and a cosine."""
    return D_MODEL.check(d_model) // 2


def angle(position: float, pair: int, d_model: int, *, base: float = BASE.default) -> float:
    """Return where the hand of one clock points at a position: p·ω_i, radians."""
    return float(position * inv_freq(d_model, base=base)[pair])


def _complete_rates(d_model: int, base: float) -> Floats:
    if D_MODEL.check(d_model) == 1:
        raise ValueError("d_model must be at least 2, since width 1 has no pair of sine and cosine, got 1")
    return inv_freq(d_model, base=base)[: complete_pairs(d_model)]


def _partners(place: Columns) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Say in which columns the sine and the cosine of each complete pair stand, both (n_pairs,)."""
    cosines = np.flatnonzero(place.is_cos)
    return np.flatnonzero(~place.is_cos)[: len(cosines)], cosines
