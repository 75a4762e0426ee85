import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posenc.attention import attention, causal_mask, softmax
from posenc.sinusoidal import sinusoidal

VALUES = st.floats(-5, 5).map(lambda x: round(x, 3))
# Computed with torch 2.13 in float64: scaled_dot_product_attention(x, x reversed, x squared).
X = (np.arange(12.0).reshape(3, 4) - 5) / 4
BIAS = np.array([[0, -0.5, -1], [0.25, 0, -0.5], [1.0, 0.5, 0]])
TORCH_CAUSAL = [
    [1.562500000000, 1.000000000000, 0.562500000000, 0.250000000000],
    [0.905764751329, 0.562176500886, 0.343588250443, 0.250000000000],
    [1.410949093179, 0.905599240050, 0.525249386922, 0.269899533793],
]
TORCH_BIAS = [
    [0.517806257574, 0.790656924518, 1.188507591462, 1.711358258405],
    [0.930551569095, 0.679598890973, 0.553646212852, 0.552693534731],
    [1.468888395634, 0.940143272149, 0.536398148665, 0.257653025181],
]


def loops(q, k, v, allowed, bias):
    """Equation 1 of Vaswani et al. with scalars."""
    output = []
    for i, query in enumerate(q):
        scores = {
            j: math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query)) + bias[i][j]
            for j, key in enumerate(k)
            if allowed[i][j]
        }
        total = math.fsum(math.exp(score) for score in scores.values())
        weights = {j: math.exp(score) / total for j, score in scores.items()}
        output.append([math.fsum(w * v[j][c] for j, w in weights.items()) for c in range(len(v[0]))])
    return output


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.data())
def test_attention_is_its_double_loop(n, m, d, d_v, data):
    def draw(*shape):
        return data.draw(arrays(np.float64, shape, elements=VALUES))

    q, k, v, bias = draw(n, d), draw(m, d), draw(m, d_v), draw(n, m)
    mask = data.draw(arrays(np.bool_, (n, m)))
    found = attention(q, k, v, mask=mask, bias=bias)
    np.testing.assert_allclose(found.output, loops(q, k, v, mask, bias), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.weights.sum(axis=1), mask.any(axis=1), atol=1e-12)
    assert (found.weights[~mask] == 0).all()
    np.testing.assert_allclose(found.weights @ v, found.output)
    plain = attention(q, k, v)
    np.testing.assert_allclose(plain.scores, q @ k.T / math.sqrt(d), atol=1e-12)
    np.testing.assert_allclose(plain.output, loops(q, k, v, np.ones((n, m)), np.zeros((n, m))), atol=1e-12)


def test_attention_is_that_of_torch():
    q, k, v = X, X[::-1], X**2
    np.testing.assert_allclose(attention(q, k, v, mask=causal_mask(3)).output, TORCH_CAUSAL, atol=1e-12)
    np.testing.assert_allclose(attention(q, k, v, bias=BIAS).output, TORCH_BIAS, atol=1e-12)


@given(arrays(np.float64, st.tuples(st.integers(1, 7), st.integers(1, 5)), elements=VALUES), st.randoms())
def test_without_positions_outputs_move_with_their_rows(x, random):
    order = list(range(len(x)))
    random.shuffle(order)
    output = attention(x, x, x).output
    permuted = attention(x[order], x[order], x[order]).output
    np.testing.assert_allclose(permuted, output[order], rtol=0, atol=1e-13 * max(1.0, np.abs(x).max()))
    np.testing.assert_allclose(permuted.mean(axis=0), output.mean(axis=0), rtol=0, atol=1e-12)


def test_with_positions_outputs_do_not_move_with_their_rows():
    x = np.random.default_rng(0).normal(size=(6, 16))
    table = sinusoidal(6, 16, dtype=np.float64)
    order = [2, 0, 1, 5, 4, 3]
    output = attention(*[x + table] * 3).output
    permuted = attention(*[x[order] + table] * 3).output
    assert np.abs(permuted - output[order]).max() > 0.1
    assert np.abs(permuted.mean(axis=0) - output.mean(axis=0)).max() > 0.01


def test_a_causal_mask_alone_breaks_the_symmetry():
    x = np.random.default_rng(0).normal(size=(4, 8))
    flipped = attention(x[::-1], x[::-1], x[::-1], mask=causal_mask(4)).output
    assert np.abs(flipped - attention(x, x, x, mask=causal_mask(4)).output[::-1]).max() > 0.1


