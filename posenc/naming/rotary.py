"""Caches of rotary encodings: the cosines or the sines of p·ω_i, each twice, in halves or side by side.

A single wave x has no partner to turn with, but a recurrence: x[p + 1] + x[p − 1] = 2·cos ω · x[p]. It gives
the rates of the fast columns, and least squares over more and more rows the others.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.naming.bases import KNOWN, Base, candidates

Floats = NDArray[np.float64]

# Two columns are the same up to this part of their size: twice a noise of 1 %.
_SAME = 0.04
_ROWS, _COLUMNS = 256, 96
# Radians a row: slower columns only are straight lines as well as waves.
_TURNING = 0.05


@dataclass(frozen=True)
class Cache:
    """A rotary cache: `copies` where the second copy of a column stands, `wave` "cos" or "sin".

    `copies` is "single" where there is none, "cos_sin" or "sin_cos" where the one stands beside the other.

    `base` None where the rates do not fall by one factor, as in scaled encodings.
    """

    copies: str
    wave: str
    base: Base | None
    first: float
    step: float
    scale: float
    nearest: Floats | None
    rest: float


class Tones(NamedTuple):
    """Waves of falling rates: ω_i = e^(start − fall·i), the position of row 0 in rows, and errors."""

    start: float
    fall: float
    first: float
    start_error: float
    fall_error: float
    first_error: float
    rest: float


def read_rotary(values: Floats) -> Cache | None:
    """Read a table (n, d) as a rotary cache that has every column twice; None if it is none."""
    n, d_model = values.shape
    if n < 4 or d_model < 2:
        return None
    half = d_model // 2
    twice = (
        ("half_split", np.arange(half), np.arange(half, 2 * half)),
        ("adjacent", np.arange(0, 2 * half, 2), np.arange(1, 2 * half, 2)),
    )
    size = float(np.sqrt(np.mean(values**2)))
    for copies, once, again in twice if d_model % 2 == 0 and d_model > 2 else ():
        off = float(np.sqrt(np.mean((values[:, once] - values[:, again]) ** 2)))
        if off > _SAME * size:
            continue
        found = _read((values[:, once] + values[:, again]) / 2, copies)
        if found is not None:
            return _doubled(values, found, once, again)
        if off == 0 and half > 3:  # nothing else has every column twice
            return Cache(copies, "cos", None, 0.0, math.nan, float(np.abs(values).max()), None, math.inf)
    return None


def _doubled(values: Floats, found: Cache, once: NDArray[np.intp], again: NDArray[np.intp]) -> Cache:
    """Put the columns of a cache in both of their places."""
    if found.nearest is None:
        return found
    nearest = np.empty_like(values)
    nearest[:, once] = nearest[:, again] = found.nearest
    rest = float(np.sqrt(np.mean((values - nearest) ** 2) / np.mean(values**2)))
    return replace(found, nearest=nearest, rest=rest)


def read_single(values: Floats) -> Cache | None:
    """Read cosines or sines that are there once: alone, or the ones beside the others."""
    if len(values) < 4:
        return None
    half = values.shape[1] // 2
    halves = (values[:, :half], values[:, half:]) if half > 1 else ()
    parts = [read_rotary(part) or _read(part, "") for part in halves]
    first, second = parts if parts else (None, None)
    if first is not None and second is not None and {first.wave, second.wave} == {"cos", "sin"}:
        both = (first.nearest, second.nearest)
        nearest = None if both[0] is None or both[1] is None else np.hstack([both[0], both[1]])
        return replace(first, copies=f"{first.wave}_{second.wave}", nearest=nearest)
    alone = _read(values, "single")
    return alone if alone is not None and alone.rest < 0.01 else None


def _read(waves: Floats, copies: str) -> Cache | None:
    """Read the different columns (n, m) as cosines, or as sines, of one position."""
    scale = float(np.abs(waves).max())
    rates, pure = _rates(waves)
    if scale == 0 or pure > 0.05:
        return None
    scale = 1.0 if abs(scale - 1) < 0.06 else scale
    best: Cache | None = None
    for wave in ("cos", "sin"):
        tones = _fit(waves / scale, wave, rates)
        if tones is None or (best is not None and tones.rest >= best.rest):
            continue
        best = _named(waves, copies, wave, tones, scale)
    if best is not None and best.rest < 0.03:
        return best
    if rates.max() < _TURNING:
        return None
    # Waves, but not of one factor: scaled ones all start at position 0 together.
    for wave, level in (("cos", scale), ("sin", 0.0)):
        if float(np.sqrt(np.mean((waves[0] - level) ** 2))) < 0.03 * scale:
            return Cache(copies, wave, _fast_base(rates), 0.0, 1.0, scale, None, pure)
    return None


def _rates(waves: Floats) -> tuple[Floats, float]:
    """Return each column's rate by the recurrence, and how far from pure waves the columns are."""
    middle, both = waves[1:-1], waves[2:] + waves[:-2]
    power = np.maximum((middle**2).sum(axis=0), 1e-300)
    cosine = (middle * both).sum(axis=0) / (2 * power)
    left = both - 2 * cosine * middle
    pure = float(np.sqrt((left**2).sum() / max(float((both**2).sum()), 1e-300)))
    return np.arccos(np.clip(cosine, -1.0, 1.0)), pure


