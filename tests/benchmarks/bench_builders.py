"""``python -m tests.benchmarks.bench_builders [--readme] [--check]``: the core against its plain formulas.

Each builder makes the same array as its formula written down plainly, in turns with it and with a fill of an
array of that shape, which nothing can undercut. Prints a table: how many times faster than the formula
(medians of at least 7), what share of its time the fill takes, the peak of what is allocated over the output
(tracemalloc), and the worst error at some cells, corners among them, against 40 digits (mpmath). ``--readme``
writes the table into README.md and README.ko.md. ``--check`` returns 1 if the paper's table is less than 7
times faster than the formula or takes more than 1.3 times its own memory, allocated or resident (growth of a
fresh process's high-water mark).

`inv_freq`, `wavelengths`, `steps`, `causal_mask`, `random_init` and `shuffle_rows` are left out: they are the
plain formula.
"""

from __future__ import annotations

import argparse
import functools
import math
import multiprocessing
import re
import resource
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from numpy.typing import DTypeLike, NDArray

import posenc
from posenc.attention import attention
from posenc.blocks import Blocks, similarity_blocks
from posenc.learned import LEARNED, read_array
from posenc.offsets import sinusoid_similarity_blocks
from posenc.shift import shift_blocks
from tests.benchmarks.measure import REPEATS, markdown, medians, peak_bytes, seconds

ROOT = Path(__file__).resolve().parents[2]
READMES = ROOT / "README.md", ROOT / "README.ko.md"
MARKED = re.compile(r"(?<=<!-- builders -->\n).*?(?=<!-- /builders -->)", flags=re.DOTALL)
HEADER = ("builder", "shape", "× formula", "fill", "peak", "error")
PAPERS_SIZES = ((4096, 1024), (65_536, 512))
WANTED_SPEEDUP = 7.0
WANTED_MEMORY = 1.3
# What is quick is measured more often.
MOST_REPEATS = 51
ENOUGH_S = 1.0
DIGITS = 40
CELLS = 200

Array = NDArray[Any]
Arrays = tuple[Array, ...]
Exact = Callable[[int, int], Any]


@dataclass(frozen=True)
class Entry:
    """A builder, its formula written down plainly, and any cell of its first array in high precision."""

    name: str
    build: Callable[[], Arrays]
    plain: Callable[[], Arrays]
    exact: Exact
    cells: int = CELLS

    def row(self) -> list[str]:
        """Measure, and write a line of the table."""
        built = self.build()
        repeats = max(REPEATS, min(MOST_REPEATS, int(ENOUGH_S / (seconds(self.build) + seconds(self.plain)))))
        runs = {"build": self.build, "plain": self.plain, "fill": lambda: fill(built)}
        spent = medians(runs, repeats)
        size = sum(array.nbytes for array in built)
        return [
            self.name,
            " × ".join(f"{length:,}" for length in built[0].shape),
            f"{spent['plain'] / spent['build']:.1f}",
            f"{100 * spent['fill'] / spent['build']:.0f}%",
            f"{peak_bytes(self.build) / size:.2f}",
            f"{self.worst_error(built[0]):.0e}",
        ]

    def worst_error(self, built: Array) -> float:
        """Return the largest difference to the exact value, at the corners and at cells all over."""
        rows, columns = built.shape
        corners = [(i, j) for i in (0, rows - 1) for j in (0, columns - 1)]
        places = np.random.default_rng(0).integers(0, built.shape, (self.cells, 2)).tolist()
        with mpmath.workdps(DIGITS):
            return max(
                float(abs(mpmath.mpf(float(built[i, j])) - self.exact(i, j))) for i, j in corners + places
            )


def fill(arrays: Arrays) -> None:
    """Write every cell of arrays like these once."""
    for array in arrays:
        np.full(array.shape, 0.5, array.dtype)


