"""``python -m tests.benchmarks.bench_start [--check] [page …]``: from the start to the first chart.

Each page is the first that a fresh server shows; then it is visited again. Every visit has a browser context
of its own, so that all of them fetch the same files. Prints, as medians of the rounds, the time to health,
the time from the address to the first painted chart, the time for which the script ran (as the browser sees
it), the time that the server spent on a core (Linux; other work on the machine does not count), and how much
longer the first of these took; then which packages the server had imported before it answered, and which a
page adds. ``--check`` returns 1 if a first run takes more than twice a later one, or if something heavy that
no page needs at once is imported at the start.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from pages.ui import sitemap
from tests import chromium
from tests.benchmarks.measure import PATIENCE_S, markdown
from tests.browser.harness import FLAGS, HEIGHT
from tests.serving import Server, serve

MOST_RATIO = 2.0
LATER_VISITS = 2
KINDS = ("chart", "run", "server")
# What takes long to import; a page that needs one of them imports it itself.
HEAVY = ("pandas", "pyarrow", "scipy", "matplotlib", "altair", "pydeck", "sklearn", "torch")
SHOWN = 12
IMPORTED = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+([\w.]+)")

# Looks at every frame for the first chart and for the script's end; times from the start of navigation. A
# script may have run between two frames: then it is taken to have started when the app stood there.
WATCH = """() => {
  const seen = (window.seen = {});
  const look = () => {
    const app = document.querySelector('[data-testid=stApp]');
    const state = app && app.dataset.testScriptState;
    if (state) seen.app ??= performance.now();
    if (state === 'running') seen.running ??= performance.now();
    const painted = [...document.querySelectorAll('.heatmap[data-painted], .js-plotly-plot .main-svg')]
      .some((chart) => chart.getClientRects().length);
    if (painted) seen.chart ??= performance.now();
    if (seen.chart && state === 'notRunning') {
      seen.running ??= seen.app;
      seen.end ??= performance.now();
    }
    if (!seen.end) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@dataclass(frozen=True)
class Visit:
    """Seconds from the address to the first chart, for which the script ran, and of the server's own."""

    chart: float
    run: float
    server: float


@dataclass(frozen=True)
class Start:
    """What a fresh server did: seconds to health, the first visit, the later ones, what it imported."""

    health: float
    first: Visit
    later: tuple[Visit, ...]
    before: Counter[str]
    added: Counter[str]


def visit(browser: Browser, server: Server, slug: str) -> Visit:
    """Open a page as a visitor who has never been here."""
    before = spent(server)
    context = browser.new_context(
        viewport={"width": 1280, "height": HEIGHT}, locale="en-US", reduced_motion="reduce"
    )
    try:
        page = context.new_page()
        page.add_init_script(f"({WATCH})()")
        page.goto(f"{server.url}/{slug}", wait_until="commit")
        seen = wait_for_end(page)
    finally:
        context.close()
    return Visit(seen["chart"] / 1000, (seen["end"] - seen["running"]) / 1000, spent(server) - before)


def spent(server: Server) -> float:
    """Seconds that the server's process has spent on a core; NaN where the system does not say."""
    process = Path(f"/proc/{server.pid}/stat")
    if not process.exists():
        return math.nan
    ticks = process.read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def wait_for_end(page: Page) -> dict[str, float]:
    """Return what was seen once the script has ended; asked for, since the page's policy forbids `eval`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        seen: dict[str, float] | None = page.evaluate("window.seen")
        if seen and "end" in seen:
            return seen
        page.wait_for_timeout(50)
    raise TimeoutError(f"{page.url} was not drawn within {PATIENCE_S:g} s")


def start(browser: Browser, slug: str) -> Start:
    """Start a server and visit one page, several times."""
    with tempfile.TemporaryDirectory() as folder, started(Path(folder)) as (server, health):
        before = packages(server)
        first = visit(browser, server, slug)
        added = packages(server) - before
        later = tuple(visit(browser, server, slug) for _ in range(LATER_VISITS))
    return Start(health, first, later, before, added)


@contextmanager
def started(folder: Path) -> Iterator[tuple[Server, float]]:
    """Start a server that logs its imports; say how long it took to be healthy."""
    begin = time.perf_counter()
    # One process: in two, half of the later visits would be the first that theirs has.
    with serve(folder, PYTHONPROFILEIMPORTTIME="1", POSENC_PROCESSES="1") as server:
        yield server, time.perf_counter() - begin


def packages(server: Server) -> Counter[str]:
    """Microseconds of import by package, as `-X importtime` wrote them into the server's log."""
    found: Counter[str] = Counter()
    for own, module in IMPORTED.findall(server.log.read_text(errors="replace")):
        found[module.split(".")[0]] += max(1, int(own))
    return found


def row(page: str, starts: list[Start]) -> tuple[list[str], float]:
    """Write a line of the table; return the largest ratio of a first visit to a later one, too."""
    cells, ratios = [page, f"{statistics.median(one.health for one in starts):.2f} s"], []
    for kind in KINDS:
        first = statistics.median(getattr(one.first, kind) for one in starts)
        later = statistics.median(getattr(visit, kind) for one in starts for visit in one.later)
        ratios.append(first / later)
        cells += [f"{first:.2f} s", f"{later:.2f} s", f"{first / later:.2f}"]
    return cells, max(ratio for ratio in ratios if not math.isnan(ratio))


def listed(found: Counter[str]) -> str:
    """Name the packages that took longest, in milliseconds."""
    return ", ".join(f"{name} {micro / 1000:.0f}" for name, micro in found.most_common(SHOWN))


def main(arguments: list[str]) -> int:
    """Print a table of times and the packages; with ``--check`` 1 if a limit is passed."""
    parser = argparse.ArgumentParser(prog="bench_start")
    parser.add_argument("--rounds", type=int, default=3, help="fresh servers for each page")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="page", help="none: all")
    given = parser.parse_args(arguments)
    executable = chromium.find()
    if executable is None:
        print(f"No Chromium here; name one in {chromium.VARIABLE}.")
        return 1
    slugs = {entry.name: entry.slug for entry in sitemap.PAGES}
    starts: dict[str, list[Start]] = {name: [] for name in given.pages or slugs}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for _ in range(given.rounds):
            for name, found in starts.items():
                found.append(start(browser, slugs[name]))
        browser.close()

    rows, broken = [], []
    for page, found in starts.items():
        cells, ratio = row(page, found)
        rows.append(cells)
        if ratio > MOST_RATIO:
            broken.append(f"{page}: its first visit takes {ratio:.2f} times a later one")
    print(f"Medians of {given.rounds} fresh servers for each page\n")
    kinds = [f"{kind}, {name}" for kind in KINDS for name in ("first", "later", "ratio")]
    header = ["page", "health", *kinds]
    print(markdown(header, rows))
    last = {page: found[-1] for page, found in starts.items()}
    at_start = next(iter(last.values())).before
    print(f"\nImported before the server answers, ms: {listed(at_start)}")
    for page, one in last.items():
        print(f"Added by the first visit of {page}: {listed(one.added) or 'nothing'}")
    broken += [f"{name} is imported at the start" for name in HEAVY if name in at_start]
    print("", *broken or ["All within limits."], sep="\n")
    return 1 if given.check and broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
