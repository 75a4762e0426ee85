"""Read what a model's config says of its rotary embedding, as people have it.

That is a Hugging Face `config.json`, old or new, or only the `rope_scaling` or `rope_parameters` in it. The
same fact has several names and places there: `type` and `rope_type`, `rope_theta` inside and outside,
`head_dim` or `hidden_size` and `num_attention_heads`, a config of the language model within that of a
multimodal one, a set of parameters for each kind of layers. What is missing, wrong or contradicts itself is
refused in one sentence.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from posenc.parameters import (
    BASE,
    HEAD_DIM,
    MAX_POSITION_EMBEDDINGS,
    ORIGINAL_MAX_POSITION_EMBEDDINGS,
    PARTIAL_ROTARY_FACTOR,
    ROTARY_DIM,
    Choice,
    Integer,
    shown,
)
from posenc.scaling import ROPE_TYPES, Scaled, unscaled

Config = Mapping[str, Any]

_ROPE_TYPE: Choice[str] = Choice("rope_type", tuple(ROPE_TYPES))
_ROPE_THETA = replace(BASE, name="rope_theta")
_ROPE_RATIO = replace(BASE, name="rope_ratio")
_HIDDEN_SIZE = Integer("hidden_size", default=4096, minimum=1, maximum=10**6)
_NUM_ATTENTION_HEADS = Integer("num_attention_heads", default=32, minimum=1, maximum=10**4)

# What is read beside the rope parameters: the keys of a config.json, by other names of older models.
_NAMES: Mapping[str, str] = {
    "rope_theta": "rope_theta",
    "rotary_emb_base": "rope_theta",
    "global_rope_theta": "rope_theta",
    "rope_ratio": "rope_ratio",
    "qk_rope_head_dim": "head_dim",
    "global_head_dim": "head_dim",
    "head_dim": "head_dim",
    "kv_channels": "head_dim",
    "hidden_size": "hidden_size",
    "n_embd": "hidden_size",
    "num_attention_heads": "num_attention_heads",
    "n_head": "num_attention_heads",
    "rotary_dim": "rotary_dim",
    "partial_rotary_factor": "partial_rotary_factor",
    "rotary_pct": "partial_rotary_factor",
    "rope_pct": "partial_rotary_factor",
    "rotary_emb_fraction": "partial_rotary_factor",
    "max_position_embeddings": "max_position_embeddings",
    "n_positions": "max_position_embeddings",
    "seq_length": "max_position_embeddings",
    "original_max_position_embeddings": "original_max_position_embeddings",
}
# Where a head has other features too, or other layers have other heads, these stand for `head_dim`: of
# DeepSeek the features that have positions, of Gemma 4 the heads with full attention.
_RATHER = ("qk_rope_head_dim", "global_head_dim")
# Other names of a method. "mrope" says which position turns a pair, not how fast it turns.
_METHOD_NAMES = {"su": "longrope", "mrope": "default", "deepseek_yarn": "yarn"}
# What a method cannot do without, and what else it takes, beside the width and the base.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "default": (),
    "linear": ("factor",),
    "ntk": ("factor",),
    "dynamic": ("factor", "max_position_embeddings"),
    "yarn": ("factor", "original_max_position_embeddings"),
    "longrope": ("short_factor", "long_factor", "original_max_position_embeddings"),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
    "proportional": (),
}
_TAKES: Mapping[str, tuple[str, ...]] = {
    "yarn": ("attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate"),
    "longrope": ("factor", "attention_factor", "max_position_embeddings"),
    "proportional": ("factor", "partial_rotary_factor"),
}
# Where a multimodal config holds that of its language model.
_LANGUAGE_MODELS = ("text_config", "llm_config", "language_config", "thinker_config")
# The kind of layers that is read where each has its own parameters: those that see everything.
_FULL = "full_attention"
# Models that tell positions apart in another way.
_NOT_ROTARY = frozenset(
    [
        "albert",
        "bart",
        "bert",
        "blenderbot",
        "bloom",
        "clip",
        "codet5",
        "deberta",
        "deberta-v2",
        "distilbert",
        "electra",
        "gpt2",
        "gpt_bigcode",
        "gpt_neo",
        "led",
        "longformer",
        "longt5",
        "marian",
        "mbart",
        "mpnet",
        "mpt",
        "mt5",
        "opt",
        "pegasus",
        "roberta",
        "t5",
        "umt5",
        "vit",
        "whisper",
        "xglm",
        "xlm-roberta",
        "xlnet",
    ]
)
# What the config.json of a published model leaves to its class, where that is not 10000 and the whole head:
# the defaults of the configuration classes of transformers 5.24.0, by `model_type`.
_DEFAULTS: Mapping[str, Config] = {
    "chatglm": {"partial_rotary_factor": 0.5},
    "cohere": {"rope_theta": 500_000.0},
    "deepseek_v2": {"qk_rope_head_dim": 64},
    "deepseek_v3": {"qk_rope_head_dim": 64},
    "gemma": {"head_dim": 256},
    "gemma2": {"head_dim": 256},
    "gemma3_text": {"head_dim": 256, "rope_theta": 1_000_000.0, "max_position_embeddings": 131_072},
    "gemma3n_text": {"head_dim": 256, "rope_theta": 1_000_000.0, "max_position_embeddings": 32_768},
    "glm": {"partial_rotary_factor": 0.5, "head_dim": 128},
    "glm4": {"partial_rotary_factor": 0.5, "head_dim": 128},
    "glm4_moe": {"partial_rotary_factor": 0.5},
    "gpt_neox": {"partial_rotary_factor": 0.25},
    "gpt_oss": {"rope_theta": 150_000.0, "head_dim": 64},
    "gptj": {"rotary_dim": 64},
    "llama": {"hidden_size": 4096, "num_attention_heads": 32},
    "llama4_text": {"rope_theta": 500_000.0, "head_dim": 128},
    "mistral": {"hidden_size": 4096, "num_attention_heads": 32},
    "mixtral": {"rope_theta": 1_000_000.0},
    "modernbert": {"rope_theta": 160_000.0, "hidden_size": 768, "num_attention_heads": 12},
    "nemotron": {"partial_rotary_factor": 0.5},
    "nomic_bert": {"rope_theta": 1000.0},
    "persimmon": {"partial_rotary_factor": 0.5},
    "phi": {"partial_rotary_factor": 0.5},
    "qwen3_next": {"partial_rotary_factor": 0.25, "head_dim": 256},
    "stablelm": {"partial_rotary_factor": 0.25},
}


@dataclass(frozen=True)
class RopeConfig:
    """What a config says of rotary embedding."""

    rope_type: str
    """A name of `posenc.scaling.ROPE_TYPES`."""
    head_dim: int
    rotary_dim: int
    """How many features turn."""
    base: float
    """`rope_theta`."""
    max_position_embeddings: int | None
    """The context that is wanted, M; none if the config does not say."""
    original_max_position_embeddings: int | None
    """The context of the training, O; none if the config does not say."""
    arguments: Mapping[str, Any]
    """What the method takes beside these."""
    assumed: Mapping[str, float]
    """What the config does not say and was taken to be so: the default of its model's class, or of most."""

    @property
    def implied_factor(self) -> float | None:
        """M/O, where both are known: not the `factor` that frameworks use, and often another one."""
        if self.max_position_embeddings is None or self.original_max_position_embeddings is None:
            return None
        return self.max_position_embeddings / self.original_max_position_embeddings

    def unscaled(self) -> Scaled:
        """Return the rates before any method: those of the training, for a model that was extended later."""
        return unscaled(self.rotary_dim, base=self.base)

    def scaled(self, seq_len: int | None = None) -> Scaled:
        """Return rates and attention factor, for a sequence of this length where the method asks for one."""
        length = {"seq_len": seq_len} if self.rope_type in ("dynamic", "longrope") else {}
        return ROPE_TYPES[self.rope_type](self.rotary_dim, base=self.base, **self.arguments, **length)


