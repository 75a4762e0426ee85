"""One page of the running app in Chromium."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, ConsoleMessage, Locator, Page, Request

from pages.ui.text import LANGUAGES, catalogue
from tests.serving import LIMIT_S, Server

HEIGHT = 900

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Nothing outside is reachable; what tries is listed in View.external.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]

# True when the script has run, nothing on the page is stale, and every chart in view has its drawing.
IDLE = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const drawn = (chart) => chart && (chart.matches('.heatmap')
    ? chart.dataset.painted >= 1
    : chart.querySelector('.main-svg') && chart._fullLayout && !chart._transitioning);
  return !!app && app.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && !document.querySelector('[data-testid=stSkeleton], [data-testid=stAppSkeleton], [data-stale=true]')
    && [...document.querySelectorAll('[data-testid=stPlotlyChart], [data-testid=stBidiComponentRegular]')]
      .every((slot) => slot.offsetParent === null || drawn(slot.querySelector('.js-plotly-plot, .heatmap')));
}"""

# What each visible chart shows, short enough to compare: a heatmap's view and a checksum of its pixels, or
# the types of a figure's traces and a checksum of all its data.
CHARTS = """() => {
  const sum = (numbers) => numbers.reduce((total, number) => (Math.imul(total, 31) + number) | 0, 0);
  return [...document.querySelectorAll('.js-plotly-plot, .heatmap')]
    .filter((chart) => chart.offsetParent !== null).map((chart) => {
      if (chart.matches('.heatmap')) {
        const { width, height } = chart.querySelector('canvas');
        const pixels = chart.querySelector('canvas').getContext('2d').getImageData(0, 0, width, height).data;
        return [chart.dataset.key, chart.dataset.view, sum(new Uint32Array(pixels.buffer))].join(' ');
      }
      const text = new TextEncoder().encode(JSON.stringify(chart.data));
      return [chart.data.map((trace) => trace.type || 'scatter').join('+'), text.length, sum(text)].join(' ');
    });
}"""

OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return Math.max(...[document.documentElement, main].map((e) => e.scrollWidth - e.clientWidth));
}"""


def is_streamlits_probe(message: ConsoleMessage) -> bool:
    """On ``/page`` Streamlit first looks for its server below ``/page``, and moves up on the 404."""
    address = message.location.get("url", "")
    return "404" in message.text and address.endswith(("/_stcore/health", "/_stcore/host-config"))


@dataclass
class View:
    """One page of the app as a visitor sees it, with everything that went wrong on the way."""

    page: Page
    server: Server
    errors: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(LIMIT_S * 1000)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        self.page.on("request", self._on_request)

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not is_streamlits_probe(message):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _on_request(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.netloc != urlsplit(self.server.url).netloc:
            self.external.append(request.url)

    def open(self, path: str = "", **query: Any) -> View:
        """Open an address of the app, or a whole copied link, and wait until it is drawn."""
        address = path if path.startswith("http") else f"{self.server.url}/{path}"
        self.page.goto(f"{address}?{urlencode(query)}" if query else address, wait_until="commit")
        return self.settle()

    def settle(self, quiet: float = 0.3, seconds: float = LIMIT_S) -> View:
        """Wait until the page has been idle and unchanged for a while."""
        deadline = time.monotonic() + seconds
        seen: object = None
        since = time.monotonic()
        while time.monotonic() < deadline:
            state = self.page.evaluate(IDLE) and (self.page.evaluate(CHARTS), self.page.url)
            if not state or state != seen:
                seen, since = state, time.monotonic()
            elif time.monotonic() - since >= quiet:
                return self
            self.page.wait_for_timeout(50)
        raise TimeoutError(f"{self.page.url} was not drawn within {seconds} s; so far: {self.errors}")

    @property
    def charts(self) -> list[str]:
        """One line a visible chart: equal lines mean equal data."""
        return list(self.page.evaluate(CHARTS))

    @property
    def text(self) -> str:
        """What the page says."""
        return self.page.locator("[data-testid=stMain]").inner_text()

    @property
    def exceptions(self) -> list[str]:
        """What is shown in place of a page that failed, and what the log says about it."""
        notices = [catalogue(lang)["notice.failure"] for lang in LANGUAGES]
        failed = [notice for notice in notices if notice in self.text]
        failed += self.page.locator("[data-testid=stException]").all_inner_texts()
        return [*failed, self.server.log.read_text()[-3000:]] if failed else []

    @property
    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return int(self.page.evaluate(OVERFLOW))

    def resize(self, width: int, height: int = HEIGHT) -> View:
        """Change the window."""
        self.page.set_viewport_size({"width": width, "height": height})
        return self.settle()

    def slider(self, name: str) -> Locator:
        """Find the slider of a parameter."""
        return self.page.locator(f".st-key-{name}").get_by_role("slider")

    def move(self, name: str, key: str) -> View:
        """Press a key on the slider of a parameter, and wait until the new value is in the address."""
        slider = self.slider(name)
        before = self.page.url
        slider.focus()
        slider.press(key)
        self.page.wait_for_url(lambda url: url != before, wait_until="commit")
        return self.settle()

    def value(self, name: str) -> str | None:
        """Return what the slider of a parameter stands at, in words."""
        return self.slider(name).get_attribute("aria-valuetext")

    def screenshot(self, path: Path) -> None:
        """Save the whole page: Streamlit scrolls an inner element, so the window grows to its height."""
        size = self.page.viewport_size or {"width": 1280, "height": HEIGHT}
        hidden = self.page.locator("[data-testid=stMain]").evaluate("e => e.scrollHeight - e.clientHeight")
        self.resize(size["width"], size["height"] + int(hidden))
        self.page.screenshot(path=path)
        self.resize(size["width"], size["height"])

    def accessibility(self) -> list[str]:
        """Return the serious and critical findings of axe-core, one line each."""
        findings = Axe().run(self.page).response["violations"]
        return [
            f"{finding['impact']} {finding['id']}: {node['html'][:200]} ({node['failureSummary']})"
            for finding in findings
            if finding["impact"] in ("serious", "critical")
            for node in finding["nodes"]
        ]


def new_view(context: BrowserContext, server: Server) -> View:
    """Open an empty tab that watches for errors."""
    return View(context.new_page(), server)
