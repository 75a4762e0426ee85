"""The nearest phase of a run of positions against all of them, one after another."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posenc.extremes import CLOSE, nearest, orbit


def brute(turns, length, target):
    phases = target[..., np.newaxis] - turns[..., np.newaxis] * np.arange(length)
    return np.abs(phases - np.rint(phases)).min(axis=-1)


@given(
    st.floats(1e-7, 0.499) | st.fractions(0, 0.5, max_denominator=60).map(float),
    st.floats(-1e-4, 1e-4) | st.just(0.0),
    st.integers(1, 2200),
    st.integers(0, 1000),
)
@example(1 / (2 * np.pi), 0.0, 710, 0)  # 710 radians are 113 turns and 6e-5
@example(1 / 7, 1e-9, 2000, 0)
def test_the_nearest_phase_is_that_of_all_positions(turns, nudge, length, seed):
    turns = np.full((1, 1), min(max(turns + nudge, 1e-7), 0.499))
    targets = np.random.default_rng(seed).uniform(-2, 2, (1, 50))
    # Where it matters most: at a phase itself, and just beside it.
    targets[0, :3] = turns[0, 0] * (length - 1), turns[0, 0] * (length // 2) + 1e-6, 0
    found = nearest(orbit(turns, length), targets)
    np.testing.assert_allclose(found, brute(turns, length, targets), rtol=0, atol=1e-11)


def test_rates_of_every_kind_side_by_side():
    turns = np.geomspace(1 / (2 * np.pi), 1e-7, 300)[:, np.newaxis]
    targets = np.random.default_rng(0).uniform(0, 1, (300, 9))
    for length in (1, 2, 7, 44, 333, 2000):
        found = nearest(orbit(turns, length), targets)
        np.testing.assert_allclose(found, brute(turns, length, targets), rtol=0, atol=1e-11)


@pytest.mark.parametrize("length", [5000, 40_000])
def test_close_is_all_that_is_given_up(length):
    turns = np.geomspace(1 / (2 * np.pi), 1e-7, 40)[:, np.newaxis]
    targets = np.random.default_rng(0).uniform(0, 1, (40, 20))
    found, wanted = nearest(orbit(turns, length), targets), brute(turns, length, targets)
    given_up = np.abs(found - wanted) > 1e-10
    assert given_up.any()
    assert (found[given_up] == 0).all()
    assert wanted[given_up].max() <= CLOSE
    assert 1 - np.cos(2 * np.pi * CLOSE) < 1e-6


def test_ten_million_positions_of_rates_near_a_fraction():
    # Phases gather in 7 classes that drift by 1e-9 of a turn each time: only all of them together tell.
    for turns in (1 / 7, 1 / 7 + 1e-10, 1 / 8, 3 / 19 - 1e-11):
        rate, targets = np.full((1, 1), turns), np.linspace(0, 1, 12)[np.newaxis]
        found = nearest(orbit(rate, 10_000_000), targets)
        phases = np.sort(np.mod(turns * np.arange(10_000_000.0), 1))
        phases = np.concatenate([phases[-1:] - 1, phases, phases[:1] + 1])
        after = np.searchsorted(phases, targets[0]).clip(1, len(phases) - 1)
        wanted = np.minimum(np.abs(phases[after] - targets), np.abs(targets - phases[after - 1]))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-9)
