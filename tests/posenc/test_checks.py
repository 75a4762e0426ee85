"""The properties of the right table; each known mistake loses exactly those that it is said to lose."""

import numpy as np
import pytest

import posenc
from posenc import checks
from posenc.mistakes import INVARIANTS, MISTAKES
from tests.posenc import paper


def paper_table(rows, d_model, base):
    return np.array([paper.row(p, d_model, base=base) for p in range(rows)])


@pytest.mark.parametrize(
    ("rows", "d_model", "base"), [(50, 512, 1e4), (20, 8, 50.0), (64, 64, 1e6), (2, 4, 1e4)]
)
def test_the_right_table_keeps_every_property(rows, d_model, base):
    found = checks.deviations(paper_table(rows, d_model, base), base)
    assert tuple(found) == INVARIANTS
    assert max(found.values()) < 1e-11


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize(("rows", "d_model", "base"), [(50, 512, 1e4), (20, 8, 50.0), (64, 64, 1e6)])
def test_each_mistake_loses_what_it_is_said_to_lose_and_nothing_else(mistake, rows, d_model, base):
    found = checks.deviations(mistake.build(rows, d_model, base), base)
    assert {name for name, value in found.items() if value > 1e-6} == set(mistake.breaks)


def test_row_norms_are_lengths_in_float64():
    np.testing.assert_allclose(checks.row_norms(np.float16([[3, 4], [0, 0]])), [5, 0])
    assert checks.expected_norm(512) == 16


def test_row_norm_deviation_is_the_worst_row():
    table = paper_table(5, 8, 1e4)
    table[3] *= 1.5
    assert checks.deviations(table, 1e4)["row_norm"] == pytest.approx(1.0)  # from √4 to 3


def test_the_origin_is_zeros_and_ones():
    for column, value in ((2, 0.25), (3, 0.75)):  # a sine that is not 0, a cosine that is not 1
        table = paper_table(5, 8, 1e4)
        table[0, column] = value
        assert checks.deviations(table, 1e4)["origin"] == 0.25


def test_angles_are_compared_across_the_half_turn():
    table = paper_table(5, 8, 1e4)[3:]  # the first pair's sine and cosine leave 3 rad for 4 rad, −2.28
    assert checks.deviations(table, 1e4)["wavelengths"] < 1e-12


def test_wavelengths_end_at_a_turn_of_the_base():
    assert checks.wavelength_limit(10_000) == pytest.approx(62_831.853)


@pytest.mark.parametrize(("d_model", "width"), [(1, 4), (2, 4), (5, 4), (7, 6), (512, 512)])
def test_the_width_that_shows_every_property_has_two_pairs(d_model, width):
    assert checks.even_width(d_model) == width


def test_offset_deviation_by_hand():
    # E·Eᵀ of these rows is diag(1, 4) with 0 beside it: offset 0 spreads from 1 to 4.
    assert checks.offset_deviation(np.diag([1.0, 2.0])) == pytest.approx(1.5)


def test_still_columns_are_the_112_of_the_founding_size():
    assert checks.still_columns(50, 512, base=10_000.0) == 112
    assert checks.still_columns(1, 512, base=10_000.0) == 512


@pytest.mark.parametrize(
    ("rows", "d_model", "base"), [(50, 128, 1e4), (2, 7, 1e9), (600, 64, 1e6), (90, 1, 1.0)]
)
@pytest.mark.parametrize("tolerance", [1e-6, 0.01, 0.3, 0.5])
def test_still_columns_are_those_of_the_table(rows, d_model, base, tolerance):
    spread = np.ptp(paper_table(rows, d_model, base), axis=0)
    found = checks.still_columns(rows, d_model, base=base, tolerance=tolerance)
    assert found == np.count_nonzero(spread < tolerance)


def test_still_columns_of_a_wide_table_are_counted_to_its_end():
    still = np.ptp(posenc.sinusoidal(5, 4109, dtype="float64"), axis=0) < 0.01
    assert still[-1]
    assert checks.still_columns(5, 4109, base=10_000.0) == np.count_nonzero(still)


@pytest.mark.parametrize(("rows", "rate"), [(3, 1.0), (2, 0.0999), (2, 0.1001), (9, 0.1), (9, 0.05)])
def test_a_still_column_is_one_at_the_limit(rows, rate):
    base = rate**-2.0  # of four columns the second pair has this rate
    spread = np.ptp(paper_table(rows, 4, base), axis=0)
    assert checks.still_columns(rows, 4, base=base, tolerance=0.1) == np.count_nonzero(spread < 0.1)


def test_largest_difference_looks_at_every_array_and_sign():
    zero = np.zeros((2, 2))
    assert checks.largest_difference(zero, zero + 1, zero - 3) == 3
    assert checks.largest_difference(np.uint8([1]), np.uint8([2])) == 1  # no wrap-around
