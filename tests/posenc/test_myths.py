"""The evidence on each myth against published numbers, printed facts and scalar loops."""

import io
import itertools
import math
import pickle
import tracemalloc

import numpy as np
import pytest

from posenc import sinusoidal
from posenc.assembly import sizes
from posenc.exports import to_npy
from posenc.myths import DRAWS, FEW, HEAD_DIM, MYTHS, WIDTHS, evidence


def look(name, d_model=512, base=10_000.0, seed=0):
    return MYTHS[name].look(d_model, base, seed)


@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 128])
@pytest.mark.parametrize("name", MYTHS)
def test_every_myth_has_finite_evidence_at_every_width(name, d_model):
    found = look(name, d_model)
    assert all(math.isfinite(value) for value in found.numbers.values())
    for values in (*found.curves.values(), found.made):
        assert np.isfinite(values).all()
    assert all(values.shape == found.x.shape for values in found.curves.values())


def test_the_first_pair_is_the_fast_one():
    found = look("fast_end")
    assert found.numbers["first"] == pytest.approx(2 * math.pi)
    assert round(found.numbers["last"]) == 60_611  # the founding article's width
    assert (np.diff(found.curves["rate"]) < 0).all()


def test_nothing_repeats_at_the_base_or_a_turn_of_it():
    numbers = look("repeats").numbers
    assert numbers["turn"] == 62_832
    assert round(numbers["at_turn"], 2) == -0.07
    assert numbers["highest"] <= 0.23
    by_hand = sum(math.cos(10_000 * 10_000 ** (-2 * i / 512)) for i in range(256)) / 256
    assert numbers["at_base"] == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(("d_model", "rise"), [(512, 44), (128, 12), (64, 6)])
def test_similarity_first_rises_where_it_does(d_model, rise):
    found = look("steady", d_model)
    assert found.numbers["rise"] == rise
    cosine = found.curves["cosine"]
    assert (np.diff(cosine[:rise]) < 0).all()
    assert cosine[rise] > cosine[rise - 1]
    assert found.numbers["rises"] == sum(b > a for a, b in itertools.pairwise(cosine))


@pytest.mark.parametrize("d_model", [6, 7])
def test_the_layouts_agree(d_model):
    found = look("alternate", d_model)
    assert found.numbers["difference"] < 1e-12
    rows = [sum(math.cos(p * 10_000 ** (-2 * i / d_model)) for i in range(3)) for p in range(FEW)]
    for values in found.curves.values():
        np.testing.assert_allclose(values, rows, atol=1e-12)


def test_the_perplexities_are_those_of_press_and_others():
    found = look("extrapolates")
    assert found.x.tolist() == [512, 1012, 1512, 3512]
    assert found.curves["sinusoid"].tolist() == [20.05, 43.54, 76.23, 178.97]
    assert found.curves["alibi"].tolist() == [19.73, 18.73, 18.52, 18.40]


def test_rotary_scores_rise_again_and_are_nothing_on_average():
    found = look("rope_decays")
    ones = [sum(2 * math.cos(k * 10_000 ** (-i / 32)) for i in range(32)) for k in range(FEW)]
    np.testing.assert_allclose(found.curves["ones"], ones, atol=1e-10)
    assert found.numbers["rise"] == 6
    # The mean of DRAWS scores has a standard deviation of √HEAD_DIM/√DRAWS = 0.57.
    assert found.numbers["largest"] < 5 * math.sqrt(HEAD_DIM / DRAWS)
    gaussian = found.curves["gaussian"]
    assert found.numbers["peak"] == max(range(FEW), key=lambda k: gaussian[k])
    assert found.numbers["later"] > 0.9
    assert not np.array_equal(gaussian, look("rope_decays", seed=1).curves["gaussian"])


def test_row_zero_is_as_long_as_the_others():
    numbers = look("row_zero").numbers
    assert (numbers["zeros"], numbers["ones"]) == (256, 256)
    assert [round(numbers[name], 9) for name in ("first", "least", "greatest")] == [16, 16, 16]
    odd = look("row_zero", 5, base=10.0).numbers
    assert odd["least"] == pytest.approx(math.sqrt(2))  # row 0: no sine, two cosines
    assert odd["greatest"] == pytest.approx(math.sqrt(3), abs=0.01)


def test_the_factor_turns_the_ratio_round():
    found = look("scale")
    assert found.numbers["ratio"] == pytest.approx(0.0625, rel=0.02)
    assert found.numbers["scaled"] == pytest.approx(math.sqrt(2), rel=0.02)
    np.testing.assert_allclose(found.curves["as_it_is"], [math.sqrt(2 / width) for width in WIDTHS], rtol=0.1)


def test_concatenating_is_adding_and_wide_sums_keep_the_position():
    found = look("add")
    assert found.numbers["difference"] < 1e-12
    share = found.curves["share"]
    assert (np.diff(share[2:]) >= 0).all()
    assert share[0] < 0.2
    assert found.numbers["share"] > 0.9
    assert look("add", 2048).numbers["share"] == 1.0


@pytest.mark.parametrize(
    "change",
    [{}, {"name": "add"}, {"d_model": 48}, {"d_model": 2048}, {"base": 50.0}, {"seed": 1}],
    ids=lambda change: "-".join(map(str, *change.items())) if change else "nothing",
)
def test_what_is_kept_is_what_is_computed_of_all_that_it_depends_on(change):
    start = {"name": "scale", "d_model": 64, "base": 100.0, "seed": 0}
    evidence(**start)
    asked = start | change
    expected = look(**asked)
    for _ in range(2):
        found = evidence(**asked)
        assert found.numbers == expected.numbers
        np.testing.assert_array_equal(found.made, expected.made)
        np.testing.assert_equal(dict(found.given), dict(expected.given))


@pytest.mark.parametrize("name", MYTHS)
@pytest.mark.parametrize("d_model", [2, 16_384])
@pytest.mark.parametrize("base", [2.0, 1e4, 1e9])
def test_of_the_widest_evidence_little_is_kept(name, d_model, base):
    kept = len(pickle.dumps(evidence(name, d_model, base, 0)))
    assert kept <= 300_000


def test_the_words_that_the_code_reads_are_those_that_were_measured():
    for name in ("scale", "add"):
        found = evidence(name, 96, 1e4, 5)
        words = np.load(io.BytesIO(to_npy(found.given["words.npy"])))
        assert words.shape == found.given["words.npy"].shape
        measured = sizes(words, sinusoidal(len(words), 96, dtype=np.float64))
        expected = evidence("scale", 96, 1e4, 5).numbers
        assert (measured.ratio, measured.scaled_ratio) == (expected["ratio"], expected["scaled"])


@pytest.mark.parametrize("name", MYTHS)
def test_the_largest_width_takes_no_more_than_a_visitor_may(name):
    tracemalloc.start()
    try:
        MYTHS[name].look(16_384, 10_000.0, 0)
        assert tracemalloc.get_traced_memory()[1] < 64e6
    finally:
        tracemalloc.stop()
