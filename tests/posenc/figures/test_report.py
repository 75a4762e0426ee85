"""The report as text: what somebody typed stays text, everything is in the file, and the file has a bound."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures import report
from posenc.sources import SOURCES

TYPED = """</script><script>alert('1')</script>"><b onclick=x>굵은 &amp; 글"""
WORDS = report.Words("en", "Settings", "Sources", "only these cells", "left out")
CANVAS = report.Canvas('<div class="heatmap"></div>', ".heatmap {}\n", "export default function draw() {}")
X = np.arange(40.0)


def figure(name="wave"):
    return figures.series(X, {name: np.sin(X)}, "position", "value")


def message(table=None, view=None, most=100):
    table = np.eye(6) if table is None else table
    rows, columns = view or ((0, table.shape[0]), (0, table.shape[1]))
    blocks = table_blocks(table, rows, columns, most_rows=most, most_columns=most)
    axis = figures.Axis("Position", "position")
    return figures.pack(figures.Picture(blocks, axis, axis, "value", 1.0), table.shape, key="eye", alt="eye")


def written(*charts, **more):
    options = {
        "settings": {"Width": "64"},
        "address": "/sinusoidal?d_model=64",
        "sources": [SOURCES["vaswani2017"]],
        "words": WORDS,
        "canvas": CANVAS,
        "most": 12_000_000,
    }
    return report.report(more.pop("title", "Title"), charts, **(options | more))


class Read(HTMLParser):
    """The elements of a page as a browser nests them, and the text outside of scripts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.attributes = [], "", []
        self.scripts, self._inside = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data


def unpacked(text):
    return gzip.decompress(base64.b64decode(text))


def test_what_somebody_typed_stays_text_wherever_it_stands():
    plain = Read(written(report.Chart("h", "a", figure()), report.Chart("h", "b", message())))
    html = written(
        report.Chart(TYPED, TYPED, figure(TYPED)),
        report.Chart(TYPED, TYPED, message()),
        title=TYPED,
        settings={TYPED: TYPED},
        address=TYPED,
        words=report.Words("en", *[TYPED] * 4),
    )
    found = Read(html)
    assert found.tags == plain.tags
    assert [attribute[:2] for attribute in found.attributes] == [each[:2] for each in plain.attributes]
    assert found.text.count(TYPED) == 10
    assert [value for _, name, value in found.attributes if name == "aria-label"] == [TYPED]


def test_every_chart_is_there_in_order_under_its_heading_with_its_text():
    html = written(
        report.Chart("One", "first", figure()),
        report.Chart("One", "second", message()),
        report.Chart("Two", "third", figure("other")),
    )
    found = Read(html)
    places = [
        html.index(f"<{mark}") for mark in ("h2>One", "figcaption>first", "figcaption>second", "h2>Two")
    ]
    assert places == sorted(places)
    assert html.count("<h2>One") == 1
    packed = [json.loads(unpacked(each)) for each in (found.scripts[0], found.scripts[2])]
    assert [sent["data"][0]["name"] for sent in packed] == ["wave", "other"]
    assert unpacked(found.scripts[1]) == message()
    assert "Width" in found.text
    assert "/sinusoidal?d_model=64" in found.text


def test_plotly_is_there_once_and_only_for_figures():
    both = written(report.Chart("", "a", figure()), report.Chart("", "b", figure()))
    (library,) = re.findall(r'id="plotly">([^<]+)<', both)
    assert b"plotly.js v" in unpacked(library)[:200]
    assert 'id="plotly"' not in written(report.Chart("", "a", message()))


def test_nothing_is_fetched_and_only_sources_are_linked():
    found = Read(written(report.Chart("", "a", figure()), report.Chart("", "b", message())))
    linked = [(tag, value) for tag, name, value in found.attributes if name in ("src", "href", "action")]
    assert linked == [("link", "data:,"), ("a", SOURCES["vaswani2017"].url)]
    assert "url(" not in written()


@pytest.mark.parametrize(
    ("sent", "coarse"),
    [
        (message(), False),
        (message(view=((1, 3), (0, 6))), True),
        (message(np.eye(300)), True),
        (message(np.eye(100)), False),
    ],
)
def test_a_heatmap_says_whether_the_file_holds_all_its_cells(sent, coarse):
    assert ("only these cells" in written(report.Chart("", "a", sent))) is coarse


def test_the_file_is_never_larger_than_its_bound_and_says_what_is_left_out():
    noise = np.random.default_rng(0).normal(size=(100, 100))
    charts = [report.Chart(f"h{k}", f"chart {k}", message(noise)) for k in range(8)]
    whole = written(*charts)
    assert "left out" not in whole
    for most in range(len(written()) + 9000, len(whole.encode()), 30_000):
        html = written(*charts, most=most)
        assert len(html.encode()) <= most
        assert "left out" in html
        assert [k for k in range(8) if f"<figcaption>chart {k}" in html] == [*range(8)]
    # Without room for plotly's script no figure is there, but what needs no script is.
    html = written(report.Chart("", "a", figure()), report.Chart("", "b", message()), most=100_000)
    assert html.count("left out") == 1
    assert 'id="plotly"' not in html
    assert 'class="map"' in html


def test_the_same_charts_give_the_same_file():
    assert written(report.Chart("", "a", figure())) == written(report.Chart("", "a", figure()))


@pytest.mark.parametrize("code", ["'</script>'", "<!-- <script>"])
def test_a_script_that_would_end_its_element_is_refused(code):
    with pytest.raises(ValueError, match="script"):
        written(canvas=CANVAS._replace(js=code))
