"""Colours and sizes that all figures share: safe for colour-blind eyes, legible on light and on dark."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

Part = dict[str, Any]

# After Okabe and Ito, shifted until each has a contrast of at least 3:1 on white and on near black.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#2f7fc1", "#d9731a", "#1f9a77", "#b0639a", "#808080"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, GREY)

# Orange (negative) through a neutral to blue (positive): no red against green, which many cannot tell apart.
DIVERGING: list[list[float | str]] = [
    [0.0, "#7f3b08"],
    [0.125, "#b35806"],
    [0.25, "#e08214"],
    [0.375, "#fdc98a"],
    [0.5, "#f4f4f4"],
    [0.625, "#a6cfe6"],
    [0.75, "#4393c3"],
    [0.875, "#2166ac"],
    [1.0, "#053061"],
]
# Cividis, after Nuñez, Anderton and Renslow (2018): from dark blue to yellow, for values of one sign.
_CIVIDIS = [
    "#00224e",
    "#123570",
    "#3b496c",
    "#575d6d",
    "#707173",
    "#8a8678",
    "#a59c74",
    "#c3b369",
    "#e1cc55",
    "#fee838",
]
SEQUENTIAL: list[list[float | str]] = [[k / 9, colour] for k, colour in enumerate(_CIVIDIS)]


def colours(sequential: bool) -> list[list[float | str]]:
    """Return a colour scale as plotly and the canvas take it: [[place from 0 to 1, colour], …]."""
    return SEQUENTIAL if sequential else DIVERGING


def draw(
    traces: Sequence[Part],
    x: Part,
    y: Part,
    *,
    height: int = 380,
    legend: bool = False,
    kind: type[go.Figure] = go.Figure,
    **layout: Any,
) -> go.Figure:
    """Make a figure in one step, with the common margins and legend place.

    plotly looks through the whole figure at each later change: adding one trace after the other takes six
    times as long.

    Parameters
    ----------
    traces
        As plotly's JSON has them, each with its ``type``; ``scatter`` without.
    x, y
        The two axes; ``title`` is a text. Only an axis of words (``automargin`` on) measures its labels to
        find its margin: that takes the browser long.
    height
        In pixels.
    legend
        Whether there is one.
    kind
        The class to make.
    layout
        What else the layout holds.
    """
    common = {
        "height": height,
        "margin": {"l": 66, "r": 12, "t": 28, "b": 52},
        "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        "hoverlabel": {"align": "left"},
        "template": None,  # the page brings its own
    }
    axes = {"xaxis": axis(**x), "yaxis": axis(**y)}
    return kind({"data": list(traces), "layout": common | axes | layout})


def axis(title: str, *, standoff: int = 8, **look: Any) -> Part:
    """Return an axis of the layout."""
    return {"title": {"text": title, "standoff": standoff}, "automargin": False} | look
