"""Pictures that move: every place of the slider is in the figure, so the browser asks no server to go there.

A figure leaves here with all its frames. A frame holds only the traces that move, as float32 bytes.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from posenc.figures.style import BLUE, GREY, ORANGE, PURPLE, Part, axis, draw

Values = NDArray[np.floating]

PANEL, ABOVE, BELOW, CONTROLS = 240, 28, 52, 100  # pixels: a panel, the words above and below it, the slider
FRAME_MS = 80  # while playing
REACH = 1.15  # of the axes of values, each way: a dot at 1 is whole

# One below the other: beside each other a phone would have no room for the clock.
_ROOM = PANEL + BELOW + ABOVE + PANEL
_UPPER, _LOWER = [1 - PANEL / _ROOM, 1], [0, PANEL / _ROOM]
_CLOCK = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}


class Words(NamedTuple):
    """What stands on the controls: what the slider moves, and the two buttons."""

    moves: str
    play: str
    pause: str


class Moving(go.Figure):  # type: ignore[misc]  # plotly ships no types
    """A figure with its frames and the steps of its slider as plain dictionaries.

    plotly would make an object of every trace of every frame and of every step, and copy them all again when
    the figure is sent: that takes several times as long as all the rest.
    """

    frames_sent: Sequence[Part] = ()
    steps_sent: Sequence[Part] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return what is sent: plotly's own part, the steps of its slider, and the frames."""
        sent: dict[str, Any] = super().to_dict()
        sent["layout"]["sliders"][0]["steps"] = self.steps_sent
        return sent | {"frames": self.frames_sent}


def turning(
    span: tuple[float, float],
    curves: Mapping[str, Values],
    positions: NDArray[np.integer],
    points: Values,
    start: int,
    titles: tuple[str, str],
    clock: tuple[str, str],
    words: Words,
) -> Moving:
    """Draw the two waves of one pair, and the hand of its clock, at a position that a slider moves.

    Parameters
    ----------
    span
        Where the curves begin and end, in positions.
    curves
        The name of the sine, and that of the cosine → values (m,), evenly spaced over `span`.
    positions
        (n,): the stops of the slider, below 2²⁴, which float32 still tells apart.
    points
        (n, 2): the sine and the cosine there.
    start
        Index of the stop that is shown first.
    titles, clock
        Axis titles, horizontal and vertical, of the waves and of the clock.
    words
        What stands on the controls.
    """
    at, (sine, cosine) = np.asarray(positions, dtype=np.float64), points.T
    zero, edge = np.zeros(len(at)), np.full(len(at), REACH)
    waves = [
        {
            # Even steps from a start: as float32, places far out would fall together.
            "x0": span[0],
            "dx": (span[1] - span[0]) / max(len(y) - 1, 1),
            "y": np.asarray(y, dtype=np.float32),
            "name": name,
            "mode": "lines",
            "line": {"color": colour, "width": 2},
            "hovertemplate": _hover(titles, name),
        }
        for (name, y), colour in zip(curves.items(), (BLUE, ORANGE), strict=True)
    ]
    here = {
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 1.5},
        "marker": _dots(13, None, BLUE, ORANGE, None),
        "hovertemplate": _hover(titles),
        "showlegend": False,
        "cliponaxis": False,  # whole dots at the first and the last position
    }
    legs = {
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
        "marker": _dots(13, BLUE, None, ORANGE),
        "hoverinfo": "skip",
        **_CLOCK,
    }
    still = [*waves, _circle()]
    moving, frames = _move(
        len(still),
        positions,
        start,
        (here, np.stack([at, at, at, at]), np.stack([-edge, sine, cosine, edge])),
        (legs, np.stack([zero, cosine, cosine]), np.stack([sine, sine, zero])),
        (_hand(PURPLE, clock), np.stack([zero, cosine]), np.stack([zero, sine])),
    )
    labels = [f"{position:,}" for position in positions]
    across = {"title": titles[0], "range": span, "tickformat": ",.8~g"}
    return _finish([*still, *moving], across, titles[1], clock, frames, labels, start, words)


