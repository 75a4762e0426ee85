"""Two orders of the same pieces through one attention step: which rows only move, and which change."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array
from posenc.attention import Attention, attention, causal_mask
from posenc.checks import largest_difference
from posenc.learned import load
from posenc.parameters import BASE, LAYOUT, Choice
from posenc.rnn import rnn
from posenc.sentence import Prepared, first_layer_input, prepared
from posenc.sinusoidal import sinusoidal

MODEL = "me5_small"

# Each pair has the same pieces. 고양이가 개를 쫓는다 and its pair say the same: Korean marks the object.
PAIRS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "mother_baby": ("엄마가 아기를 본다", "아기가 엄마를 본다"),
        "student_teacher": ("학생이 선생님을 만났다", "선생님이 학생을 만났다"),
        "cat_dog": ("고양이가 개를 쫓는다", "개를 고양이가 쫓는다"),
        "dog_cat": ("The dog chases the cat", "The cat chases the dog"),
    }
)
SENTENCE_PAIR: Choice[str] = Choice("sentence_pair", tuple(PAIRS))
POSITIONS: Choice[str] = Choice("positions", ("none", "learned", "sinusoidal"))


class Orders(NamedTuple):
    """What attention makes of two orders of the same n pieces.

    `first` and `second` are the two attention steps. `restored` (n, d) holds the outputs of the second with
    every row put back to where its piece stands in the first, `change` (n, d) is restored − first.
    `outputs_differ` and `means_differ` are the largest absolute differences between the restored outputs, and
    between the means over the pieces.
    """

    first: Attention
    second: Attention
    restored: Floats
    change: Floats
    outputs_differ: float
    means_differ: float

    @property
    def outputs(self) -> Floats:
        """The outputs of both orders, (2, n, d)."""
        return np.stack([self.first.output, self.second.output])

    @property
    def largest_weight(self) -> float:
        """The largest attention weight in either order."""
        return float(max(self.first.weights.max(), self.second.weights.max()))


def pair(name: str) -> tuple[Prepared, Prepared]:
    """Return both prepared sentences of one of the `PAIRS`, with the word vectors of E5."""
    found = {sentence.text: sentence for sentence in prepared(MODEL)}
    first, second = PAIRS[SENTENCE_PAIR.check(name)]
    return found[first], found[second]


def inputs(
    sentence: Prepared, positions: str, *, base: float = BASE.default, layout: str = LAYOUT.default
) -> Floats:
    """Input of the first layer, LayerNorm(word + token type [+ position]), (n, 384).

    Parameters
    ----------
    sentence
        With its word vectors.
    positions
        ``"none"``, ``"learned"`` (the model's own table) or ``"sinusoidal"``.
    base, layout
        Of the sinusoidal table.
    """
    kind = POSITIONS.check(positions)
    n, d_model = sentence.vectors.shape
    if kind == "sinusoidal":
        table = sinusoidal(n, d_model, base=base, layout=layout)
    else:
        table = load(sentence.model)[:n]  # of all 512 rows no other is read
    return first_layer_input(sentence.model, sentence.vectors, positions=kind != "none", table=table)


def compared(
    name: str,
    kind: str,
    *,
    causal: bool = False,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
) -> Orders:
    """Send both sentences of a pair through one attention step, as `compare` does; the arrays are read-only.

    Parameters
    ----------
    name
        One of the `PAIRS`.
    kind, base, layout
        Of the positions, as in `inputs`.
    causal
        Whether a position sees itself and earlier ones only.
    """
    # Only a sinusoid has a base and a layout.
    own = (base, layout) if POSITIONS.check(kind) == "sinusoidal" else (BASE.default, LAYOUT.default)
    return _compared(name, kind, causal, *own)


@lru_cache(maxsize=32)  # of 0.1 MB each; a visit asks for four, and all pairs without sinusoids have twelve
def _compared(name: str, kind: str, causal: bool, base: float, layout: str) -> Orders:
    first, second = pair(name)
    one, two = (inputs(each, kind, base=base, layout=layout) for each in (first, second))
    rows = row_order(first.pieces, second.pieces)
    seen = compare(one, two, rows, mask=causal_mask(len(rows)) if causal else None)
    for array in (*seen.first, *seen.second, seen.restored, seen.change):
        array.flags.writeable = False
    return seen


@lru_cache(maxsize=len(PAIRS))  # two kilobytes each
def states(name: str) -> tuple[Floats, Floats]:
    """Return what an RNN makes of both sentences of a pair, without positions, (n, 16) each, read-only."""
    first, second = (rnn(inputs(each, "none")) for each in pair(name))
    first.flags.writeable = second.flags.writeable = False
    return first, second


def row_order(first: Sequence[str], second: Sequence[str]) -> NDArray[np.intp]:
    """Tell from which row of `first` each piece of `second` comes.

    Parameters
    ----------
    first, second
        The same pieces in two orders; equal pieces keep their order.

    Returns
    -------
    (n,) integers: ``second[t] == first[order[t]]``.

    Raises
    ------
    ValueError
        If the pieces are not the same.
    """
    if sorted(first) != sorted(second):
        raise ValueError(f"second must hold the pieces of first ({first!r}) in another order, got {second!r}")
    # Both sorts are stable: the k-th of several equal pieces meets the k-th.
    order = np.empty(len(first), dtype=np.intp)
    order[_sorted_rows(second)] = _sorted_rows(first)
    return order


def moves(order: Sequence[int] | NDArray[np.intp]) -> list[tuple[int, int]]:
    """Return the rows that changed place as (from, to), in the order they are read first."""
    return sorted((int(start), to) for to, start in enumerate(order) if start != to)


def compare(
    first: ArrayLike, second: ArrayLike, order: ArrayLike, *, mask: ArrayLike | None = None
) -> Orders:
    """Send both inputs through one attention step with Q = K = V = X: one head, no learned projections.

    Parameters
    ----------
    first, second
        (n, d) inputs of the two orders.
    order
        (n,) integers from `row_order`.
    mask
        (n, n) booleans for both, True where query and key may meet.

    Notes
    -----
    Without mask and positions attention is permutation-equivariant, so `outputs_differ` is rounding alone;
    the mean over the rows is permutation-invariant (Lee et al. 2019, "Set Transformer").
    """
    one, two = check_array("first", first), check_array("second", second)
    a, b = attention(one, one, one, mask=mask), attention(two, two, two, mask=mask)
    restored = np.empty_like(b.output)
    restored[np.asarray(order)] = b.output
    return Orders(
        a,
        b,
        restored,
        restored - a.output,
        largest_difference(a.output, restored),
        largest_difference(a.output.mean(axis=0), b.output.mean(axis=0)),
    )


def _sorted_rows(pieces: Sequence[str]) -> list[int]:
    return sorted(range(len(pieces)), key=lambda row: pieces[row])
