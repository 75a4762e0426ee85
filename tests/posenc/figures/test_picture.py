"""What heatmaps share: ends of the colour scale, heights, one limit for several."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures.picture import FURNITURE, LINE


@pytest.mark.parametrize(
    ("limit", "sequential", "ends"),
    [(2.5, False, (-2.5, 2.5)), (2.5, True, (0, 2.5)), (0.0, False, (-1, 1)), (0.0, True, (0, 1))],
)
def test_colours_are_symmetric_about_zero_or_start_there(limit, sequential, ends):
    axis = figures.Axis("", "")
    blocks = table_blocks(np.zeros((1, 1)), (0, 1), (0, 1))
    assert figures.Picture(blocks, axis, axis, "v", limit, sequential=sequential).limits == ends
    # The start that was asked for is that of a sequential scale only.
    low = figures.Picture(blocks, axis, axis, "v", limit, sequential=sequential, low=0.25).limits
    assert low == ((0.25, ends[1]) if sequential else ends)


@pytest.mark.parametrize("rows", [1, 2, 22, 23, 100, 256])
def test_every_row_has_room_for_its_label_as_long_as_there_are_not_too_many(rows):
    height = figures.rows_height(rows)
    assert height <= 640
    assert (height - FURNITURE) / rows >= LINE or height == 640
    assert figures.rows_height(rows, most=200) <= 200


def test_a_common_limit_leaves_out_the_few_largest():
    first, second = np.full((10, 100), -2.0), np.full((10, 100), 1.0)
    first[0, 0] = 1e9
    assert figures.common_limit(first, second) == 2
    some = np.ones(1000)
    some[:10] = 3  # one in a hundred is not a few
    assert figures.common_limit(some.reshape(20, 50)) == 3


def test_a_common_limit_is_that_of_the_numbers():
    holes = np.full((4, 5), np.nan)
    holes[0] = [1, -7, 7, 7, np.inf]
    assert figures.common_limit(holes, np.full((2, 2), 7.0), share=0.5) == 7
    assert figures.common_limit(np.full((2, 2), np.nan), np.array([[np.inf]])) == 1


@given(
    st.integers(1, 400),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([0.0, 0.5, 0.9, 0.995, 1.0]),
    st.sampled_from([1, 8]),
    st.integers(0, 2**32 - 1),
)
def test_a_common_limit_is_the_quantile_to_the_last_digit(count, dtype, share, digits, seed):
    values = np.random.default_rng(seed).normal(size=(1, count)).round(digits).astype(dtype)
    before = values.copy()
    assert figures.common_limit(values, share=share) == float(np.quantile(np.abs(values), share))
    np.testing.assert_array_equal(values, before)
