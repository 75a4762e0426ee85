"""Biases that a formula gives, against the papers' numbers and scalar loops."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import causal_mask, softmax
from posenc.bias import (
    FireNetwork,
    alibi,
    alibi_slopes,
    fire,
    fire_network,
    kerple_log,
    kerple_power,
    nope,
    offset_matrix,
    sandwich,
    sandwich_rates,
    sandwich_ratios,
)
from posenc.sinusoidal import sinusoidal

heads = st.integers(1, 70)
positions = st.lists(st.integers(-300, 300), min_size=1, max_size=8)


def slopes_of_the_authors(n):
    """`get_slopes` of the paper's code, in our own words."""
    if n & (n - 1) == 0:
        return [2.0 ** (-8.0 * (h + 1) / n) for h in range(n)]
    power = 2 ** int(math.log2(n))
    return slopes_of_the_authors(power) + slopes_of_the_authors(2 * power)[0::2][: n - power]


# Offsets


@given(positions, positions)
def test_an_offset_is_query_minus_key(queries, keys):
    assert offset_matrix(queries, keys).tolist() == [[i - j for j in keys] for i in queries]


def test_a_number_of_positions_stands_for_the_first():
    np.testing.assert_array_equal(offset_matrix(2, 3), [[0, -1, -2], [1, 0, -1]])


# ALiBi


@pytest.mark.parametrize(
    ("n_heads", "expected"),
    [
        # Section 3 of the paper: 8 heads 1/2 … 1/256, 16 heads start at 2^−0.5.
        (8, [2.0**-h for h in range(1, 9)]),
        (16, [2.0 ** (-h / 2) for h in range(1, 17)]),
        # Heads that are no power of two, which people take for a bug, as they are not in falling order.
        (6, [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]),
        (12, [*(2.0**-h for h in range(1, 9)), 0.70710678, 0.35355339, 0.1767767, 0.08838835]),
        (1, [1 / 256]),
        (3, [1 / 16, 1 / 256, 1 / 4]),
    ],
)
def test_slopes(n_heads, expected):
    np.testing.assert_allclose(alibi_slopes(n_heads), expected, rtol=1e-7)


@given(heads)
def test_slopes_are_those_of_the_authors_code(n_heads):
    np.testing.assert_allclose(alibi_slopes(n_heads), slopes_of_the_authors(n_heads), rtol=1e-14)


@given(heads, st.sampled_from([0.5, 4, 8, 16, 100]))
def test_slopes_are_in_the_order_of_mpt(n_heads, bias_max):
    """Every second slope of the next power of two from the second on, then the others, cut to size."""
    power = 1 << (n_heads - 1).bit_length()
    every = [2.0 ** (-bias_max * h / power) for h in range(1, power + 1)]
    mpt = every if power == n_heads else (every[1::2] + every[::2])[:n_heads]
    np.testing.assert_allclose(alibi_slopes(n_heads, bias_max=bias_max), mpt, rtol=1e-13)


@given(heads, positions, positions, st.booleans())
def test_alibi_is_slope_times_distance(n_heads, queries, keys, symmetric):
    slopes = slopes_of_the_authors(n_heads)
    expected = [[[-m * (abs(i - j) if symmetric else i - j) for j in keys] for i in queries] for m in slopes]
    np.testing.assert_allclose(alibi(n_heads, queries, keys, symmetric=symmetric), expected, rtol=1e-13)


def test_alibi_figure_3_of_the_paper():
    # Rows of 0; −1 0; −2 −1 0; … times the slope.
    bias = alibi(1, 5, 5, bias_max=1.0)[0]
    assert [row[: i + 1].tolist() for i, row in enumerate(bias)] == [
        [0],
        [-0.5, 0],
        [-1, -0.5, 0],
        [-1.5, -1, -0.5, 0],
        [-2, -1.5, -1, -0.5, 0],
    ]


@given(heads, positions, positions, st.integers(-500, 500), st.booleans())
def test_alibi_is_the_same_wherever_the_text_stands(n_heads, queries, keys, by, symmetric):
    here = alibi(n_heads, queries, keys, symmetric=symmetric)
    there = alibi(n_heads, np.add(queries, by), np.add(keys, by), symmetric=symmetric)
    np.testing.assert_array_equal(here, there)


