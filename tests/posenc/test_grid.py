"""Grids against scalar double loops, published rows, the tables themselves and their own laws."""

import doctest
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import grid, rotary
from tests.posenc import paper

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple)
images = st.tuples(st.integers(1, 9), st.integers(1, 9))
bases = st.floats(1, 1e9)
grid_layouts = st.sampled_from(posenc.parameters.GRID_LAYOUT.options)
freq_shifts = st.sampled_from(posenc.FREQ_SHIFT.options)


def by_loops(coordinates, widths, axes, base, layout, freq_shift):
    """The code of one cell, a number at a time."""
    parts = [
        paper.row(
            coordinates[axis],
            width,
            base=base,
            layout="sin_cos" if layout == "sines_first" else layout,
            freq_shift=freq_shift,
        )
        for axis, width in zip(axes, widths, strict=True)
    ]
    if layout == "sines_first":
        parts = [part[: (len(part) + 1) // 2] for part in parts] + [
            part[(len(part) + 1) // 2 :] for part in parts
        ]
    return [value for part in parts for value in part]


# Coordinates


def test_cells_are_row_major_and_height_is_the_first_axis():
    # facebookresearch/mae#18 and others: with height and width swapped, square grids hide it.
    places = grid.grid_cells((3, 4)).reshape(-1, 2)
    assert places[:, 1].tolist() == [0, 1, 2, 3] * 3
    assert places[:, 0].tolist() == [0] * 4 + [1] * 4 + [2] * 4


def test_cells_start_and_step_where_they_are_told():
    places = grid.grid_cells((2, 3, 2), first=(1, -1, 0), step=(1, 0.5, 3))
    assert places[1, 2, 1].tolist() == [2, 0, 3]
    assert places.shape == (2, 3, 2, 3)


def test_the_coordinates_of_fourier_features_go_from_minus_one_to_one():
    places = grid.grid_cells((3, 5), first=-1, step=(2 / 2, 2 / 4))
    assert places[:, 0, 0].tolist() == [-1, 0, 1]
    assert places[0, :, 1].tolist() == [-1, -0.5, 0, 0.5, 1]


@given(shapes)
def test_a_grid_without_padding_is_counted_from_one(shape):
    np.testing.assert_array_equal(grid.valid_counts(np.ones(shape)), grid.grid_cells(shape, first=1))


@given(images, st.data())
def test_valid_cells_are_counted_up_to_each_cell(shape, data):
    mask = data.draw(st.lists(st.booleans(), min_size=math.prod(shape), max_size=math.prod(shape)))
    mask = np.reshape(mask, shape)
    counts = grid.valid_counts(mask)
    for y in range(shape[0]):
        for x in range(shape[1]):
            assert counts[y, x, 0] == sum(mask[: y + 1, x])
            assert counts[y, x, 1] == sum(mask[y, : x + 1])


def test_an_image_beside_padding_is_stretched_over_its_own_cells():
    mask = np.zeros((3, 5))
    mask[:2, :4] = 1
    stretched = grid.normalised_cells(grid.valid_counts(mask), scale=1)
    np.testing.assert_allclose(stretched[0, :, 1], [1 / 4, 2 / 4, 3 / 4, 1, 1], atol=1e-6)
    np.testing.assert_allclose(stretched[:, 0, 0], [1 / 2, 1, 1], atol=1e-6)
    # Nothing is valid in the last row and in the last column: these stay at 0.
    assert (stretched[2, :, 1] == 0).all()
    assert (stretched[:, 4, 0] == 0).all()


def test_normalised_by_the_letter_of_the_code_of_detr():
    last, scale = 6 + 1e-6, 2 * math.pi
    stretched = grid.normalised_cells(grid.grid_cells((6, 1), first=1))
    assert stretched[:, 0, 0].tolist() == [(y + 1) / last * scale for y in range(6)]


# Tables


def test_the_first_half_of_the_table_of_mae_is_the_column_of_the_image():
    # facebookresearch/mae#67: d = 8, a grid of 2 × 3; token 1 is one to the right, token 3 one down.
    tokens = grid.GRID_FORMS["mae"].table((2, 3), 8, dtype="float64").reshape(-1, 8)
    np.testing.assert_allclose(tokens[1], [0.8415, 0.01, 0.5403, 1, 0, 0, 1, 1], atol=6e-5)
    np.testing.assert_allclose(tokens[3], [0, 0, 1, 1, 0.8415, 0.01, 0.5403, 1], atol=6e-5)


@given(shapes, grid_layouts, freq_shifts, bases, st.data())
def test_a_table_is_that_of_the_double_loop(shape, layout, freq_shift, base, data):
    axes = data.draw(st.permutations(range(len(shape))))
    widths = data.draw(st.lists(st.integers(1, 7), min_size=len(shape), max_size=len(shape)))
    table = grid.grid_sinusoidal(
        grid.grid_cells(shape),
        widths,
        axes=axes,
        base=base,
        grid_layout=layout,
        freq_shift=freq_shift,
        dtype="float64",
    )
    assert table.shape == (*shape, sum(widths))
    for cell in np.ndindex(*shape):
        right = by_loops(cell, widths, axes, base, layout, freq_shift)
        np.testing.assert_allclose(table[cell], right, rtol=0, atol=1e-13)


def test_any_coordinates_are_taken_and_a_single_axis_is_the_text():
    positions = np.array([[0.5], [-3.0], [1e4]])
    np.testing.assert_array_equal(
        grid.grid_sinusoidal(positions, (6,), grid_layout="interleaved"),
        posenc.sinusoidal(positions[:, 0], 6),
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_table_is_rounded_once(dtype):
    exact = grid.GRID_FORMS["timm"].table((3, 4), 16, dtype="float64")
    made = grid.GRID_FORMS["timm"].table((3, 4), 16, dtype=dtype)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, exact.astype(dtype))


FORM_ROWS = {
    # y = 2, x = 1 of 3 × 5, two pairs an axis with rates 1 and 0.01.
    "mae": "sin(1) sin(.01) cos(1) cos(.01) sin(2) sin(.02) cos(2) cos(.02)",
    "aimv2": "sin(2) sin(.02) cos(2) cos(.02) sin(1) sin(.01) cos(1) cos(.01)",
    "timm": "sin(2) sin(.02) sin(1) sin(.01) cos(2) cos(.02) cos(1) cos(.01)",
    "positional_encodings": "sin(2) cos(2) sin(.02) cos(.02) sin(1) cos(1) sin(.01) cos(.01)",
    # Two pairs with the divisor of tensor2tensor: rates 1 and 1/10000.
    "big_vision": "sin(1) sin(1e-4) cos(1) cos(1e-4) sin(2) sin(2e-4) cos(2) cos(2e-4)",
    # 3 of 3 and 2 of 5 cells, stretched to 2π.
    "detr": "sin(Y) cos(Y) sin(Y/100) cos(Y/100) sin(X) cos(X) sin(X/100) cos(X/100)",
}


@pytest.mark.parametrize("name", FORM_ROWS)
def test_the_columns_of_each_form_written_out(name):
    known = vars(math) | {"Y": 3 / (3 + 1e-6) * 2 * math.pi, "X": 2 / (5 + 1e-6) * 2 * math.pi}
    right = [eval(term, known) for term in FORM_ROWS[name].split()]
    made = grid.GRID_FORMS[name].table((3, 5), 8, dtype="float64")[2, 1]
    np.testing.assert_allclose(made, right, rtol=0, atol=1e-15)


def test_the_columns_of_the_video_form_written_out():
    made = grid.GRID_FORMS["cogvideox"].table((2, 3, 4), 16, dtype="float64")[1, 2, 3]
    rates = [10_000 ** (-i / 3) for i in range(3)]
    space = [wave(c * rate) for c in (3, 2) for wave in (math.sin, math.cos) for rate in rates]
    time = [math.sin(1), math.sin(0.01), math.cos(1), math.cos(0.01)]
    np.testing.assert_allclose(made, time + space, rtol=0, atol=1e-15)


def test_every_form_is_tried_above():
    assert set(FORM_ROWS) | {"cogvideox"} == set(grid.GRID_FORMS)


@pytest.mark.parametrize("name", grid.GRID_FORMS)
def test_the_share_of_a_form_is_the_smallest_that_leaves_whole_pairs(name):
    form = grid.GRID_FORMS[name]
    unit = 16 if name == "cogvideox" else 4
    assert sum(grid.split_width(unit, form.shares)) == unit
    for width in range(1, 2 * unit):
        if width != unit:
            with pytest.raises(ValueError, match=rf"^d_model must be a multiple of {unit}, .*, got {width}$"):
                form.table((2,) * len(form.axes), width)


@given(st.integers(1, 2000), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_a_share_is_refused_only_where_there_is_none(d_model, shares):
    parts = [d_model * part / sum(shares) for part in shares]
    if all(part % 2 == 0 for part in parts):
        assert grid.split_width(d_model, shares) == tuple(parts)
    else:
        with pytest.raises(ValueError, match="d_model must be a multiple of"):
            grid.split_width(d_model, shares)


# How alike cells are


def squares(table, cell):
    """All three measures from the table, by the definitions."""
    difference = table - table[cell]
    dot = (table * table[cell]).sum(-1)
    return {
        "dot": dot,
        "cosine": dot / np.linalg.norm(table, axis=-1) / np.linalg.norm(table[cell]),
        "distance": np.sqrt((difference**2).sum(-1)),
    }


@pytest.mark.parametrize("measure", posenc.MEASURES)
@pytest.mark.parametrize("name", grid.GRID_FORMS)
def test_similarity_is_that_of_the_table(name, measure):
    form = grid.GRID_FORMS[name]
    shape, cell = ((2, 3, 4), (1, 0, 2)) if len(form.axes) == 3 else ((4, 7), (3, 5))
    table = form.table(shape, 32, base=500, dtype="float64")
    made = grid.cell_similarity(form.vectors(shape, 32, base=500), shape, cell, measure=measure)
    np.testing.assert_allclose(made, squares(table, cell)[measure], rtol=0, atol=1e-7)


@given(shapes, st.integers(2, 20), st.data())
def test_flat_vectors_are_the_text_over_the_cells_in_row_major_order(shape, d_model, data):
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    d_model -= d_model % 2
    table = posenc.sinusoidal(math.prod(shape), d_model, dtype="float64").reshape(*shape, d_model)
    made = grid.cell_similarity(grid.flat_vectors(shape, d_model), shape, cell, measure="dot")
    np.testing.assert_allclose(made, squares(table, cell)["dot"], rtol=0, atol=1e-12)


@given(images, st.floats(0, 6), st.floats(1, 1e4))
def test_turned_vectors_are_those_of_turned_coordinates(shape, angle, base):
    vectors = grid.mixed_vectors(16, angle, base=base)
    places = grid.grid_cells(shape)
    turned = np.stack(
        [
            math.cos(angle) * places[..., 0] + math.sin(angle) * places[..., 1],
            -math.sin(angle) * places[..., 0] + math.cos(angle) * places[..., 1],
        ],
        axis=-1,
    )
    table = grid.grid_sinusoidal(turned, (8, 8), base=base, dtype="float64")
    made = grid.cell_similarity(vectors, shape, (0, 0), measure="dot")
    np.testing.assert_allclose(made, squares(table, (0, 0))["dot"], rtol=0, atol=1e-12)


def test_turned_vectors_start_as_the_axial_ones_and_are_those_of_the_published_start():
    np.testing.assert_array_equal(grid.mixed_vectors(12, 0), grid.axial_vectors((6, 6)))
    # naver-ai/rope-vit: fx = (m cos a, m cos(π/2 + a)), fy = (m sin a, m sin(π/2 + a)).
    a, m = 0.7, [10 ** (-4 * j / 12) for j in range(3)]
    right = [
        [r * math.cos(a + t) for t in (0, math.pi / 2) for r in m],
        [r * math.sin(a + t) for t in (0, math.pi / 2) for r in m],
    ]
    np.testing.assert_allclose(grid.mixed_vectors(12, a, base=10), right, rtol=0, atol=1e-15)


def test_an_axial_cell_is_as_alike_as_its_row_and_its_column_are():
    """S(Δy, Δx) = f(Δy) + f(Δx): a cross, and nothing of the diagonal's own."""
    form, shape = grid.GRID_FORMS["mae"], (6, 9)
    map_ = grid.cell_similarity(form.vectors(shape, 32), shape, (2, 4), measure="dot")
    np.testing.assert_allclose(map_, map_[:, [4]] + map_[[2], :] - map_[2, 4], rtol=0, atol=1e-12)


@given(images, st.data())
def test_similarity_depends_on_the_offset_only(shape, data):
    cells = [tuple(data.draw(st.integers(0, n - 1)) for n in shape) for _ in range(2)]
    vectors = grid.GRID_FORMS["mae"].vectors(shape, 16)
    one, other = (grid.cell_similarity(vectors, shape, cell, measure="dot") for cell in cells)
    np.testing.assert_allclose(one[cells[1]], other[cells[0]], rtol=0, atol=1e-12)
    for cell, found in zip(cells, (one, other), strict=True):
        assert found[cell] == found.max() == 8


@given(images, st.integers(0, 99), st.data())
def test_weighted_waves_are_the_scores_of_rotated_queries_and_keys(shape, seed, data):
    """Axial rotary by the letter: turn the query at its cell and the key at each, then multiply."""
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in shape)
    q, k = np.random.default_rng(seed).normal(size=(2, 12))
    rates = posenc.inv_freq(6, base=50)
    angles = rotary.axial_angles(grid.grid_cells(shape), [rates, rates])
    right = (
        rotary.turn(np.tile(k, (*shape, 1)), angles) @ rotary.turn(q[np.newaxis], angles[cell][np.newaxis])[0]
    )
    pairs = [vector[:6] + 1j * vector[6:] for vector in (q, k)]
    made = grid.wave_sum(grid.axial_vectors((6, 6), base=50), shape, cell, weights=pairs[0].conj() * pairs[1])
    np.testing.assert_allclose(made, right, rtol=0, atol=1e-12)


@pytest.mark.parametrize("vectors", [grid.mixed_vectors(1200, 0.5), grid.axial_vectors((8192, 8192))])
def test_many_vectors_are_added_up_in_parts(vectors):
    places = grid.grid_cells((2, 11)) - (1, 2)
    right = np.cos(places @ vectors).sum(axis=2)
    np.testing.assert_allclose(grid.wave_sum(vectors, (2, 11), (1, 2)), right, rtol=1e-12)


def test_as_many_weights_are_wanted_as_there_are_vectors():
    with pytest.raises(
        ValueError, match=r"^weights must have shape \(4,\), one for each vector, got \(3,\)$"
    ):
        grid.wave_sum(grid.axial_vectors((4, 4)), (2, 2), (0, 0), weights=np.ones(3))


def test_swapping_the_parts_changes_the_table_and_not_the_similarity():
    shape = 4, 7
    one, other = (grid.GRID_FORMS[name] for name in ("mae", "aimv2"))
    assert not np.allclose(one.table(shape, 16), other.table(shape, 16))
    maps = [grid.cell_similarity(form.vectors(shape, 16), shape, (1, 2)) for form in (one, other)]
    np.testing.assert_allclose(*maps, rtol=0, atol=1e-14)


def test_a_table_made_for_the_other_orientation_is_misread_so():
    height, width = 3, 5
    other = grid.GRID_FORMS["aimv2"].table((width, height), 8)  # its first axis has the length of ours
    given_out = other.reshape(height, width, 8)
    place = grid.misread_cells((height, width))
    assert place[..., 0].max() == height - 1
    assert place[..., 1].max() == width - 1
    right = grid.GRID_FORMS["mae"].table((height, width), 8)
    np.testing.assert_array_equal(given_out, right[place[..., 0], place[..., 1]])


def test_the_misread_cells_of_a_square_image_are_transposed():
    place = grid.misread_cells((4, 4))
    np.testing.assert_array_equal(place, grid.grid_cells((4, 4)).transpose(1, 0, 2))


@given(images)
def test_every_cell_is_misread_once(shape):
    numbers = np.ravel_multi_index(tuple(np.moveaxis(grid.misread_cells(shape), -1, 0)), shape)
    assert sorted(numbers.ravel()) == list(range(math.prod(shape)))


# Fourier features


def test_the_bands_of_a_perceiver():
    np.testing.assert_allclose(grid.fourier_bands(4, 16), math.pi * np.array([1, 2, 4, 8]))
    np.testing.assert_allclose(grid.fourier_bands(4, 14, spacing="linear"), math.pi * np.array([1, 3, 5, 7]))
    for spacing in posenc.parameters.SPACING.options:
        assert grid.fourier_bands(1, 224, spacing=spacing) == pytest.approx([math.pi])


def test_fourier_features_a_number_at_a_time():
    places, bands = grid.grid_cells((2, 3), first=-1, step=(2, 1)), grid.fourier_bands(5, 224)
    sine, cosine = grid.fourier_features(places, bands)
    assert sine.shape == cosine.shape == (2, 3, 2, 5)
    for y, x, axis, k in np.ndindex(2, 3, 2, 5):
        angle = [-1 + 2 * y, -1 + x][axis] * math.pi * 2 ** (k / 4 * (math.log2(224) - 1))
        assert sine[y, x, axis, k] == pytest.approx(math.sin(angle), abs=1e-12)
        assert cosine[y, x, axis, k] == pytest.approx(math.cos(angle), abs=1e-12)


# Refusals


@pytest.mark.parametrize(
    "shape",
    [(), (0, 4), (3, -1), (3.0, 4), (True, 4), "34", 12, None, (3000, 4000), [[3, 4]], ("3", 4)],
    ids=repr,
)
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"^shape must be positive integers, an axis each, .*, got "):
        grid.grid_cells(shape)


@pytest.mark.parametrize(
    "cell", [(3, 0), (0, -1), (0,), (0, 0, 0), (0.0, 1), "00", None, (True, 0)], ids=repr
)
def test_what_is_no_cell_of_the_grid_is_refused(cell):
    with pytest.raises(ValueError, match=r"^cell must be an index .* of the grid \(3, 4\), got "):
        grid.cell_similarity(grid.axial_vectors((4, 4)), (3, 4), cell)


@pytest.mark.parametrize(
    "vectors", [np.ones((3, 4)), np.ones(4), np.ones((2, 0))], ids=lambda v: str(v.shape)
)
def test_vectors_of_another_grid_are_refused(vectors):
    with pytest.raises(ValueError, match=r"^vectors must have a row for each of the 2 axes, got shape "):
        grid.cell_similarity(vectors, (3, 4), (0, 0))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: grid.grid_sinusoidal(np.zeros((2, 2)), (4,)), "axes and widths must name"),
        (lambda: grid.grid_sinusoidal(np.zeros((2, 2)), (4, 4), axes=(0, 2)), "axes and widths must name"),
        (lambda: grid.grid_sinusoidal(np.zeros((2, 2)), (4, 4), axes=(0, -1)), "axes and widths must name"),
        (lambda: grid.grid_sinusoidal(np.zeros((2, 2)), (4, 0)), "d_model must be an integer from 1"),
        (
            lambda: grid.grid_sinusoidal([[0, math.nan]], (4, 4)),
            "coordinates must be finite, got nan at index 0, 1",
        ),
        (lambda: grid.grid_sinusoidal([], ()), "coordinates must have shape"),
        (lambda: grid.grid_sinusoidal(3, (4,)), "coordinates must have shape"),
        (lambda: grid.grid_sinusoidal([["a"]], (4,)), "coordinates must be an array of real numbers"),
        (lambda: grid.grid_sinusoidal([[0]], (4,), grid_layout="sines"), "grid_layout must be 'sin_cos' or"),
        (lambda: grid.grid_sinusoidal([[0]], (4,), dtype="int8"), "dtype must be float16"),
        (lambda: grid.axial_vectors((4, 3)), "widths must be even, so that every sine has its cosine, got 3"),
        (lambda: grid.valid_counts([[0, 2]]), "mask must hold true or false"),
        (lambda: grid.valid_counts([]), "mask must hold true or false"),
        (
            lambda: grid.GRID_FORMS["mae"].table((2, 3, 4), 8),
            r"shape must have 2 axes for this form, got \(2, 3, 4\)",
        ),
        (
            lambda: grid.GRID_FORMS["detr"].vectors((2,), 8),
            r"shape must have 2 axes for this form, got \(2,\)",
        ),
        (lambda: grid.fourier_features([[0]], [[1]]), "rates must have one axis"),
        (lambda: grid.fourier_features([[0]], [math.inf]), "rates must be finite"),
        (lambda: grid.fourier_bands(0, 224), "n_bands must be an integer from 1"),
        (lambda: grid.mixed_vectors(6, 0), "d_model must be a multiple of 4"),
        (lambda: grid.mixed_vectors(8, math.nan), "angle must be a number"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(grid).failed == 0
    assert doctest.testmod(grid).attempted >= 3
