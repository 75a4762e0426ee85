"""Pictures that move: each place of the slider is in the figure, so no server is asked to go there."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from posenc.figures.frames import (
    LOWER,
    REACH,
    UPPER,
    Values,
    Words,
    circle,
    dots,
    finish,
    hover,
    move,
)
from posenc.figures.style import BLUE, GREY, ORANGE, PURPLE, Figure, Part, axis

_CLOCK = {"xaxis": "x2", "yaxis": "y2", "showlegend": False}


def turning(
    span: tuple[float, float],
    curves: Mapping[str, Values],
    positions: NDArray[np.integer],
    points: Values,
    start: int,
    titles: tuple[str, str],
    clock: tuple[str, str],
    words: Words,
) -> Figure:
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
            "hovertemplate": hover(titles, name),
        }
        for (name, y), colour in zip(curves.items(), (BLUE, ORANGE), strict=True)
    ]
    here = {
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 1.5},
        "marker": dots(13, None, BLUE, ORANGE, None),
        "hovertemplate": hover(titles),
        "showlegend": False,
        "cliponaxis": False,  # whole dots at the first and the last position
    }
    legs = {
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 1.5, "dash": "dot"},
        "marker": dots(13, BLUE, None, ORANGE),
        "hoverinfo": "skip",
        **_CLOCK,
    }
    still = [*waves, circle() | _CLOCK]
    moving, frames = move(
        len(still),
        positions,
        start,
        (here, np.stack([at, at, at, at]), np.stack([-edge, sine, cosine, edge])),
        (legs, np.stack([zero, cosine, cosine]), np.stack([sine, sine, zero])),
        (_hand(PURPLE, clock), np.stack([zero, cosine]), np.stack([zero, sine])),
    )
    labels = [f"{position:,}" for position in positions.tolist()]
    across = {"title": titles[0], "range": span, "tickformat": ",.8~g"}
    traces, up = [*still, *moving], _upper(titles[1])
    return finish(traces, across, up, frames, labels, start, words, **_clock_axes(clock))


def shifting(
    offsets: NDArray[np.integer],
    vectors: Mapping[str, Values],
    hands: tuple[Values, Values],
    start: int,
    titles: tuple[str, str],
    clock: tuple[str, str],
    words: Words,
) -> Figure:
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
        circle() | _CLOCK,
        {"x": [0, x], "y": [0, y]} | _hand(GREY, clock, first),
    ]
    # A dot in a ring: what the matrix makes lies where the table says.
    ring = {"size": 10, "symbol": "circle-open", "color": ORANGE, "line": {"width": 1.5}}
    moving, frames = move(
        len(still),
        offsets,
        start,
        (_vector(third, titles, 3, ring), None, after.T),
        (_vector(second, titles, 2, {"size": 5, "color": BLUE}), None, moved.T),
        (_hand(ORANGE, clock, third), np.stack([zero, turned[:, 0]]), np.stack([zero, turned[:, 1]])),
    )
    labels = [str(k).replace("-", "−") for k in offsets.tolist()]
    across = {"title": titles[0]}
    traces, up = [*still, *moving], _upper(titles[1])
    return finish(traces, across, up, frames, labels, start, words, **_clock_axes(clock))


def stepping(
    span: tuple[float, float],
    curve: Values,
    positions: NDArray[np.integer],
    points: tuple[Values, Values],
    start: int,
    names: tuple[str, str],
    titles: tuple[str, str],
    clock: tuple[str, str],
    words: Words,
) -> Figure:
    """Draw the sine of one pair as it is and as it comes out of rounding, and the two hands of its clock.

    Parameters
    ----------
    span, positions, start, titles, clock, words
        As in `turning`.
    curve
        The sine as it is, (m,), evenly spaced over `span`.
    points
        Sine and cosine at each position, (n, 2): as they are, and as they come out. NaN is not drawn.
    names
        Of what is as it is, and of what comes out.
    """
    at, (right, made) = np.asarray(positions, dtype=np.float64), points
    zero, edge = np.zeros(len(at)), np.full(len(at), REACH)
    still = [
        {
            "x0": span[0],
            "dx": (span[1] - span[0]) / max(len(curve) - 1, 1),
            "y": np.asarray(curve, dtype=np.float32),
            "name": names[0],
            "mode": "lines",
            "line": {"color": BLUE, "width": 2},
            "hovertemplate": hover(titles, names[0]),
        },
        {
            "x": at.astype(np.float32),
            "y": made[:, 0].astype(np.float32),
            "name": names[1],
            "mode": "lines+markers",
            "line": {"color": ORANGE, "width": 1.5, "shape": "hvh"},
            "marker": {"size": 4},
            "hovertemplate": hover(titles, names[1]),
        },
        circle() | _CLOCK,
    ]
    here = {
        "mode": "lines+markers",
        "line": {"color": GREY, "width": 1.5},
        "marker": dots(13, None, BLUE, ORANGE, None),
        "hovertemplate": hover(titles),
        "showlegend": False,
        "connectgaps": True,
        "cliponaxis": False,
    }
    hands = [
        (_hand(colour, clock, name), np.stack([zero, to[:, 1]]), np.stack([zero, to[:, 0]]))
        for colour, name, to in zip((BLUE, ORANGE), names, (right, made), strict=True)
    ]
    up = np.stack([-edge, right[:, 0], made[:, 0], edge])
    moving, frames = move(len(still), positions, start, (here, np.stack([at] * 4), up), *hands)
    across = {"title": titles[0], "range": span, "tickformat": ",.8~g"}
    labels = [f"{position:,}" for position in positions.tolist()]
    traces = [*still, *moving]
    return finish(traces, across, _upper(titles[1]), frames, labels, start, words, **_clock_axes(clock))


def _vector(name: str, titles: tuple[str, str], rank: int, marker: Part) -> Part:
    said = hover(titles, name)
    return {"name": name, "mode": "markers", "marker": marker, "hovertemplate": said, "legendrank": rank}


def _hand(colour: str, clock: tuple[str, str], name: str = "") -> Part:
    return {
        "mode": "lines+markers",
        "line": {"color": colour, "width": 4},
        "marker": dots(11, None, colour),
        "hovertemplate": hover(clock, name),
        **_CLOCK,
    }


def _upper(title: str) -> Part:
    """Return the vertical axis of the panel above a clock."""
    return {"title": title, "range": [-REACH, REACH], "domain": UPPER}


def _clock_axes(clock: tuple[str, str]) -> dict[str, Part]:
    """Return the axes of the clock in the lower panel."""
    look: Part = {"range": [-REACH, REACH], "tickvals": [-1, -0.5, 0, 0.5, 1], "constrain": "domain"}
    return {
        "xaxis2": axis(clock[0], anchor="y2", **look),
        "yaxis2": axis(clock[1], anchor="x2", scaleanchor="x2", domain=LOWER, **look),
    }
