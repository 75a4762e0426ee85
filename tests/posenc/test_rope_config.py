"""Configs as people have them: one reading for every way to say it, one sentence for each that is wrong."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_attention_heads": 32,
    "max_position_embeddings": 131_072,
    "rope_theta": 500_000.0,
    "rope_scaling": {
        "factor": 8.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
        "rope_type": "llama3",
    },
}
INNER = LLAMA["rope_scaling"]
OUTER = {key: value for key, value in LLAMA.items() if key != "rope_scaling"}
YARN = {"factor": 4.0, "original_max_position_embeddings": 32_768, "type": "yarn"}


def without(config, *names):
    return {key: value for key, value in config.items() if key not in names}


def said(config):
    found = posenc.read_config(config)
    return replace(found, assumed={}, arguments=dict(found.arguments))


# The same, said otherwise


@pytest.mark.parametrize(
    "config",
    [
        json.dumps(LLAMA),
        json.dumps(LLAMA, indent=2),
        "\ufeff  " + json.dumps(LLAMA) + "\n",
        json.dumps(LLAMA)[1:-1],
        json.dumps(LLAMA)[1:-1] + ",",
        str(LLAMA),  # single quotes
        f"config = {LLAMA}",
        json.dumps(LLAMA, indent=2).replace("{\n", "{\n  ...,\n", 1),
        json.dumps(LLAMA, indent=2).replace("\n}", ",\n  // and so on\n}"),
        {**OUTER, "rope_parameters": INNER},
        {**OUTER, "rope_parameters": INNER, "rope_scaling": INNER},
        {**OUTER, "rope_parameters": INNER, "rope_scaling": None},
        {**without(OUTER, "rope_theta"), "rope_parameters": {**INNER, "rope_theta": 500_000}},
        {**OUTER, "rope_parameters": {**INNER, "rope_theta": 500_000}},
        {**OUTER, "rope_scaling": {**without(INNER, "rope_type"), "type": "llama3"}},
        {**OUTER, "rope_scaling": {**INNER, "type": "llama3"}},
        {**without(OUTER, "hidden_size"), "rope_scaling": INNER, "head_dim": 128},
        {**OUTER, "rope_scaling": INNER, "head_dim": 128},
        {
            **without(OUTER, "hidden_size", "num_attention_heads"),
            "n_embd": 4096,
            "n_head": 32,
            "rope_scaling": INNER,
        },
        {**without(OUTER, "rope_theta"), "rotary_emb_base": 500_000, "rope_scaling": INNER},
        {
            **OUTER,
            "rope_scaling": without(INNER, "original_max_position_embeddings"),
            "original_max_position_embeddings": 8192,
        },
        {
            **OUTER,
            "rope_parameters": {"full_attention": INNER, "sliding_attention": {"rope_type": "default"}},
        },
        {"model_type": "llava", "hidden_size": 1, "text_config": LLAMA, "vision_config": {"hidden_size": 7}},
        {"thinker_config": {"text_config": LLAMA}},
        {**INNER, **without(OUTER, "hidden_size", "num_attention_heads", "model_type"), "head_dim": 128},
        {**LLAMA, "partial_rotary_factor": 1.0, "head_dim": None, "use_cache": True, "architectures": ["X"]},
    ],
)
def test_every_way_to_say_it_is_read_alike(config):
    assert said(config) == said(LLAMA)


def test_what_is_read():
    found = posenc.read_config(LLAMA)
    assert (found.rope_type, found.head_dim, found.rotary_dim, found.base) == ("llama3", 128, 128, 500_000.0)
    assert (found.max_position_embeddings, found.original_max_position_embeddings) == (131_072, 8192)
    assert found.implied_factor == 16
    assert found.assumed == {}
    want = posenc.llama3(
        128,
        factor=8,
        low_freq_factor=1,
        high_freq_factor=4,
        original_max_position_embeddings=8192,
        base=500_000,
    )
    np.testing.assert_array_equal(posenc.from_config(LLAMA).inv_freq, want.inv_freq)
    np.testing.assert_array_equal(found.unscaled().inv_freq, posenc.unscaled(128, base=500_000).inv_freq)


def test_what_is_not_said_is_assumed_and_noted():
    bare = posenc.read_config(YARN)
    assert dict(bare.assumed) == {"head_dim": 128, "rope_theta": 10_000.0}
    assert (bare.head_dim, bare.implied_factor) == (128, None)
    pasted = posenc.read_config('"rope_scaling": {"type": "linear", "factor": 4.0,},')
    assert (pasted.rope_type, pasted.head_dim) == ("linear", 128)
    of_divisors = posenc.read_config(
        {
            "type": "longrope",
            "short_factor": [1] * 48,
            "long_factor": [2] * 48,
            "original_max_position_embeddings": 4096,
            "factor": 32,
        }
    )
    assert of_divisors.head_dim == 96
    gemma = posenc.read_config(
        {
            "model_type": "gemma3",
            "text_config": {
                "model_type": "gemma3_text",
                "hidden_size": 2560,
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            },
        }
    )
    assert (gemma.head_dim, gemma.base, gemma.max_position_embeddings) == (256, 1e6, 131_072)
    assert set(gemma.assumed) == {"head_dim", "rope_theta", "max_position_embeddings"}
    llava = posenc.read_config({"text_config": {"model_type": "llama", "max_position_embeddings": 4096}})
    assert (llava.head_dim, llava.base) == (128, 10_000)
    assert set(llava.assumed) == {"hidden_size", "num_attention_heads", "rope_theta"}
    short = posenc.read_config({**OUTER, "rope_scaling": {"type": "yarn", "factor": 2}})
    assert short.original_max_position_embeddings is None
    assert short.assumed["original_max_position_embeddings"] == 131_072
    ratio = posenc.read_config({**OUTER, "rope_scaling": without({**YARN, "factor": None}, "none")})
    assert ratio.assumed["factor"] == ratio.arguments["factor"] == 4


@pytest.mark.parametrize(
    ("config", "rope_type", "rotary_dim", "base"),
    [
        (
            {
                "model_type": "phi",
                "hidden_size": 2560,
                "num_attention_heads": 32,
                "partial_rotary_factor": 0.4,
            },
            "default",
            32,
            1e4,
        ),
        ({"model_type": "gpt_neox", "hidden_size": 512, "num_attention_heads": 8}, "default", 16, 1e4),
        ({"head_dim": 64, "rotary_pct": 0.25}, "default", 16, 1e4),
        ({"model_type": "gptj", "n_embd": 4096, "n_head": 16}, "default", 64, 1e4),
        ({"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.5}, "default", 64, 1e4),
        ({"head_dim": 192, "partial_rotary_factor": 0.334}, "default", 64, 1e4),
        ({"head_dim": 10, "partial_rotary_factor": 0.35}, "default", 3, 1e4),
        ({"hidden_size": 7168, "num_attention_heads": 128, "qk_rope_head_dim": 64}, "default", 64, 1e4),
        ({"head_dim": 192, "qk_rope_head_dim": 64}, "default", 64, 1e4),
        (
            {
                "head_dim": 256,
                "global_head_dim": 512,
                "rope_parameters": {
                    "full_attention": {
                        "rope_type": "proportional",
                        "partial_rotary_factor": 0.25,
                        "rope_theta": 1e6,
                    }
                },
            },
            "proportional",
            512,
            1e6,
        ),
        (
            {
                "model_type": "chatglm",
                "hidden_size": 4096,
                "num_attention_heads": 32,
                "kv_channels": 128,
                "rope_ratio": 500,
            },
            "default",
            64,
            5e6,
        ),
        ({"head_dim": 64, "global_rope_theta": 160_000.0, "local_rope_theta": 1e4}, "default", 64, 160_000),
        (
            {"head_dim": 64, "rope_scaling": {"type": "mrope", "mrope_section": [8, 12, 12]}},
            "default",
            64,
            1e4,
        ),
        ({"head_dim": 64, "rope_scaling": {"rope_type": "default", "type": "mrope"}}, "default", 64, 1e4),
        (
            {"head_dim": 64, "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0}},
            "ntk",
            64,
            1e4,
        ),
        ({"kv_channels": 128, "n_positions": 8192, "seq_length": 2048}, "default", 128, 1e4),
        ({"head_dim": 128, "rope_theta": 3_580_165_449.0}, "default", 128, 3_580_165_449.0),
    ],
)
def test_what_older_and_rarer_configs_say(config, rope_type, rotary_dim, base):
    found = posenc.read_config(config)
    assert (found.rope_type, found.rotary_dim, found.base) == (rope_type, rotary_dim, base)
    assert found.scaled().inv_freq.size == math.ceil(rotary_dim / 2)


def test_the_length_of_a_sequence_counts_where_the_method_asks_for_it():
    dynamic = {
        "head_dim": 64,
        "max_position_embeddings": 2048,
        "rope_scaling": {"type": "dynamic", "factor": 2.0},
    }
    longer = posenc.dynamic_ntk(64, factor=2, max_position_embeddings=2048, seq_len=4096)
    np.testing.assert_array_equal(posenc.from_config(dynamic, seq_len=4096).inv_freq, longer.inv_freq)
    np.testing.assert_array_equal(posenc.from_config(dynamic).inv_freq, posenc.unscaled(64).inv_freq)
    np.testing.assert_array_equal(
        posenc.from_config(LLAMA, seq_len=9).inv_freq, posenc.from_config(LLAMA, seq_len=10**6).inv_freq
    )
    phi = {
        "head_dim": 4,
        "max_position_embeddings": 512,
        "original_max_position_embeddings": 256,
        "rope_scaling": {"type": "su", "short_factor": [1, 1], "long_factor": [2, 4]},
    }
    np.testing.assert_allclose(posenc.from_config(phi, seq_len=256).inv_freq, [1, 0.01])
    found = posenc.from_config(phi, seq_len=257)
    np.testing.assert_allclose(found.inv_freq, [0.5, 0.0025])
    assert found.attention_factor == pytest.approx(math.sqrt(1 + math.log(2) / math.log(256)))
    phi["rope_scaling"] |= {"short_mscale": 1.24, "long_mscale": 1.24}
    assert posenc.from_config(phi).attention_factor == 1.24


# What is wrong


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("", "config must be JSON, got expecting value in line 1, column 1"),
        ("{", "config must be JSON, got expecting property name .* in line 1, column 2"),
        ('{"rope_theta": 1e4,\n"head_dim" 3}', "config must be JSON, got expecting ':' delimiter in line 2"),
        ("[1, 2]", r"config must be an object with the keys of a config.json, got \[1, 2\]"),
        ("null", "config must be an object with the keys of a config.json, got None"),
        (7, "config must be an object with the keys of a config.json, got 7"),
        ("[" * 100_000, "config must be JSON, got brackets within brackets without end"),
        (
            '{"rope_theta": 1e4, "rope_theta": 1e5}',
            "'rope_theta' must stand once in an object, got it 2 times",
        ),
        ({}, "config must say something of rotary embedding, such as rope_theta"),
        ({"a": 1, "rope_scaling": None}, "config must say something of rotary embedding"),
        (
            {"model_type": "gpt2", "n_embd": 768, "n_head": 12},
            "model_type must be that of a model .*, got 'gpt2'",
        ),
        (
            {"hidden_size": 64, "num_attention_heads": 2, "alibi": True},
            "model_type must be that of a model with rot",
        ),
        ({**OUTER, "rope_scaling": "yarn"}, "rope_scaling must be an object, got 'yarn'"),
        ({**OUTER, "rope_scaling": [1]}, r"rope_scaling must be an object, got \[1\]"),
        (
            {**OUTER, "rope_scaling": {**INNER, "rope_type": "foo"}},
            "rope_type must be 'default' or .*, got 'foo'",
        ),
        ({**OUTER, "rope_scaling": {**INNER, "rope_type": 3}}, "rope_type must be 'default' or .*, got 3"),
        (
            {**OUTER, "rope_scaling": {**INNER, "type": "yarn"}},
            "type must agree with rope_type .*'llama3', got 'yarn'",
        ),
        ({**OUTER, "rope_scaling": {"factor": 4.0}}, "rope_type must be given where factor is, got neither"),
        (
            {**OUTER, "rope_scaling": INNER, "rope_parameters": YARN},
            "rope_scaling must be the same as rope_parameters",
        ),
        (
            {**OUTER, "rope_parameters": {**INNER, "rope_theta": 10_000.0}},
            "rope_theta must agree with the other rope_theta of the config, 10000.0, got 500000.0",
        ),
        (
            {**OUTER, "rotary_emb_base": 500},
            "rotary_emb_base must agree with rope_theta of the config, 500000.0, got 500",
        ),
        (
            {**LLAMA, "original_max_position_embeddings": 4096},
            "original_max_position_embeddings must agree with the",
        ),
        ({**LLAMA, "rope_theta": "big"}, "rope_theta must be a number from 1 to .*, got 'big'"),
        ({**LLAMA, "rope_theta": True}, "rope_theta must be a number"),
        ('{"head_dim": 64, "rope_theta": NaN}', "rope_theta must be a number from 1 to .*, got nan"),
        (
            f'{{"head_dim": 64, "rope_theta": {"9" * 6000}}}',
            "rope_theta must be a number from 1 to .*, got inf",
        ),
        ({**LLAMA, "head_dim": 127}, "head_dim must be an even integer from 2 to 1024, got 127"),
        ({**LLAMA, "head_dim": "128"}, "head_dim must be an even integer from 2 to 1024, got '128'"),
        (
            {**LLAMA, "hidden_size": 4097},
            "hidden_size must be a multiple of num_attention_heads, 32, got 4097",
        ),
        (
            without(LLAMA, "hidden_size", "model_type"),
            "hidden_size must be an integer from 1 to .*, got None",
        ),
        ({**LLAMA, "num_attention_heads": 0}, "num_attention_heads must be an integer from 1"),
        ({**LLAMA, "max_position_embeddings": 0}, "max_position_embeddings must be an integer from 2"),
        (
            {**LLAMA, "partial_rotary_factor": 1.5},
            "partial_rotary_factor must be a number from 0 to 1, got 1.5",
        ),
        (
            {**LLAMA, "partial_rotary_factor": 0},
            "partial_rotary_factor must leave some of 128 features to turn",
        ),
        (
            {**LLAMA, "partial_rotary_factor": 0.5, "rotary_dim": 32},
            "rotary_dim must be .* of head_dim, 64, got 32",
        ),
        ({**LLAMA, "rotary_dim": 256}, "rotary_dim must be an integer from 1 to 128, got 256"),
        (
            {**OUTER, "rope_scaling": {"type": "linear"}},
            "factor must be given for rope_type 'linear', got none",
        ),
        ({**OUTER, "rope_scaling": {"type": "linear", "factor": 0.25}}, "factor must be a number from 1 to"),
        (
            {**OUTER, "rope_scaling": without(INNER, "low_freq_factor")},
            "low_freq_factor must be given for rope_type",
        ),
        (
            {**OUTER, "rope_scaling": {**INNER, "low_freq_factor": 8.0}},
            "high_freq_factor must not be below low_freq_factor, 8, got 4",
        ),
        (
            {"head_dim": 64, "rope_scaling": {"type": "dynamic", "factor": 2}},
            "max_position_embeddings must be given",
        ),
        (
            {"head_dim": 64, "rope_scaling": {"type": "yarn", "factor": 2}},
            "original_max_position_embeddings must be giv",
        ),
        ({**YARN, "beta_fast": 1, "beta_slow": 32}, "beta_fast must not be below beta_slow, 32, got 1"),
        ({**YARN, "truncate": "no"}, "truncate must be true or false, got 'no'"),
        ({**YARN, "attention_factor": [1]}, r"attention_factor must be a number from 0 to 1000, got \[1\]"),
        (
            {
                **OUTER,
                "rope_scaling": {"type": "longrope", "short_factor": [1] * 32, "long_factor": [1] * 64},
            },
            r"short_factor must be 64 numbers above 0, one for each pair, got shape \(32,\)",
        ),
        (
            {**OUTER, "rope_scaling": {"type": "longrope", "short_factor": "a", "long_factor": [1] * 64}},
            "short_factor must be an array of real numbers",
        ),
        (
            {
                **OUTER,
                "rope_scaling": {
                    "type": "longrope",
                    "short_factor": [1] * 64,
                    "long_factor": [1] * 64,
                    "short_mscale": 1.1,
                    "long_mscale": 1.2,
                },
            },
            "long_mscale must be as short_mscale, got 1.2",
        ),
        (
            {**OUTER, "rope_parameters": {"main": {}, "compress": {}}},
            "rope_parameters must hold 'full_attention'",
        ),
    ],
)
def test_what_is_missing_wrong_or_contradicts_itself_is_named_in_one_sentence(config, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}") as refused:
        posenc.from_config(config)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


def test_a_wrong_length_of_a_sequence_is_named():
    with pytest.raises(ValueError, match=r"^seq_len must be an integer from 1 to 1000000000, got 0$"):
        posenc.from_config(
            {"head_dim": 64, "max_position_embeddings": 9, "type": "dynamic", "factor": 2}, seq_len=0
        )


KEYS = st.sampled_from(
    [*LLAMA, *INNER, "type", "head_dim", "rope_parameters", "text_config", "full_attention"]
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.sampled_from([2, 8, 64.0, "yarn", "llama3", ""]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=6)),
)


def refusal(config):
    """The sentence with which a config is refused; nothing if it is read."""
    try:
        found = posenc.from_config(config)
    except ValueError as error:
        return str(error)
    assert np.isfinite(found.inv_freq).all()
    return ""


@given(st.one_of(VALUES, VALUES.map(lambda value: {**LLAMA, "rope_scaling": value})))
def test_whatever_is_given_it_is_read_or_refused_in_one_sentence(config):
    for given_config in (config, json.dumps(config)):
        assert "\n" not in refusal(given_config)


@given(st.text(max_size=60))
def test_whatever_is_typed_is_read_or_refused_in_one_sentence(text):
    for typed in (text, '{"rope_theta": 1e4, ' + text, json.dumps(LLAMA)[:-1] + text):
        assert len(refusal(typed).splitlines()) <= 1
