"""The displayed code of a config's rates is run, as it stands, and compared with the core."""

import numpy as np
import pytest

from posenc.rope_config import read_config
from posenc.rope_models import ROPE_MODELS
from posenc.snippets_long_context import long_context

FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]
OTHERS = {
    "ntk": {"head_dim": 64, "rope_type": "ntk", "factor": 8.0},
    "dynamic": {"head_dim": 64, "max_position_embeddings": 512, "rope_type": "dynamic", "factor": 2.0},
    "width 2": {"head_dim": 2, "rope_type": "ntk", "factor": 8.0},
    "mscale": {
        "head_dim": 64,
        "rope_type": "yarn",
        "factor": 40.0,
        "original_max_position_embeddings": 4096,
        "mscale": 1.0,
        "mscale_all_dim": 0.8,
        "truncate": False,
    },
    "given": {
        "head_dim": 32,
        "rope_type": "yarn",
        "factor": 8.0,
        "original_max_position_embeddings": 1024,
        "beta_fast": 16.0,
        "beta_slow": 2.0,
        "attention_factor": 1.3,
    },
    "proportional": {
        "head_dim": 64,
        "rope_type": "proportional",
        "partial_rotary_factor": 0.25,
        "factor": 2.0,
    },
}
CONFIGS = {name: model.read() for name, model in ROPE_MODELS.items()} | {
    name: read_config(config) for name, config in OTHERS.items()
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("seq_len", [2, 5000, 131_072])
@pytest.mark.parametrize("name", CONFIGS)
def test_the_code_makes_the_rates_of_the_core(name, seq_len, framework):
    names: dict[str, object] = {}
    exec(compile(long_context(CONFIGS[name], seq_len)[framework], "snippet", "exec"), names)
    made = CONFIGS[name].scaled(seq_len)
    np.testing.assert_allclose(np.asarray(names["inv_freq"]), made.inv_freq, rtol=1e-12)
    assert names["attention_factor"] == pytest.approx(made.attention_factor, rel=1e-12)
