"""The view of a heatmap: in the address, from the reader's hand, and never outside the matrix."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pages.ui import heatmap
from pages.ui.text import LANGUAGES, catalogue
from tests.pages.pictures import act, pictures

WHOLE = (0, 50, 0, 128)
# What no reader can ask for, as a browser could still send it.
FORGED = [
    "3-9x0-4",
    "junk",
    "",
    None,
    7,
    True,
    {},
    {"view": [3, 9, 0, 4]},
    [],
    [3, 9],
    [3, 9, 0, 4, 5],
    [9, 3, 0, 4],
    [3, 3, 0, 4],
    [-3, 9, 0, 4],
    [3, 9, -1, 4],
    [3, 51, 0, 4],
    [3, 9, 0, 129],
    [3, 10**30, 0, 4],
    [3.0, 9.5, 0, 4],
    [math.inf, 9, 0, 4],
    [math.nan] * 4,
    ["3", "9", "0", "4"],
    [True, True, 0, 4],
    [None] * 4,
    [[3, 9], [0, 4]],
]


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).switch_page("sinusoidal.py").run()


def sound(app):
    assert not app.exception
    assert not app.error


def table(rows, columns, d_model=128):
    """The formula, one number at a time."""
    return [
        [(math.cos if j % 2 else math.sin)(p / 10_000 ** (2 * (j // 2) / d_model)) for j in columns]
        for p in rows
    ]


def test_without_a_view_in_the_address_all_is_shown_and_the_address_stays_empty(page):
    app = page()
    sound(app)
    shown = pictures(app)["table"]
    assert (shown.view, shown.head["shape"], shown.head["each"]) == (WHOLE, [50, 128], [1, 1])
    np.testing.assert_allclose(shown.mean, table(range(50), range(128)), atol=1e-7)
    assert shown.limits == (-1, 1)
    assert not [name for name in app.query_params if name.endswith("_view")]


def test_the_address_names_the_rows_and_the_columns_in_view(page):
    app = page(table_view="3-9x0-4")
    sound(app)
    shown = pictures(app)["table"]
    assert shown.view == (3, 9, 0, 4)
    np.testing.assert_allclose(shown.mean, table(range(3, 9), range(4)), atol=1e-7)
    assert app.query_params["table_view"] == "3-9x0-4"
    assert pictures(app)["layout_interleaved"].view == WHOLE  # every picture has a view of its own


def test_a_view_deep_in_a_long_table_is_drawn_to_single_values(page):
    app = page(seq_len="10000000", d_model="512", table_view="9999995-9999999x100-103")
    shown = pictures(app)["table"]
    rows = table(range(9_999_995, 9_999_999), range(100, 103), 512)
    np.testing.assert_allclose(shown.mean, rows, atol=1e-7)
    assert shown.head["product"] == "Angle (rad)"
    rates = [10_000 ** (-2 * (j // 2) / 512) for j in range(100, 103)]
    np.testing.assert_allclose(shown.arrays["factors"], rates, rtol=1e-14)


@pytest.mark.parametrize(
    "text",
    [
        "junk",
        "3-9",
        "3-9,0-4",
        "9-3x0-4",
        "0-51x0-4",
        "0-50x0-129",
        "-1-9x0-4",
        "３-9x0-4",
        " 3-9x0-4",
        "0-0x0-0",
        "9" * 400,
    ],
)
def test_an_impossible_view_in_the_address_shows_all_and_says_so(page, text):
    app = page(table_view=text)
    sound(app)
    assert pictures(app)["table"].view == WHOLE
    assert "table_view" not in app.query_params
    assert [toast.value for toast in app.toast] == [
        catalogue("en")["notice.bad_link"].replace("{{name}}", "table_view").replace("{{value}}", "–")
    ]


def test_two_views_in_the_address_show_all(page):
    app = page(table_view=["3-9x0-4", "1-2x0-4"])
    sound(app)
    assert pictures(app)["table"].view == WHOLE


def test_the_reader_turns_to_a_view_and_back_to_the_same_again(page):
    app = page()
    for _ in range(2):
        act(app, "table", view=[3, 9, 0, 4])
        sound(app)
        assert pictures(app)["table"].view == (3, 9, 0, 4)
        assert app.query_params["table_view"] == "3-9x0-4"
        act(app, "table", view=list(WHOLE))
        assert pictures(app)["table"].view == WHOLE
        assert "table_view" not in app.query_params


def test_a_view_stays_while_it_fits_and_all_is_shown_when_it_does_not(page):
    app = act(page(), "table", view=[30, 40, 0, 4])
    app.select_slider(key="d_model").set_value(64).run()
    assert pictures(app)["table"].view == (30, 40, 0, 4)
    assert pictures(app)["table"].head["shape"] == [50, 64]
    app.select_slider(key="seq_len").set_value(39).run()
    sound(app)
    assert pictures(app)["table"].view == (0, 39, 0, 64)
    assert "table_view" not in app.query_params


def test_the_view_survives_a_visit_to_another_page(page):
    app = act(page(), "table", view=[30, 40, 0, 4])
    app.switch_page("home.py").run().switch_page("sinusoidal.py").run()
    assert pictures(app)["table"].view == (30, 40, 0, 4)


@pytest.fixture
def cut(monkeypatch):
    """The views that were cut of tables of hundreds of rows, in turn."""
    heatmap._whole.clear()
    found, cut = [], heatmap.table_blocks

    def counted(table, rows, columns, **most):
        if len(table) > 400:
            found.append((rows, columns))
        return cut(table, rows, columns, **most)

    monkeypatch.setattr(heatmap, "table_blocks", counted)
    return found


@pytest.mark.folded
def test_all_of_a_table_that_visitors_share_is_cut_once_and_a_part_of_it_each_time(frame, cut):
    def compared(**query):
        before = len(cut)
        app = frame(lang="en", **query).run().switch_page("fixed_vs_learned.py").run()
        sound(app)
        return app, len(cut) - before

    first, count = compared()
    assert count == 4
    again, count = compared()
    assert count == 0
    assert pictures(first) == pictures(again)
    # The same cells below the words of another language.
    app = frame(lang="ko").run().switch_page("fixed_vs_learned.py").run()
    for key, shown in pictures(app).items():
        np.testing.assert_array_equal(shown.mean, pictures(first)[key].mean)
        assert shown.head["alt"] != pictures(first)[key].head["alt"]
    assert len(cut) == 4
    # A part is cut anew, and so is all of any other table.
    act(again, "picture_b", view=[3, 9, 0, 4])
    assert pictures(again)["picture_b"].view == (3, 9, 0, 4)
    assert len(cut) == 5
    for query in ({"base": "500"}, {"layout": "sin_cos"}):
        changed, _ = compared(**query)
        assert (pictures(changed)["picture_a"].mean != pictures(first)["picture_a"].mean).any()
        np.testing.assert_array_equal(pictures(changed)["picture_b"].mean, pictures(first)["picture_b"].mean)
    shorter, count = compared(table_b="whisper_decoder")
    assert count == 4
    assert {shown.view for shown in pictures(shorter).values()} == {(0, 448, 0, 384), (0, 448, 0, 448)}


@pytest.mark.folded
def test_a_name_stands_for_the_values_of_one_matrix(frame, monkeypatch):
    seen = {}

    def whole(*key_and_matrix):
        *key, matrix = key_and_matrix
        cells = heatmap.figures.cells(matrix.cut(*matrix.whole, *key[1:]))
        values = matrix.cut(*matrix.whole, 2048, 2048).mean
        np.testing.assert_array_equal(seen.setdefault(tuple(key), values), values)
        return cells

    monkeypatch.setattr(heatmap, "_whole", whole)
    kept = []
    for file, queries in {
        "fixed_vs_learned.py": [{"base": "500"}, {"layout": "sin_cos"}, {"table_a": "random"}, {}],
        "similarity.py": [{"measure": measure} for measure in ("cosine", "dot", "distance")],
        "your_table.py": [{"beside": "minilm_l6"}, {"beside": "whisper_decoder"}],
    }.items():
        for query in queries:
            app = frame(**({"table": "minilm_l6"} | query)).run().switch_page(file).run()
            sound(app)
        kept.append(len(seen))
    # Two parts of the sinusoid three times, of noise and MiniLM once; three measures; and what is beside.
    assert kept[0] == 10
    assert kept[1] == 13
    assert kept[2] > 13


@pytest.mark.parametrize("keep", [False, True])
def test_a_forged_view_shows_all(page, keep):
    app = page()
    for forged in FORGED:
        act(app, "table", keep=keep, view=forged)
        sound(app)
        assert pictures(app)["table"].view == WHOLE, forged
        assert "table_view" not in app.query_params


@pytest.mark.parametrize("keep", [False, True])
def test_a_forged_view_after_a_real_one_breaks_nothing(page, keep):
    app = act(page(), "table", view=[3, 9, 0, 4])
    for forged in FORGED[::4]:
        act(app, "table", keep=keep, view=forged)
        sound(app)
        assert pictures(app)["table"].view in ((3, 9, 0, 4), WHOLE), forged


def test_a_click_on_the_table_picks_its_position(page):
    app = act(page(), "table", pick=[33, 7])
    sound(app)
    assert app.session_state["position"] == 33
    assert app.query_params["position"] == "33"


@pytest.mark.parametrize("keep", [False, True])
def test_a_forged_pick_shows_the_default(page, keep):
    app = page()
    for forged in [
        *FORGED[::4],
        [3, 9],
        [50, 0],
        [-1, 0],
        [10**30, 0],
        [1.5, 0],
        ["1", "1"],
        [None, 1],
        [math.nan, 1],
    ]:
        act(app, "table", keep=keep, pick=forged)
        sound(app)
        assert app.session_state["position"] in (10, 3), forged  # [3, 9] is a cell
        assert pictures(app)["table"].view == WHOLE


def test_a_picture_that_offers_no_pick_takes_none(page):
    app = page()
    assert pictures(app)["table"].head["pick"]
    assert not pictures(app)["layout_sin_cos"].head["pick"]
    before = {name: app.session_state[name] for name in ("position", "hand", "pair")}
    sound(act(app, "layout_sin_cos", pick=[33, 7]))
    assert {name: app.session_state[name] for name in before} == before


@pytest.mark.parametrize("junk", ["null", "[]", "7", '"view"', '{"view": {}}', '[{"event": 1}]'])
def test_a_message_that_is_none_breaks_nothing(page, junk):
    app = page()
    (place,) = (
        element.proto.id
        for element in app.get("bidi_component")
        if element.proto.id.endswith("-table_heatmap")
    )
    for kind in ("json_value", "json_trigger_value"):
        states = app._tree.get_widget_states()
        states.widgets.add(id=place, **{kind: junk})
        app._run(states)
        sound(app)
        assert pictures(app)["table"].view == WHOLE


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_picture_says_what_it_shows_and_what_a_cell_stands_for(page, lang):
    words = catalogue(lang)
    head = pictures(page(lang=lang, seq_len="100000", d_model="1024"))["table"].head
    assert head["alt"] == words["sinusoidal.heatmap_alt"].replace("{{seq_len}}", "100,000").replace(
        "{{d_model}}", "1,024"
    )
    assert "250 positions × 2 dimensions" in head["note"] or lang == "ko"
    assert "250" in head["note"]
    assert words["heatmap.mean"] in head["note"]
    assert head["words"] == {name: words[f"heatmap.{name}"] for name in heatmap.WORDS}
    single = pictures(page(lang=lang))["table"].head
    assert single["note"] == ""


def test_a_picture_of_blocks_counts_one_of_a_thing_in_the_singular(page):
    assert (
        "each cell = 250 positions × 1 dimension:" in pictures(page(seq_len="100000"))["table"].head["note"]
    )
    wide = pictures(page(d_model="1600"))["table"].head["note"]
    assert "each cell = 1 position × 2 dimensions:" in wide


def test_extremes_that_were_only_looked_at_are_called_so(frame):
    def words(**query):
        app = frame(**query).switch_page("similarity.py").run()
        return pictures(app)["matrix"].head["words"]

    assert words(seq_len="100000", d_model="8")["least"] == catalogue("en")["heatmap.least_seen"]
    assert words(seq_len="2000", d_model="8")["greatest"] == catalogue("en")["heatmap.greatest"]


def test_a_hover_knows_pair_function_frequency_and_wavelength_of_both_ends_of_a_block(page):
    shown = pictures(page(d_model="1600"))["table"]
    names = [line["name"] for line in shown.head["columns"]["lines"]]
    assert names == [
        "Pair i",
        "Function",
        "Frequency (rad per position)",
        "Wavelength (positions per turn)",
    ]
    assert shown.head["columns"]["lines"][1]["words"] == ["Sine", "Cosine"]
    pair, function, frequency, wavelength = (
        shown.arrays[f"columns{k}"].reshape(-1, 2)[300] for k in range(4)
    )
    rate = 10_000 ** (-600 / 1600)
    assert pair.tolist() == [300, 300]
    assert function.tolist() == [0, 1]
    np.testing.assert_allclose(frequency, [rate] * 2, rtol=1e-13)
    np.testing.assert_allclose(wavelength, [2 * math.pi / rate] * 2, rtol=1e-13)


def test_a_picture_that_is_gone_is_heard_without_harm(monkeypatch):
    picked = []
    monkeypatch.setattr(heatmap.st, "session_state", {})
    heatmap._turn("gone", heatmap.Window("gone_view", (9, 9)))
    heatmap._pick("gone", lambda *cell: picked.append(cell))
    assert heatmap.st.session_state == {}
    assert picked == []
