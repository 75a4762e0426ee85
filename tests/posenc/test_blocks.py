"""Blocks of a view against the table itself, the paper's double loop and 50 digits."""

import math
import tracemalloc

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.blocks import (
    MOST_COLUMNS,
    MOST_ROWS,
    Window,
    edges,
    similarity_blocks,
    sinusoid_blocks,
    table_blocks,
)
from posenc.learned import load
from posenc.parameters import LAYOUT
from posenc.similarity import MEASURES
from posenc.sinusoidal import sinusoidal
from tests.posenc import paper

FAR = 10_000_000
bases = st.sampled_from([1.0, 2.0, 500.0, 10_000.0, 1e9])
layouts = st.sampled_from(LAYOUT.options)


def loop(cells, rows, columns):
    """Mean, least and greatest of the cells of each block that are numbers, one block after another."""
    found = np.full((3, len(rows) - 1, len(columns) - 1), np.nan)
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            block = cells[
                rows[i] - rows[0] : rows[i + 1] - rows[0],
                columns[j] - columns[0] : columns[j + 1] - columns[0],
            ]
            numbers = [value for value in block.ravel().tolist() if not math.isnan(value)]
            if numbers:
                found[:, i, j] = math.fsum(numbers) / len(numbers), min(numbers), max(numbers)
    return found


def records(blocks):
    return np.array([blocks.mean, blocks.minimum, blocks.maximum])


# Edges


@given(st.integers(0, FAR), st.integers(1, FAR), st.integers(1, 2000))
def test_edges_cut_a_span_into_equal_blocks(start, n, most):
    cut = edges(start, start + n, most)
    sizes = np.diff(cut)
    assert (cut[0], cut[-1]) == (start, start + n)
    assert cut.dtype == np.int64
    assert len(sizes) <= most
    assert set(sizes[:-1].tolist()) <= {math.ceil(n / most)}
    assert 0 < sizes[-1] <= math.ceil(n / most)


def test_edges_of_a_short_span_are_single_values():
    assert edges(3, 8, 800).tolist() == [3, 4, 5, 6, 7, 8]
    assert edges(0, 10, 4).tolist() == [0, 3, 6, 9, 10]


def test_a_record_says_how_large_its_cells_are():
    blocks = sinusoid_blocks((100, 51_300), (0, 1600), 1600)
    assert (blocks.rows_each, blocks.columns_each) == (128, 2)
    assert blocks.mean.shape == (400, 800)
    assert not blocks.single
    assert blocks.exact
    assert sinusoid_blocks((7, 9), (0, 3), 4).single


def test_a_block_of_columns_stands_at_its_middle():
    table = np.zeros((2, 12))
    assert table_blocks(table, (0, 2), (3, 6)).middles.tolist() == [3, 4, 5]
    assert table_blocks(table, (0, 2), (2, 12), most_columns=3).middles.tolist() == [3.5, 7.5, 10.5]
    # Three blocks of four would be of the same middles, were the last not shorter.
    assert table_blocks(table, (0, 2), (1, 12), most_columns=3).middles.tolist() == [2.5, 6.5, 10]


@pytest.mark.parametrize(
    ("table", "largest"),
    [
        ([[-3.0, 1.0], [2.0, 0.5]], 3),
        ([[-1.0, 4.0], [2.0, 0.5]], 4),
        ([[np.nan, -2.0], [1.0, np.inf]], 2),
        ([[np.nan, np.nan], [np.nan, np.nan]], 0),
        ([[0.0, 0.0], [0.0, 0.0]], 0),
    ],
)
@pytest.mark.parametrize("most", [1, 2])
def test_the_largest_value_is_that_of_all_cells_not_of_their_means(table, largest, most):
    blocks = table_blocks(np.array(table), (0, 2), (0, 2), most_rows=2, most_columns=most)
    if most == 1 and np.isinf(table).any():
        largest = 2  # the infinity has taken its block's maximum; its minimum is 1
    assert blocks.largest == largest


# Views written as text

