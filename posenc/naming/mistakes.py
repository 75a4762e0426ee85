"""Tables that only a mistake explains: raw column numbers, a mixed-in batch axis, few digits, a transpose."""

import math
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.mistakes import MISTAKES
from posenc.naming.bases import KNOWN
from posenc.naming.sinusoid import following
from posenc.parameters import BASE
from posenc.precision import rounded
from posenc.sinusoidal import columns, inv_freq

Floats = NDArray[np.float64]
Angles = Callable[[Floats, NDArray[np.intp]], Floats]

_ROWS, _PAIRS = 256, 32


class Rounded(NamedTuple):
    """A table of which positions, angles or rates had the digits of `precision` only."""

    precision: str
    layout: str
    base: float
    freq_shift: int
    first: float
    nearest: Floats
    rest: float


def raw_column(values: Floats) -> tuple[float, Floats, float] | None:
    """Read a table as the mistake ``"raw_column"``: its base, the table and its relative residual."""
    n, d_model = values.shape
    if n < 3 or d_model < 4:
        return None
    # A wave of rate ω is 2·cos ω times itself less the row before; column 1 has base^(−2/d).
    wave = values[:, 1]
    twice = float(wave[1:-1] @ (wave[2:] + wave[:-2]) / max(2 * float(wave[1:-1] @ wave[1:-1]), 1e-300))
    rate = math.acos(min(max(twice, -1.0), 1.0))
    guess = rate ** (-d_model / 2) if rate > 0 else math.inf
    head = values[:64]
    best = (math.inf, 0.0)
    for base in (*KNOWN, guess):
        if BASE.minimum <= base <= BASE.maximum:
            wrong = _scaled(head, MISTAKES["raw_column"].build(len(head), d_model, base))
            best = min(best, (following(head, wrong)[1] * (1 if base in KNOWN else 1.2) + 1e-9, base))
    if best[0] > 0.05:
        return None
    nearest = _scaled(values, MISTAKES["raw_column"].build(n, d_model, best[1]))
    return best[1], nearest, following(values, nearest)[1]


def _scaled(values: Floats, table: Floats) -> Floats:
    """Return the multiple of a table that is nearest to the values."""
    return np.asarray(float((values * table).sum() / (table**2).sum()) * table)


def repeated(values: Floats) -> Iterator[tuple[Floats, NDArray[np.intp]]]:
    """Yield what is left of a table (n, d) whose rows are repeated, and which row of it each row is.

    Each row several times (a batch after the sequence), or all rows again and again (a batch before it).
    """
    n = len(values)
    row = np.arange(n)
    for count in range(n // 2, 1, -1):  # the most repetitions first
        if n % count:
            continue
        for index, kept in (
            (row // count, slice(None, None, count)),
            (row % (n // count), slice(n // count)),
        ):
            if (values[kept, 0][index] == values[:, 0]).all() and np.array_equal(values[kept][index], values):
                yield values[kept], index


def few_digits(
    values: Floats, layouts: tuple[str, ...], bases: tuple[float, ...], firsts: tuple[float, ...]
) -> Rounded | None:
    """Find the format and the step in which a sinusoidal table was computed, the nearest of all.

    Parameters
    ----------
    values
        (n, d_model) of amplitude 1.
    layouts, bases, firsts
        To be tried.

    Returns
    -------
    Rounded or None
        Its `rest` may be large; None for an odd width.
    """
    n, d_model = values.shape
    if d_model % 2:
        return None
    # The first rows, and some up to the last, where the error is largest.
    p = np.unique(np.r_[np.arange(min(n, _ROWS // 2)), np.linspace(0, n - 1, _ROWS // 2).astype(np.intp)])
    pairs = np.unique(np.linspace(0, d_model // 2 - 1, _PAIRS).astype(np.intp))
    best: tuple[float, Rounded, Angles] | None = None
    for layout, base, shift in product(layouts, bases, (0, 1)):
        pair, is_cos = columns(d_model, layout=layout)
        sines, cosines = np.flatnonzero(~is_cos)[pairs], np.flatnonzero(is_cos)[pairs]
        seen = values[np.ix_(p, sines)], values[np.ix_(p, cosines)]
        for precision, angles in _roundings(d_model, base, shift):
            for first in firsts:
                made = angles(first + p, pairs)
                error = float(np.mean((seen[0] - np.sin(made)) ** 2 + (seen[1] - np.cos(made)) ** 2))
                if best is None or error < 0.95 * best[0]:
                    found = Rounded(precision, layout, base, shift, first, values, math.sqrt(error))
                    best = error, found, angles
    if best is None:
        return None
    _, found, angles = best
    pair, is_cos = columns(d_model, layout=found.layout)
    made = angles(found.first + np.arange(float(n)), pair)
    return found._replace(nearest=np.where(is_cos, np.cos(made), np.sin(made)))


def _roundings(d_model: int, base: float, shift: int) -> Iterator[tuple[str, Angles]]:
    """Yield the ways in which positions, rates and their products lose digits: format, angles of p."""
    exact = inv_freq(d_model, base=base, freq_shift=shift)
    divisor = d_model // 2 - 1 if shift else d_model / 2
    for precision in ("bfloat16", "float16"):

        def short(x: NDArray[np.floating], precision: str = precision) -> Floats:
            return rounded(x, precision)

        # exp of a product that has few digits as well, as in the buffer of the PyTorch tutorial
        factor = short(np.array(-math.log(base) / max(divisor, 1) / 2))
        by_exp = short(np.exp(short(short(2.0 * np.arange(len(exact))) * factor)))
        for rates, place, whole in product((exact, short(exact), by_exp), (True, False), (True, False)):
            if rates is exact and not place and not whole:
                continue

            def angles(
                p: Floats,
                pairs: NDArray[np.intp],
                rates: Floats = rates,
                place: bool = place,
                whole: bool = whole,
                short: Callable[[Floats], Floats] = short,
            ) -> Floats:
                made = np.multiply.outer(short(p) if place else p, rates)[:, pairs]
                return short(made) if whole else made

            yield precision, angles
