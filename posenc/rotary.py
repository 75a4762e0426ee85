"""Rotary position embedding, RoPE (Su et al. 2021, "RoFormer", section 3.2.2, https://arxiv.org/abs/2104.09864).

A query or key of `head_dim` features is m pairs (a_i, b_i). At position p each pair turns by the angle p·ω_i:

    a_i′ = a_i·cos(p·ω_i) − b_i·sin(p·ω_i)
    b_i′ = b_i·cos(p·ω_i) + a_i·sin(p·ω_i)          ω_i = base^(−2i/head_dim)

so that the dot product of a query at p and a key at p′ depends on p − p′ alone. As a complex number
z_i = a_i + i·b_i it is one product, z_i′ = z_i·e^(i·p·ω_i).

Letters: p position, i index of a pair, ω_i its rate in radians per position (`inv_freq`), m number of pairs.
Everything is computed in float64, whatever the dtype of the arguments: cast the result, not the angles.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import check_array, check_finite, check_rows
from posenc.offsets import Waves
from posenc.parameters import (
    ATTENTION_FACTOR,
    BASE,
    COUNT,
    GAMMA,
    HEAD_DIM,
    PAIRS,
    SCALE_BASE,
    SEGMENT,
    shown,
)
from posenc.sinusoidal import inv_freq as rates_of

Float64 = NDArray[np.float64]
Complex128 = NDArray[np.complex128]

_LARGEST_POWER = 700.0  # of e, in float64
_TURNING = replace(HEAD_DIM, name="rotary_dim")


def angles(positions: ArrayLike, inv_freq: ArrayLike) -> Float64:
    """Return the angle p·ω_i of every pair at every position.

    Parameters
    ----------
    positions
        A number n of positions, for 0 … n − 1, or an array of real positions of any shape, such as (batch,
        seq_len) where the rows of a batch are padded.
    inv_freq
        (m,) rates ω_i in radians per position: of `posenc.inv_freq`, or of a method of `posenc.scaling`.

    Returns
    -------
    (n, m) or (…, m) float64, radians

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.
    """
    return np.multiply.outer(_positions(positions), _rates(inv_freq))


def turn(x: ArrayLike, angles: ArrayLike, *, pairs: str = PAIRS.default, scale: ArrayLike = 1.0) -> Float64:
    """Turn each pair of features by its angle, and multiply it by `scale`.

    (a, b) becomes scale·(a·cos θ − b·sin θ, b·cos θ + a·sin θ).

    Parameters
    ----------
    x
        (…, seq_len, head_dim) queries or keys.
    angles
        (…, seq_len, m) radians, as of `angles`, `section_angles` or `axial_angles`. With 2m < head_dim only
        the first 2m features turn, the others pass unchanged: partial rotary, of GPT-NeoX and GPT-J.
    pairs
        ``"half_split"``: feature i with i + m (GPT-NeoX, Llama and most of transformers); ``"adjacent"``: 2i
        with 2i + 1 (RoFormer, GPT-J, Meta's own Llama).
    scale
        A number, or (…, seq_len, m): the attention factor of YaRN and LongRoPE, the decay of xPos.

    Returns
    -------
    (…, seq_len, head_dim) float64

    Raises
    ------
    ValueError
        For shapes that do not fit or an unknown `pairs`, in one sentence.

    References
    ----------
    Su et al. 2021, equation 15 (one pair) and 34 (the product written out), adjacent pairs.
    transformers, ``apply_rotary_pos_emb`` of modeling_llama.py (half-split) and modeling_gptj.py (adjacent).
    """
    features, theta, pairs = check_rows("x", x, "head_dim"), check_array("angles", angles), PAIRS.check(pairs)
    factor = check_array("scale", scale)
    m = theta.shape[-1] if theta.ndim else 0
    if not 0 < 2 * m <= features.shape[-1] or not _fits((*features.shape[:-1], m), theta, factor):
        raise ValueError(
            f"angles and scale must fit x, of shape {features.shape}: (…, seq_len, m) with 2·m of at most "
            f"{features.shape[-1]}, got {theta.shape} and {factor.shape}"
        )
    first, second = members(m, pairs=pairs)
    cos, sin = factor * np.cos(theta), factor * np.sin(theta)
    a, b = features[..., first], features[..., second]
    turned = features.copy()
    turned[..., first] = a * cos - b * sin
    turned[..., second] = b * cos + a * sin
    return turned


def rotate(
    x: ArrayLike,
    positions: ArrayLike,
    *,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
    rotary_dim: int | None = None,
    inv_freq: ArrayLike | None = None,
    attention_factor: float = ATTENTION_FACTOR.default,
) -> Float64:
    """Rotate queries or keys to their positions: `turn` by `angles`.

    Parameters
    ----------
    x
        (…, seq_len, head_dim) queries or keys, before the dot product; values are not rotated.
    positions
        The number seq_len, for 0 … seq_len − 1, or an array of real positions that fits (…, seq_len).
    base
        10000 in the paper, `rope_theta` in a config.json.
    pairs
        ``"half_split"`` or ``"adjacent"``, as in `turn`.
    rotary_dim
        How many features turn, even; the others pass unchanged. All of them where it is not given. The rates
        are those of this width, not of `head_dim`.
    inv_freq
        (m,) rates, instead of those of `base` and `rotary_dim`.
    attention_factor
        Multiplies what is rotated, and so a score by its square; see `posenc.scaling`.

    Returns
    -------
    (…, seq_len, head_dim) float64

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.

    Examples
    --------
    >>> rotate([[1, 2, 3, 4]], [1], pairs="adjacent").round(4)
    array([[-1.1426,  1.9221,  2.9599,  4.0298]])
    """
    features, places = check_rows("x", x, "head_dim"), _positions(positions)
    head_dim, lead = features.shape[-1], features.shape[:-1]
    if not _fits(lead, places):
        raise ValueError(f"positions must fit the shape {lead} of x without its features, got {places.shape}")
    rates = _rates_for(head_dim, base, rotary_dim, inv_freq)
    factor = ATTENTION_FACTOR.check(attention_factor)
    return turn(features, angles(places, rates), pairs=pairs, scale=factor)


def members(n_pairs: int, *, pairs: str = PAIRS.default) -> tuple[slice, slice]:
    """Say where the first members of `n_pairs` pairs stand among the features, and where the second."""
    if PAIRS.check(pairs) == "half_split":
        return slice(0, n_pairs), slice(n_pairs, 2 * n_pairs)
    return slice(0, 2 * n_pairs, 2), slice(1, 2 * n_pairs, 2)


def per_feature(values: ArrayLike, *, pairs: str = PAIRS.default) -> Float64:
    """Write the value of each pair at the places of both its members: (…, m) becomes (…, 2m).

    The tables of cosines and sines that libraries keep are ``per_feature(np.cos(angles))`` and
    ``per_feature(np.sin(angles))``.
    """
    given = check_array("values", values)
    written = np.empty((*given.shape[:-1], 2 * given.shape[-1]))
    for place in members(given.shape[-1], pairs=pairs):
        written[..., place] = given
    return written


def pair_order(head_dim: int) -> NDArray[np.intp]:
    """Return the order 0, 2, 4, …, 1, 3, 5, … of the features that makes adjacent pairs half-split ones.

    ``turn(x[..., order], θ, pairs="half_split")`` is ``turn(x, θ, pairs="adjacent")[..., order]``; the way
    back is ``np.argsort(order)``. A checkpoint changes its layout by this order of the rows of its query and
    key projections, head by head (of partial rotary, of the features that turn).

    Raises
    ------
    ValueError
        For a `head_dim` that is not even or outside its limits.
    """
    n_pairs = HEAD_DIM.check(head_dim) // 2
    return np.arange(2 * n_pairs).reshape(n_pairs, 2).T.ravel()


def xpos_scale(
    positions: ArrayLike,
    head_dim: int,
    *,
    scale_base: float = SCALE_BASE.default,
    gamma: float = GAMMA.default,
) -> Float64:
    """Return what xPos multiplies each pair of a query by; a key is divided by it, that is, takes that of −p.

    ζ_i^(p/scale_base) with ζ_i = (2i/head_dim + γ)/(1 + γ), which makes a score decay by ζ_i^((p −
    p′)/scale_base) with the distance of a key before its query. Only p − p′ counts, so any origin will do:
    the libraries take the middle of the sequence.

    Parameters
    ----------
    positions
        As in `angles`.
    head_dim
        Number of features that turn, even.
    scale_base
        Positions in which a score decays by ζ_i, 512 in the paper.
    gamma
        0.4 in the paper; greater decays less.

    Returns
    -------
    (…, m) float64, for `turn`

    Raises
    ------
    ValueError
        For an argument outside its limits, and for a position so far back that its scale is no float.

    References
    ----------
    Sun et al. 2022, "A Length-Extrapolatable Transformer", algorithm 1, https://arxiv.org/abs/2212.10554
    """
    places, m, gamma = _positions(positions), HEAD_DIM.check(head_dim) // 2, GAMMA.check(gamma)
    zeta = (np.arange(m) / m + gamma) / (1 + gamma)  # from γ/(1 + γ) of the fastest pair to nearly 1
    powers = np.multiply.outer(places / SCALE_BASE.check(scale_base), np.log(zeta))
    if powers.max() > _LARGEST_POWER:
        raise ValueError(
            f"positions must be at least {_LARGEST_POWER / math.log(zeta[0]) * scale_base:.0f} for a "
            f"scale_base of {scale_base:g}, where their scale ends to be a float, got {places.min():g}"
        )
    return np.exp(powers)


def score(
    q: ArrayLike,
    k: ArrayLike,
    offsets: ArrayLike,
    *,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
    inv_freq: ArrayLike | None = None,
    scale_base: float | None = None,
) -> Float64:
    """Return the rotary score of a query and a key as a function of the offset p − p′ between them.

    ⟨R_p q, R_p′ k⟩ = Σ_i |q_i|·|k_i|·cos((p − p′)·ω_i + φ_i), φ_i the angle from pair k_i to pair q_i; with
    xPos each term times ζ_i^((p − p′)/scale_base). It is not divided by √head_dim, nor multiplied by the
    square of an attention factor. Features past the pairs add their dot product.

    Parameters
    ----------
    q, k
        (head_dim,) the query and the key, before they are rotated.
    offsets
        A number n of offsets, for 0 … n − 1, or an array of them, of any shape: position of the query minus
        position of the key.
    base, pairs, inv_freq
        As in `rotate`.
    scale_base
        That of xPos (see `xpos_scale`), for offsets from 0 on; none for plain rotary.

    Returns
    -------
    (n,) or the shape of `offsets`, float64

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.

    References
    ----------
    Su et al. 2021, equation 16 and section 3.4.3. That it need not decay: Barbero et
    al. 2025, "Round and Round We Go!", propositions 3.1 and 3.2, https://arxiv.org/abs/2410.06205
    """
    rates, products, rest = _products(q, k, base, pairs, inv_freq)
    places = _positions(offsets)
    terms = products * np.exp(1j * np.multiply.outer(places, rates))
    if scale_base is not None:
        terms *= xpos_scale(places, 2 * rates.size, scale_base=scale_base)
    return np.asarray(terms.real.sum(axis=-1) + rest)


def score_waves(
    q: ArrayLike,
    k: ArrayLike,
    *,
    base: float = BASE.default,
    pairs: str = PAIRS.default,
    inv_freq: ArrayLike | None = None,
) -> Waves:
    """Return `score` as a sum of waves, so that `posenc.offsets` draws it over any number of positions.

    Rate ω_i, weight |q_i|·|k_i| and phase φ_i = arg q_i − arg k_i of each pair, and where features are left
    over a wave of rate 0 with their dot product. Arguments and errors are those of `score`.
    """
    rates, products, rest = _products(q, k, base, pairs, inv_freq)
    weights, phases = np.abs(products), np.angle(products)
    if rest:
        rates, weights, phases = np.append(rates, 0.0), np.append(weights, rest), np.append(phases, 0.0)
    return Waves(rates, weights, phases)


def section_angles(
    position_ids: ArrayLike, inv_freq: ArrayLike, sections: Sequence[int], *, interleaved: bool = False
) -> Float64:
    """Return the angles of multimodal RoPE: each pair turns by one of several positions of a token.

    Pair i turns by p_(a(i))·ω_i, where axis a(i) is that of the section it lies in: the first `sections[0]`
    pairs have axis 0 (time), the next `sections[1]` axis 1 (height), and so on (Qwen2-VL). Interleaved
    (Qwen3-VL), with n axes: a(i) = i mod n as long as i < n·sections[i mod n], else 0, so that each axis has
    fast and slow pairs. A text token has the same position on each axis: plain RoPE.

    Parameters
    ----------
    position_ids
        (n, …, seq_len) positions, n rows: time, height, width; see `multimodal_positions`.
    inv_freq
        (m,) rates, those of the whole width.
    sections
        n numbers of pairs, m together.
    interleaved
        Which of the two orders.

    Returns
    -------
    (…, seq_len, m) float64, radians, for `turn`

    Raises
    ------
    ValueError
        For sections that do not make up the pairs, or not one row of positions for each.

    References
    ----------
    Wang et al. 2024, "Qwen2-VL", section 2.1, https://arxiv.org/abs/2409.12191.
    transformers, ``mrope_section`` in modeling_qwen2_vl.py, ``apply_interleaved_mrope`` in
    modeling_qwen3_vl.py.
    """
    ids, rates = check_finite("position_ids", check_array("position_ids", position_ids)), _rates(inv_freq)
    n, m = len(sections), rates.size
    whole = all(isinstance(size, (int, np.integer)) and size >= 0 for size in sections)
    if not whole or sum(sections) != m:
        raise ValueError(f"sections must be numbers of pairs that add up to {m}, got {shown(sections)}")
    if ids.ndim < 2 or len(ids) != n:
        raise ValueError(f"position_ids must have a row for each of {n} sections, got shape {ids.shape}")
    i = np.arange(m)
    if interleaved:
        axis = np.where(i < n * np.array(sections)[i % n], i % n, 0)
    else:
        axis = np.repeat(np.arange(n), sections)
    return np.moveaxis(ids[axis], 0, -1) * rates


def multimodal_positions(segments: Sequence[int | Sequence[int]]) -> NDArray[np.int64]:
    """Return the positions of multimodal RoPE for a sequence of texts and images: time, height and width.

    A counter n starts at 0. Each token of text is at (n, n, n), and n goes on by 1. The tokens of an image or
    a video of t × h × w cells are at (n + t′, n + y, n + x), x fastest; then n is one more than the greatest
    of them.

    Parameters
    ----------
    segments
        In order: a number of tokens of text, or (t, h, w) of an image (t = 1) or video, in tokens: the
        patches of Qwen2-VL merged 2 × 2.

    Returns
    -------
    (3, seq_len) int64

    Raises
    ------
    ValueError
        For a segment that is neither, or of a size outside its limits.

    References
    ----------
    Wang et al. 2024, "Qwen2-VL", section 2.1 and figure 3, https://arxiv.org/abs/2409.12191

    Examples
    --------
    >>> multimodal_positions([2, (1, 2, 2), 1])
    array([[0, 1, 2, 2, 2, 2, 4],
           [0, 1, 2, 2, 3, 3, 4],
           [0, 1, 2, 3, 2, 3, 4]])
    """
    found, start = [np.empty((3, 0), dtype=np.int64)], 0
    for segment in segments:
        sizes = [SEGMENT.check(size) for size in (segment if isinstance(segment, Sequence) else [segment])]
        if len(sizes) == 1:
            ids = np.tile(np.arange(sizes[0]), (3, 1))
        elif len(sizes) == 3:
            ids = np.indices(sizes).reshape(3, -1)
        else:
            raise ValueError(f"a segment must be a number of tokens or (t, h, w), got {shown(segment)}")
        found.append(start + ids)
        start += max(sizes)
    return np.concatenate(found, axis=1)


def axial_angles(coordinates: ArrayLike, inv_freq: Sequence[ArrayLike]) -> Float64:
    """Return the angles of axial RoPE: a block of pairs for each coordinate, side by side.

    [ c_0·ω | c_1·ω | … ]: of an image with coordinates (y, x) half the pairs turn by y and half by x, so that
    a score depends on both differences. The blocks are in the order of the coordinates.

    Parameters
    ----------
    coordinates
        (…, a) coordinates of each cell: indices, or numbers from −1 to 1.
    inv_freq
        a arrays of rates (m,), one for each coordinate: of half the width for an image.

    Returns
    -------
    (…, Σ m) float64, radians; ``.reshape(-1, Σ m)`` are the angles of a row-major sequence of
    cells, for `turn`

    Raises
    ------
    ValueError
        For not as many rates as there are coordinates.

    References
    ----------
    timm, ``build_rotary_pos_embed`` and ``RotaryEmbeddingDinoV3``; diffusers,
    ``get_2d_rotary_pos_embed`` and ``get_3d_rotary_pos_embed``; Heo et al. 2024, "Rotary Position Embedding
    for Vision Transformer", https://arxiv.org/abs/2403.13298
    """
    places = check_finite("coordinates", check_array("coordinates", coordinates))
    rates = [_rates(omega) for omega in inv_freq]
    if not rates or places.shape[-1:] != (len(rates),):
        raise ValueError(
            f"coordinates must have shape (…, {len(rates)}), one for each of inv_freq, got {places.shape}"
        )
    blocks = [np.multiply.outer(places[..., axis], omega) for axis, omega in enumerate(rates)]
    return np.concatenate(blocks, axis=-1)


def _positions(positions: ArrayLike) -> Float64:
    """Return the positions 0 … n − 1 for a number n, or those of an array of any shape."""
    if isinstance(positions, (int, np.integer)):
        return np.arange(float(COUNT.check(positions)))
    given = check_finite("positions", check_array("positions", positions))
    if given.ndim == 0 or given.size == 0:
        raise ValueError(
            f"positions must be an integer or an array with nothing empty, got {shown(positions)}"
        )
    return given


def _rates(inv_freq: ArrayLike) -> Float64:
    """Return rates as (m,) float64."""
    rates = check_finite("inv_freq", check_array("inv_freq", inv_freq))
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(f"inv_freq must have one axis and at least one rate, got shape {rates.shape}")
    return rates


def _rates_for(head_dim: int, base: float, rotary_dim: int | None, inv_freq: ArrayLike | None) -> Float64:
    """Return the rates that are given, or those of the base and the width that turns."""
    if inv_freq is None:
        width = HEAD_DIM.check(head_dim) if rotary_dim is None else _TURNING.check(rotary_dim)
        rates = rates_of(width, base=base)
    elif rotary_dim is None:
        rates = _rates(inv_freq)
    else:
        raise ValueError(
            f"rotary_dim must not be given with inv_freq, which says it, got {shown(rotary_dim)}"
        )
    if 2 * rates.size > head_dim:
        raise ValueError(f"head_dim must be at least 2 for each of {rates.size} rates, got {head_dim}")
    return rates


def _fits(shape: tuple[int, ...], *arrays: Float64) -> bool:
    """Say whether arrays broadcast with `shape` without making it larger."""
    try:
        return np.broadcast_shapes(shape, *(array.shape for array in arrays)) == shape
    except ValueError:
        return False


def _products(
    q: ArrayLike, k: ArrayLike, base: float, pairs: str, inv_freq: ArrayLike | None
) -> tuple[Float64, Complex128, float]:
    """Return the rates, q_i times the conjugate of k_i of each pair, and the dot product of what is left."""
    query, key = (check_finite(name, check_array(name, value)) for name, value in (("q", q), ("k", k)))
    if query.ndim != 1 or query.shape != key.shape or not query.size:
        raise ValueError(
            f"q and k must be vectors of as many features, got shapes {query.shape} and {key.shape}"
        )
    rates = _rates_for(query.size, base, None, inv_freq)
    first, second = members(rates.size, pairs=pairs)
    products = (query[first] + 1j * query[second]) * (key[first] - 1j * key[second])
    return rates, products, float(query[2 * rates.size :] @ key[2 * rates.size :])
