"""What a whole table of positions is like: numbers and shapes to compare learned tables with the sinusoid.

Every measure treats the table as float64 and says NaN where it is undefined, as it is for a constant table.
Show each beside its baselines (`posenc.learned.random_init`, `posenc.learned.shuffle_rows`): some are far
from 0 on noise.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_finite, check_table, unit_scale
from posenc.parameters import BASE, Integer
from posenc.similarity import by_offset, cosine, norms
from posenc.sinusoidal import sinusoidal

# Cosines of equal rows differ by rounding alone; a spread below this is no variance to explain.
COSINE_ROUNDING = 1e-14
# How many median absolute deviations from the median norm make a row stand out: 8 robust standard deviations.
OUTLIER_DEVIATIONS = 8 * 1.4826


def offset_share(table: ArrayLike) -> float:
    """Share of the variance of cos(row p, row q), p < q, that the offset q − p alone explains.

    1 − Σ (cos − mean at the offset)² / Σ (cos − overall mean)²: 1 if the cosine matrix is Toeplitz, as for
    the sinusoid of even width. Rows are taken as they are, not centred; pairs with a zero row are left out.

    Parameters
    ----------
    table
        (n, d).

    Returns
    -------
    Between 0 and 1; NaN if fewer than two cosines are defined or all of them are equal.
    """
    profile = by_offset(cosine(table))
    off_diagonal = (profile.offset > 0) & (profile.count > 0)
    count, mean, std = (values[off_diagonal] for values in (profile.count, profile.mean, profile.std))
    if count.sum() == 0:
        return np.nan
    within = np.average(std**2, weights=count)
    between = np.average((mean - np.average(mean, weights=count)) ** 2, weights=count)
    total = within + between
    return float(between / total) if total > COSINE_ROUNDING**2 else np.nan


def effective_rank(table: ArrayLike) -> float:
    """Effective number of directions in which the rows vary.

    exp(−Σ s ln s) with s the squared singular values of the column-centred table, divided by their sum
    (Roy & Vetterli 2007 take the singular values themselves).

    Parameters
    ----------
    table
        (n, d).

    Returns
    -------
    From 1 to min(n − 1, d); NaN for a constant table.
    """
    rows = centred(table)
    # Their squares are the eigenvalues of the smaller of XᵀX and XXᵀ, in a third of the time of an SVD.
    squares = np.linalg.eigvalsh(rows.T @ rows if rows.shape[0] > rows.shape[1] else rows @ rows.T)
    total = squares.sum()
    share = squares[squares > 0] / total
    return float(np.exp(-np.sum(share * np.log(share)))) if share.size else np.nan


def nearest_row_share(table: ArrayLike) -> float:
    """Share of the rows p whose nearest other row, by cosine of the column-centred rows, is p − 1 or p + 1.

    Parameters
    ----------
    table
        (n, d).

    Returns
    -------
    Between 0 and 1; rows that are equal to the mean row have no direction and are left out; NaN if none is
    left.
    """
    nearness = cosine(centred(table))
    np.fill_diagonal(nearness, np.nan)
    defined = np.flatnonzero(~np.isnan(nearness).all(axis=1))
    if defined.size == 0:
        return np.nan
    nearest = np.nanargmax(nearness[defined], axis=1)
    return float(np.mean(np.abs(nearest - defined) == 1))


def linear_cka(a: ArrayLike, b: ArrayLike) -> float:
    """Linear centred kernel alignment of two tables (Kornblith et al. 2019): |AᵀB|² / (|AᵀA| |BᵀB|).

    A and B are column-centred, norms are Frobenius norms; rotating or scaling a table changes nothing.

    Parameters
    ----------
    a, b
        (n, d₁) and (n, d₂), the same positions in the same order.

    Returns
    -------
    Between 0 and 1; NaN if either table is constant.

    Raises
    ------
    ValueError
        If the numbers of rows differ.
    """
    first, second = centred(a, "a"), centred(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a and b must have the same number of rows, got {len(first)} and {len(second)}")
    if len(first) < max(first.shape[1], second.shape[1]):  # |AᵀB|² = ⟨AAᵀ, BBᵀ⟩, with smaller products
        rows_a, rows_b = first @ first.T, second @ second.T
        shared, alone = np.sum(rows_a * rows_b), np.linalg.norm(rows_a) * np.linalg.norm(rows_b)
    else:
        shared = np.sum((first.T @ second) ** 2)
        alone = np.linalg.norm(first.T @ first) * np.linalg.norm(second.T @ second)
    return float(shared / alone) if alone > 0 else np.nan


def sinusoid_fit(table: ArrayLike, *, base: float = BASE.default) -> float:
    """R² of the best rotated and scaled sinusoid: table ≈ mean row + scale · centred sinusoid · rotation.

    The sinusoid has the same shape and the given `base`. By orthogonal Procrustes the R² is
    (Σ singular values of XᵀS)² / (|X|² |S|²) for the column-centred table X and sinusoid S.

    Parameters
    ----------
    table
        (n, d).
    base
        Base of the wavelengths, as in `posenc.sinusoidal.sinusoidal`.

    Returns
    -------
    Between 0 and 1; NaN for a constant table and for a single row.
    """
    rows = centred(table)
    target = centred(sinusoidal(rows.shape[0], rows.shape[1], base=base, dtype=np.float64))
    alone = np.sum(rows**2) * np.sum(target**2)
    if len(rows) < rows.shape[1]:  # QR of both leaves an (n, n) product of the same singular values
        one, other = (np.asarray(np.linalg.qr(each.T, mode="r")) for each in (rows, target))
        product = one @ other.T
    else:
        product = rows.T @ target
    return float(np.sum(_singular_values(product)) ** 2 / alone) if alone > 0 else np.nan


def singular_values(table: ArrayLike) -> Floats:
    """Singular values of the column-centred (n, d) table → (min(n, d),), largest first, in its units."""
    rows, exponent = _centred_and_exponent(table)
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(_singular_values(rows), exponent)


class PcaPath(NamedTuple):
    """Coordinates (n, k) of the rows on the k main axes, and the share (k,) of the variance on each."""

    coordinates: Floats
    share: Floats


def pca_path(table: ArrayLike, k: int = 3) -> PcaPath:
    """Walk of the positions through the `k` directions in which the table varies most (principal components).

    Parameters
    ----------
    table
        (n, d).
    k
        How many directions, at most min(n, d).

    Returns
    -------
    PcaPath
        The sign of an axis is free; here each axis points to its farthest row. Axes of nearly the same share
        may come in another order or mixed on another machine. A constant table stands still, with NaN shares.

    Raises
    ------
    ValueError
        If `k` is not an integer from 1 to min(n, d).
    """
    rows, exponent = _centred_and_exponent(table)
    axes = Integer("k", default=3, minimum=1, maximum=min(rows.shape)).check(k)
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    coordinates = left[:, :axes] * values[:axes]
    farthest = np.abs(coordinates).argmax(axis=0)
    signs = np.where(np.take_along_axis(coordinates, farthest[None], axis=0) < 0, -1.0, 1.0)
    with np.errstate(over="ignore", under="ignore"):
        return PcaPath(np.ldexp(signs * coordinates, exponent), _variance_shares(values)[:axes])


class Spectrum(NamedTuple):
    """Fourier power of the columns.

    frequency (m,) in turns per position, 0 … 1/2; columns (m, d): how each column's power is shared out, NaN
    for a constant column; share (m,): how the power of the whole table is shared out; peak (d,): strongest
    frequency of each column.
    """

    frequency: Floats
    columns: Floats
    share: Floats
    peak: Floats


def column_spectrum(table: ArrayLike) -> Spectrum:
    """At which frequencies the columns of a table wave.

    Each centred column is faded out at both ends (Hann window), so that a wave that does not fit the table a
    whole number of times does not smear over all frequencies; its power is |FFT|² at m = n // 2 + 1
    frequencies i / n. Frequency 0 is left out: a column's mean is no wave.

    Parameters
    ----------
    table
        (n, d); fewer than three rows hold no wave, and all shares are NaN.

    Returns
    -------
    Spectrum
    """
    rows = centred(table)
    n = len(rows)
    power = np.abs(np.fft.rfft(rows * np.hanning(n)[:, None], axis=0)) ** 2
    power[0] = 0.0
    frequency: Floats = np.arange(n // 2 + 1) / n
    with np.errstate(invalid="ignore"):  # 0/0 of a constant column
        columns = power / power.sum(axis=0)
        share = power.sum(axis=1) / power.sum()
    peak = np.where(power.any(axis=0), frequency[power.argmax(axis=0)], np.nan)
    return Spectrum(frequency, columns, share, peak)


def norm_outliers(table: ArrayLike) -> NDArray[np.intp]:
    """Rows whose norm is more than 8 robust standard deviations (1.4826 MAD) from the median norm."""
    length = norms(table)
    deviation = np.abs(length - np.median(length))
    # Norms that are equal up to rounding, as the sinusoid's, have no outliers.
    threshold = max(OUTLIER_DEVIATIONS * np.median(deviation), 1e-9 * np.median(length))
    return np.flatnonzero(deviation > threshold)


def centred(table: ArrayLike, name: str = "table") -> Floats:
    """Column-centred (n, d) table, scaled by a power of two to magnitudes around 1."""
    return _centred_and_exponent(table, name)[0]


def _centred_and_exponent(table: ArrayLike, name: str = "table") -> tuple[Floats, np.intc]:
    scaled, exponent = unit_scale(check_finite(name, check_table(name, table)), axis=None)
    # A constant column becomes exactly 0; less its rounded mean alone it would leave noise to be measured.
    scaled = scaled - scaled[0]
    return scaled - scaled.mean(axis=0), exponent[0, 0]


def _singular_values(rows: Floats) -> Floats:
    return np.linalg.svd(rows, compute_uv=False).astype(np.float64, copy=False)


def _variance_shares(values: Floats) -> Floats:
    total = np.sum(values**2)
    return values**2 / total if total > 0 else np.full_like(values, np.nan)
