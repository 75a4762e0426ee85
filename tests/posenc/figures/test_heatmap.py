"""A heatmap for a notebook shows the blocks where they lie: right way up, colours centred, in float32."""

import numpy as np
import pytest

import posenc
from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures import Axis, Picture


def draw(blocks, rows=None, columns=None, limit=1.0, **look):
    names = rows or Axis("Position", "position"), columns or Axis("Dimension", "dim")
    return figures.heatmap(Picture(blocks, *names, "v", limit, **look))


def all_of(matrix):
    matrix = np.asarray(matrix, dtype=float)
    return table_blocks(matrix, *((0, size) for size in matrix.shape))


def test_the_matrix_is_drawn_as_it_is_with_position_0_on_top():
    matrix = np.arange(6.0).reshape(2, 3)
    figure = draw(all_of(matrix))
    np.testing.assert_array_equal(figure.data[0].z, matrix)
    assert tuple(figure.layout.yaxis.range) == (1.5, -0.5)
    assert tuple(figure.layout.xaxis.range) == (-0.5, 2.5)
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == ("Position", "Dimension")
    assert figure.data[0].customdata is None


@pytest.mark.parametrize(("sequential", "ends"), [(False, (-3, 3)), (True, (0, 3))])
def test_the_colours_are_those_of_the_picture(sequential, ends):
    trace = draw(all_of([[1.0, 2.0]]), limit=3.0, sequential=sequential).data[0]
    assert (trace.zmin, trace.zmax) == ends
    assert len(trace.colorscale) == (10 if sequential else 9)
    assert trace.colorbar.title.text == "v"


def test_blocks_are_drawn_where_they_lie_with_their_mean_and_extremes():
    table = np.arange(24.0).reshape(6, 4)
    blocks = table_blocks(table, (1, 6), (0, 4), most_rows=3, most_columns=2)
    figure = draw(blocks, Axis("Position", "position", first=100), limit=24.0)
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, [[6.5, 8.5], [14.5, 16.5], [20.5, 22.5]])
    np.testing.assert_array_equal(trace.customdata[0], [[4, 9], [6, 11]])
    np.testing.assert_array_equal(trace.y, [100.5, 102.5, 104.5, 105.5])  # edges: the last block is shorter
    np.testing.assert_array_equal(trace.x, [-0.5, 1.5, 3.5])
    assert tuple(figure.layout.yaxis.range) == (105.5, 100.5)
    for part in ("position %{y}", "dim %{x}", "v: <b>%{z:", "%{customdata[0]:", "%{customdata[1]:"):
        assert part in trace.hovertemplate
    assert trace.hoverongaps is False


def test_labels_stand_at_their_rows_and_are_no_tags():
    rows = Axis("Piece", "position", first=7, labels=["a", "<b>", "c", "&"])
    figure = draw(table_blocks(np.eye(4), (1, 4), (0, 4)), rows)
    assert list(figure.layout.yaxis.tickvals) == [8, 9, 10]
    assert list(figure.layout.yaxis.ticktext) == ["&lt;b&gt;", "c", "&amp;"]
    assert figure.layout.xaxis.ticktext is None


def test_square_cells_stay_in_their_corner():
    drawn = draw(all_of(np.eye(3)), square=True, height=333).layout
    assert (drawn.xaxis.constrain, drawn.xaxis.constraintoward) == ("domain", "left")
    assert (drawn.yaxis.constrain, drawn.yaxis.constraintoward) == ("domain", "top")
    assert drawn.yaxis.scaleanchor == "x"
    assert drawn.height == 333
    assert draw(all_of(np.eye(3))).layout.yaxis.scaleanchor is None


def test_what_is_sent_does_not_depend_on_the_table():
    def sent(rows):
        trace = draw(posenc.sinusoid_blocks((0, rows), (0, 2048), 2048)).data[0]
        assert trace.z.dtype == trace.customdata.dtype == np.float32
        return trace.z.shape

    assert sent(10_000_000)[0] <= 400
    assert sent(10_000_000)[1] <= 800
    assert sent(4000) == sent(10_000_000)
