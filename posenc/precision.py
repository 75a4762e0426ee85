"""What rounding does to positions: any sinusoid or rotary angle with one step, or all, in fewer digits.

A floating-point number has t significant binary digits, so neighbours near x are 2^(⌊log₂|x|⌋ + 1 − t) apart:

    float64 t = 53        float32 t = 24        float16 t = 11        bfloat16 t = 8

From 2^t on, not every whole number is among them, and positions fall together: in bfloat16 from 256 on. An
angle p·ω is rounded by up to half the gap at its own size, however small a turn is beside it: near 1045 that
is half a radian in float16. Which of the steps is rounded is the `stage`:

    "table"     p·ω exact, sin and cos rounded (as it should be)
    "position"  p rounded, then exact
    "angle"     p·ω rounded, then exact
    "chain"     p, ω, their product, then sin and cos rounded, as code computes that is all of one dtype

Rounded values come as float64 arrays. Letters: p position, ω_i rate of pair i in radians per position
(`posenc.inv_freq`, or those of a scaled rotary encoding), n positions, m pairs.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_finite
from posenc.parameters import (
    BASE,
    FREQ_SHIFT,
    LAYOUT,
    PRECISION,
    SEQ_LEN,
    SHIFT,
    STAGE,
    Integer,
    Positions,
    check_positions,
)
from posenc.sinusoidal import columns
from posenc.sinusoidal import inv_freq as rates_of


class Format(NamedTuple):
    """A binary floating-point format.

    It has so many significant binary `digits`; 2^`smallest` is its smallest positive number, `largest` the
    largest.
    """

    digits: int
    smallest: int
    largest: float


# IEEE 754-2019, table 3.5; bfloat16 is float32 without its last 16 digits.
FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "bfloat16": Format(8, -133, (2 - 2**-7) * 2.0**127),
        "float16": Format(11, -24, 65504.0),
        "float32": Format(24, -149, (2 - 2**-23) * 2.0**127),
        "float64": Format(53, -1074, float(np.finfo(np.float64).max)),
    }
)
_OWN = {"float16": np.float16, "float32": np.float32}  # formats that NumPy rounds to
_SHORT = ("bfloat16", "float16")  # of 16 bits
_COUNT = Integer("count", default=400, minimum=2, maximum=10_000)
_EXPONENT = np.int64(0x7FF << 52)  # where a float64 has it


def spacing(values: ArrayLike, precision: str = PRECISION.default) -> Floats:
    """Return how far apart the numbers of a format are at each value: 2^(⌊log₂|x|⌋ + 1 − digits).

    Parameters
    ----------
    values
        Real numbers, any shape.
    precision
        ``"bfloat16"``, ``"float16"``, ``"float32"`` or ``"float64"``.

    Returns
    -------
    float64 of the same shape: at 0 and near it the smallest positive number of the format.
    """
    form = FORMATS[PRECISION.check(precision)]
    # 2^⌊log₂|x|⌋ is x with all its digits after the first cleared. The smallest numbers have no first: 0.
    power = (check_array("values", values).view(np.int64) & _EXPONENT).view(np.float64)
    gap = np.minimum(power, 2.0**1023) * 2.0 ** (1 - form.digits)
    return np.asarray(np.maximum(gap, 2.0**form.smallest))


def rounded(values: ArrayLike, precision: str = PRECISION.default) -> Floats:
    """Return the nearest number of a format, of two equally near ones that with an even last digit.

    Parameters
    ----------
    values
        Real numbers, any shape: positions, angles, or a bias.
    precision
        As in `spacing`.

    Returns
    -------
    float64 of the same shape. What is rounded past the largest number of the format is infinite: positions
    from 65,520 on in float16.

    Examples
    --------
    >>> rounded([255, 256, 257, 258, 259], "bfloat16").tolist()
    [255.0, 256.0, 256.0, 258.0, 260.0]
    """
    given, form = check_array("values", values), FORMATS[PRECISION.check(precision)]
    if precision == "float64":
        return given
    if precision in _OWN:  # the processor does float32 in an eighth of the time
        with np.errstate(over="ignore"):
            return given.astype(_OWN[precision]).astype(np.float64)
    step = spacing(given, precision)
    with np.errstate(over="ignore"):  # a small step may take 1e308 past the largest float64
        near: Floats = np.rint(given / step) * step  # rint takes halves to the even neighbour
    beyond = np.abs(near) > form.largest
    return np.where(beyond, np.copysign(np.inf, near), near) if beyond.any() else near


class Collisions(NamedTuple):
    """What becomes of positions in a format.

    `values` (n,) are the positions as they are there, `distinct` the number of different ones. `first` is the
    index of the first position whose value an earlier one has, or None; `largest` how many share one value at
    most.
    """

    values: Floats
    distinct: int
    first: int | None
    largest: int


def collisions(positions: Positions, precision: str = PRECISION.default) -> Collisions:
    """Say which positions fall together when they are numbers of a format.

    Of the positions 0 … n − 1 with n = 2^t·2^k, 2^t + k·2^(t−1) or so are left: every further doubling of the
    length adds as many values as the one before.

    Parameters
    ----------
    positions
        A number n, for 0 … n − 1, or an array, as in `posenc.sinusoidal`.
    precision
        As in `spacing`.
    """
    values = rounded(_positions(positions), precision)
    found, first, count = np.unique(values, return_index=True, return_counts=True)
    again = np.ones(len(values), dtype=bool)
    again[first] = False
    return Collisions(
        values,
        distinct=len(found),
        first=int(np.argmax(again)) if again.any() else None,
        largest=int(count.max()),
    )


def angles_in(
    positions: Positions,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> Floats:
    """Return the angles p·ω as they come out with one step, or all, in a format.

    Parameters
    ----------
    positions
        A number n or an array, as in `posenc.sinusoidal`.
    inv_freq
        (m,) rates ω_i in radians per position: of `posenc.inv_freq`, or of a method of `posenc.scaling`.
    precision
        As in `spacing`.
    stage
        ``"table"`` and float64: p·ω; ``"position"``: rounded(p)·ω; ``"angle"``: rounded(p·ω); ``"chain"``:
        rounded(rounded(p)·rounded(ω)).

    Returns
    -------
    (n, m) float64, radians
        Infinite or NaN where the format has no number for a position.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    stage, p, omega = STAGE.check(stage), _positions(positions), check_rates(inv_freq)
    if stage in ("chain", "position"):
        p = rounded(p, precision)
    if stage == "chain":
        omega = rounded(omega, precision)
    with np.errstate(invalid="ignore"):  # float16 may know no such position and a rate of 0: ∞·0
        angles: Floats = np.multiply.outer(p, omega)
    return rounded(angles, precision) if stage in ("chain", "angle") else angles


