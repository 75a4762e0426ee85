"""Your own table: what opens it, what is said of it, and what it is compared with."""

from __future__ import annotations

import io
import re
import tracemalloc
import unicodedata
from string import Formatter

import numpy as np
import pytest
from safetensors.numpy import save

from pages.ui import heatmap, own, tables
from pages.ui.text import LANGUAGES, catalogue
from posenc import read_table, sinusoidal
from posenc.examples import EXAMPLES
from posenc.mistakes import MISTAKES
from posenc.tables import MESSAGES, NOTES
from tests.hub_server import Hub
from tests.pages.downloads import listen
from tests.pages.pictures import pictures


@pytest.fixture
def page(frame):
    # The first run tells AppTest of the page, whose address is not spelled like its file.
    return lambda **query: frame(**query).run().switch_page("your_table.py").run()


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def bring(app, data: bytes, name: str = "table.npy"):
    """Drop a file."""
    app.session_state["bring"] = "file"
    app.run()
    return app.file_uploader[0].set_value((name, data, "application/octet-stream")).run()


def verdict(app) -> str:
    (found,) = [each.value for each in app.markdown if each.value.startswith("#### ")]
    return found


def sound(app) -> None:
    assert not app.exception
    assert not app.error
    assert "yours" in pictures(app)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_opens_with_an_example_and_says_what_it_is(page, lang):
    app = page(lang=lang)
    sound(app)
    words = catalogue(lang)
    assert words["option.mistake.raw_column"] in verdict(app)
    shown = pictures(app)
    p, j = np.ogrid[:64, :64]
    angles = p / 10_000.0 ** (2 * j / 64)
    expected = np.where(j % 2 == 0, np.sin(angles), np.cos(angles))
    for name in ("yours", "nearest"):
        np.testing.assert_allclose(shown[name].mean, expected, atol=1e-6)
    assert np.abs(shown["difference"].mean).max() < 1e-6
    assert "opened" not in app.query_params


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_opens_by_its_button_and_by_its_link(page, lang, name):
    clicked = page(lang=lang)
    clicked.button(key=f"open_{name}").click().run()
    sound(clicked)
    linked = page(lang=lang, opened=name)
    sound(linked)
    assert verdict(clicked) == verdict(linked)
    assert clicked.query_params.get("opened", "raw_column") == name


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_dropped_file_is_opened_and_stays_on_other_pages(page, lang):
    app = bring(page(lang=lang), npy(MISTAKES["swapped"].build(40, 32)), "mine.npy")
    sound(app)
    assert catalogue(lang)["option.mistake.swapped"] in verdict(app)
    assert app.query_params["opened"] == "own"
    app.switch_page("myths.py").run().switch_page("your_table.py").run()
    sound(app)
    assert catalogue(lang)["option.mistake.swapped"] in verdict(app)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_cannot_be_opened_is_said_and_leaves_the_table_before(page, lang):
    app = bring(page(lang=lang, opened="fairseq"), b"<!doctype html><p>1,2", "table.csv")
    assert not app.exception
    assert [each.value for each in app.error] == [catalogue(lang)["table_error.web_page"]]
    assert "fairseq" in verdict(app)
    assert app.query_params["opened"] == "fairseq"
    bring(app, npy(sinusoidal(20, 8)))
    sound(app)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_link_of_a_table_that_is_gone_asks_for_the_file(page, lang):
    app = page(lang=lang, opened="own")
    sound(app)
    assert [each.value for each in app.warning] == [catalogue(lang)["your_table.lost"]]
    bring(app, npy(sinusoidal(20, 8)))
    assert not app.warning


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_refusal_and_every_note_has_words(lang):
    for section, templates in (("table_error", MESSAGES), ("table_note", NOTES)):
        prefix = f"{section}."
        words = {
            key[len(prefix) :]: value for key, value in catalogue(lang).items() if key.startswith(prefix)
        }
        assert words.keys() == templates.keys()
        for code, template in templates.items():
            wanted = {name for _, name, _, _ in Formatter().parse(template) if name}
            assert set(re.findall(r"\{\{(\w+)\}\}", words[code])) == wanted, code


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_pasted_text_is_opened(page, lang):
    app = page(lang=lang, bring="paste")
    printed = np.array2string(sinusoidal(12, 6), threshold=10**6, precision=8)
    app.text_area(key="own_text").set_value(printed).run()
    app.button(key="open_text").click().run()
    sound(app)
    np.testing.assert_allclose(pictures(app)["yours"].mean, sinusoidal(12, 6), atol=1e-7)
    assert catalogue(lang)["your_table.pasted"] in " ".join(each.value for each in app.subheader)
    assert any("NumPy" in each.value for each in app.info)  # what was assumed
    for blank in ("", "  \u3000", "\u200b"):
        app.text_area(key="own_text").set_value(blank).run()
        app.button(key="open_text").click().run()
        assert not app.exception
        assert len(app.error) == 1
        np.testing.assert_allclose(pictures(app)["yours"].mean, sinusoidal(12, 6), atol=1e-7)


