"""Fixed against learned: the numbers and pictures on the page, and what choosing changes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pages.ui.text import LANGUAGES
from posenc.learned import LEARNED, load
from posenc.published import PUBLISHED
from tests.pages.pictures import array, charts, pictures

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "learned_tables_measured.json").read_text())
REFUSED = {"en": "is refused", "ko": "거부됩니다"}


@pytest.fixture
def page(frame):
    # The first run tells AppTest of the page, whose address is not spelled like its file.
    return lambda **query: frame(**query).run().switch_page("fixed_vs_learned.py").run()


def words(app) -> str:
    return " ".join("\n".join(element.value for element in app.markdown).split())


def cells(app) -> list[list[list[str]]]:
    """Read the tables on the page: tables of rows of cells."""
    texts = [element.value for element in app.markdown if element.value.startswith("|")]
    return [
        [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()] for text in texts
    ]


def sound(app, errors: int) -> None:
    assert not app.exception
    assert len(app.error) == errors  # the one that a table past its end is meant to give
    assert charts(app)
    assert pictures(app)


def halved(table: np.ndarray) -> np.ndarray:
    """Take the mean of each two rows."""
    exact = table.astype(float)
    return (exact[0::2] + exact[1::2]) / 2


def drawn(app) -> dict[str, object]:
    """Return all that is drawn, charts and pictures, to be compared."""
    return {**charts(app), **pictures(app)}


def unit(table: np.ndarray) -> np.ndarray:
    exact = table.astype(float)
    return exact / np.sqrt((exact**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_default_view(page, lang):
    app = page(lang=lang)
    sound(app, 1)
    table, rates = load("minilm_l6"), 10_000.0 ** (-np.arange(0, 384, 2) / 384)
    shown = pictures(app)
    both = [shown[f"picture_{side}"] for side in "ab"]
    for each in both:
        assert (each.head["shape"], each.mean.shape) == ([512, 384], (256, 384))
    np.testing.assert_allclose(both[1].mean, halved(table), atol=2e-5)
    np.testing.assert_allclose(
        both[0].mean[:, 1::2], halved(np.cos(np.outer(np.arange(512), rates))), atol=2e-5
    )
    cosines = unit(table) @ unit(table).T
    np.testing.assert_allclose(shown["cosine_b"].mean, halved(halved(cosines).T).T, atol=2e-5)
    assert shown["cosine_b"].plane("least")[0, 5] == pytest.approx(cosines[:2, 10:12].min(), abs=2e-5)
    apart = np.arange(512)[:, None] - np.arange(512)
    expected = np.cos(np.arange(512)[:, None] * rates).mean(axis=1)[np.abs(apart)]
    np.testing.assert_allclose(shown["cosine_a"].mean, halved(halved(expected).T).T, atol=2e-5)

    facts, sinusoid, minilm, *published = cells(app)
    assert facts[3][1].startswith("**0**")
    assert facts[3][2] == "512 × 384 = **196,608**"
    for shown, key in ((sinusoid, "baseline_sinusoid_512x384_base10000"), (minilm, "minilm_l6")):
        names = ("offset_R2", "nn_adjacent", "erank", "procrustes_10000", "cka_10000")
        for line, name in zip(shown[2:], names, strict=True):
            assert float(line[1]) == pytest.approx(MEASURED[key][name], rel=5e-3)
        shares = [[float(cell) for cell in line[2:]] for line in shown[2:4]]
        assert np.max(shares) < 0.03  # chance: shuffled rows, noise
        assert shown[4][1] == shown[4][2]  # the effective rank does not see the order
    assert [line[1:] for shown in published for line in shown[2:]] == [
        list(numbers) for result in PUBLISHED for numbers in result.rows.values()
    ]

    assert REFUSED[lang] in app.error[0].value
    assert all(number in app.error[0].value for number in ("513", "512", "511"))
    assert "(4.94" in words(app)
    assert all(number in words(app) for number in ("0.973", "0.608", "6.07"))
    assert ("cause is not known" if lang == "en" else "원인은 알려져 있지 않습니다") in words(app)
    assert "table_a" not in app.query_params


def test_choosing_a_table_changes_its_side_only(page):
    app = page(lang="en")
    before = drawn(app)
    app.selectbox(key="table_b").set_value("rxnmapper").run()
    sound(app, 1)
    assert app.query_params["table_b"] == "rxnmapper"
    shown = pictures(app)
    np.testing.assert_allclose(shown["picture_b"].mean, halved(load("rxnmapper")), atol=1e-4)
    assert shown["picture_a"].head["shape"] == [512, 128]  # the sinusoid follows the shape
    app.selectbox(key="table_b").set_value("minilm_l6").run()
    assert drawn(app) == before


@pytest.mark.parametrize("name", ["minilm_l6", "random"])
def test_the_same_table_twice(page, name):
    app = page(lang="ko", table_a=name, table_b=name)
    sound(app, 1)
    shown = pictures(app)
    for one, other in (("picture_a", "picture_b"), ("cosine_a", "cosine_b")):
        np.testing.assert_array_equal(shown[one].mean, shown[other].mean)
        assert shown[one].limits == shown[other].limits
    assert [trace["name"][0] for trace in charts(app)["norms"]["data"]] == ["A", "B"]


def test_two_learned_tables_of_different_shapes(page):
    app = page(lang="en", table_a="whisper_decoder", table_b="rxnmapper", edge_position="500")
    sound(app, 1)
    assert "501 positions" in app.error[0].value
    assert "448 rows" in app.error[0].value
    curves = charts(app)["norms"]["data"]
    for trace, name in zip(curves, ("whisper_decoder", "rxnmapper"), strict=True):
        np.testing.assert_allclose(array(trace["y"]), np.linalg.norm(load(name), axis=1), rtol=1e-5)
        assert len(array(trace["x"])) == len(load(name))
    assert "510 (0.16" in words(app)
    middle = array(charts(app)["offset"]["data"][2]["y"])
    rows = unit(load("whisper_decoder"))
    assert middle[100] == pytest.approx(np.mean([rows[p] @ rows[p + 100] for p in range(348)]), abs=1e-6)


def test_the_edge_follows_the_slider(page):
    app = page(lang="en")
    app.select_slider(key="edge_position").set_value(608).run()
    sound(app, 1)
    assert "609" in app.error[0].value
    assert "takes row 96" in words(app)
    rows = unit(load("minilm_l6"))
    repeat = array(charts(app)["edge_curves"]["data"][0]["y"])
    np.testing.assert_allclose(repeat[:512], rows @ rows[96], atol=1e-6)
    assert (
        app.code[0].value
        == "ValueError: 609 positions > 512 rows (max_len): a learned table has no row past its last"
    )
    app.select_slider(key="edge_position").set_value(496).run()
    sound(app, 0)
    assert len(app.success) == 1
    assert len(charts(app)["edge_curves"]["data"]) == 2
    shown = pictures(app)
    assert np.isnan(shown["window_refuse"].mean[48:]).all()
    assert "from row 464 on" in words(app)
    assert [shown["window_refuse"].head[axis]["first"] for axis in ("rows", "columns")] == [464, 464]
    assert shown["window_refuse"].view == (0, 96, 0, 96)
    assert shown["window_repeat"].mean[0, 48] == pytest.approx(rows[464] @ rows[0], abs=1e-6)


def test_two_formulas_refuse_nothing(page):
    app = page(lang="en", table_a="whisper_encoder", table_b="sinusoid", base="500")
    sound(app, 0)
    assert "no learned table" in words(app)
    assert not any(key.startswith("window_") for key in pictures(app))
    assert "1500" in cells(app)[0][3][1]
    wave = np.sin(np.arange(448)[:, None] * 500.0 ** (-10 / 384))
    np.testing.assert_allclose(pictures(app)["picture_b"].mean[:, [10]], halved(wave), atol=2e-5)


@pytest.mark.parametrize(("n_pairs", "ratio", "r2"), [("3", "3", "0.609"), ("5", "2.8", "0.528")])
def test_the_waves_can_be_fitted_by_hand(page, n_pairs, ratio, r2):
    app = page(lang="en", ladder_pairs=n_pairs, ladder_ratio=ratio, ladder_column="7")
    sound(app, 1)
    assert f"**{r2}** of the variance, with {2 * int(n_pairs) + 1} basis" in words(app)
    trained = array(charts(app)["ladder_fit"]["data"][0]["y"])
    np.testing.assert_array_equal(trained, load("minilm_l6")[129:509, 7])


@pytest.mark.parametrize(
    "query",
    [
        {"lang": "ko", "d_model": "1", "seq_len": "1", "base": "1"},
        {"lang": "en", "d_model": "16384", "seq_len": "10000000", "layout": "cos_sin", "table_b": "random"},
        {
            "lang": "ko",
            "d_model": "3",
            "table_a": "bert",
            "table_b": "표",
            "edge_position": "-1",
            "ladder_ratio": "nan",
        },
        {
            "lang": "en",
            "table_a": ["rxnmapper", "rxnmapper"],
            "edge_position": "640",
            "ladder_pairs": "9",
            "ladder_column": "384",
        },
    ],
)
def test_the_sidebar_and_a_bad_link_break_nothing(page, query):
    app = page(**query)
    sound(app, 1)
    assert "512" in app.error[0].value  # the default position: the first past the last row
    assert pictures(app)["picture_a"].head["shape"] == [512, 384]


def test_every_table_has_its_note():
    from pages.ui.text import sections

    for lang in LANGUAGES:
        assert {f"note_{name}" for name in (*LEARNED, "sinusoid", "random")} <= sections(
            lang, "fixed_vs_learned"
        ).keys()


def test_a_view_of_a_learned_table_is_its_own_numbers(page):
    app = page(lang="en", picture_b_view="500-512x380-384", cosine_b_view="0-100x200-300")
    shown = pictures(app)
    table = load("minilm_l6")
    np.testing.assert_array_equal(shown["picture_b"].mean, table[500:, 380:])
    np.testing.assert_allclose(shown["cosine_b"].mean, unit(table)[:100] @ unit(table)[200:300].T, atol=1e-6)
    assert shown["picture_a"].view == (0, 512, 0, 384)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_schemes_stand_on_either_side(page, lang):
    app = page(lang=lang, table_a="axial_rotary", table_b="rotary", base="500")
    sound(app, 0)
    shown = pictures(app)
    # Ones turned by 500^(−2i/384), pairs half by half; beside each other the shape of MiniLM.
    angles = np.outer(np.arange(512), 500.0 ** (-np.arange(0, 384, 2) / 384))
    turned = np.hstack([np.cos(angles) - np.sin(angles), np.cos(angles) + np.sin(angles)])
    np.testing.assert_allclose(shown["picture_b"].mean, halved(turned), atol=4e-5)
    apart = np.subtract.outer(np.arange(512), np.arange(512))
    expected = np.cos(np.arange(512)[:, None] * 500.0 ** (-np.arange(0, 384, 2) / 384)).mean(axis=1)
    np.testing.assert_allclose(shown["cosine_b"].mean, halved(halved(expected[np.abs(apart)]).T).T, atol=2e-5)
    # A grid of 16 × 32 cells, half of the pairs for each axis.
    y, x = np.divmod(np.arange(512), 32)
    rates = 100.0 ** (-np.arange(96) / 96)
    along = [np.cos(np.subtract.outer(axis, axis)[0, :, None] * rates).sum(axis=1) for axis in (y, x)]
    assert shown["cosine_a"].mean[0, 40] == pytest.approx(np.mean(sum(along)[80:82]) / 192, abs=0.02)
    facts = cells(app)[0]
    assert "16 × 32" in facts[2][1]
    assert ["**0**" in cell for cell in facts[3][1:]] == [True, True]
    assert facts[5][2] == facts[5][1]
    assert all(number in facts[5][1] for number in ("1,536", "768"))  # 192 pairs, query and key
    assert facts[6][1:] == [
        "EVA-02, Pixtral, DINOv3",
        "RoFormer, GPT-J, GPT-NeoX, PaLM, Llama, Mistral, Qwen2, Gemma",
    ]
    assert float(cells(app)[2][2][1]) == pytest.approx(1, abs=1e-3)  # the offset says it all
    assert float(cells(app)[1][2][1]) < 0.9
    assert "table_a" in app.query_params


def test_what_mixed_rotary_learns_is_counted(page):
    app = page(lang="en", table_a="mixed_rotary", table_b="rxnmapper")
    sound(app, 1)
    facts = cells(app)[0]
    assert "**128**" in facts[3][1]
    assert "RXNMapper" in " ".join(subheader.value for subheader in app.subheader) + words(app)
    assert pictures(app)["picture_a"].head["shape"] == [512, 128]


@pytest.mark.parametrize("name", ["longrope", "multimodal_rotary", "video", "fourier"])
def test_every_kind_of_scheme_opens_beside_a_learned_table(page, name):
    app = page(lang="ko", table_a=name, table_b="whisper_decoder", base="1")
    sound(app, 1)
    assert app.session_state["table_a"] == name
