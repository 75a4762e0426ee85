"""The report in a browser that has neither a server nor a network: it draws every chart, in both themes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

from pages.ui.heatmap import CANVAS, WORDS
from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures import report
from posenc.sources import SOURCES
from tests.browser import harness
from tests.browser.canvas import Canvas

pytestmark = pytest.mark.browser

X = np.arange(40.0)
AXIS = figures.Axis("Position", "position")
PARTS = report.Canvas(
    *((CANVAS / f"heatmap.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
)
DRAWN = "html[data-drawn=yes]"


def heatmap(key: str, table: np.ndarray, most: int = 400) -> bytes:
    blocks = table_blocks(table, (0, table.shape[0]), (0, table.shape[1]), most_rows=most, most_columns=most)
    picture = figures.Picture(blocks, AXIS, AXIS, "value", 1.0)
    words = {name: f"~{name}" for name in WORDS}
    return figures.pack(picture, table.shape, key=key, alt=key, note="", words=words, pick=True)


def moving() -> report.go.Figure:
    stops, turn = np.arange(8), np.linspace(0, 6, 8)
    words = figures.Words("Position", "Play", "Pause")
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    waves = {"sine": np.sin(X), "cosine": np.cos(X)}
    return figures.turning((0, 39), waves, stops, points, 3, ("x", "y"), ("c", "s"), words)


class Opened:
    """A report in a tab: its console, and what it asks for."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.errors, self.requests = page, [], []
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector(DRAWN)

    def own(self) -> list[str]:
        """What it asked for besides itself and what it holds."""
        return [url for url in self.requests[1:] if not url.startswith(("blob:", "data:"))]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Opened]]:
    contexts = []

    def open_file(html: str | Path, theme: str = "light", width: int = 1000) -> Opened:
        path = html if isinstance(html, Path) else tmp_path / "report.html"
        if isinstance(html, str):
            path.write_text(html, encoding="utf-8")
        context = browser.new_context(
            color_scheme=theme, offline=True, viewport={"width": width, "height": harness.HEIGHT}
        )
        contexts.append(context)
        return Opened(context.new_page(), path)

    yield open_file
    for context in contexts:
        context.close()


def written(*charts: report.Chart, **more: object) -> str:
    options = {
        "settings": {"Width": "64"},
        "address": "/",
        "sources": [SOURCES["vaswani2017"]],
        "words": report.Words("ko", "설정", "출처", "only these cells", "left out"),
        "canvas": PARTS,
        "most": 12_000_000,
    }
    return report.report("제목", charts, **(options | more))


@pytest.fixture
def file() -> str:
    return written(
        report.Chart("Curves", "a wave", figures.series(X, {"wave": np.sin(X)}, "position", "value")),
        report.Chart("Curves", "two waves and a clock", moving()),
        report.Chart("Tables", "identity", heatmap("identity", np.eye(8))),
        report.Chart("Tables", "large", heatmap("large", np.eye(900), 90)),
    )


@pytest.mark.parametrize(
    ("theme", "width", "ink"), [("light", 1000, "20, 27, 36"), ("dark", 390, "233, 237, 242")]
)
def test_it_draws_every_chart_without_a_network(opened, file, theme, width, ink):
    shown = opened(file, theme, width)
    page = shown.page
    assert page.locator(".chart .main-svg").count() >= 2
    assert page.locator(".heatmap[data-painted]").count() == 2
    # The ink of both kinds of chart is that of the theme.
    for place in (".chart .xtick text >> nth=0", ".heatmap .axes >> nth=0"):
        assert page.locator(place).evaluate("e => getComputedStyle(e).fill") == f"rgb({ink})"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".chart").first.get_attribute("aria-label") == "a wave"
    assert shown.errors == []
    assert shown.own() == []


def test_the_theme_changes_with_the_readers(opened, file):
    shown = opened(file)
    tick = shown.page.locator(".chart .xtick text >> nth=0")
    shown.page.emulate_media(color_scheme="dark")
    shown.page.wait_for_function(
        "getComputedStyle(document.querySelector('.chart .xtick text')).fill === 'rgb(233, 237, 242)'"
    )
    assert tick.is_visible()
    assert shown.errors == []


def test_values_are_read_and_a_zoom_stays_with_the_cells_of_the_file(opened, file):
    shown = opened(file)
    identity, large = (
        Canvas(shown.page.locator(f".heatmap[data-key={key}]")) for key in ("identity", "large")
    )
    identity.root.scroll_into_view_if_needed()
    assert identity.hover(2.5, 2.5) == ["position 2", "position 2", "value: 1"]
    identity.drag((2.1, 2.1), (4.9, 5.9))
    assert identity.view == "2-5x2-6"
    np.testing.assert_array_equal(identity.colours((2.5, 2.5)), identity.colours((3.5, 3.5)))
    assert (identity.colours((2.5, 3.5)) != identity.colours((3.5, 3.5))).any()
    large.root.scroll_into_view_if_needed()
    before = large.view
    large.press("+")
    assert large.view != before
    shown.page.wait_for_timeout(300)  # longer than the canvas waits before it asks
    assert large.view != before
    captions = shown.page.locator("figcaption").all_inner_texts()
    assert ["only these cells" in text for text in captions] == [False, False, False, True]
    assert shown.errors == []


def test_a_figure_moves(opened, file):
    shown = opened(file)
    hand = "JSON.stringify([...document.querySelectorAll('.chart')[1].data].slice(-1)[0])"
    before = shown.page.evaluate(hand)
    shown.page.get_by_text("Play").click()
    shown.page.wait_for_function(f"{hand} !== {before!r}")
    assert shown.errors == []


def test_typed_markup_runs_nowhere(opened):
    typed = "</script><script>window.ran = 1</script><img src=x onerror='window.ran = 1'>"
    labels = figures.Axis("Position", "position", labels=[typed] * 4)
    picture = figures.Picture(
        table_blocks(np.eye(4), (0, 4), (0, 4), most_rows=4, most_columns=4), labels, AXIS, typed, 1.0
    )
    words = {name: typed for name in WORDS}
    message = figures.pack(picture, (4, 4), key="typed", alt=typed, note=typed, words=words, pick=False)
    figure = figures.series(X, {typed: np.sin(X), "other": np.cos(X)}, typed, "value")
    charts = report.Chart(typed, typed, message), report.Chart(typed, typed, figure)
    shown = opened(written(*charts, settings={typed: typed}, address=typed))
    Canvas(shown.page.locator(".heatmap")).hover(1.5, 1.5)
    assert shown.page.evaluate("window.ran") is None
    assert shown.page.locator("h2").nth(1).inner_text() == typed
    assert shown.errors == []
    assert shown.own() == []


def test_a_page_hands_out_what_it_shows_now(visit, opened, tmp_path):
    view = visit("sinusoidal", lang="en")
    view.page.locator(".st-key-hand input").fill("7")
    view.page.locator(".st-key-hand input").press("Enter")  # a fragment runs again by itself
    view.page.wait_for_url("**hand=7**")
    view.settle()
    with view.page.expect_download() as download:
        view.page.locator(".st-key-download_report button").click()
    assert download.value.suggested_filename == "posenc-sinusoidal.html"
    path = tmp_path / "page.html"
    download.value.save_as(path)
    shown = opened(path)
    assert shown.page.locator(".heatmap[data-painted], .chart .main-svg:first-child").count() >= 4
    assert "hand=7" in shown.page.locator("code").first.inner_text()
    assert "position 7" in shown.page.locator("main").inner_text() or "Position: 7" in shown.page.content()
    assert shown.errors == []
    assert shown.own() == []
    assert view.errors == []
