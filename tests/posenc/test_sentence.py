import math
import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.attention import attention
from posenc.sentence import (
    MAX_PIECE_LENGTH,
    MAX_PIECES,
    embed,
    first_layer_input,
    layer_norm,
    pieces,
    prepared,
    rms_ratio,
    to_input,
)
from posenc.sinusoidal import sinusoidal

ROOT = Path(__file__).parents[2]
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


def test_embed_gives_a_piece_the_same_vector_everywhere():
    vectors = embed(("the", "cat", "the"), 8)
    assert (vectors.shape, vectors.dtype) == ((3, 8), np.float32)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_array_equal(vectors[1], embed(("cat",), 8)[0])
    assert (vectors[0] != vectors[1]).all()
    assert (embed(("the",), 8, seed=1) != vectors[0]).all()
    assert embed((), 8).shape == (0, 8)
    assert (embed(("\ud800",), 4) != embed(("\ufffd",), 4)).all()


def test_embed_is_the_same_in_every_process():
    code = "from posenc.sentence import embed; print(embed(('고양이', '🙂'), 3, seed=5).tolist())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{embed(('고양이', '🙂'), 3, seed=5).tolist()}\n"}


def test_embed_has_the_size_of_trained_embeddings():
    vectors = embed([str(i) for i in range(400)], 512).astype(np.float64)
    assert math.sqrt((vectors**2).mean()) == pytest.approx(1 / math.sqrt(512), rel=0.01)
    assert abs(vectors.mean()) < 0.001
    gram = vectors @ vectors.T
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 0.3  # unrelated pieces are nearly orthogonal


def test_to_input_adds_row_t_to_row_t_of_every_sequence():
    table = sinusoidal(10, 4, dtype=np.float64)
    vectors = np.random.default_rng(0).normal(size=(3, 5, 4))
    found = to_input(vectors, table)
    for b in range(3):
        for t in range(5):
            assert found[b, t].tolist() == (vectors[b, t] + table[t]).tolist()
    np.testing.assert_array_equal(to_input(np.zeros((3, 5, 4)), table)[2], table[:5])
    assert to_input(np.zeros((2, 3, 5, 4)), table).shape == (2, 3, 5, 4)
    np.testing.assert_array_equal(to_input(vectors[0], table), found[0])


def test_only_the_embedding_is_scaled():
    table = sinusoidal(3, 512, dtype=np.float64)
    vectors = np.ones((3, 512))
    difference = to_input(vectors, table, scale=True) - table
    np.testing.assert_allclose(difference, 22.6274, atol=5e-5)
    np.testing.assert_allclose(to_input(vectors, table) - table, 1)


def test_scaling_lifts_the_words_above_the_positions():
    vectors, table = embed([str(i) for i in range(50)], 512), sinusoidal(80, 512)
    assert rms_ratio(vectors, table) == pytest.approx(0.0625, rel=0.02)
    assert rms_ratio(vectors, table, scale=True) == pytest.approx(1.414, rel=0.02)
    assert rms_ratio(np.full((1, 2, 4), 3.0), [[1.0] * 4, [1.0] * 4, [99.0] * 4]) == pytest.approx(3)
    assert rms_ratio([[1.0]], [[0.0]]) == math.inf
    assert math.isnan(rms_ratio([[0.0]], [[0.0]]))


def test_dropout_acts_in_training_only_and_keeps_the_mean():
    vectors, table = np.ones((200, 50)), np.zeros((200, 50))
    np.testing.assert_array_equal(to_input(vectors, table, dropout=0.5), vectors)
    np.testing.assert_array_equal(to_input(vectors, table, training=True), vectors)
    dropped = to_input(vectors, table, dropout=0.2, training=True)
    assert set(dropped.ravel().tolist()) == {0.0, 1 / 0.8}
    assert (dropped == 0).mean() == pytest.approx(0.2, abs=0.02)
    assert dropped.mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_array_equal(dropped, to_input(vectors, table, dropout=0.2, training=True))
    assert (dropped != to_input(vectors, table, dropout=0.2, training=True, seed=1)).any()
    assert not to_input(vectors, table, dropout=1, training=True).any()


