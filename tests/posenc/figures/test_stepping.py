"""A sine and what comes out of rounding: the curves, and at every stop of the slider the two hands."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from posenc import precision_ranges
from posenc.figures import Words, stepping


def numbers(packed):
    """Read an array as the browser does: typed bytes, or a list."""
    if not isinstance(packed, dict):
        return np.asarray(packed, dtype=float)
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=f"<{packed['dtype']}").astype(float)


def made(position=1024, precision="bfloat16"):
    found = precision_ranges.near(position, 3, 16, precision)
    figure = stepping(
        found.span,
        found.exact,
        found.positions,
        (found.right, found.made),
        found.start,
        ("as it is", "rounded"),
        ("position", "sine"),
        ("cos", "sin"),
        Words("moves", "go", "stop"),
    )
    return found, json.loads(plotly.io.to_json(figure))


def test_what_is_sent_is_a_figure_to_plotly_that_opens_at_the_position():
    found, spec = made()
    figure = go.Figure(spec)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps) == len(found.positions)
    assert figure.frames[figure.layout.sliders[0].active].name == "1024"
    named = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert named == ["as it is", "rounded"]


def test_the_curves_are_the_sines_given():
    found, spec = made()
    curve, steps = spec["data"][:2]
    assert curve["x0"] == found.span[0]
    assert curve["x0"] + curve["dx"] * (len(found.exact) - 1) == pytest.approx(found.span[1])
    np.testing.assert_allclose(numbers(curve["y"]), found.exact, atol=1e-6)
    np.testing.assert_array_equal(numbers(steps["x"]), found.positions)
    np.testing.assert_allclose(numbers(steps["y"]), found.made[:, 0], atol=1e-6)


def test_at_every_stop_the_hands_point_where_they_should():
    found, spec = made()
    for position, right, rounded, frame in zip(
        found.positions, found.right, found.made, spec["frames"], strict=True
    ):
        here, exact, hand = frame["data"]
        assert frame["name"] == str(position)
        np.testing.assert_array_equal(numbers(here["x"]), [position] * 4)
        np.testing.assert_allclose(numbers(here["y"])[1:3], [right[0], rounded[0]], atol=1e-6)
        for drawn, (sine, cosine) in ((exact, right), (hand, rounded)):
            np.testing.assert_allclose(numbers(drawn["x"]), [0, cosine], atol=1e-6)
            np.testing.assert_allclose(numbers(drawn["y"]), [0, sine], atol=1e-6)


def test_what_has_no_number_leaves_a_gap():
    _, spec = made(70_000, "float16")
    assert np.isnan(numbers(spec["data"][1]["y"])).all()
    go.Figure(spec)
