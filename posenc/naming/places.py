"""Where a row stands: the one position at which all pairs have the phases that they have."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TURN = 2 * math.pi
# How far from row 0 a first position is looked for where the slowest pair turns more than once before it.
_REACH = 20_000.0


def with_turns(phases: Floats, rates: Floats, x: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Add the places that are whole turns of the fastest pair away: the slow ones may not tell them apart."""
    if len(x) > 64:
        return x, rest
    more = x + _TURN / float(rates.max()) * np.arange(-8, 9)  # (turns, 17)
    return more, _left(phases[:, None], rates, more)


def places(phases: Floats, rates: Floats, reach: float = _REACH) -> tuple[Floats, Floats]:
    """Find the x with ω_i·x = phase_i for all pairs up to whole turns.

    From the slowest pair, which turns least, to the fastest, which tells most exactly.

    Parameters
    ----------
    phases
        (m, k): for k places at once.
    rates
        (m,) positive, radians per unit of x.
    reach
        How far from 0 an x may be, where the slowest pair has turned more than once before.

    Returns
    -------
    (turns, k) each
        x and the rms over the pairs of what is left, radians, for each number of turns of the slowest pair.
    """
    order = np.argsort(rates)
    usable = order[rates[order] > 1e-9]
    if not len(usable):
        return np.zeros((1, phases.shape[1])), np.sqrt(np.mean(wrapped(phases) ** 2, axis=0))[None]
    slowest = float(rates[usable[0]])
    turns = min(int(reach * slowest / _TURN), 3000)
    x = (wrapped(phases[usable[0]]) + _TURN * np.arange(-turns, turns + 1)[:, None]) / slowest  # (turns, k)
    total, weight = np.zeros_like(x), 0.0
    for i in usable:
        rate = rates[i]
        off = wrapped(phases[i] - rate * x)
        total, weight = total + rate * (rate * x + off), weight + rate**2
        x = total / weight
    return x, _left(phases, rates, x)


def _left(phases: Floats, rates: Floats, x: Floats) -> Floats:
    """Return the rms over the pairs of phase_i − ω_i·x, less whole turns: of the shape of x, radians."""
    if x.size * len(rates) <= 1 << 20:
        off = wrapped(phases[:, None] - np.multiply.outer(rates, x))
        return np.asarray(np.sqrt((off**2).mean(axis=0)))
    left = np.zeros_like(x)
    for rate, phase in zip(rates, phases, strict=True):
        left += wrapped(phase - rate * x) ** 2
    return np.asarray(np.sqrt(left / len(rates)))


def wrapped(angles: Floats) -> Floats:
    """Return angles less their whole turns: within ±π."""
    return np.asarray(angles - _TURN * np.round(angles / _TURN))
