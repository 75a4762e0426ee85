"""How alike positions are: dot product, cosine and distance of table rows, each also against the offset."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_table, unit_scale
from posenc.parameters import Choice

# Below this a sum of squares has lost digits to underflow; at infinity it has overflowed.
SMALLEST_SAFE_SQUARE = 1e-280


def dot(a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Dot products of the rows of `a` with the rows of `b`: ``a @ b.T``.

    Parameters
    ----------
    a, b
        Tables of shapes (n, d) and (m, d); without `b`, of `a` with itself.

    Returns
    -------
    (n, m) float64. A product past the largest float64 is infinite, without a warning.

    Raises
    ------
    ValueError
        If a table is not a 2-D array of real numbers or the widths differ.
    """
    first, second = _pair(a, b)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return first @ second.T


def cosine(a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Cosine of the angle between the rows of `a` and the rows of `b`: ``a·b / (|a| |b|)``, within [−1, 1].

    Parameters
    ----------
    a, b
        Tables of shapes (n, d) and (m, d); without `b`, of `a` with itself.

    Returns
    -------
    (n, m) float64. A row of zeros has no direction: its cosines are NaN (undefined), also with itself, and
    never 0. So are those of a row that holds NaN or an infinity. Rows of any other size, 1e200 or 1e-200,
    give right values.

    Raises
    ------
    ValueError
        If a table is not a 2-D array of real numbers or the widths differ.
    """
    first, second = _pair(a, b)
    with np.errstate(under="ignore", invalid="ignore"):
        directions = _directions(first)
        others = directions if b is None else _directions(second)
        # Rounding can leave 1.0000000000000002 on the diagonal, of which arccos is NaN.
        return np.clip(directions @ others.T, -1.0, 1.0)


def distance(a: ArrayLike, b: ArrayLike | None = None) -> Floats:
    """Euclidean distances between the rows of `a` and the rows of `b`: ``|a − b|``.

    Parameters
    ----------
    a, b
        Tables of shapes (n, d) and (m, d); without `b`, of `a` with itself.

    Returns
    -------
    (n, m) float64. Equal rows are exactly 0 apart, rows of 1e200 or 1e-200 are measured right, a distance
    past the largest float64 is infinite, and a row that holds NaN is NaN from every other.

    Raises
    ------
    ValueError
        If a table is not a 2-D array of real numbers or the widths differ.

    Notes
    -----
    The differences are formed row by row. |a|² + |b|² − 2 a·b would be faster, but leaves rounding noise
    where equal rows must be 0 apart.
    """
    first, second = _pair(a, b)
    distances = np.empty((len(first), len(second)))
    with np.errstate(over="ignore", invalid="ignore"):
        for p, row in enumerate(first):
            if b is None:  # half the work: the other half is its mirror image
                distances[p, p:] = distances[p:, p] = _norms(second[p:] - row)
            else:
                distances[p] = _norms(second - row)
    return distances


def norms(table: ArrayLike) -> Floats:
    """Euclidean length of each row of a (n, d) table → (n,), right for rows of 1e200 and 1e-200 as well."""
    return _norms(check_table("table", table))


MEASURES: Mapping[str, Callable[[ArrayLike, ArrayLike | None], Floats]] = MappingProxyType(
    {"dot": dot, "cosine": cosine, "distance": distance}
)
# Cosine comes first, since it is the one that compares tables of any size.
MEASURE: Choice[str] = Choice("measure", ("cosine", "dot", "distance"))


@dataclass(frozen=True)
class OffsetProfile:
    """Mean, spread, extremes and number of the defined cells of a matrix at each offset, all of one shape."""

    offset: NDArray[np.int64]
    mean: Floats
    std: Floats
    minimum: Floats
    maximum: Floats
    count: NDArray[np.int64]

    @property
    def band(self) -> tuple[Floats, Floats, Floats]:
        """The mean, and one standard deviation below and above it."""
        return self.mean, self.mean - self.std, self.mean + self.std

    @property
    def widest(self) -> float:
        """The largest standard deviation at any offset; NaN if no cell is defined."""
        return float(self.std[self.count > 0].max()) if self.count.any() else np.nan

    def seen_from(self, position: int) -> Floats:
        """Return the mean at the offset of each position from this one, for offsets 0 … n−1 → (n,)."""
        here: Floats = self.mean[np.abs(np.arange(len(self.mean)) - position)]
        return here


def by_offset(matrix: ArrayLike, *, signed: bool = False) -> OffsetProfile:
    """Gather a position-by-position matrix along its diagonals: value against offset q − p.

    Parameters
    ----------
    matrix
        (n, n): row p, column q.
    signed
        False reads the upper triangle, offsets 0 … n−1, all that a symmetric matrix holds;
        True reads every diagonal, offsets −(n−1) … n−1.

    Returns
    -------
    OffsetProfile
        Undefined (NaN) cells are left out; `count` says how many are left, and where it is 0 the rest is NaN.
        `std` is the population standard deviation.

    Raises
    ------
    ValueError
        If the matrix is not a square 2-D array of real numbers.
    """
    cells = check_table("matrix", matrix)
    n = len(cells)
    if cells.shape != (n, n):
        raise ValueError(
            f"matrix must be square, one row and one column per position, got shape {cells.shape}"
        )
    along = _along_diagonals(cells, signed=signed)
    empty = np.isnan(along)
    count = n - np.count_nonzero(empty, axis=0)
    undefined = np.full(along.shape[1], np.nan)
    with np.errstate(over="ignore", invalid="ignore"):
        minimum, maximum = np.fmin.reduce(along), np.fmax.reduce(along)
        total = np.add.reduce(np.where(empty, 0.0, along))
        mean = np.divide(total, count, where=count > 0, out=undefined.copy())
        along -= mean
        along *= along
        along[empty] = 0.0
        std = np.sqrt(np.divide(np.add.reduce(along), count, where=count > 0, out=undefined))
    offset = np.arange(1 - n if signed else 0, n)
    return OffsetProfile(offset, mean, std, minimum, maximum, count)


def _along_diagonals(cells: Floats, *, signed: bool) -> Floats:
    """Return the cells of a matrix (n, n) with a column for each offset, NaN where there is none.

    In rows of 2n places, each half empty, the next cell of a diagonal is 2n + 1 places further on.
    """
    n = len(cells)
    places = np.full(n * (2 * n + 1), np.nan)
    places[: 2 * n * n].reshape(n, 2 * n)[:, :n] = cells
    columns = places.reshape(n, 2 * n + 1)
    return np.hstack([columns[:, n + 2 :], columns[:, :n]]) if signed else columns[:, :n]


def first_turn(values: ArrayLike) -> int | None:
    """Return the first index at which a curve steps against its own first step; None if it never does.

    Similarity falls away from offset 0 and distance grows, and neither goes on for ever.

    Parameters
    ----------
    values
        (n,). Steps of less than 1e-12 of the largest value, which are rounding, and steps from or to NaN do
        not count.
    """
    curve = check_array("values", values)
    finite = np.abs(curve[np.isfinite(curve)])
    step = np.diff(curve)
    moves = np.flatnonzero(np.abs(step) > 1e-12 * np.max(finite, initial=0.0))
    against = moves[np.sign(step[moves]) != np.sign(step[moves[:1]])]
    return int(against[0]) + 1 if against.size else None


def undefined_cells(matrix: ArrayLike) -> int:
    """Count the cells that are NaN: the cosines of a row of zeros, which has no direction."""
    return int(np.isnan(check_table("matrix", matrix)).sum())


def _pair(a: ArrayLike, b: ArrayLike | None) -> tuple[Floats, Floats]:
    first = check_table("a", a)
    second = first if b is None else check_table("b", b)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"a and b must have the same width, got {first.shape[1]} and {second.shape[1]} columns"
        )
    return first, second


def _directions(table: Floats) -> Floats:
    """Rows of length 1; a row without a direction becomes NaN, by 0/0."""
    scaled, _ = unit_scale(table, axis=1)
    directions: Floats = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    return directions


def _norms(rows: Floats) -> Floats:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.einsum("ij,ij->i", rows, rows)
        length: Floats = np.sqrt(square)
        suspects = np.flatnonzero(~((square > SMALLEST_SAFE_SQUARE) & (square < np.inf)))
        if suspects.size:
            length[suspects] = _scaled_norms(rows[suspects])
    return length


def _scaled_norms(rows: Floats) -> Floats:
    """Norms of rows whose squares may leave the range of float64, each measured by its largest value."""
    peak = np.abs(rows).max(axis=1)
    unit = np.where((peak > 0) & (peak < np.inf), peak, 1.0)
    scaled = rows / unit[:, None]
    length: Floats = unit * np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    return length
