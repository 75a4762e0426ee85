"""From a sentence to the input of the first layer: pieces, vectors, scale, positions, dropout."""

import hashlib
import json
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_table
from posenc.learned import SEED, load, read_array
from posenc.parameters import D_MODEL, Choice, Real, shown

DROPOUT = Real("dropout", default=0.0, minimum=0.0, maximum=1.0)
EPS = Real("eps", default=1e-12, minimum=0.0, maximum=1.0)
MODEL: Choice[str] = Choice("model", ("me5_small", "minilm_l6"))
TOKEN_FILES = {"me5_small": "me5_small_tokens_q4_f32.npy", "minilm_l6": "minilm_l6_tokens_f32.npy"}

# More pieces than this make no readable heatmap; more code points than this no readable label.
MAX_PIECES = 256
MAX_PIECE_LENGTH = 32
# More marks than this on one letter are no writing system's (the stream-safe limit of Unicode UAX #15).
MAX_MARKS = 30

JOINER, NON_JOINER, KEYCAP, ZERO_WIDTH_SPACE = "\u200d", "\u200c", "\u20e3", "\u200b"
# Letters and symbols by category, but blank: Hangul fillers and the Braille blank.
BLANKS = frozenset(f"\u115f\u1160\u3164\uffa0\u2800{ZERO_WIDTH_SPACE}")
# Marks that show nothing themselves: the grapheme joiner, two Khmer vowels, Mongolian variation selectors.
INVISIBLE_MARKS = frozenset("\u034f\u17b4\u17b5\u180b\u180c\u180d\u180f")

# Characters of a typed text: some five pages, far more than `MAX_PIECES` words.
MAX_TEXT = 10_000


@dataclass(frozen=True)
class Text:
    """A text of at most `maximum` characters, which may be empty."""

    name: str
    default: str
    maximum: int

    def check(self, value: object) -> str:
        """Return `value` with U+FFFD for each lone half of a surrogate pair, which no address can carry."""
        if not isinstance(value, str) or len(value) > self.maximum:
            raise ValueError(
                f"{self.name} must be a text of at most {self.maximum} characters, got {shown(value)}"
            )
        return _whole(value)


TEXT = Text("text", "to be or not to be 🤔 사느냐 죽느냐 🤔", MAX_TEXT)


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


class Pieces(NamedTuple):
    """The pieces kept, and how many the text has in all: more than ``len(pieces)`` if it was cut."""

    pieces: tuple[str, ...]
    total: int

    @property
    def truncated(self) -> bool:
        """Whether pieces were cut off at the end."""
        return self.total > len(self.pieces)


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


def pieces(text: str) -> Pieces:
    """Cut free text into words, numbers, single signs and single emoji.

    This is no trained tokenizer. Text is put into composed form (NFC) first, so that 각 typed as three jamo
    is the same piece as 각 typed as one. Halves of surrogate pairs become U+FFFD. Characters that show
    nothing (controls, byte order marks, joiners without something to join, …) never make a piece. An emoji
    family, a flag or a skin tone is one piece. Chinese characters are pieces of their own; scripts that
    write no spaces stay together, up to `MAX_PIECE_LENGTH` code points.

    Parameters
    ----------
    text
        Anything; blank or invisible text has no pieces.

    Returns
    -------
    Pieces
        At most the first `MAX_PIECES` pieces, and the number of all.

    Raises
    ------
    ValueError
        If `text` is no string.
    """
    if not isinstance(text, str):
        raise ValueError(f"text must be a string, got {shown(text)}")
    found = list(_words(_clusters(unicodedata.normalize("NFC", _whole(text)))))
    return Pieces(tuple(found[:MAX_PIECES]), len(found))


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
    embedded, positions = _rows("vectors", vectors), check_table("table", table)
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


