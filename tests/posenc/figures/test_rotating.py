"""Two clocks carry their places with them, and show the hands and scores that they were given."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from posenc import motion
from posenc.figures import Face, Words, rotating


def numbers(packed):
    """Read an array as the browser does: typed bytes, or a list."""
    if not isinstance(packed, dict):
        return np.asarray(packed, dtype=float)
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=f"<{packed['dtype']}").astype(float)


def made(moves="both", q=(1.0, 2.0, 3.0, 4.0), k=(4.0, 3.0, 2.0, 1.0)):
    found = motion.rotations(np.array(q), np.array(k), 5, 2, 1, moves=moves, reach=20)
    faces = Face("q at p", found.rest[0], found.q), Face("k at p′", found.rest[1], found.k)
    curves = {"all": found.scores, "one": found.own}
    figure = rotating(
        found.steps,
        faces,
        curves,
        found.bound,
        ("steps", "score"),
        ("was", "is", "other"),
        Words("moved", "go", "stop"),
    )
    return found, json.loads(plotly.io.to_json(figure))


def test_what_is_sent_is_a_figure_to_plotly():
    found, spec = made()
    figure = go.Figure(spec)
    assert len(figure.frames) == len(figure.layout.sliders[0].steps) == len(found.steps) == 21
    titles = figure.layout.xaxis2.title.text, figure.layout.xaxis3.title.text
    assert titles == ("q at p", "k at p′")
    # Each name once in the legend, hands of one clock only.
    named = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert sorted(named) == sorted(["all", "one", "was", "is", "other"])


@pytest.mark.parametrize("moves", motion.MOVES.options)
def test_hands_and_scores_are_those_given_at_every_stop(moves):
    found, spec = made(moves)
    for step, frame in enumerate(spec["frames"]):
        traces = {}
        for at, part in zip(frame["traces"], frame["data"], strict=True):
            trace = spec["data"][at] | part
            traces[trace.get("name", "mark"), trace.get("xaxis", "x")] = trace
        for name, axis, hand in (
            ("is", "x2", found.q),
            ("other", "x2", found.k),
            ("is", "x3", found.k),
            ("other", "x3", found.q),
        ):
            tip = [numbers(traces[name, axis][side])[1] for side in "xy"]
            np.testing.assert_allclose(tip, hand[step], rtol=1e-6)
            assert [numbers(traces[name, axis][side])[0] for side in "xy"] == [0, 0]
        mark = traces["mark", "x"]
        assert numbers(mark["x"]).tolist() == [step] * 3
        assert numbers(mark["y"])[1] == pytest.approx(found.scores[step], rel=1e-6)
        assert float(mark["text"][2].replace("−", "-")) == pytest.approx(found.scores[step], rel=1e-3)
    for trace, values in zip(spec["data"], (found.scores, found.own), strict=False):
        np.testing.assert_allclose(numbers(trace["y"]), values, rtol=1e-6)


def test_hands_before_any_rotation_stand_still_and_rims_are_as_far_as_hands_are_long():
    found, spec = made()
    moving = set(spec["frames"][0]["traces"])
    for axis, rest in (("x2", found.rest[0]), ("x3", found.rest[1])):
        (was,) = (t for t in spec["data"] if t.get("xaxis") == axis and t.get("name") == "was")
        assert spec["data"].index(was) not in moving
        assert [was["x"][1], was["y"][1]] == rest.tolist()
        (rim,) = (t for t in spec["data"] if t.get("xaxis") == axis and "name" not in t)
        np.testing.assert_allclose(np.hypot(numbers(rim["x"]), numbers(rim["y"])), np.hypot(*rest), rtol=1e-6)
        assert spec["layout"][f"yaxis{axis[1]}"]["scaleanchor"] == axis


def test_all_hands_and_all_scores_are_in_sight():
    found, spec = made("query")
    low, high = spec["layout"]["xaxis2"]["range"]
    assert low == -high
    assert high > np.hypot(*found.q.T).max()
    low, high = spec["layout"]["yaxis"]["range"]
    assert low == -high
    assert high > found.bound >= np.abs(found.scores).max()


def test_hands_without_length_are_drawn_all_the_same():
    _, spec = made(q=(0.0,) * 4, k=(0.0,) * 4)
    assert spec["layout"]["xaxis2"]["range"] == [-1, 1]
    assert spec["layout"]["yaxis"]["range"] == [-1, 1]
    assert spec["frames"][3]["data"][-1]["text"][2] == "0"
