"""Properties that a right sinusoidal table has, as numbers: what gives a wrong one away."""

import math

import numpy as np
from numpy.typing import NDArray

from posenc.sinusoidal import Columns

Table = NDArray[np.floating]


def row_norms(table: Table) -> NDArray[np.float64]:
    """Return the Euclidean length of each row, (n,); √(d_model/2) everywhere for an even-width sinusoid."""
    return np.asarray(np.linalg.norm(np.asarray(table, dtype=np.float64), axis=1))


def pair_radii(table: Table, is_cos: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return sin² + cos² of each pair in each row, (n, n_pairs); 1 everywhere where partners share an angle.

    `is_cos` (d_model,) says which columns are cosines (see `posenc.columns`); an unpaired last sine is left out.
    """
    exact = np.asarray(table, dtype=np.float64)
    sines, cosines = exact[:, ~is_cos], exact[:, is_cos]
    return sines[:, : cosines.shape[1]] ** 2 + cosines**2


def offset_deviation(table: Table) -> float:
    """Return how far PE(p)·PE(q) is from depending on p − q only: the largest deviation from its offset's mean."""
    exact = np.asarray(table, dtype=np.float64)
    gram = exact @ exact.T
    return max(float(np.ptp(gram.diagonal(offset))) / 2 for offset in range(len(gram)))


def still_columns(table: Table, tolerance: float = 0.01) -> int:
    """Count the columns whose values all lie within `tolerance` of each other."""
    return int((np.ptp(table, axis=0) < tolerance).sum())


def largest_difference(first: Table, *others: Table) -> float:
    """Return the largest absolute difference between the first array and each of the others."""
    return max(float(np.abs(np.subtract(other, first, dtype=np.float64)).max()) for other in others)


def cell_angles(positions: int, columns: Columns, rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the angle behind each cell of a table, position × rate of the column's pair: (n, d_model), radians."""
    angles = np.arange(positions)[:, np.newaxis] * rates[columns.pair]
    return np.where(columns.pair < 0, np.nan, angles)


def wave(rate: float, last: float, samples: int = 600) -> tuple[NDArray[np.float64], ...]:
    """Return real positions from 0 to `last`, and the sine and the cosine of one pair there."""
    positions = np.linspace(0.0, last, samples)
    return positions, np.sin(rate * positions), np.cos(rate * positions)


def expected_norm(d_model: int) -> float:
    """Return the length of every row of an even-width sinusoid, √(d_model/2)."""
    return math.sqrt(d_model / 2)
