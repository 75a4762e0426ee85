"""``python -m tests.benchmarks.bench_repaint [--check]``: from a slider's release to the repainted chart.

Our /sinusoidal page and the plain way (the whole float64 matrix into `go.Heatmap`, the whole page rerun) are
open in one Chromium, and the slider of `seq_len` is moved on one, then on the other, by the last stops up to
each size: always to a new one, since the server sends no message twice. Prints medians, their ratio, and the
bytes that the websocket brought for the last move. ``--check`` returns 1 if ours takes more than half of the
plain time at 512 × 512, more than a fifth at 2048 × 1024, or more than a quarter of the bytes at 1024 × 1024.
"""

from __future__ import annotations

import argparse
import base64
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, Page, sync_playwright

from pages.ui import controls
from posenc import SEQ_LEN
from tests import chromium
from tests.benchmarks.measure import MEGABYTE, PATIENCE_S, REPEATS, markdown
from tests.browser.harness import FLAGS, HEIGHT
from tests.serving import Server, serve

SIZES = ((512, 512), (1024, 1024), (2048, 1024))
MOST_TIME = {(512, 512): 1 / 2, (2048, 1024): 1 / 5}
MOST_BYTES = {(1024, 1024): 1 / 4}
QUIET_S = 0.5

PLAIN = """
import numpy as np
import plotly.graph_objects as go
import streamlit as st

st.set_page_config(layout="wide")
given = {name: int(value) for name, value in st.query_params.items()}
with st.sidebar:
    step = given["step"]
    seq_len = st.slider("seq_len", step, 4096, given["seq_len"], step=step, key="seq_len")
    d_model = st.slider("d_model", step, 4096, given["d_model"], step=step, key="d_model")
pos = np.arange(seq_len)[:, np.newaxis]
i = np.arange(d_model)[np.newaxis, :]
angle_rads = pos * (1 / np.power(10_000, 2 * (i // 2) / np.float64(d_model)))
angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
st.plotly_chart(go.Figure(go.Heatmap(z=angle_rads)))
"""

# What the chart of a page shows now: a text that differs as soon as another table is drawn.
OURS = """() => {
  const chart = document.querySelector('.heatmap[data-key=table]');
  return chart && chart.dataset.painted ? chart.dataset.view + ' ' + chart.dataset.painted : '';
}"""
PLAINS = """() => {
  const image = document.querySelector('.js-plotly-plot .heatmaplayer image');
  const href = image && (image.getAttribute('href') || image.getAttribute('xlink:href'));
  return href && href.length > 30 ? href.length + href.slice(-200) : '';
}"""

