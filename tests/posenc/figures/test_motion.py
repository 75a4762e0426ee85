"""A figure that moves carries its places with it: only what moves, in few bytes, as it was given."""

import base64
import json

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from posenc import motion
from posenc.figures import Words, shifting, turning

WORDS = Words("place", "go", "stop")


def turn(position=10, seq_len=50, pair=4, d_model=128):
    span, sine, cosine, *rest = motion.waves(position, seq_len, pair, d_model)
    return turning(span, {"S": sine, "C": cosine}, *rest, ("position", "value"), ("cos", "sin"), WORDS)


def move(d_model=8, position=3, pair=1, k=5, **more):
    found = motion.shifts(position, pair, d_model, **more)
    vectors = dict(zip(("a", "b", "c"), (found.before, found.moved, found.after), strict=True))
    hands, start = (found.here, found.there), list(found.offsets).index(k)
    return shifting(found.offsets, vectors, hands, start, ("dim", "value"), ("cos", "sin"), WORDS)


def numbers(packed):
    """Read an array as the browser does: typed bytes, or a list."""
    if not isinstance(packed, dict):
        return np.asarray(packed, dtype=float)
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=f"<{packed['dtype']}").astype(float)


def sent(figure):
    return json.loads(plotly.io.to_json(figure))


def names_of_axes(figure):
    return {(trace.get("xaxis", "x"), trace.get("yaxis", "y")) for trace in figure["data"]}


@pytest.mark.parametrize("figure", [turn(), turn(9_999_990, 10_000_000, 60), move(), move(200)])
def test_what_is_sent_is_a_figure_to_plotly(figure):
    spec = sent(figure)
    read = go.Figure(spec)  # would raise for a name that plotly does not know
    assert len(read.frames) == len(read.layout.sliders[0].steps) > 1
    assert list(figure.to_dict()["frames"]) == spec["frames"]


@pytest.mark.parametrize("figure", [turn(), move()])
def test_every_step_leads_to_its_frame_at_once_without_drawing_anew(figure):
    spec = sent(figure)
    for frame, step in zip(spec["frames"], spec["layout"]["sliders"][0]["steps"], strict=True):
        names, how = step["args"]
        assert step["method"] == "animate"
        assert names == [frame["name"]]
        assert how["frame"] == {"duration": 0, "redraw": False}
        assert how["transition"] == {"duration": 0}
        assert how["mode"] == "immediate"
    assert len({frame["name"] for frame in spec["frames"]}) == len(spec["frames"])


@pytest.mark.parametrize("figure", [turn(), move()])
def test_a_frame_holds_what_moves_and_nothing_else(figure):
    spec = sent(figure)
    (moving,) = {tuple(frame["traces"]) for frame in spec["frames"]}
    for at in range(len(spec["data"])):
        series = {
            json.dumps(frame["data"][moving.index(at)]) if at in moving else "" for frame in spec["frames"]
        }
        assert (len(series) > 1) == (at in moving)
    assert {key for frame in spec["frames"] for part in frame["data"] for key in part} == {"x", "y"}


@pytest.mark.parametrize(("figure", "start"), [(turn(), 10), (turn(0), 0), (move(k=-64), 0), (move(k=5), 69)])
def test_a_figure_opens_at_its_start(figure, start):
    spec = sent(figure)
    assert spec["layout"]["sliders"][0]["active"] == start
    frame = spec["frames"][start]
    for at, part in zip(frame["traces"], frame["data"], strict=True):
        assert {axis: spec["data"][at][axis] for axis in part} == part


def test_dots_and_hand_are_at_the_position_of_each_frame():
    spec = sent(turn(7_000_000, 10_000_000, 8))
    window = motion.waves(7_000_000, 10_000_000, 8, 128)
    labels = [step["label"] for step in spec["layout"]["sliders"][0]["steps"]]
    assert labels == [f"{position:,}" for position in window.positions]
    for frame, position, point in zip(spec["frames"], window.positions, window.points, strict=True):
        sine, cosine = point.astype(np.float32)
        here, legs, hand = frame["data"]
        assert set(numbers(here["x"])) == {position}  # exact, though float32
        assert list(numbers(here["y"])[1:3]) == [sine, cosine]
        assert list(numbers(hand["x"])) == [0, cosine]
        assert list(numbers(hand["y"])) == [0, sine]
        # From the sine on the vertical axis of the clock to the hand's tip and down to the cosine.
        assert list(numbers(legs["x"])) == [0, cosine, cosine]
        assert list(numbers(legs["y"])) == [sine, sine, 0]
    sines, cosines, _, dots, legs, _ = spec["data"]
    assert dots["marker"]["color"][1:3] == [sines["line"]["color"], cosines["line"]["color"]]
    assert legs["marker"]["color"][::2] == [sines["line"]["color"], cosines["line"]["color"]]


