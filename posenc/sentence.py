"""From the pieces of a sentence to the input of the first layer: vectors, scale, positions, dropout."""

import hashlib
import json
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_rows, check_table
from posenc.learned import SEED, load, read_array
from posenc.parameters import D_MODEL, Choice, Real

DROPOUT = Real("dropout", default=0.0, minimum=0.0, maximum=1.0)
EPS = Real("eps", default=1e-12, minimum=0.0, maximum=1.0)
MODEL: Choice[str] = Choice("model", ("me5_small", "minilm_l6"))
TOKEN_FILES = {"me5_small": "me5_small_tokens_q4_f32.npy", "minilm_l6": "minilm_l6_tokens_f32.npy"}


class Prepared(NamedTuple):
    """A sentence as its model reads it: `pieces`, their `ids` and real word `vectors` (n, 384), read-only.

    `lossy` says that the vectors were kept as 4-bit numbers (about 10 % rounding error).
    """

    model: str
    text: str
    pieces: tuple[str, ...]
    vectors: NDArray[np.float32]
    lossy: bool
    ids: tuple[int, ...]


@lru_cache(maxsize=2)  # one entry a model, 0.5 MB together; every run of two pages asks for them
def prepared(model: str) -> tuple[Prepared, ...]:
    """Return the prepared sentences of a model, special pieces (<s>, [CLS], …) included.

    Parameters
    ----------
    model
        ``"me5_small"`` (Korean and English, vectors from 4-bit weights) or ``"minilm_l6"`` (English).

    Raises
    ------
    ValueError
        If there is no such model.
    """
    name = MODEL.check(model)
    vocabulary = json.loads((files("posenc") / "data" / f"{name}_tokens.json").read_text(encoding="utf-8"))
    tokens, ids, vectors = vocabulary["tokens"], vocabulary["ids"], read_array(TOKEN_FILES[name])
    return tuple(
        Prepared(
            name,
            sentence["text"],
            tuple(tokens[row] for row in sentence["rows"]),
            _read_only(vectors[sentence["rows"]]),
            lossy="q4" in TOKEN_FILES[name],
            ids=tuple(ids[row] for row in sentence["rows"]),
        )
        for sentence in vocabulary["sentences"]
    )


def embed(pieces: Sequence[str], d_model: int, *, seed: int = SEED.default) -> NDArray[np.float32]:
    """Give each piece a seeded random vector, N(0, 1/d_model): stand-ins for a trained embedding.

    Parameters
    ----------
    pieces
        Any strings. The same piece gets the same vector wherever it stands, on every machine.
    d_model
        Width.
    seed
        Another seed, other vectors.

    Returns
    -------
    (len(pieces), d_model) float32.
    """
    width, salt = D_MODEL.check(d_model), SEED.check(seed)
    vectors = {piece: _vector(piece, width, salt) for piece in set(pieces)}
    return np.array([vectors[piece] for piece in pieces], dtype=np.float32).reshape(len(pieces), width)


def to_input(
    vectors: ArrayLike,
    table: ArrayLike,
    *,
    scale: bool = False,
    dropout: float = DROPOUT.default,
    training: bool = False,
    seed: int = SEED.default,
) -> Floats:
    """Input of the first layer: embedding (× √d_model) + position, then dropout.

    Parameters
    ----------
    vectors
        (…, seq_len, d_model), for example (batch, seq_len, d_model).
    table
        (max_len, d_model) with max_len ≥ seq_len: row t is added to row t of every sequence.
    scale
        Multiply the embedding, and not the positions, by √d_model, as Vaswani et al. 2017, section 3.4 do.
    dropout
        Share of the sums set to 0; the others are divided by 1 − dropout, so that the mean stays (inverted
        dropout).
    training
        Dropout acts in training only.
    seed
        Which sums are dropped.

    Returns
    -------
    (…, seq_len, d_model) float64.

    Raises
    ------
    ValueError
        If widths differ, the table has too few rows, or an argument is not allowed.
    """
    embedded, positions = check_rows("vectors", vectors), check_table("table", table)
    seq_len, d_model = embedded.shape[-2:]
    if positions.shape[1] != d_model:
        raise ValueError(
            f"vectors and table must have the same width, got {d_model} and {positions.shape[1]}"
        )
    if seq_len > len(positions):
        raise ValueError(f"{seq_len} positions > {len(positions)} rows (max_len) of the table")
    summed: Floats = embedded * (math.sqrt(d_model) if scale else 1.0) + positions[:seq_len]
    return drop_out(summed, dropout=dropout, training=training, seed=seed)