def test_one_row_for_all_queries_is_the_same_bias_after_a_causal_softmax_only():
    """One row [−4 … 0] times the slope for every query: other biases, equal weights with a causal mask."""
    own = alibi(1, 5, 5, bias_max=1.0)[0]
    last = np.tile(alibi(1, [4], 5, bias_max=1.0)[0], (5, 1))
    first = np.tile(alibi(1, [0], 5, bias_max=1.0)[0], (5, 1))
    assert np.abs(own - last).max() == 2.0
    np.testing.assert_array_equal(last[0], [-2, -1.5, -1, -0.5, 0])
    seen = causal_mask(5)
    weights = [softmax(np.where(seen, bias, -np.inf)) for bias in (own, last, first)]
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-15)
    np.testing.assert_allclose(weights[2], weights[0], atol=1e-15)
    # The symmetric bias differs from it where the future is seen.
    assert np.abs(softmax(alibi(1, 5, 5, bias_max=1.0, symmetric=True)[0]) - softmax(own)).max() > 0.1


def test_alibi_shows_no_negative_zero():
    for bias in (alibi(3, 4, 4), alibi(3, 4, 4, symmetric=True), kerple_log(0, 1, 1), kerple_power(0, 1, 1)):
        assert not np.signbit(bias[bias == 0]).any()


# KERPLE


@given(st.lists(st.integers(-9999, 9999), min_size=1, max_size=9), st.floats(0.01, 5), st.floats(0.01, 2))
def test_kerple_as_the_paper_writes_it(offsets, r1, r2):
    log = [-r1 * math.log(1 + r2 * abs(k)) for k in offsets]
    power = [-r1 * abs(k) ** r2 for k in offsets]
    np.testing.assert_allclose(kerple_log(offsets, r1, r2), log, rtol=1e-12)
    np.testing.assert_allclose(kerple_power(offsets, r1, r2), power, rtol=1e-12)


def test_kerple_has_its_parameters_a_head():
    offsets = np.arange(6).reshape(2, 3)
    found = kerple_log(offsets, [1.0, 2.0], [0.5, 0.25])
    assert found.shape == (2, 2, 3)
    np.testing.assert_array_equal(found[1], kerple_log(offsets, 2.0, 0.25))
    np.testing.assert_array_equal(kerple_power(offsets, 3.0, [0.5, 2.0])[1], -3 * offsets**2.0)


@given(heads)
def test_kerple_of_power_1_is_alibi(n_heads):
    offsets = offset_matrix(7, 9)
    np.testing.assert_allclose(
        kerple_power(offsets, alibi_slopes(n_heads), 1.0), alibi(n_heads, 7, 9, symmetric=True), rtol=1e-14
    )


# Sandwich


@given(st.integers(1, 12), st.integers(1, 20), st.lists(st.integers(-9999, 9999), min_size=1, max_size=5))
def test_sandwich_by_its_double_sum(n_heads, half, offsets):
    found = sandwich(offsets, n_heads, d_model=2 * half)
    assert found.shape == (n_heads, len(offsets))
    for h in range(1, n_heads + 1):
        for k, value in zip(offsets, found[h - 1], strict=True):
            total = sum(math.cos(k / 10_000 ** (2 * i / (2 * half))) for i in range(1, half + 1))
            assert value == pytest.approx((total - half) / (8 * h / n_heads), abs=1e-9)


