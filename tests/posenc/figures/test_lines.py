"""Curves, bars, clocks and paths show the numbers that they were given."""

import numpy as np

from posenc import figures


def test_series_has_a_named_curve_for_each_and_a_legend_only_for_several():
    one = figures.series([0, 1, 2], {"a": np.array([1.0, 2, 4])}, "x", "y", log_y=True)
    assert not one.layout.showlegend
    assert one.layout.yaxis.type == "log"
    two = figures.series([0, 1], {"a": np.array([1.0, 2]), "b": np.array([3.0, 4])}, "x", "y")
    assert two.layout.showlegend
    assert [trace.name for trace in two.data] == ["a", "b"]
    np.testing.assert_array_equal(two.data[1].y, [3, 4])
    assert len({trace.line.color for trace in two.data}) == 2


def test_a_logarithmic_axis_has_few_labels_where_all_nine_digits_would_stand_over_one_another():
    def labels(*ends: float, log_y: bool = True) -> object:
        curves = {"a": np.array([0.0, *ends]), "b": np.array([ends[0]])}
        return (
            figures.series([0, 1, 2], curves, "x", "y", log_y=log_y)
            .to_dict()["layout"]["yaxis"]
            .get("nticks")
        )

    assert labels(0.04, 1.4) == labels(1, 99) == 3
    assert labels(1, 100) is labels(1e-4, 1) is labels(0.04, 1.4, log_y=False) is None
    assert figures.series([], {}, "x", "y", log_y=True).layout.yaxis.type == "log"


def test_marks_are_lines_at_their_values_with_their_names():
    figure = figures.series(
        [1, 9], {"a": np.array([1.0, 9])}, "x", "y", marks_y={"2π": 6.28}, marks_x={"here": 3}
    )
    by_name = {shape.label.text: shape for shape in figure.layout.shapes}
    assert by_name["2π"].y0 == by_name["2π"].y1 == 6.28
    assert by_name["here"].x0 == by_name["here"].x1 == 3


def test_a_band_lies_between_its_lower_and_upper_edge():
    figure = figures.band({"a": (np.arange(3), np.ones(3), np.zeros(3), np.full(3, 2.0))}, "offset", "cosine")
    lower, upper, middle = figure.data
    assert (lower.y[0], upper.y[0], middle.y[0]) == (0, 2, 1)
    assert upper.fill == "tonexty"
    np.testing.assert_array_equal(middle.customdata, [[0, 2]] * 3)


def test_bars_stand_at_their_places():
    figure = figures.bars({"sine": (np.array([0, 2]), np.array([0.5, -0.5]))}, "dimension", "value")
    np.testing.assert_array_equal(figure.data[0].x, [0, 2])
    np.testing.assert_array_equal(figure.data[0].y, [0.5, -0.5])


def test_a_path_is_coloured_by_position():
    figure = figures.path(np.array([0.0, 1, 2]), np.array([5.0, 6, 7]), "pc 1", "pc 2", "position")
    np.testing.assert_array_equal(figure.data[0].marker.color, [0, 1, 2])
    np.testing.assert_array_equal(figure.data[0].y, [5, 6, 7])


def test_a_curve_can_be_dashed_to_be_seen_over_another():
    drawn = figures.series([0, 1], {"a": np.ones(2), "b": np.ones(2)}, "x", "y", dashed=("b",))
    assert [curve.line.dash for curve in drawn.data] == ["solid", "dash"]


def test_a_band_may_stand_on_a_logarithmic_axis():
    curves = {"a": (np.arange(1, 4), np.ones(3), np.zeros(3), np.full(3, 2.0))}
    assert figures.band(curves, "x", "y").layout.xaxis.type == "linear"
    assert figures.band(curves, "x", "y", log_x=True).layout.xaxis.type == "log"