def from_config(config: Config | str, *, seq_len: int | None = None) -> Scaled:
    """Return the rates and the attention factor of a config: those of the frameworks.

    Parameters
    ----------
    config
        A `config.json` as a dictionary or its text; or the `rope_scaling` or `rope_parameters` in it, with
        `head_dim` and the like beside it or not: see `read_config`.
    seq_len
        Length of the sequence, for ``"dynamic"`` and ``"longrope"``, whose rates depend on it.

    Returns
    -------
    Scaled
        (m,) rates in radians per position and the attention factor, for `posenc.rotate`.

    Raises
    ------
    ValueError
        For what is no config, and for a missing, wrong or contradictory value: one sentence that names its
        key.

    References
    ----------
    transformers, modeling_rope_utils.py

    Examples
    --------
    >>> from_config({"head_dim": 4, "rope_scaling": {"type": "linear", "factor": 2.0}})
    Scaled(inv_freq=array([0.5  , 0.005]), attention_factor=1.0)
    """
    return read_config(config).scaled(seq_len)


def read_config(config: Config | str) -> RopeConfig:
    """Read a config: `from_config` without the last step, for what else a page wants to know.

    Of a multimodal model it reads the language model; of several kinds of layers those with full attention.
    Where neither `head_dim` nor anything else of a model stands beside the parameters, 128 features are
    assumed. Arguments and errors are those of `from_config`.
    """
    outer = _language_model(_parsed(config))
    inner = _rope_part(outer)
    model = str(outer.get("model_type"))
    given = _given(inner, outer)
    facts = _Facts(given, {"rope_theta": BASE.default, **_DEFAULTS.get(model, {})})
    if not {"rope_type", "rope_theta"} & given.keys() and (
        model in _NOT_ROTARY or outer.get("alibi") is True
    ):
        raise ValueError(f"model_type must be that of a model with rotary embedding, got {shown(model)}")
    rope_type, head_dim = _rope_type(given), _head_dim(facts)
    found = RopeConfig(
        rope_type,
        head_dim,
        head_dim if rope_type == "proportional" else _rotary_dim(facts, head_dim),
        _base(facts),
        _context(MAX_POSITION_EMBEDDINGS, facts),
        _context(ORIGINAL_MAX_POSITION_EMBEDDINGS, facts),
        MappingProxyType(_arguments(rope_type, facts)),
        MappingProxyType(facts.assumed),
    )
    found.scaled()  # the method checks what it is given
    return found


