"""The few lines that make the rates of a config, for NumPy, PyTorch and TensorFlow; executed in tests.

Every snippet runs as it stands and leaves ``inv_freq`` (m,) and ``attention_factor``.
"""

from collections.abc import Callable, Mapping
from typing import Any

from posenc.parameters import BETA_FAST, BETA_SLOW
from posenc.rope_config import RopeConfig
from posenc.snippets import Snippets

# Numbers are Python's; only what works on whole arrays has another name in each framework.
_WORDS: Mapping[str, Mapping[str, str]] = {
    "NumPy": {
        "import": "import numpy as np",
        "even": "np.arange(0, D, 2)",
        "pairs": "np.arange((D + 1) // 2)",
        "clip": "np.clip",
        "array": "np.array({})",
        "where": "np.where",
    },
    "PyTorch": {
        "import": "import torch",
        "even": "torch.arange(0, D, 2, dtype=torch.float64)",
        "pairs": "torch.arange((D + 1) // 2, dtype=torch.float64)",
        "clip": "torch.clamp",
        "array": "torch.tensor({}, dtype=torch.float64)",
        "where": "torch.where",
    },
    "TensorFlow": {
        "import": "import tensorflow as tf",
        "even": "tf.range(0, D, 2, dtype=tf.float64)",
        "pairs": "tf.range((D + 1) // 2, dtype=tf.float64)",
        "clip": "tf.clip_by_value",
        "array": "tf.constant({}, tf.float64)",
        "where": "tf.where",
    },
}


def long_context(config: RopeConfig, seq_len: int) -> Snippets:
    """Return the code of what a config makes of its rates at this length; see the module for its results."""
    made: dict[str, str] = {}
    for framework, words in _WORDS.items():
        head = [
            "import math\n",
            words["import"],
            "",
            f"D, base = {config.rotary_dim}, {config.base!r}  # features that turn, rope_theta",
            f"rates = base ** (-{words['even']} / D)  # radians per position, one a pair",
        ]
        body = _BODIES[config.rope_type](config.arguments, seq_len, words)
        made[framework] = "\n".join([*head, *body]) + "\n"
    return made


Lines = list[str]
_NO_FACTOR = "attention_factor = 1.0"


def _default(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    return ["inv_freq = rates", _NO_FACTOR]


def _linear(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    return [f"inv_freq = rates / {a['factor']!r}  # position interpolation", _NO_FACTOR]


def _ntk(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    return [f"s = {a['factor']!r}", *_stretched(words)]


def _dynamic(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    trained, s = a["max_position_embeddings"], a["factor"]
    return [f"s = {s!r} * max({seq_len}, {trained}) / {trained} - ({s!r} - 1)", *_stretched(words)]


def _stretched(words: Mapping[str, str]) -> Lines:
    return [f"inv_freq = rates * s ** (-{words['even']} / max(D - 2, 1))  # a larger base", _NO_FACTOR]


def _yarn(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    trained, fast, slow = (
        a["original_max_position_embeddings"],
        a.get("beta_fast", BETA_FAST.default),
        a.get("beta_slow", BETA_SLOW.default),
    )
    ends = [
        "def pair(turns):  # the one that makes so many turns in the training",
        f"    return D * math.log({trained} / (2 * math.pi * turns)) / (2 * math.log(base))",
        "",
        f"s, low, high = {a['factor']!r}, pair({fast!r}), pair({slow!r})",
    ]
    if a.get("truncate", True):
        ends.append("low, high = math.floor(low), math.ceil(high)")
    ends += [
        "low, high = max(low, 0), min(high, D - 1)",
        "high += 0.001 if high == low else 0",
        f"ramp = {words['clip']}(({words['pairs']} - low) / (high - low), 0.0, 1.0)",
        "inv_freq = (1 - ramp) * rates + ramp * rates / s",
    ]
    if a.get("attention_factor") is not None:
        return [*ends, f"attention_factor = {a['attention_factor']!r}"]
    over, under = a.get("mscale"), a.get("mscale_all_dim")
    if over and under:
        both = f"(0.1 * {over!r} * math.log(s) + 1) / (0.1 * {under!r} * math.log(s) + 1)"
        return [*ends, f"attention_factor = {both}"]
    return [*ends, "attention_factor = 0.1 * math.log(s) + 1"]


def _longrope(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    trained = a["original_max_position_embeddings"]
    divisors = [float(value) for value in a["long_factor" if seq_len > trained else "short_factor"]]
    lines = [f"divisors = {words['array'].format(divisors)}", "inv_freq = rates / divisors"]
    if a.get("attention_factor") is not None:
        return [*lines, f"attention_factor = {a['attention_factor']!r}"]
    s = a.get("factor") or a["max_position_embeddings"] / trained
    return [*lines, f"attention_factor = math.sqrt(1 + math.log({max(s, 1.0)!r}) / math.log({trained}))"]


def _llama3(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    low, high, trained = a["low_freq_factor"], a["high_freq_factor"], a["original_max_position_embeddings"]
    return [
        f"turns = {trained} * rates / (2 * math.pi)  # of each pair, in the training",
        f"keep = {words['clip']}((turns - {low!r}) / ({high!r} - {low!r}), 0.0, 1.0)",
        f"inv_freq = keep * rates + (1 - keep) * rates / {a['factor']!r}",
        _NO_FACTOR,
    ]


def _proportional(a: Mapping[str, Any], seq_len: int, words: Mapping[str, str]) -> Lines:
    share, factor = a.get("partial_rotary_factor", 1.0), a.get("factor", 1.0)
    return [
        f"turning = {words['pairs']} < int({share!r} * D // 2)",
        f"inv_freq = {words['where']}(turning, rates / {factor!r}, 0 * rates)",
        _NO_FACTOR,
    ]


_BODIES: Mapping[str, Callable[[Mapping[str, Any], int, Mapping[str, str]], Lines]] = {
    "default": _default,
    "linear": _linear,
    "ntk": _ntk,
    "dynamic": _dynamic,
    "yarn": _yarn,
    "longrope": _longrope,
    "llama3": _llama3,
    "proportional": _proportional,
}
