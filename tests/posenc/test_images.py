"""The cells of an image against scalar loops, the tables and rotations themselves, and a reported bug."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import grid, images, rotary

shapes = st.tuples(st.integers(1, 8), st.integers(1, 8))


def cosine(kind, offset, shape, d_model, base, degrees=0):
    """Σ cos(k·Δ)/m, a wave at a time."""
    dy, dx = offset
    if kind == "flat":
        steps = dy * shape[1] + dx
        waves = [math.cos(steps * base ** (-2 * i / d_model)) for i in range(d_model // 2)]
    else:
        c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        rates = [base ** (-4 * i / d_model) for i in range(d_model // 4)]
        waves = [math.cos(r * (c * dy + s * dx)) for r in rates]
        waves += [math.cos(r * (c * dx - s * dy)) for r in rates]
    return sum(waves) / len(waves)


@pytest.mark.parametrize(
    ("d_model", "width"), [(1, 4), (2, 4), (3, 4), (4, 4), (7, 4), (8, 8), (130, 128), (16_384, 16_384)]
)
def test_the_width_is_the_next_one_that_both_axes_can_share(d_model, width):
    assert images.whole_width(d_model) == width


@given(shapes, st.sampled_from(images.KINDS), st.integers(0, 90), st.floats(1, 1e5))
def test_neighbours_are_as_alike_as_their_waves_say(shape, kind, degrees, base):
    vectors = images.vectors(kind, shape, 16, base=base, turn=degrees)
    found = images.neighbours(vectors, shape)
    height, width = shape
    turned = degrees if kind == "mixed" else 0
    expected = {
        "right": (0, 1) if width > 1 else None,
        "below": (1, 0) if height > 1 else None,
        "corner": (1, 1) if height > 1 and width > 1 else None,
        "ends": (0, width - 1) if width > 1 else None,
        "wrap": (1, 1 - width) if height > 1 else None,
    }
    assert tuple(found) == images.OFFSETS == tuple(expected)
    for name, offset in expected.items():
        if offset is None:
            assert math.isnan(found[name])
        else:
            assert found[name] == pytest.approx(cosine(kind, offset, shape, 16, base, turned), abs=1e-12)


def test_a_flat_count_makes_the_ends_of_two_rows_neighbours():
    near = images.neighbours(images.vectors("flat", (9, 16), 64, base=1e4), (9, 16))
    assert near["wrap"] == pytest.approx(near["right"], abs=1e-12)
    assert near["below"] < near["right"]


@pytest.mark.parametrize("name", grid.GRID_FORMS)
def test_tiles_are_the_columns_of_the_table(name):
    """Read from the table itself: which axis a column depends on, and what it holds at the origin."""
    form = grid.GRID_FORMS[name]
    shape = (3, 4, 5)[-len(form.axes) :]
    table = form.table(shape, 16, dtype="float64")
    row = images.tiles(name)
    assert len(row) == 16
    for j, (letter, is_cos, pair) in enumerate(row):
        moving = [
            axis for axis in range(len(shape)) if np.abs(np.diff(table[..., j], axis=axis)).max() > 1e-12
        ]
        assert moving == ["tyx"[-len(shape) :].index(letter)]
        if not form.scale:
            assert table[(0,) * len(shape)][j] == is_cos
        others = [k for k, other in enumerate(row) if other[:2] == (letter, is_cos)]
        assert others.index(j) == pair


@given(shapes, st.sampled_from(tuple(images.IMAGE_FORMS)), st.floats(1, 1e4))
def test_rates_per_cell_turn_the_columns_from_cell_to_cell(shape, name, base):
    form, order = images.IMAGE_FORMS[name], [tile for tile in images.tiles(name)]
    rates = images.rates_per_cell(name, shape, 16, base=base)
    places, table = form.coordinates(shape), form.table(shape, 16, base=base, dtype="float64")
    for j, (letter, is_cos, _) in enumerate(order):
        axis = "yx".index(letter)
        here = np.arange(shape[axis]) * rates[j] + (places[0, 0, axis] * base_rate(name, j, base))
        along = table[:, 0, j] if axis == 0 else table[0, :, j]
        wave = np.cos if is_cos else np.sin
        np.testing.assert_allclose(along, wave(here), rtol=0, atol=1e-9)


def base_rate(name, j, base):
    """The rate of a column per unit of its coordinate, at width 16."""
    pair = images.tiles(name)[j].pair
    return base ** (-pair / (3 if name == "big_vision" else 4))


def test_the_order_changes_the_table_and_not_the_similarity():
    found = images.orders((9, 16), 64, base=1e4)
    assert found["mae"] == (0, 0)
    assert [name for name in found if images.besides(name) != "order"] == ["big_vision", "detr"]
    for name in ("aimv2", "timm", "positional_encodings"):
        assert found[name].table > 1
        assert found[name].similarity < 1e-13
    for name in ("big_vision", "detr"):
        assert found[name].similarity > 1e-3


def test_orders_are_compared_over_all_pairs_of_a_small_grid():
    tables = {
        name: form.table((3, 4), 8, base=50, dtype="float64").reshape(12, 8)
        for name, form in images.IMAGE_FORMS.items()
    }
    found = images.orders((3, 4), 8, base=50)
    for name, table in tables.items():
        worst = max(
            abs(float(table[p] @ table[q] - tables["mae"][p] @ tables["mae"][q])) / 4
            for p in range(12)
            for q in range(12)
        )
        assert found[name].similarity == pytest.approx(worst, abs=1e-12)
        assert found[name].table == np.abs(table - tables["mae"]).max()


@given(shapes)
def test_the_swap_is_measured_on_the_table_that_is_misread(shape):
    height, width = shape
    vectors = images.vectors("axial", shape, 8, base=100)
    found = images.swap(vectors, shape)
    # Made for W × H cells with y first, and read as if it were for H × W cells with x first.
    other = grid.GRID_FORMS["aimv2"].table((width, height), 8, base=100, dtype="float64")
    given = other.reshape(height, width, 8)
    right = grid.GRID_FORMS["mae"].table(shape, 8, base=100, dtype="float64")
    assert found.kept == sum(np.array_equal(given[cell], right[cell]) for cell in np.ndindex(shape))
    for name, axis in (("right", 1), ("below", 0)):
        for table, mean in zip((right, given), getattr(found, name), strict=True):
            first, second = (np.delete(table, cut, axis=axis) for cut in (-1, 0))
            if first.size:
                assert mean == pytest.approx(float((first * second).sum(axis=2).mean() / 4), abs=1e-12)
            else:
                assert math.isnan(mean)
    cell = (height - 1, width // 2)
    np.testing.assert_allclose(
        images.misread_similarity(vectors, shape, cell), given @ given[cell] / 4, rtol=0, atol=1e-12
    )


def test_the_published_example_of_the_swap():
    """huggingface/transformers#41380: on 3 × 4 cells the first four get x = 0, 0, 0, 1."""
    found = images.swap(images.vectors("axial", (3, 4), 8, base=1e4), (3, 4))
    assert found.cells[0, :, 1].tolist() == [0, 0, 0, 1]
    assert not found.square
    assert found.last == (2, 3)
    assert images.swap(images.vectors("axial", (4, 4), 8, base=1e4), (4, 4)).square