@dataclass(frozen=True)
class _Facts:
    """What a config says, and beyond that the defaults of its model, noted where they are used."""

    given: Config
    defaults: Config
    assumed: dict[str, float] = field(default_factory=dict)

    def take(self, name: str) -> Any:
        """Return the value of this name, None where nobody says."""
        if name not in self.given and name in self.defaults:
            self.assumed[name] = self.defaults[name]
        return self.given.get(name, self.defaults.get(name))


def _parsed(config: Config | str) -> Config:
    """Return the dictionary that a text stands for."""
    found: Any = config
    if isinstance(config, str):
        text = config.strip().removeprefix("\ufeff").strip()
        try:
            found = _loaded(text)
        except json.JSONDecodeError as error:
            try:
                found = _loaded(_repaired(text))
            except json.JSONDecodeError:
                raise ValueError(
                    f"config must be JSON, got {error.msg[:1].lower()}{error.msg[1:]} "
                    f"in line {error.lineno}, column {error.colno}"
                ) from None
    if not isinstance(found, Mapping):
        raise ValueError(f"config must be an object with the keys of a config.json, got {shown(found)}")
    return found


def _loaded(text: str) -> Any:
    """Read JSON in which no key stands twice."""
    try:
        # A number of hundreds of digits becomes infinite, and is refused by name.
        return json.loads(
            text, object_pairs_hook=_once_each, parse_int=lambda n: int(n) if len(n) < 20 else float(n)
        )
    except RecursionError:
        raise ValueError("config must be JSON, got brackets within brackets without end") from None