def test_dropout_falls_on_the_sum():
    dropped = to_input(np.ones((20, 8)), np.full((20, 8), 2.0), dropout=0.5, training=True)
    assert set(dropped.ravel().tolist()) == {0.0, 6.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: to_input(np.ones((5, 4)), np.ones((4, 4))),
            r"5 positions > 4 rows \(max_len\) of the table",
        ),
        (
            lambda: to_input(np.ones((5, 4)), np.ones((5, 3))),
            "vectors and table must have the same width, got 4 and 3",
        ),
        (lambda: to_input(np.ones(4), np.ones((5, 4))), r"vectors must have shape .* got \(4,\)"),
        (lambda: to_input(np.ones((0, 4)), np.ones((5, 4))), r"vectors must have shape .* got \(0, 4\)"),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((1, 5, 4))),
            r"table must be a 2-D array .* got shape \(1, 5, 4\)",
        ),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((5, 4)), dropout=1.5),
            "dropout must be a number from 0 to 1, got",
        ),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((5, 4)), dropout=math.nan),
            "dropout must be a number from 0 to 1",
        ),
        (lambda: rms_ratio(np.ones(4), np.ones((5, 4))), "vectors must have shape"),
        (lambda: embed(("a",), 0), "d_model must be an integer from 1"),
        (lambda: embed(("a",), 4, seed=-1), "seed must be an integer from 0"),
        (lambda: prepared("bert"), "model must be 'me5_small' or 'minilm_l6', got 'bert'"),
        (
            lambda: layer_norm(np.ones((2, 4)), np.ones(3), np.ones(4)),
            r"weight and bias must have one value for each",
        ),
        (
            lambda: layer_norm(np.ones((2, 4)), np.ones(4), np.ones(1)),
            r"weight and bias must have one value for each",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        call()


def test_layer_norm_is_that_of_torch():
    # torch 2.13, float64: layer_norm([1, 2, 4, 8], (4,), [1, 2, 3, 4], [0, 1, 0, −1], 1e-12)
    found = layer_norm([[1.0, 2, 4, 8]], [1.0, 2, 3, 4], [0.0, 1, 0, -1], 1e-12)
    expected = [[-1.025755289064, -0.305506731536, 0.279751442472, 5.341032696034]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert layer_norm([3.0, 3.0], [1.0, 1], [0.5, 0]).tolist() == [0.5, 0]
    assert layer_norm([0.0, 2.0], [1.0, 1], [0.0, 0], 1.0)[1] == pytest.approx(1 / math.sqrt(2))


def test_prepared_sentences():
    e5, mini = prepared("me5_small"), prepared("minilm_l6")
    assert (len(e5), len(mini)) == (18, 14)
    assert e5[0].pieces == ("<s>", "▁엄마", "가", "▁아기", "를", "▁본", "다", "</s>")
    assert mini[0].pieces == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]")
    assert {p.model for p in e5} == {"me5_small"}
    assert all(p.lossy for p in e5)
    assert not any(p.lossy for p in mini)
    for sentence in (*e5, *mini):
        assert sentence.vectors.shape == (len(sentence.pieces), 384)
        assert not sentence.vectors.flags.writeable
    # A piece has one vector, wherever it stands.
    np.testing.assert_array_equal(mini[0].vectors[1], mini[0].vectors[5])
    for sentence in e5:
        spelled = "".join(sentence.pieces[1:-1]).replace("▁", " ").split()
        assert spelled == sentence.text.split()


@pytest.mark.parametrize(
    ("first", "second"),
    [("엄마가 아기를 본다", "아기가 엄마를 본다"), ("The dog chases the cat", "The cat chases the dog")],
)
def test_the_same_pieces_in_another_order(first, second):
    by_text = {sentence.text: sentence for sentence in prepared("me5_small")}
    a, b = by_text[first], by_text[second]
    assert a.pieces != b.pieces
    assert sorted(a.pieces) == sorted(b.pieces)
    order = [a.pieces.index(piece) for piece in b.pieces]
    x, y = (first_layer_input("me5_small", sentence.vectors, positions=False) for sentence in (a, b))
    np.testing.assert_allclose(attention(y, y, y).output, attention(x, x, x).output[order], atol=1e-12)
    x, y = (first_layer_input("me5_small", sentence.vectors) for sentence in (a, b))
    assert np.abs(attention(y, y, y).output - attention(x, x, x).output[order]).max() > 0.01


def loaded(name: str) -> np.ndarray:
    return np.load(ROOT / "posenc" / "data" / name).astype(np.float64)


@pytest.mark.parametrize(
    ("model", "position"),
    [("me5_small", "me5_small_position_512x384_f16"), ("minilm_l6", "minilm_l6_position_512x384_f32")],
)
@pytest.mark.parametrize("positions", [True, False])
def test_first_layer_input_is_the_sum_that_the_model_normalises(model, position, positions):
    sentence = prepared(model)[1]
    table = loaded(f"{position}.npy")
    kind = loaded(f"{model}_token_type_2x384_f32.npy")[0]
    weight, bias = loaded(f"{model}_layernorm_2x384_f32.npy")
    batch = np.stack([sentence.vectors, sentence.vectors[::-1]])
    found = first_layer_input(model, batch, positions=positions)
    for row in range(len(sentence.pieces)):
        total = sentence.vectors[row].astype(np.float64) + kind + (table[row] if positions else 0)
        normal = (total - total.mean()) / math.sqrt(total.var() + 1e-12)
        np.testing.assert_allclose(found[0, row], normal * weight + bias, atol=1e-10)
    assert found.shape == (2, len(sentence.pieces), 384)


def test_first_layer_input_ends_with_the_table():
    with pytest.raises(ValueError, match=r"^513 positions > 512 rows \(max_len\) of the table$"):
        first_layer_input("me5_small", np.ones((513, 384)))
