"""The frame: language, shared controls, the view in the address, and what bad input does."""

import functools
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import local_script_runner

from pages.ui import controls, sitemap, text, url
from posenc import BASE, D_MODEL, LAYOUT, SEQ_LEN, Real
from posenc.learned import SEED

SHARED = ("seq_len", "d_model", "base", "layout")
DEFAULTS = {"seq_len": 50, "d_model": 128, "base": 10_000.0, "layout": "interleaved"}


def shared(app):
    return {name: app.session_state[name] for name in SHARED}


def address(app):
    return {name: values if len(values) > 1 else values[0] for name, values in app.query_params.items()}


def test_without_an_address_the_defaults_are_shown_and_the_address_stays_empty(frame):
    app = frame().run()
    assert not app.exception
    assert shared(app) == DEFAULTS
    assert not {*SHARED, "lang"} & set(address(app))


def test_a_link_opens_its_view_and_keeps_it_in_the_address(frame):
    link = {"seq_len": "77", "d_model": "100", "base": "500", "layout": "cos_sin", "lang": "ko"}
    app = frame(**link).run()
    assert shared(app) == {"seq_len": 77, "d_model": 100, "base": 500.0, "layout": "cos_sin"}
    assert {name: address(app)[name] for name in link} == link
    assert "순서" in app.title[0].value
    assert app.segmented_control(key="lang").label == text.catalogue("ko")["label.lang"]


def failed(app):
    """Whether the frame had to say that a page failed (a page may show an error that it is about)."""
    return {error.value for error in app.error} & {
        text.catalogue(lang)["notice.failure"] for lang in ("en", "ko")
    }


@pytest.mark.parametrize("name", ["seq_len", "d_model"])
@pytest.mark.parametrize(
    "junk",
    [
        "abc",
        "",
        "1e3",
        "-4",
        "0",
        "99999999",
        "6_4",
        "６４",
        "٦٤",
        "64.0",
        " 64",
        "0x40",
        "64\x00",
        "9" * 40,
        "∞",
    ],
)
def test_junk_in_the_address_gives_the_default(frame, name, junk):
    app = frame(**{name: junk}).run()
    assert not app.exception
    assert not app.error
    assert app.session_state[name] == DEFAULTS[name]
    assert name not in address(app)
    assert name in app.toast[0].value


@pytest.mark.parametrize("junk", ["nan", "inf", "-1", "0.5", "1e99", "1e-3", "１０", "10,000", "1_000"])
def test_junk_for_the_base_gives_the_default(frame, junk):
    app = frame(base=junk).run()
    assert not app.exception
    assert app.session_state["base"] == 10_000.0


@pytest.mark.parametrize(
    ("name", "junk"),
    [("layout", "Interleaved"), ("layout", "garbage"), ("layout", ""), ("lang", "fr"), ("lang", "한국어")],
)
def test_an_unknown_option_gives_the_default(frame, name, junk):
    app = frame(**{name: junk}).run()
    assert not app.exception
    assert app.session_state[name] == {"layout": "interleaved", "lang": "en"}[name]


def test_a_repeated_value_gives_the_default(frame):
    app = frame(d_model=["8", "16"]).run()
    assert not app.exception
    assert app.session_state["d_model"] == 128


def test_moving_a_slider_changes_the_address_and_going_back_to_the_default_clears_it(frame):
    app = frame().run()
    app.select_slider(key="d_model").set_value(64).run()
    assert address(app)["d_model"] == "64"
    app.select_slider(key="d_model").set_value(128).run()
    assert "d_model" not in address(app)


def test_the_shared_view_survives_a_change_of_page(frame):
    app = frame(d_model="100", base="500").run()
    for entry in sitemap.PAGES:
        app.switch_page(f"{entry.name}.py").run()
        assert not app.exception
        assert not failed(app)
        assert shared(app) == DEFAULTS | {"d_model": 100, "base": 500.0}


def test_a_choice_on_a_page_survives_a_visit_to_another(frame):
    app = frame().run().switch_page("sinusoidal.py").run()
    app.select_slider(key="position").set_value(33).run()
    app.switch_page("home.py").run().switch_page("sinusoidal.py").run()
    assert app.session_state["position"] == 33


def test_where_there_is_nothing_to_choose_the_address_is_cleared_and_the_notice_comes_once(frame):
    app = frame(seq_len="1", position="40").switch_page("sinusoidal.py").run()
    assert len(app.toast) == 1
    assert address(app) == {"seq_len": "1"}
    assert not app.run().toast


