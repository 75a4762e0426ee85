"""Weights of biases under a softmax: against matrices made cell by cell, at any size."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import learned, scores, weights

N_HEADS, SEED, BASE = 5, 3, 500.0
HEAD = 3
LIMIT = {"sandwich": 0.06}  # waves that never come to rest


def bias_matrix(bias, queries, keys, causal):
    """The formula of each bias, for one head, by the functions that other libraries were held to."""
    k = np.subtract.outer(queries, keys).astype(float)
    even = (HEAD + 0.5) / N_HEADS
    if bias == "alibi":
        return -posenc.alibi_slopes(N_HEADS)[HEAD] * np.abs(k)
    if bias == "none":
        return np.zeros_like(k)
    if bias == "kerple_log":
        return -2 * even * np.log(1 + even * np.abs(k))
    if bias == "kerple_power":
        return -even * np.abs(k) ** (2 * even)
    if bias == "sandwich":
        waves = sum(np.cos(k / BASE ** (2 * i / 128)) - 1 for i in range(1, 65))
        return waves / (8 * (HEAD + 1) / N_HEADS)
    if bias == "fire":
        network = posenc.fire_network(N_HEADS, seed=SEED)
        return posenc.fire(queries, keys, network.__call__)[HEAD]
    if bias == "t5":
        rows, read = 32, posenc.t5_bucket(-k, bidirectional=not causal)
    elif bias == "shaw":
        rows, read = 33, np.clip(-k, -16, 16).astype(int) + 16
    else:
        rows, read = 512, np.clip(posenc.deberta_bucket(k) + 256, 0, 511)
    return learned.random_init(rows, N_HEADS, std=1.0, seed=SEED).astype(float)[read, HEAD]


def head_of(bias, causal=True):
    return weights.heads_of(bias, N_HEADS, [HEAD], causal=causal, base=BASE, seed=SEED)[HEAD]


def share_blocks(head, n, *view, causal=True, **most):
    biases = weights.bias_blocks(head, *view, causal=causal, **most)
    return weights.share_blocks(head, n, biases, causal=causal)


def shares(bias, queries, n, causal):
    """log10 of weight times number of keys, NaN for the keys that are masked."""
    with np.errstate(divide="ignore"):
        rows = []
        for query in queries:
            keys = np.arange(query + 1 if causal else n)
            b = bias_matrix(bias, np.array([query]), keys, causal)[0]
            weight = np.exp(b - b.max()) / np.exp(b - b.max()).sum()
            log = (b - b.max()) / math.log(10) - math.log10(np.exp(b - b.max()).sum())
            assert weight.sum() == pytest.approx(1)
            rows.append(np.append(log + math.log10(len(keys)), np.full(n - len(keys), np.nan)))
        return np.array(rows)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_biases_and_shares_of_a_small_matrix_are_those_of_a_softmax(bias, causal):
    n, view = 70, ((0, 70), (0, 70))
    head = head_of(bias, causal)
    made = weights.bias_blocks(head, *view, causal=causal)
    expected = bias_matrix(bias, np.arange(n), np.arange(n), causal)
    future = np.triu(np.ones((n, n), bool), 1) & causal
    np.testing.assert_allclose(made.mean, np.where(future, np.nan, expected), atol=1e-9)
    assert made.exact
    made = share_blocks(head, n, *view, causal=causal)
    np.testing.assert_allclose(made.mean, shares(bias, range(n), n, causal), atol=1e-9)
    assert made.exact
    # A part of it is the same part.
    part = share_blocks(head, n, (30, 50), (20, 45), causal=causal)
    np.testing.assert_allclose(part.mean, made.mean[30:50, 20:45], atol=1e-9)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_blocks_hold_the_means_of_their_cells(bias, causal):
    n, head = 600, head_of(bias, causal)
    made = share_blocks(head, n, (0, n), (0, n), causal=causal, most_rows=20, most_columns=20)
    cells = shares(bias, range(n), n, causal)
    tolerance = 0.1 if bias == "fire" else 0.03  # four of 900 cells are looked at; four of 30 queries
    for row, column in ((19, 0), (10, 3), (7, 5), (19, 15), (3, 12)):
        here = cells[30 * row : 30 * row + 30, 30 * column : 30 * column + 30]
        if causal and column > row:
            assert np.isnan(made.mean[row, column])
        else:
            assert made.mean[row, column] == pytest.approx(here.mean(), abs=tolerance)
            assert made.minimum[row, column] <= made.mean[row, column] <= made.maximum[row, column]
    assert not made.exact


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_sums_over_many_keys_are_close(bias, causal):
    n, head = 40_000, head_of(bias, causal)
    queries = np.array([0, 127, 128, 2047, 2048, 5000, 31_234, n - 1])
    found = head.log_sums(queries, n, causal=causal)
    for query, log_sum in zip(queries, found, strict=True):
        keys = np.arange(query + 1 if causal else n)
        b = bias_matrix(bias, np.array([query]), keys, causal)[0]
        exact = math.log(np.exp(b - b.max()).sum()) + b.max()
        assert log_sum == pytest.approx(exact, abs=LIMIT.get(bias, 2e-4))
    # So many queries that those of FIRE are not summed one by one.
    many = np.unique(np.append(queries, np.arange(0, n, 50)))
    again = head.log_sums(many, n, causal=causal)[np.searchsorted(many, queries)]
    np.testing.assert_allclose(again, found, atol=LIMIT.get(bias, 2e-4))


def test_without_an_encoding_every_key_gets_its_equal_share():
    for causal in (True, False):
        made = share_blocks(head_of("none"), 10_000_000, *((0, 10_000_000),) * 2, causal=causal)
        assert np.nanmax(np.abs([made.minimum, made.maximum])) < 1e-12
    seen = weights.seen({0: head_of("none")}, 40)
    np.testing.assert_allclose(seen.weights[0], 1 / 40)
    assert seen.equal == 1 / 40


@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_ten_million_positions_keep_few_cells(bias):
    n = 10_000_000
    made = share_blocks(head_of(bias), n, (0, n), (0, n), most_rows=50, most_columns=50)
    assert made.mean.shape == (50, 50)
    lower = np.tril_indices(50)
    assert np.isfinite(made.mean[lower]).all()
    assert np.isnan(made.mean[0, 1:]).all()


@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_what_the_last_query_sees(bias):
    seen = weights.seen({HEAD: head_of(bias)}, 50)
    assert (seen.query, seen.offsets.values.tolist()) == (49, list(range(50)))
    b = bias_matrix(bias, np.array([49]), np.arange(50), True)[0][::-1]
    np.testing.assert_allclose(seen.biases[HEAD], b, atol=1e-9)
    np.testing.assert_allclose(seen.weights[HEAD], np.exp(b) / np.exp(b).sum(), atol=1e-9)


@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_what_the_middle_query_sees_without_a_mask(bias):
    seen = weights.seen({HEAD: head_of(bias, False)}, 50, causal=False)
    assert (seen.query, seen.offsets.values.tolist()) == (24, list(range(-25, 25)))
    b = bias_matrix(bias, np.array([24]), np.arange(50), False)[0][::-1]
    np.testing.assert_allclose(seen.biases[HEAD], b, atol=1e-9)
    np.testing.assert_allclose(seen.weights[HEAD], np.exp(b) / np.exp(b).sum(), atol=1e-9)


@given(st.integers(1, 10_000_000), st.booleans())
def test_a_query_sees_few_offsets_of_many(seq_len, causal):
    seen = weights.seen({0: head_of("none")}, seq_len, causal=causal)
    offsets = seen.offsets.values
    assert 1 <= len(offsets) <= 802
    assert (np.diff(offsets) > 0).all()
    assert offsets.min() >= seen.query - seq_len + 1
    assert offsets.max() <= seen.query
    assert causal or 0 in offsets


@given(st.integers(1, 10_000_000))
def test_a_whole_sum_counts_every_number_once(n):
    over = weights.whole_sum(n)
    assert over.weights.sum() == pytest.approx(n)
    assert (over.places >= 0).all()
    assert (over.places < n).all()
    assert over.ends[-1] == n
    running = np.cumsum(over.weights)[over.places_below - 1]
    np.testing.assert_allclose(running, over.ends, rtol=1e-12)
    assert len(over.places) < 10_000
    # A sum of what changes little by little: 0 + 1 + … + (n − 1).
    assert over.weights @ over.places == pytest.approx(n * (n - 1) / 2, rel=1e-3)


@pytest.mark.parametrize(("n_heads", "head"), [(1, 0), (2, 1), (8, 0), (8, 3), (12, 11), (1024, 500)])
def test_some_heads_are_few_and_the_chosen_one_is_among_them(n_heads, head):
    some = weights.some_heads(n_heads, head)
    assert head in some
    assert {0, n_heads - 1} <= set(some)
    assert some == sorted(set(some))
    assert len(some) == min(n_heads, len(some)) <= weights.CURVES


@pytest.mark.parametrize("bias_max", [8.0, 16.0])
@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 12, 16, 20, 71])
def test_mpt_comes_to_the_papers_slopes_by_another_road(n_heads, bias_max):
    np.testing.assert_allclose(
        weights.mpt_slopes(n_heads, bias_max=bias_max), posenc.alibi_slopes(n_heads, bias_max=bias_max)
    )


def test_the_slopes_of_twelve_heads_do_not_fall_all_the_way():
    expected = [2.0**-h for h in range(1, 9)] + [0.70710678, 0.35355339, 0.1767767, 0.08838835]
    np.testing.assert_allclose(weights.mpt_slopes(12), expected)


def test_rows_read_are_those_that_the_issue_trackers_settled_on():
    k, rows = weights.rows_read("t5")
    read = {form: dict(zip((-k).tolist(), found.tolist(), strict=True)) for form, found in rows.items()}
    both = {-128: 15, -16: 10, -8: 8, -1: 1, 0: 0, 1: 17, 8: 24, 16: 26, 64: 30, 128: 31}
    causal = {-1: 1, -15: 15, -16: 16, -19: 17, -21: 18, -64: 26, -128: 31, 5: 0}
    assert {r: read["bidirectional"][r] for r in both} == both
    assert {r: read["causal"][r] for r in causal} == causal
    k, rows = weights.rows_read("shaw")
    assert rows["both"].tolist() == [min(max(16 - offset, 0), 32) for offset in k]
    k, rows = weights.rows_read("deberta")
    assert rows["both"][k == 0] == 256
    assert rows["both"][k == 128] == 384
    assert rows["both"].max() == 511
    with pytest.raises(ValueError, match="bias must be"):
        weights.rows_read("alibi")


@given(st.integers(1, 16), st.integers(0, 99), st.data())
def test_fire_is_straight_between_its_knots(n_heads, seed, data):
    network = posenc.fire_network(n_heads, seed=seed)
    head = data.draw(st.integers(0, n_heads - 1))
    made = weights.fire_head(network, head)
    offsets = np.linspace(0, 2000, 333)
    expected = posenc.fire([2000], 2000 - offsets, network.__call__)[head, 0]
    np.testing.assert_allclose(made.values(2000, offsets), expected, atol=1e-12)
    # Up to its threshold it depends on the offset alone.
    np.testing.assert_allclose(made.values(3, offsets[:10]), made.values(512, offsets[:10]))


def test_a_head_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="head must be"):
        weights.heads_of("alibi", 4, [4])
    with pytest.raises(ValueError, match="bias must be"):
        weights.heads_of("rotary", 4, [0])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", ["t5", "fire", "none"])
def test_what_is_pictured_of_few_positions_is_made_cell_by_cell(bias, causal):
    n, pair = 12, scores.query_and_key("worked", 4)
    scored, biases, weighed = weights.pictured(pair, head_of(bias, causal), n, causal=causal, base=BASE)
    for i, j in ((0, 0), (11, 3), (3, 11), (7, 7)):
        angle = [(i - j) / BASE ** (pair / 2) for pair in (0, 1)]
        # Half-split: (1, 3) with (4, 2), and (2, 4) with (3, 1).
        terms = [(1 + 3j) * (4 - 2j), (2 + 4j) * (3 - 1j)]
        expected = sum(
            (term * complex(math.cos(a), math.sin(a))).real for term, a in zip(terms, angle, strict=True)
        )
        assert scored[i, j] == pytest.approx(expected)
    expected = bias_matrix(bias, np.arange(n), np.arange(n), causal)
    np.testing.assert_allclose(biases, expected, atol=1e-9)
    raised = np.exp(expected) * (np.tri(n) if causal else 1)
    np.testing.assert_allclose(weighed, raised / raised.sum(axis=1, keepdims=True), atol=1e-9)


@pytest.mark.parametrize(
    ("bias", "shape"), [("t5", (32,)), ("shaw", (33,)), ("deberta", (512,)), ("fire", (3, 32))]
)
def test_what_is_drawn_can_be_taken_away(bias, shape):
    ((name, values),) = weights.drawn_values(bias, N_HEADS, HEAD, seed=SEED).items()
    assert (name, values.shape) == (f"{bias}.npy", shape)
    if bias != "fire":
        head = head_of(bias, False)
        assert set(np.unique(head.values(0, np.arange(-999.0, 1000)))) <= set(values)
    assert weights.drawn_values("alibi", N_HEADS, HEAD) == {}


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bias", weights.BIAS.options)
def test_the_largest_bias_is_that_of_all_cells(bias, causal):
    n = 300
    every = bias_matrix(bias, np.arange(n), np.arange(n), causal)
    every = every[np.tril_indices(n)] if causal else every
    found = weights.largest_bias(head_of(bias, causal), n, causal=causal)
    assert found == pytest.approx(np.abs(every).max(), rel=0.05 if bias == "fire" else 1e-9)
