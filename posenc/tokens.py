"""Free text cut into pieces: words, numbers, single signs and single emoji. No trained tokenizer."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from posenc.parameters import shown

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


class Pieces(NamedTuple):
    """The pieces kept, and how many the text has in all: more than ``len(pieces)`` if it was cut."""

    pieces: tuple[str, ...]
    total: int

    @property
    def truncated(self) -> bool:
        """Whether pieces were cut off at the end."""
        return self.total > len(self.pieces)


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
