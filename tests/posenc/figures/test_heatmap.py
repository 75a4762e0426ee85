"""What a heatmap shows is the matrix: right way up, colours centred, never too many cells."""

import numpy as np
import pytest

import posenc
from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures import MAX_SIDE, Axis


def draw(matrix, **more):
    return figures.heatmap(
        np.asarray(matrix), Axis("Position", "position"), Axis("Dimension", "dim"), "v", **more
    )


def test_the_matrix_is_drawn_as_it_is_with_position_0_on_top():
    matrix = np.arange(6.0).reshape(2, 3)
    figure = draw(matrix)
    np.testing.assert_array_equal(figure.data[0].z, matrix)
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        assert tuple(axis.range) == (1.5, -0.5)
    for axis in (figure.layout.xaxis, figure.layout.xaxis2):
        assert tuple(axis.range) == (-0.5, 2.5)


@pytest.mark.parametrize(
    ("matrix", "limit"),
    [([[-0.2, 1.0]], 1.0), ([[-3.0, 1.0]], 3.0), ([[0.0, 0.0]], 1.0), ([[np.nan, -2.0]], 2.0)],
)
def test_colours_are_symmetric_about_zero(matrix, limit):
    trace = draw(matrix).data[0]
    assert (trace.zmin, trace.zmax) == (-limit, limit)


def test_a_matrix_of_nothing_but_holes_is_drawn():
    trace = draw([[np.nan, np.inf]]).data[0]
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_a_sequential_scale_starts_at_zero():
    trace = draw([[1.0, 5.0]], sequential=True).data[0]
    assert (trace.zmin, trace.zmax) == (0, 5)
    assert trace.colorscale != draw([[1.0, 5.0]]).data[0].colorscale  # no colour stands for zero in between


def test_a_given_limit_is_kept():
    trace = draw([[0.1, 0.2]], limit=1.0).data[0]
    assert (trace.zmin, trace.zmax) == (-1, 1)


def test_never_more_cells_than_the_limit_and_as_float32():
    figure = draw(
        np.zeros((MAX_SIDE + 1, MAX_SIDE + 9)), cell=("angle", np.zeros((MAX_SIDE + 1, MAX_SIDE + 9)))
    )
    trace = figure.data[0]
    assert trace.z.shape == trace.customdata.shape == (MAX_SIDE, MAX_SIDE)
    assert trace.z.dtype == trace.customdata.dtype == np.float32
    assert len(figure.layout.xaxis2.ticktext) == MAX_SIDE


def test_the_hover_names_row_column_value_and_the_extra_number():
    figure = figures.heatmap(
        np.eye(2),
        Axis("Position", "position", first=5),
        Axis("Dimension", "dimension", hover=["sine", "cosine"]),
        "value",
        cell=("angle", np.full((2, 2), 0.5)),
    )
    trace = figure.data[0]
    assert list(figure.layout.yaxis2.ticktext) == ["position 5", "position 6"]
    assert list(figure.layout.xaxis2.ticktext) == ["dimension 0<br>sine", "dimension 1<br>cosine"]
    assert "value: <b>%{z" in trace.hovertemplate
    assert "angle: %{customdata" in trace.hovertemplate
    assert (trace.xaxis, trace.yaxis) == ("x2", "y2")
    assert (trace.x0, trace.y0) == (0, 5)
    for axis in (figure.layout.yaxis, figure.layout.yaxis2):
        assert tuple(axis.range) == (6.5, 4.5)
    assert trace.hoverongaps is False


def test_labels_stand_at_their_rows():
    figure = figures.heatmap(np.eye(2), Axis("Piece", "position", labels=["a", "b"]), Axis("d", "d"), "value")
    assert list(figure.layout.yaxis.ticktext) == ["a", "b"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1]
    assert list(figure.layout.yaxis2.ticktext) == ["position 0<br>a", "position 1<br>b"]


def test_square_cells_shrink_cells_and_ticks_alike():
    drawn = draw(np.eye(3), square=True).layout
    for x, y in ((drawn.xaxis, drawn.yaxis), (drawn.xaxis2, drawn.yaxis2)):
        assert (x.constrain, x.constraintoward) == ("domain", "left")
        assert (y.constrain, y.constraintoward) == ("domain", "top")
    assert drawn.yaxis.scaleanchor == "x"
    assert draw(np.eye(3)).layout.yaxis.scaleanchor is None


def test_blocks_are_drawn_where_they_lie_with_their_mean_and_extremes():
    table = np.arange(24.0).reshape(6, 4)
    blocks = table_blocks(table, (1, 6), (0, 4), most_rows=3, most_columns=2)
    figure = figures.block_map(
        blocks,
        Axis("Position", "position"),
        Axis("Dimension", "dim"),
        "mean",
        ("least", "greatest"),
        limit=24,
    )
    trace = figure.data[0]
    np.testing.assert_array_equal(trace.z, [[6.5, 8.5], [14.5, 16.5], [20.5, 22.5]])
    np.testing.assert_array_equal(trace.customdata[0], [[4, 9], [6, 11]])
    np.testing.assert_array_equal(trace.y, [0.5, 2.5, 4.5, 5.5])  # the edges: the last block is shorter
    np.testing.assert_array_equal(trace.x, [-0.5, 1.5, 3.5])
    assert (trace.zmin, trace.zmax) == (-24, 24)
    assert list(figure.layout.yaxis2.ticktext) == ["position 1–2", "position 3–4", "position 5"]
    assert list(figure.layout.yaxis2.tickvals) == [1.5, 3.5, 5.0]
    assert tuple(figure.layout.yaxis.range) == (5.5, 0.5)
    assert "least: %{customdata[0]" in trace.hovertemplate
    assert "greatest: %{customdata[1]" in trace.hovertemplate


def test_what_a_block_picture_sends_does_not_depend_on_the_table():
    def sent(rows):
        blocks = posenc.sinusoid_blocks((0, rows), (0, 2048), 2048)
        trace = figures.block_map(blocks, Axis("p", "p"), Axis("d", "d"), "v", ("a", "b"), limit=1).data[0]
        assert trace.z.dtype == trace.customdata.dtype == np.float32
        return trace.z.shape

    assert sent(10_000_000)[0] <= 400
    assert sent(10_000_000)[1] <= 800
    assert sent(4000) == sent(10_000_000)