@pytest.mark.folded
def test_rows_and_columns_are_exchanged_and_rows_left_out_as_asked(page):
    app = bring(page(lang="en"), npy(sinusoidal(20, 12).T))
    assert any("transposed" in each.value for each in app.info)
    app.toggle(key="transposed").set_value(True).run()
    app.number_input(key="skip").set_value(3).run()
    sound(app)
    np.testing.assert_allclose(pictures(app)["yours"].mean, sinusoidal(20, 12)[3:], atol=1e-6)
    assert (app.query_params["transposed"], app.query_params["skip"]) == ("1", "3")
    # Another table is opened as it is.
    app.session_state["bring"] = "example"
    app.run()
    app.button(key="open_fairseq").click().run()
    assert not {"transposed", "skip"} & app.query_params.keys()
    assert pictures(app)["yours"].head["shape"] == [64, 64]
    # A link has an example as it was seen; what is not possible there falls back.
    assert pictures(page(opened="fairseq", skip="60"))["yours"].head["shape"] == [4, 64]
    assert pictures(page(opened="fairseq", skip="64"))["yours"].head["shape"] == [64, 64]


@pytest.mark.folded
def test_rows_of_zeros_are_undefined_and_stay_empty(page):
    table = np.vstack([np.random.default_rng(0).standard_normal((1, 8)), np.zeros((1, 8)), sinusoidal(16, 8)])
    app = bring(page(lang="en"), npy(table))
    sound(app)
    shown = pictures(app)["cosine_a"].mean
    assert np.isnan(shown[1]).all()
    assert np.isnan(shown[:, 1]).all()
    assert np.isnan(shown).sum() == 2 * 18 - 1
    assert any("RoBERTa" in each.value for each in app.info)
    app.number_input(key="skip").set_value(2).run()
    assert not np.isnan(pictures(app)["cosine_a"].mean).any()


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_first_cell_that_disagrees_is_named_and_brought_into_view(page, lang):
    table = sinusoidal(60, 40)
    table[37, 21] += 0.25
    app = bring(page(lang=lang), npy(table))
    sound(app)
    (named,) = [each.value for each in app.warning]
    assert "37" in named
    assert "21" in named
    assert pictures(app)["difference"].limits[1] == pytest.approx(0.25, abs=1e-3)
    app.button(key="go").click().run()
    shown = pictures(app)
    for name in ("yours", "nearest", "difference"):  # the three move together
        assert shown[name].view == (31, 44, 9, 34)
    assert shown["difference"].mean[6, 12] == pytest.approx(0.25, abs=1e-5)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_of_several_tables_of_a_file_is_chosen(page, lang):
    stream = io.BytesIO()
    np.savez(stream, one=sinusoidal(10, 6), two=sinusoidal(14, 8))
    app = bring(page(lang=lang), stream.getvalue(), "both.npz")
    assert len(app.error) == 1  # none is named as one of positions
    assert app.selectbox(key="own_key").options == ["one", "two"]
    app.selectbox(key="own_key").set_value("two").run()
    sound(app)
    assert pictures(app)["yours"].head["shape"] == [14, 8]
    app.selectbox(key="own_key").set_value("one").run()
    sound(app)
    assert pictures(app)["yours"].head["shape"] == [10, 6]


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_table_of_a_model_is_read_from_the_hub(page, lang, monkeypatch):
    tensors = {"wpe.weight": sinusoidal(32, 16), "h.0.ln_1.weight": np.ones(16, np.float32)}
    models = {"openai-community/gpt2": {"model.safetensors": save(tensors)}}
    with Hub(models, {}) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        app = page(lang=lang, bring="hub")
        app.button(key="open_openai-community/gpt2").click().run()
        sound(app)
        assert app.query_params["opened"] == "openai-community/gpt2"
        np.testing.assert_allclose(pictures(app)["yours"].mean, sinusoidal(32, 16), atol=1e-6)
        asked = len(server.requests)
        app.run()
        app.text_input(key="own_model").set_value("nobody/nothing").run()
        assert len(server.requests) == asked  # what is open is not read again
        app.button(key="open_model").click().run()
        assert not app.exception
        assert len(app.error) == 1
        assert "nobody/nothing" in app.error[0].value
        assert app.query_params["opened"] == "openai-community/gpt2"
        linked = page(lang=lang, opened="openai-community/gpt2")
        assert verdict(linked) == verdict(app)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_where_the_hub_is_off_one_sentence_says_so(page, lang, monkeypatch):
    monkeypatch.setenv("POSENC_HUB", "off")
    app = page(lang=lang, bring="hub")
    sound(app)
    assert catalogue(lang)["your_table.hub_off"] in [each.value for each in app.info]
    assert not app.text_input
    linked = page(lang=lang, opened="openai-community/gpt2")
    assert [each.value for each in linked.error] == [catalogue(lang)["table_error.hub_off"]]
    assert "yours" in pictures(linked)
    assert "opened" not in linked.query_params


