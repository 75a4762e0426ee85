"""The one way to draw a matrix: position 0 on top, colours centred on zero, a bounded number of cells.

Longer or wider matrices are cut to their first `MAX_SIDE` rows and columns; the page says so.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from posenc.figures.style import DIVERGING, SEQUENTIAL, finish

MAX_SIDE = 512


@dataclass(frozen=True)
class Axis:
    """What an axis of a matrix says.

    Parameters
    ----------
    title
        With its unit where it has one.
    name
        The word for one row or column in the hover: "position".
    first
        The number of the first row or column.
    labels
        Words that stand for the numbers, one a row or column (pieces of a sentence).
    hover
        More lines about each row or column for the hover, one a row or column.
    """

    title: str
    name: str
    first: int = 0
    labels: Sequence[str] = ()
    hover: Sequence[str] = field(default=(), repr=False)

    def words(self) -> list[str]:
        """Return the labels as plotly shows them: it would read the piece <s> as a tag and show nothing."""
        return [html.escape(label, quote=False) for label in self.labels]

    def ticks(self, size: int) -> list[str]:
        """Return the text for each row or column in the hover."""
        numbers = [f"{self.name} {self.first + index}" for index in range(size)]
        for extra in (self.words(), self.hover):
            if extra:
                numbers = [f"{text}<br>{more}" for text, more in zip(numbers, extra, strict=False)]
        return numbers


def heatmap(
    matrix: NDArray[np.floating],
    rows: Axis,
    columns: Axis,
    value: str,
    *,
    limit: float | None = None,
    sequential: bool = False,
    cell: tuple[str, NDArray[np.floating]] | None = None,
    square: bool = False,
    height: int = 420,
) -> go.Figure:
    """Draw a matrix as colours.

    Parameters
    ----------
    matrix
        (n, m) values; NaN cells stay empty.
    rows, columns
        What the axes say.
    value
        Name of the values, for the colour bar and the hover.
    limit
        Largest absolute value of the colour scale, always symmetric; default: the largest in the matrix.
    sequential
        For values that are never negative (weights, distances): a scale from 0 to `limit`.
    cell
        Name and values (n, m) of one more number for the hover of each cell.
    square
        Cells as high as they are wide.
    height
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    shown = np.asarray(matrix[:MAX_SIDE, :MAX_SIDE], dtype=np.float32)
    n, m = shown.shape
    if limit is None:
        finite = np.abs(shown[np.isfinite(shown)])
        limit = float(finite.max()) if finite.size else 1.0
    limit = limit or 1.0  # an all-zero matrix has no range: colour it as zero
    hover = f"%{{y}}<br>%{{x}}<br>{value}: <b>%{{z:.6g}}</b>"
    extra = None
    if cell is not None:
        hover += f"<br>{cell[0]}: %{{customdata:.6g}}"
        extra = np.asarray(cell[1][:MAX_SIDE, :MAX_SIDE], dtype=np.float32)
    figure = go.Figure(
        go.Heatmap(
            z=shown,
            customdata=extra,
            zmin=0.0 if sequential else -limit,
            zmax=limit,
            colorscale=SEQUENTIAL if sequential else DIVERGING,
            colorbar={"title": {"text": value, "side": "right"}, "thickness": 14, "outlinewidth": 0},
            hovertemplate=hover + "<extra></extra>",
            hoverongaps=False,
            xaxis="x2",
            yaxis="y2",
        )
    )
    # An axis without a trace is not drawn.
    figure.add_scatter(x=[None], y=[None], hoverinfo="skip", showlegend=False)
    figure.update_layout(
        # Axes 2 carry the cells and a hover text for each row and column; axes 1 carry the few visible
        # ticks. This keeps the hover's words out of the cells: one text a column, not one a cell.
        xaxis={"title": {"text": columns.title}, **_visible(columns, m)},
        yaxis={"title": {"text": rows.title}, **_visible(rows, n, down=True)},
        xaxis2={"overlaying": "x", "matches": "x", **_carrier(columns, m)},
        yaxis2={"overlaying": "y", "matches": "y", **_carrier(rows, n, down=True)},
    )
    if square:
        figure.update_yaxes(scaleanchor="x", constrain="domain", selector={"overlaying": None})
        figure.update_xaxes(constrain="domain", selector={"overlaying": None})
    return finish(figure, height=height)


def _range(axis: Axis, size: int, down: bool) -> list[float]:
    ends = [-0.5, size - 0.5]
    return ends[::-1] if down else ends


def _visible(axis: Axis, size: int, down: bool = False) -> dict[str, object]:
    look: dict[str, object] = {"range": _range(axis, size, down), "showgrid": False, "zeroline": False}
    if axis.labels:
        look |= {"tickmode": "array", "tickvals": list(range(size)), "ticktext": axis.words()[:size]}
    return look


def _carrier(axis: Axis, size: int, down: bool = False) -> dict[str, object]:
    return {
        "range": _range(axis, size, down),
        "tickmode": "array",
        "tickvals": list(range(size)),
        "ticktext": axis.ticks(size),
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }
