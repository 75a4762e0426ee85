"""The pages as Streamlit takes them."""

import copy
from functools import lru_cache

import streamlit as st

from pages.ui import sitemap
from pages.ui.text import LANGUAGES, label, language

LOOK = """font-family: "Material Symbols Rounded"; font-size: 1.25rem; line-height: 1; width: 1.25rem;
flex: none; overflow: hidden; opacity: .8"""
# Icons by style: Streamlit would fetch a page's icon from another host, as the tab's. Who listens hears none.
ICONS = "\n".join(
    [
        f'<style>[data-testid="stSidebarNavItems"] a::before {{{LOOK}}}',
        *(
            f'[data-testid="stSidebarNavItems"] > :nth-child({place}) a::before'
            f' {{content: "{entry.icon.split("/")[1].rstrip(":")}" / ""}}'
            for place, entry in enumerate(sitemap.PAGES, 1)
        ),
        "</style>",
    ]
)


def pages() -> list[st.Page]:
    """Return every page, new for this run: Streamlit notes in it whether it is the one that runs."""
    return [copy.copy(page) for page in _found(language())]


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
