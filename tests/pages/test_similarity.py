"""The page of similarities says what independent computations say, and changes what it should."""

import math
import re

import numpy as np
import pytest

from pages.ui import tables
from pages.ui.text import catalogue
from posenc import learned
from posenc.picks import SCHEME_NAMES
from tests.pages.pictures import act, array, charts, pictures

NUMBER = r"(−?-?[\d.,]*\d(?:e[+-]\d+)?)"


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).switch_page("similarity.py").run()


def words(app):
    return " ".join("\n".join(element.value for element in app.markdown).split())


def plain(number):
    return float(number.replace(",", ""))


def cosine(p, q, d_model, base=10_000.0):
    return sum(math.cos((p - q) / base ** (2 * i / d_model)) for i in range(d_model // 2)) / (d_model // 2)


def row(p, d_model, base=10_000.0):
    """A row of the paper's table by a scalar loop; an odd width ends in a sine."""
    return [(math.cos if j % 2 else math.sin)(p / base ** (2 * (j // 2) / d_model)) for j in range(d_model)]


def rows(d_model, n, base=10_000.0):
    return [row(p, d_model, base) for p in range(n)]


@pytest.mark.parametrize(("lang", "layout"), [("en", "interleaved"), ("ko", "cos_sin")])
def test_the_matrix_is_the_sum_of_cosines_in_every_measure(page, lang, layout):
    app = page(lang=lang, seq_len="12", d_model="8", base="500", layout=layout)
    expected = np.array([[cosine(p, q, 8, 500.0) for q in range(12)] for p in range(12)])
    shown = pictures(app)["matrix"]
    np.testing.assert_allclose(shown.mean, expected, atol=1e-6)
    assert shown.limits == (-1, 1)
    assert (shown.view, shown.head["square"]) == ((0, 12, 0, 12), True)
    app.segmented_control(key="measure").set_value("dot").run()
    shown = pictures(app)["matrix"]
    np.testing.assert_allclose(shown.mean, 4 * expected, atol=1e-6)
    assert shown.limits == (-4, 4)
    app.segmented_control(key="measure").set_value("distance").run()
    shown = pictures(app)["matrix"]
    apart = np.sqrt(np.maximum(8 * (1 - expected), 0))
    np.testing.assert_allclose(shown.mean, apart, atol=1e-6)
    assert shown.limits == pytest.approx((0, apart.max()))
    assert shown.head["value"] == catalogue(lang)["option.measure.distance"]
    assert app.query_params["measure"] == "distance"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_an_even_width_has_no_band_and_an_odd_one_has(page, lang):
    spread = r"(?:at most|표준편차는) " + NUMBER
    assert plain(re.search(spread, words(page(lang=lang, d_model="64")))[1]) < 1e-12
    app = page(lang=lang, d_model="7", seq_len="20")
    table = np.array(rows(7, 20))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    widest = max((table @ table.T).diagonal(k).std() for k in range(20))
    assert plain(re.search(spread, words(app))[1]) == pytest.approx(widest, rel=0.06)
    middle = charts(app)["offset"]["data"][2]
    means = [(table @ table.T).diagonal(k).mean() for k in range(20)]
    np.testing.assert_allclose(array(middle["y"]), means, atol=1e-6)


# Measured for the formula by independent code, and the shares in tests/data/learned_tables_measured.json.
@pytest.mark.parametrize(("lang", "d_model", "rise"), [("ko", 64, 6), ("ko", 128, 12), ("en", 512, 44)])
def test_similarity_is_said_to_turn_where_it_does(page, lang, d_model, rise):
    app = page(lang=lang, d_model=str(d_model), seq_len="60")
    turn = r"first time at offset (\d+)|오프셋 (\d+)에서 처음으로 방향"
    assert str(rise) in re.search(turn, words(app)).groups()
    assert [mark["x0"] for mark in charts(app)["offset"]["layout"]["shapes"]] == [rise]
    rises = r"rises at offset (\d+)\. .* at (\d+) for d_model 64, (\d+) for 128 and (\d+) for 512"
    if lang == "ko":
        rises = r"오프셋 (\d+)에서 처음으로 커집.* 64이면 오프셋 (\d+), 128이면 (\d+), 512이면 (\d+)에서"
    assert re.search(rises, words(app)).groups() == (str(rise), "6", "12", "44")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_nothing_repeats_at_the_base_or_its_turn(page, lang):
    app = page(lang=lang, d_model="512", seq_len="4")
    at = rf"{NUMBER} at offset 10,000 and {NUMBER} at offset 62,832"
    if lang == "ko":
        at = rf"오프셋 10,000에서 {NUMBER}, 오프셋 62,832에서 {NUMBER}입니다"
    first, second = re.search(at, words(app)).groups()
    assert plain(first) == pytest.approx(cosine(10_000, 0, 512), rel=1e-3)
    assert plain(second) == pytest.approx(-0.066, abs=5e-4)
    assert plain(second) == pytest.approx(cosine(62_832, 0, 512), rel=1e-3)
    assert sorted(mark["x0"] for mark in charts(app)["far"]["layout"]["shapes"]) == [10_000, 62_832]


@pytest.mark.parametrize(
    ("table", "share"),
    [("minilm_l6", 0.4912), ("me5_small", 0.4299), ("whisper_decoder", 0.7718), ("rxnmapper", 0.1976)],
)
def test_a_learned_table_shows_its_share_beside_the_baselines(page, table, share):
    app = page(table=table)
    shares = [plain(metric.value) for metric in app.metric]
    assert shares[0] == share
    assert max(shares[1:]) < 0.01
    # What needs the formula is not there.
    assert (set(charts(app)), set(pictures(app))) == ({"row", "offset"}, {"matrix"})
    size, shown = learned.LEARNED[table].rows, pictures(app)["matrix"]
    assert shown.head["shape"] == [size, size]
    exact = learned.load(table).astype(float)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    each, across = shown.head["each"]
    assert each == across == -(-size // 400)
    blocks = size // each
    cosines = (exact @ exact.T)[: blocks * each, : blocks * each]
    means = cosines.reshape(blocks, each, blocks, each).mean(axis=(1, 3))
    np.testing.assert_allclose(shown.mean[:blocks, :blocks], means, atol=2e-5)
    assert any("M_k" in info.value for info in app.info)


def test_the_curve_of_the_mean_is_minilms(page):
    means = array(charts(page(table="minilm_l6"))["offset"]["data"][2]["y"])
    np.testing.assert_allclose(means[[1, 2, 3, 4]], [0.851, 0.592, 0.440, 0.504], atol=5e-4)


def test_the_sidebar_does_not_change_a_learned_table(page):
    app = page(table="rxnmapper", seq_len="20")
    before = pictures(app)["matrix"]
    app.select_slider(key="d_model").set_value(64).run()
    assert pictures(app)["matrix"] == before


def test_a_picked_row_is_that_row_of_the_matrix(page):
    app = page(seq_len="30", d_model="16", position="7")
    row = charts(app)["row"]
    expected = [cosine(7, q, 16) for q in range(30)]
    for curve in row["data"]:  # the row, and the mean at the same distance: the same for an even width
        np.testing.assert_allclose(array(curve["y"]), expected, atol=1e-6)
    assert row["data"][1]["line"]["dash"] == "dash"
    app.select_slider(key="position").set_value(0).run()
    np.testing.assert_allclose(
        array(charts(app)["row"]["data"][0]["y"]), [cosine(0, q, 16) for q in range(30)], atol=1e-6
    )
    assert app.query_params["position"] == "0"


@pytest.mark.parametrize(
    ("lang", "k", "hand", "pair"), [("en", 5, 10, 4), ("ko", -64, 0, 0), ("en", 0, 3, 7), ("ko", 64, 19, 2)]
)
def test_the_shift_matrix_moves_a_position(page, lang, k, hand, pair):
    app = page(lang=lang, d_model="16", seq_len="20", k=str(k), hand=str(hand), pair=str(pair))
    matrix = pictures(app)["shift"].mean
    assert matrix.shape == (16, 16)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(16), atol=1e-6)
    angle = k / 10_000 ** (2 * pair / 16)
    block = matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2]
    c, s = math.cos(angle), math.sin(angle)
    np.testing.assert_allclose(block, [[c, s], [-s, c]], atol=1e-6)
    assert f"{c:.4f}&{s:.4f}" in "".join(latex.value for latex in app.latex)
    error = re.search(r"\(p\+k\)\|\$(?: is|의 최댓값은) \*\*(.+?)\*\*", words(app))[1]
    assert plain(error) < 1e-13


def frames(figure):
    """Return what a figure that moves shows at each stop: stop → its traces, those that stand still too."""
    for frame in figure["frames"]:
        traces = dict(enumerate(figure["data"]))
        for at, data in zip(frame["traces"], frame["data"], strict=True):
            traces[at] = traces[at] | data
        yield int(frame["name"]), traces


@pytest.mark.parametrize(
    ("lang", "k", "hand", "pair"), [("en", 5, 10, 4), ("ko", -64, 0, 0), ("en", 64, 9_999_999, 7)]
)
def test_the_picture_moves_a_position_by_every_k(page, lang, k, hand, pair):
    app = page(lang=lang, d_model="16", seq_len="10000000", k=str(k), hand=str(hand), pair=str(pair))
    figure = charts(app)["shifting"]
    stops = dict(frames(figure))
    assert list(stops) == list(range(-64, 65))
    assert figure["layout"]["sliders"][0]["active"] == k + 64  # a copied link opens there
    for offset, (before, _, here, after, moved, there) in ((k, v.values()) for k, v in stops.items()):
        np.testing.assert_allclose(array(before["y"]), row(hand, 16), atol=1e-6)
        for vector in (moved, after):
            np.testing.assert_allclose(array(vector["y"]), row(hand + offset, 16), atol=1e-6)
        for drawn, p in ((here, hand), (there, hand + offset)):
            turned = p / 10_000 ** (2 * pair / 16)
            tip = [array(drawn[axis])[1] for axis in "xy"]
            np.testing.assert_allclose(tip, [math.cos(turned), math.sin(turned)], atol=1e-6)


def test_the_exact_start_is_typed_and_stands_in_the_address(page):
    app = page(d_model="16")
    app.number_input(key="k").set_value(-7).run()
    app.number_input(key="hand").set_value(33).run()
    assert (app.query_params["k"], app.query_params["hand"]) == ("-7", "33")
    figure = charts(app)["shifting"]
    assert figure["layout"]["sliders"][0]["active"] == 57
    np.testing.assert_allclose(array(figure["data"][0]["y"]), row(33, 16), atol=1e-6)


def test_the_picture_shows_the_first_dimensions_of_many_and_says_so(page):
    app = page(d_model="16384", seq_len="10")
    assert any("first 128 of 16,384" in caption.value for caption in app.caption)
    assert array(charts(app)["shifting"]["data"][0]["y"]).shape == (128,)
    assert not any("dimensions" in caption.value for caption in page(d_model="128").caption)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_of_an_odd_width_the_unpaired_sine_stays_empty(page, lang):
    app = page(lang=lang, d_model="9", seq_len="5")
    matrix = pictures(app)["shift"].mean
    assert np.isnan(matrix[8]).all()
    assert np.isnan(matrix[:, 8]).all()
    np.testing.assert_allclose(matrix[:8, :8] @ matrix[:8, :8].T, np.eye(8), atol=1e-6)
    assert ("cosines of the complete pairs" if lang == "en" else "짝이 갖추어진 쌍으로만") in words(app)
    assert ("no cosine to turn with" if lang == "en" else "함께 돌 코사인이 없고") in words(app)


def test_cells_without_a_direction_are_empty_and_counted(page):
    app = page(lang="ko", d_model="1", seq_len="6")
    matrix = pictures(app)["matrix"].mean
    assert np.isnan(matrix[0]).all()
    assert np.isnan(matrix[:, 0]).all()
    assert not np.isnan(matrix[1:, 1:]).any()
    assert "11" in app.info[0].value
    assert (set(charts(app)), set(pictures(app))) == ({"row", "offset"}, {"matrix"})


@pytest.mark.parametrize(
    "query",
    [
        {"d_model": "1", "seq_len": "1"},
        {"d_model": "1", "seq_len": "1", "lang": "ko"},
        {"d_model": "2", "seq_len": "2", "base": "1", "lang": "ko"},
        {"d_model": "3", "layout": "cos_sin", "lang": "en"},
        {"d_model": "700", "layout": "sin_cos", "lang": "ko"},
        {"table": "nothing", "measure": "Cosine", "k": "65", "hand": "50", "pair": "64", "position": "-1"},
        {"table": "whisper_encoder", "measure": "distance", "lang": "ko"},
    ],
)
def test_edges_and_junk_show_a_page(page, query):
    app = page(**query)
    assert not app.exception
    assert not app.error
    assert "nan" not in words(app).lower()
    assert "None" not in words(app)
    assert not re.search(r"\{\{|\}\}", words(app))
    if query.get("table") == "nothing":
        names = ("table", "measure", "k", "hand", "pair", "position")
        assert [app.session_state[name] for name in names] == ["sinusoid", "cosine", 5, 10, 4, 10]
        assert not {*names} & set(app.query_params)


def mean_cosine(first, block, d_model):
    """The mean over block × block cells of the cosine, offset by offset, from this first offset on."""
    offsets = np.arange(first - block + 1, first + block)
    cells = block - np.abs(offsets - first)
    rates = 10_000.0 ** (-2 * np.arange(d_model // 2) / d_model)
    return sum(float(cells @ np.cos(offsets * rate)) for rate in rates) / block**2 / len(rates)


def test_the_matrix_of_ten_million_positions_is_drawn_whole_and_its_curves_are_cut(page):
    app = page(d_model="16", seq_len="10000000", position="9999999")
    assert any("first 512 of 10,000,000 positions" in info.value for info in app.info)
    shown = pictures(app)["matrix"]
    assert shown.head["note"] == "each cell = 25,000 positions × 25,000 positions: exact mean"
    assert (shown.mean.shape, shown.head["shape"]) == ((400, 400), [10_000_000, 10_000_000])
    for row_, column in ((0, 0), (399, 399), (399, 0), (17, 20), (20, 17), (200, 201)):
        expected = mean_cosine(25_000 * (row_ - column), 25_000, 16)
        assert shown.mean[row_, column] == pytest.approx(expected, abs=2e-5)
    act(app, "matrix", view=[9_999_990, 10_000_000, 9_999_980, 9_999_985])
    shown = pictures(app)["matrix"]
    expected = [[cosine(p, q, 16) for q in range(9_999_980, 9_999_985)] for p in range(9_999_990, 10_000_000)]
    np.testing.assert_allclose(shown.mean, expected, atol=1e-6)
    assert app.query_params["matrix_view"] == "9999990-10000000x9999980-9999985"
    # The row is that of the whole matrix, in blocks with their extremes.
    lower, upper, middle = (array(curve["y"]) for curve in charts(app)["row"]["data"])
    assert len(middle) <= 800
    rates = 10_000.0 ** (-2 * np.arange(8) / 16)
    values = np.cos(np.outer(np.arange(12_500), rates)).mean(axis=1)
    assert middle[-1] == pytest.approx(values.mean(), abs=1e-6)
    # All offsets of such a block are too many to look at: the extremes lie within the true ones.
    assert values.min() - 1e-6 <= lower[-1] <= middle[-1] <= upper[-1] == pytest.approx(1)


@pytest.mark.parametrize(("measure", "average"), [("cosine", "exact mean"), ("distance", "root mean square")])
def test_a_block_says_how_its_cells_are_averaged(page, measure, average):
    app = page(seq_len="4000", measure=measure)
    assert pictures(app)["matrix"].head["note"] == f"each cell = 10 positions × 10 positions: {average}"


def test_a_click_on_the_matrix_picks_a_row(page):
    app = act(page(seq_len="30", d_model="16"), "matrix", pick=[7, 20])
    assert app.query_params["position"] == "7"
    expected = [cosine(7, q, 16) for q in range(30)]
    np.testing.assert_allclose(array(charts(app)["row"]["data"][0]["y"]), expected, atol=1e-6)


def test_the_widest_shift_matrix_is_drawn_in_blocks(page):
    app = page(d_model="16384", seq_len="10")
    shown = pictures(app)["shift"]
    assert shown.head["note"] == "each cell = 41 dimensions × 41 dimensions: exact mean"
    assert shown.mean.shape == (400, 400)
    # Columns 0–40 and rows 0–40 hold 20 pairs and a half.
    angles = 5 / 10_000 ** (2 * np.arange(21) / 16_384)
    expected = (2 * np.cos(angles[:20]).sum() + np.cos(angles[20])) / 41**2
    assert shown.mean[0, 0] == pytest.approx(expected, abs=2e-5)
    act(app, "shift", view=[16_382, 16_384, 16_382, 16_384])
    c, s = (turn(5 / 10_000 ** (16_382 / 16_384)) for turn in (math.cos, math.sin))
    np.testing.assert_allclose(pictures(app)["shift"].mean, [[c, s], [-s, c]], atol=1e-7)


def test_a_position_past_a_shorter_table_falls_back(page):
    app = page(table="minilm_l6", position="500")
    assert app.session_state["position"] == 500
    app.selectbox(key="table").set_value("sinusoid").run()
    assert app.session_state["position"] == 10


def test_other_pages_still_open_after_a_table_was_chosen(page):
    app = page(table="rxnmapper").switch_page("sinusoidal.py").run()
    assert not app.exception
    assert app.switch_page("similarity.py").run().session_state["table"] == "rxnmapper"


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("measure", ["cosine", "dot", "distance"])
def test_rotary_rows_are_compared_as_a_loop_does(page, lang, measure):
    app = page(lang=lang, table="rotary", seq_len="12", d_model="8", base="500", measure=measure)
    assert not app.exception
    dots = np.array(
        [
            [sum(2 * math.cos((p - q) / 500 ** (2 * i / 8)) for i in range(4)) for q in range(12)]
            for p in range(12)
        ]
    )
    expected = {"cosine": dots / 8, "dot": dots, "distance": np.sqrt(np.maximum(16 - 2 * dots, 0))}[measure]
    shown = pictures(app)["matrix"]
    np.testing.assert_allclose(shown.mean, expected, atol=1e-6)
    np.testing.assert_allclose(array(charts(app)["row"]["data"][0]["y"]), expected[10], atol=1e-6)
    spread = r"(?:at most|표준편차는) " + NUMBER
    assert plain(re.search(spread, words(app))[1]) < 1e-6  # the square root of rounding, of distances
    assert ("band has no width" if lang == "en" else "폭이 없습니다") in words(app)
    assert app.metric[0].value == "1"
    assert (set(charts(app)), set(pictures(app))) == ({"row", "offset"}, {"matrix"})


def test_yarn_counts_its_attention_factor(page):
    app = page(table="yarn", seq_len="5", d_model="64", measure="dot")
    np.testing.assert_allclose(
        np.diagonal(pictures(app)["matrix"].mean), 64 * (0.1 * math.log(4) + 1) ** 2, rtol=1e-6
    )


def test_a_rotary_matrix_of_ten_million_positions_is_drawn_whole(page):
    app = page(table="rotary", d_model="16", seq_len="10000000", position="9999999")
    shown = pictures(app)["matrix"]
    assert (shown.mean.shape, shown.head["shape"]) == ((400, 400), [10_000_000, 10_000_000])
    for row_, column in ((0, 0), (399, 0), (17, 20)):
        expected = mean_cosine(25_000 * (row_ - column), 25_000, 16)
        assert shown.mean[row_, column] == pytest.approx(expected, abs=2e-5)
    assert any("first 512 of 10,000,000 positions" in info.value for info in app.info)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_grid_is_relative_in_rows_and_columns_but_not_in_the_number_of_the_cell(page, lang):
    app = page(lang=lang, table="grid", seq_len="50", d_model="16")
    shown = pictures(app)["matrix"].mean
    assert shown.shape == (50, 50)
    rates = 10_000.0 ** (-np.arange(4) / 4)
    y, x = np.divmod(np.arange(50), 10)  # 5 × 10, row by row
    apart = [np.subtract.outer(axis, axis)[..., np.newaxis] * rates for axis in (y, x)]
    np.testing.assert_allclose(shown, np.cos(apart).sum(axis=(0, 3)) / 8, atol=1e-6)
    assert "5 × 10 = 50" in words(app)
    share = plain(app.metric[0].value)
    same = [np.diagonal(shown, k) for k in range(1, 50)]
    centre = np.concatenate(same).mean()
    between = sum(len(one) * (one.mean() - centre) ** 2 for one in same)
    total = sum(((one - centre) ** 2).sum() for one in same)
    assert share == pytest.approx(between / total, abs=2e-4)
    assert share < 0.99
    assert ("although the scheme is relative" if lang == "en" else "상대적인 방식인데도") in words(app)


@pytest.mark.parametrize(("table", "seq_len"), [("grid", "5"), ("video", "2"), ("axial_rotary", "7")])
def test_a_grid_of_one_row_has_no_band(page, table, seq_len):
    app = page(table=table, seq_len=seq_len, d_model="32")
    assert "along one axis only" in words(app)
    assert plain(re.search(r"at most " + NUMBER, words(app))[1]) < 1e-12


SMALL, LARGE = {"d_model": "1", "seq_len": "1"}, {"lang": "ko", "d_model": "16384", "seq_len": "10000000"}


@pytest.mark.parametrize(
    ("table", "query"),
    [*((name, SMALL) for name in (*SCHEME_NAMES, "random")), ("yarn", LARGE), ("video", LARGE)],
)
def test_every_table_opens_at_the_edges(page, table, query):
    app = page(table=table, measure="distance", **query)
    assert not app.exception
    assert not app.error
    assert app.session_state["table"] == table
    assert not re.search(r"\{\{|\}\}|None|nan", words(app))
    assert "ALiBi" in " ".join(caption.value for caption in app.caption)


def test_yarn_is_not_offered_where_all_rates_are_equal(page):
    app = page(table="yarn", base="1")
    assert not app.exception
    assert app.session_state["table"] == "sinusoid"
    assert "Rotation · YaRN" not in app.selectbox(key="table").options
    assert "Rotation · YaRN" in page().selectbox(key="table").options


def test_a_table_is_measured_once_for_all_visitors_and_for_each_measure(page, monkeypatch):
    tables._shared.clear()
    measured, by_offset = [], tables.similarity.by_offset
    monkeypatch.setattr(
        tables.similarity, "by_offset", lambda matrix: (measured.append(matrix.shape), by_offset(matrix))[1]
    )
    query = {"seq_len": "20", "d_model": "8"}
    for _ in range(2):
        app = page(**query)
        assert not app.exception
        assert measured == [(20, 20)] * 2  # of the table, and of its rows shuffled
    for changed in ({"base": "500"}, {"layout": "sin_cos"}, {"measure": "dot"}, {"d_model": "10"}):
        measured.clear()
        page(**(query | changed))
        assert measured == [(20, 20)] * 2, changed