def test_a_query_that_sees_nothing_puts_out_zeros():
    mask = np.array([[True, True], [False, False]])
    found = attention(X[:2], X[:2], X[:2], mask=mask)
    assert found.weights[1].tolist() == [0, 0]
    assert found.output[1].tolist() == [0] * 4
    assert np.isneginf(found.scores[1]).all()
    barred = attention(X[:2], X[:2], X[:2], bias=np.where(mask, 0, -np.inf))
    np.testing.assert_array_equal(barred.output, found.output)


def test_batches_and_heads_broadcast():
    x = np.random.default_rng(0).normal(size=(3, 2, 5, 4))  # (batch, heads, rows, width)
    mask = np.random.default_rng(1).random((3, 1, 5, 5)) < 0.7
    bias = np.random.default_rng(2).normal(size=(2, 1, 5))
    found = attention(x, x, x, mask=mask, bias=bias)
    assert found.output.shape == (3, 2, 5, 4)
    for b in range(3):
        for h in range(2):
            alone = attention(*[x[b, h]] * 3, mask=mask[b, 0], bias=bias[h])
            np.testing.assert_allclose(found.output[b, h], alone.output, atol=1e-14)
    shared = attention(x, x[0, 0], x[0, 0])
    np.testing.assert_allclose(shared.output[2, 1], attention(x[2, 1], x[0, 0], x[0, 0]).output, atol=1e-14)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 5)), elements=VALUES), st.floats(-1e4, 1e4)
)
def test_softmax_is_its_loop_and_knows_no_shift(scores, shift):
    expected = [[math.exp(s) / math.fsum(map(math.exp, row)) for s in row] for row in scores.tolist()]
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-13)
    np.testing.assert_allclose(softmax(scores + shift), expected, rtol=1e-11)
    np.testing.assert_allclose(softmax(scores.T, axis=0), np.transpose(expected), rtol=1e-13)


def test_softmax_at_the_edges():
    assert softmax([1e308, -1e308, 1e308]).tolist() == [0.5, 0, 0.5]
    assert softmax([-1e308, -np.inf]).tolist() == [1, 0]
    assert softmax([710.0, 0.0])[1] == pytest.approx(math.exp(-710))  # exp(710) alone overflows
    assert softmax([0.0, -800.0])[1] == 0
    assert softmax(3.0 * np.ones((2, 1))).tolist() == [[1], [1]]
    assert np.isnan(softmax([-np.inf, -np.inf])).all()


def test_scores_past_the_range_are_undefined_without_a_warning():
    assert np.isnan(attention([[1e200, 1.0]], [[1e200, 1.0], [1.0, 1.0]], [[1.0], [2.0]]).output).all()


def test_causal_mask():
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(1).tolist() == [[True]]


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"q": np.ones(4)}, r"q must have shape \(…, rows, width\) .* got \(4,\)"),
        ({"k": np.ones((0, 4))}, r"k must have shape .* got \(0, 4\)"),
        ({"k": np.ones((3, 5))}, "q and k must have the same width, got 4 and 5"),
        ({"v": np.ones((2, 4))}, "k and v must have the same number of rows, got 3 and 2"),
        ({"q": np.ones((2, 3, 4)), "k": np.ones((3, 3, 4))}, r"q, k and v must have leading axes .*"),
        ({"mask": np.ones((3, 3))}, "mask must be boolean, .* got dtype float64"),
        ({"mask": np.ones((3, 2), bool)}, r"mask must broadcast .* \(3, 3\), got shape \(3, 2\)"),
        ({"mask": np.ones((2, 3, 3), bool)}, r"mask must broadcast .* \(3, 3\), got shape \(2, 3, 3\)"),
        ({"bias": np.ones((2, 3, 3))}, r"bias must broadcast .* \(3, 3\), got shape \(2, 3, 3\)"),
        ({"bias": [["a"]]}, "bias must be an array of real numbers, got dtype <U1"),
    ],
)
def test_shapes_that_do_not_fit_are_named(kwargs, message):
    given_arrays = {"q": np.ones((3, 4)), "k": np.ones((3, 4)), "v": np.ones((3, 4))} | kwargs
    with pytest.raises(ValueError, match=rf"^{message}$"):
        attention(**given_arrays)


@pytest.mark.parametrize(("scores", "axis"), [([1.0], 1), ([1.0], -2), (1.0, 0), (np.ones((2, 0)), -1)])
def test_softmax_needs_an_axis(scores, axis):
    with pytest.raises(ValueError, match=r"^axis must name a filled axis of scores, got axis"):
        softmax(scores, axis)


@pytest.mark.parametrize("n", [0, -1, 2.0, True, "3", 10**9])
def test_causal_mask_needs_a_count(n):
    with pytest.raises(ValueError, match=r"^n must be an integer from 1 to 16384, got "):
        causal_mask(n)
