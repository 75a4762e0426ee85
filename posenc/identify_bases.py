"""Which base and which divisor a measured factor between neighbouring pairs stands for.

The rates fall by e^κ from pair to pair. With h pairs in d columns that is base = e^(κ·d/2) for
``freq_shift=0`` and base = e^(κ·(h−1)) for ``freq_shift=1``: every table fits both, and only one of the two
bases is a number that somebody would write.
"""

import math
from typing import NamedTuple

# What published code writes, the likeliest first: the paper's, then those of long contexts and of images.
KNOWN = (1e4, 5e5, 1e6, 100.0, 1000.0, 1e5, 5e6, 1e7, 10.0, 20.0, 2e4, 1e3 / 2, 256.0, 2000.0, 5000.0, 2.5e5)
# A base is never told closer than this, relatively, whatever the fit says: code has rates of float32.
_TOLERANCE = 2e-7


class Base(NamedTuple):
    """A base with its relative standard error; `divisor` is what the exponent 2i or i is divided by.

    `cost` is low for a number that somebody would write.
    """

    value: float
    error: float
    freq_shift: int
    divisor: float
    cost: float


def candidates(fall: float, error: float, d_model: int, *, interleaved: bool, last_zero: bool) -> list[Base]:
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
    """
    waves = d_model - last_zero
    half = waves // 2
    # In an odd width the divisor is the width, or (positional_encodings) the next even one.
    divisors = [(0, waves / 2, 0.0)]
    if waves % 2:
        divisors.append((0, (waves + 1) / 2, 0.2))
    elif half > 1:
        divisors.append((1, half - 1.0, 0.6 if interleaved else 0.3))
    found = []
    for shift, pairs, penalty in divisors:
        exponent = fall * pairs
        if not -1e-6 < exponent < 600:
            continue
        value = math.exp(max(exponent, 0.0))
        spread = error * pairs
        cost, written = _written(value, 3 * spread + _TOLERANCE)
        found.append(Base(written, spread, shift, pairs, cost + penalty))
    return sorted(found, key=lambda base: base.cost)


def _written(value: float, tolerance: float) -> tuple[float, float]:
    """Return how many digits a number needs within a relative tolerance, and the number so written."""
    for rank, known in enumerate(KNOWN):
        # Of a base that is hardly told at all, only that of the paper is likely enough to be named.
        if abs(math.log(value / known)) <= min(tolerance, 0.2 if rank else 2.0):
            return (0.0 if rank == 0 else 1.0), known
    for digits in range(1, 8):
        short = float(f"{value:.{digits - 1}e}")
        if abs(value / short - 1) <= min(tolerance, 0.03):
            # With a wide tolerance every number is near a short one, which then says nothing.
            chance = 10**digits * tolerance
            return (1.0 + digits, short) if chance < 0.5 else (1.0 + digits, value)
    return 9.0, value
