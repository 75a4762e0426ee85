"""Properties that a right sinusoidal table has, as numbers: what gives a wrong one away."""

import math

import numpy as np
from numpy.typing import NDArray

from posenc.mistakes import Invariant
from posenc.parameters import SEQ_LEN
from posenc.sinusoidal import inv_freq

Table = NDArray[np.floating]


def row_norms(table: Table) -> NDArray[np.float64]:
    """Return the Euclidean length of each row, (n,); √(d_model/2) everywhere for an even-width sinusoid."""
    return np.asarray(np.linalg.norm(np.asarray(table, dtype=np.float64), axis=1))


def offset_deviation(table: Table) -> float:
    """Return how far PE(p)·PE(q) is from depending on p − q only: half the widest spread at one offset."""
    exact = np.asarray(table, dtype=np.float64)
    gram = exact @ exact.T
    return max(float(np.ptp(gram.diagonal(offset))) / 2 for offset in range(len(gram)))


def deviations(table: Table, base: float) -> dict[Invariant, float]:
    """Return how far an interleaved table of even width is from each property of the right one; 0 is right.

    Parameters
    ----------
    table
        (n, d_model) with n ≥ 2, for the positions 0 … n − 1.
    base
        The base that the table claims.

    Returns
    -------
    dict
        Largest absolute deviation by name of the property (see `posenc.mistakes.INVARIANTS`): of row 0 from
        0, 1, 0, 1, …; of sin² + cos² from 1; of a row's norm from √(d/2); half the widest spread of
        PE(p)·PE(q) at one offset; of the angle from row 0 to row 1 in each pair from ω_i.
    """
    exact = np.asarray(table, dtype=np.float64)
    width = exact.shape[1]
    sines, cosines = exact[:, 0::2], exact[:, 1::2]
    angles = np.arctan2(sines[:2], cosines[:2])
    turned = np.abs((angles[1] - angles[0] + np.pi) % math.tau - np.pi)
    return {
        "origin": float(max(np.abs(sines[0]).max(), np.abs(cosines[0] - 1).max())),
        "pair_radius": float(np.abs(sines**2 + cosines**2 - 1).max()),
        "row_norm": float(np.abs(row_norms(exact) - expected_norm(width)).max()),
        "offset_only": offset_deviation(exact),
        "wavelengths": float(np.abs(turned - inv_freq(width, base=base)).max()),
    }


def still_columns(seq_len: int, d_model: int, *, base: float, tolerance: float = 0.01) -> int:
    """Count the columns whose values at the positions 0 … seq_len − 1 all lie within `tolerance`, below ½.

    A sine starts at 0 and a cosine at 1. Both change one way only for a quarter of a turn, which no pair
    jumps over: within it the last position is farthest from the first, and beyond it none is still.
    """
    angles = np.minimum(inv_freq(d_model, base=base) * (SEQ_LEN.check(seq_len) - 1), np.pi / 2)
    sines, cosines = np.sin(angles), 1 - np.cos(angles[: d_model // 2])
    return int((sines < tolerance).sum() + (cosines < tolerance).sum())


def largest_difference(first: Table, *others: Table) -> float:
    """Return the largest absolute difference between the first array and each of the others."""
    return max(float(np.abs(np.subtract(other, first, dtype=np.float64)).max()) for other in others)


def wavelength_limit(base: float) -> float:
    """Return 2π·base, which the longest wavelength approaches as `d_model` grows."""
    return math.tau * base


def even_width(d_model: int) -> int:
    """Return the even width that shows the properties of this one: rounded down, and two pairs at least."""
    return max(d_model - d_model % 2, 4)


def expected_norm(d_model: int) -> float:
    """Return the length of every row of an even-width sinusoid, √(d_model/2)."""
    return math.sqrt(d_model / 2)
