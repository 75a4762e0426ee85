"""Rotary embedding beyond the context of its training: other rates for the pairs, and a factor for attention.

A model trained on O positions has seen pair i make O·ω_i/2π turns. At a longer context fast pairs meet
nothing new; slow ones reach angles that they never had. The methods differ in which pairs they slow down, and
by how much:

    linear        all of them by s                        Chen et al. 2023, https://arxiv.org/abs/2306.15595
    ntk           the slower the more, the last by s      bloc97 2023, "NTK-aware scaled RoPE"
    dynamic_ntk   that, growing with the sequence         emozilla 2023, "Dynamically scaled RoPE"
    yarn          by turns: fast ones not, slow ones by s Peng et al. 2023, https://arxiv.org/abs/2309.00071
    llama3        so too, with another ramp               Meta 2024, the code of Llama 3.1
    longrope      each by a number found by search        Ding et al. 2024, https://arxiv.org/abs/2402.13753
    proportional  only a part of them turns at all        Gemma 4, after Barbero et al. 2025

Letters: D = `rotary_dim` features that turn, i index of a pair, m = ⌈D/2⌉ number of pairs, ω_i = base^(−2i/D)
its rate before, s = `factor`, M = `max_position_embeddings`, O = `original_max_position_embeddings`, the
context of the training, L = `seq_len`. The arguments bear the names of a config.json, which
`posenc.rope_config` reads.
"""

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import check_array, check_finite
from posenc.parameters import (
    ATTENTION_FACTOR,
    BASE,
    BETA_FAST,
    BETA_SLOW,
    FACTOR,
    HEAD_DIM,
    HIGH_FREQ_FACTOR,
    LOW_FREQ_FACTOR,
    MAX_POSITION_EMBEDDINGS,
    MSCALE,
    ORIGINAL_MAX_POSITION_EMBEDDINGS,
    PARTIAL_ROTARY_FACTOR,
    ROTARY_DIM,
    WANTED_LEN,
)
from posenc.sinusoidal import inv_freq as rates_of

Float64 = NDArray[np.float64]


class Scaled(NamedTuple):
    """What a method makes of rotary embedding: rates for `posenc.rotate`, and its `attention_factor`.

    The factor multiplies cosines and sines, hence rotated queries and keys, and a score by its square.
    """

    inv_freq: Float64  # (m,) radians per position
    attention_factor: float


