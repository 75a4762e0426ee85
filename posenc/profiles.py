"""Every bias as a function of the offset k = query − key: a curve for each head, and its matrix of any size.

`bias_functions` gives one `posenc.offsets.OffsetFunction` a head: `offset_blocks` makes of it the picture of
a matrix of any number of positions, `offset_bias` the curves. Biases of a formula are curves that are smooth
on either side of k = 0; biases that are looked up in a table are stairs; Sandwich is a sum of waves.

Letters: a × b positions p × q in a block, u = p − q the offset from the block's start, m number of steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_table
from posenc.bias import alibi_slopes, kerple_log, kerple_power, sandwich_rates, sandwich_ratios
from posenc.blocks import FARTHEST, Blocks
from posenc.buckets import clipped_distance, deberta_bucket, t5_bucket
from posenc.learned import SEED, random_init
from posenc.offsets import OffsetFunction, Waves
from posenc.parameters import (
    BASE,
    BIAS_MAX,
    BUCKET_SIZE,
    D_MODEL,
    LEFT,
    MAX_DISTANCE,
    MAX_POSITION,
    N_HEADS,
    NUM_BUCKETS,
    RIGHT,
    Choice,
    Positions,
    check_positions,
)

Int64 = NDArray[np.int64]

_NODES = 12  # places along each axis of a block at which a curve is read for its mean


@dataclass(frozen=True)
class Curve:
    """f(k), smooth on either side of k = 0."""

    function: Callable[[Floats], Floats]

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Floats) -> tuple[Floats, Floats]:
        """Return the means over blocks (s,), and values in them (s, l): see `OffsetFunction`.

        Means of blocks up to 12 × 12 positions are those of their cells. In larger ones f is read at places
        of Gauss's rule for whole numbers, exact for polynomials up to degree 23: the means of the biases here
        are right to 1e-11 of their size.
        """
        begin = np.array(starts, dtype=np.float64)
        (p, share_p), (q, share_q) = (_gauss(length) for length in block)
        at, shares = np.subtract.outer(p, q).ravel(), np.multiply.outer(share_p, share_q).ravel()
        means = self.function(np.add.outer(begin, at)) @ shares
        if max(block) > _NODES:
            for near in np.flatnonzero(np.abs(begin) < 2 * max(block)):
                means[near] = self._mean(starts[near], *block)
        return means, self.function(np.add.outer(begin, lags))

    def _mean(self, start: int, a: int, b: int) -> float:
        """Return the mean over one block, each offset times the number of cells that have it.

        Between k = ±1, ±2, ±4, … a curve is smooth enough for Gauss's rule, and the number of cells is a
        straight line from the corner at 1 − b to 0 and a − b, between them, and on to the corner at a.
        """
        powers = 2 ** np.arange(FARTHEST.bit_length())
        corners = np.concatenate([np.append(-powers, powers) - start, [0, a - b, 1 - b, a]])
        ends = np.unique(corners.clip(1 - b, a))
        total = 0.0
        for first, length in zip(ends.tolist(), np.diff(ends).tolist(), strict=False):
            places, shares = _gauss(length)
            u = first + places
            cells = np.minimum(np.minimum(a - u, b + u), min(a, b))
            total += length * float((self.function(start + u) * cells) @ shares)
        return total / (a * b)


@dataclass(frozen=True)
class Stairs:
    """f(k) = heights[i] for edges[i − 1] ≤ k < edges[i], arrays (m,) and (m + 1,)."""

    edges: Int64
    heights: Floats

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Floats) -> tuple[Floats, Floats]:
        """Return the means over blocks (s,), and values in them (s, l): see `OffsetFunction`.

        The cells of a block on each step are counted, so that means are exact.
        """
        a, b = block
        begin = np.array(starts, dtype=np.int64)
        t = np.subtract.outer(self.edges, begin)
        # Cells with u ≥ t: Σ over the rows p of how many columns q ≤ p − t there are, from 0 to b.
        above = _triangle(a - t) - _triangle(-t) - _triangle(a - b - t) + _triangle(-b - t)
        full, none = np.full((1, len(begin)), a * b), np.zeros((1, len(begin)), dtype=np.int64)
        counts = -np.diff(np.vstack([full, above, none]), axis=0)  # (m + 1, s)
        places = np.searchsorted(self.edges, np.add.outer(begin, lags), side="right")
        return self.heights @ (counts / (a * b)), self.heights[places]


@dataclass(frozen=True)
class Raised:
    """f(k) + by."""

    function: OffsetFunction
    by: float

    def over_blocks(self, starts: range, block: tuple[int, int], lags: Floats) -> tuple[Floats, Floats]:
        """Return the means over blocks (s,), and values in them (s, l): see `OffsetFunction`."""
        means, values = self.function.over_blocks(starts, block, lags)
        return means + self.by, values + self.by


Functions = tuple[OffsetFunction, ...]


def none_functions(n_heads: int) -> Functions:
    """No encoding: 0 at every offset."""
    return (Curve(np.zeros_like),) * N_HEADS.check(n_heads)


def alibi_functions(n_heads: int, *, bias_max: float = BIAS_MAX.default, symmetric: bool = True) -> Functions:
    """ALiBi (`posenc.alibi`): −m_h·|k|, or −m_h·k as in a causal model, which never sees k < 0."""
    slopes = alibi_slopes(n_heads, bias_max=bias_max).tolist()
    if symmetric:
        return tuple(Curve(partial(kerple_power, r1=slope, r2=1.0)) for slope in slopes)
    return tuple(Curve(partial(np.multiply, -slope)) for slope in slopes)


def kerple_functions(
    n_heads: int, *, form: str = "log", r1: ArrayLike | None = None, r2: ArrayLike | None = None
) -> Functions:
    """KERPLE (`posenc.kerple_log`, `posenc.kerple_power`): r₁ and r₂ are learned, a number a head or for all.

    Where they are not given they are those of `kerple_start`.
    """
    usual = kerple_start(n_heads, form)
    first, second = _a_head("r1", r1, usual[0]), _a_head("r2", r2, usual[1])
    kernel = kerple_log if form == "log" else kerple_power
    functions = tuple(Curve(partial(kernel, r1=r, r2=s)) for r, s in zip(first, second, strict=True))
    kernel(0.0, first, second)  # refuses what is not allowed here already
    return functions


def kerple_start(n_heads: int, form: str) -> tuple[Floats, Floats]:
    """Return r₁ and r₂ of each head, evenly over the ranges from which training draws its first ones.

    Of the log form r₁ over 0 … 2 and r₂ over 0 … 1, of the power form r₁ over 0 … 1 and r₂ over 0 … 2.
    """
    even = (np.arange(N_HEADS.check(n_heads)) + 0.5) / n_heads
    return (2 * even, even) if KERPLE_FORM.check(form) == "log" else (even, 2 * even)


def sandwich_functions(
    n_heads: int, *, d_model: int = D_MODEL.default, base: float = BASE.default
) -> Functions:
    """Sandwich (`posenc.sandwich`): the similarity of sinusoids, less what it is at k = 0."""
    rates = sandwich_rates(d_model, base=base)
    return tuple(
        Raised(Waves(rates, np.full_like(rates, 1 / ratio), np.zeros_like(rates)), -len(rates) / ratio)
        for ratio in sandwich_ratios(n_heads).tolist()
    )


def t5_functions(
    n_heads: int,
    *,
    table: ArrayLike | None = None,
    bidirectional: bool = True,
    num_buckets: int = NUM_BUCKETS.default,
    max_distance: int = MAX_DISTANCE.default,
    seed: int = SEED.default,
) -> Functions:
    """T5 (`posenc.t5_bucket`): `table` (num_buckets, n_heads) is learned; drawn from N(0, 1) if not given."""

    def row(k: Int64) -> Int64:
        return t5_bucket(-k, bidirectional=bidirectional, num_buckets=num_buckets, max_distance=max_distance)

    return _lookup(row, _scores(table, NUM_BUCKETS.check(num_buckets), n_heads, seed))


def shaw_functions(
    n_heads: int,
    *,
    table: ArrayLike | None = None,
    left: int = LEFT.default,
    right: int = RIGHT.default,
    seed: int = SEED.default,
) -> Functions:
    """Shaw et al. (`posenc.clipped_distance`), as one query sees its keys.

    `table` (left + right + 1, n_heads) holds q_h · a_row / √head_dim for each row of the learned table; drawn
    from N(0, 1), as those of random vectors are, if not given.
    """

    def row(k: Int64) -> Int64:
        return clipped_distance(-k, left, right)

    return _lookup(row, _scores(table, LEFT.check(left) + RIGHT.check(right) + 1, n_heads, seed))


def deberta_functions(
    n_heads: int,
    *,
    table: ArrayLike | None = None,
    bucket_size: int = BUCKET_SIZE.default,
    max_position: int = MAX_POSITION.default,
    seed: int = SEED.default,
) -> Functions:
    """DeBERTa (`posenc.deberta_bucket`): what one query adds for each key, content to position.

    `table` (2·bucket_size, n_heads) holds q_h · r_row / √(3·head_dim) for each row of the relative
    embeddings; drawn from N(0, 1) if not given.
    """
    rows = 2 * BUCKET_SIZE.check(bucket_size)

    def row(k: Int64) -> Int64:
        bucket = deberta_bucket(k, bucket_size=bucket_size, max_position=max_position)
        return np.clip(bucket + bucket_size, 0, rows - 1)

    return _lookup(row, _scores(table, rows, n_heads, seed))


KERPLE_FORM: Choice[str] = Choice("form", ("log", "power"))
BIASES: Mapping[str, Callable[..., Functions]] = MappingProxyType(
    {
        "none": none_functions,
        "alibi": alibi_functions,
        "t5": t5_functions,
        "shaw": shaw_functions,
        "deberta": deberta_functions,
        "kerple_log": partial(kerple_functions, form="log"),
        "kerple_power": partial(kerple_functions, form="power"),
        "sandwich": sandwich_functions,
    }
)
BIAS: Choice[str] = Choice("bias", tuple(BIASES))


def bias_functions(bias: str, n_heads: int, **options: Any) -> Functions:
    """Return a bias as a function of the offset, one a head.

    Parameters
    ----------
    bias
        A key of `BIASES`. FIRE is not among them: past its threshold it depends on the query as well.
    n_heads
        Number of heads.
    options
        Those of the function in `BIASES`, by name.

    Returns
    -------
    n_heads functions: `posenc.offsets.offset_blocks` makes of each a picture of its matrix

    Raises
    ------
    ValueError
        If there is no such bias, or for an argument outside its limits.
    """
    return BIASES[BIAS.check(bias)](n_heads, **options)


def offset_bias(bias: str, offsets: Positions, n_heads: int, **options: Any) -> Floats:
    """Return the curve of each head: the bias at each offset.

    Parameters
    ----------
    bias, n_heads, options
        As in `bias_functions`.
    offsets
        A number n, for the offsets 0 … n − 1 of past keys, or a 1-D array of offsets; whole ones for biases
        that are looked up.

    Returns
    -------
    (n_heads, n) float64

    Raises
    ------
    ValueError
        As `bias_functions`.
    """
    given = check_positions(offsets)
    lags = np.arange(float(given)) if isinstance(given, int) else given
    functions = bias_functions(bias, n_heads, **options)
    return np.stack([function.over_blocks(range(1), (1, 1), lags)[1][0] for function in functions])


def hide_future(blocks: Blocks) -> Blocks:
    """Leave out the blocks whose keys all come after their queries, as a causal mask does: they become NaN.

    A block that the diagonal cuts keeps what it is, its future cells included.
    """
    future = np.less.outer(blocks.rows[1:] - 1, blocks.columns[:-1])
    mean, least, greatest = (
        np.where(future, np.nan, values) for values in (blocks.mean, blocks.minimum, blocks.maximum)
    )
    return replace(blocks, mean=mean, minimum=least, maximum=greatest)


def _gauss(length: int) -> tuple[Floats, Floats]:
    """Return places in 0 … length − 1 and their shares of a mean over all of them, 12 at most.

    Gauss's rule for the whole numbers: places are the eigenvalues of the matrix of the recurrence of Gram's
    polynomials, shares the squares of the first components of the eigenvectors (Golub and Welsch 1969).
    """
    if length <= _NODES:
        return np.arange(float(length)), np.full(length, 1 / length)
    i = np.arange(1.0, _NODES)
    beside = np.sqrt(i**2 * (float(length) ** 2 - i**2) / (4 * (4 * i**2 - 1)))
    places, vectors = np.linalg.eigh(np.diag(beside, 1) + np.diag(beside, -1))
    return places + (length - 1) / 2, vectors[0] ** 2


def _triangle(n: Int64) -> Int64:
    """Return 1 + 2 + … + n, and 0 for n < 1."""
    some: Int64 = np.maximum(n, 0)
    return some * (some + 1) // 2


def _lookup(row: Callable[[Int64], Int64], scores: Floats) -> Functions:
    """Return the stairs of each head where offset k reads `row(k)` of scores (rows, n_heads)."""
    edges = _edges(row)
    rows = row(np.append(-FARTHEST, edges))
    return tuple(Stairs(edges, heights) for heights in scores[rows].T)


def _edges(row: Callable[[Int64], Int64]) -> Int64:
    """Find the offsets at which another row begins; on either side of k = 0 rows change one way only."""
    low = np.array([-FARTHEST, -1, 0, 1])
    high = np.append(low[1:], FARTHEST)
    while (high - low > 1).any():
        middle = (low + high) // 2
        low, high = np.append(low, middle), np.append(middle, high)
        changed = row(low) != row(high)
        low, high = low[changed], high[changed]
    return np.sort(high[row(low) != row(high)])


def _scores(table: ArrayLike | None, rows: int, n_heads: int, seed: int) -> Floats:
    """Return what each row gives to each head, drawn from N(0, 1) if it is not given."""
    heads = N_HEADS.check(n_heads)
    if table is None:
        return random_init(rows, heads, std=1.0, seed=seed).astype(np.float64)
    scores = check_table("table", table)
    if scores.shape != (rows, heads):
        raise ValueError(f"table must have shape ({rows}, {heads}), got {scores.shape}")
    return scores


def _a_head(name: str, given: ArrayLike | None, usual: Floats) -> Floats:
    """Return one number for each head."""
    if given is None:
        return usual
    value = check_array(name, given)
    if value.ndim and value.shape != usual.shape:
        raise ValueError(
            f"{name} must be one number or one for each of {usual.size} heads, got {value.shape}"
        )
    return np.broadcast_to(value, usual.shape)
