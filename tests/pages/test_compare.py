"""The page of schemes side by side: its facts against sums by hand, its choice in the link, its edges."""

import math

import numpy as np
import pytest

from pages.ui.text import catalogue
from posenc.registry import SCHEMES
from tests.pages.pictures import array, charts, pictures


@pytest.fixture
def page(frame):
    def opened(**query):
        app = frame(**query).switch_page("compare.py").run()
        assert not app.exception
        assert not app.error
        return app

    return opened


def facts(app):
    """Every table of facts as label → cells, in the order of the schemes."""
    found = {}
    for element in app.markdown:
        if element.value.startswith("|  |"):
            for line in element.value.splitlines()[2:]:
                name, *cells = (cell.strip() for cell in line.strip("|").split(" | "))
                found.setdefault(name, []).extend(cells)
    return found


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_facts_are_those_computed_by_hand(page, lang):
    app = page(
        lang=lang, schemes="learned.rotary.alibi.none.t5", seq_len="20", d_model="64", n_heads="4", head="2"
    )
    words = catalogue(lang)
    shown = facts(app)
    learned = shown[words["compare.fact_learned"]]
    assert learned == [f"**{512 * 64:,}**", "**0**", "**0**", "**0**", "**128**"]
    cost = shown[words["compare.fact_cost"]]
    assert "64" in cost[0]
    assert all(count in cost[1] for count in ("256", "128"))  # 4·64 products, 2·64 sums
    assert "80" in cost[2]  # 20 keys, 4 heads
    assert cost[3] == words["compare.cost_nothing"]
    slope = 2 ** (-8 * 2 / 4)
    assert shown[words["compare.fact_range"]][2] == f"{-19 * slope:.3g} … 0"
    decay = shown[words["compare.fact_decay"]]
    assert (decay[2], decay[3]) == (words["compare.falls"], words["compare.level"])
    spread = shown[words["compare.fact_spread"]]
    assert spread[0] != words["compare.exact"]
    assert spread[1:] == [words["compare.exact"]] * 4
    for name, past in zip(
        ("refused", "unseen", "fading", "none", "clipped"), shown[words["compare.fact_past"]], strict=True
    ):
        assert past == words[f"compare.past_{name}"]


def test_curves_and_matrices_are_sums_of_cosines_and_straight_lines(page):
    app = page(schemes="sinusoidal.rotary.alibi", seq_len="16", d_model="32", n_heads="4", score_scale="own")
    table, rotary, alibi = (array(curve["y"]) for curve in charts(app)["curves"]["data"])
    expected = [sum(math.cos(k / 10_000 ** (i / 16)) for i in range(16)) for k in range(16)]
    np.testing.assert_allclose(table, expected, rtol=1e-5)
    turned = [2 * sum(math.cos(k / 10_000 ** (i / 4)) for i in range(4)) for k in range(16)]
    np.testing.assert_allclose(rotary, turned, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(alibi, -np.arange(16) / 4)
    shown = pictures(app)
    assert set(shown) == {"scores_sinusoidal", "scores_rotary", "scores_alibi"}
    np.testing.assert_allclose(shown["scores_alibi"].mean[12, 2], -2.5)
    app.segmented_control(key="score_scale").set_value("change").run()
    changed = array(charts(app)["curves"]["data"][2]["y"])
    np.testing.assert_allclose(changed, -np.arange(16) / 15, atol=1e-6)
    assert pictures(app)["scores_alibi"].limits == (-1, 1)


def test_the_choice_travels_in_the_link_and_a_kind_is_one_click(page):
    app = page(lang="en", seq_len="4")
    assert "schemes" not in app.query_params
    app.button(key="all_grid").click().run()
    assert app.query_params["schemes"] == "grid.detr.video.fourier"
    assert len(pictures(app)) == 4
    app.session_state["schemes"] = []
    app.run()
    assert app.query_params["schemes"] == ""
    assert app.info[-1].value == catalogue("en")["compare.none_chosen"]
    assert not page(lang="en", schemes="").get("plotly_chart")


@pytest.mark.parametrize("schemes", ["alibi.nonsense", "alibi.alibi", "alibi..t5", ".", "t5,alibi"])
def test_a_junk_choice_shows_the_usual_one(page, schemes):
    app = page(schemes=schemes, seq_len="4")
    assert len(pictures(app)) == 5
    assert app.toast


@pytest.mark.parametrize(
    ("lang", "edge"),
    [
        ("en", {"seq_len": "1", "d_model": "1", "base": "1"}),
        ("ko", {"seq_len": "2", "d_model": "3", "base": "1e12", "n_heads": "128", "head": "128"}),
        ("ko", {"seq_len": "10000000", "d_model": "16", "max_len": "3"}),
    ],
)
def test_every_scheme_stands_at_the_edges(page, lang, edge):
    app = page(lang=lang, schemes=".".join(SCHEMES), **edge)
    left_out = edge.get("base") == "1"
    assert len(pictures(app)) == len(SCHEMES) - left_out
    told = [info.value for info in app.info]
    assert (catalogue(lang)["compare.undefined"] in told) == left_out
