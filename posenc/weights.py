"""What a bias does to attention: the weights after a softmax, where all queries and keys match equally well.

With all q·k the same only the bias is left, and a query at i weighs its keys j by

    w(i, j) = exp(b(i, j)) / Z(i),    Z(i) = Σ_j exp(b(i, j))

over the v(i) keys that it may see: i + 1 with a causal mask, else all. The equal share is 1/v(i). A `Head`
has the biases of any part of a matrix of any size; `share_blocks` makes of them a picture of log10(w·v): 0
where a key gets the equal share, 1 where it gets ten times as much.

Letters: k = i − j offset, positive for keys of the past, L the threshold of FIRE, n positions.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.attention import softmax
from posenc.bias import THRESHOLD, C, FireNetwork, fire_network
from posenc.blocks import FARTHEST, MOST_COLUMNS, MOST_ROWS, Blocks, Span, check_span, cut
from posenc.buckets import clipped_distance, deberta_bucket, t5_bucket
from posenc.learned import SEED, random_init
from posenc.offsets import OffsetFunction, offset_blocks
from posenc.parameters import (
    BASE,
    BIAS_MAX,
    BUCKET_SIZE,
    LEFT,
    N_HEADS,
    NUM_BUCKETS,
    PAIRS,
    RIGHT,
    SEQ_LEN,
    Choice,
    Integer,
)
from posenc.profiles import bias_functions, hide_future
from posenc.rotary import score
from posenc.scores import Offsets, Pair, some_offsets

Int64 = NDArray[np.int64]

MASK: Choice[str] = Choice("mask", ("causal", "none"))
LOOKED_UP = ("t5", "shaw", "deberta")  # in a learned table
DRAWN = (*LOOKED_UP, "fire")  # what is learned of them is drawn here
BIAS: Choice[str] = Choice(
    "bias", ("alibi", *LOOKED_UP, "kerple_log", "kerple_power", "fire", "sandwich", "none")
)
_LOOKUP: Choice[str] = Choice("bias", LOOKED_UP)
CURVES = 5  # heads that are told apart in one figure
SHARE = 2.0  # log10: colours reach from a hundredth of the equal share to a hundred times as much

_POINTS = 800  # of a curve
_ROWS, _SIDE = 4, 2  # queries looked at in a block for their Z; places along each side of a block of FIRE
_EACH, _SOME = 400, 160  # queries of FIRE whose Z are summed, each by itself: all of so many, or some
_CHUNK = 2048


class Head(Protocol):
    """The biases of one head."""

    def values(self, query: int, offsets: Floats) -> Floats:
        """Return the biases (m,) of the keys at these offsets (m,) from a query."""

    def blocks(self, rows: Span, columns: Span, *, most_rows: int, most_columns: int) -> Blocks:
        """Return the blocks of a part of the matrix of biases, queries down and keys across."""

    def log_sums(self, queries: Int64, seq_len: int, *, causal: bool) -> Floats:
        """Return ln Z of these queries (m,): over the keys up to each, or over all of `seq_len`."""


@dataclass(frozen=True)
class OffsetHead:
    """A bias that is a function of the offset."""

    function: OffsetFunction

    def values(self, query: int, offsets: Floats) -> Floats:
        """Return the biases at these offsets, the same for every query: see `Head`."""
        parts = [offsets[first : first + _CHUNK] for first in range(0, len(offsets), _CHUNK)]
        return np.concatenate([self.function.over_blocks(range(1), (1, 1), lags)[1][0] for lags in parts])

    def blocks(self, rows: Span, columns: Span, *, most_rows: int, most_columns: int) -> Blocks:
        """Return the blocks of `posenc.offsets.offset_blocks`: see `Head`."""
        return offset_blocks(self.function, rows, columns, most_rows=most_rows, most_columns=most_columns)

    def log_sums(self, queries: Int64, seq_len: int, *, causal: bool) -> Floats:
        """Return ln Z, one running sum over the offsets of the past and one over the future: see `Head`."""
        past = self._running(queries + 1, lambda k: k)
        return past if causal else np.logaddexp(past, self._running(seq_len - 1 - queries, lambda k: -1 - k))

    def _running(self, counts: Int64, offset: Callable[[Floats], Floats]) -> Floats:
        """Return ln Σ exp(f(offset(k))) over the first `counts` of k = 0, 1, …, −inf for none."""
        most = int(counts.max())
        if not most:
            return np.full(counts.shape, -np.inf)
        over = whole_sum(most)
        biases = self.values(0, offset(over.places))
        highest = biases.max()
        sums = np.cumsum(over.weights * np.exp(biases - highest))[over.places_below - 1]
        mean = np.interp(counts, over.ends, np.log(sums / over.ends)) + highest
        some = counts > 0
        found: Floats = np.log(counts, where=some, out=np.full(counts.shape, -np.inf)) + mean
        return found


@dataclass(frozen=True)
class FireHead:
    """FIRE (`posenc.fire`): f of ψ(|i − j|)/ψ(max(L, i)), f straight between `knots` with `heights`, (m,)."""

    knots: Floats
    heights: Floats
    c: float = C.default
    threshold: float = THRESHOLD.default

    def values(self, query: int, offsets: Floats) -> Floats:
        """Return the biases at these offsets from a query: see `Head`."""
        return self._of(offsets, np.array(float(query)))

    def blocks(self, rows: Span, columns: Span, *, most_rows: int, most_columns: int) -> Blocks:
        """Return the blocks of a part of the matrix, of which 2 × 2 cells are looked at: see `Head`."""
        down, across = check_span("rows", rows, FARTHEST), check_span("columns", columns, FARTHEST)
        each = max(
            -(-(down[1] - down[0]) // MOST_ROWS.check(most_rows)),
            -(-(across[1] - across[0]) // MOST_COLUMNS.check(most_columns)),
        )
        side = min(_SIDE, each)
        row_edges, column_edges = cut(*down, each), cut(*across, each)
        p, q = (_spread(edges, side).astype(np.float64) for edges in (row_edges, column_edges))
        mean, least, greatest = (np.empty((len(p), len(q))) for _ in range(3))
        for first in range(0, len(p), 32):  # a few rows of blocks at a time: four cells a block are many
            some = slice(first, first + 32)
            queries = p[some, :, np.newaxis, np.newaxis]
            cells = self._of(queries - q, queries)  # (32, side, columns, side)
            mean[some] = cells.mean(axis=(1, 3))
            least[some], greatest[some] = cells.min(axis=(1, 3)), cells.max(axis=(1, 3))
        return Blocks(row_edges, column_edges, mean, least, greatest, exact=side == each)

    def log_sums(self, queries: Int64, seq_len: int, *, causal: bool) -> Floats:
        """Return ln Z, a sum for every query, or for some of them where they are many: see `Head`."""
        summed = np.unique(queries)
        if summed.size > _EACH:
            ends = summed[0] + 1, summed[-1] + 1
            summed = np.unique(np.geomspace(*ends, _SOME).round().astype(np.int64)) - 1
        sums = np.array([self._log_sum(int(query), seq_len, causal) for query in summed])
        # Z grows with the keys that are seen, and little by little besides.
        seen, seen_here = (i + 1.0 if causal else np.full(i.shape, 1.0) for i in (summed, queries))
        found = np.interp(np.log(queries + 1.0), np.log(summed + 1.0), sums - np.log(seen))
        return np.asarray(found + np.log(seen_here))

    def _log_sum(self, query: int, seq_len: int, causal: bool) -> float:
        past = _whole_sum(query + 1, *_LIGHT)
        total = past.weights @ np.exp(self.values(query, past.places))
        if not causal and query < seq_len - 1:
            future = _whole_sum(seq_len - 1 - query, *_LIGHT)
            total += future.weights @ np.exp(self.values(query, 1 + future.places))
        return float(np.log(total))

    def _of(self, offsets: Floats, queries: Floats) -> Floats:
        distances = np.log1p(self.c * np.abs(offsets))
        distances /= np.log1p(self.c * np.maximum(self.threshold, queries))
        return np.interp(distances, self.knots, self.heights)


class WholeSum(NamedTuple):
    """A sum over the whole numbers from 0 on.

    That of f over the numbers below ``ends[i]`` is ``weights · f(places)`` over the first `places_below[i]`.
    """

    places: Floats
    weights: Floats
    ends: Int64
    places_below: Int64


_LIGHT = 128, 16, 4


@lru_cache(maxsize=4)  # of at most 7,500 places each; all heads of a page have the same
def whole_sum(n: int) -> WholeSum:
    """Say where to look for a sum over 0 … n − 1 that is right to 1e-4: see `_whole_sum`."""
    return _whole_sum(n, 2048, 24, 16)


def _whole_sum(n: int, exact: int, parts: int, looks: int) -> WholeSum:
    """Say where to look to sum something over 0 … n − 1 that changes little by little far out.

    Each of the first `exact` numbers stands for itself. Then come parts, `parts` of them to a doubling, of
    which `looks` numbers are looked at: one in each of equal pieces, each time elsewhere in it, by the golden
    ratio, so that no wave goes in step with them.
    """
    near = np.arange(min(n, exact), dtype=np.float64)
    count = math.ceil(parts * math.log2(n / exact)) if n > exact else 0
    edges = np.geomspace(near.size, n, count + 1).round().astype(np.int64)
    sizes, piece = np.diff(edges), np.arange(looks)
    inside = (piece + piece * (math.sqrt(5) - 1) / 2 % 1) / looks
    far = edges[:-1, np.newaxis] + np.floor(np.multiply.outer(sizes, inside))
    each = np.arange(1, near.size + 1)
    return WholeSum(
        np.append(near, far),
        np.append(np.ones_like(near), np.repeat(sizes / looks, looks)),
        np.append(each, edges[1:]),
        np.append(each, near.size + looks * np.arange(1, count + 1)),
    )


def heads_of(
    bias: str,
    n_heads: int,
    chosen: Sequence[int],
    *,
    causal: bool = True,
    base: float = BASE.default,
    seed: int = SEED.default,
) -> dict[int, Head]:
    """Return some heads of a bias, by their numbers.

    Parameters
    ----------
    bias
        An option of `BIAS`.
    n_heads
        How many heads there are.
    chosen
        Which of them, from 0 on.
    causal
        Which of its forms T5 has: the causal one, of a decoder, or the bidirectional one. All other formulas
        are the same on both sides of offset 0.
    base
        Of Sandwich.
    seed
        Of what is learned: the tables of T5, Shaw and DeBERTa, the network of FIRE.

    Raises
    ------
    ValueError
        For an argument outside its limits.
    """
    number = Integer("head", 0, 0, N_HEADS.check(n_heads) - 1)
    numbers = [number.check(head) for head in chosen]
    if BIAS.check(bias) == "fire":
        network = fire_network(n_heads, seed=seed)
        return {head: fire_head(network, head) for head in numbers}
    options: dict[str, Any] = {}
    if bias in LOOKED_UP:
        options["table"] = drawn_table(bias, n_heads, seed=seed)
    if bias == "t5":
        options["bidirectional"] = not causal
    if bias == "sandwich":
        options["base"] = base
    functions = bias_functions(bias, n_heads, **options)
    return {head: OffsetHead(functions[head]) for head in numbers}


def drawn_table(bias: str, n_heads: int, *, seed: int = SEED.default) -> Floats:
    """Return a stand-in for what is looked up, (rows, n_heads), drawn from N(0, 1).

    Of T5 its table of biases, of Shaw and DeBERTa what one query of random numbers makes of each row.
    """
    rows = {
        "t5": NUM_BUCKETS.default,
        "shaw": LEFT.default + RIGHT.default + 1,
        "deberta": 2 * BUCKET_SIZE.default,
    }
    drawn = random_init(rows[_LOOKUP.check(bias)], N_HEADS.check(n_heads), std=1.0, seed=seed)
    return drawn.astype(np.float64)


def drawn_values(bias: str, n_heads: int, head: int, *, seed: int = SEED.default) -> dict[str, Floats]:
    """Return what is drawn in place of learned numbers for one head, by the name of a file; often nothing.

    Of what is looked up (rows,); of FIRE w₁, b₁ and w₂ (3, hidden).
    """
    if BIAS.check(bias) in LOOKED_UP:
        return {f"{bias}.npy": drawn_table(bias, n_heads, seed=seed)[:, head]}
    if bias == "fire":
        network = fire_network(n_heads, seed=seed)
        return {"fire.npy": np.stack([network.w1, network.b1, network.w2[head]])}
    return {}


def fire_head(network: FireNetwork, head: int) -> FireHead:
    """Return one head of FIRE with the c and L at which training starts.

    A network of one hidden layer is straight between the places where its units bend, −b₁/w₁.
    """
    one = FireNetwork(network.w1, network.b1, network.w2[head : head + 1], network.b2[head : head + 1])
    bends = -network.b1 / network.w1
    ends = 0.0, float(np.log1p(C.default * SEQ_LEN.maximum) / np.log1p(C.default * THRESHOLD.default))
    knots = np.unique(np.concatenate([bends[(bends > ends[0]) & (bends < ends[1])], ends]))
    return FireHead(knots, one(knots)[0])


def some_heads(n_heads: int, head: int) -> list[int]:
    """Return the numbers of up to `CURVES` heads all over `n_heads`, that of `head` among them."""
    spread = np.linspace(0, N_HEADS.check(n_heads) - 1, CURVES - 1).round().astype(int)
    return sorted({head, *spread.tolist()})


def bias_blocks(
    head: Head,
    rows: Span,
    columns: Span,
    *,
    causal: bool = True,
    most_rows: int = MOST_ROWS.default,
    most_columns: int = MOST_COLUMNS.default,
) -> Blocks:
    """Return the blocks of a view of the matrix of biases.

    Parameters
    ----------
    head
        Of `heads_of`.
    rows, columns
        Positions of queries down and of keys across, (start, stop).
    causal
        Whether keys after their query are left out: blocks of nothing else are NaN, those that the diagonal
        cuts are what they are without a mask.
    most_rows, most_columns
        How many blocks there may be along each axis.
    """
    blocks = head.blocks(rows, columns, most_rows=most_rows, most_columns=most_columns)
    return hide_future(blocks) if causal else blocks


def share_blocks(head: Head, seq_len: int, biases: Blocks, *, causal: bool = True) -> Blocks:
    """Return the blocks of a view of log10(w·v): the weight of a key against the equal share.

    log10(w·v) = (b − ln(Z/v))/ln 10: the biases, less a number for each query.

    Parameters
    ----------
    seq_len
        How many positions there are: without a mask a query sees all of them.
    biases
        Those of the view, of `bias_blocks` with the same mask.
    head, causal
        As in `bias_blocks`.

    Returns
    -------
    Blocks
        Z is exact up to 2,048 keys (of FIRE up to 128), and beyond right to 1e-4 of itself; of Sandwich,
        whose waves never come to rest, to some hundredths. In a block of more than four queries it is that of
        four.
    """
    queries = _spread(biases.rows, min(_ROWS, biases.rows_each))  # (r, 4)
    seen = queries + 1 if causal else np.full_like(queries, SEQ_LEN.check(seq_len))
    sums = head.log_sums(queries.ravel(), seq_len, causal=causal).reshape(queries.shape) - np.log(seen)
    mean, low, high = (gather(sums, axis=1)[:, np.newaxis] for gather in (np.mean, np.min, np.max))
    return replace(
        biases,
        mean=(biases.mean - mean) / math.log(10),
        minimum=(biases.minimum - high) / math.log(10),
        maximum=(biases.maximum - low) / math.log(10),
        exact=biases.single,
    )


def largest_bias(head: Head, seq_len: int, *, causal: bool = True) -> float:
    """Return the largest absolute bias of a matrix, of all near offsets and of many that are far."""
    places = whole_sum(SEQ_LEN.check(seq_len)).places
    both = places if causal else np.append(places, -places)
    return float(np.abs(head.values(seq_len - 1, both)).max())


class Seen(NamedTuple):
    """What one query sees: biases and weights of its keys by offset, for some heads, (m,) each.

    With a causal mask it is the last query, without one that in the middle. `equal` is the equal share.
    """

    query: int
    offsets: Offsets
    biases: Mapping[int, Floats]
    weights: Mapping[int, Floats]
    equal: float


def seen(heads: Mapping[int, Head], seq_len: int, *, causal: bool = True) -> Seen:
    """Follow biases and weights over the offsets of one query.

    Parameters
    ----------
    heads
        Of `heads_of`.
    seq_len
        Number of positions.
    causal
        Whether the keys after a query are masked.
    """
    last = SEQ_LEN.check(seq_len) - 1
    query = last if causal else last // 2
    offsets = some_offsets(seq_len) if causal else Offsets(_evenly(query - last, query), False)
    places = offsets.values.astype(np.float64)
    biases = {number: head.values(query, places) for number, head in heads.items()}
    one = np.array([query])
    weights = {
        number: np.exp(biases[number] - head.log_sums(one, seq_len, causal=causal))
        for number, head in heads.items()
    }
    return Seen(query, offsets, biases, weights, 1 / seq_len)


def pictured(
    vectors: Pair,
    head: Head,
    seq_len: int,
    *,
    causal: bool = True,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
) -> Floats:
    """Return all cells of a few positions: rotary scores, biases, and the weights of these biases.

    Parameters
    ----------
    vectors, base, pairs
        As in `posenc.score`: the query that stands at every position, and the key.
    head, causal
        As in `bias_blocks`; a masked key has the weight 0.
    seq_len
        n, up to 2,048.

    Returns
    -------
    (3, n, n) float64
    """
    span, n = (0, seq_len), MOST_ROWS.check(seq_len)
    biases = head.blocks(span, span, most_rows=n, most_columns=n).mean
    offsets = np.subtract.outer(np.arange(n), np.arange(n))
    scores = score(*vectors, np.arange(1 - n, n), base=base, pairs=pairs)[offsets + n - 1]
    weights = softmax(np.where(offsets >= 0, biases, -np.inf) if causal else biases)
    return np.stack([scores, biases, weights])


def rows_read(bias: str) -> tuple[Int64, dict[str, Int64]]:
    """Return offsets on both sides of 0, and which row of its table a bias reads there.

    Of T5 in its two forms, ``"bidirectional"`` and ``"causal"``; of the others ``"both"``, one for both.
    """
    if _LOOKUP.check(bias) == "t5":
        k = np.arange(-192, 193)
        forms = {"bidirectional": True, "causal": False}
        return k, {name: t5_bucket(-k, bidirectional=both) for name, both in forms.items()}
    if bias == "shaw":
        k = np.arange(-2 * RIGHT.default, 2 * LEFT.default + 1)
        return k, {"both": clipped_distance(-k, LEFT.default, RIGHT.default)}
    k = np.arange(-768, 769, 2)
    size = BUCKET_SIZE.default
    return k, {"both": np.clip(deberta_bucket(k) + size, 0, 2 * size - 1)}


def mpt_slopes(n_heads: int, *, bias_max: float = BIAS_MAX.default) -> Floats:
    """Return ALiBi's slopes as MPT's code makes them, in its order.

    Those of the next power of two P ≥ n_heads, every second of them first (the 2nd, 4th, …), then the others,
    of which the first `n_heads` are kept.

    References
    ----------
    `gen_slopes` in https://github.com/mosaicml/llm-foundry, `build_mpt_alibi_tensor` in transformers
    """
    power = 1 << (N_HEADS.check(n_heads) - 1).bit_length()
    slopes = 2.0 ** (-BIAS_MAX.check(bias_max) * np.arange(1, power + 1) / power)
    return slopes if power == n_heads else np.append(slopes[1::2], slopes[::2])[:n_heads]


def _spread(edges: Int64, count: int) -> Int64:
    """Return `count` whole numbers spread over each block with these edges, (blocks, count)."""
    inside = (np.arange(count) + 0.5) / count
    return edges[:-1, np.newaxis] + np.floor(np.multiply.outer(np.diff(edges), inside)).astype(np.int64)


def _evenly(first: int, last: int) -> Int64:
    """Return whole numbers from `first` to `last`, all or some of them, 0 among them."""
    step = -(-(last - first) // _POINTS) or 1
    return np.arange(-(-first // step), last // step + 1) * step
