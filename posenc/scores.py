"""Rotary scores to look at: which query and key, over which offsets, in which layout of pairs.

Letters: k offset of a query from its key, positive for keys of the past, ω_i rate of pair i, m pairs.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.learned import SEED
from posenc.parameters import BASE, HEAD_DIM, PAIRS, SEQ_LEN, Choice, Integer
from posenc.rotary import members, pair_order, rotate, score
from posenc.scaling import turns_made
from posenc.shift import first_rise
from posenc.sinusoidal import inv_freq

Int64 = NDArray[np.int64]

VECTORS: Choice[str] = Choice("vectors", ("worked", "ones", "gaussian"))
PEAK = Integer("peak", default=20, minimum=0, maximum=SEQ_LEN.maximum - 1)
DRAWS = Integer("draws", default=200, minimum=1, maximum=500)
# Four features that can be followed by hand.
WORKED = (1.0, 2.0, 3.0, 4.0), (4.0, 3.0, 2.0, 1.0)
FAR = 100  # positions by which a query and its key are moved together

_DRAWN = 16  # features whose order is drawn
_CURVE = 800  # points of a curve
_LEAST = 256  # offsets that show more than the first fall


class Pair(NamedTuple):
    """A query and a key, (head_dim,) each, before they are rotated."""

    q: Floats
    k: Floats


def query_and_key(vectors: str, head_dim: int, *, seed: int = SEED.default) -> Pair:
    """Return a query and a key to be rotated.

    Parameters
    ----------
    vectors
        ``"worked"``: (1, 2, 3, 4) and (4, 3, 2, 1), whatever `head_dim` is; ``"ones"``: all 1;
        ``"gaussian"``: both drawn from N(0, 1).
    head_dim
        Number of features, even.
    seed
        Of the draw.

    Raises
    ------
    ValueError
        For an argument outside its limits.
    """
    kind, width = VECTORS.check(vectors), HEAD_DIM.check(head_dim)
    if kind == "worked":
        return Pair(*map(np.array, WORKED))
    if kind == "ones":
        return Pair(np.ones(width), np.ones(width))
    return Pair(*np.random.default_rng(SEED.check(seed)).standard_normal((2, width)))


class Offsets(NamedTuple):
    """Whole offsets from 0 on, or where there are too many to draw some of them from 1 on for a log axis."""

    values: Int64
    logarithmic: bool


def some_offsets(seq_len: int, *, least: int = 1) -> Offsets:
    """Return the offsets of past keys among `seq_len` positions, those of `least` positions or more."""
    n = max(SEQ_LEN.check(seq_len), least)
    if n <= _CURVE:
        return Offsets(np.arange(n), False)
    return Offsets(np.unique(np.geomspace(1, n - 1, _CURVE).round()).astype(np.int64), True)


def peaks(seq_len: int) -> Integer:
    """Return the parameter of where the turned key of `falls` peaks: at one of the offsets that are drawn."""
    return replace(PEAK, maximum=max(SEQ_LEN.check(seq_len), _LEAST) - 1)


class Falls(NamedTuple):
    """Scores over offsets (n,): of vectors of ones, of a key that peaks elsewhere, and of Gaussian draws.

    `ones` and `peaked` (n,) are of a query of ones with a key of ones, and with one that is turned on;
    `mean` and `spread` (n,) are mean and standard deviation of independent draws from N(0, 1), `own` (n,) is
    the first of them. `first_rise` is the smallest offset at which `ones` is above what it was one before,
    `lowest` the least value drawn.
    """

    offsets: Offsets
    ones: Floats
    peaked: Floats
    mean: Floats
    spread: Floats
    own: Floats
    first_rise: int
    lowest: float

    @property
    def band(self) -> tuple[Floats, Floats, Floats]:
        """Middle, lower and upper edge: the mean, and one standard deviation to either side."""
        return self.mean, self.mean - self.spread, self.mean + self.spread

    @property
    def largest_mean(self) -> float:
        """The mean that is farthest from its expectation, which is 0 at every offset."""
        return float(np.abs(self.mean).max())


def falls(
    seq_len: int,
    head_dim: int,
    *,
    base: float = BASE.default,
    seed: int = SEED.default,
    draws: int = DRAWS.default,
    peak: int = PEAK.default,
) -> Falls:
    """Follow scores over offsets, to see whether a score falls with the distance.

    Of ones it is 2·Σ_i cos(k·ω_i), which falls at first. Of independent Gaussian vectors each pair has the
    expectation 0 and the variance 2 at every offset, so that the score has 0 and head_dim. Of a query of ones
    and a key of ones turned on by `peak` positions it is 2·Σ_i cos((k − peak)·ω_i), highest at that offset.

    Parameters
    ----------
    seq_len
        Number of positions; offsets go up to 255 at least.
    head_dim, base
        As in `posenc.rotate`; how features are paired makes no difference to any of these.
    seed, draws
        Of the Gaussian vectors, and how many queries and keys.
    peak
        Where the turned key is closest.

    Returns
    -------
    Falls

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Barbero et al. 2025, "Round and Round We Go!", propositions 3.1 (a peak at any distance) and 3.2 (Gaussian
    vectors), https://arxiv.org/abs/2410.06205
    """
    rates, offsets = inv_freq(HEAD_DIM.check(head_dim), base=base), some_offsets(seq_len, least=_LEAST)
    own = query_and_key("gaussian", head_dim, seed=seed)
    random = np.random.default_rng([SEED.check(seed), 1])
    q, k = random.standard_normal((2, DRAWS.check(draws), head_dim))
    q[0], k[0] = own
    first, second = members(rates.size)
    products = (q[:, first] + 1j * q[:, second]) * (k[:, first] - 1j * k[:, second])  # (draws, m)
    scores = (products @ np.exp(1j * np.multiply.outer(rates, offsets.values))).real  # (draws, n)
    ones = np.ones(head_dim)
    flat = score(ones, ones, offsets.values, base=base)
    return Falls(
        offsets,
        flat,
        score(ones, ones, offsets.values - PEAK.check(peak), base=base),
        scores.mean(axis=0),
        scores.std(axis=0),
        scores[0],
        first_rise(head_dim, base=base),
        float(flat.min()),
    )


class Together(NamedTuple):
    """The score of a query and a key where they stand, and where both are moved on by `FAR` positions."""

    here: float
    moved: float

    @property
    def change(self) -> float:
        """By how much the score changed: rounding."""
        return abs(self.moved - self.here)


def together(
    vectors: Pair, query: int, key: int, *, base: float = BASE.default, pairs: str = PAIRS.default
) -> Together:
    """Rotate a query and a key to their positions, and to positions `FAR` further on, and multiply them."""
    (q, k), places = vectors, np.array([[query, key], [query + FAR, key + FAR]])
    turned = rotate(np.stack([[q, k], [q, k]]), places, base=base, pairs=pairs)
    here, moved = (turned[:, 0] * turned[:, 1]).sum(axis=-1).tolist()
    return Together(here, moved)


class Layouts(NamedTuple):
    """The same query and key in both layouts of pairs.

    `order` (head_dim,) are the features of the adjacent layout in the order of the half-split one; `rotated`
    holds the query at its position in each layout; `permuted` the half-split rotation of the reordered query;
    `scores` that of each layout, and that of reordered vectors in the half-split one. `difference` is the
    largest between `permuted` and the adjacent rotation in that order.
    """

    order: NDArray[np.intp]
    rotated: Mapping[str, Floats]
    permuted: Floats
    scores: Mapping[str, Together]
    permuted_score: Together
    difference: float


def layouts(vectors: Pair, query: int, key: int, *, base: float = BASE.default) -> Layouts:
    """Rotate in both layouts, and reorder the features so that one layout becomes the other.

    Parameters
    ----------
    vectors
        `query_and_key`.
    query, key
        Their positions.
    base
        As in `posenc.rotate`.
    """
    q, k = vectors
    order = pair_order(q.size)
    moved = Pair(q[order], k[order])
    rotated = {pairs: rotate(q[np.newaxis], [query], base=base, pairs=pairs)[0] for pairs in PAIRS.options}
    permuted = rotate(moved.q[np.newaxis], [query], base=base, pairs="half_split")[0]
    return Layouts(
        order,
        rotated,
        permuted,
        {pairs: together(vectors, query, key, base=base, pairs=pairs) for pairs in PAIRS.options},
        together(moved, query, key, base=base, pairs="half_split"),
        float(np.abs(permuted - rotated["adjacent"][order]).max()),
    )


def worked_example() -> dict[str, tuple[Floats, float]]:
    """Return for each layout of pairs (1, 2, 3, 4) rotated to 1, and its score at 5 with its key at 2."""
    vectors = query_and_key("worked", HEAD_DIM.default)
    first, fifth = layouts(vectors, 1, 0), layouts(vectors, 5, 2)
    return {pairs: (first.rotated[pairs], fifth.scores[pairs].here) for pairs in PAIRS.options}


def rotary_dim(head_dim: int) -> Integer:
    """Return the parameter of partial rotary: how many of `head_dim` features turn, a quarter of them."""
    width = HEAD_DIM.check(head_dim)
    usual = max(2, width // 4 - width // 4 % 2)
    return replace(HEAD_DIM, name="rotary_dim", default=usual, maximum=width)


class Variants(NamedTuple):
    """Scores of one query and key over offsets: plain, with fewer features turning, and with xPos, (n,)."""

    offsets: Offsets
    plain: Floats
    partial: Floats
    xpos: Floats


def variants(
    vectors: Pair,
    seq_len: int,
    turning: int,
    *,
    scale_base: float,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
) -> Variants:
    """Follow the score of partial rotary and of xPos beside that of plain rotary.

    Parameters
    ----------
    vectors, base, pairs
        As in `posenc.score`.
    seq_len
        Number of positions; offsets go up to 255 at least.
    turning
        How many features turn; their rates are those of this width.
    scale_base
        That of xPos.
    """
    offsets = some_offsets(seq_len, least=_LEAST)
    q, k = vectors
    rates = inv_freq(turning, base=base)
    return Variants(
        offsets,
        score(q, k, offsets.values, base=base, pairs=pairs),
        score(q, k, offsets.values, inv_freq=rates, pairs=pairs),
        score(q, k, offsets.values, base=base, pairs=pairs, scale_base=scale_base),
    )


def never_round(head_dim: int, seq_len: int, *, base: float = BASE.default) -> int:
    """Count the pairs that do not complete a turn within `seq_len` positions."""
    return int(np.count_nonzero(turns_made(inv_freq(HEAD_DIM.check(head_dim), base=base), seq_len) < 1))


def once_round(seq_len: int) -> float:
    """Return the rate that makes one turn within `seq_len` positions, rad per position."""
    return math.tau / SEQ_LEN.check(seq_len)


def shown_order(head_dim: int) -> list[int]:
    """Return `pair_order` of a head, or of one that is small enough to draw."""
    return [int(feature) for feature in pair_order(min(HEAD_DIM.check(head_dim), _DRAWN))]
