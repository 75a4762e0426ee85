"""The arguments every part of the explorer shares: names, defaults, limits and the one check of each.

Nothing else checks them. A value that is not allowed raises a ``ValueError`` of one sentence that names the
argument, what is allowed and the value.
"""

import math
import reprlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

Option = TypeVar("Option", str, int)
Positions = int | np.integer | Sequence[float] | NDArray[np.generic]


def shown(value: object) -> str:
    """Write a refused value on one short line, whatever it is."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}"
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        line = " ".join(reprlib.repr(plain).split())
    except ValueError:  # CPython refuses to write out integers of thousands of digits
        return f"a value of type {type(plain).__name__} that is too long to show"
    return line if len(line) <= 60 else f"{line[:57]}..."


@dataclass(frozen=True)
class Integer:
    """A whole number from `minimum` to `maximum`, both allowed, and where it says so an even one."""

    name: str
    default: int
    minimum: int
    maximum: int
    even: bool = False

    def check(self, value: object) -> int:
        """Return `value` as an ``int``; booleans, floats and text are refused, NumPy integers are not."""
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        odd = whole and self.even and cast(int, value) % 2
        if not whole or odd or not self.minimum <= cast(int, value) <= self.maximum:
            kind = "an even integer" if self.even else "an integer"
            raise ValueError(
                f"{self.name} must be {kind} from {self.minimum} to {self.maximum}, got {shown(value)}"
            )
        return int(cast(int, value))


@dataclass(frozen=True)
class Real:
    """A finite real number from `minimum` to `maximum`, both allowed."""

    name: str
    default: float
    minimum: float
    maximum: float

    def check(self, value: object) -> float:
        """Return `value` as a ``float``; booleans, text, NaN and infinities are refused."""
        real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        # A comparison with NaN is false, so NaN is refused here as well.
        if not real or not self.minimum <= cast(float, value) <= self.maximum:
            raise ValueError(
                f"{self.name} must be a number from {self.minimum:g} to {self.maximum:g}, got {shown(value)}"
            )
        return float(cast(float, value))


@dataclass(frozen=True)
class Choice(Generic[Option]):
    """One of a few named options; the first is the default."""

    name: str
    options: tuple[Option, ...]

    @property
    def default(self) -> Option:
        """The option taken when none is given."""
        return self.options[0]

    def check(self, value: object) -> Option:
        """Return the option equal to `value` and of its kind, so that ``True`` is not 1."""
        plain = value.item() if isinstance(value, np.generic) else value
        for option in self.options:
            if type(plain) is type(option) and plain == option:
                return option
        allowed = " or ".join(repr(option) for option in self.options)
        raise ValueError(f"{self.name} must be {allowed}, got {shown(value)}")


SEQ_LEN = Integer("seq_len", default=50, minimum=1, maximum=10_000_000)
D_MODEL = Integer("d_model", default=128, minimum=1, maximum=16_384)
# Models for a million positions and more are published with bases of several 1e9.
BASE = Real("base", default=10_000.0, minimum=1.0, maximum=1e12)
LAYOUT: Choice[str] = Choice("layout", ("interleaved", "sin_cos", "cos_sin"))
FREQ_SHIFT: Choice[int] = Choice("freq_shift", (0, 1))
# Rotary embedding.
HEAD_DIM = Integer("head_dim", default=128, minimum=2, maximum=1024, even=True)
ROTARY_DIM = Integer("rotary_dim", default=128, minimum=1, maximum=1024)  # an odd width rounds its pairs up
PAIRS: Choice[str] = Choice("pairs", ("half_split", "adjacent"))
SCALE_BASE = Real("scale_base", default=512.0, minimum=1e-3, maximum=1e9)
GAMMA = Real("gamma", default=0.4, minimum=1e-3, maximum=1e3)
SEGMENT = Integer("the size of a segment", default=1, minimum=1, maximum=SEQ_LEN.maximum)
# Longer contexts, by the names that a config.json has for them.
FACTOR = Real("factor", default=4.0, minimum=1.0, maximum=1e6)
ATTENTION_FACTOR = Real("attention_factor", default=1.0, minimum=0.0, maximum=1e3)
MAX_POSITION_EMBEDDINGS = Integer("max_position_embeddings", default=8192, minimum=2, maximum=10**9)
ORIGINAL_MAX_POSITION_EMBEDDINGS = replace(
    MAX_POSITION_EMBEDDINGS, name="original_max_position_embeddings", default=2048
)
WANTED_LEN = replace(MAX_POSITION_EMBEDDINGS, name="seq_len", minimum=1)
BETA_FAST = Real("beta_fast", default=32.0, minimum=1e-6, maximum=1e6)
BETA_SLOW = replace(BETA_FAST, name="beta_slow", default=1.0)
MSCALE = Real("mscale", default=1.0, minimum=0.0, maximum=1e3)
LOW_FREQ_FACTOR = Real("low_freq_factor", default=1.0, minimum=1e-6, maximum=1e6)
HIGH_FREQ_FACTOR = replace(LOW_FREQ_FACTOR, name="high_freq_factor", default=4.0)
PARTIAL_ROTARY_FACTOR = Real("partial_rotary_factor", default=1.0, minimum=0.0, maximum=1.0)
# Attention biases and lookups.
N_HEADS = Integer("n_heads", default=8, minimum=1, maximum=1024)
BIAS_MAX = Real("bias_max", default=8.0, minimum=0.0, maximum=1024.0)
NUM_BUCKETS = Integer("num_buckets", default=32, minimum=2, maximum=65_536)
MAX_DISTANCE = Integer("max_distance", default=128, minimum=2, maximum=SEQ_LEN.maximum)
BUCKET_SIZE = Integer("bucket_size", default=256, minimum=2, maximum=65_536)
MAX_POSITION = Integer("max_position", default=512, minimum=3, maximum=SEQ_LEN.maximum)
LEFT = Integer("left", default=16, minimum=0, maximum=SEQ_LEN.maximum)
RIGHT = Integer("right", default=16, minimum=0, maximum=SEQ_LEN.maximum)
SHIFT = Real("k", default=1.0, minimum=-1e7, maximum=1e7)
# A grid of cells: an image of 16,384 pixels a side in patches of 16. Not square unless it is asked for.
HEIGHT = Integer("height", default=12, minimum=1, maximum=1024)
WIDTH = Integer("width", default=16, minimum=1, maximum=1024)
GRID_LAYOUT: Choice[str] = Choice("grid_layout", ("sin_cos", "interleaved", "cos_sin", "sines_first"))
ANGLE = Real("angle", default=0.0, minimum=-math.tau, maximum=math.tau)
N_BANDS = Integer("n_bands", default=64, minimum=1, maximum=4096)
MAX_RES = Real("max_res", default=224.0, minimum=1.0, maximum=1e6)
SPACING: Choice[str] = Choice("spacing", ("log", "linear"))
PRECISION: Choice[str] = Choice("precision", ("bfloat16", "float16", "float32", "float64"))
STAGE: Choice[str] = Choice("stage", ("chain", "angle", "position", "table"))
FLOAT_DTYPES = ("float16", "float32", "float64")
COUNT = replace(SEQ_LEN, name="positions")


def check_dtype(dtype: DTypeLike | None) -> np.dtype[np.floating]:
    """Return `dtype` as a native float16, float32 or float64."""
    try:
        found = np.dtype(dtype) if dtype is not None else None  # np.dtype(None) would be float64
    except TypeError:
        found = None
    if found is None or not found.isnative or found.name not in FLOAT_DTYPES:
        raise ValueError(f"dtype must be {' or '.join(FLOAT_DTYPES)}, got {shown(dtype)}")
    return cast(np.dtype[np.floating], found)


def check_positions(positions: object) -> int | NDArray[np.float64]:
    """Return a number of positions as an ``int``, or an array of positions as one axis of float64.

    An array becomes float64 before any arithmetic: uint8 would wrap at 256, float16 knows no 2049.

    Parameters
    ----------
    positions
        A number of positions, or finite real numbers on one axis, at least one: negative, fractional,
        unordered and repeated ones are fine, and so are read-only, strided and big-endian arrays.

    Raises
    ------
    ValueError
        For text, booleans, complex numbers, NaN, infinities, none or too many, or other than one axis.
    """
    if isinstance(positions, (int, np.integer)) and not isinstance(positions, bool):
        return COUNT.check(positions)
    try:
        given = np.asarray(positions)
    except ValueError:  # rows of different lengths
        given = np.empty((0, 0))
    if given.ndim != 1 or given.dtype.kind not in "iuf" or not 0 < given.size <= COUNT.maximum:
        raise ValueError(
            f"positions must be an integer or a 1-D array of 1 to {COUNT.maximum} real numbers, "
            f"got {shown(positions)}"
        )
    exact = given.astype(np.float64)
    finite = np.isfinite(exact)
    if not finite.all():
        first = int(np.argmin(finite))
        raise ValueError(f"positions must be finite, got {exact[first]} at index {first}")
    return exact