def test_the_curves_run_evenly_from_end_to_end():
    window = motion.waves(9_999_999, 10_000_000, 0, 128)
    spec = sent(turn(9_999_999, 10_000_000, 0))
    for trace, values in zip(spec["data"], (window.sine, window.cosine), strict=False):
        np.testing.assert_array_equal(numbers(trace["y"]), values.astype(np.float32))
        assert trace["x0"] == window.span[0]
        assert trace["x0"] + 1000 * trace["dx"] == pytest.approx(window.span[1], abs=1e-6)
    assert spec["layout"]["xaxis"]["range"] == list(window.span)


def test_one_position_is_a_figure_too():
    spec = sent(turn(0, 1, 0))
    assert [frame["name"] for frame in spec["frames"]] == ["0"]
    assert list(numbers(spec["frames"][0]["data"][0]["y"])[1:3]) == [0, 1]


def test_the_dots_of_the_product_lie_in_the_rings_of_the_table():
    found = motion.shifts(3, 1, 8)
    spec = sent(move())
    still, _, hand, ring, dot, turned = spec["data"]
    assert [still["name"], dot["name"], ring["name"]] == ["a", "b", "c"]
    assert still["legendrank"] < dot["legendrank"] < ring["legendrank"]
    assert ring["marker"]["symbol"] == "circle-open"
    assert ring["marker"]["size"] > dot["marker"]["size"]
    np.testing.assert_array_equal(numbers(still["y"]), found.before.astype(np.float32))
    np.testing.assert_allclose(numbers(hand["x"])[1], found.here[0])
    np.testing.assert_allclose(numbers(hand["y"])[1], found.here[1])
    assert turned["line"]["color"] == ring["marker"]["color"]
    for frame, moved, after, there in zip(spec["frames"], found.moved, found.after, found.there, strict=True):
        rings, dots, moving = frame["data"]
        np.testing.assert_array_equal(numbers(rings["y"]), after.astype(np.float32))
        np.testing.assert_array_equal(numbers(dots["y"]), moved.astype(np.float32))
        assert [numbers(moving[axis])[1] for axis in "xy"] == list(there.astype(np.float32))
    labels = [step["label"] for step in spec["layout"]["sliders"][0]["steps"]]
    assert (labels[0], labels[64], labels[-1]) == ("−64", "0", "64")


def test_an_unpaired_sine_has_a_ring_and_no_dot():
    rings, dots, _ = sent(move(9))["frames"][0]["data"]
    assert np.isnan(numbers(dots["y"])[8])
    assert np.isfinite(numbers(rings["y"])).all()


@pytest.mark.parametrize("figure", [turn(), move()])
def test_words_come_from_outside_and_the_clock_is_round(figure):
    spec = sent(figure)
    layout = spec["layout"]
    (menu,) = layout["updatemenus"]
    assert [button["label"] for button in menu["buttons"]] == ["go", "stop"]
    play, pause = (button["args"] for button in menu["buttons"])
    assert play[0] is None
    assert play[1]["fromcurrent"]
    assert not play[1]["frame"]["redraw"]
    assert pause[0] == [None]
    assert layout["sliders"][0]["currentvalue"]["prefix"] == "place: "
    assert layout["xaxis2"]["title"]["text"] == "cos"
    assert layout["yaxis2"]["scaleanchor"] == "x2"
    assert layout["xaxis2"]["range"] == layout["yaxis2"]["range"]
    assert names_of_axes(spec) == {("x", "y"), ("x2", "y2")}


def test_the_bytes_are_bounded_whatever_is_shown():
    waves = max(len(plotly.io.to_json(turn(*case))) for case in ((0, 10_000_000, 0), (10**7 - 1, 10**7, 63)))
    assert waves < 100_000
    moves = max(len(plotly.io.to_json(move(*case))) for case in ((128, 10), (16_384, 9_999_999)))
    assert moves < 320_000
