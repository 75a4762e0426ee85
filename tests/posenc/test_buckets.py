"""Rows of learned tables that relative positions read, against published values and scalar loops."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from posenc.bias import offset_matrix
from posenc.buckets import bucket_bias, clipped_distance, deberta_bucket, relative_key_scores, t5_bucket
from posenc.learned import load


def t5(r, bidirectional, num_buckets, max_distance):
    """One relative position after the other, as section 2.1 and the code have it."""
    offset = 0
    if bidirectional:
        n, a = num_buckets // 2, abs(r)
        offset = n if r > 0 else 0
    else:
        n, a = num_buckets, max(-r, 0)
    exact = n // 2
    if a < exact:
        return offset + a
    wide = math.log(a / exact) / math.log(max_distance / exact) * (n - exact)
    # Where the logarithm is a whole number the last digit decides: both are right.
    if abs(wide - round(wide)) < 1e-9:
        return {offset + min(n - 1, exact + round(wide) - low) for low in (0, 1)}
    return offset + min(n - 1, exact + math.floor(wide))


# T5


def test_published_buckets_of_an_encoder():
    relative = [-128, -16, -8, -1, 0, 1, 8, 16, 64, 128]
    assert t5_bucket(relative).tolist() == [15, 10, 8, 1, 0, 17, 24, 26, 30, 31]
    everything = t5_bucket(np.arange(-10_000, 10_001))
    assert set(range(32)) - set(everything.tolist()) == {16}  # r = 0 lies with the past


def test_published_buckets_of_a_decoder():
    relative = [-1, -15, -16, -19, -21, -64, -128]
    assert t5_bucket(relative, bidirectional=False).tolist() == [1, 15, 16, 17, 18, 26, 31]
    assert not t5_bucket(np.arange(500), bidirectional=False).any()


@given(
    st.booleans(),
    st.integers(4, 300),
    st.integers(1, 2000),
    st.lists(st.integers(-5000, 5000), min_size=1, max_size=30),
)
def test_buckets_one_by_one(bidirectional, num_buckets, beyond, relative):
    exact = (num_buckets // 2 if bidirectional else num_buckets) // 2
    options = bidirectional, num_buckets, exact + beyond
    found = t5_bucket(
        relative, bidirectional=options[0], num_buckets=options[1], max_distance=options[2]
    ).tolist()
    for r, bucket in zip(relative, found, strict=True):
        expected = t5(r, *options)
        assert bucket in expected if isinstance(expected, set) else bucket == expected


@given(st.booleans(), st.integers(4, 100), st.integers(1, 500))
def test_buckets_grow_with_the_distance_and_are_rows_of_the_table(bidirectional, num_buckets, beyond):
    exact = (num_buckets // 2 if bidirectional else num_buckets) // 2
    bucket = t5_bucket(
        np.arange(0, -3000, -1),
        bidirectional=bidirectional,
        num_buckets=num_buckets,
        max_distance=exact + beyond,
    )
    assert (np.diff(bucket) >= 0).all()
    assert bucket[:exact].tolist() == list(range(exact))
    assert bucket[exact + beyond :].min() == bucket.max() < num_buckets


def test_any_shape_and_whole_floats_are_taken():
    offsets = offset_matrix(3, 4)
    assert t5_bucket(-offsets).tolist() == [
        [0, 17, 18, 19],
        [1, 0, 17, 18],
        [2, 1, 0, 17],
    ]
    assert t5_bucket(np.int8(-3)).shape == ()
    assert t5_bucket(np.uint8(255)) == 31
    assert t5_bucket(np.empty((0, 2))).shape == (0, 2)


# Tables


@given(st.integers(1, 6), st.integers(1, 4), st.data())
def test_every_head_reads_its_column(rows, n_heads, data):
    table = np.arange(rows * n_heads).reshape(rows, n_heads)
    index = data.draw(st.lists(st.lists(st.integers(0, rows - 1), min_size=3, max_size=3), min_size=1))
    found = bucket_bias(table, index)
    assert found.tolist() == [[[table[b][h] for b in row] for row in index] for h in range(n_heads)]


# Shaw et al.


def test_the_rows_of_the_paper():
    # Section 3.2 with k = 2: from w_−k … w_k.
    relative = -offset_matrix(4, 4)
    assert clipped_distance(relative, 2, 2).tolist() == [
        [2, 3, 4, 4],
        [1, 2, 3, 4],
        [0, 1, 2, 3],
        [0, 0, 1, 2],
    ]


@given(st.lists(st.integers(-99, 99), min_size=1), st.integers(0, 20), st.integers(0, 20))
def test_distances_are_clipped_on_both_sides(relative, left, right):
    expected = [max(-left, min(right, r)) + left for r in relative]
    assert clipped_distance(relative, left, right).tolist() == expected


@given(
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(0, 3),
)
def test_scores_of_relative_keys_by_a_loop(batch, n, m, head_dim, left, right):
    random = np.random.default_rng(n * m + head_dim)
    q, table = random.normal(size=(batch, n, head_dim)), random.normal(size=(left + right + 1, head_dim))
    found = relative_key_scores(q, table, clipped_distance(-offset_matrix(n, m), left, right))
    assert found.shape == (batch, n, m)
    for b, i, j in np.ndindex(batch, n, m):
        row = table[max(-left, min(right, j - i)) + left]
        expected = sum(x * y for x, y in zip(q[b, i], row, strict=True)) / math.sqrt(head_dim)
        assert found[b, i, j] == pytest.approx(expected, abs=1e-12)


# DeBERTa


@given(st.integers(2, 300), st.integers(2, 2000), st.lists(st.integers(-5000, 5000), min_size=1, max_size=30))
def test_log_buckets_one_by_one(bucket_size, beyond, offsets):
    m = bucket_size // 2
    last = m + beyond - 1
    assume(last > m)
    for k, bucket in zip(
        offsets,
        deberta_bucket(offsets, bucket_size=bucket_size, max_position=last + 1).tolist(),
        strict=True,
    ):
        if abs(k) <= m:
            assert bucket == k
        else:
            wide = math.log(abs(k) / m) / math.log(last / m) * (m - 1)
            if abs(wide - round(wide)) < 1e-9:
                assert abs(bucket) - m - round(wide) in (0, 1)
            else:
                assert abs(bucket) == m + math.ceil(wide)
            assert bucket * k >= 0


def test_log_buckets_of_deberta_v3():
    offsets = np.arange(-511, 512)
    bucket = deberta_bucket(offsets)
    assert bucket[offsets == 128] == 128
    assert bucket[offsets == 129] == 129  # the first to be shared
    assert bucket.max() == 255
    np.testing.assert_array_equal(bucket, -bucket[::-1])
    # As in a table of 2 × 256 rows, none is out of range.
    assert 0 <= (bucket + 256).min() < (bucket + 256).max() < 512
    assert deberta_bucket(2000) > 255  # nothing is clipped


# What is refused


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: t5_bucket([0, 0.5]), "relative_position must be whole numbers, got 0.5"),
        (lambda: t5_bucket([np.nan]), "relative_position must be whole numbers, got nan"),
        (lambda: t5_bucket([-np.inf]), "relative_position must be whole numbers, got -inf"),
        (lambda: t5_bucket([2.0**60]), "relative_position must be whole numbers, got 1.15292e"),
        (lambda: t5_bucket(["1"]), "relative_position must be an array of real numbers"),
        (lambda: t5_bucket([1], num_buckets=3), "num_buckets must be at least 4 if bidirectional, got 3"),
        (
            lambda: t5_bucket([1], num_buckets=1, bidirectional=False),
            "num_buckets must be an integer from 2 ",
        ),
        (
            lambda: t5_bucket([1], max_distance=8),
            "max_distance must be above 8, from where on distances share 32 buckets, got 8",
        ),
        (lambda: bucket_bias(np.ones((3, 2)), [3]), "buckets must be rows of the table, 0 to 2, got 3 to 3"),
        (
            lambda: bucket_bias(np.ones((3, 2)), [-1, 0]),
            "buckets must be rows of the table, 0 to 2, got -1 to",
        ),
        (lambda: bucket_bias([1.0, 2.0], [0]), "table must be a 2-D array"),
        (lambda: clipped_distance([1], -1, 2), "left must be an integer from 0 to "),
        (lambda: clipped_distance([1], 1, 2.0), "right must be an integer from 0 to "),
        (
            lambda: relative_key_scores(np.ones((2, 4)), np.ones((3, 5)), np.zeros((2, 2))),
            "q and table must have the same width, got 4 and 5",
        ),
        (
            lambda: relative_key_scores(np.ones((2, 4)), np.ones((3, 4)), np.zeros((3, 2))),
            "index must have a row for each of the 2 queries, got shape ",
        ),
        (
            lambda: relative_key_scores(np.ones((2, 4)), np.ones((3, 4)), [[0, 3], [0, 0]]),
            "index must be rows of the table, 0 to 2, got 0 to 3",
        ),
        (lambda: relative_key_scores(np.ones(4), np.ones((3, 4)), [[0]]), "q must have shape "),
        (lambda: deberta_bucket([0.5]), "offsets must be whole numbers, got 0.5"),
        (
            lambda: deberta_bucket([1], max_position=129),
            "max_position must be above 129 with bucket_size 256, got 129",
        ),
        (lambda: deberta_bucket([1], bucket_size=1), "bucket_size must be an integer from 2 to "),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}") as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_a_bundled_table_can_be_looked_up():
    table = load("rxnmapper")
    np.testing.assert_array_equal(bucket_bias(table, [0, 7]), table[[0, 7]].T)
