"""Two orders of the same things, side by side, with a line from each to itself."""

import html
from collections.abc import Sequence

from posenc.figures.style import GREY, ORANGE, Figure, draw


def links(
    first: Sequence[str],
    second: Sequence[str],
    order: Sequence[int],
    names: tuple[str, str],
    position: str,
    *,
    row_height: int = 34,
) -> Figure:
    """Draw which row of the first order went where in the second.

    Parameters
    ----------
    first, second
        The labels, row 0 on top.
    order
        Row t of the second is row ``order[t]`` of the first. What moved is drawn in orange.
    names
        Headings of the two orders.
    position
        Title of the vertical axis.
    row_height
        In pixels.
    """
    traces = [
        {
            "x": [0, 1],
            "y": [start, to],
            "mode": "lines+markers+text",
            "text": [html.escape(first[start], quote=False), html.escape(second[to], quote=False)],
            "textposition": ["middle left", "middle right"],
            "textfont": {"size": 14},
            "cliponaxis": False,  # in a narrow column a long piece may reach into the margin
            "line": {"color": ORANGE, "width": 3} if start != to else {"color": GREY, "width": 1.5},
            "marker": {"size": 9, "symbol": ["circle", "arrow"], "angleref": "previous"},
            "hovertemplate": f"{html.escape(second[to], quote=False)}: {start} → {to}<extra></extra>",
        }
        for to, start in enumerate(order)
    ]
    bare = {"showgrid": False, "zeroline": False}
    heads = {"title": "", "range": [-1, 2], "tickvals": [0, 1], "ticktext": names, "side": "top"}
    rows = {"title": position, "range": [len(order) - 0.5, -0.5], "dtick": 1, **bare}
    height = 60 + row_height * len(order)
    return draw(traces, {**heads, "automargin": True, **bare}, rows, height=height)