def test_a_square_swap_keeps_every_likeness():
    vectors = images.vectors("axial", (7, 7), 32, base=1e4)
    found = images.swap(vectors, (7, 7))
    assert found.kept == 7
    assert found.right == pytest.approx(found.below)
    np.testing.assert_allclose(
        images.misread_similarity(vectors, (7, 7), (2, 5)), grid.cell_similarity(vectors, (7, 7), (2, 5))
    )


def test_scores_are_those_of_the_rotated_vectors():
    shape, cell = (4, 6), (3, 1)
    found = images.rotary_scores(shape, cell, 16, base=50, seed=3)
    q, k = np.random.default_rng(3).normal(size=(2, 16))
    rates = posenc.inv_freq(8, base=50)

    def score(query, key, at, other):
        angles = rotary.axial_angles([at, other], [rates, rates])
        first, second = rotary.turn(np.stack([query, key]), angles)
        return first @ second

    for other in np.ndindex(shape):
        assert found.drawn[other] == pytest.approx(score(q, k, cell, other), abs=1e-12)
        assert found.ones[other] == pytest.approx(score(np.ones(16), np.ones(16), cell, other), abs=1e-12)
    assert found.score == pytest.approx(found.drawn[0, 0], abs=1e-12)
    assert found.moved == pytest.approx(found.score, abs=1e-11)
    assert found.ones.max() == found.ones[cell] == 16
    vectors = images.vectors("axial", shape, 16, base=50)
    np.testing.assert_allclose(found.ones, 16 * grid.cell_similarity(vectors, shape, cell), atol=1e-12)


