"""Measures on which schemes are compared, against loops over pairs and sums by hand."""

import math

import numpy as np
import pytest

from posenc import side_by_side
from posenc.grid import grid_cells
from posenc.registry import SCHEMES, position_scores
from posenc.side_by_side import Cost, Setting, arguments, cost, measure, scaled, shape

SETTING = Setting(12, 48, 3, 1, 100, 10_000.0, 0)


@pytest.mark.parametrize("name", SCHEMES)
def test_the_spread_is_that_of_a_loop_over_pairs(name):
    found = measure(name, SETTING)
    axes = SCHEMES[name].axes
    n = len(found.scores)
    grid = shape(axes, SETTING.n)
    cells = grid_cells(grid).reshape(n, axes) if axes > 1 else np.arange(n)[:, np.newaxis]
    together: dict[tuple[float, ...], list[float]] = {}
    for i in range(n):
        for j in range(n):
            together.setdefault(tuple(cells[i] - cells[j]), []).append(found.scores[i, j])
    widest = max(max(same) - min(same) for same in together.values())
    whole = found.greatest - found.least
    assert found.spread == pytest.approx(widest / whole if whole else 0.0, abs=1e-9)
    # What the registry says of it is what is measured; FIRE looks at positions past 512 only.
    assert (found.spread == 0) == (SCHEMES[name].relative or name == "fire")


@pytest.mark.parametrize("name", SCHEMES)
@pytest.mark.parametrize("n", [1, 65, side_by_side.MOST_POSITIONS])
def test_every_scheme_has_as_many_positions_as_a_page_asks_for(name, n):
    found = measure(name, SETTING._replace(n=n, max_len=512))
    assert found.curve.shape == (n,)
    assert np.isfinite(found.curve).all()


def test_a_curve_is_the_mean_over_keys_of_the_past():
    found = measure("learned", SETTING)
    for k in range(SETTING.n):
        pairs = [found.scores[i, i - k] for i in range(k, SETTING.n)]
        assert found.curve[k] == pytest.approx(sum(pairs) / len(pairs))
    up = [k for k in range(1, SETTING.n) if found.curve[k] > found.curve[k - 1]]
    assert found.rises == tuple(up)


def test_a_curve_of_a_grid_runs_along_a_row():
    found = measure("grid", SETTING)  # half of the columns are of x, the others stay as they are
    rates = 10_000.0 ** (-np.arange(12) / 12)
    expected = [12 + sum(math.cos(k * rate) for rate in rates) for k in range(12)]
    np.testing.assert_allclose(found.curve, expected)


@pytest.mark.parametrize(
    ("axes", "n", "expected"),
    [
        (1, 7, (7,)),
        (2, 128, (8, 16)),
        (2, 1, (1, 1)),
        (2, 50, (5, 10)),
        (3, 50, (2, 3, 8)),
        (3, 1, (1, 1, 1)),
    ],
)
def test_a_grid_has_about_as_many_cells(axes, n, expected):
    assert shape(axes, n) == expected


def test_costs_are_counted_by_hand():
    # Width 48, 3 heads of 16 features, 12 keys: 8 pairs a head, 4 products and 2 sums each, query and key.
    assert cost("rotary", SETTING) == Cost("turn", 2 * 3 * 8 * 4, 2 * 3 * 8 * 2)
    assert cost("sinusoidal", SETTING) == Cost("input", 0, 48)
    assert cost("alibi", SETTING) == Cost("bias", 0, 36)
    assert cost("deberta", SETTING) == Cost("rows", 0, 72)
    assert cost("none", SETTING) == Cost("nothing", 0, 0)


def test_changes_start_at_zero_and_the_largest_counts_as_one():
    np.testing.assert_array_equal(scaled(np.array([5.0, 3.0, 1.0]), 5.0, "change"), [0, -0.5, -1])
    np.testing.assert_array_equal(scaled(np.array([5.0, 5.0 - 1e-15]), 5.0, "change"), [0, 0])
    np.testing.assert_array_equal(scaled(np.array([5.0, 3.0]), 5.0, "own"), [5, 3])


def test_widths_are_whole_pairs_and_a_base_of_its_own_stays():
    odd = SETTING._replace(d_model=51, n_heads=2)
    assert arguments("sinusoidal", odd).size == 51
    assert arguments("rotary", odd).size == 24
    assert arguments("multimodal_rotary", odd).size == 16
    assert arguments("grid", odd).size == 48
    assert "base" not in arguments("llama3", odd).options
    assert side_by_side.undefined(["alibi", "yarn"], 1.0) == ["yarn"]
    assert side_by_side.undefined(["alibi", "yarn"], 2.0) == []


def test_one_position_has_nothing_to_compare():
    found = measure("alibi", SETTING._replace(n=1))
    assert math.isnan(found.spread)
    assert found.rises == ()


@pytest.mark.parametrize("name", ["sinusoidal", "learned", "rotary", "alibi", "t5", "fire", "grid"])
@pytest.mark.parametrize(
    "change",
    [{}, {"n": 9}, {"d_model": 24}, {"n_heads": 6}, {"head": 2}, {"max_len": 50}, {"base": 7.0}, {"seed": 3}],
    ids=lambda change: next(iter(change), "nothing"),
)
def test_what_is_kept_is_what_is_computed_of_all_that_it_depends_on(name, change):
    measure(name, SETTING)
    setting = SETTING._replace(**change)
    places, _, size, options = arguments(name, setting)
    scores = position_scores(name, places, size, **options)
    for _ in range(2):
        found = measure(name, setting)
        head = setting.head if SCHEMES[name].kind == "bias" else 0
        np.testing.assert_array_equal(found.scores, scores[head])
        assert not found.scores.flags.writeable
        assert not found.curve.flags.writeable
        assert found.scores.base is None  # or the scores of all heads would be kept with it


def test_what_a_bias_does_not_depend_on_is_not_measured_again():
    assert measure("alibi", SETTING) is measure("alibi", SETTING._replace(d_model=64, base=3.0, seed=9))
