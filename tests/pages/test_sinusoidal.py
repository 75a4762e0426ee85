"""The page of the sinusoidal table says what independent computations say."""

import base64
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from tests.pages.pictures import array, charts, pictures

ARTICLE = json.loads(
    (Path(__file__).parents[1] / "data" / "founding_article.json").read_text(encoding="utf-8")
)


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).run().switch_page("sinusoidal.py").run()


def words(app):
    return "\n".join(element.value for element in app.markdown)


def plain(number):
    return float(number.replace(",", ""))


def test_the_articles_case_is_one_click_away_and_shows_its_printed_values(page):
    app = page(seq_len="10", d_model="16")
    app.button[0].click().run()
    assert (app.session_state["seq_len"], app.session_state["d_model"]) == (50, 512)
    for step in ("angles", "table"):
        app.pills(key="step").set_value(step).run()
        numbers = {float(number) for number in re.findall(r"-?\d+\.\d*(?:e[+-]\d+)?", app.code[0].value)}
        for row in ARTICLE["steps"][step]["printed"]:
            assert {float(number) for number in row} <= numbers


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize(("d_model", "base"), [(128, 10_000), (512, 10_000), (64, 500), (6, 100)])
def test_wavelengths_are_those_of_the_formula(page, lang, d_model, base):
    app = page(lang=lang, d_model=str(d_model), base=str(base))
    shortest, longest = re.search(
        r"2π = ([\d.,]+?)(?: to|에서) 2π·base\^\(\(d−2\)/d\) = ([\d.,]+) ", words(app).replace("\n", " ")
    ).groups()
    assert plain(shortest) == pytest.approx(2 * math.pi, rel=1e-3)
    assert plain(longest) == pytest.approx(2 * math.pi * base ** ((d_model - 2) / d_model), rel=1e-3)


def test_the_still_columns_of_the_article_are_112(page):
    assert "112 move by less than 0.01" in words(page(d_model="512")).replace("\n", " ")


def test_a_position_has_its_norm(page):
    app = page(d_model="7", position="3")
    norm = math.sqrt(
        sum(math.sin(3 * 10_000 ** (-2 * i / 7)) ** 2 for i in range(4))
        + sum(math.cos(3 * 10_000 ** (-2 * i / 7)) ** 2 for i in range(3))
    )
    assert f"Its length is {norm:.4g};" in words(app)
    app.select_slider(key="position").set_value(0).run()
    assert f"Its length is {math.sqrt(3):.4g};" in words(app)


def test_a_pair_has_its_frequency_and_wavelength(page):
    app = page(d_model="512", pair="128")
    rate = 10_000 ** (-256 / 512)
    assert f"turns {rate:.4g} radians" in words(app)
    assert f"full turn in {2 * math.pi / rate:.4g} positions" in words(app).replace("\n", " ")
    app.select_slider(key="pair").set_value(0).run()
    assert "turns 1 radians" in words(app)
    assert "0" in app.query_params["pair"]


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype=f"<{packed['dtype']}").astype(float)


def turning(app):
    """Return the figure of the pair: all of it, and the position, sine and cosine of each of its stops."""
    (figure,) = (json.loads(c.proto.spec) for c in app.get("plotly_chart") if c.proto.id.endswith("turning"))
    stops = []
    for frame in figure["frames"]:
        line, _, hand = frame["data"]
        position, (sine, cosine) = numbers(line["x"])[0], numbers(line["y"])[1:3]
        assert [numbers(hand[axis])[1] for axis in "xy"] == [cosine, sine]
        stops.append((position, sine, cosine))
    return figure, np.array(stops)


@pytest.mark.parametrize(
    ("seq_len", "hand", "pair"), [(50, 10, 4), (1, 0, 0), (10_000_000, 9_999_999, 0), (10_000_000, 5, 63)]
)
def test_the_hand_turns_to_every_stop_and_opens_where_the_link_says(page, seq_len, hand, pair):
    figure, stops = turning(page(seq_len=str(seq_len), hand=str(hand), pair=str(pair)))
    rate = 10_000 ** (-2 * pair / 128)
    for position, sine, cosine in stops:
        assert sine == pytest.approx(math.sin(position * rate), abs=1e-6)
        assert cosine == pytest.approx(math.cos(position * rate), abs=1e-6)
    assert stops[figure["layout"]["sliders"][0]["active"]][0] == hand
    assert min(seq_len, 120) <= len(stops) <= min(seq_len, 128)


