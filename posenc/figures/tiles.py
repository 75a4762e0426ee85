"""Rows of tiles: in which order the columns of several tables stand."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from posenc.figures.style import CYCLE, Figure, Part, draw

ROW = 34  # pixels a row


class Kind(NamedTuple):
    """How tiles of one kind look: the number of their colour, and whether they are filled."""

    colour: int
    filled: bool


def tiles(rows: Mapping[str, Sequence[tuple[str, str]]], kinds: Mapping[str, Kind], x_title: str) -> Figure:
    """Draw one row of tiles a table, the first on top.

    Parameters
    ----------
    rows
        Name of the table → its columns from left to right: the name of their kind, and what stands on them.
    kinds
        Name of the kind, for the legend → its look.
    x_title
        Title of the axis of columns, counted from 0.
    """
    traces = []
    for kind, (number, filled) in kinds.items():
        here = [
            (name, at, text)
            for name, row in rows.items()
            for at, (found, text) in enumerate(row)
            if found == kind
        ]
        colour = CYCLE[number]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "y": [name for name, _, _ in here],
                "base": [at - 0.5 for _, at, _ in here],
                "x": [1] * len(here),
                "text": [text for _, _, text in here],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "constraintext": "none",
                "insidetextfont": {"color": "white"} if filled else {},
                "name": kind,
                "marker": {
                    "color": colour if filled else "rgba(0, 0, 0, 0)",
                    "line": {"color": colour, "width": 1.5},
                },
                "customdata": [at for _, at, _ in here],
                "hovertemplate": f"%{{y}}<br>{x_title} %{{customdata}}: <b>{kind}, %{{text}}</b>"
                "<extra></extra>",
            }
        )
    last = max(map(len, rows.values())) - 0.5
    across = {"title": x_title, "range": [-0.6, last + 0.1], "showgrid": False, "zeroline": False}
    # The names are words: their axis finds its own margin.
    down = {
        "title": "",
        "categoryorder": "array",
        "categoryarray": list(rows),
        "autorange": "reversed",
        "automargin": True,
        "showgrid": False,
    }
    height = 120 + ROW * len(rows)
    look: Part = {"barmode": "overlay", "bargap": 0.25, "uniformtext": {"minsize": 8, "mode": "hide"}}
    return draw(traces, across, down, height=height, legend=True, **look)
