"""What the benchmarks share: times taken in turns, the peak of what is allocated, a Markdown table.

Times are those that this process spends on a core: other work on the machine does not count.
"""

from __future__ import annotations

import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Mapping, Sequence

REPEATS = 7
MEGABYTE = 1e6
PATIENCE_S = 300  # not a wait but a limit, for a machine that has other work too


def seconds(run: Callable[[], object]) -> float:
    """Time one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def medians(runs: Mapping[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Median seconds of each, in turns after one run to warm up, so that a busy cache slows all of them."""
    measured: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats + 1):
        for name, run in runs.items():
            measured[name].append(seconds(run))
    return {name: statistics.median(times[1:]) for name, times in measured.items()}


def peak_bytes(run: Callable[[], object]) -> int:
    """Peak of what is allocated during one run, its result included (NumPy's arrays are counted, too)."""
    tracemalloc.start()
    try:
        kept = run()
        peak = tracemalloc.get_traced_memory()[1]
        del kept
    finally:
        tracemalloc.stop()
    return peak


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table, names to the left and numbers to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