def test_the_pairs_of_axial_rotary_are_the_same_rates_twice():
    pairs = images.rotary_pairs(12, base=100)
    assert pairs.by_x.tolist() == [False] * 3 + [True] * 3
    np.testing.assert_allclose(pairs.rates, [100 ** (-2 * i / 6) for i in range(3)] * 2)
    np.testing.assert_array_equal(pairs.one_axis, pairs.rates[:3])


def test_colours_reach_from_the_least_cosine_to_one():
    here, there = np.array([[0.4, 1.0]]), np.array([[-0.1, 1.0]])
    assert images.scale(here, here) == {"limit": 1.0, "low": 0.4, "sequential": True}
    assert images.scale(here, there)["low"] == -0.1
    assert images.scale(np.ones((1, 1)))["low"] == 0.9


def test_what_is_offered_is_the_start_of_the_table():
    made = images.first_cells("timm", (3, 5), 8, 7, base=50)
    np.testing.assert_array_equal(made, grid.GRID_FORMS["timm"].table((3, 5), 8, base=50).reshape(15, 8)[:7])
    assert images.kept_cells((3, 5), 8) == 15
    assert images.kept_cells((256, 256), 16_384) == 64
    assert [part.tolist() for part in images.row_and_column((2, 3))] == [
        [0, 0, 0, 1, 1, 1],
        [0, 1, 2, 0, 1, 2],
    ]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"kind": "flat"},
        {"shape": (9, 7)},
        {"cell": (4, 3)},
        {"d_model": 12},
        {"base": 10.0},
        {"turn": 60},
    ],
    ids=lambda change: next(iter(change), "nothing"),
)
def test_what_is_kept_is_what_is_computed_of_all_that_it_depends_on(change: dict) -> None:
    start = {"kind": "mixed", "shape": (7, 9), "cell": (3, 4), "d_model": 16, "base": 100.0, "turn": 30}
    kept = {name: value for name, value in start.items() if name != "cell"}
    images.similarity(**start)
    images.near(**kept)
    images.orders(start["shape"], start["d_model"], base=start["base"])
    asked = start | change
    kept |= {name: value for name, value in change.items() if name != "cell"}
    vectors = images.vectors(**kept)
    for _ in range(2):
        found = images.similarity(**asked)
        np.testing.assert_array_equal(found, grid.cell_similarity(vectors, asked["shape"], asked["cell"]))
        assert not found.flags.writeable
        assert dict(images.near(**kept)) == images.neighbours(vectors, asked["shape"])
        shape, options = asked["shape"], {"base": asked["base"]}
        orders = images.orders(shape, asked["d_model"], **options)
        assert orders == images.orders.__wrapped__(shape, asked["d_model"], **options)
