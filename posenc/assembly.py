"""What becomes of a sentence's rows on their way to the first layer, as rows and numbers to be shown."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from posenc.arrays import Floats, check_array, check_rows, check_table
from posenc.checks import largest_difference
from posenc.parameters import BASE, LAYOUT, Choice
from posenc.sentence import Prepared, embed, to_input
from posenc.sinusoidal import sinusoidal
from posenc.tokens import MAX_PIECES, pieces

TYPED = "text"
SOURCE: Choice[str] = Choice("source", ("minilm_l6", "me5_small", TYPED))
# Values of a typed sentence: a page holds up to ten arrays of them at a time, 4 MB each.
MAX_VALUES = 2**19
# Prepared sentences in which a word stands twice: source and place among the prepared ones.
REPEATING = (("minilm_l6", 0), ("minilm_l6", 7), ("me5_small", 12))


class Assembly(NamedTuple):
    """The arrays on the way from the pieces to the first layer, before dropout.

    `embedding` (after × √d_model, if asked for), `positions` and `summed` are (seq_len, d_model); `batch` is
    `summed` as a batch of one, (1, seq_len, d_model).
    """

    embedding: Floats
    positions: Floats
    summed: Floats
    batch: Floats


class Repeat(NamedTuple):
    """A piece that stands at two positions, with no other of its kind between them."""

    piece: str
    first: int
    second: int


class RowPair(NamedTuple):
    """Two rows of the same piece on their way.

    `embedding`, `positions` and `inputs` are (2, d_model) each; the rows of `difference` are x(p) − x(q) and
    PE(p) − PE(q). `embedding_gap` is the largest difference between the two embedding rows, `input_gap`
    between the two input rows, `residual` between the two rows of `difference`.
    """

    embedding: Floats
    positions: Floats
    inputs: Floats
    difference: Floats
    embedding_gap: float
    input_gap: float
    residual: float

    @property
    def rows(self) -> Floats:
        """All eight rows, (8, d_model), in the order of the fields."""
        return np.concatenate([self.embedding, self.positions, self.inputs, self.difference])


class Sizes(NamedTuple):
    """Root mean squares of the embedding and of the positions, their ratio, and it with × √d_model."""

    embedding: float
    positions: float
    ratio: float
    scaled_ratio: float


class DropoutEffect(NamedTuple):
    """What dropout did to `total` sums: `dropped` of them are 0, which is the `share`.

    The others were multiplied by `least` to `most` (NaN if there are none). Further the mean of all before
    and after, and the largest absolute difference.
    """

    dropped: int
    total: int
    share: float
    least: float
    most: float
    mean_before: float
    mean_after: float
    difference: float


class BatchAxes(NamedTuple):
    """A batch with positions added along the right axis, and along the wrong one.

    `right` and `wrong` are (batch, seq_len, d_model); `refusal` is what NumPy says when the whole table is
    added along the wrong axis.
    """

    right: Floats
    wrong: Floats
    refusal: str


def typed(text: str, d_model: int) -> tuple[Prepared, int]:
    """Make a sentence of free text, with seeded vectors; also return how many pieces the text has in all.

    At most the first `most_pieces(d_model)` of them are kept.

    Parameters
    ----------
    text
        Anything; see `posenc.tokens.pieces`.
    d_model
        Width of the seeded vectors, N(0, 1/d_model).
    """
    found, total = pieces(text)
    kept = found[: most_pieces(d_model)]
    return Prepared(TYPED, text, kept, embed(kept, d_model), lossy=False, ids=()), total


def most_pieces(d_model: int) -> int:
    """Return how many pieces a typed sentence of this width may have: `MAX_PIECES`, fewer beyond 2048."""
    return min(MAX_PIECES, MAX_VALUES // d_model)


def assemble(vectors: ArrayLike, table: ArrayLike, *, scale: bool = False) -> Assembly:
    """Keep every array that `posenc.sentence.to_input` passes through before dropout.

    Parameters
    ----------
    vectors
        (seq_len, d_model).
    table
        (max_len, d_model) with max_len ≥ seq_len.
    scale
        As in `posenc.sentence.to_input`.
    """
    rows, positions = check_table("vectors", vectors), check_table("table", table)
    summed = to_input(rows, positions, scale=scale)
    embedding = rows * math.sqrt(rows.shape[1]) if scale else rows
    return Assembly(embedding, positions[: len(rows)], summed, summed[np.newaxis])


def repeats(pieces: Sequence[str]) -> tuple[Repeat, ...]:
    """Find the pieces that stand more than once, each with its next occurrence, in reading order."""
    places: dict[str, list[int]] = {}
    for position, piece in enumerate(pieces):
        places.setdefault(piece, []).append(position)
    found = (Repeat(piece, *pair) for piece, at in places.items() for pair in pairwise(at))
    return tuple(sorted(found, key=lambda repeat: repeat[1:]))


def repeated(pieces: Sequence[str]) -> frozenset[int]:
    """Return the positions of all pieces that stand more than once."""
    return frozenset(at for repeat in repeats(pieces) for at in repeat[1:])


def compare_rows(vectors: ArrayLike, table: ArrayLike, p: int, q: int, *, scale: bool = False) -> RowPair:
    """Follow rows `p` and `q` of one sequence: embedding (× √d_model) + position = input.

    Parameters
    ----------
    vectors
        (seq_len, d_model).
    table
        (max_len, d_model) with max_len ≥ seq_len.
    p, q
        Two rows of `vectors`.
    scale
        As in `posenc.sentence.to_input`.

    Returns
    -------
    RowPair
        For the same piece at p and q the embedding rows are equal, so x(p) − x(q) = PE(p) − PE(q).
    """
    both = [p, q]
    rows, table_rows = check_table("vectors", vectors)[both], check_table("table", table)[both]
    embedding, positions, inputs, _ = assemble(rows, table_rows, scale=scale)
    difference = np.stack([inputs[0] - inputs[1], positions[0] - positions[1]])
    return RowPair(
        embedding,
        positions,
        inputs,
        difference,
        largest_difference(*embedding),
        largest_difference(*inputs),
        largest_difference(*difference),
    )


def sizes(vectors: ArrayLike, table: ArrayLike) -> Sizes:
    """Measure how loud the words are against the positions.

    Parameters
    ----------
    vectors
        (…, seq_len, d_model).
    table
        (max_len, d_model) with max_len ≥ seq_len; only its first seq_len rows count.
    """
    rows, positions = check_rows("vectors", vectors), check_table("table", table)
    seq_len, d_model = rows.shape[-2:]
    embedding, position = _rms(rows), _rms(positions[:seq_len])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = embedding / position
    return Sizes(float(embedding), float(position), float(ratio), float(ratio * math.sqrt(d_model)))


@lru_cache(maxsize=1)  # the usual case
def seeded_sizes(seq_len: int = 128, d_model: int = 512) -> Sizes:
    """Measure seeded vectors N(0, 1/d_model) against the sinusoid: the usual case at initialisation.

    In expectation the ratios are √(2/d_model) and √2.
    """
    return sizes(embed([str(number) for number in range(seq_len)], d_model), sinusoidal(seq_len, d_model))


def dropout_effect(before: ArrayLike, after: ArrayLike) -> DropoutEffect:
    """Compare the sums before and after dropout.

    Parameters
    ----------
    before, after
        Of the same shape. A sum that was 0 before counts neither as dropped nor as kept.
    """
    x, y = check_array("before", before), check_array("after", after)
    if x.shape != y.shape or x.size == 0:
        raise ValueError(
            f"before and after must have the same shape, nothing empty, got {x.shape} and {y.shape}"
        )
    kept = y != 0
    factors = y[kept] / x[kept]
    dropped = int(((x != 0) & ~kept).sum())
    return DropoutEffect(
        dropped,
        x.size,
        dropped / x.size,
        float(factors.min()) if factors.size else math.nan,
        float(factors.max()) if factors.size else math.nan,
        float(x.mean()),
        float(y.mean()),
        largest_difference(x, y),
    )


def batch_axes(x: ArrayLike, table: ArrayLike) -> BatchAxes:
    """Add positions to a batch as it should be, and as code written for (seq_len, batch, d_model) does it.

    Parameters
    ----------
    x
        (batch, seq_len, d_model) with batch different from the table's length.
    table
        (max_len, d_model) with max_len ≥ batch and seq_len.

    Returns
    -------
    BatchAxes
        In `wrong`, every piece of sentence b got the vector of position b; nothing raised an error.
    """
    batch, positions = check_array("x", x), check_table("table", table)
    sequence_first = positions[:, np.newaxis]  # (max_len, 1, d_model), as in much published code
    return BatchAxes(
        to_input(batch, positions), batch + sequence_first[: len(batch)], _refusal(batch, sequence_first)
    )


def batch_axes_case(*, base: float = BASE.default, layout: str = LAYOUT.default) -> BatchAxes:
    """Return `batch_axes` of a batch of 3 × 5 zero vectors of width 4 and a table of 10 rows."""
    return batch_axes(np.zeros((3, 5, 4)), sinusoidal(10, 4, base=base, layout=layout))


def row_names(p: int, q: int) -> tuple[str, ...]:
    """Name the eight rows of `RowPair.rows` as formulas."""
    names = [f"{letter}({at})" for letter in ("e", "PE", "x") for at in (p, q)]
    return (*names, f"x({p}) − x({q})", f"PE({p}) − PE({q})")


def _refusal(one: Floats, other: Floats) -> str:
    try:
        np.add(one, other)
    except ValueError as error:
        return str(error).strip()
    raise ValueError(f"shapes {one.shape} and {other.shape} can be added: there is no refusal to show")


def _rms(values: Floats) -> np.float64:
    every = values.ravel()
    return np.float64(np.sqrt(every @ every / every.size))  # no array of squares
