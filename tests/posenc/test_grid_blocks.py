"""Blocks of a table over the cells of an image are those of the table made whole."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import grid, rotary
from posenc.blocks import edges, table_blocks
from posenc.grid_blocks import angle_blocks, axial_blocks, form_blocks, form_columns
from posenc.sinusoidal import inv_freq

IMAGE_FORMS = [name for name, form in grid.GRID_FORMS.items() if len(form.axes) == 2]
sides = st.integers(1, 12)


def spans(data, length):
    start = data.draw(st.integers(0, length - 1))
    return start, data.draw(st.integers(start + 1, length))


def by_loops(table, rows, columns, most_rows, most_columns):
    """Mean, least and greatest of each block, a block at a time."""
    down, across = edges(*rows, most_rows), edges(*columns, most_columns)
    found = [
        [[f(table[a:b, c:d]) for c, d in itertools.pairwise(across)] for f in (np.mean, np.min, np.max)]
        for a, b in itertools.pairwise(down)
    ]
    return [np.array([row[k] for row in found]) for k in range(3)]


@given(sides, sides, st.integers(1, 9), st.integers(1, 40), st.integers(1, 10), st.data())
def test_blocks_are_those_of_the_table_made_whole(height, width, d, most_rows, most_columns, data):
    axes = np.array(data.draw(st.lists(st.sampled_from((0, 1)), min_size=d, max_size=d)))
    draw = np.random.default_rng(data.draw(st.integers(0, 99)))
    held = [draw.normal(size=(n, d)) for n in (height, width)]
    table = np.array(
        [[held[axes[j]][(y, x)[axes[j]], j] for j in range(d)] for y in range(height) for x in range(width)]
    )
    rows, columns = spans(data, height * width), spans(data, d)
    made = axial_blocks(
        (height, width),
        axes,
        lambda axis, some: held[axis][:, some],
        rows,
        columns,
        most_rows=most_rows,
        most_columns=most_columns,
    )
    for found, right in zip(
        (made.mean, made.minimum, made.maximum),
        by_loops(table, rows, columns, most_rows, most_columns),
        strict=True,
    ):
        np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", IMAGE_FORMS)
@pytest.mark.parametrize("most", [{}, {"most_rows": 5, "most_columns": 3}])
def test_blocks_of_a_form_are_those_of_its_table(name, most):
    form, shape = grid.GRID_FORMS[name], (5, 7)
    table = form.table(shape, 24, base=300, dtype="float64").reshape(35, 24)
    made = form_blocks(form, shape, 24, (2, 33), (1, 24), base=300, **most)
    right = table_blocks(table, (2, 33), (1, 24), **most)
    for part in ("rows", "columns", "mean", "minimum", "maximum"):
        np.testing.assert_allclose(getattr(made, part), getattr(right, part), rtol=0, atol=1e-12)


def test_a_view_of_single_cells_holds_their_values_to_the_last_bit():
    form = grid.GRID_FORMS["timm"]
    made = form_blocks(form, (3, 4), 8, (0, 12), (0, 8), base=1e4)
    assert made.single
    np.testing.assert_array_equal(made.mean, form.table((3, 4), 8, dtype="float64").reshape(12, 8))


@pytest.mark.parametrize("name", grid.GRID_FORMS)
def test_columns_hold_what_they_are_said_to(name):
    form = grid.GRID_FORMS[name]
    shape = (2, 3, 4)[-len(form.axes) :]
    order = form_columns(form, 32, base=50)
    places = form.coordinates(shape)
    table = form.table(shape, 32, base=50, dtype="float64")
    for cell in np.ndindex(*shape):
        waves = [
            (math.cos if cosine else math.sin)(places[cell][axis] * rate)
            for axis, _, cosine, rate in zip(*order, strict=True)
        ]
        np.testing.assert_allclose(table[cell], waves, rtol=0, atol=1e-13)
    assert (np.diff(order.rate[(order.axis == 1) & ~order.is_cos]) < 0).all()
    assert order.pair[(order.axis == 1) & order.is_cos].tolist() == list(range((order.axis == 1).sum() // 2))


def test_blocks_of_angles_are_those_of_axial_rotary():
    rates = inv_freq(8, base=100)
    right = rotary.axial_angles(grid.grid_cells((4, 6)), [rates, rates]).reshape(24, 8)
    made = angle_blocks((4, 6), rates, (0, 24), (0, 8))
    np.testing.assert_allclose(made.mean, right, rtol=0, atol=1e-12)
    few = angle_blocks((4, 6), rates, (0, 24), (0, 8), most_rows=4, most_columns=2)
    np.testing.assert_allclose(
        few.mean, table_blocks(right, (0, 24), (0, 8), most_rows=4, most_columns=2).mean
    )


def test_a_large_image_costs_little():
    form = grid.GRID_FORMS["mae"]
    tracemalloc.start()
    made = form_blocks(form, (1000, 1000), 2048, (0, 1_000_000), (0, 2048), base=1e4, most_rows=300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert made.mean.shape == (300, 683)
    assert peak < 32 * 2**20


def test_the_widest_table_of_a_small_image_is_not_made():
    tracemalloc.start()
    form_blocks(grid.GRID_FORMS["mae"], (12, 16), 16_384, (0, 192), (0, 16_384), base=1e4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * 192 * 16_384 * 8  # five of them when all columns were measured at once
