"""Your own table: what opens it, what is said of it, and what it is compared with."""

from __future__ import annotations

import io
import re
from string import Formatter

import numpy as np
import pytest

from pages.ui.text import LANGUAGES, catalogue
from posenc import sinusoidal
from posenc.examples import EXAMPLES
from posenc.mistakes import MISTAKES
from posenc.tables import MESSAGES, NOTES
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
