"""Which base and which divisor a measured factor between neighbouring pairs stands for.

The rates fall by e^κ from pair to pair. With h pairs in d columns that is base = e^(κ·d/2) for
``freq_shift=0`` and base = e^(κ·(h−1)) for ``freq_shift=1``: every table fits both, and only one of the two
bases is a number that somebody would write.
"""

import math
from typing import NamedTuple

# What published code writes, and how unlikely each is beside the paper's, in powers of ten.
KNOWN = {
    1e4: 0.0,
    5e5: 1.5,
    1e6: 1.5,
    100.0: 1.5,
    1000.0: 1.5,
    1e5: 2.5,
    5e6: 2.5,
    1e7: 2.5,
    10.0: 2.5,
    20.0: 2.5,
    2e4: 2.5,
    500.0: 2.5,
    256.0: 3.0,
    2000.0: 3.0,
    5000.0: 3.0,
    2.5e5: 3.0,
}
# How near a fitted base must be, relatively, to be taken for one of them. What rounding leaves is not
# independent from cell to cell, and the base is off by more than the scatter of the rates says.
_NEAR = 3e-6
_NEAR_IN_NOISE = 6e-4
# Code in float32 takes the exponential of a product that is wrong by so much; code in float64 does not.
_FLOAT32, _FLOAT64 = 7e-7, 2e-8


class Base(NamedTuple):
    """A base with its relative standard error; `divisor` is what the exponent 2i or i is divided by.

    `cost` is how unlikely somebody writes it, in powers of ten.
    """

    value: float
    error: float
    freq_shift: int
    divisor: float
    cost: float


def candidates(
    fall: float,
    error: float,
    d_model: int,
    *,
    interleaved: bool,
    last_zero: bool,
    noise: float,
    exact: bool = False,
) -> list[Base]:
    """Name the bases that a factor e^fall between pairs may stand for, the likeliest first.

    Parameters
    ----------
    fall, error
        κ and its standard error.
    d_model
        Number of columns.
    interleaved
        The layout of the paper, whose code has ``freq_shift=0`` more often.
    last_zero
        The width is odd and its last column is zero.
    noise
        Of a phase, in radians.
    exact
        The rates follow the ladder more closely than those of float32 code do.
    """
    waves = d_model - last_zero
    half = waves // 2
    # In an odd width the divisor is the width, or (positional_encodings) the next even one.
    divisors = [(0, waves / 2, 0.0)]
    if waves % 2:
        divisors.append((0, (waves + 1) / 2, 0.2))
    elif half > 1:
        divisors.append((1, half - 1.0, 1.5 if interleaved else 0.5))
    found = []
    for shift, pairs, penalty in divisors:
        exponent = fall * pairs
        if not -1e-6 < exponent < 600:
            continue
        value = math.exp(max(exponent, 0.0))
        spread = error * pairs
        cost, written = _written(value, 3 * spread + (_FLOAT64 if exact else _FLOAT32), noise)
        found.append(Base(written, spread, shift, pairs, cost + penalty))
    return sorted(found, key=lambda base: base.cost)


def _written(value: float, tolerance: float, noise: float) -> tuple[float, float]:
    """Return how unlikely a number is, in powers of ten, and the number as somebody would write it."""
    for known, cost in KNOWN.items():
        # Of a base that is hardly told at all, only that of the paper is likely enough to be named.
        near = min(tolerance, 2.0 if known == 1e4 else 0.2)
        near += min(_NEAR + 4 * noise, _NEAR_IN_NOISE if known == 1e4 else _NEAR_IN_NOISE / 2)
        if abs(math.log(value / known)) <= near:
            return cost, known
    for digits in range(1, 8):
        short = float(f"{value:.{digits - 1}e}")
        # Where every number is near one of so few digits, that says nothing.
        if 10**digits * tolerance < 0.3 and abs(value / short - 1) <= tolerance:
            return 1.5 + digits, short
    return 2.5 - math.log10(min(max(tolerance, 1e-8), 1.0)), value
