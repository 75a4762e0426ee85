"""What figures that move are made of: frames, a slider with its buttons, two panels one above the other.

A figure leaves here with all its frames. A frame holds only the traces that move, as float32 bytes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.figures.style import BLUE, GREY, ORANGE, Figure, Part, draw, packed_rows

Values = NDArray[np.floating]

PANEL, ABOVE, BELOW, CONTROLS = 240, 28, 52, 100  # pixels: a panel, the words above and below it, the slider
FRAME_MS = 80  # while playing
REACH = 1.15  # of the axes of values, each way: a dot at 1 is whole

# One below the other: beside each other a phone would have no room for the clock.
ROOM = PANEL + BELOW + ABOVE + PANEL
UPPER, LOWER = [1 - PANEL / ROOM, 1], [0, PANEL / ROOM]


class Words(NamedTuple):
    """What stands on the controls: what the slider moves, and the two buttons."""

    moves: str
    play: str
    pause: str


def hover(titles: tuple[str, str], name: str = "") -> str:
    """Return what is said of a point: both its values by the titles of their axes."""
    return f"{titles[0]}: %{{x:,.8~g}}<br>{titles[1]}: <b>%{{y:.6g}}</b><extra>{name}</extra>"


def dots(size: int, *colours: str | None) -> Part:
    """Give each point its colour; one without is only a corner of the line."""
    return {
        "size": [size if colour else 0 for colour in colours],
        "color": [colour or GREY for colour in colours],
        "opacity": 1,
    }


def circle(radius: float = 1.0) -> Part:
    """Draw the rim of a clock."""
    turn = np.linspace(0, 2 * np.pi, 181, dtype=np.float32)
    line = {"color": GREY, "width": 1}
    return {
        "x": radius * np.cos(turn),
        "y": radius * np.sin(turn),
        "mode": "lines",
        "line": line,
        "hoverinfo": "skip",
    }


def move(
    still: int,
    names: NDArray[np.integer],
    start: int,
    *traces: tuple[Part, Values | None, Values],
) -> tuple[list[Part], list[Part]]:
    """Return traces (look, x, y) as they are at `start`, and the n frames; x and y are (points, n).

    They come after `still` traces that do not move.
    """
    parts, shown = [], []
    for look, x, y in traces:
        rows = {
            axis: packed_rows(values.T.astype(np.float32))
            for axis, values in (("x", x), ("y", y))
            if values is not None
        }
        stops = [dict(zip(rows, stop, strict=True)) for stop in zip(*rows.values(), strict=True)]
        shown.append(look | stops[start])
        parts.append(stops)
    moving = list(range(still, still + len(traces)))
    return shown, [
        {"name": str(name), "traces": moving, "data": data}
        for name, *data in zip(names.tolist(), *parts, strict=True)
    ]


def finish(
    traces: Sequence[Part],
    across: Part,
    up: Part,
    frames: Sequence[Part],
    labels: Sequence[str],
    start: int,
    words: Words,
    **axes: Part,
) -> Figure:
    """Put the slider with its buttons below two panels, one above the other; `axes` are all but the first."""
    foot = BELOW + CONTROLS
    at_once = _pace(0)
    steps = tuple(
        {"label": label, "method": "animate", "args": [[frame["name"]], at_once]}
        for label, frame in zip(labels, frames, strict=True)
    )
    return draw(
        traces,
        across,
        up,
        height=ABOVE + ROOM + foot,
        legend=True,
        frames=frames,
        margin={"l": 66, "r": 12, "t": ABOVE, "b": foot},
        sliders=[_slider(start, words) | {"steps": steps}],
        updatemenus=[_buttons(words)],
        **axes,
    )


def _pace(milliseconds: int) -> Part:
    """Go to a frame without a transition, and without drawing anew what does not move."""
    frame = {"duration": milliseconds, "redraw": False}
    return {"mode": "immediate", "frame": frame, "transition": {"duration": 0}}


def _slider(start: int, words: Words) -> Part:
    return {
        "active": start,
        "y": -BELOW / ROOM,
        "pad": {"t": 6},
        "currentvalue": {"prefix": f"{words.moves}: ", "offset": 16, "font": {"size": 15}},
        "transition": {"duration": 0},
        "bgcolor": BLUE,
        "activebgcolor": ORANGE,
        "bordercolor": GREY,
        "tickcolor": GREY,
    }


def _buttons(words: Words) -> Part:
    return {
        "type": "buttons",
        "direction": "right",
        "showactive": False,
        "x": 1,
        "xanchor": "right",
        "y": -BELOW / ROOM,
        "yanchor": "top",
        # Dark on light: under the pointer plotly makes a button light, whatever the theme.
        "bgcolor": "#e6ecf3",
        "bordercolor": GREY,
        "font": {"color": "#141b24", "size": 14},
        "buttons": [
            {
                "label": words.play,
                "method": "animate",
                "args": [None, _pace(FRAME_MS) | {"fromcurrent": True}],
            },
            {"label": words.pause, "method": "animate", "args": [[None], _pace(0)]},
        ],
    }
