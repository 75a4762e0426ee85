"""From sentence to input: numbers and pictures, what choosing changes, and texts of every kind."""

from __future__ import annotations

import html
import math
import re
import tracemalloc
import unicodedata

import numpy as np
import pytest

from pages.ui import url
from pages.ui.text import LANGUAGES, number
from posenc import D_MODEL, sentence, tokens
from posenc.assembly import REPEATING, SOURCE
from tests.pages.pictures import pictures

HTML_TAG = re.compile(r"<[^>]*>")


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).switch_page("sentence.py").run()


def words(app) -> str:
    return " ".join("\n".join(element.value for element in app.markdown).split())


def sound(app) -> None:
    assert not app.exception
    assert not app.error


def chips(app) -> list[str]:
    """Read the pieces as a browser would: tags gone, entities decoded."""
    (body,) = (each.proto.body for each in app.get("html") if "<bdi>" in each.proto.body)
    return [
        html.unescape(HTML_TAG.sub("", piece)) for piece in re.findall(r"<bdi>(.*?)</bdi>", body, re.DOTALL)
    ]


def sinusoid(n: int, d: int, base: float = 10_000.0) -> np.ndarray:
    """The formula as a double loop, interleaved."""
    table = np.empty((n, d))
    for p in range(n):
        for j in range(d):
            table[p, j] = (math.cos if j % 2 else math.sin)(p / base ** (2 * (j // 2) / d))
    return table


@pytest.mark.parametrize(
    ("source", "at", "scale", "lang"), [(*REPEATING[1], "0", "ko"), (*REPEATING[2], "1", "en")]
)
def test_embedding_plus_position_is_the_input(page, source, at, scale, lang):
    app = page(lang=lang, source=source, sentence=str(at), scale=scale, base="500", d_model="64")
    sound(app)
    chosen = sentence.prepared(source)[at]
    shown = pictures(app)
    embedding, positions, summed, pair, dropped = shown.values()
    assert list(shown) == [
        "scaled" if scale == "1" else "embedding",
        "positions",
        "summed",
        "repeat_rows",
        "dropped",
    ]
    n = len(chosen.pieces)
    assert tuple(chips(app)) == chosen.pieces
    factor = math.sqrt(384) if scale == "1" else 1.0
    assert np.allclose(embedding.mean, chosen.vectors * factor, rtol=1e-6)
    assert np.allclose(positions.mean, sinusoid(n, 384, 500.0), atol=1e-6)
    assert np.allclose(summed.mean, embedding.mean + positions.mean, atol=1e-5)
    assert np.array_equal(dropped.mean, summed.mean)
    # One colour scale, symmetric, for all four.
    assert len({each.limits for each in (embedding, positions, summed, dropped)}) == 1
    low, high = embedding.limits
    assert low == -high < -0.9
    assert summed.rows == list(chosen.pieces)
    # The pair: equal embedding rows, and the difference of the inputs is that of the positions.
    assert np.array_equal(pair.mean[0], pair.mean[1])
    assert np.abs(pair.mean[6] - pair.mean[7]).max() < 1e-6
    assert np.abs(pair.mean[4] - pair.mean[5]).max() > 0.1


@pytest.mark.parametrize("lang", LANGUAGES)
def test_shapes_and_sizes(page, lang):
    app = page(lang=lang)
    sound(app)
    for shape in ("(9,)", "(9, 384)", "(1, 9, 384)"):
        assert f"`{shape}`" in words(app)
    vectors = sentence.prepared("minilm_l6")[0].vectors.astype(float)
    rms = math.sqrt((vectors**2).sum() / vectors.size)
    own = [f"{value:.4g}" for value in (rms, math.sqrt(0.5), rms / math.sqrt(0.5))]
    scaled = f"{rms / math.sqrt(0.5) * math.sqrt(384):.4g}"
    rows = re.findall(r"\| ([\d.]+) \| ([\d.]+) \| (0.04419|0.7071|0.0625|1.414) \|", words(app))
    assert [row[0] for row in rows] == [*own, scaled]
    for _, seeded, expected in rows:
        assert float(seeded) == pytest.approx(float(expected), rel=0.01)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("source", SOURCE.options)
def test_the_origin_of_the_vectors_is_said(page, lang, source):
    said = words(page(lang=lang, source=source, d_model="96"))
    marks = {
        "minilm_l6": {"en": "Real vectors**, as published", "ko": "실제 벡터**이며 공개된 값 그대로"},
        "me5_small": {
            "en": "4-bit weights with a rounding error of about 10%",
            "ko": "약 10%의 반올림 오차",
        },
        "text": {"en": "Seeded vectors, not trained ones", "ko": "시드로 만든 벡터입니다"},
    }
    for name, mark in marks.items():
        assert (mark[lang] in said) == (name == source)
    assert ("`d_model` = 96" in said) == (source == "text")
    assert ("384" in said) == (source != "text")


def test_the_wrong_batch_axis_and_numpys_refusal(page):
    app = page()
    printed = [re.findall(r"-?\d+\.\d*", block.value) for block in app.code[:2]]
    right, wrong = (np.array(numbers, dtype=float).reshape(5, 4) for numbers in printed)
    assert np.allclose(right, sinusoid(5, 4), atol=1e-6)
    assert np.allclose(wrong, sinusoid(5, 4)[[2] * 5], atol=1e-6)
    assert "operands could not be broadcast together with shapes (3,5,4) (10,1,4)" in words(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_dropout_in_training_and_in_evaluation(page, lang):
    app = page(lang=lang, dropout="0.5", source="text", text="a b a", d_model="64")
    assert re.search(r"\b0(개가 0| of 192 sums)", words(app))
    before = pictures(app)["summed"].mean
    assert np.array_equal(before, pictures(app)["dropped"].mean)
    app.toggle(key="training").set_value(True).run()
    sound(app)
    assert app.query_params["training"] == "1"
    after = pictures(app)["dropped"].mean
    zeros = after == 0
    assert 60 < zeros.sum() < 132
    assert np.allclose(after[~zeros], 2 * before[~zeros], rtol=1e-6)
    assert re.search(rf"\b{zeros.sum()}(개가 0| of 192 sums)", words(app))
    assert "2" in re.search(r"(최소|factor from) (\S+?),? ", words(app))[2]
    # Another throw of the dice: other zeros, and the seed is in the link.
    app.button(key="next_seed").click().run()
    assert app.query_params["seed"] == "1"
    again = pictures(app)["dropped"].mean == 0
    assert not np.array_equal(again, zeros)
    app.toggle(key="training").set_value(False).run()
    assert np.array_equal(pictures(app)["dropped"].mean, before)


def test_a_link_opens_the_view_and_choosing_writes_it(page):
    app = page(source="me5_small", sentence="12", dropout="0.3", training="1", seed="7", scale="1")
    sound(app)
    assert app.selectbox(key="sentence").value == 12
    app.segmented_control(key="source").set_value("text").run()
    app.text_area(key="text").set_value("가 나 가").run()
    assert app.query_params["source"] == "text"
    assert app.query_params["text"] == "가 나 가"
    assert chips(app) == ["가", "나", "가"]
    again = page(**app.query_params)
    assert chips(again) == ["가", "나", "가"]
    assert pictures(again)["dropped"] == pictures(app)["dropped"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_a_repeated_piece_sentences_with_one_are_offered(page, lang):
    app = page(lang=lang, source="text", text="one two")
    assert "repeat_rows" not in pictures(app)
    app.button(key="offer_minilm_l6_7").click().run()
    sound(app)
    assert chips(app) == ["[CLS]", "to", "be", "or", "not", "to", "be", "[SEP]"]
    assert "source" not in app.query_params  # MiniLM is the default
    assert app.query_params["sentence"] == "7"
    assert "repeat_rows" in pictures(app)


def test_another_repeated_piece_can_be_picked(page):
    app = page(sentence="7")
    assert len(app.selectbox(key="repeat").options) == 2
    app.selectbox(key="repeat").set_value(1).run()
    assert "Positions 2 and 6 hold the same piece" in words(app)
    assert app.query_params["repeat"] == "1"
    assert pictures(app)["repeat_rows"].rows[:2] == ["e(2)", "e(6)"]
    # A sentence with fewer repeats falls back to the first of its own.
    app.selectbox(key="sentence").set_value(0).run()
    sound(app)
    assert "Positions 1 and 5 hold the same piece" in words(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["", "   \n\t", "\u200b", "\ufeff\u200b", "\u3000", "\x00\u200d\ufe0f\u00ad"]
)
def test_a_text_without_anything_to_see_has_no_pieces(page, lang, text):
    app = page(lang=lang, source="text", text=text)
    sound(app)
    assert any(re.match(r"0 pieces|조각 0개", each.value) for each in app.info)
    assert not pictures(app)


@pytest.mark.parametrize(
    "text",
    [
        "$x$ $$y$$ \\(z\\)",
        "<b>bold</b> <br> <a href='https://example.org'>y</a> <script>alert(1)</script>",
        "*a* **b** `c` # d [e](f) | g | ~~h~~ :red[i] :material/home:",
        "&amp; &lt;b&gt; &#37; %{x} {{name}} {y}",
        "שלום עולם مرحبا בעולם a",
        "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇰🇷🇯🇵 1️⃣",
        "e\u0301" + "\u0301" * 60 + " Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢",
        "엄마가 아기를 본다. 東京タワー ไทย",
    ],
)
def test_signs_are_shown_as_they_are_and_never_read(page, text):
    app = page(source="text", text=text)
    sound(app)
    pieces = list(tokens.pieces(text).pieces)
    assert pieces
    assert chips(app) == pieces
    body = app.get("html")[-1].proto.body
    assert not re.search(r"<(b|br|a|script)\b", body)
    # The canvas draws them as text, and cuts what is too long for a label there.
    assert pictures(app)["embedding"].rows == pieces
    # No Markdown of the page holds a piece that Markdown could read.
    for sign in ("<b>", "$x$", "**b**", "`c`", ":red[i]"):
        assert sign not in words(app)


def test_decomposed_korean_is_the_same_text(page):
    text = "각 위치 각"
    one = page(source="text", text=text)
    other = page(source="text", text=unicodedata.normalize("NFD", text))
    assert chips(one) == chips(other) == ["각", "위치", "각"]
    assert pictures(one)["summed"] == pictures(other)["summed"]


def test_a_lone_surrogate_is_shown_as_the_replacement_character(frame):
    # No browser sends one, but a session may hold it.
    app = frame(source="text").switch_page("sentence.py")
    app.session_state["view"] = {"text": "abc\ud800"}
    app.session_state["text"] = "abc\ud800"
    app.run()
    sound(app)
    assert "".join(chips(app)) == "abc\ufffd"
    assert app.query_params["text"] == "abc\ufffd"


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_long_text_is_cut_with_a_sentence_and_stays_out_of_the_link(page, lang):
    app = page(lang=lang, source="text")
    app.text_area(key="text").set_value("가 " * 5000).run()
    sound(app)
    assert len(chips(app)) == tokens.MAX_PIECES == 256
    notices = " ".join(each.value for each in app.info)
    assert "5,000" in notices
    assert "256" in notices
    assert re.search("too long for a link|링크에 담을 수 없습니다", notices)
    assert "text" not in app.query_params
    assert app.text_area(key="text").value == "가 " * 5000
    assert pictures(app)["embedding"].mean.shape == (256, 128)
    app.text_area(key="text").set_value("가").run()
    assert app.query_params["text"] == "가"
    assert not app.info


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_long_text_at_the_greatest_width_stays_within_the_memory_of_one_visitor(page, lang):
    app = page(lang=lang, source="text", text="a " * 300, d_model=D_MODEL.maximum)
    sound(app)
    assert len(chips(app)) == 32
    assert all(number in app.info[0].value for number in ("300", "32", "16384"))
    tracemalloc.start()
    app.toggle(key="scale").set_value(True).run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    sound(app)
    assert peak < 64e6


def test_a_link_with_too_long_a_text_opens_the_default(page):
    app = page(source="text", text="x" * (tokens.MAX_TEXT + 1))
    sound(app)
    assert app.text_area(key="text").value == tokens.TEXT.default


@pytest.mark.parametrize("letter", ["a", "가", "🤔", "%"])
def test_what_fits_into_a_link_is_counted_as_it_is_written(letter):
    written = {"a": 1, "가": 9, "🤔": 12, "%": 3}[letter]
    most = url.MAX_WRITTEN // written
    assert url.fits(letter * most)
    assert not url.fits(letter * (most + 1))


@pytest.mark.parametrize(
    "junk",
    [
        {
            "source": "garbage",
            "sentence": "99",
            "repeat": "5",
            "dropout": "1.5",
            "seed": "-3",
            "scale": "yes",
        },
        {"sentence": "-1", "dropout": "nan", "seed": "１", "training": ["1", "1"]},
    ],
)
def test_junk_gives_the_default(page, junk):
    app = page(**junk)
    sound(app)
    assert not set(junk) & set(app.query_params)
    assert chips(app)[1:3] == ["the", "cat"]
    toasts = " ".join(toast.value for toast in app.toast)
    assert all(name in toasts for name in junk)


@pytest.mark.parametrize(
    ("d_model", "lang"), [("1", "en"), ("2", "ko"), ("3", "en"), ("7", "ko"), ("16384", "ko")]
)
def test_every_width_draws(page, d_model, lang):
    app = page(
        lang=lang, source="text", text="a b a", d_model=d_model, base="1", training="1", seq_len="10000000"
    )
    sound(app)
    width = int(d_model)
    each = -(-width // 800)
    shapes = {name: (shown.head["shape"], shown.mean.shape) for name, shown in pictures(app).items()}
    rows = {"embedding": 3, "positions": 3, "summed": 3, "repeat_rows": 8, "dropped": 3}
    assert shapes == {name: ([n, width], (n, -(-width // each))) for name, n in rows.items()}
    assert not app.info


@pytest.mark.parametrize("layout", ["sin_cos", "cos_sin"])
def test_the_sidebars_layout_reaches_the_table(page, layout):
    app = page(layout=layout, source="text", text="a b", d_model="8")
    plain = sinusoid(2, 8)
    sines, cosines = plain[:, 0::2], plain[:, 1::2]
    halves = [sines, cosines] if layout == "sin_cos" else [cosines, sines]
    assert np.allclose(pictures(app)["positions"].mean, np.concatenate(halves, axis=1), atol=1e-6)


def test_the_code_on_the_page_makes_the_array_on_the_page(page):
    app = page(source="text", text="a <b> a", d_model="16", scale="1", training="1", dropout="0.4", seed="9")
    names: dict[str, object] = {}
    exec(compile(app.code[2].value, "snippet", "exec"), names)
    assert np.allclose(names["x"][0], pictures(app)["dropped"].mean, atol=1e-6)
    assert names["x"].shape == (1, 5, 16)


@pytest.mark.parametrize(("value", "written"), [(math.nan, "–"), (math.inf, "∞"), (-math.inf, "−∞")])
def test_a_number_that_is_none_is_written_as_a_sign(value, written):
    assert number(value) == written
