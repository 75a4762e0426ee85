"""The page on rounding says what other formats and direct evaluation say, and changes what it should."""

import math
import re

import ml_dtypes
import numpy as np
import pytest

from pages.ui import rounding
from pages.ui.text import catalogue
from posenc.precision_ranges import errors
from posenc.precision_scores import score_blocks
from tests.pages.pictures import act, array, charts, pictures

FORMATS = ("bfloat16", "float16", "float32", "float64")
DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16}


@pytest.fixture
def page(frame):
    return lambda **query: frame(**query).run().switch_page("precision.py").run()


def words(app):
    return "\n".join(element.value for element in app.markdown)


def flat(app):
    return " ".join(words(app).split())


def tables(app):
    """The tables of a page: rows of cells, links and emphasis taken off."""
    found = []
    for element in app.markdown:
        lines = [line for line in element.value.splitlines() if line.startswith("|")]
        if lines:
            plain = [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", line).replace("**", "") for line in lines]
            found.append([[cell.strip() for cell in line.strip("|").split("|")] for line in plain])
    return found


def rates(width, base=10_000.0):
    return np.array([base ** (-2 * i / width) for i in range(-(-width // 2))])


def near(values, name):
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float64).astype(DTYPES[name]).astype(np.float64)


def waves(places, omega, name, stage):
    """Sines and cosines by the real formats."""
    p = np.asarray(places, np.float64)
    if stage in ("chain", "position"):
        p = near(p, name)
    if stage == "chain":
        omega = near(omega, name)
    angles = np.multiply.outer(p, omega)
    if stage in ("chain", "angle"):
        angles = near(angles, name)
    sine, cosine = np.sin(angles), np.cos(angles)
    return (near(sine, name), near(cosine, name)) if stage in ("chain", "table") else (sine, cosine)


def scores(places, omega, name, stage):
    sine, cosine = waves(places, omega, name, stage)
    return (sine @ sine.T + cosine @ cosine.T) / len(omega)


@pytest.mark.parametrize(
    ("lang", "name", "stage", "which"),
    [
        ("en", "bfloat16", "chain", "sinusoid"),
        ("ko", "float16", "position", "rotary"),
        ("en", "float32", "chain", "rotary"),
    ],
)
def test_the_three_pictures_are_the_scores_around_the_position(page, lang, name, stage, which):
    query = {"precision": name, "stage": stage, "angles_of": which, "d_model": "16", "head_dim": "8"}
    app = page(lang=lang, seq_len="12", position="5000", base="500", **query)
    omega = rates(8 if which == "rotary" else 16, 500.0)
    places = np.arange(4994, 5006)
    shown = pictures(app)
    exact = np.cos(np.multiply.outer(places, omega)[:, np.newaxis] - np.multiply.outer(places, omega)).mean(2)
    made = scores(places, omega, name, stage)
    np.testing.assert_allclose(shown["scores_exact"].mean, exact, atol=1e-6)
    np.testing.assert_allclose(shown["scores_made"].mean, made, atol=1e-6)
    np.testing.assert_allclose(shown["scores_between"].mean, made - exact, atol=1e-6)
    assert shown["scores_made"].limits == (-1, 1)
    widest = np.abs(made - exact).max()
    assert shown["scores_between"].limits == pytest.approx((-widest, widest), rel=1e-3)
    assert shown["scores_exact"].head["rows"]["first"] == 4994
    assert "4,994 … 5,005" in words(app)


def test_one_view_for_the_three_pictures(page):
    app = page(seq_len="30", d_model="16")
    act(app, "scores_made", view=[3, 9, 0, 4])
    assert {shown.view for shown in pictures(app).values()} == {(3, 9, 0, 4)}
    assert app.query_params["scores_view"] == "3-9x0-4"


def test_ten_million_positions_are_drawn_in_blocks(page):
    app = page(seq_len="10000000", d_model="16", stage="position")
    shown = pictures(app)
    assert shown["scores_exact"].head["note"].endswith("exact mean")
    assert shown["scores_made"].head["note"].endswith("mean, estimated")
    assert shown["scores_made"].head["shape"] == [10_000_000, 10_000_000]
    assert np.isfinite(shown["scores_made"].mean).all()
    assert shown["scores_made"].mean.diagonal()[-1] > 0.5 > shown["scores_exact"].mean.diagonal()[-1]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_what_falls_together_is_counted(page, lang):
    app = page(lang=lang, seq_len="3000")
    said = catalogue(lang)
    (table,) = (each for each in tables(app) if said["precision.first"] in [row[0] for row in each])
    assert table[0][1:] == ["bfloat16", "float16"]
    rows = {row[0]: row[1:] for row in table}
    assert rows[said["precision.first"]] == ["257", "2,049"]
    for n in (512, 3000, 4096):
        counted = [f"{len(np.unique(near(np.arange(n), name))):,}" for name in FORMATS[:2]]
        assert rows[said["precision.left_of"].replace("{{n}}", f"{n:,}")] == counted
    assert rows[said["precision.largest"]] == ["65,537", "9,934,480"]
    (nearest,) = (each for each in tables(app) if each[-1][0] == "1,000,000" and "bfloat16" in each[0])
    for row in nearest[2:]:
        values = [near(float(row[0].replace(",", "")), name) for name in FORMATS[:2]]
        assert row[1:] == [f"{value:,.0f}" if np.isfinite(value) else "∞" for value in values]
    curve = charts(app)["distinct"]["data"][0]
    assert array(curve["y"])[-1] == pytest.approx(2202 / 10_000_000)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_accidents_come_out_as_their_threads_say(page, lang):
    app = page(lang=lang)
    said = catalogue(lang)
    here = {row[0]: row[1:] for each in tables(app) for row in each if len(row) == 3}
    assert here[said["precision.neox_exact"]] == ["1044.2678", "1044.2678"]
    assert here[said["precision.neox_made"]] == ["1045", "1045"]
    assert here[said["precision.neox_largest"]] == ["0.7819", "0.7819"]
    assert here[said["precision.at"].replace("{{p}}", "257")] == ["256", "256"]
    assert here[said["precision.at"].replace("{{p}}", "15,962")] == ["15,936", "15,936"]
    # Two numbers of threads that are not right.
    assert here[said["precision.gap_at"].replace("{{p}}", "15,962")] == ["16", "64"]
    assert here[said["precision.grid"].replace("{{side}}", "256")] == ["1", "1"]
    assert here[said["precision.grid"].replace("{{side}}", "512")] == ["1", "2"]
    off = abs(float(near(math.cos(1045), "float16")) - math.cos(1857 * 10_000 ** (-2 / 32)))
    assert f"{off:.4g}" in flat(app)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_float32_at_a_million(page, lang):
    app = page(lang=lang)
    assert "**0.052**" in words(app)
    omega = rates(128)
    low = omega.astype(np.float32).astype(float)
    (table,) = (each for each in tables(app) if each[-1][0] == "10⁷")
    for p, row in zip((1e3, 1e4, 1e5, 1e6, 1e7), table[2:], strict=True):
        products = (p * omega).astype(np.float32).astype(float)
        by_rate, by_product = np.abs(p * (low - omega)).max(), np.abs(products - p * omega).max()
        assert [float(cell) for cell in row[1:3]] == pytest.approx([by_rate, by_product], rel=0.06)


@pytest.mark.parametrize(("name", "stage"), [("bfloat16", "chain"), ("float32", "angle")])
def test_the_curves_of_errors_are_those_of_the_formats(page, name, stage):
    app = page(precision=name, stage=stage, d_model="16")
    formats, steps = (charts(app)[f"error_{key}"] for key in ("formats", "steps"))
    assert [curve["name"] for curve in formats["data"]] == list(FORMATS)
    omega = rates(16)
    first = array(formats["data"][0]["x"])
    at = int(np.searchsorted(first, 1000))
    places = np.arange(first[at], first[at + 1])
    for curve, form in zip(formats["data"], FORMATS, strict=True):
        made, angles = waves(places, omega, form, stage), np.multiply.outer(places, omega)
        worst = max(np.abs(made[0] - np.sin(angles)).max(), np.abs(made[1] - np.cos(angles)).max())
        if worst > 1e-9:  # float64 itself cannot tell float64's error
            assert worst / 3 < array(curve["y"])[at] <= worst * (1 + 1e-6)
    assert len(steps["data"]) == 4
    # The same curve stands in both.
    mine = steps["data"][("chain", "angle", "position", "table").index(stage)]
    np.testing.assert_array_equal(array(mine["y"]), array(formats["data"][FORMATS.index(name)]["y"]))
    assert formats["layout"]["shapes"][0]["x0"] == 1024


def test_phase_errors_are_half_a_gap_at_most(page):
    app = page(precision="bfloat16", stage="position", d_model="8")
    curves = charts(app)["phase"]["data"]
    for curve, half in zip(curves, (2, 32, 256, 2048, 32_768), strict=True):
        worst = array(curve["y"])
        assert 0.7 * half < worst[0] <= half
        np.testing.assert_allclose(worst / worst[0], rates(8), rtol=1e-5)


def test_one_pair_near_the_position(page):
    pair = 5
    app = page(lang="ko", position="4000", pair=str(pair), d_model="16", stage="position")
    figure = charts(app)["near"]
    places = array(figure["data"][1]["x"])
    rounded = np.sin(near(places, "bfloat16") * rates(16)[pair])
    np.testing.assert_allclose(array(figure["data"][1]["y"]), rounded, atol=1e-6)
    assert figure["frames"][figure["layout"]["sliders"][0]["active"]]["name"] == "4000"
    assert "16" in flat(app)  # the gap from 2,048 to 4,095


def test_moving_both_positions_changes_the_score(page):
    app = page(stage="position", d_model="16", offset="5")
    exact = np.cos(5 * rates(16)).mean()
    assert f"{exact:.4g}" in flat(app)
    figure = charts(app)["along"]
    places, made = (array(figure["data"][0][axis]) for axis in "xy")
    assert len(places) <= 240
    for at in range(0, len(places), 17):
        sine, cosine = waves([places[at] + 5, places[at]], rates(16), "bfloat16", "position")
        assert made[at] == pytest.approx((sine[0] * sine[1] + cosine[0] * cosine[1]).mean(), abs=1e-5)
    app.number_input(key="offset").set_value(0).run()
    np.testing.assert_allclose(array(charts(app)["along"]["data"][0]["y"]), 1, atol=1e-6)


def test_choices_travel_in_the_address_and_the_code_follows(page):
    app = page(precision="float32", stage="angle", angles_of="rotary", head_dim="64", position="7")
    assert app.session_state["head_dim"] == 64
    assert "head_dim, base = 0, 50, 64, 10000.0" in app.code[-1].value
    app.segmented_control(key="stage").set_value("table").run()
    app.number_input(key="position").set_value(5000).run()
    assert app.query_params["stage"] == "table"
    assert "first, n, head_dim, base = 4975, 50, 64, 10000.0" in app.code[-1].value
    app.segmented_control(key="angles_of").set_value("sinusoid").run()
    assert "d_model, base = 4975, 50, 128, 10000.0" in app.code[-1].value


@pytest.mark.parametrize(
    "query",
    [
        {"precision": "bfloat", "stage": "", "position": "10000000", "offset": "4097", "angles_of": "both"},
        {"precision": "float16", "position": "9999999", "seq_len": "10000000", "d_model": "3"},
        {"d_model": "1", "seq_len": "1", "base": "1", "precision": "float16", "position": "65519"},
        {"angles_of": "rotary", "head_dim": "7", "d_model": "2", "offset": "4096"},
        {"d_model": "1024", "seq_len": "700", "stage": "table"},
    ],
)
def test_bad_and_extreme_values_show_a_page(page, query):
    app = page(lang="ko", **query)
    assert not app.exception
    assert not app.error
    assert set(pictures(app)) == {"scores_exact", "scores_made", "scores_between"}


def test_where_the_format_ends_cells_are_empty(page):
    app = page(precision="float16", position="65520", seq_len="10", d_model="8")
    shown = pictures(app)["scores_made"].mean
    assert np.isfinite(shown[:5, :5]).all()
    assert np.isnan(shown[5:]).all()


def test_an_odd_width_and_many_pairs_are_said(page):
    assert any("odd" in info.value for info in page(d_model="7").info)
    assert any("128 of 300 pairs" in caption.value for caption in page(d_model="600").caption)


@pytest.mark.parametrize(
    "changed",
    [{"width": 20}, {"base": 100.0}, {"precision": "float16"}, {"stage": "position"}, {"first": 3000}],
)
def test_what_is_kept_for_all_visitors_is_that_of_every_setting(changed):
    usual = {"width": 16, "base": 1e4, "precision": "bfloat16", "stage": "chain", "first": 1000}
    for settings in (usual, usual | changed):
        chosen = tuple(settings.values())
        omega, form, stage = rates(settings["width"], settings["base"]), *chosen[2:4]
        view = (0, 9), (0, 9)
        made, off = rounding.scored(view, 9, *chosen)
        right = score_blocks(*view, omega, form, stage=stage, first=settings["first"])
        np.testing.assert_allclose(made.mean, right.made.mean, atol=1e-12)
        assert rounding.largest(9, *chosen) == off.largest
        worst = rounding.errors(*chosen[:4])[form, stage].worst
        np.testing.assert_allclose(worst, errors(omega, [(form, stage)])[form, stage].worst, rtol=1e-6)
