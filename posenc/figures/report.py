"""Charts as one HTML file that opens without a server and without a network.

The file holds plotly's own script (only if there are figures) and the script of the heatmaps, and of every
chart what the script draws: JSON of a figure or the message of a heatmap (`posenc.figures.wire`). Each is
packed with gzip and written in base 64, in which nothing that somebody typed can end an element.
"""

import base64
import gzip
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import NamedTuple

import plotly.graph_objects as go

from posenc.sources import Source


class Chart(NamedTuple):
    """One chart: the heading it stands under, what it shows in a sentence, and a figure or a message."""

    heading: str
    alt: str
    drawn: go.Figure | bytes


class Words(NamedTuple):
    """The language, and what the report says by itself in that language.

    `coarse` stands by a heatmap of which the file does not hold every cell, `left_out` in place of a chart
    for which there was no room.
    """

    lang: str
    settings: str
    sources: str
    coarse: str
    left_out: str


class Canvas(NamedTuple):
    """What draws a heatmap in the browser; the script defines ``draw``."""

    html: str
    css: str
    js: str


def report(
    title: str,
    charts: Iterable[Chart],
    *,
    settings: Mapping[str, str],
    address: str,
    sources: Sequence[Source],
    words: Words,
    canvas: Canvas,
    most: int,
) -> str:
    """Write charts as one HTML file.

    Parameters
    ----------
    title
        Of the page; all texts are plain.
    charts
        In their order, taken one by one.
    settings
        Name → value, as the reader knows them.
    address
        Path and query of the view.
    sources
        What the page leans on: all that the file links to.
    words, canvas
        What it says, and what draws its heatmaps.
    most
        Largest size of the file in bytes; charts beyond it are left out, which is said where they would be.

    Returns
    -------
    str
        HTML. The same charts give the same file.
    """
    head = _head(title, words.lang, canvas)
    facts = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in settings.items())
    top = (
        f"<h1>{_text(title)}</h1>\n<h2>{_text(words.settings)}</h2>\n<dl>{facts}</dl>\n"
        f"<p><code>{_text(address)}</code></p>\n"
    )
    cited = "".join(f"<li>{_citation(source)}</li>\n" for source in sources)
    end = f"<h2>{_text(words.sources)}</h2>\n<ul>\n{cited}</ul>\n"
    scripts = f'<script type="module">\n{_script(canvas.js)}\n{_script(_file("report.js"))}</script>\n'
    frame = f'<template id="heatmap">{canvas.html}</template>\n'
    room = most - len("".join((head, top, end, frame, scripts)).encode()) - 100
    body, library = _body(charts, words, room)
    return f"{head}<body><main>\n{top}{body}{end}</main>\n{frame}{library}{scripts}</body></html>\n"


def _body(charts: Iterable[Chart], words: Words, room: int) -> tuple[str, str]:
    """Return the charts with their headings as far as there is room, and the script that they need."""
    parts, library, before = [], "", ""
    for chart in charts:
        figure = not isinstance(chart.drawn, bytes)
        needed = f'<script type="text/plain" id="plotly">{_plotly()}</script>\n' if figure else ""
        drawn = _chart(chart, words)
        size = len(drawn.encode()) + (0 if library else len(needed))
        if size > room:
            drawn = f"<figure><p>{_text(words.left_out)}</p>{_caption(chart)}</figure>\n"
            size = len(drawn.encode())
        else:
            library = library or needed
        room -= size
        parts.append(drawn if chart.heading == before else f"<h2>{_text(chart.heading)}</h2>\n{drawn}")
        before = chart.heading
    return "".join(parts), library


def _head(title: str, lang: str, canvas: Canvas) -> str:
    return (
        f'<!doctype html>\n<html lang="{_text(lang)}"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">\n'
        f"<title>{_text(title)} · posenc</title>\n<style>\n{canvas.css}{_file('report.css')}</style></head>\n"
    )


def _chart(chart: Chart, words: Words) -> str:
    """Return the place of a chart with what is drawn in it, and its text."""
    if isinstance(chart.drawn, bytes):
        note = "" if _holds_all(chart.drawn) else f" {words.coarse}"
        look, data = 'class="map"', chart.drawn
    else:
        note = ""
        look, data = f'class="chart" role="img" aria-label="{_text(chart.alt)}"', _json(chart.drawn)
    script = f'<script type="text/plain">{_packed(data)}</script>'
    return f"<figure><div {look}>{script}</div>{_caption(chart, note)}</figure>\n"


def _caption(chart: Chart, note: str = "") -> str:
    return f"<figcaption>{_text(chart.alt)}{_text(note)}</figcaption>"


def _holds_all(message: bytes) -> bool:
    """Say whether a message of a heatmap holds every cell of its matrix."""
    size = int.from_bytes(message[:4], "little")
    head = json.loads(message[4 : 4 + size])
    rows, columns = head["shape"]
    return bool(head["view"] == [0, rows, 0, columns] and head["each"] == [1, 1])


def _citation(source: Source) -> str:
    place = f", {_text(source.place)}" if source.place else ""
    link = f'<a href="{_text(source.url)}" rel="noreferrer">{_text(source.title)}</a>'
    return f"{_text(source.authors)} ({source.year}), {link}{place}."


def _text(text: str) -> str:
    """Write text so that it stays text, in an element or in an attribute."""
    return html.escape(text)


def _script(code: str) -> str:
    """Return a script that an element can hold."""
    if "</script" in code or "<!--" in code:
        raise ValueError("the script holds what would end or hide the element that it stands in")
    return code


def _json(figure: go.Figure) -> bytes:
    from plotly.io import to_json

    return str(to_json(figure, validate=False)).encode()


def _packed(data: bytes) -> str:
    # Level 1: blocks of a heatmap come out a tenth larger than with the default, in a fifth of the time.
    return base64.b64encode(gzip.compress(data, compresslevel=1, mtime=0)).decode("ascii")


@lru_cache(maxsize=1)
def _plotly() -> str:
    """Return plotly's script, packed: 2 MB of 5."""
    from plotly.offline import get_plotlyjs

    return base64.b64encode(gzip.compress(get_plotlyjs().encode(), mtime=0)).decode("ascii")


@lru_cache(maxsize=2)
def _file(name: str) -> str:
    return resources.files("posenc.figures").joinpath(name).read_text(encoding="utf-8")