def rms_ratio(vectors: ArrayLike, table: ArrayLike, *, scale: bool = False) -> float:
    """Size of the embedding (× √d_model) against that of the positions: rms / rms of the first seq_len rows.

    Above 1 the words are the louder part of the sum, below 1 the positions; not finite for a table of zeros.
    """
    embedded, positions = _rows("vectors", vectors), check_table("table", table)
    seq_len, d_model = embedded.shape[-2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(np.mean(embedded**2) / np.mean(positions[:seq_len] ** 2))
    return float(ratio * (math.sqrt(d_model) if scale else 1.0))


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


def _rows(name: str, value: ArrayLike) -> Floats:
    rows = check_array(name, value)
    if rows.ndim < 2 or 0 in rows.shape:
        raise ValueError(f"{name} must have shape (…, seq_len, d_model), nothing empty, got {rows.shape}")
    return rows


def _vector(piece: str, d_model: int, seed: int) -> Floats:
    # Python's own hash() differs from process to process. surrogatepass: embed takes any string.
    digest = hashlib.sha256(f"{seed}:{piece}".encode("utf-8", "surrogatepass")).digest()
    return np.random.default_rng(int.from_bytes(digest)).standard_normal(d_model) / math.sqrt(d_model)


def _whole(text: str) -> str:
    # Through UTF-16, so that both halves of a pair meet and a half alone is replaced.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _clusters(text: str) -> Iterator[str]:
    """Cut text into what a reader takes for one character; a space stands for all that parts words.

    The rules are those of Unicode UAX #29 as far as categories tell: marks, joiners, skin tones and flag tags
    stay with what they stand on, two regional indicators make a flag. Every cluster starts with something to
    see.
    """
    cluster = ""
    for character in text:
        if _is_idle(cluster, character):
            continue
        if _extends(cluster, character):
            cluster += character if len(cluster) <= MAX_MARKS else ""
            continue
        if cluster:
            yield cluster
        cluster = " " if _parts_words(character) else character
    if cluster:
        yield cluster


def _words(clusters: Iterator[str]) -> Iterator[str]:
    word = ""
    for cluster in clusters:
        if _joins_a_word(cluster) and len(word + cluster) <= MAX_PIECE_LENGTH:
            word += cluster
            continue
        yield from _trimmed(word)
        word = ""
        if _joins_a_word(cluster):
            word = cluster
        else:
            yield from _trimmed(cluster)
    yield from _trimmed(word)


def _trimmed(piece: str) -> Iterator[str]:
    """Yield the piece without joiners that have nothing to join at its end, if something is left."""
    trimmed = piece.rstrip(JOINER + NON_JOINER + " ")
    if trimmed:
        yield trimmed


def _is_idle(cluster: str, character: str) -> bool:
    """Tell a character that changes nothing one sees where it stands, after `cluster`."""
    base = cluster[:1].strip()
    if _is_tag(character):
        return not _is_symbol(base)
    if character in (JOINER, NON_JOINER):
        return not base
    if _is_invisible_mark(character):
        # It may choose the form of a sign, an ideograph or a Mongolian letter, of no other letter.
        return not base or (_is_letter(base) and not _is_ideograph(base) and not _has_name(base, "MONGOLIAN"))
    return unicodedata.category(character) == "Cf" and character != ZERO_WIDTH_SPACE


def _extends(cluster: str, character: str) -> bool:
    base = cluster[:1].strip()
    if not base:
        return False
    if _is_mark(character) or character in (JOINER, NON_JOINER):
        return True
    if _is_symbol(base):
        return cluster.endswith(JOINER) or "\U0001f3fb" <= character <= "\U0001f3ff" or _is_tag(character)
    return _is_flag_half(character) and _is_flag_half(cluster)


def _parts_words(character: str) -> bool:
    return character.isspace() or character in BLANKS or unicodedata.category(character) == "Cc"


def _joins_a_word(cluster: str) -> bool:
    base = cluster[0]
    in_word = _is_letter(base) or unicodedata.category(base)[0] == "N"
    return in_word and not _is_ideograph(base) and KEYCAP not in cluster


def _is_letter(character: str) -> bool:
    return unicodedata.category(character)[0] in "LM"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _is_invisible_mark(character: str) -> bool:
    selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return selector or character in INVISIBLE_MARKS


def _is_symbol(text: str) -> bool:
    return len(text) == 1 and unicodedata.category(text) in ("So", "Sk") and not _is_flag_half(text)


def _is_flag_half(text: str) -> bool:
    return len(text) == 1 and "\U0001f1e6" <= text <= "\U0001f1ff"


def _is_tag(character: str) -> bool:
    return "\U000e0020" <= character <= "\U000e007f"


def _is_ideograph(character: str) -> bool:
    return _has_name(character, "CJK ")


def _has_name(character: str, start: str) -> bool:
    return unicodedata.name(character, "").startswith(start)
