"""Show a figure: the one place where a plotly figure meets Streamlit."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import shown

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

CONFIG = {
    "displaylogo": False,
    "scrollZoom": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}


def show(figure: "Figure", key: str, alt: str) -> None:
    """Draw one chart.

    Parameters
    ----------
    figure
        What to draw.
    key
        Unique on the page: two equal figures without one are an error.
    alt
        What the chart shows, in a sentence, for who cannot see it.
    """
    shown.chart(alt, lambda: figure)
    st.plotly_chart(figure, key=key, alt=alt, width="stretch", config=CONFIG)
