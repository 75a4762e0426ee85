"""Free text cut into pieces: what a reader sees as one, of any script, and nothing of what cannot be seen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.tokens import MAX_PIECE_LENGTH, MAX_PIECES, pieces

ZWJ, ZWNJ, VS16 = "\u200d", "\u200c", "\ufe0f"
FAMILY = f"👨{ZWJ}👩{ZWJ}👧"
RAINBOW = f"🏳{VS16}{ZWJ}🌈"
ENGLAND = "🏴" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog chases the cat", ["The", "dog", "chases", "the", "cat"]),
        ("엄마가 아기를 본다", ["엄마가", "아기를", "본다"]),
        ("  a\t\nb\u3000c\u00a0d  ", ["a", "b", "c", "d"]),
        ("don't, 3.14!", ["don", "'", "t", ",", "3", ".", "14", "!"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("x² ≤ ½€", ["x²", "≤", "½", "€"]),
        ("snake_case C++", ["snake", "_", "case", "C", "+", "+"]),
    ],
)
def test_words_and_signs(text, expected):
    assert pieces(text).pieces == tuple(expected)


@pytest.mark.parametrize("text", ["각", "위치표.npy", "엄마가 아기를 본다", "café"])
def test_decomposed_text_is_the_same_text(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert decomposed != text
    assert pieces(decomposed) == pieces(text)
    assert pieces("각").pieces == ("각",)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "\u3000",
        "\u200b",
        "\ufeff",
        "\u200b\ufeff \u2060\u00ad",
        ZWJ,
        ZWNJ * 3,
        VS16,
        f" {VS16}{ZWJ}",
        "\u202e\u2066\u200f",
        "\x00\x07\x1b\x7f\x85",
        "\u3164\u115f\u1160\uffa0",
        "\u2800",
        "\u034f\u180b\U000e0100",
        "\U000e0067\U000e007f",
        "\u180e\u061c\ufff9",
        "\u2028\u2029",
    ],
)
def test_text_that_shows_nothing_has_no_pieces(text):
    assert pieces(text) == ((), 0)
    assert pieces(f"{text}a{text}") == (("a",), 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc\ud800", ["abc", "\ufffd"]),
        ("\udc00\ud800x", ["\ufffd", "\ufffd", "x"]),
        ("\ud83d\ude00", ["😀"]),
    ],
)
def test_halves_of_surrogate_pairs(text, expected):
    found = pieces(text).pieces
    assert found == tuple(expected)
    assert all(piece.encode() for piece in found)


@pytest.mark.parametrize(
    "emoji",
    [
        FAMILY,
        RAINBOW,
        ENGLAND,
        "🇰🇷",
        "👍🏽",
        f"👩🏽{ZWJ}💻",
        f"❤{VS16}",
        f"1{VS16}\u20e3",
        "🙂",
        f"👩{ZWJ}❤{VS16}{ZWJ}💋{ZWJ}👨",
        "🏽",
        "♂",
    ],
)
def test_an_emoji_is_one_piece(emoji):
    assert pieces(emoji).pieces == (emoji,)
    assert pieces(emoji * 3).pieces == (emoji,) * 3 or emoji == "🏽"
    assert pieces(f"a{emoji}b").pieces == ("a", emoji, "b")


def test_flags_are_read_in_pairs():
    assert pieces("🇰🇷🇺🇸🇫").pieces == ("🇰🇷", "🇺🇸", "🇫")
    assert pieces("🇦🇿🇿🇦").pieces == ("🇦🇿", "🇿🇦")
    assert pieces("🇰x🇷").pieces == ("🇰", "x", "🇷")
    assert pieces("🏴\U0001f1e6").pieces == ("🏴", "🇦")


@pytest.mark.parametrize(
    "word", ["नमस्ते", "สวัสดีครับ", "ক্ষ", "שָׁלוֹם", f"می{ZWNJ}خواهم", f"क्{ZWJ}ष", "e\u0301\u0323"]
)
def test_combining_marks_stay_with_their_letters(word):
    assert pieces(f"{word} {word}").pieces == (unicodedata.normalize("NFC", word),) * 2


def test_joiners_without_something_to_join_leave_the_piece():
    assert pieces(f"a{ZWJ} {ZWNJ}b{ZWJ}! 🙂{ZWJ}").pieces == ("a", "b", "!", "🙂")
    assert pieces("so\u00adft wo\u2060rd \ufeffbom").pieces == ("soft", "word", "bom")
    assert pieces("one\u200btwo").pieces == ("one", "two")


def test_a_mark_without_a_letter_is_seen():
    assert pieces("\u0301 a").pieces == ("\u0301", "a")


@pytest.mark.parametrize("text", ["a" * 10_000, "가" * 10_000, "e\u0301\u0323" * 5_000, "แม่" * 4_000])
def test_long_runs_are_cut_into_readable_pieces(text):
    found = pieces(text)
    assert len(found.pieces) == MAX_PIECES
    assert found.truncated
    assert all(0 < len(piece) <= MAX_PIECE_LENGTH for piece in found.pieces)
    assert unicodedata.normalize("NFC", text).startswith("".join(found.pieces))
    assert MAX_PIECE_LENGTH * found.total >= len(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize("mark", ["\u0301", ZWJ, VS16, "\u034f", "🏽"])
@pytest.mark.parametrize("base", ["x", "🙂", "字", "1", "!"])
def test_a_heap_of_marks_is_one_readable_piece(base, mark):
    found = pieces(base + mark * 10_000)
    if not (mark == "🏽" and base != "🙂"):  # a skin tone on its own is a piece
        assert (found.total, found.pieces[0][0]) == (1, base)
    assert max(map(len, found.pieces)) <= MAX_PIECE_LENGTH


def test_a_letter_carries_at_most_thirty_marks():
    assert pieces("x" + "\u0301" * 30).pieces == ("x" + "\u0301" * 30,)
    assert pieces("x" + "\u0301" * 31 + "y").pieces == ("x" + "\u0301" * 30 + "y",)


def test_selectors_stay_where_they_change_the_form():
    for kept in (f"❤{VS16}", f"‼{VS16}", "葛\U000e0100", "\u1820\u180b"):
        assert pieces(kept).pieces == (kept,)
    assert pieces(f"a{VS16}b\u034fc\U000e0100").pieces == ("abc",)


def test_the_limit_is_told():
    assert pieces("ab " * MAX_PIECES) == (("ab",) * MAX_PIECES, MAX_PIECES)
    assert not pieces("ab " * MAX_PIECES).truncated
    found = pieces("ab " * (MAX_PIECES + 1))
    assert (len(found.pieces), found.total, found.truncated) == (MAX_PIECES, MAX_PIECES + 1, True)
    assert pieces("ab " * 5000).total == 5000


@given(st.text(alphabet=st.characters(exclude_categories=())))
def test_any_text_is_cut_into_visible_utf8(text):
    found = pieces(text)
    for piece in found.pieces:
        assert piece.encode("utf-8").decode() == piece
        assert piece.strip() == piece != ""
        assert any(unicodedata.category(character) not in ("Cf", "Cc", "Zs") for character in piece)
    assert pieces(" ".join(found.pieces)) == found or found.truncated


@pytest.mark.parametrize("text", [None, 3, b"abc", ["a"]])
def test_text_must_be_text(text):
    with pytest.raises(ValueError, match=r"^text must be a string, got "):
        pieces(text)
