"""The waves in a table: which columns pair, how fast each pair turns from row to row, where it starts.

A pair (sine, cosine) of columns is one complex number a row, z = cos + i·sin. In a table of waves |z| is the
same everywhere and the phase of pair i grows by the same ω_i from row to row, so that

    phase_i(r) = ω_i · (first + r)        ω_i = step · e^(−κ·i)

Rows that are zero, rescaled, missing or overwritten are told by how far the pairs turn between two rows
together: by a whole number of steps, or by nothing that any number of steps would do.

Letters: n rows, m pairs, r number of a row counted with the missing ones, σ noise of a phase in radians.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.naming.places import places, with_turns, wrapped

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]

# More pairs than these add no digits that matter, only time.
_PAIRS = 128
# So far the lengths of the pairs may spread around the median: noise of 5 %, and no wrong pairing.
_SPREAD = 0.12
# Rows that may be missing between two neighbours.
_GAP = 64
# float32 code has its rates and angles wrong by about this much, relative to themselves.
_ROUNDING = 3e-7
# From so many equations on, their scatter tells the error; rates of float64 scatter less than this part of
# those of float32.
_MANY, _EXACT = 8, 0.06


class Pairing(NamedTuple):
    """Which columns are taken for the sines and which for the cosines."""

    name: str
    sines: NDArray[np.intp]
    cosines: NDArray[np.intp]


@dataclass(frozen=True)
class Waves:
    """What was measured in a table under one pairing.

    `pairs` (m,) numbers of the pairs measured; `rates` (m,) radians a row, nearly all positive, with the
    error of one; `starts` (m,) phases at row number 0, to which a row adds ``direction * rates``; `numbers`
    (n,) of the rows; `good` (n,) rows that follow; `noise` of a phase in radians; `amplitude` of the waves.
    """

    pairing: Pairing
    pairs: NDArray[np.intp]
    rates: Floats
    starts: Floats
    rate_error: float
    numbers: Floats
    good: NDArray[np.bool_]
    noise: float
    direction: int
    amplitude: float


class Ladder(NamedTuple):
    """Rates that fall by the same factor from pair to pair: ω_i = e^(start − fall·i), and standard errors.

    `misfit` is how many times farther from the ladder the rates are than their errors.
    """

    start: float
    fall: float
    start_error: float
    fall_error: float
    misfit: float

    @property
    def exact(self) -> bool:
        """Whether the rates follow the ladder as closely as those that were computed in float64."""
        return self.misfit < _EXACT

    def rates(self, pairs: NDArray[np.intp]) -> Floats:
        """Return the rates of these pairs, in radians a row."""
        return np.asarray(np.exp(self.start - self.fall * pairs))


class Start(NamedTuple):
    """Where the waves start: the position of row number 0, in rows, and its error.

    `cosine_first`: the columns taken for sines are the cosines; `sign` −1 where all of them are negative;
    `direction` ±1 of the positions from row to row; `rest` rms of what is left of the phases, radians;
    `unlikely` minus the log of how likely somebody makes such a table.
    """

    first: float
    error: float
    cosine_first: bool
    sign: int
    direction: int
    rest: float
    unlikely: float = 0.0


def pairings(d_model: int) -> Iterator[Pairing]:
    """Yield the ways in which libraries pair the columns; an odd width has a sine without a cosine."""
    half, odd = divmod(d_model, 2)
    j = np.arange(d_model)
    yield Pairing("interleaved", j[0 : 2 * half : 2], j[1::2])
    yield Pairing("halves", j[:half], j[half + odd :])
    if odd:
        yield Pairing("cos_sin", j[half : 2 * half], j[:half])


def measure(values: Floats, pairing: Pairing) -> Waves | None:
    """Measure the waves of a table (n, d) under a pairing; None if its pairs are no turning pointers."""
    n, m = len(values), len(pairing.sines)
    if n < 3 or m < 1:
        return None
    pairs = np.unique(np.linspace(0, m - 1, min(m, _PAIRS)).round().astype(np.intp))
    z = values[:, pairing.cosines[pairs]] + 1j * values[:, pairing.sines[pairs]]  # (n, m)
    length = np.abs(z)
    row = np.median(length, axis=1)
    amplitude = float(np.median(row[row > 1e-3 * row.max()])) if row.max() > 0 else 0.0
    alive = row > 1e-3 * amplitude
    if amplitude == 0 or alive.sum() < 3:
        return None
    spread = np.median(np.abs(length[alive] / row[alive, None] - 1), axis=1)
    if np.median(spread) > _SPREAD:
        return None
    alive[alive] = spread <= 3 * _SPREAD
    unit = np.zeros_like(z)
    np.divide(z, length, out=unit, where=(length > 0.3 * row[:, None]) & alive[:, None])
    speed = _speed(unit)
    numbered = _number(unit, alive, speed)
    if numbered is None:
        return None
    numbers, good = numbered
    rates, starts, noise, rate_error = _regress(unit[good], numbers[good], speed)
    # The direction in which most of the pairs turn.
    direction = 1 if float((rates * np.abs(rates)).sum()) >= 0 else -1
    return Waves(
        pairing, pairs, direction * rates, starts, rate_error, numbers, good, noise, direction, amplitude
    )


def _speed(unit: Complex) -> Floats:
    """Return how far each pair turns from a row to the next, in radians: (m,), within ±π."""
    one = unit[1:] * unit[:-1].conj()
    speed = np.angle(one.sum(axis=0))
    # The median has no ear for the few rows between which some are missing.
    speed = speed + np.median(np.angle(one * np.exp(-1j * speed)), axis=0)
    for lag in (2, 4, 8):
        if len(unit) >= 4 * lag:
            more = unit[lag:] * unit[:-lag].conj() * np.exp(-1j * lag * speed)
            speed = speed + np.median(np.angle(more), axis=0) / lag
    return np.asarray(speed)


def _number(
    unit: Complex, alive: NDArray[np.bool_], speed: Floats
) -> tuple[Floats, NDArray[np.bool_]] | None:
    """Count the rows with those that are missing between them; say which rows fit in."""
    n = len(unit)
    # The fast pairs tell how many steps lie between two rows; a few of each speed are enough.
    order = np.argsort(-np.abs(speed))
    some = order[np.unique(np.linspace(0, len(order) - 1, 64).astype(np.intp))]
    u, w = unit[:, some], speed[some]
    gaps = np.concatenate([np.arange(1, _GAP + 1), -np.arange(0, _GAP + 1)]).astype(np.float64)
    turns = np.exp(-1j * np.multiply.outer(w, gaps))  # (m, gaps)
    rows = np.flatnonzero(alive)
    numbers, good = np.arange(float(n)), alive.copy()
    slack = 0.3 * float(np.mean(1 - np.cos(w)))  # a part of what a step too many costs

    def between(first: NDArray[np.intp], second: NDArray[np.intp]) -> tuple[Floats, Floats]:
        moved = u[second] * u[first].conj()
        total = np.maximum(np.abs(moved).sum(axis=1), 1e-9)
        score = (moved @ turns).real / total[:, None]
        # Of gaps that noise does not tell apart, the one that is nearest to what the rows' numbers say.
        near = score >= score.max(axis=1, keepdims=True) - slack
        best = np.where(near, np.abs(gaps - (second - first)[:, None]), np.inf).argmin(axis=1)
        return gaps[best], score[np.arange(len(best)), best]

    gap, score = between(rows[:-1], rows[1:])
    fits = score > 0.9
    if fits.mean() < 0.6:
        return None
    if not fits[0] and len(rows) > 2 and fits[1]:
        good[rows[0]] = False
    last = int(rows[0]) if good[rows[0]] else int(rows[1])
    for k in np.flatnonzero(~fits | (gap != np.diff(rows))).tolist():
        here = int(rows[k + 1])
        if here <= last:
            continue
        before = here - 1
        while not good[before] and before > last:
            before -= 1
        step, certain = between(np.array([before]), np.array([here]))
        if certain[0] <= 0.9:
            good[here] = False
            continue
        numbers[here:] += numbers[before] + step[0] - numbers[here]
    return numbers, good


def _regress(unit: Complex, numbers: Floats, speed: Floats) -> tuple[Floats, Floats, float, float]:
    """Fit each pair's phase by a straight line over the rows, in windows that double.

    → rates (m,), phases at number 0 (m,), noise of one phase and standard error of a rate.
    """
    centre = len(numbers) // 2
    rates, at = speed.copy(), np.angle(unit[centre])
    middle = numbers[centre]
    width, done = 4, False
    noise, error = 0.0, math.inf
    while not done:
        done = width >= 2 * len(numbers)
        low, high = max(0, centre - width // 2), min(len(numbers), centre + width // 2 + 1)
        r = numbers[low:high] - middle
        u = unit[low:high]
        rest = np.angle(u * np.exp(-1j * (np.multiply.outer(r, rates) + at)))
        weight = np.abs(u)  # 1, or 0 for a cell without a direction
        # A cell that is far off has no say.
        weight = weight * (np.abs(rest) <= 6 * np.median(np.abs(rest), axis=0) + 1e-12)
        total = np.maximum(weight.sum(axis=0), 1e-9)
        mean_r = (weight * r[:, None]).sum(axis=0) / total
        mean_t = (weight * rest).sum(axis=0) / total
        spread = np.maximum((weight * (r[:, None] - mean_r) ** 2).sum(axis=0), 1e-9)
        slope = (weight * (r[:, None] - mean_r) * (rest - mean_t)).sum(axis=0) / spread
        rates = rates + slope
        at = at + mean_t - slope * mean_r
        left = rest - mean_t - slope * (r[:, None] - mean_r)
        noise = float(np.sqrt((weight * left**2).sum() / max(weight.sum() - 2 * len(rates), 1.0)))
        error = noise / math.sqrt(float(np.median(spread)))
        width *= 2
    return rates, at - rates * middle, noise, error


def fit_ladder(waves: Waves, *, start: float | None = None, origin: Start | None = None) -> Ladder | None:
    """Fit the rates by e^(start − fall·i), least squares; None if no pair turns.

    Parameters
    ----------
    waves
        What was measured.
    start
        Where it is known: ln 1 = 0 for a table with a row for each position.
    origin
        With a known first position the phases in the middle have their say as well.
    """
    i = waves.pairs.astype(np.float64)
    guess = _guess(i, waves.rates, waves.rate_error)
    if guess is None:
        return None
    point = np.array([guess[0] if start is None else start, guess[1]])
    free = np.array([start is None, len(i) > 1])
    sigma = np.hypot(waves.rate_error, _ROUNDING * np.abs(waves.rates)) + 1e-15
    middle = float(waves.numbers[waves.good].mean())
    phase_noise = math.hypot(waves.noise / math.sqrt(int(waves.good.sum())), 1e-8)
    slope = rest = np.empty(0)
    for _ in range(40):
        rate = np.exp(point[0] - point[1] * i)
        slope = np.stack([rate, -i * rate], axis=1)
        rest, falls = (waves.rates - rate) / sigma, slope / sigma[:, None]
        if origin is not None:
            place = origin.first + origin.direction * middle
            error = np.hypot(phase_noise, _ROUNDING * np.abs(rate * place))
            off = wrapped(true_phases(waves, origin, middle) - rate * place)
            rest = np.concatenate([rest, off / error])
            falls = np.concatenate([falls, slope * place / error[:, None]])
        # What is off by more than four errors has less say (Huber).
        weight = np.sqrt(np.minimum(1.0, 4.0 / np.maximum(np.abs(rest), 1e-9)))
        slope = (falls * weight[:, None])[:, free]
        if not free.any():
            break
        step = np.linalg.lstsq(slope.T @ slope, slope.T @ (rest * weight))[0]
        point[free] += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-10:
            break
    if not np.isfinite(point).all() or abs(point).max() > 600:
        return None
    misfit = float(np.median(np.abs(rest)) / 0.675)
    errors = np.zeros(2)
    if free.any():
        spread = misfit if len(rest) >= _MANY else max(1.0, misfit)
        errors[free] = np.sqrt(np.maximum(np.diag(np.linalg.pinv(slope.T @ slope)), 0)) * max(
            spread, _EXACT / 2
        )
    return Ladder(float(point[0]), float(point[1]), float(errors[0]), float(errors[1]), misfit)


def _guess(i: Floats, rates: Floats, error: float) -> tuple[float, float] | None:
    """Fit ln ω against i over the pairs that clearly turn."""
    clear = rates > max(10 * error, 1e-12)
    if not clear.any():
        return None
    if clear.sum() == 1:
        k = int(np.argmax(clear))
        if len(i) == 1:
            return math.log(rates[k]), 0.0
        slowest = max(float(np.abs(rates[~clear]).max()), error, 1e-12)
        fall = math.log(rates[k] / slowest) / float(np.abs(i[~clear] - i[k]).min())
        return math.log(rates[k]) + fall * float(i[k]), fall
    x, y = i[clear], np.log(rates[clear])
    w = np.minimum(rates[clear] / max(error, 1e-7 * rates.max()), 1e4) ** 2
    mx, my = np.average(x, weights=w), np.average(y, weights=w)
    fall = -float((w * (x - mx) * (y - my)).sum() / (w * (x - mx) ** 2).sum())
    return float(my + fall * mx), fall


def true_phases(waves: Waves, start: Start, number: float) -> Floats:
    """Return the phases at a row number, with the sines and cosines that `start` says: (m,), radians."""
    seen = waves.starts + waves.direction * waves.rates * number
    phases = math.pi / 2 - seen if start.cosine_first else seen
    return phases if start.sign > 0 else phases - math.pi


def find_starts(waves: Waves, rates: Floats) -> list[Start]:
    """Try sines first and cosines first, as they are and negative: the likeliest comes first.

    Parameters
    ----------
    waves
        What was measured.
    rates
        (m,) positive, of the ladder, radians a row.
    """
    middle = float(waves.numbers[waves.good].mean())
    sigma = 2 * waves.noise / math.sqrt(int(waves.good.sum())) + 1e-6
    error = sigma / math.sqrt(float((rates**2).sum()))
    found = []
    for cosine_first in (False, True):
        for sign in (1, -1):
            direction = -waves.direction if cosine_first else waves.direction
            start = Start(0.0, error, cosine_first, sign, direction, 0.0)
            # Phases are surest in the middle; from there to row 0 the ladder leads, not each rate by itself.
            seen = true_phases(waves, start, middle) - direction * rates * middle
            first, rest = with_turns(seen, rates, *places(seen[:, None], rates))
            whole = np.abs(first - np.round(first)) < max(5 * error, 1e-2)
            # A start near 0 and a whole one are likely, negative waves and falling positions are not.
            unlikely = 2 * np.log1p(np.abs(first)) + 3 * ~whole + 2 * (sign < 0) + 2 * (direction < 0)
            cost = (rest / sigma) ** 2 * len(rates) / 2 + unlikely
            best = int(cost.argmin())
            start = Start(
                float(first.flat[best]), error, cosine_first, sign, direction, float(rest.flat[best]),
                float(unlikely.flat[best]),
            )  # fmt: skip
            found.append((float(cost.flat[best]), start))
    return [start for _, start in sorted(found, key=lambda each: each[0])]