def _repaired(text: str) -> str:
    """Make JSON of what people copy from a model's page or from code.

    That is a part without its braces, with a name before it, with comments, with dots for what is left out,
    with commas before a bracket, or with the words and quotes of Python.
    """
    text = re.sub(r"^[\w.]+\s*=\s*", "", text)
    text = re.sub(r"(?m)(^|\s)(//|#).*$", "", text)
    text = re.sub(r"\.\.\.\s*,?", "", text)
    if '"' not in text:
        text = text.replace("'", '"')
    for python, ours in (("None", "null"), ("True", "true"), ("False", "false")):
        text = re.sub(rf"\b{python}\b", ours, text)
    text = text.strip()
    if text[:1] == '"':
        text = "{" + text + "}"
    return re.sub(r",(\s*[}\]])", r"\1", text)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary of pairs in which each key stands once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{shown(twice)} must stand once in an object, got it {names.count(twice)} times")
    return found


def _language_model(config: Config) -> Config:
    """Return the config of the language model within that of a multimodal one."""
    for name in _LANGUAGE_MODELS:
        if isinstance(config.get(name), Mapping):
            return _language_model(config[name])
    return config


def _rope_part(outer: Config) -> Config:
    """Return the parameters of the method: `rope_parameters`, `rope_scaling`, or all if they stand alone."""
    found = {name: outer[name] for name in ("rope_parameters", "rope_scaling") if outer.get(name)}
    for name, value in found.items():
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be an object, got {shown(value)}")
        kinds = [kind for kind, own in value.items() if isinstance(own, Mapping)]
        if kinds:
            if _FULL not in kinds:
                raise ValueError(
                    f"{name} must hold {_FULL!r} where it has kinds of layers, got {shown(kinds)}"
                )
            found[name] = value[_FULL]
    parts = list(found.values())
    if len(parts) == 2 and parts[0] != parts[1]:
        raise ValueError("rope_scaling must be the same as rope_parameters where both are given, got another")
    if not parts and not ("rope_type" in outer or "type" in outer or "factor" in outer):
        return {}
    return parts[0] if parts else outer


def _given(inner: Config, outer: Config) -> dict[str, Any]:
    """Collect what is said, under one name each; where the same is said twice it must be the same."""
    said: list[tuple[str, str, Any]] = []  # name as written, name as read, value
    for name, value in inner.items():
        if name in ("rope_type", "type"):
            said.append(
                (name, "rope_type", _METHOD_NAMES.get(value, value) if isinstance(value, str) else value)
            )
        else:
            said.append((name, _NAMES.get(name, name), value))
    if inner is not outer:
        said += [(name, _NAMES[name], outer[name]) for name in _NAMES if name in outer]
    rather = [one for one in said if one[0] in _RATHER and one[2] is not None]
    if rather:
        said = [one for one in said if one[1] != "head_dim"] + rather
    found: dict[str, Any] = {}
    first: dict[str, str] = {}
    for written, name, value in said:
        if value is None or (written == "seq_length" and name in found):  # Qwen 1 trains on shorter ones
            continue
        if name in found and found[name] != value:
            raise ValueError(
                f"{written} must agree with {'the other ' if first[name] == written else ''}{first[name]} "
                f"of the config, {shown(found[name])}, got {shown(value)}"
            )
        found.setdefault(name, value)
        first.setdefault(name, written)
    if not found:
        raise ValueError(
            "config must say something of rotary embedding, such as rope_theta, got nothing of it"
        )
    return found


def _rope_type(given: Config) -> str:
    """Return the name of the method."""
    if "rope_type" not in given:
        stray = [name for names in (*_NEEDS.values(), *_TAKES.values()) for name in names if name in given]
        stray = [name for name in stray if name not in _NAMES]
        if stray:
            raise ValueError(f"rope_type must be given where {stray[0]} is, got neither it nor type")
        return _ROPE_TYPE.default
    if given["rope_type"] == "dynamic" and given.get("alpha"):
        return "ntk"  # Hunyuan: by a number that does not grow with the sequence
    return _ROPE_TYPE.check(given["rope_type"])