def unscaled(rotary_dim: int, *, base: float = BASE.default) -> Scaled:
    """Return ω_i = base^(−2i/D) as they are; `rope_type` ``"default"``.

    Parameters
    ----------
    rotary_dim
        Number D of features that turn: `head_dim`, or with partial rotary a part of it.
    base
        `rope_theta` of a config.json.

    Returns
    -------
    Scaled
        (m,) rates, fastest first, and the attention factor, here 1.

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    return Scaled(rates_of(ROTARY_DIM.check(rotary_dim), base=base), 1.0)


def linear(rotary_dim: int, *, factor: float, base: float = BASE.default) -> Scaled:
    """Return ω_i / s: position interpolation, p becomes p/s.

    Parameters, result and errors are those of `unscaled`; `factor` is s, how much longer the context shall
    be.

    References
    ----------
    Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
    Interpolation", section 2.3, https://arxiv.org/abs/2306.15595
    """
    return Scaled(unscaled(rotary_dim, base=base).inv_freq / FACTOR.check(factor), 1.0)


def ntk(rotary_dim: int, *, factor: float, base: float = BASE.default) -> Scaled:
    """Return ω_i · s^(−2i/(D−2)): the first pair keeps its rate, the last is divided by s.

    It is the change of base to base·s^(D/(D−2)), since (s^(D/(D−2)))^(−2i/D) = s^(−2i/(D−2)). Parameters,
    result and errors are those of `linear`.

    References
    ----------
    bloc97 2023, "NTK-Aware Scaled RoPE allows LLaMA models to have extended (8k+) context size",
    https://www.reddit.com/r/LocalLLaMA/comments/14lz7j5/; Peng et al. 2023, section 3.1.
    """
    return _stretched(rotary_dim, base, FACTOR.check(factor))


def dynamic_ntk(
    rotary_dim: int,
    *,
    factor: float,
    max_position_embeddings: int,
    seq_len: int | None = None,
    base: float = BASE.default,
) -> Scaled:
    """Return the rates of `ntk` for s·L/M − (s − 1) in place of s, where the sequence is longer than M.

    Parameters
    ----------
    rotary_dim, base
        As in `unscaled`.
    factor
        s: with 1 the rates stretch as the sequence grows, with more they stretch faster.
    max_position_embeddings
        M, the context of the training. Shorter sequences have the rates of the training.
    seq_len
        L, the length of the sequence as it is now; M if it is not given.

    References
    ----------
    emozilla 2023, "Dynamically Scaled RoPE further increases performance of long
    context LLaMA with zero fine-tuning", https://www.reddit.com/r/LocalLLaMA/comments/14mrgpr/; transformers,
    ``rope_type: "dynamic"``.
    """
    s, trained = FACTOR.check(factor), MAX_POSITION_EMBEDDINGS.check(max_position_embeddings)
    length = trained if seq_len is None else max(WANTED_LEN.check(seq_len), trained)
    return _stretched(rotary_dim, base, s * length / trained - (s - 1))


def yarn(
    rotary_dim: int,
    *,
    factor: float,
    original_max_position_embeddings: int,
    base: float = BASE.default,
    beta_fast: float = BETA_FAST.default,
    beta_slow: float = BETA_SLOW.default,
    truncate: bool = True,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
) -> Scaled:
    """Return (1 − r_i)·ω_i + r_i·ω_i/s with the ramp r of `yarn_ramp`, and the attention factor of YaRN.

    Pairs that make more than `beta_fast` turns in the trained context keep their rate, those that make fewer
    than `beta_slow` are divided by s.

    Parameters
    ----------
    rotary_dim, base
        As in `unscaled`.
    factor
        s, how much longer the context shall be than the one of the training.
    original_max_position_embeddings
        O, the context of the training.
    beta_fast, beta_slow, truncate
        As in `yarn_ramp`.
    attention_factor
        Replaces the formula: 0.1·ln s + 1 of `yarn_attention_factor`.
    mscale, mscale_all_dim
        DeepSeek: if both are given and not 0, the factor is that of `mscale` divided by that of
        `mscale_all_dim`.

    References
    ----------
    Peng et al. 2023, "YaRN: Efficient Context Window Extension of Large Language
    Models", sections 3.2 and 3.4, https://arxiv.org/abs/2309.00071; transformers,
    ``rope_type: "yarn"``.
    """
    s, rates = FACTOR.check(factor), unscaled(rotary_dim, base=base).inv_freq
    ramp = yarn_ramp(
        rotary_dim,
        original_max_position_embeddings=original_max_position_embeddings,
        base=base,
        beta_fast=beta_fast,
        beta_slow=beta_slow,
        truncate=truncate,
    )
    if attention_factor is not None:
        magnitude = ATTENTION_FACTOR.check(attention_factor)
    elif mscale and mscale_all_dim:
        magnitude = yarn_attention_factor(s, mscale) / yarn_attention_factor(s, mscale_all_dim)
    else:
        magnitude = yarn_attention_factor(s)
    return Scaled((1 - ramp) * rates + ramp * rates / s, magnitude)


def yarn_ramp(
    rotary_dim: int,
    *,
    original_max_position_embeddings: int,
    base: float = BASE.default,
    beta_fast: float = BETA_FAST.default,
    beta_slow: float = BETA_SLOW.default,
    truncate: bool = True,
) -> Float64:
    """Return how much of each pair YaRN interpolates: 0 keeps its rate, 1 divides it by s.

    The pair that makes r turns in O positions has the index c(r) = D·ln(O/(2π·r)) / (2·ln base). From
    c(beta_fast), rounded down, to c(beta_slow), rounded up, within 0 … D − 1, the ramp rises straight with i.

    The paper lets it rise straight with the number of turns (section 3.2); its authors' code and every
    library have the index, and so has this.

    Parameters
    ----------
    rotary_dim, base
        As in `unscaled`; `base` above 1.
    original_max_position_embeddings
        O, the context of the training.
    beta_fast
        Pairs of more turns than this keep their rate: 32, β of the paper.
    beta_slow
        Pairs of fewer turns than this are interpolated: 1, α of the paper.
    truncate
        Whether the ends are rounded to whole pairs, as in the paper's code; gpt-oss does not.

    Returns
    -------
    (m,) float64, from 0 to 1

    Raises
    ------
    ValueError
        For an argument outside its limits, or `beta_fast` below `beta_slow`.
    """
    dim, base = ROTARY_DIM.check(rotary_dim), BASE.check(base)
    trained = ORIGINAL_MAX_POSITION_EMBEDDINGS.check(original_max_position_embeddings)
    fast, slow = BETA_FAST.check(beta_fast), BETA_SLOW.check(beta_slow)
    if fast < slow:
        raise ValueError(f"beta_fast must not be below beta_slow, {slow:g}, got {fast:g}")
    if base == 1:
        raise ValueError("base must be above 1 for YaRN, since with 1 all pairs have the same rate, got 1")
    low, high = (dim * math.log(trained / (2 * math.pi * r)) / (2 * math.log(base)) for r in (fast, slow))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001  # a step, where one would divide by 0
    return np.clip((np.arange((dim + 1) // 2) - low) / (high - low), 0.0, 1.0)


def yarn_attention_factor(factor: float, mscale: float = MSCALE.default) -> float:
    """Return 0.1·mscale·ln s + 1, what YaRN multiplies cosines and sines by; 1 for s = 1.

    References
    ----------
    Peng et al. 2023, section 3.4: √(1/t) = 0.1·ln s + 1, t the temperature of the softmax.
    """
    return 0.1 * MSCALE.check(mscale) * math.log(FACTOR.check(factor)) + 1


def longrope(
    rotary_dim: int,
    *,
    short_factor: Sequence[float],
    long_factor: Sequence[float],
    original_max_position_embeddings: int,
    max_position_embeddings: int | None = None,
    factor: float | None = None,
    attention_factor: float | None = None,
    seq_len: int | None = None,
    base: float = BASE.default,
) -> Scaled:
    """Return ω_i / λ_i, each pair divided by its own number: one up to O positions, another beyond.

    The attention factor is √(1 + ln s/ln O), 1 for s ≤ 1.

    Parameters
    ----------
    rotary_dim, base
        As in `unscaled`.
    short_factor, long_factor
        (m,) numbers λ_i for sequences up to O, and for longer ones.
    original_max_position_embeddings
        O, the context of the training.
    max_position_embeddings
        M, the longer context: s = M/O where `factor` is not given.
    factor
        s, for the attention factor alone.
    attention_factor
        Replaces the formula.
    seq_len
        L, the length of the sequence; if it is not given, a short one.

    Raises
    ------
    ValueError
        For an argument outside its limits, for not as many numbers as there are pairs, or if neither
        `factor`, nor `attention_factor`, nor `max_position_embeddings` is given.

    References
    ----------
    Ding et al. 2024, "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens",
    section 3, https://arxiv.org/abs/2402.13753; the attention factor is of Phi-3 (transformers, ``rope_type:
    "longrope"``).
    """
    rates = unscaled(rotary_dim, base=base).inv_freq
    trained = ORIGINAL_MAX_POSITION_EMBEDDINGS.check(original_max_position_embeddings)
    divisors = [
        _divisors(*named, rates.size)
        for named in (("short_factor", short_factor), ("long_factor", long_factor))
    ]
    divisor = divisors[seq_len is not None and WANTED_LEN.check(seq_len) > trained]
    if attention_factor is not None:
        return Scaled(rates / divisor, ATTENTION_FACTOR.check(attention_factor))
    if factor is not None:
        s = FACTOR.check(factor)
    elif max_position_embeddings is not None:
        s = MAX_POSITION_EMBEDDINGS.check(max_position_embeddings) / trained
    else:
        raise ValueError(
            "factor must be given, or max_position_embeddings or attention_factor, got none of them"
        )
    return Scaled(rates / divisor, math.sqrt(1 + math.log(max(s, 1.0)) / math.log(trained)))


def llama3(
    rotary_dim: int,
    *,
    factor: float,
    low_freq_factor: float,
    high_freq_factor: float,
    original_max_position_embeddings: int,
    base: float = BASE.default,
) -> Scaled:
    """Return (1 − t_i)·ω_i/s + t_i·ω_i, t_i rising straight from 0 to 1 with the turns O·ω_i/2π of a pair.

    It is 0 up to `low_freq_factor` turns in the trained context, 1 from `high_freq_factor` on.

    Parameters
    ----------
    rotary_dim, base
        As in `unscaled`.
    factor
        s: 8 in Llama 3.1, 32 in Llama 3.2.
    low_freq_factor, high_freq_factor
        Numbers of turns, 1 and 4 in Llama 3.1.
    original_max_position_embeddings
        O, the context of the training: 8192 in Llama 3.1.

    Raises
    ------
    ValueError
        For an argument outside its limits, or `high_freq_factor` below `low_freq_factor`.

    References
    ----------
    Meta 2024, ``apply_scaling`` of https://github.com/meta-llama/llama-models; transformers,
    ``rope_type: "llama3"``.
    """
    s, rates = FACTOR.check(factor), unscaled(rotary_dim, base=base).inv_freq
    low, high = LOW_FREQ_FACTOR.check(low_freq_factor), HIGH_FREQ_FACTOR.check(high_freq_factor)
    if high < low:
        raise ValueError(f"high_freq_factor must not be below low_freq_factor, {low:g}, got {high:g}")
    trained = ORIGINAL_MAX_POSITION_EMBEDDINGS.check(original_max_position_embeddings)
    turns = turns_made(rates, trained)
    # Llama 4 has both factors the same: a step.
    t = np.clip((turns - low) / (high - low), 0.0, 1.0) if low < high else (turns >= low).astype(float)
    return Scaled((1 - t) * rates / s + t * rates, 1.0)


def proportional(
    head_dim: int,
    *,
    partial_rotary_factor: float = PARTIAL_ROTARY_FACTOR.default,
    factor: float = 1.0,
    base: float = BASE.default,
) -> Scaled:
    """Return base^(−2i/head_dim)/s for the first pairs, a share `partial_rotary_factor`, and 0 for the rest.

    Unlike partial rotary, where fewer features turn with rates from fast to slow, the fast pairs keep the
    rates that they have in the whole width, and the slow ones stand still.

    Parameters
    ----------
    head_dim
        Number of features, all of which are pairs.
    partial_rotary_factor
        Share of the pairs that turn; their number is rounded down.
    factor, base
        As in `linear`.

    References
    ----------
    transformers, ``rope_type: "proportional"`` (Gemma 4). The idea is p-RoPE of Barbero et al. 2025,
    https://arxiv.org/abs/2410.06205
    """
    width, share = HEAD_DIM.check(head_dim), PARTIAL_ROTARY_FACTOR.check(partial_rotary_factor)
    rates = linear(width, factor=factor, base=base).inv_freq
    rates[int(share * width // 2) :] = 0.0
    return Scaled(rates, 1.0)


def turns_made(inv_freq: ArrayLike, seq_len: int) -> Float64:
    """Return how many turns each pair makes within a context, L·ω_i/2π: below 1, never a whole one.

    Raises
    ------
    ValueError
        For a `seq_len` outside its limits.
    """
    rates = check_finite("inv_freq", check_array("inv_freq", inv_freq))
    return WANTED_LEN.check(seq_len) * rates / (2 * np.pi)


ROPE_TYPES: MappingProxyType[str, Callable[..., Scaled]] = MappingProxyType(
    {
        "default": unscaled,
        "linear": linear,
        "ntk": ntk,
        "dynamic": dynamic_ntk,
        "yarn": yarn,
        "longrope": longrope,
        "llama3": llama3,
        "proportional": proportional,
    }
)
"""The methods by the `rope_type` of a config.json; ``"ntk"`` is the only one that transformers has not."""


def _stretched(rotary_dim: int, base: float, s: float) -> Scaled:
    """Return ω_i · s^(−2i/(D−2)); the one pair of D = 2, i = 0, keeps its rate, whatever the divisor."""
    rates = unscaled(rotary_dim, base=base).inv_freq
    return Scaled(rates * s ** (-2 * np.arange(rates.size) / max(rotary_dim - 2, 1)), 1.0)


def _divisors(name: str, values: Sequence[float], n_pairs: int) -> Float64:
    """Return the numbers that divide the rates, one for each pair, above 0."""
    given = check_finite(name, check_array(name, values))
    if given.shape != (n_pairs,) or given.min() <= 0:
        raise ValueError(
            f"{name} must be {n_pairs} numbers above 0, one for each pair, got shape {given.shape}"
            + (f" and {given.min():g} in it" if given.size else "")
        )
    return given
