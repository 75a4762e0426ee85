"""The one way to draw a matrix: position 0 on top, colours centred on zero, a bounded number of cells.

Longer or wider matrices are cut to their first `MAX_SIDE` rows and columns, or drawn as blocks; the page says
which.
"""

import html
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from posenc.blocks import Blocks
from posenc.figures.style import DIVERGING, SEQUENTIAL, finish

MAX_SIDE = 512
# A longer label on an axis would leave no room for the cells on a phone; the hover shows it whole.
MAX_LABEL = 16
# Pixels: what title, axis and margins take of a figure's height, and what a line of text takes.
FURNITURE, LINE = 90, 16


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

    def words(self, longest: int = sys.maxsize) -> list[str]:
        """Return the labels as plotly shows them: it would read the piece <s> as a tag and show nothing."""
        cut = (text if len(text) <= longest else f"{text[: longest - 1]}…" for text in self.labels)
        return [html.escape(text, quote=False) for text in cut]

    def edges(self, size: int) -> NDArray[np.int64]:
        """Return the numbers of `size` rows or columns, and the one after the last."""
        return np.arange(self.first, self.first + size + 1)

    def ticks(self, edges: NDArray[np.int64]) -> list[str]:
        """Return the text for each cell in the hover: the number of its row or column, or their range."""
        ends = zip(edges[:-1].tolist(), (edges[1:] - 1).tolist(), strict=True)
        numbers = [
            f"{self.name} {first}" if first == last else f"{self.name} {first}–{last}" for first, last in ends
        ]
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
    trace = go.Heatmap(
        z=shown,
        x0=columns.first,
        y0=rows.first,
        customdata=extra,
        zmin=0.0 if sequential else -limit,
        zmax=limit,
        colorscale=SEQUENTIAL if sequential else DIVERGING,
        hovertemplate=hover + "<extra></extra>",
        hoverongaps=False,
    )
    figure = _figure(trace, rows, columns, rows.edges(n), columns.edges(m), value, height)
    if square:
        # Both pairs of axes must shrink alike, or the ticks of one leave the cells of the other.
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(constrain="domain", constraintoward="top")
        figure.update_layout(yaxis_scaleanchor="x")
    return finish(figure, height=height)


def block_map(
    blocks: Blocks,
    rows: Axis,
    columns: Axis,
    value: str,
    extremes: tuple[str, str],
    *,
    limit: float,
    height: int = 420,
) -> go.Figure:
    """Draw the mean of each block as a colour; the hover adds its least and its greatest value.

    Parameters
    ----------
    blocks
        The blocks of a view; what is sent depends on their number, not on that of the values behind them.
    rows, columns
        What the axes say.
    value
        Name of the mean, for the colour bar and the hover.
    extremes
        Names of the least and the greatest value.
    limit
        Largest absolute value of the symmetric colour scale.
    height
        In pixels.

    Returns
    -------
    plotly.graph_objects.Figure
    """
    least, greatest = extremes
    trace = go.Heatmap(
        x=blocks.columns - 0.5,  # the edges of the cells: one more than there are cells
        y=blocks.rows - 0.5,
        z=blocks.mean.astype(np.float32),
        customdata=np.stack([blocks.minimum, blocks.maximum], axis=2).astype(np.float32),
        zmin=-limit,
        zmax=limit,
        colorscale=DIVERGING,
        hovertemplate=f"%{{y}}<br>%{{x}}<br>{value}: <b>%{{z:.6g}}</b><br>{least}: %{{customdata[0]:.6g}}"
        f"<br>{greatest}: %{{customdata[1]:.6g}}<extra></extra>",
    )
    return finish(_figure(trace, rows, columns, blocks.rows, blocks.columns, value, height), height=height)


def _figure(
    trace: go.Heatmap,
    rows: Axis,
    columns: Axis,
    row_edges: NDArray[np.int64],
    column_edges: NDArray[np.int64],
    value: str,
    height: int,
) -> go.Figure:
    trace.update(
        colorbar={"title": {"text": value, "side": "right"}, "thickness": 14, "outlinewidth": 0},
        xaxis="x2",
        yaxis="y2",
    )
    figure = go.Figure(trace)
    # An axis without a trace is not drawn.
    figure.add_scatter(x=[None], y=[None], hoverinfo="skip", showlegend=False)
    figure.update_layout(
        # Axes 2 carry the cells and a hover text for each row and column; axes 1 carry the few visible
        # ticks. This keeps the hover's words out of the cells: one text a column, not one a cell.
        xaxis={"title": {"text": columns.title}, **_visible(columns, column_edges)},
        yaxis={"title": {"text": rows.title}, **_visible(rows, row_edges, down=True, room=_labels(height))},
        xaxis2={"overlaying": "x", "matches": "x", **_carrier(columns, column_edges)},
        yaxis2={"overlaying": "y", "matches": "y", **_carrier(rows, row_edges, down=True)},
    )
    return figure


def rows_height(rows: int, *, most: int = 640) -> int:
    """Return a height in pixels that gives each row room for its label, as long as there are not too many."""
    return min(most, FURNITURE + rows * (LINE + 8))


def common_limit(*matrices: NDArray[np.floating], share: float = 0.995) -> float:
    """Return one colour limit for several matrices: all but a few of their shown values lie within it.

    One huge value would leave everything else pale; the values beyond share the darkest colour.
    """
    shown = [np.abs(matrix[:MAX_SIDE, :MAX_SIDE]).ravel() for matrix in matrices]
    return float(np.quantile(np.concatenate(shown), share))


def _range(edges: NDArray[np.int64], down: bool) -> list[float]:
    ends = [float(edges[0]) - 0.5, float(edges[-1]) - 0.5]
    return ends[::-1] if down else ends


def _visible(
    axis: Axis, edges: NDArray[np.int64], down: bool = False, room: int = MAX_SIDE
) -> dict[str, object]:
    look: dict[str, object] = {"range": _range(edges, down), "showgrid": False, "zeroline": False}
    if axis.labels:
        size = len(edges) - 1
        every = slice(None, size, -(-size // room))
        ticks = {"tickvals": edges[:-1].tolist()[every], "ticktext": axis.words(MAX_LABEL)[every]}
        look |= {"tickmode": "array", "automargin": True, **ticks}
    return look


def _labels(height: int) -> int:
    """Say how many labels, one below the other, a figure of this height can show."""
    return max(1, (height - FURNITURE) // LINE)


def _carrier(axis: Axis, edges: NDArray[np.int64], down: bool = False) -> dict[str, object]:
    return {
        "range": _range(edges, down),
        "tickmode": "array",
        "tickvals": ((edges[:-1] + edges[1:] - 1) / 2).tolist(),
        "ticktext": axis.ticks(edges),
        "showticklabels": False,
        "ticks": "",
        "showgrid": False,
        "zeroline": False,
    }
