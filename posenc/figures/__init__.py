"""Arrays and labels in, plotly figures out. Pictures never compute, and know no language and no Streamlit."""

from posenc.figures.heatmap import MAX_SIDE, Axis, block_map, common_limit, heatmap, rows_height
from posenc.figures.lines import band, bars, clock, path, series, waves
from posenc.figures.links import links
from posenc.figures.style import BLUE, ORANGE

__all__ = [
    "BLUE",
    "MAX_SIDE",
    "ORANGE",
    "Axis",
    "band",
    "bars",
    "block_map",
    "clock",
    "common_limit",
    "heatmap",
    "links",
    "path",
    "rows_height",
    "series",
    "waves",
]
