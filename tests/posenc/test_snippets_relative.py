"""The displayed code of scores, biases and weights is run, as it stands, and compared with the core."""

import numpy as np
import pytest

from posenc import scores, weights
from posenc.snippets_relative import relative

FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]


def run(code, files):
    """Run code that reads the files that a visitor has downloaded."""
    names = {}
    real = np.load
    try:
        np.load = files.__getitem__
        exec(compile(code, "snippet", "exec"), names)
    finally:
        np.load = real
    return np.asarray(names["result"])


def check(
    framework, vectors, head_dim, pairs, bias, seq_len, causal, *, n_heads=12, head=9, base=500.0, seed=7
):
    code = relative(
        vectors, head_dim, pairs, bias, n_heads, head, seq_len, causal=causal, base=base, seed=seed
    )[framework]
    assert max(map(len, code.splitlines())) <= 110
    chosen = weights.heads_of(bias, n_heads, [head], causal=causal, base=base, seed=seed)[head]
    pair = scores.query_and_key(vectors, head_dim, seed=seed)
    expected = weights.pictured(pair, chosen, seq_len, causal=causal, base=base, pairs=pairs)
    files = weights.drawn_values(bias, n_heads, head, seed=seed)
    made = run(code, files)
    assert made.dtype == np.float64
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(made[2].sum(axis=1), 1)
    return code


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_every_bias_is_the_cores(framework, bias, causal):
    for seq_len in (1, 2, 9, 200):
        check(framework, "ones", 4, "half_split", bias, seq_len, causal)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("bias", weights.LOOKED_UP)
def test_far_offsets_read_the_rows_of_the_core(framework, bias):
    check(framework, "worked", 4, "adjacent", bias, 512, True)
    check(framework, "worked", 4, "adjacent", bias, 512, False)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("pairs", ["half_split", "adjacent"])
@pytest.mark.parametrize("vectors", scores.VECTORS.options)
def test_every_score_is_the_cores(framework, vectors, pairs):
    for head_dim, base in ((2, 1.0), (6, 10_000.0), (128, 10_000.0)):
        check(framework, vectors, head_dim, pairs, "alibi", 40, True, base=base)


@pytest.mark.parametrize("framework", ["NumPy", "PyTorch", "TensorFlow"])
def test_only_what_must_be_is_numpys(framework):
    for bias in weights.BIAS.options:
        code = relative("gaussian", 8, "adjacent", bias, 4, 1, 9, causal=True, base=1e4, seed=0)[framework]
        used = {word for word in ("np.load", "np.random", "np.inf") if word in code}
        assert framework == "NumPy" or code.count("np.") == sum(code.count(word) for word in used)
        assert ("import math" in code) == ("math." in code.replace("tf.math.", ""))
