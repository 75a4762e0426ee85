"""A heatmap as a plotly figure, for notebooks and reports: position 0 on top, colours centred on zero."""

import html
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc.blocks import Blocks
from posenc.figures.picture import Axis, Picture
from posenc.figures.style import Figure, colours, draw


def heatmap(picture: Picture[Blocks]) -> Figure:
    """Draw the mean of each block as a colour; the hover adds its least and its greatest value.

    Parameters
    ----------
    picture
        What to draw; what is sent depends on the number of its blocks, not on that of the values behind them.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    blocks, (low, high) = picture.blocks, picture.limits
    hover = (
        f"{picture.rows.name} %{{y}}<br>{picture.columns.name} %{{x}}<br>{picture.value}: <b>%{{z:.6g}}</b>"
    )
    if not blocks.single:
        hover += "<br>%{customdata[0]:.6g} … %{customdata[1]:.6g}"
    extremes = np.stack([blocks.minimum, blocks.maximum], axis=2).astype(np.float32)
    trace = {
        "type": "heatmap",
        "x": picture.columns.first
        + blocks.columns
        - 0.5,  # edges of the cells: one more than there are cells
        "y": picture.rows.first + blocks.rows - 0.5,
        "z": blocks.mean.astype(np.float32),
        "customdata": None if blocks.single else extremes,
        "zmin": low,
        "zmax": high,
        "colorscale": colours(picture.sequential),
        "colorbar": {"title": {"text": picture.value, "side": "right"}, "thickness": 14, "outlinewidth": 0},
        "hovertemplate": hover + "<extra></extra>",
        "hoverongaps": False,
    }
    across, down = _axis(picture.columns, blocks.columns), _axis(picture.rows, blocks.rows, down=True)
    if picture.square:
        across |= {"constrain": "domain", "constraintoward": "left"}
        down |= {"constrain": "domain", "constraintoward": "top", "scaleanchor": "x"}
    return draw([trace], across, down, height=picture.height)


def _axis(axis: Axis, edges: NDArray[np.int64], down: bool = False) -> dict[str, Any]:
    ends = [axis.first + float(edges[0]) - 0.5, axis.first + float(edges[-1]) - 0.5]
    look: dict[str, Any] = {"title": axis.title, "range": ends[::-1] if down else ends, "showgrid": False}
    if axis.labels:
        shown = range(edges[0], edges[-1])
        # plotly would read the piece <s> as a tag and show nothing
        words = [html.escape(axis.labels[at], quote=False) for at in shown]
        look |= {"tickvals": [axis.first + at for at in shown], "ticktext": words, "automargin": True}
    return look