def test_a_long_table_is_seen_through_a_window_that_says_so(page):
    app = page(seq_len="10000000", hand="5000000", pair="0")
    (window,) = (caption.value for caption in app.caption if "window" in caption.value)
    assert "positions 4,999,937 to 5,000,064 of a table of 10,000,000" in window
    figure, _ = turning(app)
    sine = numbers(figure["data"][0]["y"])
    assert sine.size == 1001
    # 127 rad are 40.4 half turns.
    assert np.count_nonzero(np.diff(np.sign(sine))) == math.floor(5_000_064 / math.pi) - math.floor(
        4_999_937 / math.pi
    )
    app.number_input(key="hand").set_value(10).run()
    assert turning(app)[0]["layout"]["xaxis"]["range"] == [0, 127]
    assert not any("window" in caption.value for caption in page(seq_len="128").caption)


def test_the_position_is_kept_inside_a_shorter_table(page):
    app = page(seq_len="50", position="40")
    app.select_slider(key="seq_len").set_value(20).run()
    assert not app.exception
    assert app.session_state["position"] == 10


def test_layouts_have_the_same_similarities(page):
    difference = float(re.search(r"matrices E·Eᵀ is ([\d.e-]+)\.", words(page()).replace("\n", " ")).group(1))
    assert difference < 1e-12


@pytest.mark.parametrize(
    ("mistake", "broken"),
    [("raw_column", 4), ("integer_division", 1), ("floored_log", 1), ("half_minus_one", 1), ("swapped", 1)],
)
def test_each_mistake_shows_what_it_breaks(page, mistake, broken):
    app = page(mistake=mistake)
    (table,) = (
        element.value for element in app.markdown if "| kept |" in element.value or "broken" in element.value
    )
    assert table.count("**broken**") == broken
    assert table.count("kept") == 5 - broken