def drop_out(
    x: ArrayLike, *, dropout: float = DROPOUT.default, training: bool = False, seed: int = SEED.default
) -> Floats:
    """Set a random share of the values to 0 and divide the others by 1 − dropout (inverted dropout).

    Parameters
    ----------
    x
        Any shape. Which values are dropped depends on their number in C order and on `seed` alone, so that a
        batch of one loses the same values as its sentence.
    dropout, training, seed
        As in `to_input`: without `training`, `x` comes back unchanged.

    Returns
    -------
    The shape of `x`, float64.
    """
    values, share = check_array("x", x), DROPOUT.check(dropout)
    if not training or share == 0:
        return values
    kept = np.random.default_rng(SEED.check(seed)).random(values.shape) >= share
    return np.divide(values, 1 - share, out=np.zeros_like(values), where=kept)


def layer_norm(x: ArrayLike, weight: ArrayLike, bias: ArrayLike, eps: float = EPS.default) -> Floats:
    """(x − mean) / √(variance + eps) · weight + bias over the last axis (Ba et al. 2016).

    Parameters
    ----------
    x
        (…, d).
    weight, bias
        (d,).
    eps
        Keeps a constant row from dividing by 0.

    Returns
    -------
    (…, d) float64. The variance is that of the population, as in the frameworks.
    """
    rows, gain, shift = (check_array(*given) for given in (("x", x), ("weight", weight), ("bias", bias)))
    if rows.ndim == 0 or gain.shape != rows.shape[-1:] or shift.shape != rows.shape[-1:]:
        raise ValueError(
            f"weight and bias must have one value for each column of x, got shapes {gain.shape} and "
            f"{shift.shape} for {rows.shape}"
        )
    deviation = rows - rows.mean(axis=-1, keepdims=True)
    variance = np.mean(deviation**2, axis=-1, keepdims=True)
    normal: Floats = deviation / np.sqrt(variance + EPS.check(eps)) * gain + shift
    return normal


def first_layer_input(
    model: str, vectors: ArrayLike, *, positions: bool = True, table: ArrayLike | None = None
) -> Floats:
    """LayerNorm(word + token type 0 + position), as both prepared models (BERT architecture) build it.

    Parameters
    ----------
    model
        ``"me5_small"`` or ``"minilm_l6"``.
    vectors
        (…, seq_len, 384) word vectors of that model, the first at position 0.
    positions
        False leaves the positions out: what the model would read without them.
    table
        (max_len, 384) other positions than the model's own.

    Returns
    -------
    (…, seq_len, 384) float64.
    """
    name = MODEL.check(model)
    token_type = read_array(f"{name}_token_type_2x384_f32.npy")[0]
    weight, bias = read_array(f"{name}_layernorm_2x384_f32.npy")
    added = check_table("table", load(name) if table is None else table)
    summed = to_input(vectors, added if positions else np.zeros_like(added)) + token_type
    return layer_norm(summed, weight, bias)


def _read_only(array: NDArray[np.float32]) -> NDArray[np.float32]:
    array.flags.writeable = False
    return array


def _vector(piece: str, d_model: int, seed: int) -> Floats:
    # Python's own hash() differs from process to process. surrogatepass: embed takes any string.
    digest = hashlib.sha256(f"{seed}:{piece}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest)).standard_normal(d_model) / math.sqrt(d_model)