def _fit(waves: Floats, wave: str, rates: Floats) -> Tones | None:
    """Fit start, fall and first position by least squares, over windows of rows that double."""
    m = waves.shape[1]
    i = np.arange(float(m))
    clear = rates > 0.05
    if clear.sum() >= 2:
        w = np.minimum(rates[clear], 1.0) ** 2
        mi, my = np.average(i[clear], weights=w), np.average(np.log(rates[clear]), weights=w)
        fall = -float((w * (i[clear] - mi) * (np.log(rates[clear]) - my)).sum())
        fall /= float((w * (i[clear] - mi) ** 2).sum())
        start = float(my + fall * mi)
    elif clear.any() and m > 1:
        start, fall = math.log(rates[0]), math.log(rates[0] / max(float(rates[1]), 1e-6))
    else:
        return None
    some = np.unique(np.linspace(0, m - 1, _COLUMNS).astype(np.intp))
    point, error, rest = np.array([start, fall, 0.0]), np.zeros(3), np.inf
    width = 4
    while True:
        rows = min(width, len(waves), _ROWS)
        seen, p = waves[:rows, some], np.arange(float(rows))[:, None]
        for _ in range(8):
            rate = np.exp(point[0] - point[1] * some)
            angle = (p + point[2]) * rate
            made, slope = (np.cos(angle), -np.sin(angle)) if wave == "cos" else (np.sin(angle), np.cos(angle))
            jacobian = np.stack([slope * angle, -slope * angle * some, slope * rate], axis=-1).reshape(-1, 3)
            off = (seen - made).ravel()
            moved = np.linalg.lstsq(jacobian, off)[0]
            point = point + np.clip(moved, -0.5, 0.5)
            if np.abs(moved).max() < 1e-12:
                break
        if not np.isfinite(point).all() or np.abs(point).max() > 1e4:
            return None
        rest = float(np.sqrt(np.mean(off**2) / max(float(np.mean(seen**2)), 1e-300)))
        covariance = np.linalg.pinv(jacobian.T @ jacobian) * float(np.mean(off**2))
        error = np.sqrt(np.maximum(np.diag(covariance), 0.0)) + 1e-8
        if rest > 0.5 or rows >= min(len(waves), _ROWS):
            break
        width *= 2
    values = [float(x) for x in (*point, *error)]
    return Tones._make((*values, rest))


def _named(waves: Floats, copies: str, wave: str, tones: Tones, scale: float) -> Cache | None:
    """Name base, step and first position of fitted waves and make the nearest columns."""
    m = waves.shape[1]
    plain = abs(tones.start) < max(5 * tones.start_error, 2e-3)
    step = 1.0 if plain else math.exp(tones.start)
    for short in (round(step), 1 / max(round(1 / step), 1)):
        if short and abs(step / short - 1) < max(3 * tones.start_error, 1e-4):
            step = float(short)
    first = tones.first * step
    if abs(first - round(first)) < max(5 * tones.first_error * step, 1e-2):
        first = float(round(first))
    named = candidates(
        tones.fall, tones.fall_error, 2 * m, interleaved=True, last_zero=False, noise=tones.rest
    )
    base = next((base for base in named if base.freq_shift == 0), None)
    if base is None or m < 2:
        return None
    rates = base.value ** (-np.arange(m) / m)
    angle = np.multiply.outer(first + step * np.arange(float(len(waves))), rates)
    nearest = scale * (np.cos(angle) if wave == "cos" else np.sin(angle))
    rest = float(np.sqrt(np.mean((waves - nearest) ** 2) / max(float(np.mean(waves**2)), 1e-300)))
    return Cache(copies, wave, base, first, step, scale, nearest, rest)


def _fast_base(rates: Floats) -> Base | None:
    """Name the base of the fastest pairs, which scaled encodings leave as they are."""
    m = len(rates)
    if m < 8 or rates[1] <= 0 or abs(rates[0] - 1) > 0.01:
        return None
    value = float((rates[0] / rates[1]) ** m)
    known = min(KNOWN, key=lambda known: abs(math.log(value / known)))
    if abs(math.log(value / known)) > 0.05:
        return None
    return Base(known, 0.05, 0, float(m), 1.0)
