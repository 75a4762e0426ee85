"""A resized table beside the formula: against the definitions, a cell at a time, and published cases."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from posenc import grid, resizing


def task(values="sinusoid", old=(6, 9), new=(9, 12), d_model=16, **more):
    rest = {"base": 100.0, "method": "bicubic", "antialias": False, "class_token": True} | more
    return resizing.Task(values, old, new, d_model, **rest)


def by_formula(old, new, d_model, base, cell):
    """The code in MAE's order of one new cell, where it lies in the old grid."""
    y, x = ((o + 0.5) * n / m - 0.5 for o, n, m in zip(cell, old, new, strict=True))
    rates = [base ** (-4 * i / d_model) for i in range(d_model // 4)]
    return [wave(c * rate) for c in (x, y) for wave in (math.sin, math.cos) for rate in rates]


def test_the_formula_is_that_of_the_places_that_are_read():
    direct = task(old=(3, 5), new=(4, 4), d_model=8).direct
    for cell in np.ndindex(4, 4):
        np.testing.assert_allclose(direct[cell], by_formula((3, 5), (4, 4), 8, 100.0, cell), atol=1e-14)


@pytest.mark.parametrize("class_token", [False, True])
@pytest.mark.parametrize("values", resizing.VALUES.options)
def test_the_class_token_stands_first_and_is_copied(values, class_token):
    asked = task(values, class_token=class_token)
    found = resizing.resized(asked)
    assert found.given.shape == (54 + class_token, 16)
    assert found.table.shape == (108 + class_token, 16)
    assert found.class_change == 0
    if class_token:
        np.testing.assert_array_equal(found.table[0], found.given[0])
        assert (found.given[0] == 0).all() == (values == "sinusoid")
    np.testing.assert_array_equal(found.before.reshape(54, 16), found.given[class_token:])
    np.testing.assert_array_equal(found.after.reshape(108, 16), found.table[class_token:])
    if values == "sinusoid":
        table = grid.GRID_FORMS["mae"].table((6, 9), 16, base=100.0, dtype="float64")
        np.testing.assert_array_equal(found.before, table)


@pytest.mark.parametrize(
    ("method", "antialias"), list(itertools.product(("bicubic", "bilinear"), (False, True)))
)
def test_differences_are_measured_by_the_definition(method, antialias):
    asked = task(old=(4, 5), new=(6, 3), d_model=8, method=method, antialias=antialias)
    found = resizing.resized(asked)
    seen = resizing.compared(asked, found)
    direct = np.array([[by_formula((4, 5), (6, 3), 8, 100.0, (y, x)) for x in range(3)] for y in range(6)])
    gap = found.after - direct
    for cell in np.ndindex(6, 3):
        assert seen.error[cell] == pytest.approx(math.sqrt(sum(gap[cell] ** 2) / 8), abs=1e-13)
    for pair, wavelength in enumerate(seen.wavelengths):
        assert wavelength == pytest.approx(2 * math.pi * 100.0 ** (pair / 2))
        columns = [pair + 2 * block for block in range(4)]
        assert seen.by_wave[method][pair] == pytest.approx(
            math.sqrt((gap[..., columns] ** 2).mean()), abs=1e-13
        )
    other = {"bicubic": "bilinear", "bilinear": "bicubic"}[method]
    again = task(old=(4, 5), new=(6, 3), d_model=8, method=other, antialias=antialias)
    np.testing.assert_allclose(
        seen.by_wave[other], resizing.compared(again, resizing.resized(again)).by_wave[other], atol=1e-14
    )


def test_a_grid_of_the_same_size_stays_what_it_is():
    asked = task(new=(6, 9))
    found = resizing.resized(asked)
    np.testing.assert_allclose(found.table, found.given, rtol=0, atol=1e-15)
    assert resizing.compared(asked, found).error.max() < 1e-14


def test_fast_waves_lose_more_than_slow_ones_and_noise_more_than_either():
    asked = task(old=(12, 16), new=(18, 24), d_model=64, base=1e4)
    found = resizing.resized(asked)
    for error in resizing.compared(asked, found).by_wave.values():
        assert (np.diff(error) < 0).all()
    before, after = found.rms
    assert before == pytest.approx(math.sqrt(0.5))
    assert abs(after / before - 1) < 0.01
    noise = resizing.resized(task("random", old=(12, 16), new=(18, 24), d_model=64))
    assert noise.rms[0] == pytest.approx(0.02, rel=0.02)
    assert noise.rms[1] < 0.9 * noise.rms[0]


def test_a_ratio_in_place_of_the_size_loses_a_cell():
    """facebookresearch/dinov2#378 lists the sizes below 200 at which it does, for grids of 14 and of 37."""
    lost = {14: (61, 115, 122), 37: (39, 43, 78, 86, 115, 123)}
    for old, sizes in lost.items():
        assert all(resizing.by_ratio(old, new) == new - 1 for new in sizes)
    assert all(resizing.by_ratio(old, new) == new - 1 for old, new in resizing.LOST)
    assert resizing.by_ratio(14, 28) == 28


def test_a_guess_from_the_rows_is_refused_where_there_is_no_square():
    assert resizing.guess(197).square == (14, 1)
    assert resizing.guess(36).square == (6, 0)
    refused = resizing.guess(193)
    assert refused.square is None
    assert "193" in refused.refusal


def test_tables_stay_small():
    width = resizing.kept_width(16_384, (256, 256), (256, 256))
    assert width == 8
    assert resizing.kept_width(128, (12, 16), (18, 24)) == 128
    assert resizing.kept_width(1024, (10, 10), (64, 64)) == 128
    tracemalloc.start()
    asked = task(old=(256, 255), new=(256, 256), d_model=width)
    resizing.compared(asked, resizing.resized(asked))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 * 2**20


@pytest.mark.parametrize(("cells", "wanted"), [(1, 1), (12, 18), (200, 256)])
def test_half_as_many_cells_again_are_wanted(cells, wanted):
    assert resizing.target("new_height", cells).default == wanted
    assert resizing.target("new_height", cells).name == "new_height"
