"""What a heatmap shows is the matrix: right way up, colours centred, never too many cells."""

import numpy as np
import pytest

from posenc import figures
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
