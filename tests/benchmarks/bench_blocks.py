"""``python -m tests.benchmarks.bench_blocks``: a picture of ten million positions against one of 1,000.

Both are cut into at most 400 × 800 blocks, in turns, so that a busy machine slows both down. Prints medians,
blocks a second, the ratio of the times, and the peak of what is allocated (tracemalloc).
"""

import sys
from collections.abc import Callable

from posenc.blocks import Blocks, sinusoid_blocks
from posenc.offsets import sinusoid_similarity_blocks
from tests.benchmarks.measure import MEGABYTE, medians, peak_bytes

FEW, MANY = 1_000, 10_000_000
WIDTHS = (128, 512, 1024, 16_384)
WANTED_RATIO = 1.3
WANTED_MEGABYTES = 50

PICTURES: dict[str, Callable[[int, int], Blocks]] = {
    "table": lambda seq_len, d_model: sinusoid_blocks((0, seq_len), (0, d_model), d_model),
    "cosine": lambda seq_len, d_model: sinusoid_similarity_blocks(
        "cosine", (0, seq_len), (0, seq_len), d_model
    ),
}


def compare(name: str, d_model: int) -> bool:
    """Print what a picture costs at one width, and say whether that is within the limits."""
    picture = PICTURES[name]
    seconds = medians({"few": lambda: picture(FEW, d_model), "many": lambda: picture(MANY, d_model)})
    few, many = seconds["few"], seconds["many"]
    cells, peak = picture(MANY, d_model).mean.size, peak_bytes(lambda: picture(MANY, d_model)) / MEGABYTE
    print(f"{name} of {d_model}: {1000 * few:.1f} ms at {FEW} positions, {1000 * many:.1f} at {MANY}")
    print(f"  ratio {many / few:.2f}, {cells / many:.0f} blocks/s, peak {peak:.1f} MB")
    return many / few <= WANTED_RATIO and peak <= WANTED_MEGABYTES


def main() -> int:
    """Compare each picture at each width; 1 if one takes more time or memory than wanted."""
    reached = all([compare(name, d_model) for name in PICTURES for d_model in WIDTHS])
    print(f"at most {WANTED_RATIO:g} x the time within {WANTED_MEGABYTES} MB: {reached}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
