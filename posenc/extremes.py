"""The least and the greatest value of a wave over a run of whole positions, without looking at each of them.

The phases t·p mod 1 of n positions p = 0 … n − 1 (t = turns per position) lie on a circle, and a wave is
greatest at the phase nearest to its peak. With a convergent P/q of the continued fraction of t,

    t = (P + δ)/q,   |δ| ≤ 1/q′,   q < n ≤ q′  (q′ the next denominator),

position p stands at (P·p mod q + p·δ)/q: each of q equal arcs of the circle holds one class of positions
modulo q, and over all n positions a class drifts by less than one arc. So the phase nearest to any point is
that of a position in the point's own arc, of the first in the next arc or of the last in the one before:
three candidates, whatever n is. (The three-distance theorem; V. T. Sós 1958, "On the distribution mod 1 of
the sequence nα".)
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

# How far from its peak a wave is still within 1e-6 of it, in turns: cos(2π·CLOSE) > 1 − 1e-6.
CLOSE = 2.25e-4


class Orbit(NamedTuple):
    """The phases of `length` positions in a row, for each of several rates: arrays of one shape."""

    length: int
    arcs: Float64  # q, the number of classes and of arcs
    step: Float64  # position p is one arc after position p + step, modulo arcs
    drift: Float64  # |δ|, in arcs per position
    sign: Float64  # that of δ: −1 where the classes drift backwards

    def part(self, index: Any) -> "Orbit":
        """Return the orbits of the rates at this index."""
        return Orbit(self.length, *(values[index] for values in self[1:]))


def orbit(turns: Float64, length: int) -> Orbit:
    """Arrange the phases turns·p mod 1, 0 ≤ p < length.

    Parameters
    ----------
    turns
        Turns per position, 0 < turns < 1/2, of any shape.
    length
        Number of positions, at least 1.
    """
    step, arcs = np.zeros_like(turns), np.ones_like(turns)
    wider, drift, sign = np.ones_like(turns), turns.copy(), np.ones_like(turns)
    while True:
        with np.errstate(divide="ignore"):  # without any drift there is no next convergent
            quotient = np.floor(wider / drift)
        following = quotient * arcs + step
        more = following < length
        if not more.any():
            return Orbit(length, arcs, step, drift, sign)
        step, arcs = np.where(more, arcs, step), np.where(more, following, arcs)
        rest = np.maximum(wider - np.where(more, quotient, 0.0) * drift, 0.0)
        wider, drift = np.where(more, drift, wider), np.where(more, rest, drift)
        sign = np.where(more, -sign, sign)


def nearest(orbits: Orbit, target: Float64) -> Float64:
    """Return how far the nearest phase is from each target, in turns: 0 … 1/2.

    Exact, except where no point of the circle is farther from a phase than `CLOSE`: there it is 0.

    Parameters
    ----------
    orbits
        Of w rates, arrays (w, 1).
    target
        (w, m) phases, in turns: any real numbers.
    """
    apart = orbits.arcs * orbits.drift  # between the positions of a class, in arcs
    widest = (1 + apart) / (2 * orbits.arcs)
    one = orbits.arcs == 1
    distance = np.zeros_like(target)
    for rule, rates in ((_within_a_turn, one), (_over_turns, ~one & (widest > CLOSE))):
        some = np.flatnonzero(rates)
        if some.size == len(target):
            return rule(orbits, target)
        if some.size:
            distance[some] = rule(orbits.part(some), target[some])
    return distance


def _within_a_turn(orbits: Orbit, target: Float64) -> Float64:
    """Look for the nearest of phases 0, drift, 2·drift, … that do not close the circle."""
    last, drift = orbits.length - 1, orbits.drift
    place = target - np.floor(target)
    here = place / drift
    np.rint(here, out=here)
    np.minimum(here, last, out=here)
    here *= drift
    distance = np.abs(place - here)
    return np.minimum(distance, 1 - place, out=distance)  # position 0, a turn on


def _over_turns(orbits: Orbit, target: Float64) -> Float64:
    """Look for the nearest phase among three: in the target's arc, the next one's first, the last before."""
    length, arcs, step, drift, sign = orbits
    last, apart = length - 1, arcs * np.maximum(drift, 1e-300)
    place = sign * target
    place -= np.floor(place)
    place *= arcs
    arc = np.floor(place)
    place -= arc  # within its arc, 0 … 1
    # The first position in the arc is −arc·step modulo arcs. Whole numbers below 1e14, hence exact.
    arc *= step
    first = np.ceil(arc / arcs)
    first *= arcs
    first -= arc
    again = np.floor((last - first) / arcs)  # how often the class comes after that
    own = place - first * drift
    here = own / apart
    np.rint(here, out=here)
    np.minimum(here, again, out=here)
    np.maximum(here, 0, out=here)
    here *= apart
    distance = np.abs(own - here)
    after = first - step  # the first position in the next arc
    np.add(after, arcs, out=after, where=after < 0)
    after *= drift
    after -= place
    after += 1
    np.minimum(distance, after, out=distance)
    before = first
    before += step
    again = np.floor((last - before) / arcs)
    again *= arcs
    before += again  # the last position in the arc before
    before *= drift
    place -= before
    place += 1
    np.minimum(distance, place, out=distance)
    distance /= arcs
    return distance