spans = st.tuples(st.integers(0, FAR - 1), st.integers(1, FAR)).map(lambda x: (x[0], min(x[0] + x[1], FAR)))


@given(spans, spans)
def test_a_view_reads_back_as_it_was_written(rows, columns):
    window = Window("any_view", (FAR, FAR))
    text = window.write(rows, columns)
    assert window.spans(text) == (rows, columns)
    assert window.check(text) == text


def test_a_view_is_written_as_its_rows_and_its_columns():
    window = Window("table_view", (50, 128))
    assert window.write((3, 9), (0, 4)) == "3-9x0-4"
    assert window.write((0, 50), (0, 4)) == "0-50x0-4"
    assert window.write((0, 50), (0, 128)) == window.default == ""
    assert window.spans("") == ((0, 50), (0, 128))
    assert window.check("0-50x0-128") == ""
    assert window.check("00-007x0-4") == "0-7x0-4"


@pytest.mark.parametrize(
    "junk",
    [
        "whole",
        "3-9",
        "3-9,0-4",
        "3-9x0-4x1-2",
        "3:9x0:4",
        "-3-9x0-4",
        "3-9x0--4",
        "3-9X0-4",
        "3-9×0-4",
        "３-9x0-4",
        "٣-9x0-4",
        "3-9x0-4²",
        " 3-9x0-4",
        "3-9x0-4 ",
        "3 - 9x0-4",
        "3-9x0-4\n",
        "3.0-9x0-4",
        "1e1-20x0-4",
        "0x3-9x0-4",
        "1_0-20x0-4",
        "0-1000000000x0-4",
        "3-9x0-4\0",
        None,
        ["3-9x0-4"],
        (3, 9, 0, 4),
        39,
        True,
    ],
)
def test_a_view_written_otherwise_is_refused(junk):
    with pytest.raises(ValueError, match=r'^any_view must be written as "0-50x0-128", got '):
        Window("any_view", (50, 128)).check(junk)


@pytest.mark.parametrize(
    ("text", "axis", "size"),
    [
        ("9-3x0-4", "rows", 50),
        ("3-3x0-4", "rows", 50),
        ("0-51x0-4", "rows", 50),
        ("50-51x0-4", "rows", 50),
        ("999999998-999999999x0-4", "rows", 50),
        ("3-9x4-0", "columns", 128),
        ("3-9x128-129", "columns", 128),
        ("3-9x0-129", "columns", 128),
    ],
)
def test_a_view_that_is_no_part_of_the_matrix_is_refused(text, axis, size):
    named = rf"^any_view {axis} must be two integers .* <= {size}, got \(\d+, \d+\)$"
    with pytest.raises(ValueError, match=named):
        Window("any_view", (50, 128)).check(text)


# The sinusoid


@given(
    st.integers(0, 2000),
    st.integers(1, 300),
    st.integers(1, 40),
    st.data(),
    bases,
    layouts,
    st.sampled_from([0, 1]),
)
def test_sinusoid_blocks_are_those_of_the_paper(start, n, d_model, data, base, layout, freq_shift):
    left = data.draw(st.integers(0, d_model - 1))
    right = data.draw(st.integers(left + 1, d_model))
    most = {"most_rows": data.draw(st.integers(1, 40)), "most_columns": data.draw(st.integers(1, 20))}
    options = {"base": base, "layout": layout, "freq_shift": freq_shift}
    blocks = sinusoid_blocks((start, start + n), (left, right), d_model, **options, **most)
    table = np.array([paper.row(p, d_model, **options)[left:right] for p in range(start, start + n)])
    wanted = loop(table, blocks.rows, blocks.columns)
    np.testing.assert_allclose(records(blocks), wanted, rtol=0, atol=3e-12)
    assert (blocks.minimum <= blocks.mean).all()
    assert (blocks.mean <= blocks.maximum).all()


