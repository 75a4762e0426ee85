"""Colours and sizes that all figures share: safe for colour-blind eyes, legible on light and on dark."""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
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


class Figure(go.Figure):  # type: ignore[misc]  # plotly ships no types
    """A plotly figure that plotly looks through only when somebody reads or changes it.

    To be sent it needs no more than the parts that it was made of. plotly would make an object of every
    trace, step and frame, and copy them all again: that took nearly half of the time of a page.
    """

    def __init__(self, parts: Part) -> None:
        self._parts = parts

    def __getattr__(self, name: str) -> Any:
        """Become what plotly makes of the parts, as soon as any of its own attributes is asked for."""
        if name.startswith("__") or "_parts" not in vars(self):
            raise AttributeError(name)
        super().__init__(self.__dict__.pop("_parts"))
        return getattr(self, name)

    def to_dict(self) -> Part:
        """Return what is sent to the browser."""
        if "_parts" not in vars(self):
            read: Part = super().to_dict()
            return read
        sent: Part = _sent(self._parts)
        # Streamlit writes the colours of its theme into a template that is there.
        sent["layout"]["template"] = {"layout": {}}
        return sent


def _sent(part: Any) -> Any:
    """Write arrays as the typed arrays that plotly reads, and leave out what is None.

    A tuple is sent as it is: frames, and the steps that lead to them. There are many of them.
    """
    if isinstance(part, dict):
        return {name: _sent(value) for name, value in part.items() if value is not None}
    if isinstance(part, list):
        return [_sent(value) if isinstance(value, dict) else value for value in part]
    return packed(part) if isinstance(part, np.ndarray) else part


def packed(array: np.ndarray[Any, Any]) -> Part:
    """Write an array as plotly reads it: its bytes, in base 64. Its integers have 32 bits."""
    kept = array.astype("<i4") if array.dtype.kind in "iu" else array
    shape = {"shape": ", ".join(map(str, kept.shape))} if kept.ndim > 1 else {}
    data = base64.b64encode(kept.tobytes()).decode("ascii")
    return {"dtype": kept.dtype.str[1:], "bdata": data} | shape


def packed_rows(rows: np.ndarray[Any, Any]) -> list[Part]:
    """Write each row as `packed` does, in a third of the time: all in base 64 at once, cut between rows."""
    size = rows.shape[1] * rows.itemsize
    missing = -size % 3  # bytes to the next 24 bits, where base 64 can be cut
    filled = np.zeros((len(rows), size + missing), dtype=np.uint8)
    filled[:, :size] = np.ascontiguousarray(rows).view(np.uint8)
    text, width = base64.b64encode(filled.tobytes()).decode("ascii"), filled.shape[1] // 3 * 4
    kind, end = rows.dtype.str[1:], "=" * missing
    return [
        {"dtype": kind, "bdata": text[at : at + width - missing] + end} for at in range(0, len(text), width)
    ]


def draw(
    traces: Sequence[Part],
    x: Part,
    y: Part,
    *,
    height: int = 380,
    legend: bool = False,
    frames: Sequence[Part] = (),
    **layout: Any,
) -> Figure:
    """Make a figure in one step, with the common margins and legend place.

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
    frames
        What a slider moves to, their arrays `packed`.
    layout
        What else the layout holds.
    """
    common = {
        "height": height,
        "margin": {"l": 66, "r": 12, "t": 28, "b": 52},
        "showlegend": legend,
        "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        "hoverlabel": {"align": "left"},
    }
    axes = {"xaxis": axis(**x), "yaxis": axis(**y)}
    parts = {"data": list(traces), "layout": common | axes | layout}
    return Figure(parts | {"frames": tuple(frames)} if frames else parts)


def axis(title: str, *, standoff: int = 8, **look: Any) -> Part:
    """Return an axis of the layout."""
    return {"title": {"text": title, "standoff": standoff}, "automargin": False} | look
