"""Two clocks side by side whose hands a slider moves, and what comes of them."""

from collections.abc import Mapping
from typing import NamedTuple

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
from posenc.figures.style import BLUE, GREY, ORANGE, Figure, Part, axis


class Face(NamedTuple):
    """One clock face of `rotating`: its title, the hand before any rotation (2,), and at each stop (n, 2)."""

    title: str
    rest: Values
    hand: Values


def rotating(
    steps: NDArray[np.integer],
    faces: tuple[Face, Face],
    curves: Mapping[str, Values],
    bound: float,
    titles: tuple[str, str],
    names: tuple[str, str, str],
    words: Words,
) -> Figure:
    """Draw two clock faces side by side, whose hands a slider moves, and below them what comes of it.

    Parameters
    ----------
    steps
        (n,): the stops of the slider, and the horizontal axis of the curves.
    faces
        The two clocks. Each also shows the hand of the other, dotted, so that the angle between them is seen.
    curves
        Names → values (n,); the first is the one whose value is written where the slider stands.
    bound
        No value of the curves is beyond it.
    titles
        Of the two axes of the curves.
    names
        Of a hand as it was, as it is now, and of the hand of the other clock.
    words
        What stands on the controls.
    """
    reach = REACH * max(float(np.hypot(*face.hand.T).max()) for face in faces) or 1.0
    at, tall = np.asarray(steps, dtype=np.float64), REACH * bound or 1.0
    values = next(iter(curves.values()))
    lines = [
        {
            "x": at.astype(np.float32),
            "y": np.asarray(y, dtype=np.float32),
            "name": name,
            "mode": "lines",
            "line": {"color": colour, "width": 2, "dash": dash},
            "hovertemplate": hover(titles, name),
        }
        for (name, y), colour, dash in zip(curves.items(), (BLUE, GREY), ("solid", "dash"), strict=True)
    ]
    still: list[Part] = [*lines]
    hands: list[tuple[Part, Values | None, Values]] = []
    sides = zip(faces, faces[::-1], ("2", "3"), (BLUE, ORANGE), (ORANGE, BLUE), strict=True)
    for face, other, number, colour, opposite in sides:
        place: Part = {"xaxis": f"x{number}", "yaxis": f"y{number}", "showlegend": number == "2"}
        radius = float(np.hypot(*face.rest))
        still += [
            circle(radius) | place | {"showlegend": False},
            _ray(names[0], GREY, 2, "solid", place) | {"x": [0, face.rest[0]], "y": [0, face.rest[1]]},
        ]
        for name, hand, paint, width, dash in (
            (names[2], other.hand, opposite, 2, "dot"),
            (names[1], face.hand, colour, 4, "solid"),
        ):
            zero = np.zeros(len(hand))
            hands.append(
                (
                    _ray(name, paint, width, dash, place),
                    np.stack([zero, hand[:, 0]]),
                    np.stack([zero, hand[:, 1]]),
                )
            )
    mark = {
        "mode": "lines+markers+text",
        "line": {"color": GREY, "width": 1.5},
        "marker": dots(13, None, BLUE, None),
        "textposition": "bottom right",
        "textfont": {"size": 14},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }
    edge = np.full(len(at), tall)
    moving, frames = move(
        len(still), steps, 0, *hands, (mark, np.stack([at, at, at]), np.stack([-edge, values, edge]))
    )
    for frame, value in zip(frames, values, strict=True):
        frame["data"][-1]["text"] = ["", "", f"{value + 0.0:.4g}".replace("-", "−")]
    moving[-1]["text"] = frames[0]["data"][-1]["text"]
    across = {"title": titles[0], "range": [at[0] - 1, at[-1] * 1.12]}
    up = {"title": titles[1], "range": [-tall, tall], "domain": LOWER}
    look: Part = {"range": [-reach, reach], "constrain": "domain", "nticks": 5}
    axes = {}
    for face, number, span in zip(faces, ("2", "3"), ([0, 0.46], [0.54, 1]), strict=True):
        axes[f"xaxis{number}"] = axis(face.title, anchor=f"y{number}", domain=span, **look)
        axes[f"yaxis{number}"] = axis("", anchor=f"x{number}", scaleanchor=f"x{number}", domain=UPPER, **look)
    labels = [f"{step:,}" for step in steps.tolist()]
    return finish([*still, *moving], across, up, frames, labels, 0, words, **axes)


def _ray(name: str, colour: str, width: int, dash: str, place: Part) -> Part:
    """Return a hand of one of two clocks."""
    return {
        "name": name,
        "mode": "lines+markers",
        "line": {"color": colour, "width": width, "dash": dash},
        "marker": dots(2 * width + 3, None, colour),
        "hovertemplate": f"%{{x:.6g}}, %{{y:.6g}}<extra>{name}</extra>",
        **place,
    }