@pytest.mark.parametrize("base", [1.0, 3.7, 10_000.0, 1e9])
@pytest.mark.parametrize(("start", "length"), [(2**24 - 5, 7), (2**24 - 100, 710), (9_000_001, 2200)])
def test_far_blocks_are_those_of_the_table(start, length, base):
    stop = start + 5 * length + length // 2
    blocks = sinusoid_blocks((start, stop), (0, 66), 66, base=base, most_rows=6, most_columns=50)
    table = sinusoidal(np.arange(start, stop), 66, base=base, dtype=np.float64)
    np.testing.assert_allclose(records(blocks), loop(table, blocks.rows, blocks.columns), rtol=0, atol=1e-8)


def test_long_blocks_are_those_of_the_table_and_their_extremes_within_1e_6():
    n, d_model = 1_000_000, 24
    blocks = sinusoid_blocks((0, n), (0, d_model), d_model, base=500.0, most_rows=100)
    table = sinusoidal(n, d_model, base=500.0, dtype=np.float64).reshape(100, -1, d_model)
    np.testing.assert_allclose(blocks.mean, table.mean(axis=1), rtol=0, atol=1e-10)
    np.testing.assert_allclose(blocks.minimum, table.min(axis=1), rtol=0, atol=1e-6)
    np.testing.assert_allclose(blocks.maximum, table.max(axis=1), rtol=0, atol=1e-6)


def test_block_means_up_to_position_1e7_are_right_to_5e_9():
    d_model, base = 512, 10_000.0
    blocks = sinusoid_blocks((0, FAR), (0, d_model), d_model, most_rows=399)
    rng = np.random.default_rng(0)
    with mpmath.workdps(50):
        for i in [0, 1, 397, 398, *rng.integers(2, 397, 6).tolist()]:
            first, stop = (int(edge) for edge in blocks.rows[i : i + 2])
            for j in rng.choice(d_model, 12, replace=False).tolist():
                rate = mpmath.power(base, -mpmath.mpf(j - j % 2) / d_model)
                # Σ sin(ωp) telescopes: 2·sin(ω/2)·sin(ωp) = cos(ω(p − ½)) − cos(ω(p + ½)).
                low, high = rate * (first - mpmath.mpf(1) / 2), rate * (stop - mpmath.mpf(1) / 2)
                total = mpmath.sin(high) - mpmath.sin(low) if j % 2 else mpmath.cos(low) - mpmath.cos(high)
                mean = total / (2 * mpmath.sin(rate / 2)) / (stop - first)
                assert abs(mean - blocks.mean[i, j]) <= 5e-9


