"""The sinusoidal table of "Attention Is All You Need" (Vaswani et al. 2017, section 3.5).

    PE(p, 2i)     = sin(p · ω_i)
    PE(p, 2i + 1) = cos(p · ω_i)          ω_i = base^(−2i/d_model)

Letters: p position (row), i index of a pair of columns, ω_i its rate in radians per position,
d = `d_model` number of columns, n = number of positions. Everything is computed in float64 and cast last.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posenc.parameters import (
    BASE,
    D_MODEL,
    FREQ_SHIFT,
    LAYOUT,
    SEQ_LEN,
    SHIFT,
    Positions,
    check_dtype,
    check_positions,
    is_count,
)

Float64 = NDArray[np.float64]


class Columns(NamedTuple):
    """What each column of a table holds: its pair (−1 = a column of zeros) and whether it is the cosine."""

    pair: NDArray[np.intp]
    is_cos: NDArray[np.bool_]


class Steps(NamedTuple):
    """The steps from positions to table, one array each, in the order in which they are made."""

    positions: Float64  # (n, 1)
    columns: NDArray[np.intp]  # (1, d_model)
    exponents: Float64  # (1, d_model)
    rates: Float64  # (1, d_model), radians per position
    angles: Float64  # (n, d_model), radians
    table: Float64  # (n, d_model)


def inv_freq(d_model: int, *, base: float = BASE.default, freq_shift: int = FREQ_SHIFT.default) -> Float64:
    """Return the rate ω_i of each pair of columns, fastest first.

    ω_i = base^(−2i/d_model) for ``freq_shift=0`` (the paper); ω_i = base^(−i/(h−1)), h = floor(d_model/2),
    for ``freq_shift=1`` (tensor2tensor, fairseq, Whisper), where the divisor is 1 when h is 1.

    Parameters
    ----------
    d_model
        Number of columns of the table.
    base
        Ratio of the slowest to the fastest wavelength that the rates approach (0) or reach (1).
    freq_shift
        0 or 1, as above.

    Returns
    -------
    (n_pairs,) float64, radians per position
        ceil(d_model/2) rates for ``freq_shift=0``, floor(d_model/2) for ``freq_shift=1``.
    """
    d_model, base, freq_shift = D_MODEL.check(d_model), BASE.check(base), FREQ_SHIFT.check(freq_shift)
    half = d_model // 2
    if freq_shift:
        exponents = np.arange(half) / max(half - 1, 1)
    else:
        exponents = 2 * np.arange(d_model - half) / d_model
    return np.asarray(base**-exponents, dtype=np.float64)


def wavelengths(d_model: int, *, base: float = BASE.default, freq_shift: int = FREQ_SHIFT.default) -> Float64:
    """Return the positions per turn of each pair, 2π/ω_i: (n_pairs,) float64, shortest (2π) first."""
    return 2 * np.pi / inv_freq(d_model, base=base, freq_shift=freq_shift)


def columns(
    d_model: int, *, layout: str = LAYOUT.default, freq_shift: int = FREQ_SHIFT.default
) -> Columns:
    """Say what each column of a table of this layout holds.

    Returns
    -------
    Columns
        `pair` (d_model,) index of the rate in `inv_freq`, −1 for the column of zeros that ends an odd width
        with ``freq_shift=1``; `is_cos` (d_model,) true for cosines.
    """
    d_model, layout = D_MODEL.check(d_model), LAYOUT.check(layout)
    sines, cosines = _slices(_waving(d_model, FREQ_SHIFT.check(freq_shift)), layout)
    pair, is_cos = np.full(d_model, -1), np.zeros(d_model, dtype=bool)
    for place in (sines, cosines):
        pair[place] = np.arange(pair[place].size)
    is_cos[cosines] = True
    return Columns(pair, is_cos)


def sinusoidal(
    positions: Positions,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    freq_shift: int = FREQ_SHIFT.default,
    dtype: DTypeLike = np.float32,
) -> NDArray[np.floating]:
    """Return the sinusoidal table: a row for each position, a column for each dimension."""
    rates = inv_freq(d_model, base=base, freq_shift=freq_shift)
    wanted = check_dtype(dtype)
    waving = _waving(D_MODEL.check(d_model), freq_shift)
    places = _slices(waving, LAYOUT.check(layout))
    rows = SEQ_LEN.check(positions) if is_count(positions) else check_positions(positions)
    n = rows if isinstance(rows, int) else rows.size
    table = np.zeros((n, d_model), dtype=wanted)
    exact = np.arange(n, dtype=np.float64) if isinstance(rows, int) else rows
    angles = exact[:, np.newaxis] * rates
    table[:, places[0]] = np.sin(angles)
    table[:, places[1]] = np.cos(angles[:, : waving // 2])
    return table


def steps(positions: Positions, d_model: int, *, base: float = BASE.default) -> Steps:
    """Return every intermediate array of the interleaved table, as the formula is read from left to right.

    positions p (n, 1) → columns j (1, d) → exponents 2·⌊j/2⌋/d (1, d) → rates 1/base^exponent (1, d)
    → angles p · rate (n, d) → table: sine of the even columns' angles, cosine of the odd ones'.
    """
    d_model, base = D_MODEL.check(d_model), BASE.check(base)
    rows = np.arange(SEQ_LEN.check(positions)) if is_count(positions) else positions
    p = check_positions(rows)[:, np.newaxis]  # (n, 1)
    j = np.arange(d_model)[np.newaxis, :]  # (1, d)
    exponents = 2 * (j // 2) / d_model
    rates = 1 / np.power(base, exponents)
    angles = p * rates  # (n, d)
    table = np.where(j % 2 == 0, np.sin(angles), np.cos(angles))
    return Steps(p, j, exponents, rates, angles, table)


def shift_matrix(
    k: float,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    freq_shift: int = FREQ_SHIFT.default,
) -> Float64:
    """Return M_k with PE(p + k) = M_k · PE(p) for every position p: a rotation by k·ω_i in each pair."""
    k = SHIFT.check(k)
    rates = inv_freq(d_model, base=base, freq_shift=freq_shift)
    if d_model % 2 and not freq_shift:
        raise ValueError(
            f"d_model must be even for a shift matrix with freq_shift 0, since the last sine of an odd width "
            f"has no cosine to rotate with, got {d_model}"
        )
    sines, cosines = _slices(_waving(d_model, freq_shift), LAYOUT.check(layout))
    sin_at, cos_at = np.arange(d_model)[sines], np.arange(d_model)[cosines]
    matrix = np.eye(d_model)  # a column of zeros stays as it is
    matrix[sin_at, sin_at] = matrix[cos_at, cos_at] = np.cos(k * rates)
    matrix[sin_at, cos_at] = np.sin(k * rates)  # sin(a + b) = sin a cos b + cos a sin b
    matrix[cos_at, sin_at] = -np.sin(k * rates)  # cos(a + b) = cos a cos b − sin a sin b
    return matrix


def _waving(d_model: int, freq_shift: int) -> int:
    """Number of columns that hold a wave: with ``freq_shift=1`` an odd width ends in a column of zeros."""
    return d_model - d_model % 2 if freq_shift else d_model


def _slices(width: int, layout: str) -> tuple[slice, slice]:
    """Where the sines and where the cosines stand among `width` columns; an odd width has one more sine."""
    n_cos = width // 2
    if layout == "interleaved":
        return slice(0, width, 2), slice(1, width, 2)
    if layout == "sin_cos":
        return slice(0, width - n_cos), slice(width - n_cos, width)
    return slice(n_cos, width), slice(0, n_cos)
