"""``python -m tests.benchmarks.bench_rerun [--check] [page …]``: what a rerun of each page costs.

A page is opened at 1,000 and at 10,000,000 positions, each at 128 and at 16,384 dimensions, and rerun in all
four in turns. Every rerun has another `base`, so that no cache knows the answer. Prints medians of the time
on a core, ratios, the peak of what a rerun allocates (tracemalloc), and by how much the process grew in the
worst of them (resident, Linux). ``--check`` returns 1 if ten million positions cost more than 1.5 times what
a thousand do, in time or in memory, or if any rerun allocates more than 64 MB.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import logging
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from streamlit.testing.v1 import AppTest

from pages.ui import sitemap
from pages.ui.text import catalogue
from tests.benchmarks.measure import MEGABYTE, PATIENCE_S, REPEATS, markdown, peak_bytes, seconds

FRAME = Path(__file__).resolve().parents[2] / "pages" / "frame.py"
FEW, MANY = 1_000, 10_000_000
NARROW, WIDE = 128, 16_384
MOST_RATIO = 1.5
MOST_MEGABYTES = 64
# One after the other for all cases, since they share the caches.
BASES = itertools.count(10_001)
HIGH_WATER = Path("/proc/self/clear_refs"), Path("/proc/self/status")


@dataclass
class Case:
    """A page at one size: a session of its own, and what its reruns cost."""

    page: str
    seq_len: int
    d_model: int
    times: list[float] = field(default_factory=list)
    peak: int = 0
    growth: int = 0

    def __post_init__(self) -> None:
        self.app = AppTest.from_file(str(FRAME), default_timeout=PATIENCE_S)
        self.app.query_params |= {"seq_len": str(self.seq_len), "d_model": str(self.d_model), "lang": "en"}
        self.app.run().switch_page(f"{self.page}.py").run()

    def move(self) -> None:
        """Rerun the page with a value that it has not seen; what a visitor's move does."""
        self.app.session_state["base"] = float(next(BASES))
        self.app.run()
        shown = self.app.session_state["seq_len"], self.app.session_state["d_model"]
        failed = [error.value for error in self.app.error if error.value == catalogue("en")["notice.failure"]]
        if failed or self.app.exception or shown != (self.seq_len, self.d_model):
            raise RuntimeError(f"{self.page} failed at {self.seq_len} × {self.d_model}")

    @property
    def time(self) -> float:
        """Median seconds of a rerun."""
        return statistics.median(self.times)


def growth(run: Callable[[], object]) -> int:
    """By how many bytes the process's resident memory rose above what it was, at most; 0 if not known."""
    reset, status = HIGH_WATER
    if not reset.exists():
        run()
        return 0
    reset.write_text("5")  # the high-water mark falls to what is resident now
    before = _high_water(status)
    run()
    return _high_water(status) - before


def _high_water(status: Path) -> int:
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def measure(page: str) -> dict[tuple[int, int], Case]:
    """Measure a page at all four sizes, in turns."""
    cases = [Case(page, seq_len, d_model) for d_model in (NARROW, WIDE) for seq_len in (FEW, MANY)]
    gc.collect()
    gc.freeze()  # as app.py does, so that a collection costs what it costs there
    for turn in range(REPEATS + 1):
        for case in cases:
            time = 0.0

            def move(case: Case = case) -> None:
                nonlocal time
                time = seconds(case.move)

            grown = growth(move)
            if turn:
                case.times.append(time)
                case.growth = max(case.growth, grown)
    for case in cases:
        case.peak = peak_bytes(case.move)
    return {(case.seq_len, case.d_model): case for case in cases}


def main(arguments: list[str]) -> int:
    """Print two tables; with ``--check`` 1 if a page costs more than wanted."""
    names = [entry.name for entry in sitemap.PAGES]
    parser = argparse.ArgumentParser(prog="bench_rerun")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("pages", nargs="*", metavar="page", help=f"one of {', '.join(names)}; none: all")
    given = parser.parse_args(arguments)
    logging.disable(logging.WARNING)  # Streamlit's, about running without a server

    times, memory, broken = [], [], []
    for page in given.pages or names:
        cases = measure(page)
        few, many, wide, all_of_it = cases.values()
        longer, larger = many.time / few.time, many.peak / few.peak
        wider, whole = wide.time / few.time, all_of_it.time / wide.time
        times.append(
            [page]
            + [f"{1000 * case.time:.0f} ms" for case in cases.values()]
            + [f"{ratio:.2f}" for ratio in (longer, whole, wider)]
        )
        memory.append(
            [page]
            + [f"{case.peak / MEGABYTE:.1f} MB" for case in cases.values()]
            + [f"{larger:.2f}", f"{max(case.growth for case in cases.values()) / MEGABYTE:.1f} MB"]
        )
        worst = max(case.peak for case in cases.values()) / MEGABYTE
        for what, value, most in (
            ("time at 10,000,000 positions over time at 1,000", longer, MOST_RATIO),
            ("memory at 10,000,000 positions over memory at 1,000", larger, MOST_RATIO),
            ("peak in MB", worst, MOST_MEGABYTES),
        ):
            if value > most:
                broken.append(f"{page}: {what} is {value:.2f}, at most {most:g} is wanted")
    sizes = [f"{seq_len:,} × {d_model:,}" for seq_len, d_model in cases]
    print(f"Median time of {REPEATS} reruns\n")
    ratios = ["positions", f"positions at {WIDE:,}", "dimensions"]
    print(markdown(["page", *sizes, *(f"ratio, {name}" for name in ratios)], times))
    print("\nPeak of what one rerun allocates\n")
    print(markdown(["page", *sizes, "ratio, positions", "resident growth"], memory))
    print("", *broken or ["All within limits."], sep="\n")
    return 1 if given.check and broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