def test_sandwich_is_a_similarity_of_sinusoids():
    # With rates one step on, those of i = 1 … d/2: the first is 10000^(−2/d).
    d_model, n = 16, 40
    rates = sandwich_rates(d_model)
    codes = np.hstack([np.sin(np.outer(np.arange(n), rates)), np.cos(np.outer(np.arange(n), rates))])
    expected = (codes @ codes.T - d_model / 2) / 8
    np.testing.assert_allclose(sandwich(offset_matrix(n, n), 1, d_model=d_model)[0], expected, atol=1e-12)
    # Those of the sinusoid but the first and one more.
    table = sinusoidal([1.0], d_model, layout="sin_cos", dtype=np.float64)[0, : d_model // 2]
    np.testing.assert_allclose(np.sin(rates[:-1]), table[1:], atol=1e-15)
    np.testing.assert_allclose(sandwich_ratios(4), [2, 4, 6, 8])


# FIRE


@given(
    st.lists(st.integers(0, 2000), min_size=1, max_size=5),
    st.lists(st.integers(0, 2000), min_size=1, max_size=5),
    st.floats(0.001, 10),
    st.sampled_from([1, 64, 512]),
)
def test_fire_by_its_formula(queries, keys, c, threshold):
    found = fire(queries, keys, lambda x: np.stack([x, x**2]), c=c, threshold=threshold)
    assert found.shape == (2, len(queries), len(keys))

    def psi(x):
        return mpmath.log(mpmath.mpf(c) * x + 1)

    for a, i in enumerate(queries):
        for b, j in enumerate(keys):
            ratio = float(psi(abs(i - j)) / psi(max(threshold, i)))
            np.testing.assert_allclose(found[:, a, b], [ratio, ratio**2], rtol=1e-9, atol=1e-15)


def test_fire_asks_for_nothing_outside_0_to_1():
    asked = []
    fire(700, 700, lambda x: asked.append(x) or x[np.newaxis], threshold=100)
    seen = asked[0][np.tri(700, dtype=bool)]
    assert seen.min() == 0
    assert seen.max() == 1


def test_fire_depends_on_the_offset_alone_up_to_its_threshold_and_no_further():
    network = fire_network(3)
    near = fire([10, 500], [5, 495], network)
    np.testing.assert_array_equal(near[:, 0, 0], near[:, 1, 1])
    far = fire([600, 900], [100, 400], network)
    assert np.abs(far[:, 0, 0] - far[:, 1, 1]).max() > 1e-4


def test_the_network_of_fire_by_hand():
    network = FireNetwork(
        np.array([1.0, -2.0]), np.array([0.0, 1.0]), np.array([[1.0, 10.0], [0.5, 0.0]]), np.array([0.0, 3.0])
    )
    # Hidden units at 0, 0.25, 1: 0, 0.25, 1 and 1, 0.5, 0.
    np.testing.assert_allclose(network(np.array([0.0, 0.25, 1.0])), [[10, 5.25, 1], [3, 3.125, 3.5]])
    assert network(np.zeros((4, 5))).shape == (2, 4, 5)


def test_an_untrained_network_is_drawn_as_pytorch_does():
    network = fire_network(50, hidden=400, seed=3)
    assert [part.shape for part in network] == [(400,), (400,), (50, 400), (50,)]
    for part, edge in zip(network, (1, 1, 1 / 20, 1 / 20), strict=True):
        assert np.abs(part).max() <= edge
        assert np.abs(part).max() > 0.9 * edge
        assert abs(part.mean()) < edge / 3
    np.testing.assert_array_equal(network.w2, fire_network(50, hidden=400, seed=3).w2)
    assert (network.w2 != fire_network(50, hidden=400, seed=4).w2).all()


# None


def test_no_encoding_adds_nothing():
    np.testing.assert_array_equal(nope(2, 3, 4), np.zeros((2, 3, 4)))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: alibi_slopes(0), "n_heads must be an integer from 1 to 1024, got 0"),
        (lambda: alibi_slopes(2.0), "n_heads must be an integer from 1 to 1024, got 2.0"),
        (lambda: alibi_slopes(8, bias_max=-1), "bias_max must be a number from 0 to 1024, got -1"),
        (lambda: alibi(8, 4, []), "positions must be an integer or a 1-D array of 1 to "),
        (lambda: nope(0, 1, 1), "n_heads must be an integer"),
        (lambda: kerple_log([0, np.nan], 1, 1), "offsets must be finite, got nan at index 1"),
        (lambda: kerple_log(1, 0, 1), "r1 must be positive, one number or one for each head, got 0"),
        (lambda: kerple_log(1, 1, [1.0, -2.0]), "r2 must be positive, one number or one for each head"),
        (lambda: kerple_log(1, [[1.0]], 1), "r1 must be positive, one number or one for each head"),
        (lambda: kerple_log(1, [], 1), "r1 must be positive, one number or one for each head"),
        (lambda: kerple_log(1, np.inf, 1), "r1 must be finite, got inf"),
        (lambda: kerple_log(1, [1, 2], [1, 2, 3]), "r1 and r2 must have as many heads, got 2 and 3"),
        (lambda: kerple_power(1, 1, 2.1), "r2 must be above 0 and up to 2, one number or one for each head"),
        (lambda: sandwich(1, 8, d_model=5), "d_model must be even for Sandwich, got 5"),
        (lambda: sandwich("a", 8), "offsets must be an array of real numbers"),
        (lambda: sandwich_ratios(0), "n_heads must be an integer"),
        (lambda: fire(2, 2, np.sin, c=0), "c must be a number from 1e-06 to 1e+06, got 0"),
        (lambda: fire(2, 2, np.sin, threshold=0.5), "threshold must be a number from 1 to "),
        (lambda: fire_network(8, hidden=0), "hidden must be an integer from 1 to 4096, got 0"),
        (lambda: fire_network(8, seed=-1), "seed must be an integer"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match="^" + sentence.replace("+", r"\+").replace("(", r"\(")) as refusal:
        call()
    assert "\n" not in str(refusal.value)
