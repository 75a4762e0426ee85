"""The published configs: what each says, and that none is told apart from what it publishes."""

import json
import math

import numpy as np
import pytest

import posenc
from posenc import ROPE_MODELS

# Method, head_dim, features that turn, base, wanted context, context of the training.
SAID = {
    "gpt_j_6b": ("default", 256, 64, 1e4, 2048, None),
    "gpt_neox_20b": ("default", 96, 24, 1e4, 2048, None),
    "llama_2_7b": ("default", 128, 128, 1e4, 4096, None),
    "mistral_7b": ("default", 128, 128, 1e4, 32_768, None),
    "llama_3_1_8b": ("llama3", 128, 128, 5e5, 131_072, 8192),
    "llama_3_2_1b": ("llama3", 64, 64, 5e5, 131_072, 8192),
    "qwen2_5_7b": ("default", 128, 128, 1e6, 32_768, None),
    "qwen2_5_7b_yarn": ("yarn", 128, 128, 1e6, 32_768, 32_768),
    "qwen3_0_6b": ("default", 128, 128, 1e6, 40_960, None),
    "deepseek_v2_lite": ("yarn", 64, 64, 1e4, 163_840, 4096),
    "deepseek_v3": ("yarn", 64, 64, 1e4, 163_840, 4096),
    "phi_3_5_mini": ("longrope", 96, 96, 1e4, 131_072, 4096),
    "gemma_2_9b": ("default", 256, 256, 1e4, 8192, None),
    "gemma_3_12b": ("linear", 256, 256, 1e6, 131_072, None),
    "gpt_oss_20b": ("yarn", 64, 64, 1.5e5, 131_072, 4096),
}
ATTENTION = {
    "qwen2_5_7b_yarn": 0.1 * math.log(4) + 1,
    "phi_3_5_mini": math.sqrt(1 + math.log(32) / math.log(4096)),
    "gpt_oss_20b": 0.1 * math.log(32) + 1,
}


@pytest.mark.parametrize("name", ROPE_MODELS)
def test_each_says_what_is_known_of_its_model(name):
    model = ROPE_MODELS[name]
    found = model.read()
    assert SAID[name] == (
        found.rope_type,
        found.head_dim,
        found.rotary_dim,
        found.base,
        found.max_position_embeddings,
        found.original_max_position_embeddings,
    )
    assert found.scaled().attention_factor == pytest.approx(ATTENTION.get(name, 1.0))
    assert model.url.startswith("https://huggingface.co/")
    assert model.title


@pytest.mark.parametrize("name", ROPE_MODELS)
def test_each_is_read_alike_as_text(name):
    model = ROPE_MODELS[name]
    assert json.loads(model.text).keys() == model.config.keys()
    for length in (None, 100, 200_000):
        np.testing.assert_array_equal(
            posenc.from_config(model.text, seq_len=length).inv_freq, model.read().scaled(length).inv_freq
        )


def test_what_is_assumed_is_only_what_a_config_leaves_out():
    assert {
        name: set(model.read().assumed) for name, model in ROPE_MODELS.items() if model.read().assumed
    } == {
        "gpt_j_6b": {"rope_theta"},
        "llama_2_7b": {"rope_theta"},
    }


def test_the_divisors_of_phi_rise_from_the_fast_pairs_to_the_slow_ones():
    phi = ROPE_MODELS["phi_3_5_mini"].read()
    for length, first, last in (
        (4096, 1.0, 2.8399994373321533),
        (4097, 1.0800000429153442, 64.83999633789062),
    ):
        divisors = phi.unscaled().inv_freq / phi.scaled(length).inv_freq
        np.testing.assert_allclose(divisors[[0, -1]], [first, last], rtol=1e-12)
        assert (np.diff(divisors) > -1e-9).all()
