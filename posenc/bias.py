"""Biases on attention scores that a formula gives: ALiBi, KERPLE, Sandwich, FIRE, and none at all.

A bias is added to the score of a query and a key before the softmax:

    score(i, j) = q_i · k_j / √head_dim + b(i, j)

Letters: i position of a query (row), j position of a key (column), k = i − j the offset, positive for keys of
the past, h = 1 … H a head. All of these biases but FIRE's depend on k alone. A causal model masks the keys
with k < 0 (`posenc.causal_mask`). Biases that are looked up in a learned table are in `posenc.buckets`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_finite
from posenc.learned import SEED
from posenc.parameters import (
    BASE,
    BIAS_MAX,
    D_MODEL,
    N_HEADS,
    Integer,
    Positions,
    Real,
    check_positions,
    shown,
)

C = Real("c", default=0.1, minimum=1e-6, maximum=1e6)
THRESHOLD = Real("threshold", default=512.0, minimum=1.0, maximum=1e7)
HIDDEN = Integer("hidden", default=32, minimum=1, maximum=4096)


def offset_matrix(queries: Positions, keys: Positions) -> Floats:
    """Return the offset i − j of each query i and key j.

    Parameters
    ----------
    queries, keys
        A number n, for the positions 0 … n − 1, or a 1-D array of real positions.

    Returns
    -------
    (queries, keys) float64

    Raises
    ------
    ValueError
        For positions that are not finite real numbers on one axis.
    """
    i, j = (_positions(given) for given in (queries, keys))
    offsets: Floats = np.subtract.outer(i, j)
    return offsets


def alibi_slopes(n_heads: int, *, bias_max: float = BIAS_MAX.default) -> Floats:
    """Return the slope m_h of each head of ALiBi.

    m_h = 2^(−bias_max · h/H) for a power of two H. Else the slopes of the largest power of two P < H, then
    every second slope of 2P heads (the 1st, 3rd, 5th, …) until there are H: they are not in falling order.

    Parameters
    ----------
    n_heads
        H.
    bias_max
        8 in the paper; a parameter of MPT and Keras.

    Returns
    -------
    (n_heads,) float64, score per position, all positive

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Press, Smith, Lewis 2022, "Train Short, Test Long", section 3, https://arxiv.org/abs/2108.12409, and for
    other numbers of heads `get_slopes` in the authors' code, https://github.com/ofirpress/attention_with_linear_biases

    Examples
    --------
    >>> alibi_slopes(6)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625, 0.5       ,
           0.125     ])
    """
    n, most = N_HEADS.check(n_heads), BIAS_MAX.check(bias_max)
    power = 1 << (n.bit_length() - 1)  # the largest power of two up to n
    return np.append(_geometric(power, most), _geometric(2 * power, most)[::2][: n - power])


def alibi(
    n_heads: int,
    queries: Positions,
    keys: Positions,
    *,
    bias_max: float = BIAS_MAX.default,
    symmetric: bool = False,
) -> Floats:
    """Return the biases of ALiBi: b_h(i, j) = −m_h · (i − j), or −m_h · |i − j|.

    Parameters
    ----------
    n_heads, bias_max
        As in `alibi_slopes`.
    queries, keys
        Positions, as in `offset_matrix`.
    symmetric
        False as in the paper, whose model is causal: keys of the future, which it masks, get positive values.
        True for models that look both ways.

    Returns
    -------
    (n_heads, queries, keys) float64

    Notes
    -----
    Where a query's keys are the same, a constant added to its row makes no difference to the softmax. BLOOM,
    MPT and Keras therefore add one row of biases to every query: that of the last query, or of position 0.
    With a causal mask the weights are those of the paper.

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Press, Smith, Lewis 2022, "Train Short, Test Long", section 3, https://arxiv.org/abs/2108.12409
    """
    offsets = offset_matrix(queries, keys)
    distances = np.abs(offsets) if symmetric else offsets
    return _each(-alibi_slopes(n_heads, bias_max=bias_max), distances) * distances + 0.0  # no −0


def kerple_log(offsets: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> Floats:
    """Return the logarithmic bias of KERPLE: b(k) = −r₁ · ln(1 + r₂·|k|).

    Parameters
    ----------
    offsets
        k, of any shape.
    r1, r2
        Positive; learned for each head. Numbers, or arrays (n_heads,).

    Returns
    -------
    float64 of the shape of `offsets`, with an axis (n_heads, …) before it if `r1` or `r2` has one

    Raises
    ------
    ValueError
        If `r1` or `r2` is not positive, or an argument is not finite.

    References
    ----------
    Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    https://arxiv.org/abs/2205.09921; `ParallelKerpleLog` in https://github.com/chijames/KERPLE
    """
    distances, (scale, rate) = _kernel(offsets, r1, r2, np.inf)
    return -scale * np.log1p(rate * distances) + 0.0  # no −0


def kerple_power(offsets: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> Floats:
    """Return the power bias of KERPLE: b(k) = −r₁ · |k|^r₂; ALiBi's symmetric one for r₂ = 1.

    Parameters
    ----------
    offsets
        k, of any shape.
    r1, r2
        Learned for each head: r₁ positive, 0 < r₂ ≤ 2. Numbers, or arrays (n_heads,).

    Returns
    -------
    float64 of the shape of `offsets`, with an axis (n_heads, …) before it if `r1` or `r2` has one

    Raises
    ------
    ValueError
        If `r1` or `r2` is outside its limits, or an argument is not finite.

    References
    ----------
    Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation",
    https://arxiv.org/abs/2205.09921; `ParallelKerplePower` in https://github.com/chijames/KERPLE
    """
    distances, (scale, exponent) = _kernel(offsets, r1, r2, 2.0)
    return -scale * distances**exponent + 0.0  # no −0


def sandwich(
    offsets: ArrayLike,
    n_heads: int,
    *,
    d_model: int = D_MODEL.default,
    base: float = BASE.default,
) -> Floats:
    """Return the bias of Sandwich, the sinusoid's own similarity: nothing in it is learned.

    b_h(k) = (Σ_{i=1…d/2} cos(k / base^(2i/d)) − d/2) / (8h/H)

    The sum is the product of the sinusoidal codes of query and key; −d/2, which no softmax notices, sets
    b(0) = 0, as in NeMo.

    Parameters
    ----------
    offsets
        k, of any shape.
    n_heads
        H.
    d_model
        d, the even width of the sinusoidal codes; 128 in the paper, whatever the width of the model.
    base
        10000 in the paper.

    Returns
    -------
    (n_heads, …) float64, the shape of `offsets` behind the heads

    Raises
    ------
    ValueError
        For an odd width, or an argument outside its limits.

    References
    ----------
    Chi et al. 2023, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis",
    https://arxiv.org/abs/2212.10356; NeMo, `SandwichRelativePositionEmbedding`
    """
    k = check_finite("offsets", check_array("offsets", offsets))
    rates = sandwich_rates(d_model, base=base)
    similarity = np.zeros_like(k)
    for rate in rates:  # one after the other: a table of all of them would be d/2 times as large
        similarity += np.cos(k * rate)
    return _each(1 / sandwich_ratios(n_heads), k) * (similarity - len(rates))


def sandwich_rates(d_model: int = D_MODEL.default, *, base: float = BASE.default) -> Floats:
    """Return the rates base^(−2i/d), i = 1 … d/2, of `sandwich`, (d_model/2,) radians per position."""
    d_model = D_MODEL.check(d_model)
    if d_model % 2:
        raise ValueError(f"d_model must be even for Sandwich, got {d_model}")
    return np.power(BASE.check(base), -2 * np.arange(1, d_model // 2 + 1) / d_model)


def sandwich_ratios(n_heads: int) -> Floats:
    """Return by what `sandwich` divides in each head, 8h/H for h = 1 … H, (n_heads,)."""
    n = N_HEADS.check(n_heads)
    ratios: Floats = 8 * np.arange(1, n + 1) / n
    return ratios


def fire(
    queries: Positions,
    keys: Positions,
    function: Callable[[Floats], Floats],
    *,
    c: float = C.default,
    threshold: float = THRESHOLD.default,
) -> Floats:
    """Return the biases of FIRE: b(i, j) = f(ψ(|i − j|) / ψ(max(L, i))), ψ(x) = ln(c·x + 1).

    The distance is measured against the position of the query, so that f is asked for values from 0 to 1
    only, however long the text (progressive interpolation). Up to position L it is a function of the offset.

    Parameters
    ----------
    queries, keys
        Positions, as in `offset_matrix`; a causal model masks the keys after a query.
    function
        f, learned: from an array of relative distances to (n_heads, …), as `FireNetwork` does.
    c
        Learned, 0.1 at the start: how much ψ spreads the near distances.
    threshold
        L, learned, 512 at the start.

    Returns
    -------
    What `function` returns for (queries, keys): (n_heads, queries, keys) float64

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Li et al. 2024, "Functional Interpolation for Relative Positions Improves Long Context Transformers"
    (FIRE) and the code in its appendix, https://arxiv.org/abs/2310.04418
    """
    rate, least = C.check(c), THRESHOLD.check(threshold)
    distances = np.log1p(rate * np.abs(offset_matrix(queries, keys)))
    farthest = np.log1p(rate * np.maximum(least, _positions(queries)))[:, np.newaxis]
    return function(distances / farthest)


class FireNetwork(NamedTuple):
    """The f of `fire`: a network of one hidden layer, f(x) = w₂ · max(w₁·x + b₁, 0) + b₂.

    w1 (hidden,), b1 (hidden,), w2 (n_heads, hidden), b2 (n_heads,).
    """

    w1: Floats
    b1: Floats
    w2: Floats
    b2: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return (n_heads, …) for an array of any shape."""
        total = np.zeros((len(self.b2), *x.shape)) + _each(self.b2, x)
        for weight, shift, out in zip(self.w1, self.b1, self.w2.T, strict=True):
            total += np.multiply.outer(out, np.maximum(weight * x + shift, 0.0))
        return total


