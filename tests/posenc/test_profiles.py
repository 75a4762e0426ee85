"""Biases as functions of the offset: their curves against the biases, their blocks against whole matrices."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import bias as formulas
from posenc.buckets import bucket_bias, clipped_distance, deberta_bucket, relative_key_scores, t5_bucket
from posenc.learned import load
from posenc.offsets import offset_blocks
from posenc.profiles import BIASES, Curve, Stairs, bias_functions, hide_future, offset_bias
from tests.posenc.test_blocks import FAR, loop, records

names = st.sampled_from(list(BIASES))
views = st.tuples(st.integers(0, 300), st.integers(1, 70)).map(lambda view: (view[0], sum(view)))
OFFSETS = np.arange(-700.0, 701.0)


# Curves


@pytest.mark.parametrize("n_heads", [1, 6, 8])
def test_curves_are_the_biases(n_heads):
    even = (np.arange(n_heads) + 0.5) / n_heads
    expected = {
        "none": formulas.nope(n_heads, OFFSETS, [0.0])[:, :, 0],
        "alibi": formulas.alibi(n_heads, OFFSETS, [0.0], symmetric=True)[:, :, 0],
        "kerple_log": formulas.kerple_log(OFFSETS, 2 * even, even),
        "kerple_power": formulas.kerple_power(OFFSETS, even, 2 * even),
        "sandwich": formulas.sandwich(OFFSETS, n_heads),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(offset_bias(name, OFFSETS, n_heads), values, rtol=1e-12, atol=1e-10)


def test_curves_take_the_parameters_of_the_biases():
    np.testing.assert_allclose(
        offset_bias("alibi", OFFSETS, 3, bias_max=16, symmetric=False),
        formulas.alibi(3, OFFSETS, [0.0], bias_max=16)[:, :, 0],
    )
    np.testing.assert_allclose(
        offset_bias("sandwich", 50, 2, d_model=10, base=100.0),
        formulas.sandwich(np.arange(50), 2, d_model=10, base=100.0),
        atol=1e-13,
    )
    np.testing.assert_allclose(
        offset_bias("kerple_log", OFFSETS, 2, r1=3.0, r2=[0.1, 9.0]),
        formulas.kerple_log(OFFSETS, 3.0, [0.1, 9.0]),
    )
    np.testing.assert_allclose(
        offset_bias("kerple_power", OFFSETS, 2, r1=[3.0, 1.0]),
        formulas.kerple_power(OFFSETS, [3.0, 1.0], [0.5, 1.5]),
    )


@given(
    st.booleans(),
    st.integers(4, 70),
    st.integers(1, 400),
    st.lists(st.integers(-9999, 9999), min_size=1, max_size=40),
)
def test_stairs_of_t5_are_its_buckets(bidirectional, num_buckets, beyond, offsets):
    exact = (num_buckets // 2 if bidirectional else num_buckets) // 2
    options = {
        "bidirectional": bidirectional,
        "num_buckets": num_buckets,
        "max_distance": exact + beyond,
    }
    table = np.arange(2.0 * num_buckets).reshape(num_buckets, 2) ** 1.1
    expected = bucket_bias(table, t5_bucket(np.negative(offsets), **options))
    np.testing.assert_array_equal(offset_bias("t5", offsets, 2, table=table, **options), expected)


@given(st.integers(0, 40), st.integers(0, 40), st.lists(st.integers(-99, 99), min_size=1, max_size=40))
def test_stairs_of_shaw_are_what_one_query_sees(left, right, offsets):
    random = np.random.default_rng(left)
    q, vectors = random.normal(size=(1, 6)), random.normal(size=(left + right + 1, 6))
    table = (q @ vectors.T / math.sqrt(6)).T
    index = clipped_distance(np.negative(offsets), left, right)[np.newaxis]
    found = offset_bias("shaw", offsets, 1, table=table, left=left, right=right)
    np.testing.assert_allclose(found, relative_key_scores(q, vectors, index), atol=1e-14)


@given(st.integers(2, 300), st.integers(2, 2000), st.lists(st.integers(-9999, 9999), min_size=1, max_size=40))
def test_stairs_of_deberta_read_clipped_rows(bucket_size, beyond, offsets):
    options = {"bucket_size": bucket_size, "max_position": bucket_size // 2 + beyond}
    rows = np.clip(deberta_bucket(offsets, **options) + bucket_size, 0, 2 * bucket_size - 1)
    table = np.arange(2.0 * bucket_size)[:, np.newaxis]
    assert offset_bias("deberta", offsets, 1, table=table, **options)[0].tolist() == rows.tolist()


@pytest.mark.parametrize("name", ["t5", "shaw", "deberta"])
def test_a_table_that_is_not_given_is_drawn(name):
    curves = offset_bias(name, OFFSETS, 8)
    assert 0.5 < curves.std() < 1.5
    np.testing.assert_array_equal(curves, offset_bias(name, OFFSETS, 8, seed=0))
    assert (curves[:, 700] != offset_bias(name, OFFSETS, 8, seed=1)[:, 700]).all()


@pytest.mark.parametrize("name", BIASES)
def test_every_bias_gives_one_function_a_head(name):
    assert len(bias_functions(name, 5)) == 5
    assert offset_bias(name, 7, 5).shape == (5, 7)
    assert np.isfinite(offset_bias(name, [-2e7, 2e7], 5)).all()


def test_a_bias_without_anything_learned_is_0_at_offset_0():
    for name in ("none", "alibi", "kerple_log", "kerple_power", "sandwich"):
        np.testing.assert_allclose(offset_bias(name, [0.0], 4), 0, atol=1e-12)


# Blocks


@given(names, views, views, st.integers(3, 30), st.integers(3, 30))
def test_blocks_are_those_of_the_matrix(name, rows, columns, most_rows, most_columns):
    function = bias_functions(name, 3)[1]
    offsets = np.subtract.outer(np.arange(*rows), np.arange(*columns))
    matrix = offset_bias(name, np.unique(offsets), 3)[1][np.searchsorted(np.unique(offsets), offsets)]
    blocks = offset_blocks(function, rows, columns, most_rows=most_rows, most_columns=most_columns)
    expected = loop(matrix, blocks.rows, blocks.columns)
    assert blocks.exact
    np.testing.assert_allclose(records(blocks), expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", BIASES)
@pytest.mark.parametrize(("rows", "columns"), [((0, 1400), (0, 1400)), ((900, 2350), (0, 400))])
def test_means_of_long_blocks(name, rows, columns):
    every = np.arange(rows[0] - columns[1], rows[1] - columns[0] + 1)
    curves = offset_bias(name, every, 2)
    for function, curve in zip(bias_functions(name, 2), curves, strict=True):
        blocks = offset_blocks(function, rows, columns, most_rows=9, most_columns=9)
        whole = curve[np.subtract.outer(np.arange(*rows), np.arange(*columns)) - every[0]]
        at = blocks.rows[:-1] - rows[0], blocks.columns[:-1] - columns[0]
        sums, least, greatest = (
            gather.reduceat(gather.reduceat(whole, at[0], axis=0), at[1], axis=1)
            for gather in (np.add, np.minimum, np.maximum)
        )
        means = sums / np.multiply.outer(np.diff(blocks.rows), np.diff(blocks.columns))
        size = max(np.abs(whole).max(), 1)
        np.testing.assert_allclose(blocks.mean, means, rtol=0, atol=1e-11 * size)
        # Not every offset is looked at: what is found lies within, and around the mean.
        assert not blocks.exact
        assert (least - 1e-11 * size <= blocks.minimum).all()
        assert (blocks.maximum <= greatest + 1e-11 * size).all()
        assert (blocks.minimum <= blocks.mean).all()
        assert (blocks.mean <= blocks.maximum).all()


def test_means_of_alibi_at_any_distance():
    # Σ|p − q|/n² of a whole matrix is (n² − 1)/(3n); that of a block off the diagonal is of its middle.
    n, (slope, *_) = 20_000_000, formulas.alibi_slopes(8)
    head = bias_functions("alibi", 8)[0]
    whole = offset_blocks(head, (0, n), (0, n), most_rows=1, most_columns=1)
    assert whole.mean[0, 0] == pytest.approx(-slope * (n**2 - 1) / (3 * n), rel=1e-12)
    blocks = offset_blocks(head, (0, n), (0, n))
    middles = (blocks.rows[:-1] + blocks.rows[1:]) / 2
    away = np.abs(np.subtract.outer(middles, middles))
    off = ~np.eye(len(middles), dtype=bool)
    np.testing.assert_allclose(blocks.mean[off], (-slope * away)[off], rtol=1e-12)


def test_a_cusp_at_0_is_met():
    # |k|^½ on a block across the diagonal, summed cell by cell.
    curve, n = Curve(lambda k: np.sqrt(np.abs(k))), 4000
    cells = n - np.abs(np.arange(1 - n, n))
    expected = math.fsum(np.sqrt(np.abs(np.arange(1 - n, n))) * cells) / n**2
    found = offset_blocks(curve, (0, n), (0, n), most_rows=1, most_columns=1)
    assert found.mean[0, 0] == pytest.approx(expected, rel=1e-12)
    # Across it, but not in its middle, and not square.
    for start, a, b in ((100, 4000, 300), (-250, 40, 3000), (0, 1, 4000), (-3999, 4000, 5)):
        offsets = start + np.subtract.outer(np.arange(a), np.arange(b))
        means, _ = curve.over_blocks(range(start, start + 1), (a, b), np.zeros(1))
        assert means[0] == pytest.approx(np.sqrt(np.abs(offsets)).mean(), rel=1e-12)


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True).map(sorted),
    st.integers(-60, 60),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_stairs_count_their_cells(edges, start, a, b):
    heights = np.arange(1.0, len(edges) + 2) ** 2
    means, values = Stairs(np.array(edges), heights).over_blocks(
        range(start, start + 1), (a, b), np.arange(5.0)
    )
    offsets = start + np.subtract.outer(np.arange(a), np.arange(b))
    expected = heights[(offsets[..., np.newaxis] >= edges).sum(axis=-1)]
    assert means[0] == pytest.approx(expected.mean(), rel=1e-13)
    assert values[0].tolist() == [heights[sum(start + lag >= edge for edge in edges)] for lag in range(5)]


def test_ten_million_positions_cost_what_a_thousand_do():
    for name in BIASES:
        tracemalloc.start()
        blocks = offset_blocks(bias_functions(name, 2)[1], (0, FAR), (0, FAR))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 64 * 2**20
        assert np.isfinite(records(blocks)).all()


def test_the_future_is_hidden():
    head = bias_functions("alibi", 1)[0]
    cells = offset_blocks(head, (2, 7), (0, 6))
    hidden = hide_future(cells)
    for i, j in np.ndindex(5, 6):
        for before, after in zip(records(cells), records(hidden), strict=True):
            assert np.isnan(after[i, j]) if j > i + 2 else after[i, j] == before[i, j]
    coarse = hide_future(offset_blocks(head, (0, 1000), (0, 1000), most_rows=10, most_columns=10))
    np.testing.assert_array_equal(np.isnan(coarse.mean), ~np.tri(10, dtype=bool))
    assert coarse.largest == 999 / 256


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bias_functions("fire", 8), "bias must be 'none' or 'alibi' or 't5' or "),
        (lambda: bias_functions("none", 0), "n_heads must be an integer from 1 to 1024, got 0"),
        (lambda: offset_bias("alibi", [], 8), "offsets must be|positions must be"),
        (
            lambda: bias_functions("kerple_log", 2, r1=[1.0, 2.0, 3.0]),
            "r1 must be one number or one for each of",
        ),
        (lambda: bias_functions("kerple_log", 2, r2=0), "r2 must be positive"),
        (lambda: bias_functions("kerple_power", 2, r2=[1.0, 3.0]), "r2 must be above 0 and up to 2"),
        (
            lambda: bias_functions("t5", 2, table=np.ones((32, 3))),
            "table must have shape .32, 2., got .32, 3.",
        ),
        (lambda: bias_functions("t5", 2, max_distance=8), "max_distance must be above 8"),
        (lambda: bias_functions("shaw", 2, left=-1), "left must be an integer from 0"),
        (lambda: bias_functions("deberta", 2, max_position=10), "max_position must be above 129"),
        (lambda: bias_functions("sandwich", 2, d_model=7), "d_model must be even for Sandwich, got 7"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=f"^({sentence})"):
        call()


def test_a_real_table_can_be_seen():
    table = load("rxnmapper")[:32, :8]
    curves = offset_bias("t5", [0, 1, 2, 500], 8, table=table)
    np.testing.assert_array_equal(curves, table[[0, 1, 2, 15]].T)
