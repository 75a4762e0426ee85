"""The wrong tables: each is the known wrong one, and breaks exactly what it is said to break."""

import math

import numpy as np
import pytest

import posenc
from posenc.mistakes import INVARIANTS, MISTAKES
from tests.posenc import paper

N = 50


def rates_of(table):
    """The rate of each pair, read from the angle of position 1."""
    return np.arctan2(table[1, 0::2], table[1, 1::2])


def broken(table, base):
    """Which of the laws of the right table this one breaks, each measured by itself."""
    d_model = table.shape[1]
    radii = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
    norms = np.linalg.norm(table, axis=1)
    gram = table @ table.T
    spread = max(np.ptp(gram.diagonal(offset)) for offset in range(N))
    # A pair turns as fast as its angle grows from one position to the next.
    turned = table[:-1, 1::2] * table[1:, 0::2] - table[:-1, 0::2] * table[1:, 1::2]
    want = np.sin(paper.rates(d_model, base, 0))
    return {
        "origin": not np.allclose(table[0], [0, 1] * (d_model // 2), atol=1e-9),
        "pair_radius": not np.allclose(radii, 1, atol=1e-9),
        "row_norm": not np.allclose(norms, math.sqrt(d_model / 2), atol=1e-9),
        "offset_only": not spread < 1e-9,
        "wavelengths": not np.allclose(np.abs(turned), np.abs(want), atol=1e-9),
    }


def test_the_right_table_breaks_nothing():
    for d_model in (4, 128, 512):
        assert not any(broken(posenc.sinusoidal(N, d_model, dtype=np.float64), 1e4).values())


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("d_model", [4, 16, 128, 512])
def test_each_mistake_breaks_what_it_says_and_nothing_else(name, d_model):
    mistake = MISTAKES[name]
    for base in (10_000.0, 500.0):
        found = broken(mistake.build(N, d_model, base), base)
        assert tuple(found) == INVARIANTS
        assert {law for law, is_broken in found.items() if is_broken} == set(mistake.breaks)


@pytest.mark.parametrize("name", MISTAKES)
def test_each_mistake_is_told_apart_and_sourced(name):
    mistake = MISTAKES[name]
    assert mistake.name == name
    assert mistake.source.startswith("https://")
    assert mistake.formula_latex.count("{") == mistake.formula_latex.count("}")
    right = posenc.sinusoidal(N, 16, dtype=np.float64)
    others = [right, *(other.build(N, 16) for other in MISTAKES.values() if other is not mistake)]
    assert all(np.abs(mistake.build(N, 16) - other).max() > 0.1 for other in others)


def test_the_values_of_the_bug_reports():
    raw = MISTAKES["raw_column"].build(2, 4)
    np.testing.assert_allclose(np.sin([1, 1e-4]), raw[1, 0::2], rtol=1e-14)
    np.testing.assert_allclose(np.cos([0.01, 1e-6]), raw[1, 1::2], rtol=1e-14)
    assert raw[1, 0] ** 2 + raw[1, 1] ** 2 == pytest.approx(1.708, abs=5e-4)
    norms = np.sum(MISTAKES["raw_column"].build(50, 512) ** 2, axis=1)
    assert norms.min() == pytest.approx(253.3, abs=0.05)
    assert norms.max() == pytest.approx(259.3, abs=0.05)

    assert rates_of(MISTAKES["integer_division"].build(2, 8)).tolist() == [1] * 4

    floored = rates_of(MISTAKES["floored_log"].build(2, 128))
    np.testing.assert_allclose(floored[:3], [1, 0.135335, 0.018316], rtol=0, atol=6e-7)
    assert floored[63] == pytest.approx(math.exp(-126), rel=1e-9)

    # −ln(10000)/4/2 = −1.15, whose floor is −2.
    assert rates_of(MISTAKES["floored_log"].build(2, 4))[1] == pytest.approx(math.exp(-4), rel=1e-12)

    half = rates_of(MISTAKES["half_minus_one"].build(2, 8))
    np.testing.assert_allclose(half, [1, 0.046416, 0.002154, 0.0001], rtol=0, atol=6e-7)

    np.testing.assert_allclose(
        MISTAKES["swapped"].build(2, 4)[1], [0.5403, 0.8415, 1, 0.01], rtol=0, atol=6e-5
    )

    np.testing.assert_array_equal(
        MISTAKES["late_start"].build(3, 6), MISTAKES["late_start"].build([0, 1, 2], 6)
    )
    np.testing.assert_allclose(MISTAKES["late_start"].build(1, 4)[0], paper.row(2, 4), rtol=1e-14)


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("d_model", [1, 2, 3, 7])
def test_every_width_gives_finite_rows_of_that_width(name, d_model):
    table = MISTAKES[name].build(np.array([-3.5, 0, 200], np.float16), d_model, 1)
    assert table.shape == (3, d_model)
    assert np.isfinite(table).all()
    assert table.dtype == np.float64


def test_arguments_are_checked_as_for_the_right_table():
    for bad in ((0, 4, 1e4), (4, 0, 1e4), (4, 4, 0.5)):
        with pytest.raises(ValueError, match=" must be "):
            MISTAKES["swapped"].build(*bad)
