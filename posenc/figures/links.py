"""Two orders of the same things, side by side, with a line from each to itself."""

import html
from collections.abc import Sequence

import plotly.graph_objects as go

from posenc.figures.style import GREY, ORANGE, finish


def links(
    first: Sequence[str],
    second: Sequence[str],
    order: Sequence[int],
    names: tuple[str, str],
    position: str,
    *,
    row_height: int = 34,
) -> go.Figure:
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
    figure = go.Figure()
    for to, start in enumerate(order):
        moved = start != to
        figure.add_scatter(
            x=[0, 1],
            y=[start, to],
            mode="lines+markers+text",
            text=[html.escape(first[start], quote=False), html.escape(second[to], quote=False)],
            textposition=["middle left", "middle right"],
            textfont={"size": 14},
            cliponaxis=False,  # in a narrow column a long piece may reach into the margin
            line={"color": ORANGE if moved else GREY, "width": 3 if moved else 1.5},
            marker={"size": 9, "symbol": ["circle", "arrow"], "angleref": "previous"},
            hovertemplate=f"{html.escape(second[to], quote=False)}: {start} → {to}<extra></extra>",
        )
    figure.update_xaxes(
        range=[-1, 2],
        tickvals=[0, 1],
        ticktext=names,
        side="top",
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    figure.update_yaxes(
        range=[len(order) - 0.5, -0.5], title=position, dtick=1, showgrid=False, zeroline=False
    )
    return finish(figure, height=60 + row_height * len(order))