def test_single_values_up_to_position_1e7_are_right_to_5e_9():
    blocks = sinusoid_blocks((FAR - 3, FAR), (100, 120), 512)
    for i in range(3):
        for j in range(20):
            value = paper.exact(FAR - 3 + i, (100 + j) // 2, 512)[j % 2]
            assert abs(value - blocks.mean[i, j]) <= 5e-9
    np.testing.assert_array_equal(blocks.mean, blocks.minimum)
    np.testing.assert_array_equal(blocks.mean, blocks.maximum)


def test_position_0_is_exact():
    assert sinusoid_blocks((0, 1), (0, 6), 6).mean.tolist() == [[0, 1, 0, 1, 0, 1]]


def test_the_picture_of_a_long_table_has_no_moire():
    # Every 44th row of sin p looks like one slow wave: 44 is nearly 7 turns. Means of 44 rows are nearly 0.
    blocks = sinusoid_blocks((0, 4096), (0, 1), 128, most_rows=94)
    assert blocks.rows_each == 44
    first = sinusoidal(4096, 128)[:, 0]
    assert np.ptp(first[::44]) > 0.99
    assert [np.count_nonzero(np.diff(np.signbit(rows))) for rows in (first, first[::44])] == [1303, 0]
    assert np.abs(blocks.mean[:-1]).max() < 0.05
    assert blocks.minimum[:-1].max() < -0.99
    assert blocks.maximum[:-1].min() > 0.99


def test_the_column_of_zeros():
    options = {"freq_shift": 1, "most_columns": 2}
    assert not records(sinusoid_blocks((0, FAR), (6, 7), 7, **options)).any()
    assert not records(sinusoid_blocks((0, 5), (0, 1), 1, **options)).any()
    # Beside a wave whose every value is above 0, or below: the zeros are the least, or the greatest.
    for start, least, greatest in ((0, 0, 1), (25_000, None, 0)):
        view = (start, start + 100), (5, 7)
        beside = sinusoid_blocks(*view, 7, freq_shift=1, most_rows=1, most_columns=1)
        cells = np.array([paper.row(p, 7, freq_shift=1)[5:] for p in range(start, start + 100)])
        wanted = cells.mean(), cells.min() if least is None else least, greatest
        np.testing.assert_allclose(records(beside).ravel(), wanted, rtol=0, atol=1e-10)


def test_memory_depends_on_the_cells_alone():
    def peak(*arguments, **options):
        tracemalloc.start()
        sinusoid_blocks(*arguments, **options)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    widest = (0, 16_384), 16_384
    assert peak((0, FAR), *widest) < 16 * 2**20
    assert peak((0, FAR), *widest, most_rows=1, most_columns=1) < 8 * 2**20
    assert peak((0, FAR), (0, 64), 64) < 1.1 * peak((0, 10_000), (0, 64), 64)


# Tables in memory


@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 2**32 - 1), st.data())
def test_table_blocks_are_their_double_loop(n, d, seed, data):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(n, d))
    table[rng.random(table.shape) < data.draw(st.sampled_from([0, 0.1, 0.7]))] = np.nan
    top, left = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, d - 1))
    view = (top, data.draw(st.integers(top + 1, n))), (left, data.draw(st.integers(left + 1, d)))
    most = {"most_rows": data.draw(st.integers(1, 20)), "most_columns": data.draw(st.integers(1, 20))}
    for same in (table, np.asfortranarray(table), table.astype(">f8")):
        blocks = table_blocks(same, *view, **most)
        wanted = loop(table[slice(*view[0]), slice(*view[1])], blocks.rows, blocks.columns)
        np.testing.assert_allclose(records(blocks), wanted, rtol=0, atol=1e-14)


def test_a_table_of_many_tiles_is_summed_once(monkeypatch):
    table = np.random.default_rng(0).normal(size=(50, 9)).astype(np.float32)
    whole = records(table_blocks(table, (3, 50), (1, 9), most_rows=4, most_columns=3))
    monkeypatch.setattr("posenc.blocks._TILE_SIDE", 5)
    tiled = table_blocks(table, (3, 50), (1, 9), most_rows=4, most_columns=3)
    np.testing.assert_allclose(records(tiled), whole, rtol=0, atol=1e-15)


def test_small_numbers_are_summed_in_float64():
    half = np.full((70_000, 1), 0.1, dtype=np.float16)
    assert table_blocks(half, (0, 70_000), (0, 1), most_rows=1).mean[0, 0] == float(half[0, 0])
    whole = np.full((1000, 1), 200, dtype=np.uint8)
    assert table_blocks(whole, (0, 1000), (0, 1), most_rows=1).mean.tolist() == [[200]]
    assert table_blocks([[1, 2], [3, 6]], (0, 2), (0, 2), most_rows=1, most_columns=1).mean.tolist() == [[3]]


def test_a_view_that_is_not_cut_shows_every_value():
    table = load("minilm_l6")
    blocks = table_blocks(table, (100, 180), (30, 384))
    assert blocks.single
    np.testing.assert_array_equal(blocks.mean, table[100:180, 30:384])


def test_a_single_zero_has_no_sign():
    assert not np.signbit(table_blocks(np.array([[-0.0, 0.0]]), (0, 1), (0, 2)).mean).any()


def test_the_mean_of_equal_values_is_that_value():
    assert table_blocks(np.full((3, 1), 0.1), (0, 3), (0, 1), most_rows=1).mean.tolist() == [[0.1]]


def test_infinities_and_undefined_blocks_warn_of_nothing():
    blocks = table_blocks(np.array([[np.nan, np.inf], [np.nan, -np.inf]]), (0, 2), (0, 2), most_rows=1)
    assert math.isnan(blocks.mean[0, 0])
    assert (blocks.minimum[0, 1], blocks.maximum[0, 1]) == (-np.inf, np.inf)
    assert table_blocks(np.full((2, 1), 1e308), (0, 2), (0, 1), most_rows=1).minimum.tolist() == [[1e308]]


