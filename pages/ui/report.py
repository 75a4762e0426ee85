"""The report: what a page shows, as one HTML file, made when somebody asks for it."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import streamlit as st

from pages.ui import shown
from pages.ui.heatmap import CANVAS
from pages.ui.text import catalogue, fill, label, language, number
from posenc.sources import SOURCES

if TYPE_CHECKING:
    from posenc.figures.report import Canvas, Chart

MOST_MB = 12


def offer(keys: Sequence[str]) -> None:
    """Offer the report of the page that is being drawn, with these sources."""
    page = shown.page()
    page.note_address()
    st.download_button(
        label("report.download"),
        partial(make, page, language(), tuple(keys)),
        f"posenc-{page.slug or 'home'}.html",
        mime="text/html",
        key="download_report",
        icon=":material/description:",
        on_click="ignore",
    )
    st.caption(label("report.note", megabytes=MOST_MB))


def make(page: shown.Page, lang: str, keys: Sequence[str]) -> bytes:
    """Write the report of what a page shows now: the run that is asking may be over."""
    from posenc.figures import report

    words = catalogue(lang)
    html = report.report(
        page.title,
        _charts(page),
        settings=dict(_settings(page, words)),
        address=f"/{page.slug}?{urlencode(page.query)}" if page.query else f"/{page.slug}",
        sources=[SOURCES[key] for key in keys],
        words=report.Words(
            lang,
            words["report.settings"],
            words["code.sources"],
            words["report.coarse"],
            fill(words["report.left_out"], {"megabytes": MOST_MB}),
        ),
        canvas=_canvas(),
        most=MOST_MB * 1_000_000,
    )
    return html.encode()


def _charts(page: shown.Page) -> "Iterator[Chart]":
    """Give the charts one by one: a heatmap is packed only now, and let go before the next."""
    from posenc.figures.report import Chart

    for heading, chart in page.charts():
        yield Chart(heading, chart.alt, chart.drawn())


def _settings(page: shown.Page, words: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in page.settings.items():
        if f"label.{name}" in words:
            yield words[f"label.{name}"], _value(name, value, words)


def _value(name: str, value: Any, words: dict[str, str]) -> str:
    """Write the value of a parameter as its widget shows it."""
    if isinstance(value, bool):
        return words["report.on" if value else "report.off"]
    if isinstance(value, list):
        return ", ".join(_value(name, each, words) for each in value)
    if isinstance(value, str):
        return words.get(f"option.{name}.{value}", value)
    return number(value, 12) if isinstance(value, float) else f"{value:,}"


@lru_cache(maxsize=1)
def _canvas() -> "Canvas":
    from posenc.figures.report import Canvas

    return Canvas(*((CANVAS / f"heatmap.{kind}").read_text(encoding="utf-8") for kind in Canvas._fields))
