"""Arrays and labels in, plotly figures out. Pictures never compute, and know no language and no Streamlit."""

from posenc.figures.frames import Words
from posenc.figures.heatmap import heatmap
from posenc.figures.lines import band, bars, lines, path, series
from posenc.figures.links import links
from posenc.figures.motion import shifting, stepping, turning
from posenc.figures.picture import Axis, Line, Picture, common_limit, rows_height
from posenc.figures.rotating import Face, rotating
from posenc.figures.style import BLUE, ORANGE
from posenc.figures.tiles import Kind, tiles
from posenc.figures.wire import Cells, cells, pack

__all__ = [
    "BLUE",
    "ORANGE",
    "Axis",
    "Cells",
    "Face",
    "Kind",
    "Line",
    "Picture",
    "Words",
    "band",
    "bars",
    "cells",
    "common_limit",
    "heatmap",
    "lines",
    "links",
    "pack",
    "path",
    "rotating",
    "rows_height",
    "series",
    "shifting",
    "stepping",
    "tiles",
    "turning",
]
