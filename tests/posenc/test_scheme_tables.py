"""Schemes as tables: their rows against the scores that all schemes are compared by, and a scalar loop."""

from __future__ import annotations

import math

import numpy as np
import pytest

from posenc import offsets, side_by_side, similarity
from posenc.registry import SCHEMES, position_scores
from posenc.scheme_tables import NO_TABLE, TABLED, WAVED, scheme_table, scheme_waves


def arguments(name: str, n: int, d_model: int = 48) -> side_by_side.Arguments:
    return side_by_side.arguments(name, side_by_side.Setting(n, d_model, 1, 0, n, 10_000.0, 0))


def test_every_scheme_has_a_table_or_a_reason():
    assert {*TABLED.options} | {*NO_TABLE} == {*SCHEMES}
    assert not {*TABLED.options} & {*NO_TABLE}
    assert {name for name, reason in NO_TABLE.items() if reason == "two_scales"} == {"xpos"}
    assert all(SCHEMES[name].kind == "bias" for name in {*NO_TABLE} - {"xpos"})


@pytest.mark.parametrize("n", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("name", TABLED.options)
def test_the_dot_products_of_the_rows_are_the_scores(name, n):
    places, _, size, options = arguments(name, n)
    table = scheme_table(name, places, size, **options)
    assert table.shape == (math.prod(places) if isinstance(places, tuple) else places, size)
    np.testing.assert_allclose(
        table @ table.T, position_scores(name, places, size, **options)[0], rtol=1e-12, atol=1e-11
    )


def test_a_rotary_row_is_a_vector_of_ones_turned():
    table = scheme_table("rotary", [0.0, 7.0], 8, base=100.0)
    np.testing.assert_array_equal(table[0], 1)
    for i in range(4):
        angle = 7 / 100 ** (2 * i / 8)
        assert table[1, i] == pytest.approx(math.cos(angle) - math.sin(angle), abs=1e-12)
        assert table[1, i + 4] == pytest.approx(math.cos(angle) + math.sin(angle), abs=1e-12)


def test_the_attention_factor_of_yarn_lengthens_every_row():
    rows = scheme_table("yarn", 5, 64, factor=4.0)
    lengths = np.sqrt((rows**2).sum(axis=1))
    np.testing.assert_allclose(lengths, (0.1 * math.log(4) + 1) * math.sqrt(64), rtol=1e-12)


@pytest.mark.parametrize("measure", similarity.MEASURE.options)
@pytest.mark.parametrize("name", WAVED.options)
def test_waves_are_the_similarity_of_the_rows(name, measure):
    _, _, size, options = arguments(name, 40)
    function = offsets.similarity_waves(measure, scheme_waves(name, size, **options))
    shown = offsets.offset_blocks(function, (0, 40), (0, 40)).mean
    expected = similarity.MEASURES[measure](scheme_table(name, 40, size, **options), None)
    # A root takes the rounding of a small distance to its root.
    np.testing.assert_allclose(shown, expected, atol=1e-6 if measure == "distance" else 1e-10)
    far = offsets.offset_blocks(function, (9_999_990, 10_000_000), (3, 8)).mean
    rows = scheme_table(name, np.array([9_999_990.0, 3.0]), size, **options)
    assert far[0, 0] == pytest.approx(similarity.MEASURES[measure](rows, None)[0, 1], abs=1e-5)


@pytest.mark.parametrize("name", ["xpos", "alibi", "swin", "sinus", None])
def test_what_has_no_table_is_refused(name):
    with pytest.raises(ValueError, match=r"scheme must be .sinusoidal. or"):
        scheme_table(name, 4, 8)


@pytest.mark.parametrize("name", ["sinusoidal", "grid", "mixed_rotary", "xpos"])
def test_what_does_not_depend_on_the_offset_of_two_numbers_has_no_waves(name):
    with pytest.raises(ValueError, match=r"scheme must be .rotary. or"):
        scheme_waves(name, 8)


def test_an_unknown_measure_is_refused():
    with pytest.raises(ValueError, match=r"measure must be .cosine."):
        offsets.similarity_waves("angle", scheme_waves("rotary", 8))
