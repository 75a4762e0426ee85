"""Why order matters: the numbers on the page, the pictures, and what choosing changes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.ui.text import LANGUAGES
from posenc import order, rnn
from posenc.attention import causal_mask
from tests.pages.pictures import act, pictures

KINDS = order.POSITIONS.options


def words(app) -> str:
    return "\n".join(element.value for element in app.markdown)


def table(app) -> list[list[float]]:
    lines = [line for line in words(app).splitlines() if line.startswith("|")]
    return [[float(cell) for cell in line.split("|")[2:4]] for line in lines[2:]]


def plain_attention(x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    scores = np.einsum("qd,kd->qk", x, x) / x.shape[1] ** 0.5
    raised = np.exp(scores if mask is None else np.where(mask, scores, -np.inf))
    return np.einsum("qk,kd->qd", raised / raised.sum(axis=1, keepdims=True), x)


def differences(name: str, kind: str, mask: np.ndarray | None = None, **table: object) -> list[float]:
    first, second = order.pair(name)
    places = [
        list(first.pieces).index(piece) for piece in second.pieces
    ]  # for pairs without a repeated piece
    a, b = (plain_attention(order.inputs(each, kind, **table), mask) for each in (first, second))
    return [np.abs(b - a[places]).max(), np.abs(b.mean(axis=0) - a.mean(axis=0)).max()]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_are_those_of_a_plain_computation(frame, lang, kind):
    app = frame(lang=lang, sentence_pair="dog_cat", positions=kind, base="500", layout="sin_cos").run()
    assert not app.exception
    assert not app.error
    options = {"base": 500.0, "layout": "sin_cos"}
    none, *rest = table(app)
    assert max(none) < 1e-14
    expected = [differences("dog_cat", each, **options) for each in KINDS[1:]]
    expected.append(differences("dog_cat", "none", causal_mask(8)))
    np.testing.assert_allclose(rest, expected, rtol=0.05)
    outputs, means = table(app)[KINDS.index(kind)]
    assert f"**{outputs:.2g}**" in words(app)
    assert f"{means:.2g}" in words(app)
    # Both words are there, and only where they are true.
    assert ("permutation-equivariant" in words(app)) == (kind == "none")
    assert ("permutation-invariant" in words(app)) == (kind == "none")


def test_the_pictures_are_those_of_a_plain_computation(frame):
    app = frame(sentence_pair="dog_cat", positions="sinusoidal", base="500").run()
    shown = pictures(app)
    sentences = dict(zip(("first", "second"), order.pair("dog_cat"), strict=True))
    assert list(shown) == [
        *(f"weights_{side}" for side in sentences),
        *(f"outputs_{side}" for side in (*sentences, "change")),
        *(f"rnn_{side}" for side in sentences),
    ]
    inputs = {side: order.inputs(words, "sinusoidal", base=500.0) for side, words in sentences.items()}
    largest = 0.0
    for side, words in sentences.items():
        weights = shown[f"weights_{side}"]
        assert weights.rows == weights.head["columns"]["labels"] == list(words.pieces)
        np.testing.assert_allclose(weights.mean.sum(axis=1), 1, atol=1e-6)
        scores = inputs[side] @ inputs[side].T / 384**0.5
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        expected = raised / raised.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(weights.mean, expected, atol=1e-6)
        largest = max(largest, expected.max())
        outputs = shown[f"outputs_{side}"]
        np.testing.assert_allclose(outputs.mean, plain_attention(inputs[side]), atol=1e-6)
        assert (outputs.rows, outputs.limits) == (list(words.pieces), (-1, 1))
        states = rnn.rnn(order.inputs(words, "none"))
        np.testing.assert_allclose(shown[f"rnn_{side}"].mean, states, atol=1e-6)
    for side in sentences:
        assert shown[f"weights_{side}"].limits == pytest.approx((0, largest))
    places = [list(sentences["second"].pieces).index(piece) for piece in sentences["first"].pieces]
    change = plain_attention(inputs["second"])[places] - plain_attention(inputs["first"])
    np.testing.assert_allclose(shown["outputs_change"].mean, change, atol=1e-6)


def test_a_part_of_the_outputs_can_be_looked_at(frame):
    app = act(frame(sentence_pair="dog_cat").run(), "outputs_first", view=[2, 4, 100, 110])
    assert not app.exception
    expected = plain_attention(order.inputs(order.pair("dog_cat")[0], "none"))[2:4, 100:110]
    np.testing.assert_allclose(pictures(app)["outputs_first"].mean, expected, atol=1e-6)
    assert app.query_params["outputs_first_view"] == "2-4x100-110"


def test_the_rnn_differs_as_much_as_the_page_says_and_the_code_is_of_the_outputs(frame):
    app = frame(sentence_pair="mother_baby").run()
    one, two = (rnn.rnn(order.inputs(each, "none"))[-1] for each in order.pair("mother_baby"))
    difference = float(np.abs(one - two).max())
    assert difference > 0.01
    assert f"final states differ by up to **{difference:.2g}**" in words(app).replace("\n", " ")
    assert any("2×8×384" in button.label for button in app.get("download_button"))
    assert any("outputs = without_positions" in code.value for code in app.code)


def test_a_link_without_a_choice_is_the_same_view_in_every_language(frame):
    shown = {}
    for lang in LANGUAGES:
        app = frame(lang=lang).run()
        shown[lang] = (app.session_state["sentence_pair"], app.session_state["positions"], table(app))
        assert not {"sentence_pair", "positions"} & set(app.query_params)
    assert shown["en"] == shown["ko"]


def test_choosing_goes_into_the_address_and_changes_what_is_said(frame):
    app = frame(lang="en").run()
    before = words(app)
    app.segmented_control(key="sentence_pair").set_value("cat_dog").run()
    app.segmented_control(key="positions").set_value("learned").run()
    assert "cat_dog" in app.query_params["sentence_pair"]
    assert "learned" in app.query_params["positions"]
    assert words(app) != before
    assert "the cat chases the dog, too" in words(app)
    assert "E5's own learned positions" in words(app)


@pytest.mark.parametrize("junk", ["엄마", "mother_baby "])
def test_junk_gives_the_default(frame, junk):
    app = frame(sentence_pair=junk, positions=junk).run()
    assert not app.exception
    assert (app.session_state["sentence_pair"], app.session_state["positions"]) == ("mother_baby", "none")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_pair_is_shown_with_its_sentences(frame, lang):
    app = frame(lang=lang, positions="sinusoidal", base="1").run()
    for name, texts in order.PAIRS.items():
        app.session_state["sentence_pair"] = name
        app.run()
        assert not app.exception
        assert not app.error
        assert all(text in words(app) for text in texts)
        assert not re.search(r"\{\{|\}\}", words(app))
