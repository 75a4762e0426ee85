"""Words on the axes of a heatmap, and what several heatmaps share."""

import numpy as np
import pytest

from posenc import figures
from posenc.figures.heatmap import MAX_LABEL, MAX_SIDE


def labels(pieces, height):
    rows, columns = figures.Axis("row", "row", labels=pieces), figures.Axis("column", "column")
    axis = figures.heatmap(np.zeros((len(pieces), 2)), rows, columns, "value", height=height).layout.yaxis
    return list(axis.tickvals), list(axis.ticktext)


def test_a_long_label_is_cut_before_its_signs_are_escaped():
    assert labels(["<" * 40, "a" * MAX_LABEL], 420)[1] == ["&lt;" * 15 + "…", "a" * MAX_LABEL]


@pytest.mark.parametrize("rows", [1, 2, 22, 23, 100, 256, MAX_SIDE])
def test_labels_never_touch_and_name_their_rows(rows):
    height = figures.rows_height(rows)
    assert height <= 640
    at, names = labels([str(row) for row in range(rows)], height)
    assert names == [str(row) for row in at]
    assert at[0] == 0
    assert len(at) * 16 <= height
    assert len(at) == rows or rows > 22


def test_a_common_limit_leaves_out_the_few_largest_and_what_is_not_shown():
    first, second = np.full((10, 100), -2.0), np.full((10, 100), 1.0)
    first[0, 0] = 1e9
    assert figures.common_limit(first, second) == 2
    wide = np.ones((1, MAX_SIDE + 1000))
    wide[:, MAX_SIDE:] = 7
    assert figures.common_limit(wide) == 1
    some = np.ones(1000)
    some[:10] = 3  # one in a hundred is not a few
    assert figures.common_limit(some.reshape(20, 50)) == 3
