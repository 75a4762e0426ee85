"""The one check of each array argument, and exact scaling by powers of two.

As with the scalars of `posenc.parameters`, a refused array raises a ``ValueError`` of one sentence.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def check_array(name: str, value: ArrayLike) -> Floats:
    """Return `value` as float64; text, booleans, complex numbers, objects and ragged rows are refused."""
    try:
        given = np.asarray(value)
    except ValueError:  # rows of different lengths
        given = np.empty(0, dtype=object)
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{name} must be an array of real numbers, got dtype {given.dtype}")
    return given.astype(np.float64)


def check_whole(name: str, value: ArrayLike) -> NDArray[np.int64]:
    """Return `value` as int64; floats are taken where they are whole numbers, all else is refused."""
    given = check_array(name, value)
    whole = np.abs(given) <= 2.0**53  # false for NaN; beyond, a float64 stands for more than one integer
    whole &= given == np.floor(given)
    if not whole.all():
        raise ValueError(f"{name} must be whole numbers, got {given[~whole].flat[0]:g}")
    return given.astype(np.int64)


def check_table(name: str, value: ArrayLike) -> Floats:
    """Return `value` as a (rows, columns) float64 array with at least one row and one column."""
    table = check_array(name, value)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(
            f"{name} must be a 2-D array with at least one row and one column, got shape {table.shape}"
        )
    return table


def check_rows(name: str, value: ArrayLike, width: str = "d_model") -> Floats:
    """Return `value` as a (…, rows, columns) float64 array with nothing empty; `width` names its columns."""
    rows = check_array(name, value)
    if rows.ndim < 2 or 0 in rows.shape:
        raise ValueError(f"{name} must have shape (…, seq_len, {width}), nothing empty, got {rows.shape}")
    return rows


def check_finite(name: str, values: Floats) -> Floats:
    """Return `values` if none of them is NaN or infinite; else say which is the first."""
    finite = np.isfinite(values)
    if not finite.all():
        place = tuple(np.argwhere(~finite)[0].tolist())
        where = f" at index {', '.join(map(str, place))}" if place else ""
        raise ValueError(f"{name} must be finite, got {values[place]}{where}")
    return values


def unit_scale(values: Floats, axis: int | None) -> tuple[Floats, NDArray[np.intc]]:
    """Split `values` into ``scaled * 2**exponent`` with the largest magnitude along `axis` in [0.5, 1).

    Powers of two change no digit. Afterwards 1e200 can be squared without overflow, 1e-200 without becoming
    zero.
    """
    # Of the two ends, so that no array of magnitudes is made.
    ends = values.max(axis=axis, keepdims=True), values.min(axis=axis, keepdims=True)
    exponent = np.frexp(np.maximum(ends[0], -ends[1]))[1]
    return np.ldexp(values, -exponent), exponent
