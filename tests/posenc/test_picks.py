"""Which tables can be chosen, of what shape, and that a pick says everything about its table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc import picks, side_by_side, similarity
from posenc.learned import LEARNED, load, random_init
from posenc.offsets import offset_blocks, similarity_waves
from posenc.registry import SCHEMES, position_scores
from posenc.scheme_tables import NO_TABLE, WAVED


def beside(name: str, other: str = "minilm_l6", **options) -> picks.Pick:
    return picks.pick_beside(name, other, **options)


def test_every_scheme_with_rows_can_be_chosen_once():
    assert len(set(picks.NAMES)) == len(picks.NAMES)
    assert {"sinusoid", "random", *LEARNED} | ({*SCHEMES} - {*NO_TABLE, "sinusoidal", "learned"}) == {
        *picks.NAMES
    }


@pytest.mark.parametrize("name", [name for name in picks.NAMES if name not in picks.SCHEME_NAMES])
@pytest.mark.parametrize("other", picks.NAMES)
def test_a_pick_takes_the_shape_of_its_neighbour_unless_it_has_its_own(name, other):
    chosen = beside(name, other, base=500.0, layout="cos_sin")
    like = load(name if name in LEARNED else other if other in LEARNED else "minilm_l6")
    assert (chosen.rows, chosen.d_model) == like.shape
    # What a table does not depend on is not in its key.
    assert ((chosen.base, chosen.layout) == (500.0, "cos_sin")) == (name == "sinusoid")
    assert chosen.build().shape == like.shape


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 17), (50, 128), (131, 40), (448, 384)])
@pytest.mark.parametrize("name", picks.SCHEME_NAMES)
def test_a_scheme_comes_as_near_to_a_shape_as_it_can_and_says_which(name, shape):
    chosen = picks.pick(name, *shape, base=500.0, layout="cos_sin")
    table = chosen.exact()
    assert table.shape == (chosen.rows, chosen.d_model)
    assert table.dtype == np.float64
    assert chosen.build().dtype == np.float32
    assert shape[0] / 2 < chosen.rows <= shape[0]
    assert chosen.d_model - shape[1] < 16
    assert shape[1] - chosen.d_model < 16
    assert chosen.layout == "interleaved"
    # A pick of its own shape is itself: it is the key of a cache.
    assert picks.pick(name, chosen.rows, chosen.d_model, base=500.0) == chosen
    assert math.prod(chosen.grid or (chosen.rows,)) == chosen.rows
    takes = "base" in SCHEMES[name].parameters and name not in side_by_side.OWN_BASE
    assert chosen.base == (500.0 if takes else 10_000.0)
    other = picks.pick(name, *shape, base=50.0)
    assert (other == chosen) != takes


@pytest.mark.parametrize("name", picks.SCHEME_NAMES)
def test_the_rows_have_the_scores_of_the_scheme(name):
    chosen = beside(name, "rxnmapper")
    places, _, size, options = chosen.arguments
    table = chosen.exact()
    np.testing.assert_allclose(table @ table.T, position_scores(name, places, size, **options)[0], atol=1e-9)
    assert chosen.kind == "scheme"
    assert chosen.scheme is SCHEMES[name]


@pytest.mark.parametrize("name", picks.NAMES)
def test_only_rotations_by_the_position_have_waves(name):
    chosen = picks.pick(name, 12, 16)
    assert (chosen.waves is not None) == (name in WAVED.options)
    if chosen.waves:
        shown = offset_blocks(similarity_waves("cosine", chosen.waves), (0, 12), (0, 12)).mean
        np.testing.assert_allclose(shown, similarity.cosine(chosen.exact()), atol=1e-12)


def test_the_sinusoid_uses_its_base_and_layout():
    table = beside("sinusoid", "rxnmapper", base=100.0, layout="cos_sin").build()
    assert table[3, 5] == pytest.approx(math.cos(3 * 100 ** (-10 / 128)), abs=1e-7)
    assert table[3, 64 + 5] == pytest.approx(math.sin(3 * 100 ** (-10 / 128)), abs=1e-7)
    assert picks.pick("sinusoid", 4, 9).exact().dtype == np.float64


def test_noise_has_the_shape_that_is_asked_for():
    np.testing.assert_array_equal(picks.pick("random", 9, 5).exact(), random_init(9, 5))


def test_only_what_is_trained_counts_as_parameters():
    assert beside("minilm_l6").parameters == 512 * 384
    assert beside("whisper_decoder").parameters == 448 * 384
    assert beside("whisper_encoder").parameters == beside("sinusoid").parameters == 0
    assert beside("whisper_encoder").max_len == 1500
    assert beside("minilm_l6").stored_kib == 768
    assert [beside(name).kind for name in ("whisper_encoder", "me5_small", "random")] == [
        "fixed",
        "learned",
        "random",
    ]
    # RoPE-Mixed learns two numbers for each pair; the other schemes here are formulas.
    learned = {name: beside(name).parameters for name in picks.SCHEME_NAMES}
    assert learned.pop("mixed_rotary") == 384
    assert set(learned.values()) == {0}


@pytest.mark.parametrize("name", ["", "bert", "xpos", "alibi", None])
def test_an_unknown_table_is_refused(name):
    with pytest.raises(ValueError, match="table must be"):
        beside(name)


def test_yarn_needs_pairs_of_different_rates():
    assert picks.undefined(1.0) == ["yarn"]
    assert picks.undefined(1.5) == []


def test_a_table_brought_along_gives_its_shape_to_what_stands_beside_it():
    values = np.arange(24.0, dtype=np.float32).reshape(6, 4)
    own = picks.pick_own(picks.Given("a", values))
    assert (own.name, own.kind, own.rows, own.d_model) == (picks.OWN, "own", 6, 4)
    assert own.build() is values
    assert picks.pick_beside("own", "sinusoid", own=own) is own
    for name in picks.NAMES:
        found = picks.pick_beside(name, "own", own=own)
        assert name in LEARNED or found.rows <= 6
    assert picks.pick_beside("sinusoid", "own", own=own).build().shape == (6, 4)


def test_tables_brought_along_are_told_apart_by_their_digest():
    one, other = (picks.pick_own(picks.Given(name, np.ones((6, 4)))) for name in "ab")
    assert one != other
    assert one == picks.pick_own(picks.Given("a", np.ones((6, 4))))
    assert picks.first_rows(one, 9) is one
    assert picks.first_rows(one, 2).rows == 2
    assert picks.first_rows(one, 2) != picks.first_rows(one, 3)
    with pytest.raises(ValueError, match="table must be"):
        picks.pick_beside("own", "sinusoid")