def shifting(
    offsets: NDArray[np.integer],
    vectors: Mapping[str, Values],
    hands: tuple[Values, Values],
    start: int,
    titles: tuple[str, str],
    clock: tuple[str, str],
    words: Words,
) -> Moving:
    """Draw one position moved by k, which a slider moves: the vectors, and the two hands of a clock.

    Parameters
    ----------
    offsets
        (n,): the stops k of the slider.
    vectors
        Three names → PE(p), (d,); M_k·PE(p), (n, d); PE(p + k), (n, d).
    hands
        The cosine and the sine at p, (2,), and at each p + k, (n, 2).
    start, titles, clock, words
        As in `turning`; the first two titles are those of the vectors.
    """
    (first, before), (second, moved), (third, after) = vectors.items()
    (x, y), turned = hands
    zero = np.zeros(len(offsets))
    still = [
        {"y": np.asarray(before, dtype=np.float32)} | _vector(first, titles, 1, {"size": 5, "color": GREY}),
        _circle(),
        {"x": [0, x], "y": [0, y]} | _hand(GREY, clock, first),
    ]
    # A dot in a ring: what the matrix makes lies where the table says.
    ring = {"size": 10, "symbol": "circle-open", "color": ORANGE, "line": {"width": 1.5}}
    moving, frames = _move(
        len(still),
        offsets,
        start,
        (_vector(third, titles, 3, ring), None, after.T),
        (_vector(second, titles, 2, {"size": 5, "color": BLUE}), None, moved.T),
        (_hand(ORANGE, clock, third), np.stack([zero, turned[:, 0]]), np.stack([zero, turned[:, 1]])),
    )
    labels = [str(k).replace("-", "−") for k in offsets]
    across = {"title": titles[0]}
    return _finish([*still, *moving], across, titles[1], clock, frames, labels, start, words)


def _hover(titles: tuple[str, str], name: str = "") -> str:
    return f"{titles[0]}: %{{x:,.8~g}}<br>{titles[1]}: <b>%{{y:.6g}}</b><extra>{name}</extra>"


def _dots(size: int, *colours: str | None) -> Part:
    """Give each point its colour; one without is only a corner of the line."""
    return {
        "size": [size if colour else 0 for colour in colours],
        "color": [colour or GREY for colour in colours],
        "opacity": 1,
    }


def _vector(name: str, titles: tuple[str, str], rank: int, marker: Part) -> Part:
    hover = _hover(titles, name)
    return {"name": name, "mode": "markers", "marker": marker, "hovertemplate": hover, "legendrank": rank}


def _circle() -> Part:
    turn = np.linspace(0, 2 * np.pi, 181, dtype=np.float32)
    line = {"color": GREY, "width": 1}
    return {
        "x": np.cos(turn),
        "y": np.sin(turn),
        "mode": "lines",
        "line": line,
        "hoverinfo": "skip",
        **_CLOCK,
    }


def _hand(colour: str, clock: tuple[str, str], name: str = "") -> Part:
    return {
        "mode": "lines+markers",
        "line": {"color": colour, "width": 4},
        "marker": _dots(11, None, colour),
        "hovertemplate": _hover(clock, name),
        **_CLOCK,
    }


def _move(
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
        packed = {axis: _packed(values.T) for axis, values in (("x", x), ("y", y)) if values is not None}
        stops = [dict(zip(packed, stop, strict=True)) for stop in zip(*packed.values(), strict=True)]
        shown.append(look | stops[start])
        parts.append(stops)
    moving = list(range(still, still + len(traces)))
    return shown, [
        {"name": str(name), "traces": moving, "data": data} for name, *data in zip(names, *parts, strict=True)
    ]


def _packed(rows: Values) -> list[Part]:
    """Write each row as the typed array that plotly reads: its bytes, in base 64."""
    packed = np.ascontiguousarray(rows, dtype="<f4")
    return [{"dtype": "f4", "bdata": base64.b64encode(row).decode("ascii")} for row in packed]


def _finish(
    traces: Sequence[Part],
    across: Part,
    up: str,
    clock: tuple[str, str],
    frames: Sequence[Part],
    labels: Sequence[str],
    start: int,
    words: Words,
) -> Moving:
    """Put the clock below the first panel, and the slider with its buttons below both."""
    foot = BELOW + CONTROLS
    look: Part = {"range": [-REACH, REACH], "tickvals": [-1, -0.5, 0, 0.5, 1], "constrain": "domain"}
    figure: Moving = draw(
        traces,
        across,
        {"title": up, "range": [-REACH, REACH], "domain": _UPPER},
        height=ABOVE + _ROOM + foot,
        legend=True,
        kind=Moving,
        margin={"l": 66, "r": 12, "t": ABOVE, "b": foot},
        xaxis2=axis(clock[0], anchor="y2", **look),
        yaxis2=axis(clock[1], anchor="x2", scaleanchor="x2", domain=_LOWER, **look),
        sliders=[_slider(start, words)],
        updatemenus=[_buttons(words)],
    )
    figure.frames_sent = frames
    figure.steps_sent = [
        {"label": label, "method": "animate", "args": [[frame["name"]], _pace(0)]}
        for label, frame in zip(labels, frames, strict=True)
    ]
    return figure


def _pace(milliseconds: int) -> Part:
    """Go to a frame without a transition, and without drawing anew what does not move."""
    frame = {"duration": milliseconds, "redraw": False}
    return {"mode": "immediate", "frame": frame, "transition": {"duration": 0}}


def _slider(start: int, words: Words) -> Part:
    return {
        "active": start,
        "y": -BELOW / _ROOM,
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
        "y": -BELOW / _ROOM,
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
