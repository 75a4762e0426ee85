"""One step of scaled dot-product attention, enough to see what it can and cannot tell about order."""

import math
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array
from posenc.parameters import D_MODEL, Integer

Cell = TypeVar("Cell", np.float64, np.bool_)
N_TOKENS = Integer("n", default=8, minimum=1, maximum=D_MODEL.maximum)


class Attention(NamedTuple):
    """output (…, n, d_v), weights (…, n, m), and scores (…, n, m) with mask and bias already in them."""

    output: Floats
    weights: Floats
    scores: Floats


def softmax(scores: ArrayLike, axis: int = -1) -> Floats:
    """exp(s) / Σ exp(s) along `axis`, with the largest score subtracted first so that exp never overflows.

    Parameters
    ----------
    scores
        Any shape; −inf gives weight 0.
    axis
        The axis that sums to 1.

    Returns
    -------
    float64 of the same shape. A row of nothing but −inf is 0/0 = NaN, as in PyTorch, TensorFlow and SciPy.

    Raises
    ------
    ValueError
        If there is no such axis or it is empty.
    """
    values = check_array("scores", scores)
    if not -values.ndim <= axis < values.ndim or values.shape[axis] == 0:
        raise ValueError(f"axis must name a filled axis of scores, got axis {axis} of shape {values.shape}")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        raised = np.exp(values - values.max(axis=axis, keepdims=True))
        weights: Floats = raised / raised.sum(axis=axis, keepdims=True)
    return weights


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    bias: ArrayLike | None = None,
) -> Attention:
    """softmax(q kᵀ / √d + bias) v: each query's mixture of the values (Vaswani et al. 2017, equation 1).

    Parameters
    ----------
    q, k, v
        (…, n, d) queries, (…, m, d) keys and (…, m, d_v) values; the leading axes (batch, heads) broadcast.
    mask
        Booleans that broadcast to (…, n, m): True where query and key may meet, as in PyTorch.
    bias
        Numbers that broadcast to (…, n, m), added to the scores before the softmax (relative positions live
        here).

    Returns
    -------
    Attention
        A query that may meet no key at all gets weights and output 0, as in PyTorch's
        scaled_dot_product_attention since 2.5.

    Raises
    ------
    ValueError
        If shapes do not fit or `mask` is not boolean.

    Notes
    -----
    Without positions this is permutation-equivariant: permute the rows of q, k and v together and the rows of
    the output are permuted in the same way. Their mean is therefore invariant.
    """
    queries, keys, values = (_rows(name, given) for name, given in (("q", q), ("k", k), ("v", v)))
    if queries.shape[-1] != keys.shape[-1]:
        raise ValueError(f"q and k must have the same width, got {queries.shape[-1]} and {keys.shape[-1]}")
    if keys.shape[-2] != values.shape[-2]:
        raise ValueError(
            f"k and v must have the same number of rows, got {keys.shape[-2]} and {values.shape[-2]}"
        )
    batch = _broadcast("q, k and v", queries.shape[:-2], keys.shape[:-2], values.shape[:-2])
    cells = (*batch, queries.shape[-2], keys.shape[-2])

    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        scores = queries @ keys.swapaxes(-1, -2) / math.sqrt(queries.shape[-1])  # (…, n, m)
    if bias is not None:
        scores = scores + _fitting("bias", check_array("bias", bias), cells)
    if mask is not None:
        scores = np.where(_fitting("mask", _booleans(mask), cells), scores, -np.inf)
    weights = softmax(scores)
    weights[np.isneginf(scores).all(axis=-1)] = 0.0
    return Attention(weights @ values, weights, scores)


def causal_mask(n: int) -> NDArray[np.bool_]:
    """(n, n) booleans, True where the key is not later than the query: position p sees 0 … p."""
    size = N_TOKENS.check(n)
    return np.tri(size, dtype=np.bool_)


def _rows(name: str, value: ArrayLike) -> Floats:
    rows = check_array(name, value)
    if rows.ndim < 2 or 0 in rows.shape:
        raise ValueError(
            f"{name} must have shape (…, rows, width) with at least one row and column, got {rows.shape}"
        )
    return rows


def _booleans(mask: ArrayLike) -> NDArray[np.bool_]:
    given = np.asarray(mask)
    if given.dtype != np.bool_:
        raise ValueError(f"mask must be boolean, True where query and key may meet, got dtype {given.dtype}")
    return given


def _broadcast(names: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(f"{names} must have leading axes that broadcast, got {listed}") from None


def _fitting(name: str, given: NDArray[Cell], cells: tuple[int, ...]) -> NDArray[Cell]:
    if _fits(given.shape, cells):
        return given
    raise ValueError(f"{name} must broadcast to the scores' shape {cells}, got shape {given.shape}")


def _fits(shape: tuple[int, ...], cells: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, cells) == cells
    except ValueError:
        return False
