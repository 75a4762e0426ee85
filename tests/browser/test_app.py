"""The app as visitors meet it: every page, both languages, both themes, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pages.ui import sitemap
from pages.ui.text import LANGUAGES
from tests import serving
from tests.browser import harness

pytestmark = pytest.mark.browser

SLUGS = [entry.slug for entry in sitemap.PAGES]
Visit = Callable[..., harness.View]


def is_korean(text: str) -> bool:
    """Say whether a page is in Korean: on every page both languages show foreign examples."""
    hangul = sum("가" <= letter <= "힣" for letter in text)
    latin = sum(letter.isascii() and letter.isalpha() for letter in text)
    return hangul > latin / 4


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_page_is_sound(visit: Visit, slug: str, lang: str, theme: str) -> None:
    view = visit(slug, lang=lang, theme=theme)
    assert view.exceptions == []
    assert view.charts, "every page shows at least one chart"
    assert is_korean(view.text) == (lang == "ko")
    # All kinds of findings at once: each run of this test is dear.
    assert {
        "accessibility": view.accessibility(),
        "pixels wider than a phone": view.resize(390).overflow,
        "errors": view.errors,
        "external": view.external,
    } == {"accessibility": [], "pixels wider than a phone": 0, "errors": [], "external": []}


@pytest.mark.parametrize("slug", SLUGS)
def test_slider_moves_charts_and_the_link_keeps_the_view(visit: Visit, slug: str) -> None:
    view = visit(slug, seq_len=40)
    before = view.charts
    view.move("d_model", "ArrowLeft")
    moved, value = view.charts, view.value("d_model")
    assert "d_model=" in view.page.url
    assert "seq_len=40" in view.page.url
    if slug == "sinusoidal":
        assert moved != before
    link = view.page.url

    view.page.reload(wait_until="commit")
    assert view.settle().charts == moved

    # Another reader, of another language: the same view in their own words.
    copied = visit(link, locale="ko-KR")
    assert copied.value("d_model") == value
    assert len(copied.charts) == len(moved)
    assert is_korean(copied.text)
    assert view.errors + copied.errors == []


@pytest.mark.parametrize("slug", SLUGS)
def test_junk_in_the_link_gives_the_default_view(visit: Visit, slug: str) -> None:
    plain = visit(slug, lang="en").charts
    junk = visit(slug, lang="en", seq_len="９９", d_model="-4", base="nan", layout="💥", p="1e999")
    assert junk.exceptions == []
    assert junk.charts == plain
    assert junk.errors == []


@pytest.mark.parametrize("slug", SLUGS[1:2])
def test_cold_deep_link_opens_inside_its_frame(browser: Browser, tmp_path: Path, slug: str) -> None:
    """The very first visitor of a fresh process comes by a deep link."""
    with serving.serve(tmp_path) as server, browser.new_context() as context:
        view = harness.new_view(context, server).open(slug, lang="ko", d_model=64)
        assert view.value("d_model") == "64"
        assert view.charts
        assert view.page.locator("[data-testid=stSidebar] [data-testid=stPageLink]").count() == len(SLUGS)
        assert view.page.locator("[role=dialog]").count() == 0
        assert view.exceptions == []
        assert view.errors == []
