"""A figure is sent as it was made, and is all that plotly makes of it as soon as somebody reads it."""

import base64
import copy
import json
import pickle

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

from posenc import figures, motion
from posenc.figures.style import draw, packed, packed_rows

X = np.arange(5.0)
WORDS = figures.Words("place", "go", "stop")
TITLES = ("x", "y")


def turning():
    span, sine, cosine, *rest = motion.waves(3, 50, 1, 8)
    return figures.turning(span, {"S": sine, "C": cosine}, *rest, TITLES, TITLES, WORDS)


FIGURES = {
    "series": lambda: figures.series(X, {"a": X, "b": -X}, *TITLES, log_y=True, marks_x={"m": 2}),
    "band": lambda: figures.band({"a": (X, X, X - 1, X + 1)}, *TITLES, marks_x={"m": 1.5}),
    "bars": lambda: figures.bars({"a": (X, X)}, *TITLES),
    "lines": lambda: figures.lines({"a": (X, X)}, *TITLES),
    "path": lambda: figures.path(X, -X, *TITLES, "position"),
    "links": lambda: figures.links(["a", "b"], ["b", "a"], [1, 0], TITLES, "position"),
    "tiles": lambda: figures.tiles({"row": [("kind", "1")]}, {"kind": figures.Kind(0, True)}, "x"),
    "turning": turning,
}


def sent(figure):
    return json.loads(plotly.io.to_json(figure))


def values(array):
    numbers = np.frombuffer(base64.b64decode(array["bdata"]), dtype=f"<{array['dtype']}")
    shape = [int(side) for side in array.get("shape", str(numbers.size)).split(", ")]
    return numbers.reshape(shape)


def plain(part):
    """Leave out what does not count: the usual kind of trace, a template, empty lists, width of integers."""
    if isinstance(part, list):
        return [plain(each) for each in part]
    if not isinstance(part, dict):
        return part
    if "bdata" in part:
        return values(part).tolist()
    return {
        name: plain(value)
        for name, value in part.items()
        if value not in ("scatter", []) and name != "template"
    }


@pytest.mark.parametrize("name", FIGURES)
def test_what_is_sent_is_what_plotly_makes_of_it(name):
    figure, read = FIGURES[name](), FIGURES[name]()
    assert read.data  # would raise for a name or a value that plotly does not know
    assert plain(sent(figure)) == plain(sent(read))


def test_a_figure_can_be_changed_as_every_figure_of_plotly():
    figure = FIGURES["series"]()
    figure.update_layout(height=111)
    figure.add_scatter(y=[1])
    assert (sent(figure)["layout"]["height"], len(sent(figure)["data"])) == (111, 3)
    assert isinstance(figure, go.Figure)


@pytest.mark.parametrize("name", FIGURES)
def test_a_notebook_and_a_page_of_html_show_it(name, monkeypatch):
    figure, read = FIGURES[name](), FIGURES[name]()
    assert read.data
    notebook = "application/vnd.plotly.v1+json"
    monkeypatch.setattr(plotly.io.renderers, "render_on_display", True)
    monkeypatch.setattr(plotly.io.renderers, "default", "plotly_mimetype")
    shown = figure._repr_mimebundle_(None, None)[notebook]
    assert plain(json.loads(json.dumps(shown["data"]))) == plain(sent(read)["data"])
    assert ("frames" in shown) == bool(sent(read).get("frames"))
    for html in (figure._repr_html_(), figure.to_html(include_plotlyjs=False)):
        assert "Plotly.newPlot" in html
        assert html.count('"bdata"') == str(shown).count("'bdata'")


@pytest.mark.parametrize(
    "other", [copy.copy, copy.deepcopy, lambda figure: pickle.loads(pickle.dumps(figure))]
)
def test_a_copy_is_the_same_figure(other):
    figure = FIGURES["bars"]()
    assert plain(sent(other(figure))) == plain(sent(figure))


def test_an_unknown_attribute_is_an_error_as_ever():
    with pytest.raises(AttributeError):
        _ = FIGURES["bars"]().no_such_thing


def test_a_part_that_plotly_refuses_is_refused_when_it_is_read():
    with pytest.raises(ValueError, match="no_such_thing"):
        _ = draw([{"no_such_thing": 1}], {"title": ""}, {"title": ""}).data


@pytest.mark.parametrize(
    "array",
    [
        np.float32([1.5, -2]),
        np.float64([[1, np.nan], [3, 4]]),
        np.arange(7),
        np.uint8([[255]]),
        X[::2],
        X[::-1],
    ],
)
def test_an_array_is_sent_as_its_bytes(array):
    np.testing.assert_array_equal(values(packed(array)), array)


@pytest.mark.parametrize("points", [1, 2, 3, 4, 128])
def test_rows_that_are_written_together_are_written_as_each_by_itself(points):
    rows = np.linspace(-3, 9, 7 * points, dtype=np.float32).reshape(points, 7).T
    assert packed_rows(rows) == [packed(row) for row in rows]
