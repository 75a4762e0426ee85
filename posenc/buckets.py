"""Biases that are looked up in a learned table: which row a relative position reads, and what comes of it.

Letters: i position of a query, j of a key. T5 and Shaw et al. write the relative position r = j − i, negative
for keys of the past; DeBERTa the offset k = i − j = −r, as `posenc.bias` and `posenc.offsets`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_rows, check_table, check_whole
from posenc.parameters import BUCKET_SIZE, LEFT, MAX_DISTANCE, MAX_POSITION, NUM_BUCKETS, RIGHT

Int64 = NDArray[np.int64]


def t5_bucket(
    relative_position: ArrayLike,
    *,
    bidirectional: bool = True,
    num_buckets: int = NUM_BUCKETS.default,
    max_distance: int = MAX_DISTANCE.default,
) -> Int64:
    """Return the bucket of T5 for relative positions r = j − i (key − query).

    Half of n buckets hold one distance a each, the other half are logarithmically wider, up to `max_distance`
    and beyond. With E = ⌊n/2⌋:

        bucket = offset + a                                                             for a < E
        bucket = offset + min(n − 1, E + ⌊ln(a/E) / ln(max_distance/E) · (n − E)⌋)      else

    bidirectional: n = ⌊num_buckets/2⌋, a = |r|, offset = n for keys of the future (r > 0), else 0, so that
    bucket n is never used; causal: n = num_buckets, a = max(−r, 0), offset = 0.

    Parameters
    ----------
    relative_position
        r, whole numbers of any shape.
    bidirectional
        True for an encoder, False for a decoder.
    num_buckets
        Rows of the learned table, 32 in T5.
    max_distance
        From here on all share the last bucket, 128 in T5.

    Returns
    -------
    int64 of the shape of `relative_position`, 0 … num_buckets − 1

    Notes
    -----
    Computed in float64. Where ln(a/E)/ln(max_distance/E)·(n − E) is a whole number, rounding decides, and
    libraries, which compute in float32, can be one bucket off. With T5's own 32 and 128 they agree.

    Raises
    ------
    ValueError
        For fewer than two buckets a direction, a `max_distance` not beyond E, or other arguments outside
        their limits.

    References
    ----------
    Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    section 2.1, https://arxiv.org/abs/1910.10683; transformers, `T5Attention._relative_position_bucket`
    """
    r = check_whole("relative_position", relative_position)
    buckets, farthest = NUM_BUCKETS.check(num_buckets), MAX_DISTANCE.check(max_distance)
    n = buckets // 2 if bidirectional else buckets
    exact = n // 2
    if exact < 1:
        raise ValueError(f"num_buckets must be at least 4 if bidirectional, got {buckets}")
    if farthest <= exact:
        raise ValueError(
            f"max_distance must be above {exact}, from where on distances share {buckets} buckets, "
            f"got {farthest}"
        )
    offset = np.where(r > 0, n, 0) if bidirectional else np.zeros_like(r)
    distance = np.abs(r) if bidirectional else np.maximum(-r, 0)
    far = np.maximum(distance, exact)  # no logarithm of 0
    wide = exact + np.floor(np.log(far / exact) / np.log(farthest / exact) * (n - exact))
    bucket = np.where(distance < exact, distance, np.minimum(wide, n - 1).astype(np.int64))
    return np.asarray(offset + bucket, dtype=np.int64)


def bucket_bias(table: ArrayLike, buckets: ArrayLike) -> Floats:
    """Return the bias that each head reads in a learned table: b_h(i, j) = table[buckets[i, j], h].

    Parameters
    ----------
    table
        (rows, n_heads): T5's relative_attention_bias, Swin's relative_position_bias_table.
    buckets
        Rows to read, of any shape: `t5_bucket`, `posenc.swin_index`.

    Returns
    -------
    (n_heads, …) float64, the shape of `buckets` behind the heads

    Raises
    ------
    ValueError
        If a bucket is not a row of the table.
    """
    rows = check_table("table", table)
    return np.moveaxis(rows[_check_index("buckets", buckets, len(rows))], -1, 0)


def clipped_distance(relative_position: ArrayLike, left: int, right: int) -> Int64:
    """Return the row that Shaw et al. read for r = j − i: clip(r, −left, right) + left.

    Parameters
    ----------
    relative_position
        r, whole numbers of any shape.
    left, right
        How far back and ahead distances are told apart; both are k in the paper.

    Returns
    -------
    int64 of the shape of `relative_position`, 0 … left + right

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Shaw, Uszkoreit, Vaswani 2018, "Self-Attention with Relative Position Representations", section 3.2,
    https://arxiv.org/abs/1803.02155
    """
    back, ahead = LEFT.check(left), RIGHT.check(right)
    return np.clip(check_whole("relative_position", relative_position), -back, ahead) + back


def relative_key_scores(q: ArrayLike, table: ArrayLike, index: ArrayLike) -> Floats:
    """Return what relative keys add to the scores: q_i · a_ij / √head_dim with a_ij = table[index(i, j)].

    Parameters
    ----------
    q
        (…, n, head_dim) queries; leading axes (batch, heads) share the table.
    table
        (rows, head_dim), a learned vector for each distance.
    index
        (n, m) rows to read: `clipped_distance`.

    Returns
    -------
    (…, n, m) float64, to be added to q_i · k_j / √head_dim

    Raises
    ------
    ValueError
        If shapes do not fit or an index is not a row of the table.

    References
    ----------
    Shaw, Uszkoreit, Vaswani 2018, section 3.1, equation 4,
    https://arxiv.org/abs/1803.02155
    """
    queries, rows = check_rows("q", q), check_table("table", table)
    places = _check_index("index", index, len(rows))
    n, head_dim = queries.shape[-2:]
    if rows.shape[1] != head_dim:
        raise ValueError(f"q and table must have the same width, got {head_dim} and {rows.shape[1]}")
    if places.ndim != 2 or len(places) != n:
        raise ValueError(f"index must have a row for each of the {n} queries, got shape {places.shape}")
    products = queries @ rows.T / math.sqrt(head_dim)  # (…, n, rows)
    here = np.broadcast_to(places, (*products.shape[:-1], places.shape[1]))
    return np.take_along_axis(products, here, axis=-1)


def deberta_bucket(
    offsets: ArrayLike,
    *,
    bucket_size: int = BUCKET_SIZE.default,
    max_position: int = MAX_POSITION.default,
) -> Int64:
    """Return the signed log bucket of DeBERTa-v2 and v3 for offsets k = i − j (query − key).

    With m = ⌊bucket_size/2⌋: k itself up to |k| = m, from there
    sign(k) · (m + ⌈ln(|k|/m) / ln((max_position − 1)/m) · (m − 1)⌉).

    Parameters
    ----------
    offsets
        k, whole numbers of any shape.
    bucket_size
        Buckets a direction, 256 in DeBERTa-v3: `position_buckets` of its config.
    max_position
        |k| = max_position − 1 falls into bucket 2m − 1, 512 in DeBERTa-v3. Nothing is clipped beyond it.

    Returns
    -------
    int64 of the shape of `offsets`. The model reads row clip(bucket + bucket_size, 0, 2·bucket_size − 1) of
    its relative embeddings.

    Notes
    -----
    Computed in float64. Where ln(|k|/m)/ln((max_position − 1)/m)·(m − 1) is a whole number, rounding decides,
    and libraries, which compute in float32, can be one bucket off.

    Raises
    ------
    ValueError
        For a `max_position` not beyond m + 1, or an argument outside its limits.

    References
    ----------
    He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
    https://arxiv.org/abs/2006.03654; transformers, deberta_v2 `make_log_bucket_position`
    """
    k = check_whole("offsets", offsets)
    middle, last = BUCKET_SIZE.check(bucket_size) // 2, MAX_POSITION.check(max_position) - 1
    if last <= middle:
        raise ValueError(
            f"max_position must be above {middle + 1} with bucket_size {bucket_size}, got {max_position}"
        )
    far = np.maximum(np.abs(k), middle)
    wide = middle + np.ceil(np.log(far / middle) / np.log(last / middle) * (middle - 1))
    return np.where(np.abs(k) <= middle, k, np.sign(k) * wide.astype(np.int64))


def _check_index(name: str, value: ArrayLike, rows: int) -> Int64:
    index = check_whole(name, value)
    if index.size and (index.min() < 0 or index.max() >= rows):
        raise ValueError(
            f"{name} must be rows of the table, 0 to {rows - 1}, got {index.min()} to {index.max()}"
        )
    return index
