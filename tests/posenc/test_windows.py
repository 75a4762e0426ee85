"""Relative positions in windows of cells, by loops over pairs of cells."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.buckets import bucket_bias
from posenc.windows import log_distance, swin_index, swin_log_coords, window_distances

sides = st.integers(1, 6)


@given(sides, sides)
def test_index_of_every_pair_of_cells(height, width):
    found = swin_index(height, width)
    for i, j in np.ndindex(height * width, height * width):
        (yi, xi), (yj, xj) = divmod(i, width), divmod(j, width)
        assert found[i, j] == (yi - yj + height - 1) * (2 * width - 1) + xi - xj + width - 1


def test_a_window_of_two_by_two():
    # The index of the Swin paper's code for a 2 × 2 window.
    assert swin_index(2, 2).tolist() == [[4, 3, 1, 0], [5, 4, 2, 1], [7, 6, 4, 3], [8, 7, 5, 4]]


@given(sides, sides)
def test_height_and_width_are_not_the_same_thing(height, width):
    """Transposing the window transposes the table."""
    tall, wide = swin_index(height, width), swin_index(width, height)
    order = np.arange(height * width).reshape(height, width).T.ravel()  # row-major over the other window
    rows = np.arange((2 * height - 1) * (2 * width - 1)).reshape(2 * height - 1, 2 * width - 1).T.ravel()
    np.testing.assert_array_equal(rows[wide], tall[np.ix_(order, order)])


@given(sides, sides)
def test_the_distances_are_those_of_the_index(height, width):
    distances = window_distances(height, width)
    assert distances.shape == (2 * height - 1, 2 * width - 1, 2)
    dy, dx = bucket_bias(distances.reshape(-1, 2), swin_index(height, width))
    y, x = np.divmod(np.arange(height * width), width)
    np.testing.assert_array_equal(dy, y[:, None] - y)
    np.testing.assert_array_equal(dx, x[:, None] - x)


@given(sides, sides)
def test_a_class_token_has_three_rows_of_its_own(height, width):
    found, rows = swin_index(height, width, class_token=True), (2 * height - 1) * (2 * width - 1)
    np.testing.assert_array_equal(found[1:, 1:], swin_index(height, width))
    assert set(found[0, 1:]) == {rows}
    assert set(found[1:, 0]) == {rows + 1}
    assert found[0, 0] == rows + 2


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_log_distances_keep_their_sign(distances):
    expected = [math.copysign(math.log1p(abs(d)), d) if d else 0.0 for d in distances]
    np.testing.assert_allclose(log_distance(distances), expected, rtol=1e-14)


@given(sides, sides, st.none() | st.tuples(sides, sides))
def test_coordinates_of_swin_v2_one_by_one(height, width, trained):
    found = swin_log_coords(height, width, trained=trained)
    cells = trained or (height, width)
    for a, b, axis in np.ndindex(found.shape):
        d = (a - height + 1, b - width + 1)[axis]
        c = 8 * d / max(cells[axis] - 1, 1)
        expected = math.copysign(math.log2(1 + abs(c)) / math.log2(8), c) if d else 0.0
        assert found[a, b, axis] == pytest.approx(expected, abs=1e-13)


def test_coordinates_reach_a_little_further_in_a_larger_window():
    edge = math.log(9) / math.log(8)
    assert np.abs(swin_log_coords(8, 8)).max() == pytest.approx(edge)
    # Appendix of the paper: from an 8 × 8 to a 16 × 16 window, extrapolation by 0.33 instead of 1.14.
    linear, log = 15 / 7 - 1, math.log(16) / math.log(8) - 1
    assert linear == pytest.approx(1.14, abs=5e-3)
    assert log == pytest.approx(0.33, abs=5e-3)
    assert np.abs(log_distance(window_distances(16, 16))).max() == pytest.approx(math.log(16))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: swin_index(0, 4), "height must be an integer from 1 to 128, got 0"),
        (lambda: swin_index(4, 129), "width must be an integer from 1 to 128, got 129"),
        (lambda: swin_index(64, 65), "a window must have at most 4,096 cells, got height 64 and width 65"),
        (lambda: swin_log_coords(33, 128), "a window must have at most 4,096 cells, got height 33"),
        (lambda: window_distances(4, 2.0), "width must be an integer from 1 to 128, got 2.0"),
        (lambda: log_distance([np.inf]), "distances must be finite, got inf at index 0"),
        (lambda: swin_log_coords(4, 4, trained=(4, 0)), "trained must be an integer from 1 to 1024, got 0"),
        (lambda: swin_log_coords(4, 4, trained=(4,)), "trained must be two integers"),
        (lambda: swin_log_coords(4, 4, trained=8), "trained must be two integers"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()
