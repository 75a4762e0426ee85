"""The pages as Streamlit takes them."""

import copy
from functools import lru_cache

import streamlit as st

from pages.ui import sitemap
from pages.ui.sitemap import Entry
from pages.ui.text import LANGUAGES, label, language


def pages() -> dict[Entry, st.Page]:
    """Return every page, new for this run: Streamlit notes in it whether it is the one that runs."""
    return dict(zip(sitemap.PAGES, map(copy.copy, _found(language())), strict=True))


@lru_cache(maxsize=len(LANGUAGES))  # to look for all files took a part of every run
def _found(_lang: str) -> tuple[st.Page, ...]:
    return tuple(
        st.Page(
            f"{entry.name}.py",
            title=label(f"page.{entry.name}.title"),
            url_path=entry.slug or None,
            default=not entry.slug,
        )
        for entry in sitemap.PAGES
    )
