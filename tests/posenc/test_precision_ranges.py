"""What grows with the position, against counting one by one, direct evaluation and published numbers."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import posenc
from posenc import precision
from posenc import precision_ranges as ranges
from posenc.parameters import PRECISION, STAGE

precisions = st.sampled_from(PRECISION.options)


@given(st.integers(1, 140_000), precisions)
@example(257, "bfloat16")
@example(258, "bfloat16")
@example(65_520, "float16")
@example(65_521, "float16")
@example(131_073, "float16")
def test_what_falls_together_in_closed_form_is_what_is_counted(n, name):
    counted, found = precision.collisions(n, name), ranges.together(n, name)
    assert (found.distinct, found.first, found.largest) == counted[1:]
    assert found.gap == max(1, precision.spacing([n - 1], name)[0])


def test_ten_million_positions_are_counted_one_by_one():
    counted = precision.collisions(10_000_000, "bfloat16")
    assert ranges.together(10_000_000, "bfloat16")[:3] == counted[1:]
    assert counted.distinct == 2202


def test_published_numbers_of_distinct_positions():
    assert ranges.distinct([512, 4096], "bfloat16").tolist() == [385, 769]
    # All of an image of 256 positions from 65,536 on is at one place, and half of one of 512 at another.
    assert precision.collisions(range(65_536, 65_792), "bfloat16").distinct == 1
    assert precision.collisions(range(65_536, 66_048), "bfloat16").distinct == 2


def test_the_share_that_is_left_falls_from_2_to_the_digits_on():
    lengths, share = ranges.left("bfloat16")
    assert (lengths[0], lengths[-1]) == (1, 10_000_000)
    assert (share[lengths <= 257] == 1).all()
    assert (np.diff(share[lengths > 300]) < 0).all()
    assert share[-1] == 2202 / 10_000_000
    assert (ranges.left("float32")[1] == 1).all()


@given(st.integers(1, 10_000_000), st.integers(1, 60))
def test_what_is_looked_at_is_spread_over_all_of_a_range(size, looks):
    some = ranges.spread(size, looks)
    assert len(some) == min(size, looks)
    assert (some == np.floor(some)).all()
    assert (np.diff(some) > 0).all()
    assert 0 <= some[0] <= size / looks
    assert size - 1 - 2 * size / looks <= some[-1] <= size - 1


@pytest.mark.parametrize("stage", STAGE.options)
@pytest.mark.parametrize("name", PRECISION.options)
def test_a_range_shows_the_worst_of_what_is_in_it(name, stage):
    rates = posenc.inv_freq(16)
    first, worst = ranges.errors(rates, [(name, stage)])[name, stage]
    assert (first[0], first[-1]) == (1, 8_388_608)
    for at in (3, 17, 25, 31):
        all_of_it = precision.worst_error(np.arange(first[at], first[at + 1]), rates, name, stage=stage).max()
        if first[at + 1] - first[at] <= ranges.LOOKS:
            assert worst[at] == all_of_it
        elif np.isfinite(all_of_it):
            assert worst[at] <= all_of_it <= max(4 * worst[at], 1e-14)


def test_float32_is_off_by_hundredths_near_a_million_and_bfloat16_by_all_from_256_on():
    # The published sine errors of float32 lie in their ranges: 1.8e-5, 2.0e-4, 2.3e-3, 5.2e-2.
    cases = ("float32", "chain"), ("bfloat16", "position")
    found = ranges.errors(posenc.inv_freq(128), cases)
    first, worst = found["float32", "chain"]
    for p, error in ((1e3, 1.8e-5), (1e4, 2.0e-4), (1e5, 2.3e-3), (1e6, 5.2e-2)):
        at = np.searchsorted(first, p, side="right") - 1
        assert error / 2 < worst[at] < 4 * error
    first, worst = found["bfloat16", "position"]
    assert worst[first < 256].max() < 1e-12
    assert worst[first == 256] > 0.4
    assert worst[first >= 2048].min() > 1.9


def test_phase_errors_are_the_largest_in_their_decade():
    rates = np.array([1.0, 0.3, 0.01])
    first, worst = ranges.phases(rates, "bfloat16", stage="position")
    assert first.tolist() == [100, 1000, 10_000, 100_000, 1_000_000]
    # Half a gap at most: 2, 32, 256, 2048, 32768 positions.
    for row, half in zip(worst, (2, 32, 256, 2048, 32_768), strict=True):
        np.testing.assert_allclose(row / row[0], rates / rates[0], rtol=1e-9)
        assert 0.7 * half < row[0] <= half
    # In float16 positions end at 65,520: of the third decade some are left, of the others none.
    worst = ranges.phases(rates, "float16")[1]
    assert np.isfinite(worst[:3]).all()
    assert np.isnan(worst[3:]).all()


@pytest.mark.parametrize(("pairs", "most"), [(1, 1), (5, 5), (128, 128), (8192, 128)])
def test_pairs_are_picked_from_the_first_to_the_last(pairs, most):
    picked = ranges.picked(pairs)
    assert len(picked) == len(set(picked.tolist())) == most
    assert (picked[0], picked[-1]) == (0, pairs - 1)


@pytest.mark.parametrize("position", [0, 1024, 9_999_999])
def test_near_a_position_the_waves_are_exact_and_rounded(position):
    found = ranges.near(position, 2, 16, "bfloat16", stage="position", base=500.0)
    assert found.positions[found.start] == position
    rate = 500.0 ** (-4 / 16)
    for p, right, made in zip(found.positions, found.right, found.made, strict=True):
        value = float(precision.rounded([p], "bfloat16")[0])
        assert right == pytest.approx([math.sin(p * rate), math.cos(p * rate)], abs=1e-8)
        assert made == pytest.approx([math.sin(value * rate), math.cos(value * rate)], abs=1e-8)


def test_each_part_of_a_phase_error_is_that_of_one_step():
    places, rates = [1e3, 1e6], posenc.inv_freq(128)
    found = ranges.parts(places, rates, "float32")
    near = rates.astype(np.float32).astype(float)
    for row, p in enumerate(places):
        assert found.positions[row] < 1e-9
        assert found.rates[row] == pytest.approx(np.abs(p * (near - rates)).max())
        products = (p * rates).astype(np.float32).astype(float)
        assert found.products[row] == pytest.approx(np.abs(products - p * rates).max(), rel=1e-6)
    # 16,777,217 is no float32: there the position itself is off by 1.
    assert ranges.parts([2.0**24 + 1], [1.0], "float32").positions == pytest.approx([1])


def test_the_angle_of_gpt_neox_is_computed_again():
    # EleutherAI/gpt-neox#1003 prints 1044.2678, 1045. and 0.7819.
    found = ranges.replay(precision.ACCIDENTS["gpt_neox"], 1857, 1)
    assert f"{found.exact:.4f}" == "1044.2678"
    assert (found.made, found.alone) == (1045, 1044)
    assert f"{found.largest:.4f}" == "0.7819"
    assert (found.position, found.pair) == (2008, 1)
    half = np.float16(10_000 ** (-2 / 32))
    assert found.here == pytest.approx(
        abs(float(np.cos(np.float16(1857) * half)) - math.cos(found.exact)), abs=4e-4
    )