def test_a_default_that_nobody_changed_follows_the_size_and_stays_out_of_the_address(frame):
    app = frame(seq_len="5").switch_page("sinusoidal.py").run()
    assert (app.session_state["position"], app.session_state["hand"]) == (4, 4)
    app.select_slider(key="seq_len").set_value(1).run()
    assert app.session_state["position"] == 0
    app.select_slider(key="seq_len").set_value(50).run()
    assert (app.session_state["position"], app.session_state["hand"]) == (10, 10)
    assert address(app) == {}
    app.select_slider(key="position").set_value(4).run()
    app.select_slider(key="seq_len").set_value(20).run()
    assert address(app) == {"seq_len": "20", "position": "4"}


def test_going_back_takes_the_address_and_not_what_was_chosen(frame, monkeypatch):
    app = frame(d_model="64").switch_page("sinusoidal.py").run()
    app.select_slider(key="d_model").set_value(96).run()
    app.select_slider(key="position").set_value(33).run()
    back = functools.partial(RerunData, is_history_navigation=True)
    monkeypatch.setattr(local_script_runner, "RerunData", back)
    for name in list(app.query_params):
        del app.query_params[name]
    app.query_params["d_model"] = "64"
    app.run()
    assert (app.session_state["d_model"], app.session_state["position"]) == (64, 10)
    assert address(app) == {"d_model": "64"}


def test_the_language_can_be_chosen_and_translates_the_menu(frame):
    app = frame().run()
    assert app.title[0].value == "Why order matters"
    app.segmented_control(key="lang").set_value("ko").run()
    assert app.title[0].value == "순서가 왜 중요한가"
    assert address(app)["lang"] == "ko"
    assert "시퀀스 길이" in app.select_slider(key="seq_len").label


EDGES = [
    {"seq_len": "1", "d_model": "1"},
    {"seq_len": "1", "d_model": "2"},
    {"seq_len": "2", "d_model": "3", "layout": "cos_sin"},
    {"seq_len": "50", "d_model": "7", "base": "1"},
    {"seq_len": "10000000", "d_model": "129", "base": "1000000000"},
    {"seq_len": "600", "d_model": "16384", "layout": "sin_cos"},
]


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("entry", sitemap.PAGES, ids=lambda entry: entry.name)
def test_every_page_bears_the_smallest_and_the_largest(frame, entry, lang):
    app = frame(lang=lang).run().switch_page(f"{entry.name}.py").run()
    for edge in EDGES:
        for name, value in edge.items():
            app.session_state[name] = url.parse(
                {"seq_len": SEQ_LEN, "d_model": D_MODEL, "base": BASE, "layout": LAYOUT}[name], [value]
            )
        app.run()
        assert not app.exception, edge
        assert not failed(app), edge
        # Streamlit fades captions, and a faded link is too pale to read.
        assert not [caption.value for caption in app.caption if "http" in caption.value]


@given(st.integers(1, 10_000_000), st.integers(1, 10_000_000))
def test_a_ladder_is_increasing_short_and_has_both_ends(one, other):
    minimum, maximum = sorted((one, other))
    stops = controls.ladder(minimum, maximum)
    assert stops[0] == minimum
    assert stops[-1] == maximum
    assert all(left < right for left, right in itertools.pairwise(stops))
    assert len(stops) < 400
    assert controls.ladder(minimum, maximum, even=True) == tuple(stop for stop in stops if stop % 2 == 0)


def test_a_ladder_has_every_small_number_and_the_usual_sizes():
    stops = controls.ladder(1, 10_000_000)
    assert stops[:64] == tuple(range(1, 65))
    assert {128, 256, 384, 512, 768, 1024, 4096, 131_072} <= set(stops)
    assert controls.ladder(0, 49) == tuple(range(50))


@given(st.integers(1, 10_000_000))
def test_what_is_written_into_the_address_reads_back(value):
    assert url.parse(SEQ_LEN, [url.write(value)]) == value


@pytest.mark.parametrize("text", ["1e3", "1e+3", "1000", "1000.0", "10000e-1"])
def test_a_real_number_may_be_written_with_a_power_of_ten(text):
    assert url.parse(BASE, [text]) == 1000


def test_a_switch_is_0_or_1():
    switch = controls.Switch("any", default=False)
    assert [url.parse(switch, [url.write(value)]) for value in (False, True)] == [False, True]
    assert url.write(True) == "1"
    for junk in ("2", "01", "True", ""):
        with pytest.raises(ValueError, match="any is not written as a number"):
            url.parse(switch, [junk])


@given(st.integers(0, SEED.maximum))
def test_a_seed_of_any_size_reads_back(value):
    assert url.parse(SEED, [url.write(value)]) == value


@given(st.one_of(st.floats(0, 1e9), st.floats(0, 1e-4)))
def test_a_real_number_reads_back_to_twelve_digits(value):
    assert url.parse(Real("any", 0.0, 0.0, 1e9), [url.write(value)]) == pytest.approx(value, rel=1e-11)
