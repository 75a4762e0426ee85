"""How rounding grows with the position: the worst of each range, what falls together, one pair from near.

Letters as in `posenc.precision`: p position, ω_i rate of pair i, r(x) the number of the format nearest to x.
"""

import itertools
import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats
from posenc.motion import waves
from posenc.parameters import BASE, PRECISION, SEQ_LEN, STAGE, Choice, Positions
from posenc.precision import (
    FORMATS,
    Accident,
    angles_in,
    collisions,
    log_positions,
    phase_error,
    rounded,
    spacing,
    waves_in,
    worst_errors,
)
from posenc.sinusoidal import inv_freq as rates_of

Int64 = NDArray[np.int64]

# Whose rates are taken: those of a table of d_model columns, or of a rotation of head_dim features.
ANGLES_OF: Choice[str] = Choice("angles_of", ("sinusoid", "rotary"))
HALF_TURN = math.pi  # a phase error of this much points the other way
LOOKS = 24  # positions looked at in a range that has more
PAIRS = 128  # pairs looked at where there are more
DECADES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_GOLDEN = (math.sqrt(5) - 1) / 2


class Ranges(NamedTuple):
    """Ranges of positions: `first` (r,) of each, and `worst`, (r,) or (r, m), of those looked at in it."""

    first: Int64
    worst: Floats


def picked(pairs: int) -> Int64:
    """Return which of so many pairs are looked at: at most `PAIRS`, evenly spread, the ends included."""
    return np.linspace(0, pairs - 1, min(pairs, PAIRS)).round().astype(np.int64)


def spread(size: int, looks: int) -> Floats:
    """Return `looks` of the numbers 0 … size − 1, one in each of equal parts, or all if there are not more.

    Their distances are uneven, by the golden ratio: no wave goes in step with them.
    """
    part = np.arange(min(size, looks))
    return np.asarray(np.floor((part + part * _GOLDEN % 1) * size / len(part)))


def errors(inv_freq: ArrayLike, cases: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Ranges]:
    """Return the worst error of any sine or cosine in each of two ranges a doubling, up to 10,000,000.

    Parameters
    ----------
    inv_freq, cases
        As in `posenc.precision.worst_errors`.

    Returns
    -------
    dict
        (precision, stage) → `worst` (r,), 0 … 2, of `LOOKS` positions a range, or all there are. NaN where
        the format has a number for none of them.
    """
    doublings = np.arange(0, 2 * math.log2(SEQ_LEN.maximum)) / 2
    edges = np.unique(np.append(2**doublings, SEQ_LEN.maximum).round().astype(np.int64))
    places, starts = _looked(edges)
    return {
        case: Ranges(edges[:-1], np.fmax.reduceat(worst, starts))
        for case, worst in worst_errors(places, inv_freq, cases).items()
    }


def phases(inv_freq: ArrayLike, precision: str = PRECISION.default, *, stage: str = STAGE.default) -> Ranges:
    """Return the largest phase error of each pair, in radians, in each of `DECADES`: `worst` is (5, m).

    NaN where the format has a number for none of the positions.
    """
    places, starts = _looked(np.array(DECADES))
    off = np.abs(phase_error(places, inv_freq, precision, stage=stage))
    worst = np.fmax.reduceat(np.where(np.isfinite(off), off, np.nan), starts, axis=0)
    return Ranges(np.array(DECADES[:-1]), worst)


class Together(NamedTuple):
    """What becomes of the positions 0 … n − 1 as numbers of a format.

    `distinct` of them are left, the first that has the number of an earlier one is `first` (None: there is
    none), `largest` share one number at most, and the numbers at the last position are `gap` apart.
    """

    distinct: int
    first: int | None
    largest: int
    gap: float


def together(seq_len: int, precision: str = PRECISION.default) -> Together:
    """Say how many of 0 … ``seq_len − 1`` fall together, in closed form: see `distinct`.

    The first to do so is 2^t + 1, half-way to 2^t + 2. The most share one number at the far end, where the
    gap is widest: the last few gaps hold them.
    """
    last = SEQ_LEN.check(seq_len) - 1
    gap = float(spacing([last], precision)[0])
    first = 2 ** FORMATS[precision].digits + 1
    window = np.arange(max(0, last - math.ceil(4 * gap)), last + 1)
    largest = collisions(window, precision).largest
    if float(rounded([last], precision)[0]) == math.inf:
        largest = max(largest, last + 1 - _beyond(precision))
    return Together(
        int(distinct([seq_len], precision)[0]), first if first <= last else None, largest, max(gap, 1.0)
    )


