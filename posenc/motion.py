"""What a picture needs to move by itself: a pair over positions, a position over shifts, rotary vectors.

Letters: p position, k shift, ω_i rate of pair i (`posenc.inv_freq`), n stops, d columns shown.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.parameters import BASE, D_MODEL, LAYOUT, PAIRS, SEQ_LEN, Choice, Integer
from posenc.rotary import members
from posenc.sinusoidal import columns, inv_freq

TURNS, STOPS, SAMPLES = 3, 128, 1001

REACH = Integer("reach", default=64, minimum=1, maximum=64)
SHOWN = Integer("shown", default=128, minimum=1, maximum=128)
MOVES: Choice[str] = Choice("moves", ("both", "query", "key"))
_PAIRED = replace(D_MODEL, minimum=2)


class Waves(NamedTuple):
    """One pair around a position.

    `span` holds the first and the last position of the window; `sine` and `cosine` (`SAMPLES`,) the waves,
    evenly spaced over it; `positions` (n,) whole positions in it, evenly spaced; `points` (n, 2) the sine and
    the cosine there; `start` the index of the position asked for.
    """

    span: tuple[int, int]
    sine: Floats
    cosine: Floats
    positions: NDArray[np.int64]
    points: Floats
    start: int


def waves(position: int, seq_len: int, pair: int, d_model: int, *, base: float = BASE.default) -> Waves:
    """Follow one pair through a window of the table around a position.

    The window is `STOPS` positions wide, or `TURNS` turns of a pair that is slower, and ends where the table
    does. It has at most `STOPS` stops: all its positions, or every second, third, … of a slow pair. No pair
    turns faster than 1 rad per position, so that a turn has 49 samples or more.

    Parameters
    ----------
    position
        From 0 to ``seq_len − 1``.
    seq_len, d_model, base
        As in `posenc.sinusoidal`.
    pair
        From 0 to the number of pairs − 1.

    Returns
    -------
    Waves

    Raises
    ------
    ValueError
        If an argument is outside its limits.
    """
    last = SEQ_LEN.check(seq_len) - 1
    p = Integer("position", 0, 0, last).check(position)
    rates = inv_freq(d_model, base=base)
    rate = rates[Integer("pair", 0, 0, len(rates) - 1).check(pair)]
    width = min(last, max(STOPS - 1, math.ceil(TURNS * math.tau / rate)))
    first = min(max(p - width // 2, 0), last - width)
    step = max(1, math.ceil(width / (STOPS - 1)))
    positions = np.arange(first + (p - first) % step, first + width + 1, step)
    sine, cosine = _circle(np.linspace(first, first + width, SAMPLES) * rate)
    points = np.stack(_circle(positions * rate), axis=1)
    return Waves((first, first + width), sine, cosine, positions, points, (p - first) // step)


class Shifts(NamedTuple):
    """One position moved by every shift.

    `offsets` (n,) holds the shifts k = −reach … reach; `before` (d,) PE(p); `moved` (n, d) M_k·PE(p), NaN in
    the column of an unpaired sine; `after` (n, d) PE(p + k); `here` (2,) the cosine and the sine of one pair
    at p, and `there` (n, 2) at every p + k.
    """

    offsets: NDArray[np.int64]
    before: Floats
    moved: Floats
    after: Floats
    here: Floats
    there: Floats


def shifts(
    position: int,
    pair: int,
    d_model: int,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    reach: int = REACH.default,
    shown: int = SHOWN.default,
) -> Shifts:
    """Move one position by all shifts up to `reach`, once with M_k and once by the formula.

    Parameters
    ----------
    position
        From 0 to 9,999,999.
    pair
        The pair of `here` and `there`, a complete one: from 0 to ``d_model // 2 − 1``.
    d_model, base, layout
        As in `posenc.sinusoidal`; at least one pair must be complete.
    reach
        The largest shift, 1 to 64.
    shown
        The most columns, 1 to 128: the first of the table are taken.

    Returns
    -------
    Shifts

    Raises
    ------
    ValueError
        If an argument is outside its limits.
    """
    pairs = _PAIRED.check(d_model) // 2
    p = Integer("position", 0, 0, SEQ_LEN.maximum - 1).check(position)
    i = Integer("pair", 0, 0, pairs - 1).check(pair)
    rates, place, most = inv_freq(d_model, base=base), columns(d_model, layout=layout), SHOWN.check(shown)
    pair_of, is_cos = place.pair[:most], place.is_cos[:most]
    offsets = np.arange(-REACH.check(reach), reach + 1)
    sine, cosine = _circle(p * rates[pair_of])  # (d,)
    turn_sine, turn_cosine = _circle(offsets[:, np.newaxis] * rates[pair_of])  # (n, d)
    # M_k turns every pair by kω: sin(p + k)ω = cos kω · sin pω + sin kω · cos pω, and so on.
    before, partner = np.where(is_cos, cosine, sine), np.where(is_cos, -sine, cosine)
    moved = np.where(pair_of < pairs, turn_cosine * before + turn_sine * partner, np.nan)
    sines, cosines = _circle((p + offsets)[:, np.newaxis] * rates[pair_of])
    after = np.where(is_cos, cosines, sines)
    here, there = (np.stack(_circle(at * rates[i])[::-1], axis=-1) for at in (np.float64(p), p + offsets))
    return Shifts(offsets, before, moved, after, here, there)


class Rotations(NamedTuple):
    """A query and a key that are rotated on, step by step.

    `steps` (n,) counts 0 … reach; `q` and `k` (n, 2) are one pair of each, rotated to its position, as
    horizontal and vertical part; `rest` holds both pairs before any rotation, (2,) each. `scores` (n,) is the
    score of all pairs, `own` (n,) that of this pair; neither can be beyond `bound` = Σ_i |q_i|·|k_i|. `angle`
    (n,) is the angle from the hand of the key to that of the query, from −π to π.
    """

    steps: NDArray[np.int64]
    q: Floats
    k: Floats
    rest: tuple[Floats, Floats]
    scores: Floats
    own: Floats
    bound: float
    angle: Floats

    @property
    def longest(self) -> float:
        """The length of the longer hand."""
        return float(max(np.hypot(*self.rest[0]), np.hypot(*self.rest[1])))


def rotations(
    q: Floats,
    k: Floats,
    query: int,
    key: int,
    pair: int,
    *,
    moves: str = MOVES.default,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
    reach: int = REACH.default,
) -> Rotations:
    """Rotate a query and a key to their positions, and on from there: both of them, or one.

    Parameters
    ----------
    q, k
        (head_dim,) before any rotation.
    query, key
        Their positions, from 0 to 9,999,999.
    pair
        From 0 to ``head_dim // 2 − 1``.
    moves
        ``"both"``, ``"query"`` or ``"key"``: whose position grows with the steps.
    base, pairs
        As in `posenc.rotate`.
    reach
        The number of steps, 1 to 64.

    Returns
    -------
    Rotations

    Raises
    ------
    ValueError
        If an argument is outside its limits.
    """
    m = q.size // 2
    i = Integer("pair", 0, 0, m - 1).check(pair)
    position = Integer("position", 0, 0, SEQ_LEN.maximum - 1)
    steps = np.arange(REACH.check(reach) + 1)
    still = np.zeros_like(steps)
    at, of = (
        position.check(start) + (steps if MOVES.check(moves) in ("both", name) else still)
        for name, start in (("query", query), ("key", key))
    )
    rates = inv_freq(2 * m, base=base)
    first, second = members(m, pairs=pairs)
    q_pairs, k_pairs = (x[first] + 1j * x[second] for x in (q, k))
    # Both are rotated and then multiplied: that only the offset counts is to be seen, not taken for granted.
    q_turned, k_turned = (
        x * np.exp(1j * np.multiply.outer(places, rates)) for x, places in ((q_pairs, at), (k_pairs, of))
    )
    products = q_turned * k_turned.conj()  # (n, m)
    bound = float(np.abs(q_pairs) @ np.abs(k_pairs))
    return Rotations(
        steps,
        _plane(q_turned[:, i]),
        _plane(k_turned[:, i]),
        (_plane(q_pairs[i]), _plane(k_pairs[i])),
        products.real.sum(axis=1),
        products[:, i].real,
        bound,
        np.angle(products[:, i]),
    )


def _plane(points: NDArray[np.complex128]) -> Floats:
    return np.stack([points.real, points.imag], axis=-1)


def _circle(angles: Floats) -> tuple[Floats, Floats]:
    return np.sin(angles), np.cos(angles)
