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
    SHIFT,
    Positions,
    check_dtype,
    check_positions,
)
from posenc.turns import fill

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

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    d_model, base, freq_shift = D_MODEL.check(d_model), BASE.check(base), FREQ_SHIFT.check(freq_shift)
    half = d_model // 2
    if freq_shift:
        return np.power(base, -np.arange(half) / max(half - 1, 1))
    return np.power(base, -2 * np.arange(d_model - half) / d_model)


def wavelengths(d_model: int, *, base: float = BASE.default, freq_shift: int = FREQ_SHIFT.default) -> Float64:
    """Return the wavelength 2π/ω_i of each pair, in positions for one turn.

    From 2π to 2π·base^((d−2)/d) for ``freq_shift=0`` and even d, to 2π·base for ``freq_shift=1``. Arguments,
    shape and errors are those of `inv_freq`.
    """
    return 2 * np.pi / inv_freq(d_model, base=base, freq_shift=freq_shift)


def columns(d_model: int, *, layout: str = LAYOUT.default, freq_shift: int = FREQ_SHIFT.default) -> Columns:
    """Say what each column of a table of this layout holds.

    Arguments and errors are those of `sinusoidal`.

    Returns
    -------
    Columns
        `pair` (d_model,) index of the rate in `inv_freq`, −1 for the column of zeros that ends an odd width
        with ``freq_shift=1``; `is_cos` (d_model,) true for cosines.
    """
    d_model, layout = D_MODEL.check(d_model), LAYOUT.check(layout)
    sines, cosines = _slices(_waves(d_model, FREQ_SHIFT.check(freq_shift)), layout)
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
    """Return the sinusoidal table: a row for each position, a column for each dimension.

    Column 2i is sin(p·ω_i), column 2i + 1 is cos(p·ω_i), with ω_i of `inv_freq`; `layout` moves columns only.

    Parameters
    ----------
    positions
        A number n of positions, for the rows 0 … n − 1, or a 1-D array of at least one real position, a row
        each: negative, fractional and far ones too, of any integer or float dtype.
    d_model
        Number of columns. Odd widths: with ``freq_shift=0`` there is one sine more than there are cosines and
        the divisor stays d (keras-hub, VideoMAE, Marian); with ``freq_shift=1`` the table of width d − 1 is
        followed by a column of zeros (fairseq).
    base
        10000 in the paper.
    layout
        ``"interleaved"`` sine, cosine, sine, … (paper); ``"sin_cos"`` all sines, then all cosines;
        ``"cos_sin"`` all cosines, then all sines.
    freq_shift
        0 for ω_i = base^(−2i/d) (paper), 1 for base^(−i/(⌊d/2⌋−1)) (tensor2tensor, fairseq, Whisper).
    dtype
        float16, float32 or float64 of the result; the values are computed in float64 and rounded once.

    Returns
    -------
    (n, d_model) array of `dtype`
        In float64 the error is below 5e-9 up to position 1e7, nearly all of it from rounding the angle.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.

    References
    ----------
    Vaswani et al. 2017, "Attention Is All You Need", section 3.5, https://arxiv.org/abs/1706.03762

    Examples
    --------
    >>> sinusoidal(2, 4, dtype="float64").round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    d_model, layout, wanted = D_MODEL.check(d_model), LAYOUT.check(layout), check_dtype(dtype)
    rows, rates = check_positions(positions), inv_freq(d_model, base=base, freq_shift=freq_shift)
    waves = _waves(d_model, freq_shift)
    table = np.empty((rows if isinstance(rows, int) else rows.size, d_model), dtype=wanted)
    table[:, waves:] = 0
    fill(table[:, :waves], rows, rates, *_slices(waves, layout))
    return table


def steps(positions: Positions, d_model: int, *, base: float = BASE.default) -> Steps:
    """Return every intermediate array of the interleaved table, as the formula is read from left to right.

    positions p (n, 1) → columns j (1, d) → exponents 2·⌊j/2⌋/d (1, d) → rates 1/base^exponent (1, d)
    → angles p · rate (n, d) → table (n, d): sine of the even columns' angles, cosine of the odd ones'.
    Arguments and errors are those of `sinusoidal`. Every step is kept whole, in float64: mind the memory.
    """
    d_model, base, rows = D_MODEL.check(d_model), BASE.check(base), check_positions(positions)
    p = (np.arange(float(rows)) if isinstance(rows, int) else rows)[:, np.newaxis]  # (n, 1)
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
    """Return M_k with PE(p + k) = M_k · PE(p) for every position p: the same rotations for all of them.

    On the pair (sin p·ω_i, cos p·ω_i) it is [[cos k·ω_i, sin k·ω_i], [−sin k·ω_i, cos k·ω_i]], elsewhere
    zero; a column of zeros stays as it is.

    Parameters
    ----------
    k
        How many positions to move on; any real number, back where it is negative.
    d_model, base, layout, freq_shift
        As in `sinusoidal`.

    Returns
    -------
    (d_model, d_model) float64, orthogonal

    Raises
    ------
    ValueError
        For an odd `d_model` with ``freq_shift=0``: its last sine has no cosine, so no matrix can turn it.
    """
    k, d_model = SHIFT.check(k), D_MODEL.check(d_model)
    rates = inv_freq(d_model, base=base, freq_shift=freq_shift)
    if d_model % 2 and not freq_shift:
        raise ValueError(
            f"d_model must be even for a shift matrix with freq_shift 0, since the last sine of an odd width "
            f"has no cosine to rotate with, got {d_model}"
        )
    sines, cosines = _slices(_waves(d_model, freq_shift), LAYOUT.check(layout))
    sin_at, cos_at = np.arange(d_model)[sines], np.arange(d_model)[cosines]
    matrix = np.eye(d_model)
    matrix[sin_at, sin_at] = matrix[cos_at, cos_at] = np.cos(k * rates)
    matrix[sin_at, cos_at] = np.sin(k * rates)  # sin(a + b) = sin a cos b + cos a sin b
    matrix[cos_at, sin_at] = -np.sin(k * rates)  # cos(a + b) = cos a cos b − sin a sin b
    return matrix


def _waves(d_model: int, freq_shift: int) -> int:
    """Count the columns that hold a wave: with ``freq_shift=1`` an odd width ends in a column of zeros."""
    return d_model - d_model % 2 if freq_shift else d_model


def _slices(width: int, layout: str) -> tuple[slice, slice]:
    """Say where the sines and where the cosines stand; an odd width has one more sine."""
    n_cos = width // 2
    if layout == "interleaved":
        return slice(0, width, 2), slice(1, width, 2)
    if layout == "sin_cos":
        return slice(0, width - n_cos), slice(width - n_cos, width)
    return slice(n_cos, width), slice(0, n_cos)
