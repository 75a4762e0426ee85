import math
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.parameters import LAYOUT
from posenc.shift import angle, complete_pairs, far, first_rise, offset_cosine, shift, shift_blocks
from posenc.sinusoidal import shift_matrix, sinusoidal
from tests.posenc.test_blocks import loop, records

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


def rotations(k, d_model, base, layout):
    """M_k, one pair after another; what stands beside a sine without a cosine is no number."""
    matrix, sines = np.zeros((d_model, d_model)), (d_model + 1) // 2
    for i in range(sines):
        sine, cosine = {
            "interleaved": (2 * i, 2 * i + 1),
            "sin_cos": (i, sines + i),
            "cos_sin": (d_model // 2 + i, i),
        }[layout]
        if i == d_model // 2:
            matrix[sine] = matrix[:, sine] = math.nan
            break
        c, s = math.cos(k / base ** (2 * i / d_model)), math.sin(k / base ** (2 * i / d_model))
        matrix[sine, sine], matrix[sine, cosine], matrix[cosine, sine], matrix[cosine, cosine] = c, s, -s, c
    return matrix


@given(SHIFTS, st.integers(1, 16).map(lambda half: 2 * half), BASES, st.sampled_from(LAYOUT.options))
def test_an_even_width_is_shifted_by_its_matrix(k, d_model, base, layout):
    found = shift(k, 20, d_model, base=base, layout=layout)
    matrix = shift_matrix(k, d_model, base=base, layout=layout)
    np.testing.assert_allclose(matrix, rotations(k, d_model, base, layout), rtol=0, atol=1e-13)
    table = sinusoidal(20, d_model, base=base, layout=layout, dtype="float64")
    np.testing.assert_allclose(found.moved, table @ matrix.T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.before, table, rtol=0, atol=1e-14)
    after = sinusoidal(np.arange(20) + k, d_model, base=base, layout=layout, dtype="float64")
    np.testing.assert_allclose(found.after, after, rtol=0, atol=1e-14)
    assert found.error == np.abs(found.moved - found.after).max() < 1e-13


@given(SHIFTS, st.integers(1, 16).map(lambda half: 2 * half + 1), BASES, st.sampled_from(LAYOUT.options))
def test_of_an_odd_width_all_but_the_last_sine_is_shifted(k, d_model, base, layout):
    found = shift(k, 20, d_model, base=base, layout=layout)
    matrix = rotations(k, d_model, base, layout)
    rest = ~np.isnan(matrix.diagonal())
    assert np.count_nonzero(~rest) == 1
    assert np.isnan(found.moved[:, ~rest]).all()
    whole = found.before[:, rest] @ matrix[np.ix_(rest, rest)].T
    np.testing.assert_allclose(found.moved[:, rest], whole, rtol=0, atol=1e-13)
    np.testing.assert_allclose(whole, found.after[:, rest], rtol=0, atol=1e-13)
    assert found.error < 1e-13


def test_the_error_is_of_all_columns():
    found = shift(5, 3, 64, layout="sin_cos")
    assert found.moved.shape == (3, 64)
    np.testing.assert_allclose(found.angles, [5 / 10_000 ** (2 * i / 64) for i in range(32)], rtol=1e-14)


@given(SHIFTS, WIDTHS, BASES, st.sampled_from(LAYOUT.options), st.data())
def test_blocks_of_the_shift_matrix_are_those_of_the_matrix(k, d_model, base, layout, data):
    def some(least, most):
        return data.draw(st.integers(least, most))

    top, left = some(0, d_model - 1), some(0, d_model - 1)
    view = (top, some(top + 1, d_model)), (left, some(left + 1, d_model))
    most = {"most_rows": some(1, 12), "most_columns": some(1, 12)}
    blocks = shift_blocks(k, *view, d_model, base=base, layout=layout, **most)
    cells = rotations(k, d_model, base, layout)[slice(*view[0]), slice(*view[1])]
    assert (blocks.rows[0], blocks.rows[-1]) == view[0]
    assert (blocks.columns[0], blocks.columns[-1]) == view[1]
    np.testing.assert_allclose(records(blocks), loop(cells, blocks.rows, blocks.columns), rtol=0, atol=1e-13)


def test_all_of_a_shift_matrix_is_that_matrix():
    blocks = shift_blocks(3, (0, 128), (0, 128), 128)
    assert blocks.single
    np.testing.assert_allclose(blocks.mean, shift_matrix(3, 128), rtol=0, atol=1e-15)
    assert shift_blocks(0, (0, 128), (0, 128), 128).mean.tolist() == np.eye(128).tolist()


def test_a_wide_shift_matrix_is_never_made():
    tracemalloc.start()
    blocks = shift_blocks(5, (0, 16_384), (0, 16_384), 16_384)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * 2**20  # the matrix would be 2 GiB
    assert (blocks.rows_each, blocks.columns_each) == (41, 21)
    # Rows 41–81 hold columns 42–62 whole: their pairs 21–30, beside 21 × 41 cells' worth of zeros.
    angles = [5 / 10_000 ** (2 * i / 16_384) for i in range(21, 31)]
    total = math.fsum(2 * math.cos(angle) for angle in angles)
    odd_out = math.cos(5 / 10_000 ** (2 * 31 / 16_384))  # column 62 is the sine of pair 31; rows 62 and 63
    total += odd_out - math.sin(5 / 10_000 ** (2 * 31 / 16_384))
    assert blocks.mean[1, 2] == pytest.approx(total / (41 * 21), rel=1e-12)
    assert blocks.minimum[0, -1] == blocks.maximum[0, -1] == 0  # far from the diagonal


@pytest.mark.parametrize(
    "call",
    [
        lambda: offset_cosine(3, 1),
        lambda: first_rise(1),
        lambda: shift(1, 3, 1),
        lambda: shift_blocks(1, (0, 1), (0, 1), 1),
    ],
)
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": math.inf}, "k must be a number"),
        ({"rows": (0, 9)}, "rows must be two integers"),
        ({"columns": (4, 4)}, "columns must be two integers"),
        ({"most_rows": 0}, "most_rows must be an integer"),
        ({"most_columns": 2.5}, "most_columns must be an integer"),
        ({"layout": "x"}, "layout must be "),
        ({"d_model": 16_385}, "d_model must be an integer"),
    ],
)
def test_a_bad_view_of_the_shift_matrix_is_named(change, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        shift_blocks(**({"k": 1, "rows": (0, 8), "columns": (0, 8), "d_model": 8} | change))


def test_pairs_and_their_hands():
    assert [complete_pairs(d_model) for d_model in (1, 2, 7, 128)] == [0, 1, 3, 64]
    assert angle(-3.5, 2, 8, base=100.0) == pytest.approx(-3.5 / 10)