def fire_network(n_heads: int, *, hidden: int = HIDDEN.default, seed: int = SEED.default) -> FireNetwork:
    """Draw a `FireNetwork` as it is before any training, each layer from U(−1/√n, 1/√n) of its n inputs.

    Parameters
    ----------
    n_heads
        H.
    hidden
        Hidden units, 32 in the paper's code.
    seed
        The same seed gives the same network.

    Raises
    ------
    ValueError
        For an argument outside its limits.
    """
    heads, units = N_HEADS.check(n_heads), HIDDEN.check(hidden)
    random, edge = np.random.default_rng(SEED.check(seed)), 1 / np.sqrt(units)
    return FireNetwork(
        random.uniform(-1, 1, units),
        random.uniform(-1, 1, units),
        random.uniform(-edge, edge, (heads, units)),
        random.uniform(-edge, edge, heads),
    )


def nope(n_heads: int, queries: Positions, keys: Positions) -> Floats:
    """Return the biases of a model without positional encoding: 0, (n_heads, queries, keys).

    A causal mask alone still tells a model something of order: Haviv et al. 2022
    (https://arxiv.org/abs/2203.16634), Kazemnejad et al. 2023 (https://arxiv.org/abs/2305.19466).
    """
    return np.zeros((N_HEADS.check(n_heads), *offset_matrix(queries, keys).shape))