# Waits, frame by frame, until what is shown differs and stays so for one frame; notes both moments.
WATCH = """(shown) => {
  const before = shown();
  const seen = (window.seen = {});
  const release = () => (seen.released ??= performance.now());
  addEventListener('keyup', release, { capture: true, once: true });
  addEventListener('pointerup', release, { capture: true, once: true });
  const look = () => {
    const now = shown();
    if (now && now !== before && seen.released) {
      requestAnimationFrame(() => (seen.painted = performance.now()));
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""


@dataclass
class Tab:
    """A page that is moved, and what its moves cost."""

    page: Page
    shown: str
    times: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    received: int = 0
    latest: float = 0.0

    def __post_init__(self) -> None:
        session = self.page.context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.on("Network.webSocketFrameReceived", self._on_frame)

    def _on_frame(self, event: dict[str, Any]) -> None:
        frame = event["response"]
        data = frame["payloadData"]
        self.received += len(base64.b64decode(data)) if frame["opcode"] == 2 else len(data)
        self.latest = time.monotonic()

    def open(self, address: str) -> None:
        """Open an address and wait for its chart."""
        self.page.goto(address, wait_until="commit")
        self.wait_for(lambda: bool(self.page.evaluate(self.shown)))
        self.settle()

    def move(self) -> None:
        """Press the right arrow on the slider of `seq_len`, and wait for the chart to show the new table."""
        self.page.bring_to_front()
        slider = self.page.locator(".st-key-seq_len").get_by_role("slider")
        slider.focus()
        self.received = 0
        self.page.evaluate(f"({WATCH})({self.shown})")
        slider.press("ArrowRight")
        self.wait_for(lambda: "painted" in self.page.evaluate("window.seen"))
        seen = self.page.evaluate("window.seen")
        self.settle()
        self.times.append((seen["painted"] - seen["released"]) / 1000)
        self.sizes.append(self.received)

    def settle(self) -> None:
        """Wait until nothing has come for a while."""
        self.wait_for(lambda: time.monotonic() - self.latest > QUIET_S)

    def wait_for(self, reached: Callable[[], bool]) -> None:
        """Ask again and again; the page's policy forbids playwright's own way of waiting, which is `eval`."""
        deadline = time.monotonic() + PATIENCE_S
        while not reached():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.page.url} did not change within {PATIENCE_S:g} s")
            self.page.wait_for_timeout(20)


def plain_app(folder: Path) -> Callable[[int], list[str]]:
    """Write the plain app, and return the command that runs it."""
    script = folder / "plain.py"
    script.write_text(PLAIN, encoding="utf-8")
    options = ["--server.address=127.0.0.1", "--server.headless=true", "--server.fileWatcherType=none"]
    options += ["--browser.gatherUsageStats=false", "--browser.serverAddress=localhost"]
    return lambda port: ["streamlit", "run", str(script), f"--server.port={port}", *options]


def measure(context: BrowserContext, ours: Server, plain: Server, size: tuple[int, int]) -> tuple[Tab, Tab]:
    """Move both pages in turns, the first move of each to warm up; the last one arrives at the size."""
    tabs = Tab(context.new_page(), OURS), Tab(context.new_page(), PLAINS)
    seq_len, d_model = size
    stops = controls.ladder(SEQ_LEN.minimum, seq_len)
    step = stops[-1] - stops[-2]
    query = {"seq_len": stops[-1 - (REPEATS + 1)], "d_model": d_model}
    tabs[0].open(f"{ours.url}/sinusoidal?{urlencode(query)}")
    tabs[1].open(f"{plain.url}?{urlencode(query | {'step': step})}")
    for _ in range(REPEATS + 1):
        for tab in tabs:
            tab.move()
    if f"seq_len={seq_len}&" not in f"{tabs[0].page.url}&":
        raise RuntimeError(f"the slider of {tabs[0].page.url} did not arrive at {seq_len}")
    for tab in tabs:
        tab.page.close()
    return tabs


def main(arguments: list[str]) -> int:
    """Print a table; with ``--check`` 1 if ours costs more of the plain way than wanted."""
    parser = argparse.ArgumentParser(prog="bench_repaint")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args(arguments)
    executable = chromium.find()
    if executable is None:
        print(f"No Chromium here; name one in {chromium.VARIABLE}.")
        return 1
    rows, broken = [], []
    with (
        tempfile.TemporaryDirectory() as home,
        tempfile.TemporaryDirectory() as other,
        serve(Path(home)) as ours,
        serve(Path(other), plain_app(Path(other))) as plain,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        context = browser.new_context(
            viewport={"width": 1280, "height": HEIGHT}, locale="en-US", reduced_motion="reduce"
        )
        for size in SIZES:
            tabs = measure(context, ours, plain, size)
            times = [statistics.median(tab.times[1:]) for tab in tabs]
            sent = [tab.sizes[-1] for tab in tabs]
            shares = times[0] / times[1], sent[0] / sent[1]
            shape = f"{size[0]:,} × {size[1]:,}"
            rows.append(
                [shape]
                + [f"{1000 * value:.0f} ms" for value in times]
                + [f"{shares[0]:.2f}"]
                + [f"{value / MEGABYTE:.2f} MB" for value in sent]
                + [f"{shares[1]:.2f}"]
            )
            for what, share, most in (
                ("time", shares[0], MOST_TIME.get(size)),
                ("bytes", shares[1], MOST_BYTES.get(size)),
            ):
                if most is not None and share > most:
                    broken.append(f"{shape}: {share:.2f} of the plain {what}, at most {most:.2f} is wanted")
        browser.close()
    print(f"Medians of {REPEATS} moves, from the slider's release to the repainted chart\n")
    print(markdown(["table", "ours", "plain", "share", "ours sent", "plain sent", "share"], rows))
    print("", *broken or ["All within limits."], sep="\n")
    return 1 if given.check and broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
