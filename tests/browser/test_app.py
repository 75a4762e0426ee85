"""The app as visitors meet it: every page, both languages, both themes, in a real browser."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from pages.ui import sitemap
from pages.ui.text import LANGUAGES, catalogue
from tests import serving
from tests.browser import harness
from tests.browser.canvas import Canvas

pytestmark = pytest.mark.browser

SLUGS = [entry.slug for entry in sitemap.PAGES]
Visit = Callable[..., harness.View]


def is_korean(text: str) -> bool:
    """Say whether a page is in Korean: on every page both languages show foreign examples."""
    hangul = sum("가" <= letter <= "힣" for letter in text)
    latin = sum(letter.isascii() and letter.isalpha() for letter in text)
    return hangul > latin / 4


def unfolded(slug: str) -> dict[str, int]:
    """Return the query that opens every section of a page."""
    (page,) = (entry.name for entry in sitemap.PAGES if entry.slug == slug)
    keys = (key.split(".") for key in catalogue("en") if key.startswith(f"section.{page}."))
    return {f"show_{name}": 1 for _, _, name in keys}


# Each page at first sight in one language and theme, and with all it has in the others: every language and
# every theme is seen, and each visit is dear.
SIGHTS = [
    (slug, LANGUAGES[(at + everything) % 2], ("light", "dark")[everything], everything)
    for at, slug in enumerate(SLUGS)
    for everything in (False, True)
]


@pytest.mark.parametrize(("slug", "lang", "theme", "everything"), SIGHTS)
def test_page_is_sound(visit: Visit, slug: str, lang: str, theme: str, everything: bool) -> None:
    view = visit(slug, lang=lang, theme=theme, **(unfolded(slug) if everything else {}))
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


def test_what_is_not_drawn_yet_does_not_fade(visit: Visit) -> None:
    fading = """() => {
      const element = document.querySelector('[data-stale]');
      element.style = 'opacity: .33; transition: opacity 1s ease-in .5s'; // as Streamlit's own
      const { opacity, transitionDuration, transitionDelay } = getComputedStyle(element);
      return [opacity, transitionDuration, transitionDelay];
    }"""
    assert visit("sinusoidal").page.evaluate(fading) == ["1", "0s", "0s"]


@pytest.mark.parametrize("slug", SLUGS)
def test_junk_in_the_link_gives_the_default_view(visit: Visit, slug: str) -> None:
    plain = visit(slug, lang="en").charts
    junk = visit(
        slug,
        lang="en",
        seq_len="９９",
        d_model="-4",
        base="nan",
        layout="💥",
        p="1e999",
        table_view="9-3x0-4",
    )
    assert junk.exceptions == []
    assert junk.charts == plain
    assert junk.errors == []


# Remembers what the address said when the first change of a view was painted.
WATCH = """(root) => new MutationObserver(() => (window.address ??= location.search))
  .observe(root, {attributeFilter: ['data-view']})"""


def test_a_part_of_a_million_positions(visit: Visit) -> None:
    view = visit("sinusoidal", lang="en", seq_len=1_000_000)
    page, table = view.page, Canvas(view.page.locator(".heatmap[data-key=table]"))

    def cell(p: int, j: int, d_model: int) -> str:
        value = (math.cos if j % 2 else math.sin)(p / 10_000 ** (2 * (j // 2) / d_model))
        return f"{value:.6g}".replace("-", "−")

    def address(part: str) -> None:
        page.wait_for_url(lambda url: part in url, wait_until="commit")
        view.settle()

    def paintings() -> int:
        return int(table.root.get_attribute("data-painted") or 0)

    # A box that is dragged is there at once, and in the address when the server has its cells.
    table.root.scroll_into_view_if_needed()
    table.root.evaluate(WATCH)
    for _ in range(2):
        before = paintings()
        table.drag((400_000, 20.5), (700_000, 79.5))
        turned = table.view
        address(f"table_view={turned}")
        assert page.evaluate("window.address") == "?seq_len=1000000"
        assert table.view == turned != "0-1000000x0-128"
        assert paintings() >= before + 2  # with the cells that were here, then with finer ones
        assert table.part("note").inner_text().startswith("each cell = 7")
        page.go_back()
        page.wait_for_url(lambda url: "table_view" not in url, wait_until="commit")
        view.settle()
        assert table.view == "0-1000000x0-128"

    # A range that is typed; single values are those of the formula.
    table.part("range").locator("summary").click()
    assert view.accessibility() == []
    for k, number in enumerate((654_321, 654_330, 10, 17)):
        table.root.locator("form input").nth(k).fill(str(number))
    table.part("apply").click()
    address("table_view=654321-654331x10-18")
    lines = table.hover(654_325.5, 13.5)
    assert lines[:3] == ["Position 654,325", "Dimension 13", "Pair i: 6"]
    assert lines[-1] == f"Value: {cell(654_325, 13, 128)}"
    table.press("ArrowDown", "ArrowLeft")
    said = table.part("said").text_content() or ""
    assert said.startswith("Position 654,326, Dimension 12, Pair i: 6, Function: Sine, ")
    assert said.endswith(f"Value, {cell(654_326, 12, 128)}")

    # Another width keeps the zoom, a copied link opens it, a double click shows all.
    view.move("d_model", "ArrowLeft")
    assert table.view == "654321-654331x10-18"
    narrower = int(view.value("d_model"))
    assert narrower < 128
    assert table.hover(654_325.5, 13.5)[-1] == f"Value: {cell(654_325, 13, narrower)}"
    drawn = view.charts[0]
    page.reload(wait_until="commit")
    assert view.settle().charts[0] == drawn
    table.root.scroll_into_view_if_needed()
    page.mouse.dblclick(*table.point(654_325.5, 13.5))
    page.wait_for_url(lambda url: "table_view" not in url, wait_until="commit")
    assert view.settle().charts[0].startswith(f"table 0-1000000x0-{narrower} ")
    assert view.errors == []


@pytest.mark.parametrize("slug", SLUGS[1:2])
def test_cold_deep_link_opens_inside_its_frame(browser: Browser, tmp_path: Path, slug: str) -> None:
    """The very first visitor of a fresh process comes by a deep link."""
    with serving.serve(tmp_path) as server, browser.new_context() as context:
        view = harness.new_view(context, server).open(slug, lang="ko", d_model=64)
        assert view.value("d_model") == "64"
        assert view.charts
        assert view.page.locator("[data-testid=stSidebarNavLink]").count() == len(SLUGS)
        assert view.page.locator("[role=dialog]").count() == 0
        assert view.exceptions == []
        assert view.errors == []