def test_a_table_is_never_copied_as_a_whole():
    table = np.zeros((400_000, 64), dtype=np.float16)
    tracemalloc.start()
    table_blocks(table, (0, 400_000), (0, 64))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < table.nbytes / 2


# Similarity of tables in memory


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("tile", [1, 3, 512])
def test_similarity_blocks_are_those_of_the_matrix(measure, tile, monkeypatch):
    monkeypatch.setattr("posenc.blocks._TILE_SIDE", tile)
    table = np.random.default_rng(0).normal(size=(40, 3))
    table[11] = 0  # no direction: its cosines are undefined
    matrix = MEASURES[measure](table, None)
    blocks = similarity_blocks(table, measure, (5, 40), (2, 31), most_rows=35, most_columns=4)
    wanted = loop(matrix[5:40, 2:31], blocks.rows, blocks.columns)
    np.testing.assert_allclose(records(blocks), wanted, rtol=0, atol=1e-13)
    assert np.isnan(blocks.mean).any() == (measure == "cosine")


def test_tiles_of_wide_tables_have_fewer_rows():
    table = np.ones((512, 8192), dtype=np.float32)
    tracemalloc.start()
    similarity_blocks(table, "cosine", (0, 512), (0, 128))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 2**20


# Arguments


@pytest.mark.parametrize(
    "bad", [(3, 3), (5, 2), (-1, 4), (0, 11), (0.0, 4), (True, 4), (0,), "ab", None, 4, (0, 1, 2)]
)
def test_a_bad_view_is_named(bad):
    table = np.zeros((10, 10))
    calls = {
        "rows": [
            lambda: table_blocks(table, bad, (0, 10)),
            lambda: similarity_blocks(table, "dot", bad, (0, 10)),
        ],
        "columns": [
            lambda: table_blocks(table, (0, 10), bad),
            lambda: similarity_blocks(table, "dot", (0, 10), bad),
            lambda: sinusoid_blocks((0, 10), bad, 10),
        ],
    }
    for name, refused in calls.items():
        for call in refused:
            with pytest.raises(
                ValueError, match=rf"^{name} must be two integers \(start, stop\) .* <= 10, got "
            ):
                call()


def test_other_bad_arguments_are_named():
    good = {"rows": (0, 4), "columns": (0, 4), "d_model": 4}
    for name, value in {
        "rows": (0, 2 * FAR + 1),
        "d_model": 0,
        "base": 0.5,
        "layout": "x",
        "freq_shift": 2,
        "most_rows": 0,
        "most_columns": MOST_COLUMNS.maximum + 1,
    }.items():
        with pytest.raises(ValueError, match=rf"^{name} must be "):
            sinusoid_blocks(**(good | {name: value}))
    for table in ([1.0], [["x"]], np.zeros((0, 3)), np.array([[1j]]), [[1], [1, 2]]):
        with pytest.raises(ValueError, match=r"^table must be "):
            table_blocks(table, (0, 1), (0, 1))
        with pytest.raises(ValueError, match=r"^table must be "):
            similarity_blocks(table, "dot", (0, 1), (0, 1))
    with pytest.raises(ValueError, match=r"^measure must be "):
        similarity_blocks([[1.0]], "angle", (0, 1), (0, 1))
    for call in (table_blocks, lambda table, *view, **most: similarity_blocks(table, "dot", *view, **most)):
        with pytest.raises(ValueError, match=r"^most_rows must be .*, got 0$"):
            call(np.zeros((2, 2)), (0, 2), (0, 2), most_rows=0)
        with pytest.raises(ValueError, match=r"^most_columns must be .*, got 0$"):
            call(np.zeros((2, 2)), (0, 2), (0, 2), most_columns=0)
    assert (MOST_ROWS.default, MOST_COLUMNS.default) == (400, 800)
