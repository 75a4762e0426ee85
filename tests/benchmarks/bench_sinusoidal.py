"""``python -m tests.benchmarks.bench_sinusoidal``: the core's table against the founding article's formula.

Both make the same float32 table, in turns, so that a busy machine slows both down. Prints medians, their
ratio, the time to fill an array of that shape (which no method can undercut), and the peak memory over the
output: allocated (tracemalloc), and resident (growth of a fresh process's high-water mark, ru_maxrss).
"""

import multiprocessing
import resource
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import posenc

SIZES = ((4096, 1024), (65_536, 512))
WANTED_SPEEDUP = 7.0
WANTED_MEMORY = 1.3
REPEATS = 7


def article(seq_len: int, d_model: int) -> NDArray[np.float32]:
    """The table as the founding article builds it, cast to float32 at the end as there."""
    pos = np.arange(seq_len)[:, np.newaxis]
    i = np.arange(d_model)[np.newaxis, :]
    angle_rads = pos * (1 / np.power(10_000, 2 * (i // 2) / np.float32(d_model)))
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return angle_rads.astype(np.float32)


def fill(seq_len: int, d_model: int) -> NDArray[np.float32]:
    """Write every cell once."""
    return np.full((seq_len, d_model), 0.5, dtype=np.float32)


def medians(makers: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Median seconds of each, measured in turns after one run to warm up."""
    seconds: dict[str, list[float]] = {name: [] for name in makers}
    for _ in range(REPEATS + 1):
        for name, make in makers.items():
            start = time.perf_counter()
            make()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(measured[1:]) for name, measured in seconds.items()}


def allocated_ratio(seq_len: int, d_model: int) -> float:
    """Peak of what is allocated while the table is made, over the table."""
    tracemalloc.start()
    table = posenc.sinusoidal(seq_len, d_model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / table.nbytes


def resident_ratio(seq_len: int, d_model: int) -> float:
    """Growth of the resident high-water mark over the table, in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_resident_ratio, (seq_len, d_model))


def _resident_ratio(seq_len: int, d_model: int) -> float:
    posenc.sinusoidal(8, 8)
    kibibyte = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = posenc.sinusoidal(seq_len, d_model)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (after - before) * kibibyte / table.nbytes


def main() -> int:
    """Print a block for each size; 1 if the paper's layout takes more time or memory than wanted."""
    # First, while this process is small: a child's high-water mark starts at its parent's size.
    resident = {size: resident_ratio(*size) for size in SIZES}
    reached = True
    for size in SIZES:
        makers: dict[str, Callable[[], object]] = {
            layout: lambda size=size, layout=layout: posenc.sinusoidal(*size, layout=layout)
            for layout in posenc.LAYOUT.options
        }
        makers |= {"article": lambda size=size: article(*size), "fill": lambda size=size: fill(*size)}
        seconds = medians(makers)
        allocated = allocated_ratio(*size)
        print(f"{size[0]} x {size[1]} float32, medians of {REPEATS}")
        for name, measured in seconds.items():
            print(
                f"  {name:12} {1000 * measured:8.1f} ms, {seconds['article'] / measured:5.1f} x the article"
            )
        print(f"  peak memory  {allocated:.2f} x the output allocated, {resident[size]:.2f} x resident")
        speedup = seconds["article"] / seconds[posenc.LAYOUT.default]
        reached &= speedup >= WANTED_SPEEDUP and max(allocated, resident[size]) <= WANTED_MEMORY
    print(f"at least {WANTED_SPEEDUP:g} x the article within {WANTED_MEMORY:g} x the output: {reached}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
