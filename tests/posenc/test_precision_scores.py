"""Scores with rounding: every cell by a scalar loop, blocks against the mean of their cells."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import offsets, precision, precision_scores
from posenc.parameters import PRECISION, STAGE

DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16}
precisions = st.sampled_from(PRECISION.options)
stages = st.sampled_from(STAGE.options)


def in_format(value, name):
    with np.errstate(over="ignore"):
        return float(np.float64(value).astype(DTYPES[name]))


def wave(p, omega, name, stage):
    """Sine and cosine of one angle, a step at a time, in the real format."""
    if stage in ("chain", "position"):
        p = in_format(p, name)
    if stage == "chain":
        omega = in_format(omega, name)
    angle = p * omega
    if stage in ("chain", "angle"):
        angle = in_format(angle, name)
    sine, cosine = math.sin(angle), math.cos(angle)
    return (in_format(sine, name), in_format(cosine, name)) if stage in ("chain", "table") else (sine, cosine)


def score(p, q, rates, name, stage):
    pairs = [(wave(p, omega, name, stage), wave(q, omega, name, stage)) for omega in rates]
    return sum(a[0] * b[0] + a[1] * b[1] for a, b in pairs) / len(rates)


def exact(p, q, rates):
    return sum(math.cos((p - q) * omega) for omega in rates) / len(rates)


# Rates that no format rounds by way of another: the test's own casts would round twice.
rate_lists = st.lists(st.integers(1, 255).map(lambda k: k / 256), min_size=1, max_size=4)


@given(st.integers(0, 60_000), st.integers(0, 60_000), rate_lists, precisions, stages)
def test_a_cell_is_the_score_of_its_two_positions(p, q, rates, name, stage):
    made, off = precision_scores.score_blocks((p, p + 2), (q, q + 1), rates, name, stage=stage)
    assert made.single
    assert made.exact
    expected = [[score(at, q, rates, name, stage)] for at in (p, p + 1)]
    np.testing.assert_allclose(made.mean, expected, rtol=0, atol=4 * 2.0 ** -precision.FORMATS[name].digits)
    right = np.array([[exact(at, q, rates)] for at in (p, p + 1)])
    np.testing.assert_allclose(off.mean, made.mean - right, rtol=0, atol=1e-9)


@pytest.mark.parametrize("stage", STAGE.options)
@pytest.mark.parametrize("name", PRECISION.options)
def test_rows_and_columns_are_counted_from_the_first_position(name, stage):
    rates = posenc.inv_freq(16)
    moved = precision_scores.score_blocks((3, 8), (1, 5), rates, name, stage=stage, first=1000).made
    there = precision_scores.score_blocks((1003, 1008), (1001, 1005), rates, name, stage=stage).made
    np.testing.assert_array_equal(moved.mean, there.mean)
    assert moved.rows.tolist() == [3, 4, 5, 6, 7, 8]


def cells(first, n, rates, name, stage):
    sine, cosine = precision.waves_in(np.arange(first, first + n), rates, name, stage=stage)
    return (sine @ sine.T + cosine @ cosine.T) / len(rates)


@pytest.mark.parametrize("stage", STAGE.options)
@pytest.mark.parametrize("name", PRECISION.options)
def test_small_blocks_have_the_mean_of_their_cells(name, stage):
    rates = posenc.inv_freq(32)
    made = precision_scores.score_blocks(
        (0, 100), (0, 100), rates, name, stage=stage, first=700, most_rows=10, most_columns=20
    ).made
    whole = cells(700, 100, rates, name, stage)
    expected = whole.reshape(10, 10, 10, 10).mean(axis=(1, 3))
    np.testing.assert_allclose(made.mean, expected, rtol=0, atol=1e-12)
    # The extremes are those of some of the cells.
    blocks = whole.reshape(10, 10, 10, 10)
    assert (made.minimum >= blocks.min(axis=(1, 3)) - 1e-12).all()
    assert (made.maximum <= blocks.max(axis=(1, 3)) + 1e-12).all()
    assert (made.minimum <= made.mean).all()
    assert (made.maximum >= made.mean).all()
    assert not made.exact


# Largest error of an estimated mean: nothing where the exact wave is known to be what comes out.
@pytest.mark.parametrize(
    ("name", "stage", "most"),
    [
        ("float64", "chain", 1e-12),
        ("float32", "position", 1e-12),
        ("float32", "chain", 1e-5),
        ("float16", "table", 1e-4),
        ("float16", "chain", 0.04),
        ("bfloat16", "position", 0.05),
        ("bfloat16", "angle", 0.05),
    ],
)
def test_larger_blocks_have_nearly_the_mean_of_their_cells(name, stage, most):
    rates, n, each = posenc.inv_freq(64), 1200, 40
    made = precision_scores.score_blocks(
        (0, n), (0, n), rates, name, stage=stage, first=40_000, most_rows=30, most_columns=30
    ).made
    expected = cells(40_000, n, rates, name, stage).reshape(30, each, 30, each).mean(axis=(1, 3))
    assert np.abs(made.mean - expected).max() < most


def test_a_block_of_positions_that_are_one_number_has_the_score_of_that_number():
    # From 2^22 on neighbours in bfloat16 are 32,768 apart: all of these are 2^23.
    rates = posenc.inv_freq(64)
    made = precision_scores.score_blocks(
        (0, 12_000), (0, 12_000), rates, "bfloat16", stage="position", first=2**23 - 6000, most_rows=30
    ).made
    np.testing.assert_allclose(made.mean, 1, atol=1e-9)
    np.testing.assert_allclose(made.minimum, 1, atol=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [((0, 1001), (5, 300)), ((7, 60), (0, 2000))])
def test_a_last_block_is_shorter_and_the_same_blocks_are_those_of_the_exact_score(rows, columns):
    rates = posenc.inv_freq(16)
    sizes = {"most_rows": 40, "most_columns": 30}
    made, off = precision_scores.score_blocks(rows, columns, rates, "float64", **sizes)
    right = offsets.offset_blocks(precision_scores.exact_scores(rates), rows, columns, **sizes)
    np.testing.assert_array_equal(made.rows, right.rows)
    np.testing.assert_array_equal(made.columns, right.columns)
    np.testing.assert_allclose(made.mean, right.mean, atol=1e-12)
    assert off.largest == 0


def test_where_a_format_has_no_number_there_is_no_score():
    made = precision_scores.score_blocks(
        (0, 4), (0, 4), [1.0, 0.5], "float16", stage="position", first=65_518
    ).made
    assert np.isfinite(made.mean[:2, :2]).all()
    assert np.isnan(made.mean[2:]).all()
    assert np.isnan(made.mean[:, 2:]).all()
    far = precision_scores.score_blocks(
        (0, 9000), (0, 9000), [1.0], "float16", first=70_000, most_rows=9
    ).made
    assert np.isnan(far.mean).all()
    assert far.largest == 0


def test_many_pairs_make_larger_blocks_and_ten_million_positions_few():
    made = precision_scores.score_blocks(
        (0, 10_000_000), (0, 10_000_000), posenc.inv_freq(4096), "bfloat16"
    ).made
    assert 100 < len(made.mean) < 200
    assert np.isfinite(made.mean).all()
    few = precision_scores.score_blocks((0, 50), (0, 50), posenc.inv_freq(4096), "bfloat16").made
    assert few.mean.shape == (50, 50)


def test_the_matrix_is_that_of_its_cells():
    rates = posenc.inv_freq(8)
    made = precision_scores.matrix(1000, 60, rates, "bfloat16", stage="chain")
    np.testing.assert_allclose(made, cells(1000, 60, rates, "bfloat16", "chain"), atol=1e-12)


@given(st.lists(st.integers(0, 60_000), min_size=1, max_size=6), st.integers(0, 4000), rate_lists, stages)
def test_scores_along_the_positions_are_those_of_two_of_them(places, offset, rates, stage):
    made = precision_scores.score_along(places, offset, rates, "float32", stage=stage)
    expected = [score(p + offset, p, rates, "float32", stage) for p in places]
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-6)


def test_scores_along_many_positions_come_in_their_order():
    rates = posenc.inv_freq(2048)
    made = precision_scores.score_along(np.arange(1000), 2, rates, "bfloat16", stage="position")
    np.testing.assert_array_equal(
        made, precision.score_in(np.arange(1000), 2, rates, "bfloat16", stage="position")
    )


@pytest.mark.parametrize(
    ("position", "seq_len", "first"),
    [(1024, 50, 999), (0, 50, 0), (10, 50, 0), (9_999_999, 50, 9_999_950), (5, 10_000_000, 0), (7, 1, 7)],
)
def test_positions_around_one_stay_within_the_ends(position, seq_len, first):
    assert precision_scores.first_position(position, seq_len) == first


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: precision_scores.score_blocks((0, 2), (0, 2), []), "inv_freq must have one axis"),
        (lambda: precision_scores.score_blocks((0, 2), (0, 2), [1.0], "half"), "precision must be"),
        (lambda: precision_scores.score_blocks((2, 2), (0, 2), [1.0]), "rows must be two integers"),
        (lambda: precision_scores.score_blocks((0, 2), (0, 2), [1.0], first=-1), "first must be an integer"),
        (lambda: precision_scores.score_along([1], math.nan, [1.0]), "k must be a number"),
        (lambda: precision_scores.first_position(10_000_000, 3), "position must be an integer"),
        (lambda: precision_scores.exact_scores([math.inf]), "inv_freq must be finite"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


@pytest.mark.parametrize(
    ("name", "stage"), [("bfloat16", "angle"), ("bfloat16", "position"), ("float64", "chain")]
)
def test_where_no_step_rounds_there_is_no_difference_at_all(name, stage):
    # Whole angles below 256 are numbers of bfloat16; blocks of 3 positions, and of one.
    for most in (80, 240):
        made, off = precision_scores.score_blocks(
            (0, 240), (0, 240), [1.0, 1.0], name, stage=stage, most_rows=most, most_columns=most
        )
        assert off.largest == 0
        assert made.largest > 0.9