def test_names_from_outside_are_shown_as_they_are(page):
    app = bring(page(lang="en"), b"PK\x03\x04", "![x](http://a.example/b.png) <b>`$x$`.npz")
    assert not app.exception
    assert r"\!\[x\](http\://" in app.error[0].value  # to Markdown no picture, no link
    # As macOS sends it, in parts of letters.
    bring(app, npy(sinusoidal(9, 6)), unicodedata.normalize("NFD", "[위치](http://a.example) *x* <b>.npy"))
    sound(app)
    (heading,) = [each.value for each in app.subheader if "위치" in each.value]
    assert not set("[]*<>`$") & set(heading)


@pytest.mark.folded
def test_the_same_columns_in_another_order_are_recognised(page):
    app = bring(page(lang="en"), npy(sinusoidal(50, 8, layout="sin_cos")))
    values = [float(metric.value) for metric in app.metric]
    assert values[0] > 1
    assert values[1] < 1e-6
    assert values[2] == pytest.approx(1)
    app.selectbox(key="beside").set_value("minilm_l6").run()
    sound(app)
    assert [metric.value for metric in app.metric][:2] == ["–", "–"]  # other widths: no cells to compare


@pytest.mark.folded
@pytest.mark.parametrize("ending", ["npy", "npz", "csv", "safetensors"])
def test_what_is_taken_away_is_what_is_shown(page, ending, monkeypatch):
    offered = listen(monkeypatch)
    app = bring(page(lang="en", file_format=ending), npy(sinusoidal(20, 12)), "mine.npy")
    app.number_input(key="skip").set_value(2).run()
    name = f"mine.{ending}"
    np.testing.assert_array_equal(
        read_table(offered[name](), name).values.astype(np.float32), sinusoidal(20, 12)[2:]
    )
    assert f"table.{ending}" in app.code[-1].value


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_table_is_offered_on_the_pages_that_compare(page, frame, lang):
    values = np.random.default_rng(0).standard_normal((30, 12)).astype(np.float32)
    app = bring(page(lang=lang), npy(values), "mine.npy")
    app.switch_page("similarity.py").run()
    assert "mine.npy" in app.selectbox(key="table").options[-1]
    app.selectbox(key="table").set_value("own").run()
    assert not app.exception
    assert not app.error
    unit = values / np.linalg.norm(values, axis=1, keepdims=True)
    np.testing.assert_allclose(pictures(app)["matrix"].mean, unit @ unit.T, atol=1e-5)
    app.switch_page("fixed_vs_learned.py").run()
    app.selectbox(key="table_b").set_value("own").run()
    assert not app.exception
    np.testing.assert_allclose(pictures(app)["picture_b"].mean, values, atol=1e-6)
    assert pictures(app)["picture_a"].head["shape"] == [30, 12]  # the sinusoid follows its shape
    other = frame(lang=lang, table="own").run().switch_page("similarity.py").run()
    assert not other.exception
    assert other.selectbox(key="table").value == "sinusoid"  # another visit has no such table