def distinct(seq_lens: ArrayLike, precision: str = PRECISION.default) -> Floats:
    """Return how many different numbers of a format the positions 0 … n − 1 are, for each n.

    All its whole numbers up to r(n − 1): each is a position, and no position goes elsewhere. Below 2^t these
    are all; from 2^e to 2^(e + 1), e ≥ t, there are 2^(t − 1); what lies beyond the largest is infinite, one
    more.

    Parameters
    ----------
    seq_lens
        (k,) numbers n of positions, 1 or more.

    Returns
    -------
    (k,) float64
    """
    form = FORMATS[PRECISION.check(precision)]
    found = rounded(np.asarray(seq_lens, dtype=np.float64) - 1, precision)
    end = np.minimum(found, form.largest)
    doublings = np.maximum(np.frexp(end)[1] - 1 - form.digits, 0)  # of 2^t, each 2^(t − 1) numbers
    begin = np.ldexp(2.0**form.digits, doublings)
    above = 2.0**form.digits + doublings * 2.0 ** (form.digits - 1)
    count = np.where(end < 2.0**form.digits, end, above + (end - begin) / np.ldexp(2.0, doublings))
    return np.asarray(count + 1 + np.isinf(found))


def left(precision: str = PRECISION.default) -> tuple[Int64, Floats]:
    """Return numbers n of positions, evenly on a log axis, and the share of them that stays distinct."""
    lengths = np.append(log_positions(SEQ_LEN.maximum, 200)[1:], SEQ_LEN.maximum)
    return lengths, distinct(lengths, precision) / lengths


class Near(NamedTuple):
    """One pair around a position, exact and with rounding.

    `span` holds the first and the last position of the window, `exact` (k,) the sine evenly over it;
    `positions` (n,) whole positions in it, `right` and `made` (n, 2) sine and cosine there, exact and with
    rounding; `start` the index of the position asked for.
    """

    span: tuple[int, int]
    exact: Floats
    positions: Int64
    right: Floats
    made: Floats
    start: int


def near(
    position: int,
    pair: int,
    width: int,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
    base: float = BASE.default,
) -> Near:
    """Follow one pair through a window around a position, as `posenc.motion.waves` does, with rounding.

    Parameters
    ----------
    position
        From 0 to 9,999,999.
    pair, width, base
        The pair, of the rates of `posenc.inv_freq` for this width (d_model or head_dim).
    precision, stage
        As in `posenc.precision.waves_in`.
    """
    exact = waves(position, SEQ_LEN.maximum, pair, width, base=base)
    omega = rates_of(width, base=base)[pair : pair + 1]
    made = np.concatenate(waves_in(exact.positions, omega, precision, stage=stage), axis=1)
    return Near(exact.span, exact.sine, exact.positions, exact.points, made, exact.start)


class Parts(NamedTuple):
    """The largest phase error at each position (n,), in radians, of rounding one thing alone, and of all.

    `positions` p: |r(p) − p|·ω; `rates` ω: p·|r(ω) − ω|; `products`: |r(p·ω) − p·ω|.
    """

    positions: Floats
    rates: Floats
    products: Floats


def parts(positions: Positions, inv_freq: ArrayLike, precision: str = PRECISION.default) -> Parts:
    """Say which step of the chain turns the angle how far, over all pairs."""
    p, omega = np.asarray(positions, dtype=np.float64), np.asarray(inv_freq, dtype=np.float64)
    by_position, by_product = (
        np.abs(phase_error(p, omega, precision, stage=stage)).max(axis=1) for stage in ("position", "angle")
    )
    return Parts(by_position, p * np.abs(rounded(omega, precision) - omega).max(), by_product)


class Replay(NamedTuple):
    """A published accident, computed again.

    The angle of one position and pair: `exact`, `made` as in the accident, and `alone` with only the product
    rounded, with the error of its cosine, `here`. The largest error of any cosine is `largest`, at `position`
    and `pair`.
    """

    exact: float
    made: float
    alone: float
    here: float
    largest: float
    position: int
    pair: int


def replay(accident: Accident, position: int, pair: int) -> Replay:
    """Compute the cosines of an accident, and look at one position and pair of it."""
    first, last = accident.positions
    places, omega = np.arange(first, last + 1), rates_of(accident.rotary_dim)
    how = {"precision": accident.precision, "stage": accident.stage}
    right = np.multiply.outer(places.astype(np.float64), omega)
    made, cosine = angles_in(places, omega, **how), waves_in(places, omega, **how)[1]
    off = np.abs(cosine - np.cos(right))
    row, column = np.unravel_index(int(off.argmax()), off.shape)
    at = position - first, pair
    alone = angles_in([position], omega[pair : pair + 1], accident.precision, stage="angle")
    return Replay(
        float(right[at]),
        float(made[at]),
        float(alone[0, 0]),
        float(off[at]),
        float(off[row, column]),
        int(places[row]),
        int(column),
    )


def _looked(edges: Int64) -> tuple[Floats, Int64]:
    """Return positions in each range from one edge to the next, in a row, and where each range begins."""
    places = [first + spread(stop - first, LOOKS) for first, stop in itertools.pairwise(edges.tolist())]
    starts = np.cumsum([0] + [len(some) for some in places[:-1]])
    return np.concatenate(places), starts


def _beyond(precision: str) -> int:
    """Return the first whole number that is infinite in a format: half a gap above the largest."""
    largest = FORMATS[precision].largest
    return int(largest + spacing([largest], precision)[0] / 2)
