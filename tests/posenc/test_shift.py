import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.parameters import LAYOUT
from posenc.shift import angle, complete_pairs, far, first_rise, offset_cosine, shift
from posenc.sinusoidal import shift_matrix, sinusoidal

WIDTHS = st.integers(2, 33)
BASES = st.sampled_from([1.0, 10.0, 500.5, 10_000.0])
SHIFTS = st.one_of(st.integers(-64, 64), st.floats(-64, 64))


def mean_of_cosines(k, d_model, base):
    """The sum of the paper's cosines, in scalar arithmetic; the last sine of an odd width is left out."""
    n_pairs = d_model // 2
    return math.fsum(math.cos(k / base ** (2 * i / d_model)) for i in range(n_pairs)) / n_pairs


@given(WIDTHS, BASES, SHIFTS)
def test_offset_cosine_is_the_scalar_sum(d_model, base, k):
    found = offset_cosine([k], d_model, base=base)
    assert found == pytest.approx(mean_of_cosines(k, d_model, base), abs=1e-12)


@given(st.integers(1, 16).map(lambda half: 2 * half), BASES, st.integers(-50, 50), st.integers(0, 50))
def test_offset_cosine_is_the_cosine_of_any_two_rows_so_far_apart(d_model, base, k, p):
    first, second = sinusoidal([p, p + k], d_model, base=base, dtype="float64")
    expected = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
    assert offset_cosine([k], d_model, base=base)[0] == pytest.approx(expected, abs=1e-12)


def test_offset_cosine_counts_offsets_from_zero():
    np.testing.assert_array_equal(offset_cosine(3, 8), offset_cosine([0, 1, 2], 8))
    assert offset_cosine(1, 8)[0] == 1


# Known numbers: measured for the formula by independent code.
@pytest.mark.parametrize(("d_model", "offset"), [(64, 6), (128, 12), (512, 44)])
def test_similarity_does_not_fall_for_ever(d_model, offset):
    assert first_rise(d_model) == offset
    falling = [mean_of_cosines(k, d_model, 10_000.0) for k in range(offset + 1)]
    assert all(before > after for before, after in pairwise(falling[:-1]))
    assert falling[-1] > falling[-2]


@pytest.mark.parametrize("base", [1.0, 1.001, 100.0, 10_000.0, 1e9])
@pytest.mark.parametrize("d_model", [2, 3, 5, 100, 4096])
def test_every_width_and_base_rises_somewhere(d_model, base):
    offset = first_rise(d_model, base=base)
    assert mean_of_cosines(offset, d_model, base) > mean_of_cosines(offset - 1, d_model, base)


def test_nothing_repeats_at_the_base_or_at_its_turn():
    found = far(512)
    assert (found.base_offset, found.turn_offset) == (10_000, 62_832)
    assert round(found.at_turn, 2) == -0.07
    assert found.at_base == pytest.approx(mean_of_cosines(10_000, 512, 10_000.0), abs=1e-9)
    assert found.at_turn == pytest.approx(mean_of_cosines(62_832, 512, 10_000.0), abs=1e-9)
    assert found.highest < 0.23
    assert found.highest == pytest.approx(mean_of_cosines(found.highest_offset, 512, 10_000.0), abs=1e-9)
    assert found.late == 1000
    late = found.offset >= found.late
    assert found.highest == found.cosine[late].max()
    assert (found.offset == found.offset.round()).all()
    assert (np.diff(found.offset) > 0).all()
    assert found.offset[-1] == 10 * 62_832


@given(WIDTHS, st.sampled_from([1.0, 1.01, 2.0, 1e9]))
def test_far_is_defined_for_every_base(d_model, base):
    found = far(d_model, base=base, count=50)
    assert np.isfinite(found.cosine).all()
    assert found.highest_offset >= 1
    assert max(found.at_base, found.at_turn, found.highest) <= 1


@given(SHIFTS, st.integers(1, 16).map(lambda half: 2 * half), BASES, st.sampled_from(LAYOUT.options))
def test_an_even_width_is_shifted_by_its_matrix(k, d_model, base, layout):
    found = shift(k, 20, d_model, base=base, layout=layout)
    matrix = shift_matrix(k, d_model, base=base, layout=layout)
    table = sinusoidal(20, d_model, base=base, layout=layout, dtype="float64")
    np.testing.assert_allclose(found.corner, matrix, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.moved, table @ matrix.T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.before, table, rtol=0, atol=1e-14)
    after = sinusoidal(np.arange(20) + k, d_model, base=base, layout=layout, dtype="float64")
    np.testing.assert_allclose(found.after, after, rtol=0, atol=1e-14)
    assert found.error == np.abs(found.moved - found.after).max() < 1e-13


@given(SHIFTS, st.integers(1, 16).map(lambda half: 2 * half + 1), BASES, st.sampled_from(LAYOUT.options))
def test_of_an_odd_width_all_but_the_last_sine_is_shifted(k, d_model, base, layout):
    found = shift(k, 20, d_model, base=base, layout=layout)
    lonely = {"interleaved": d_model - 1, "sin_cos": d_model // 2, "cos_sin": d_model - 1}[layout]
    rest = np.delete(np.arange(d_model), lonely)
    assert np.isnan(found.corner[lonely]).all()
    assert np.isnan(found.corner[:, lonely]).all()
    assert np.isnan(found.moved[:, lonely]).all()
    whole = found.before[:, rest] @ found.corner[np.ix_(rest, rest)].T
    np.testing.assert_allclose(found.moved[:, rest], whole, rtol=0, atol=1e-14)
    np.testing.assert_allclose(whole, found.after[:, rest], rtol=0, atol=1e-13)
    assert found.error < 1e-13


def test_the_corner_is_cut_and_the_error_is_of_all_columns():
    found = shift(5, 3, 64, layout="sin_cos", size=10)
    np.testing.assert_allclose(found.corner, shift_matrix(5, 64, layout="sin_cos")[:10, :10], atol=1e-15)
    assert found.moved.shape == (3, 64)
    np.testing.assert_allclose(found.angles, [5 / 10_000 ** (2 * i / 64) for i in range(32)], rtol=1e-14)


def test_rows_of_one_position():
    found = shift(2, 9, 4)
    expected = [found.before[7], found.moved[7], found.after[7]]
    np.testing.assert_array_equal(found.rows(7), expected)


@pytest.mark.parametrize("call", [lambda: offset_cosine(3, 1), lambda: first_rise(1), lambda: shift(1, 3, 1)])
def test_width_one_has_no_pair(call):
    with pytest.raises(ValueError, match=r"^d_model must be at least 2, .*, got 1$"):
        call()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((math.nan, 3, 4), "k must be a number"),
        ((1, 0, 4), "positions must be an integer"),
        ((1, 3, 0), "d_model must be an integer"),
    ],
)
def test_a_bad_argument_is_named(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        shift(*arguments)


def test_pairs_and_their_hands():
    assert [complete_pairs(d_model) for d_model in (1, 2, 7, 128)] == [0, 1, 3, 64]
    assert angle(-3.5, 2, 8, base=100.0) == pytest.approx(-3.5 / 10)