def cell(p, j, d_model, base):
    return (math.cos if j % 2 else math.sin)(p / base ** (2 * (j // 2) / d_model))


@pytest.mark.parametrize(("d_model", "layout"), [(64, "interleaved"), (7, "sin_cos")])
def test_a_table_of_ten_million_positions_is_drawn_whole_in_exact_means(page, d_model, layout):
    app = page(seq_len="10000000", d_model=str(d_model), base="100", layout=layout)
    (cut,) = (info.value for info in app.info)
    assert f"first {2**20 // d_model:,} positions" in cut
    shown = pictures(app)["table"]
    assert shown.head["note"] == "each cell = 25,000 positions × 1 dimension: exact mean"
    assert shown.mean.shape == (400, d_model)
    order = [*range(0, d_model, 2), *range(1, d_model, 2)] if layout == "sin_cos" else range(d_model)
    for block in (0, 399):
        p = np.arange(25_000 * block, 25_000 * (block + 1), dtype=float)
        for column, j in enumerate(order):
            values = (np.cos if j % 2 else np.sin)(p / 100 ** (2 * (j // 2) / d_model))
            ends = values.mean(), values.min(), values.max()
            found = [shown.plane(name)[block, column] for name in ("mean", "least", "greatest")]
            assert found == pytest.approx(ends, abs=2e-5)
    assert shown.limits == (-1, 1)


def test_a_table_that_fits_the_screen_is_drawn_value_by_value(page):
    app = page(seq_len="400", d_model="512")
    shown = pictures(app)["table"]
    assert not app.info
    assert (shown.head["each"], shown.head["note"]) == ([1, 1], "")
    for p, j in ((0, 0), (0, 1), (399, 511), (399, 0), (17, 300)):
        assert shown.mean[p, j] == pytest.approx(cell(p, j, 512, 10_000), abs=1e-7)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_layouts_and_mistakes_are_drawn_side_by_side(page, lang):
    app = page(lang=lang, seq_len="9", d_model="8", mistake="swapped", base="100")
    shown = pictures(app)
    right = np.array([[cell(p, j, 8, 100) for j in range(8)] for p in range(9)])
    sines, cosines = right[:, 0::2], right[:, 1::2]
    drawn = {
        "layout_interleaved": right,
        "layout_sin_cos": np.hstack([sines, cosines]),
        "layout_cos_sin": np.hstack([cosines, sines]),
        "mistake_right": right,
        "mistake_wrong": np.stack([cosines, sines], axis=2).reshape(9, 8),
    }
    assert {*shown} == {"table", *drawn, "library_table", "paper_table"}
    for key, expected in drawn.items():
        np.testing.assert_allclose(shown[key].mean, expected, atol=1e-6)
        assert shown[key].limits == (-1, 1)


def test_korean_says_the_same_numbers(page):
    english, korean = words(page(d_model="512")), words(page(d_model="512", lang="ko"))
    for number in ("60,611", "62,832", "112"):
        assert number in english
        assert number in korean


LIBRARY = "transformers.models.m2m_100.modeling_m2m_100.M2M100SinusoidalPositionalEmbedding.forward"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_librarys_table_stands_beside_the_papers(page, lang):
    app = page(lang=lang, d_model="10", seq_len="12", base="500", implementation=LIBRARY)
    shown, rates = pictures(app), [500.0 ** (-i / 4) for i in range(5)]
    theirs = [[f(p * rate) for f in (math.sin, math.cos) for rate in rates] for p in range(12)]
    paper = [
        [(math.cos if j % 2 else math.sin)(p / 500 ** (2 * (j // 2) / 10)) for j in range(10)]
        for p in range(12)
    ]
    np.testing.assert_allclose(shown["library_table"].mean, theirs, atol=1e-6)
    np.testing.assert_allclose(shown["paper_table"].mean, paper, atol=1e-6)
    facts, differences = [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.value.splitlines()[2:]]
        for table in app.markdown
        if table.value.startswith("|")
    ][:2]  # the tables of this section come first on the page
    assert [line[1:] for line in facts] == [["`sin_cos`", "`interleaved`"], ["`1`", "`0`"], ["2", "0"]]
    apart = np.abs(np.array(theirs) - paper)
    assert plain(differences[0][1]) == pytest.approx(apart.max(), abs=1e-3)
    position, dimension = map(int, re.findall(r"\d+", differences[0][2]))
    assert apart[position, dimension] == pytest.approx(apart.max(), abs=1e-9)
    ordered = np.abs(np.array(theirs)[:, [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]] - paper)
    assert plain(differences[1][1]) == pytest.approx(ordered.max(), rel=1e-3)
    curves = charts(app)["library_rates"]["data"]
    np.testing.assert_allclose(array(curves[0]["y"]), rates, rtol=1e-6)
    np.testing.assert_allclose(array(curves[1]["y"]), [500.0 ** (-2 * i / 10) for i in range(5)], rtol=1e-6)
    line = f'# {LIBRARY}\ntable = posenc.sinusoidal(12, 10, base=500.0, layout="sin_cos", freq_shift=1)'
    assert line in [block.value for block in app.code]
    assert ("padding index" if lang == "en" else "패딩 번호") in words(app)


def test_a_chosen_function_stands_in_the_address_and_changes_the_picture(page):
    app = page(d_model="8", seq_len="6")
    app.selectbox(key="implementation").set_value("keras_hub.layers.SinePositionEncoding").run()
    assert app.query_params["implementation"] == "keras_hub.layers.SinePositionEncoding"
    shown = pictures(app)
    np.testing.assert_array_equal(shown["library_table"].mean, shown["paper_table"].mean)
    assert "paper's table itself" in words(app)


@pytest.mark.parametrize(
    "query",
    [
        {"d_model": "1", "seq_len": "1", "lang": "ko"},
        {"d_model": "3", "base": "1", "implementation": LIBRARY},
        {"d_model": "16384", "seq_len": "10000000", "implementation": LIBRARY},
        {"implementation": "numpy.sin"},
    ],
)
def test_libraries_open_at_the_edges(page, query):
    app = page(**query)
    assert not app.exception
    assert not app.error
    assert not re.search(r"\{\{|\}\}|None|nan", words(app))
    size = [int(query.get("seq_len", 50)), int(query.get("d_model", 128))]
    assert [pictures(app)[f"{name}_table"].head["shape"] for name in ("library", "paper")] == [size, size]