def _positions(given: Positions) -> Floats:
    positions = check_positions(given)
    return np.arange(float(positions)) if isinstance(positions, int) else positions


def _geometric(n: int, bias_max: float) -> Floats:
    """Return 2^(−bias_max · h/n) for h = 1 … n."""
    return np.exp2(-bias_max * np.arange(1, n + 1) / n)


def _each(heads: Floats, cells: NDArray[np.float64]) -> Floats:
    """Give an array (n_heads,) axes of 1 for those of `cells` behind it."""
    return heads.reshape(heads.shape + (1,) * cells.ndim)


def _kernel(
    offsets: ArrayLike, r1: ArrayLike, r2: ArrayLike, greatest: float
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Return distances, and both parameters of KERPLE in a shape that broadcasts with them."""
    k = check_finite("offsets", check_array("offsets", offsets))
    first, second = _heads("r1", r1, np.inf), _heads("r2", r2, greatest)
    if first.ndim == second.ndim == 1 and first.size != second.size:
        raise ValueError(f"r1 and r2 must have as many heads, got {first.size} and {second.size}")
    return np.abs(k), (_each(first, k), _each(second, k))


def _heads(name: str, value: ArrayLike, greatest: float) -> Floats:
    """Return a positive number, or one for each head, as an array of no or one axis."""
    found = check_finite(name, check_array(name, value))
    if found.ndim > 1 or not found.size or not ((found > 0) & (found <= greatest)).all():
        limit = "positive" if greatest == np.inf else f"above 0 and up to {greatest:g}"
        raise ValueError(f"{name} must be {limit}, one number or one for each head, got {shown(value)}")
    return found
