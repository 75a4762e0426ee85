"""Colours and sizes that all figures share: safe for colour-blind eyes, legible on light and on dark."""

import plotly.graph_objects as go

# After Okabe and Ito, shifted until each has a contrast of at least 3:1 on white and on near black.
BLUE, ORANGE, GREEN, PURPLE, GREY = "#2f7fc1", "#d9731a", "#1f9a77", "#b0639a", "#808080"
CYCLE = (BLUE, ORANGE, GREEN, PURPLE, GREY)

# Orange (negative) through a neutral to blue (positive): no red against green, which many cannot tell apart.
DIVERGING = [
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
SEQUENTIAL = "Cividis"


def finish(figure: go.Figure, *, height: int = 380, legend: bool = False) -> go.Figure:
    """Give a figure the common margins, height and legend place.

    Only an axis of words (``automargin`` already on) measures its labels to find its margin: that takes the
    browser long.
    """
    figure.update_layout(
        height=height,
        margin={"l": 66, "r": 12, "t": 28, "b": 52},
        showlegend=legend,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.0, "x": 0},
        hoverlabel={"align": "left"},
    )
    for axis in (*figure.select_xaxes(), *figure.select_yaxes()):
        axis.update(automargin=bool(axis.automargin), title_standoff=8)
    return figure