def waves_in(
    positions: Positions,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> tuple[Floats, Floats]:
    """Return sin p·ω and cos p·ω as they come out with one step, or all, in a format.

    Arguments, errors and shape are those of `angles_in`. With the stages ``"chain"`` and ``"table"`` sine and
    cosine are rounded, too.
    """
    angles = angles_in(positions, inv_freq, precision, stage=stage)
    if stage in ("chain", "angle") and precision in _SHORT:
        every, code = _every_wave(precision, stage), _codes(angles, precision)
        return every[0].take(code), every[1].take(code)
    with np.errstate(invalid="ignore"):  # no direction: sin ∞
        sine, cosine = np.sin(angles), np.cos(angles)
    if stage in ("chain", "table"):
        return rounded(sine, precision), rounded(cosine, precision)
    return sine, cosine


def sinusoid_in(
    positions: Positions,
    d_model: int,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    freq_shift: int = FREQ_SHIFT.default,
) -> Floats:
    """Return the sinusoidal table as it comes out with one step, or all, in a format.

    Parameters
    ----------
    positions, d_model, base, layout, freq_shift
        As in `posenc.sinusoidal`.
    precision, stage
        As in `waves_in`.

    Returns
    -------
    (n, d_model) float64
        With ``stage="table"`` this is ``sinusoidal(…)`` rounded once.

    References
    ----------
    Wang et al. 2024, "When Precision Meets Position: BFloat16 Breaks Down RoPE in Long-Context Training",
    https://arxiv.org/abs/2411.13476
    """
    pair, is_cos = columns(d_model, layout=layout, freq_shift=freq_shift)
    rates = rates_of(d_model, base=base, freq_shift=freq_shift)
    table = np.zeros((len(_positions(positions)), d_model))
    if not rates.size:  # a width of 1 with freq_shift 1: all of it is the column of zeros
        return table
    sine, cosine = waves_in(positions, rates, precision, stage=stage)
    for wave, place in ((sine, ~is_cos & (pair >= 0)), (cosine, is_cos)):
        table[:, place] = wave[:, pair[place]]
    return table


def phase_error(
    positions: Positions,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> Floats:
    """Return how far the angles of `angles_in` are from p·ω, which is taken without any rounding.

    Returns
    -------
    (n, m) float64, radians
        The rates count as given: in float64 the error is that of the product alone, up to 1e-9 at 1e7.
    """
    product, rest = _exact_product(_positions(positions), check_rates(inv_freq))
    return angles_in(positions, inv_freq, precision, stage=stage) - product - rest


def worst_error(
    positions: Positions,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> Floats:
    """Return the largest error of any sine or cosine at each position: 0 … 2.

    The same for every table and every rotation made of these rates, whatever the order of its columns.

    Returns
    -------
    (n,) float64
        NaN where the format has no number for a position. float64's own last digit, 1e-16, is not seen.
    """
    return worst_errors(positions, inv_freq, [(precision, stage)])[precision, stage]


def worst_errors(
    positions: Positions, inv_freq: ArrayLike, cases: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Floats]:
    """Return what `worst_error` does for several cases (precision, stage), the exact waves made once."""
    product, rest = _exact_product(_positions(positions), check_rates(inv_freq))
    sine, cosine = np.sin(product), np.cos(product)
    # sin(a + r) = sin a + r·cos a to far below one digit, since |r| < 1e-9
    right = sine + rest * cosine, cosine - rest * sine
    found = {}
    for precision, stage in dict.fromkeys(cases):
        if STAGE.check(stage) == "table" or PRECISION.check(precision) == "float64":
            made = rounded(sine, precision), rounded(cosine, precision)
        else:
            made = waves_in(positions, inv_freq, precision, stage=stage)
        errors = [np.abs(wave - exact).max(axis=1) for wave, exact in zip(made, right, strict=True)]
        found[precision, stage] = np.asarray(np.maximum(*errors))
    return found


def score_in(
    positions: Positions,
    offset: float,
    inv_freq: ArrayLike,
    precision: str = PRECISION.default,
    *,
    stage: str = STAGE.default,
) -> Floats:
    """Return the score of positions p + k and p for each p: (1/m) Σ_i cos((p + k)ω_i − pω_i), with rounding.

    The score of a rotated query and key of ones, and the cosine of two rows of the sinusoid. Without rounding
    it is the same for every p, as only the offset counts; with it, moving both changes the score.

    Parameters
    ----------
    positions
        p: a number n or an array, as in `posenc.sinusoidal`.
    offset
        k.
    inv_freq, precision, stage
        As in `waves_in`.

    Returns
    -------
    (n,) float64
    """
    p, k = _positions(positions), SHIFT.check(offset)
    (sine, cosine), (sine_on, cosine_on) = (
        waves_in(place, inv_freq, precision, stage=stage) for place in (p, p + k)
    )
    return np.asarray((cosine * cosine_on + sine * sine_on).mean(axis=1))


def log_positions(seq_len: int, count: int = _COUNT.default) -> NDArray[np.int64]:
    """Return about `count` whole positions from 0 to ``seq_len − 1``, evenly on a log axis, each once."""
    last = SEQ_LEN.check(seq_len) - 1
    steps = np.geomspace(1, max(last, 1), _COUNT.check(count)).round()
    return np.unique(np.append(steps[steps <= last], 0)).astype(np.int64)


class Accident(NamedTuple):
    """A published accident: where positions were rounded, and where that is told.

    `positions` (first, last) of those that it shows, `rotary_dim` the width of the rotation, base 10,000.
    """

    source: str
    precision: str
    stage: str
    rotary_dim: int
    positions: tuple[int, int]


ACCIDENTS: Mapping[str, Accident] = MappingProxyType(
    {
        # float16 throughout: the angle 1044.27 of position 1857 becomes 1045, and cosines are off by 0.78.
        "gpt_neox": Accident(
            "https://github.com/EleutherAI/gpt-neox/issues/1003", "float16", "chain", 32, (0, 2047)
        ),
        # A model cast to bfloat16 casts its rates and, with them, its positions: 257 becomes 256.
        "llama": Accident(
            "https://github.com/huggingface/transformers/pull/29285", "bfloat16", "chain", 128, (0, 8191)
        ),
        # Image positions start at 65,536, where bfloat16 has steps of 512: all of an image is at one place.
        "ideogram": Accident(
            "https://github.com/huggingface/diffusers/issues/13920", "bfloat16", "chain", 128, (65536, 65791)
        ),
    }
)


def _positions(positions: Positions) -> Floats:
    given = check_positions(positions)
    return np.arange(float(given)) if isinstance(given, int) else given


def check_rates(inv_freq: ArrayLike) -> Floats:
    """Return rates ω_i as float64, (m,); refuse anything else in one sentence."""
    given = check_finite("inv_freq", check_array("inv_freq", inv_freq))
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"inv_freq must have one axis and not be empty, got shape {given.shape}")
    return given


@lru_cache(maxsize=4)  # both formats with both stages, a mebibyte each
def _every_wave(precision: str, stage: str) -> Floats:
    """Return the sine and the cosine of every number of a format of 16 bits, (2, 65536), in order of bits.

    With the stage "chain" they are rounded. Reading them takes a twentieth of the time of computing them.
    """
    bits = np.arange(1 << 16, dtype=np.uint32)
    if precision == "bfloat16":
        numbers: NDArray[np.floating] = (bits << 16).view(np.float32)
    else:
        numbers = bits.astype(np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):  # no direction: sin ∞
        angles = numbers.astype(np.float64)
        waves = np.stack([np.sin(angles), np.cos(angles)])
    return rounded(waves, precision) if stage == "chain" else waves


def _codes(numbers: Floats, precision: str) -> NDArray[np.integer]:
    """Return the bits of numbers of a format of 16 bits; bfloat16 is the first half of float32."""
    if precision == "bfloat16":
        return numbers.astype(np.float32).view(np.uint32) >> 16
    return numbers.astype(np.float16).view(np.uint16)


def _exact_product(p: Floats, omega: Floats) -> tuple[Floats, Floats]:
    """Return p·ω as float64 and what is left of it: together they are exact (Dekker 1971).

    Each factor is cut into two halves of 26 digits, whose products have no rounding.
    """
    product = np.multiply.outer(p, omega)
    (p_high, p_low), (w_high, w_low) = _halves(p), _halves(omega)
    rest = np.multiply.outer(p_high, w_high) - product
    rest += np.multiply.outer(p_high, w_low)
    rest += np.multiply.outer(p_low, w_high)
    rest += np.multiply.outer(p_low, w_low)
    return product, rest


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Split numbers into a sum of two with half the digits each (Veltkamp)."""
    scaled = (2.0**27 + 1) * values
    high = scaled - (scaled - values)
    return high, values - high
