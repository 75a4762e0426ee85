"""Which named functions of libraries make a table, and in which format it was computed."""

import math
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from posenc.implementations import IMPLEMENTATIONS
from posenc.precision import rounded

Floats = NDArray[np.float64]

# What a caller may choose beside the size: the base, the first position, the padding index whose row is zero.
_FREE: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "SinePositionEncoding": frozenset({"base", "first"}),
        "get_timestep_embedding": frozenset({"base", "first", "step", "flip", "freq_shift"}),
        "get_1d_sincos_pos_embed_from_grid": frozenset({"first", "step", "flip"}),
        "sinusoids": frozenset({"base"}),
        "TimesFmPositionalEmbedding": frozenset({"base", "first", "step"}),
        "ScaledSinusoidalEmbedding": frozenset({"base", "first", "scale"}),
        "get_embedding": frozenset({"padding"}),
        "relative_positional_encoding": frozenset({"first", "descending"}),
        "RelPositionalEncoding.forward": frozenset({"centred", "descending"}),
        "Wav2Vec2ConformerRelPositionalEmbedding.forward": frozenset({"centred", "descending"}),
        "M2M100SinusoidalPositionalEmbedding.forward": frozenset({"lookup"}),
        "fsmt.modeling_fsmt.SinusoidalPositionalEmbedding.forward": frozenset({"lookup"}),
        "sinusoidal_positional_embedding.SinusoidalPositionalEmbedding.forward": frozenset({"lookup"}),
    }
)
# Odd widths: which libraries take a sine more, and which end in a column of zeros.
_EVEN_ONLY = ("SinusoidalPositionalEmbedding", "sinusoids", "get_1d_sincos_pos_embed_from_grid", "Scaled")


def exact_dtype(values: Floats) -> str:
    """Name the narrowest format that has every value of a table."""
    few = values.ravel()[:: max(values.size // 4096, 1)]
    for name in ("bfloat16", "float16", "float32"):
        if all(bool((rounded(some, name) == some).all()) for some in (few, values)):
            return name
    return "float64"


def implementations(
    shape: tuple[int, int],
    *,
    layout: str,
    base: float,
    freq_shift: int,
    first: float,
    step: float,
    scale: float,
    zero_rows: tuple[int, ...],
    last_zero: bool,
    next_even: bool,
) -> tuple[str, ...]:
    """Name the functions whose parameters can be chosen so that they make this sinusoidal table.

    Parameters
    ----------
    shape
        (n, d_model).
    layout, base, freq_shift, first, step, scale
        What was found; `first` the position of row 0, `step` from a row to the next, with its sign.
    zero_rows
        Rows of zeros, as of a padding index.
    last_zero
        The width is odd and its last column zero.
    next_even
        The width is odd and the divisor the next even number.
    """
    n, d_model = shape
    found = []
    for name, known in IMPLEMENTATIONS.items():
        if known.function != "sinusoidal.sinusoidal":
            continue
        free = next((free for end, free in _FREE.items() if name.endswith(end)), frozenset[str]())
        lookup = "lookup" in free
        centred = "centred" not in free or (n % 2 == 1 and first == (n - 1) / 2)
        fits = (
            (layout == known.parameters["layout"] or ("flip" in free and layout == "cos_sin"))
            and ("freq_shift" in free or freq_shift == known.parameters["freq_shift"])
            and (base == 10_000 or "base" in free)
            and (
                first == 0 or bool(free & {"first", "centred"}) or (lookup and first >= 1 and first % 1 == 0)
            )
            and not (lookup and first < 1)
            and (step == 1 or ("step" in free and step > 0) or (step == -1 and "descending" in free))
            and not (step == 1 and "descending" in free)
            and math.isclose(scale, d_model**-0.5 if "scale" in free else 1.0)
            and (not zero_rows or ("padding" in free and len(zero_rows) == 1))
            and centred
            and _odd_width(name, d_model, last_zero, next_even)
        )
        if fits:
            found.append(name)
    return tuple(found)


def _odd_width(name: str, d_model: int, last_zero: bool, next_even: bool) -> bool:
    if d_model % 2 == 0:
        return True
    if next_even:
        return name.endswith("PositionalEncoding1D")
    ends_in_zero = name.endswith(("get_embedding", "get_timestep_embedding", "PositionalEmbedding.forward"))
    if last_zero or ends_in_zero:
        return last_zero and ends_in_zero
    return name.endswith(
        (
            "SinePositionEncoding",
            "get_sinusoid_encoding_table",
            "create_weight",
            "ctrl.modeling_ctrl.positional_encoding",
        )
    )


def rotary_implementations(copies: str, step: float, scale: float, geometric: bool) -> tuple[str, ...]:
    """Name the functions that return such a cache of cosines or sines; any base may be given to them."""
    if scale != 1 or not geometric or step > 1:
        return ()
    ends = (
        ("LlamaRotaryEmbedding.forward", "get_1d_rotary_pos_embed")
        if copies == "half_split"
        else ("get_1d_rotary_pos_embed",)
    )
    found = [name for name in IMPLEMENTATIONS if name.endswith(ends)]
    if step < 1 and copies == "half_split":
        found.append(next(name for name in IMPLEMENTATIONS if name.endswith("['linear']")))
    return tuple(found)


def grid_implementations(
    *,
    axes: tuple[int, ...],
    layout: str,
    base: float,
    freq_shift: int,
    first: float,
    step: float,
    skipped: int,
) -> tuple[str, ...]:
    """Name the functions that make such a grid; those that stretch their cells are named for any step."""
    if freq_shift:
        return ()
    found = []
    for name, known in IMPLEMENTATIONS.items():
        if known.function != "grid.grid_sinusoidal" or known.parameters["axes"] != axes:
            continue
        if known.parameters["grid_layout"] != layout:
            continue
        stretched = name.endswith("DetrSinePositionEmbedding")
        any_step = stretched or name.endswith(("get_2d_sincos_pos_embed", "get_3d_sincos_pos_embed"))
        any_base = name.endswith(
            (
                "build_2d_sinusoidal_position_embedding",
                "build_sincos2d_pos_embed",
                "DetrSinePositionEmbedding",
            )
        )
        token = name.endswith(
            ("initialize_weights", "get_2d_sincos_pos_embed", "build_2d_sinusoidal_position_embedding")
        )
        starts = math.isclose(first, step, rel_tol=1e-6) if stretched else first == 0
        must_token = name.endswith("initialize_weights")
        if (
            (base == 10_000 or any_base)
            and (step == 1 or any_step)
            and starts
            and (skipped == 0 or token)
            and (skipped == 1 or not must_token)
        ):
            found.append(name)
    return tuple(found)