@pytest.mark.folded
def test_what_is_seen_of_it_goes_into_no_cache_that_visitors_share(page, monkeypatch):
    def shared(*key):
        raise AssertionError("all visitors share what this keeps")

    app = page(lang="en")
    monkeypatch.setattr(own, "_seen_of_example", shared)
    monkeypatch.setattr(own, "_portrait_of_example", shared)
    kept, whole = [], heatmap._whole
    monkeypatch.setattr(heatmap, "_whole", lambda name, *how: (kept.append(name), whole(name, *how))[1])
    app = bring(app, npy(sinusoidal(30, 12)))
    assert not app.error
    assert pictures(app)["cosine_a"].mean.shape == (30, 30)
    assert kept
    assert all(name.startswith("cosine of ('sinusoid', 30, 12,") for name in kept)  # of the one beside it


@pytest.mark.folded
def test_what_is_measured_on_it_is_kept_for_this_visit_alone(page, monkeypatch):
    def shared(pick, measure):
        raise AssertionError("all visitors share what this keeps")

    app = bring(page(lang="en"), npy(sinusoidal(30, 12)))
    app.switch_page("similarity.py").run()
    monkeypatch.setattr(tables, "_shared", shared)
    app.selectbox(key="table").set_value("own").run()
    assert not app.error
    assert pictures(app)["matrix"].mean.shape == (30, 30)


@pytest.mark.folded
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "values",
    [
        np.ones((1, 1)),
        np.zeros((4, 4)),
        np.ones((1, 8)),
        np.arange(3.0).reshape(3, 1),
        sinusoidal(16, 5),
        sinusoidal(30, 8, dtype=np.float64) * 1e-200,
        sinusoidal(30, 8, dtype=np.float64) * 1e300,
        np.random.default_rng(0).standard_normal((5000, 2)),
        np.random.default_rng(0).standard_normal((2, 17_000)),
    ],
    ids=lambda values: "x".join(map(str, values.shape)),
)
def test_tables_of_any_shape_and_size_are_shown(page, lang, values):
    app = bring(page(lang=lang), npy(values))
    sound(app)
    assert verdict(app)


@pytest.mark.folded
def test_a_rerun_of_a_deep_table_allocates_little(page):
    app = bring(page(lang="en"), npy(np.random.default_rng(0).standard_normal((5120, 1024), np.float32)))
    sound(app)
    tracemalloc.start()
    app.run()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    sound(app)
    assert most < 64 * 2**20
