"""Two orders of the same pieces through one attention step: which rows only move, and which change."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array
from posenc.attention import Attention, attention
from posenc.checks import largest_difference


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
        raise ValueError(f"second must hold the pieces of first in another order, got {second!r} for {first!r}")
    # Both sorts are stable: the k-th of several equal pieces meets the k-th.
    order = np.empty(len(first), dtype=np.intp)
    order[_sorted_rows(second)] = _sorted_rows(first)
    return order


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
    Without mask and positions attention is permutation-equivariant, so `outputs_differ` is rounding alone; the
    mean over the rows is permutation-invariant (Lee et al. 2019, "Set Transformer").
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