def article(positions: int | Array, d_model: int) -> Array:
    """The table as the founding article builds it, before the cast."""
    pos = (np.arange(positions) if isinstance(positions, int) else positions)[:, np.newaxis]
    i = np.arange(d_model)[np.newaxis, :]
    angle_rads = pos * (1 / np.power(10_000, 2 * (i // 2) / np.float64(d_model)))
    angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
    angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
    return angle_rads


def arranged(positions: int | Array, d_model: int, layout: str, dtype: DTypeLike) -> Array:
    """The article's table in a layout and a dtype."""
    table = article(positions, d_model)
    if layout != "interleaved":
        halves = table[:, 0::2], table[:, 1::2]
        table = np.concatenate(halves if layout == "sin_cos" else halves[::-1], axis=1)
    return table.astype(dtype)


def angle(position: float, pair: int, d_model: int) -> Any:
    """The angle of a pair at a position, in high precision."""
    return mpmath.mpf(position) * mpmath.power(10_000, -mpmath.mpf(2 * pair) / d_model)


def cell(position: float, column: int, d_model: int, layout: str = "interleaved") -> Any:
    """A cell of the table in high precision."""
    half = d_model // 2
    if layout == "interleaved":
        pair, is_cos = column // 2, column % 2 == 1
    else:
        pair, is_cos = column % half, (column >= half) == (layout == "sin_cos")
    return (mpmath.cos if is_cos else mpmath.sin)(angle(position, pair, d_model))


def turned(k: float, d_model: int) -> Array:
    """M_k from its definition, a pair of columns at a time."""
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        turn = k / 10_000 ** (2 * i / d_model)
        cos, sin = math.cos(turn), math.sin(turn)
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, sin], [-sin, cos]]
    return matrix


def turned_cell(k: float, row: int, column: int, d_model: int) -> Any:
    """A cell of M_k in high precision."""
    if row // 2 != column // 2:
        return mpmath.mpf(0)
    turn = angle(k, row // 2, d_model)
    return mpmath.cos(turn) if row == column else (-1) ** (row % 2) * mpmath.sin(turn)


def plain_blocks(table: Array, high: int, wide: int) -> Arrays:
    """Mean, least and greatest of blocks that divide a table."""
    rows, columns = table.shape
    blocks = table.reshape(rows // high, high, columns // wide, wide)
    return blocks.mean(axis=(1, 3)), blocks.min(axis=(1, 3)), blocks.max(axis=(1, 3))


def arrays(blocks: Blocks) -> Arrays:
    """What of blocks is as large as a picture."""
    return blocks.mean, blocks.minimum, blocks.maximum


def mean(values: Iterator[Any], count: int) -> Any:
    """The mean in high precision."""
    return mpmath.fsum(values) / count


def plain_cosine(table: Array) -> Array:
    """Products of all pairs of rows over the products of their lengths."""
    lengths = np.sqrt((table**2).sum(axis=1))
    cosines: Array = (table @ table.T) / (lengths[:, np.newaxis] * lengths[np.newaxis, :])
    return cosines


def plain_distance(table: Array) -> Array:
    """The length of the difference of all pairs of rows."""
    distances: Array = np.sqrt(((table[:, np.newaxis] - table[np.newaxis]) ** 2).sum(axis=2))
    return distances


def products(table: Array) -> Exact:
    """Dot products of rows in high precision, each computed once."""

    @functools.cache
    def row(i: int) -> list[Any]:
        return [mpmath.mpf(float(value)) for value in table[i]]

    return functools.cache(lambda i, j: mpmath.fdot(row(i), row(j)))


def plain_attention(q: Array, k: Array, v: Array) -> Arrays:
    """Equation 1 of the paper."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return weights @ v, weights, scores


def attention_cell(q: Array, k: Array, v: Array, i: int, j: int) -> Any:
    """A cell of the output of attention in high precision."""
    query = list(map(float, q[i]))
    scores = [mpmath.fdot(query, list(map(float, key))) / mpmath.sqrt(q.shape[1]) for key in k]
    weights = [mpmath.exp(score) for score in scores]
    return mpmath.fdot(weights, list(map(float, v[:, j]))) / mpmath.fsum(weights)


def sinusoidal(size: tuple[int, int], layout: str, dtype: str) -> Entry:
    """The paper's table."""
    n, d = size
    return Entry(
        f"`sinusoidal` {layout} {dtype}",
        lambda: (posenc.sinusoidal(n, d, layout=layout, dtype=dtype),),
        lambda: (arranged(n, d, layout, dtype),),
        lambda i, j: cell(i, j, d, layout),
    )


def tables(shrink: int) -> Iterator[Entry]:
    """Yield the builders of tables."""
    usual, long = ((n // shrink, d // shrink) for n, d in PAPERS_SIZES)
    for layout in posenc.LAYOUT.options:
        for dtype in ("float32", "float64"):
            yield sinusoidal(usual, layout, dtype)
    yield sinusoidal(long, "interleaved", "float32")
    n, d = usual
    far = np.random.default_rng(1).uniform(0, 1e7, n)
    yield Entry(
        "`sinusoidal` at given positions to 1e7, float64",
        lambda: (posenc.sinusoidal(far, d, dtype="float64"),),
        lambda: (arranged(far, d, "interleaved", "float64"),),
        lambda i, j: cell(float(far[i]), j, d),
    )
    yield Entry(
        "`shift_matrix`",
        lambda: (posenc.shift_matrix(5, d),),
        lambda: (turned(5, d),),
        lambda i, j: turned_cell(5, i, j, d),
    )


def similarities(shrink: int) -> Iterator[Entry]:
    """Yield the measures on all pairs of rows."""
    table = np.random.default_rng(2).normal(size=(512 // shrink, 128 // shrink))
    product = products(table)

    def cosine(i: int, j: int) -> Any:
        return product(i, j) / mpmath.sqrt(product(i, i) * product(j, j))

    def distance(i: int, j: int) -> Any:
        return mpmath.sqrt(product(i, i) - 2 * product(i, j) + product(j, j))

    yield Entry("`dot`", lambda: (posenc.dot(table),), lambda: (table @ table.T,), product)
    yield Entry("`cosine`", lambda: (posenc.cosine(table),), lambda: (plain_cosine(table),), cosine)
    yield Entry("`distance`", lambda: (posenc.distance(table),), lambda: (plain_distance(table),), distance)


def pictures(shrink: int) -> Iterator[Entry]:
    """Yield the cutting of a whole table, and of a similarity matrix, into at most 400 × 800 blocks."""
    n, d = 16_000 // shrink, 1600 // shrink
    high, wide = -(-n // 400), -(-d // 800)
    whole = (0, n), (0, d)

    @functools.cache
    def table() -> Array:
        return posenc.sinusoidal(n, d)

    def block(i: int, j: int) -> Iterator[tuple[int, int]]:
        return ((p, q) for p in range(i * high, (i + 1) * high) for q in range(j * wide, (j + 1) * wide))

    yield Entry(
        f"`sinusoid_blocks` of {n:,} × {d:,}",
        lambda: arrays(posenc.sinusoid_blocks(*whole, d)),
        lambda: plain_blocks(article(n, d), high, wide),
        lambda i, j: mean((cell(p, q, d) for p, q in block(i, j)), high * wide),
        cells=40,
    )
    yield Entry(
        f"`table_blocks` of {n:,} × {d:,}",
        lambda: arrays(posenc.table_blocks(table(), *whole)),
        lambda: plain_blocks(table().astype(np.float64), high, wide),
        lambda i, j: mean((mpmath.mpf(float(table()[p, q])) for p, q in block(i, j)), high * wide),
    )
    side = 3200 // shrink
    deep, broad = -(-side // 400), -(-side // 800)
    yield Entry(
        f"`shift_blocks` of {side:,} × {side:,}",
        lambda: arrays(shift_blocks(5, (0, side), (0, side), side)),
        lambda: plain_blocks(turned(5, side), deep, broad),
        lambda i, j: mean(
            (
                turned_cell(5, p, q, side)
                for p in range(i * deep, (i + 1) * deep)
                for q in range(j * broad, (j + 1) * broad)
            ),
            deep * broad,
        ),
    )
    m, width = 4000 // shrink, 128
    span = (0, m), (0, m)
    tall, across = -(-m // 400), -(-m // 800)
    rows = np.random.default_rng(3).normal(size=(m, width))
    product = products(rows)
    yield Entry(
        f"`similarity_blocks` of {m:,} × {m:,}",
        lambda: arrays(similarity_blocks(rows, "cosine", *span)),
        lambda: plain_blocks(plain_cosine(rows), tall, across),
        lambda i, j: mean(
            (
                product(p, q) / mpmath.sqrt(product(p, p) * product(q, q))
                for p in range(i * tall, (i + 1) * tall)
                for q in range(j * across, (j + 1) * across)
            ),
            tall * across,
        ),
        cells=10,
    )

    @functools.cache
    def by_offset(k: int) -> Any:
        return mean((mpmath.cos(angle(k, i, width)) for i in range(width // 2)), width // 2)

    yield Entry(
        f"`sinusoid_similarity_blocks` of {m:,} × {m:,}",
        lambda: arrays(sinusoid_similarity_blocks("cosine", *span, width)),
        lambda: plain_blocks(plain_cosine(article(m, width)), tall, tall),
        lambda i, j: mean(
            (by_offset((i - j) * tall + p - q) for p in range(tall) for q in range(tall)), tall * tall
        ),
        cells=20,
    )


def others(shrink: int) -> Iterator[Entry]:
    """Yield the reading of a learned table, and attention."""
    name = "me5_small"
    file = ROOT / "posenc" / "data" / LEARNED[name].file
    stored = np.load(file)
    yield Entry(
        "`load`, the first time",  # from then on it is kept
        lambda: (read_array.__wrapped__(file.name),),
        lambda: (np.load(file).astype(np.float32),),
        lambda i, j: mpmath.mpf(float(stored[i, j])),
    )
    q, k, v = np.random.default_rng(4).normal(size=(3, 1024 // shrink, 64))
    yield Entry(
        "`attention`",
        lambda: tuple(attention(q, k, v)),
        lambda: plain_attention(q, k, v),
        lambda i, j: attention_cell(q, k, v, i, j),
        cells=10,
    )


def entries(shrink: int = 1) -> list[Entry]:
    """Return all builders, at sizes that many times smaller along each axis."""
    return [entry for group in (tables, similarities, pictures, others) for entry in group(shrink)]


def resident_ratio(size: tuple[int, int]) -> float:
    """Growth of the resident high-water mark over the paper's table, in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_resident_ratio, size)


def _resident_ratio(seq_len: int, d_model: int) -> float:
    posenc.sinusoidal(8, 8)
    kibibyte = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    table = posenc.sinusoidal(seq_len, d_model)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (after - before) * kibibyte / table.nbytes


def write_readmes(table: str) -> None:
    """Put the table between the markers."""
    for readme in READMES:
        text = readme.read_text(encoding="utf-8")
        readme.write_text(MARKED.sub(lambda _: f"{table}\n", text), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print the table, and what the paper's table takes in resident memory."""
    parser = argparse.ArgumentParser(prog="bench_builders")
    parser.add_argument("--readme", action="store_true", help="write the table into both READMEs")
    parser.add_argument("--check", action="store_true", help="fail if the paper's table is slow or large")
    given = parser.parse_args(arguments)
    # First, while this process is small: a child's high-water mark starts at its parent's size.
    resident = {size: resident_ratio(size) for size in PAPERS_SIZES}
    rows = [entry.row() for entry in entries()]
    table = markdown(HEADER, rows)
    print(table)
    reached = True
    for size, ratio in resident.items():
        shape = " × ".join(f"{length:,}" for length in size)
        row = next(row for row in rows if row[:2] == ["`sinusoidal` interleaved float32", shape])
        print(f"resident growth of a fresh process at {shape}: {ratio:.2f} of the output")
        reached &= float(row[2]) >= WANTED_SPEEDUP and max(float(row[4]), ratio) <= WANTED_MEMORY
    if given.readme:
        write_readmes(table)
    print(f"at least {WANTED_SPEEDUP:g} × the formula within {WANTED_MEMORY:g} × the output: {reached}")
    return 1 if given.check and not reached else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