def _head_dim(facts: _Facts) -> int:
    """Return the features of a head that positions may turn."""
    sizes = {"head_dim", "hidden_size", "num_attention_heads"}
    if not sizes & (facts.given.keys() | facts.defaults.keys()):
        divisors = facts.given.get("short_factor")
        facts.assumed["head_dim"] = (
            2 * len(divisors) if isinstance(divisors, list | tuple) else HEAD_DIM.default
        )
        return HEAD_DIM.check(facts.assumed["head_dim"])
    head_dim = facts.take("head_dim")
    if head_dim is not None:
        return HEAD_DIM.check(head_dim)
    hidden, heads = facts.take("hidden_size"), facts.take("num_attention_heads")
    hidden, heads = _HIDDEN_SIZE.check(hidden), _NUM_ATTENTION_HEADS.check(heads)
    if hidden % heads:
        raise ValueError(f"hidden_size must be a multiple of num_attention_heads, {heads}, got {hidden}")
    return HEAD_DIM.check(hidden // heads)


def _rotary_dim(facts: _Facts, head_dim: int) -> int:
    """Return how many features turn: a number or a share of them, or all."""
    width, share = facts.take("rotary_dim"), facts.take("partial_rotary_factor")
    if share is None:
        return replace(ROTARY_DIM, maximum=head_dim).check(head_dim if width is None else width)
    part = int(head_dim * PARTIAL_ROTARY_FACTOR.check(share))  # rounded down, as transformers does
    if part == 0:
        raise ValueError(f"partial_rotary_factor must leave some of {head_dim} features to turn, got {share}")
    if width is not None and width != part:
        raise ValueError(f"rotary_dim must be partial_rotary_factor of head_dim, {part}, got {shown(width)}")
    return part


def _base(facts: _Facts) -> float:
    """Return the base; of ChatGLM, a ratio times 10000."""
    ratio = facts.given.get("rope_ratio")
    if ratio is not None and "rope_theta" not in facts.given:
        return BASE.default * _ROPE_RATIO.check(ratio)
    return _ROPE_THETA.check(facts.take("rope_theta"))


def _context(parameter: Integer, facts: _Facts) -> int | None:
    """Return a number of positions, None where nobody says."""
    value = facts.take(parameter.name)
    return None if value is None else parameter.check(value)


def _arguments(rope_type: str, facts: _Facts) -> dict[str, Any]:
    """Return what the method takes; where something is missing, what the frameworks put there."""
    found = {name: facts.take(name) for name in (*_NEEDS[rope_type], *_TAKES.get(rope_type, ()))}
    longest, trained = (
        facts.take(p.name) for p in (MAX_POSITION_EMBEDDINGS, ORIGINAL_MAX_POSITION_EMBEDDINGS)
    )
    if rope_type == "ntk" and "alpha" in facts.given:
        found["factor"] = facts.given["alpha"]
    if "original_max_position_embeddings" in found and trained is None and longest is not None:
        found["original_max_position_embeddings"] = facts.assumed["original_max_position_embeddings"] = (
            longest
        )
    if rope_type == "longrope" and "long_mscale" in facts.given:  # Phi-3.5-MoE has the attention factor so
        if facts.given["long_mscale"] != facts.given.get("short_mscale"):
            raise ValueError(f"long_mscale must be as short_mscale, got {shown(facts.given['long_mscale'])}")
        found["attention_factor"] = facts.given["long_mscale"]
    if rope_type == "dynamic" and longest is None:
        found["max_position_embeddings"] = trained
    if rope_type == "yarn" and found["factor"] is None and None not in (longest, trained):
        found["factor"] = facts.assumed["factor"] = longest / trained
    for name in _NEEDS[rope_type]:
        if found[name] is None:
            raise ValueError(f"{name} must be given for rope_type {rope_type!r}, got none")
    if not isinstance(found.get("truncate", True), bool | None):
        raise ValueError(f"truncate must be true or false, got {shown(found['truncate'])}")
    return {name: value for name, value in found.items() if value is not None}
