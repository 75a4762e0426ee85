"""``python -m tests.benchmarks.bench_blocks``: a picture of ten million positions against one of 1,000.

Both are cut into at most 400 × 800 blocks, in turns, so that a busy machine slows both down. Prints medians,
blocks a second, the ratio of the times, and the peak of what is allocated (tracemalloc).
"""

import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

from posenc.blocks import Blocks, sinusoid_blocks
from posenc.offsets import sinusoid_similarity_blocks

FEW, MANY = 1_000, 10_000_000
WIDTHS = (128, 512, 1024, 16_384)
WANTED_RATIO = 1.3
WANTED_MEBIBYTES = 48
REPEATS = 7

PICTURES: dict[str, Callable[[int, int], Blocks]] = {
    "table": lambda seq_len, d_model: sinusoid_blocks((0, seq_len), (0, d_model), d_model),
    "cosine": lambda seq_len, d_model: sinusoid_similarity_blocks(
        "cosine", (0, seq_len), (0, seq_len), d_model
    ),
}


def medians(picture: Callable[[int, int], Blocks], d_model: int) -> list[float]:
    """Median seconds for few and for many positions, measured in turns after one run to warm up."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS + 1):
        for seq_len, measured in zip((FEW, MANY), seconds, strict=True):
            start = time.perf_counter()
            picture(seq_len, d_model)
            measured.append(time.perf_counter() - start)
    return [statistics.median(measured[1:]) for measured in seconds]


def peak_mebibytes(picture: Callable[[int, int], Blocks], d_model: int) -> float:
    """Peak of what is allocated for many positions, the result included."""
    tracemalloc.start()
    picture(MANY, d_model)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main() -> int:
    """Print a line for each picture and width; 1 if one takes more time or memory than wanted."""
    reached = True
    for name, picture in PICTURES.items():
        for d_model in WIDTHS:
            few, many = medians(picture, d_model)
            cells, peak = picture(MANY, d_model).mean.size, peak_mebibytes(picture, d_model)
            reached &= many / few <= WANTED_RATIO and peak <= WANTED_MEBIBYTES
            print(f"{name} of {d_model}: {1000 * few:.1f} ms at {FEW} positions, {1000 * many:.1f} at {MANY}")
            print(f"  ratio {many / few:.2f}, {cells / many:.0f} blocks/s, peak {peak:.1f} MiB")
    print(f"at most {WANTED_RATIO:g} x the time within {WANTED_MEBIBYTES} MiB: {reached}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
