"""The sinusoidal table against printed numbers, the paper's double loop, 50 digits and its own laws."""

import doctest
import json
import math
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from tests.posenc import paper

DATA = Path(__file__).parents[1] / "data"
ARTICLE = json.loads((DATA / "founding_article.json").read_text(encoding="utf-8"))
LAYOUTS = posenc.LAYOUT.options
widths = st.integers(1, 70)
bases = st.floats(1, 1e9)
layouts = st.sampled_from(LAYOUTS)
freq_shifts = st.sampled_from(posenc.FREQ_SHIFT.options)
places = st.floats(-1e4, 1e4)
position_lists = st.lists(places, min_size=1, max_size=30)
# Widths with a cosine for every sine: even ones, and odd ones whose last column is zero.
paired = st.tuples(widths, freq_shifts).filter(lambda pair: pair[0] % 2 == 0 or pair[1] == 1)


def table64(positions, d_model, **options):
    return posenc.sinusoidal(positions, d_model, dtype=np.float64, **options)


# Printed numbers


@pytest.mark.parametrize("step", ARTICLE["steps"])
def test_every_number_that_the_founding_article_prints(step):
    printed = ARTICLE["steps"][step]
    made = getattr(posenc.steps(ARTICLE["seq_len"], ARTICLE["d_model"]), step)
    cells = made[np.ix_(printed["rows"], printed["columns"])]
    for row, digits in zip(cells.tolist(), printed["printed"], strict=True):
        for value, text in zip(row, digits, strict=True):
            assert f"{value:.8e}" == f"{float(text):.8e}"


def test_the_table_is_the_last_step_of_the_founding_article():
    printed = ARTICLE["steps"]["table"]
    cells = table64(ARTICLE["seq_len"], ARTICLE["d_model"])[np.ix_(printed["rows"], printed["columns"])]
    np.testing.assert_allclose(cells, np.array(printed["printed"], float), rtol=0, atol=5.1e-9)
    batch = posenc.sinusoidal(50, 512)[np.newaxis]
    assert batch.shape == (1, 50, 512)
    assert batch.dtype == np.float32


def test_values_from_bug_reports():
    # codertimo/BERT-pytorch#78: odd widths.
    row = [0.841471, 0.540302, 0.025116, 0.999685, 0.000631]
    np.testing.assert_allclose(table64(2, 5)[1], row, rtol=0, atol=6e-7)
    assert table64(2, 29)[1, 28] == pytest.approx(1.373823792e-4, rel=1e-9)
    # tensorflow/tensor2tensor#391: the same columns in another order.
    interleaved = [0.8415, 0.5403, 0.0998, 0.9950, 0.0100, 1.0000, 0.0010, 1.0]
    concatenated = [0.8415, 0.0998, 0.0100, 0.0010, 0.5403, 0.9950, 1.0000, 1.0]
    np.testing.assert_allclose(table64(2, 8)[1], interleaved, rtol=0, atol=6e-5)
    np.testing.assert_allclose(table64(2, 8, layout="sin_cos")[1], concatenated, rtol=0, atol=6e-5)
    # facebookresearch/fairseq#1177: the first token stands at position 2.
    first = table64([2], 4, layout="sin_cos", freq_shift=1)[0]
    np.testing.assert_allclose(first, [0.9093, 0.0002, -0.4161, 1.0], rtol=0, atol=6e-5)
    # hojonathanho/diffusion#15: the largest gap between the two divisors.
    gap = np.abs(table64(101, 512) - table64(101, 512, freq_shift=1))
    assert gap.max() == pytest.approx(0.1433, abs=5e-5)
    assert np.unravel_index(gap.argmax(), gap.shape) == (100, 2 * 27)


# The paper's double loop


@pytest.mark.parametrize("freq_shift", posenc.FREQ_SHIFT.options)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("d_model", [1, 2, 3, 4, 5, 6, 7, 8, 31, 64])
def test_the_table_is_the_double_loop_of_the_paper(d_model, layout, freq_shift):
    for base in (10_000.0, 1.0, 37.5, 1e9):
        options = {"base": base, "layout": layout, "freq_shift": freq_shift}
        places = [-4, 0, 0.5, 3.25, 1000]
        for positions, rows in ((40, range(40)), (places, places)):
            want = [paper.row(p, d_model, **options) for p in rows]
            np.testing.assert_allclose(table64(positions, d_model, **options), want, rtol=0, atol=2e-12)


@given(position_lists, widths, bases, layouts, freq_shifts)
def test_any_positions_are_the_double_loop_of_the_paper(positions, d_model, base, layout, freq_shift):
    options = {"base": base, "layout": layout, "freq_shift": freq_shift}
    want = [paper.row(p, d_model, **options) for p in positions]
    np.testing.assert_allclose(table64(positions, d_model, **options), want, rtol=0, atol=2e-11)


# Accuracy against 50 digits


@pytest.mark.parametrize(
    ("d_model", "base", "freq_shift"), [(512, 1e4, 0), (33, 1e9, 0), (128, 1e4, 1), (64, 3.7, 0)]
)
def test_far_positions_are_right_to_5e_9(d_model, base, freq_shift):
    rng = np.random.default_rng(0)
    positions = np.concatenate([[1e7, -1e7, 9_999_999, 9_999_999.5], rng.uniform(-1e7, 1e7, 8)])
    table = table64(positions, d_model, base=base, freq_shift=freq_shift)
    for r, p in enumerate(positions):
        for i in rng.choice(d_model // 2, 8, replace=False):
            for j, value in enumerate(paper.exact(p, int(i), d_model, base=base, freq_shift=freq_shift)):
                assert abs(value - table[r, 2 * i + j]) <= 5e-9


def test_counted_rows_are_right_to_5e_9_up_to_the_last_allowed_one():
    n = posenc.SEQ_LEN.maximum
    table = table64(n, 2)
    for p in (0, 1, 32_767, 32_768, 1_048_576, n - 2, n - 1):
        for value, cell in zip(paper.exact(p, 0, 2), table[p], strict=True):
            assert abs(value - cell) <= 5e-9


def test_float32_and_float16_are_the_true_value_rounded_once():
    for dtype in (np.float16, np.float32):
        table = posenc.sinusoidal(600, 24, dtype=dtype)
        for p in (1, 2, 299, 599):
            for i in range(12):
                for j, value in enumerate(paper.exact(p, i, 24)):
                    cell = table[p, 2 * i + j]
                    assert abs(value - float(cell)) <= 0.5001 * float(np.spacing(np.abs(cell)))


# The two ways of filling


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("n", "d_model"), [(1, 1), (17, 3), (500, 2), (1000, 64), (129, 513), (35, 16_384)])
def test_counted_rows_are_the_listed_rows(n, d_model, layout):
    counted, listed = table64(n, d_model, layout=layout), table64(np.arange(n), d_model, layout=layout)
    np.testing.assert_allclose(counted, listed, rtol=0, atol=1e-12)


def test_counted_rows_are_the_listed_rows_over_many_blocks():
    n = 100_003  # prime: no block divides it
    np.testing.assert_allclose(table64(n, 6), table64(np.arange(n), 6), rtol=0, atol=1e-10)


@given(st.integers(1, 3000), st.integers(1, 3000), widths, layouts, freq_shifts)
def test_a_longer_table_begins_with_the_shorter_one(n, m, d_model, layout, freq_shift):
    short, long = sorted((n, m))
    options = {"layout": layout, "freq_shift": freq_shift}
    head = table64(long, d_model, **options)[:short]
    np.testing.assert_allclose(head, table64(short, d_model, **options), rtol=0, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("counted", [True, False])
def test_little_memory_is_needed_beside_the_table(counted, layout):
    positions = 4096 if counted else np.arange(4096, dtype=np.int32)
    tracemalloc.start()
    table = posenc.sinusoidal(positions, 1024, layout=layout)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.3 * table.nbytes


# The laws of the table


@given(position_lists, st.integers(1, 35), bases, layouts, freq_shifts)
def test_every_row_of_an_even_width_has_the_norm_sqrt_half_d(positions, pairs, base, layout, freq_shift):
    table = table64(positions, 2 * pairs, base=base, layout=layout, freq_shift=freq_shift)
    np.testing.assert_allclose(np.linalg.norm(table, axis=1), math.sqrt(pairs), rtol=1e-13)


def test_the_rows_of_an_odd_width_have_other_norms():
    norms = np.linalg.norm(table64(2000, 5), axis=1) ** 2
    assert norms.min() == pytest.approx(2.0, abs=1e-12)
    assert norms.max() == pytest.approx(2.907, abs=5e-4)


@given(st.integers(2, 40), st.integers(1, 35), bases, layouts, freq_shifts, st.floats(-1e3, 1e3))
def test_dot_products_depend_on_the_offset_only(n, pairs, base, layout, freq_shift, start):
    table = table64(np.arange(n) + start, 2 * pairs, base=base, layout=layout, freq_shift=freq_shift)
    gram = table @ table.T
    for offset in range(n):
        assert np.ptp(gram.diagonal(offset)) < 1e-9
    rates = paper.rates(2 * pairs, base, freq_shift)
    want = [sum(math.cos(offset * rate) for rate in rates) for offset in range(n)]
    np.testing.assert_allclose(gram[0], want, rtol=0, atol=1e-9)


@given(st.integers(1, 30), widths, bases, freq_shifts)
def test_layouts_hold_the_same_columns_and_the_same_dot_products(n, d_model, base, freq_shift):
    tables = [table64(n, d_model, base=base, layout=layout, freq_shift=freq_shift) for layout in LAYOUTS]
    for layout, table in zip(LAYOUTS, tables, strict=True):
        held = posenc.columns(d_model, layout=layout, freq_shift=freq_shift)
        # Sorted by pair, the sine before its cosine, the column of zeros last: the interleaved order.
        order = np.lexsort((held.is_cos, np.where(held.pair < 0, d_model, held.pair)))
        np.testing.assert_array_equal(table[:, order], tables[0])
        np.testing.assert_allclose(table @ table.T, tables[0] @ tables[0].T, rtol=0, atol=1e-11)


@given(paired, places, st.floats(-1e4, 1e4), bases, layouts)
def test_the_shift_matrix_moves_every_position_by_k(width, p, k, base, layout):
    d_model, freq_shift = width
    options = {"base": base, "layout": layout, "freq_shift": freq_shift}
    matrix = posenc.shift_matrix(k, d_model, **options)
    here, there = table64([p, p + k], d_model, **options)
    # p + k is rounded to a float: up to 2e-12 of a position.
    np.testing.assert_allclose(matrix @ here, there, rtol=0, atol=2e-11)


@given(paired, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), layouts)
def test_shift_matrices_are_rotations_that_add_up(width, k, m, layout):
    d_model, freq_shift = width

    def shift(by):
        return posenc.shift_matrix(by, d_model, layout=layout, freq_shift=freq_shift)

    np.testing.assert_array_equal(shift(0), np.eye(d_model))
    np.testing.assert_allclose(shift(k) @ shift(k).T, np.eye(d_model), rtol=0, atol=1e-14)
    np.testing.assert_allclose(shift(k) @ shift(m), shift(k + m), rtol=0, atol=1e-12)


def test_a_shift_matrix_of_one_pair_is_the_rotation_of_the_paper():
    cos, sin = math.cos(0.5), math.sin(0.5)
    np.testing.assert_allclose(posenc.shift_matrix(0.5, 2), [[cos, sin], [-sin, cos]], rtol=0, atol=1e-16)


def test_an_unpaired_sine_cannot_be_shifted():
    with pytest.raises(ValueError, match=r"^d_model must be even .* the last sine .* got 7$"):
        posenc.shift_matrix(1, 7)
    assert posenc.shift_matrix(1, 7, freq_shift=1)[6].tolist() == [0, 0, 0, 0, 0, 0, 1]


# Columns, rates, wavelengths, steps


def test_columns_say_what_the_table_holds():
    held = {layout: posenc.columns(5, layout=layout) for layout in LAYOUTS}
    assert held["interleaved"].pair.tolist() == [0, 0, 1, 1, 2]
    assert held["interleaved"].is_cos.tolist() == [False, True, False, True, False]
    assert held["sin_cos"].pair.tolist() == [0, 1, 2, 0, 1]
    assert held["sin_cos"].is_cos.tolist() == [False, False, False, True, True]
    assert held["cos_sin"].pair.tolist() == [0, 1, 0, 1, 2]
    assert held["cos_sin"].is_cos.tolist() == [True, True, False, False, False]
    for layout in LAYOUTS:
        zero_last = posenc.columns(5, layout=layout, freq_shift=1)
        assert zero_last.pair[-1] == -1
        assert not zero_last.is_cos[-1]


@given(places, widths, bases, layouts, freq_shifts)
def test_columns_and_rates_rebuild_the_table(p, d_model, base, layout, freq_shift):
    rates = posenc.inv_freq(d_model, base=base, freq_shift=freq_shift)
    held = posenc.columns(d_model, layout=layout, freq_shift=freq_shift)
    angle = p * np.append(rates, 0)[held.pair]
    want = np.where(held.pair < 0, 0, np.where(held.is_cos, np.cos(angle), np.sin(angle)))
    table = table64([p], d_model, base=base, layout=layout, freq_shift=freq_shift)
    np.testing.assert_allclose(table[0], want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("d_model", [1, 2, 3, 4, 5, 8, 511, 512])
@pytest.mark.parametrize("freq_shift", posenc.FREQ_SHIFT.options)
def test_rates_are_those_of_the_definitions(d_model, freq_shift):
    for base in (10_000.0, 1.0, 500_000):
        rates = posenc.inv_freq(d_model, base=base, freq_shift=freq_shift)
        assert rates.dtype == np.float64
        np.testing.assert_allclose(rates, paper.rates(d_model, base, freq_shift), rtol=1e-14)


def test_rates_printed_in_bug_reports():
    np.testing.assert_allclose(posenc.inv_freq(8), [1, 0.1, 0.01, 0.001], rtol=1e-14)
    shifted = [1, 0.046416, 0.002154, 0.0001]
    np.testing.assert_allclose(posenc.inv_freq(8, freq_shift=1), shifted, rtol=0, atol=5e-7)
    assert posenc.inv_freq(2, freq_shift=1).tolist() == [1]  # tensor2tensor divides by at least 1


def test_wavelengths_run_from_two_pi_to_what_the_width_allows():
    paper_ends = posenc.wavelengths(512)
    assert paper_ends[0] == pytest.approx(2 * math.pi)
    assert paper_ends[-1] == pytest.approx(60_611, abs=1)
    assert posenc.wavelengths(512, freq_shift=1)[-1] == pytest.approx(62_832, abs=1)
    assert posenc.wavelengths(4, base=100).tolist() == pytest.approx([2 * math.pi, 20 * math.pi])


def test_steps_have_the_shapes_of_the_derivation():
    steps = posenc.steps([0.5, 3, -2], 5, base=100)
    assert [array.shape for array in steps] == [(3, 1), (1, 5), (1, 5), (1, 5), (3, 5), (3, 5)]
    assert steps.positions.tolist() == [[0.5], [3], [-2]]
    np.testing.assert_allclose(steps.exponents, [[0, 0, 0.4, 0.4, 0.8]], rtol=1e-15)
    np.testing.assert_allclose(steps.table, table64([0.5, 3, -2], 5, base=100), rtol=0, atol=1e-15)
    assert all(array.dtype == np.float64 for array in steps if array is not steps.columns)


# Arguments


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("positions", [3, [0.0, 1.0]])
def test_the_table_has_the_dtype_asked_for(positions, dtype):
    assert posenc.sinusoidal(positions, 8, dtype=dtype).dtype == dtype


def test_the_default_is_float32_in_the_layout_of_the_paper():
    table = posenc.sinusoidal(5, 6)
    assert table.dtype == np.float32
    assert table.flags.c_contiguous
    np.testing.assert_allclose(table[3], paper.row(3, 6), rtol=0, atol=6e-8)


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.float16, np.float32, ">f8", ">i2"])
def test_small_number_types_do_not_wrap_or_round_the_angles(kind):
    positions = np.array([0, 3, 100, 127], dtype=kind)
    np.testing.assert_array_equal(table64(positions, 8), table64([0.0, 3.0, 100.0, 127.0], 8))


@pytest.mark.parametrize("freq_shift", [0, np.uint8(1)])
def test_widths_of_small_number_types_do_not_wrap(freq_shift):
    small = {"d_model": np.uint8(200), "freq_shift": freq_shift}
    whole = {"d_model": 200, "freq_shift": int(freq_shift)}
    np.testing.assert_array_equal(table64(np.uint8(250), **small), table64(250, **whole))
    np.testing.assert_array_equal(posenc.shift_matrix(3, **small), posenc.shift_matrix(3, **whole))
    np.testing.assert_array_equal(posenc.columns(**small), posenc.columns(**whole))


def test_strided_and_read_only_positions_are_taken():
    positions = np.asfortranarray(np.arange(12.0).reshape(4, 3))[:, 1]
    positions.flags.writeable = False
    np.testing.assert_array_equal(table64(positions, 4), table64([1.0, 4.0, 7.0, 10.0], 4))


def test_the_row_of_position_0_is_exact():
    for positions in (5, [0.0]):
        first = table64(positions, 8)[0]
        assert first.tolist() == [0, 1] * 4
        assert not np.signbit(first).any()


def test_the_column_of_zeros_is_zero_in_every_dtype():
    for positions in (4000, np.arange(4000)):
        for layout in LAYOUTS:
            assert not posenc.sinusoidal(positions, 7, layout=layout, freq_shift=1)[:, 6].any()
    assert posenc.sinusoidal(3, 1, freq_shift=1).tolist() == [[0], [0], [0]]


BAD = {
    "positions": [0, -1, 1.5, True, "5", [], [[1]], [float("nan")], 10**8],
    "d_model": [0, -4, 8.0, True, "8", 16_385, None],
    "base": [0, 0.5, -1, float("nan"), float("inf"), True, "10000", 1e13],
    "layout": ["", "sincos", 0, None, "INTERLEAVED"],
    "freq_shift": [2, -1, True, 1.0, "1", None],
    "dtype": [None, int, "half-float", np.complex128],
}


def test_the_example_of_the_docstring():
    result = doctest.testmod(sys.modules["posenc.sinusoidal"])
    assert (result.failed, result.attempted) == (0, 1)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_argument_is_named(name):
    for value in BAD[name]:
        with pytest.raises(ValueError, match=rf"^{name} must be "):
            posenc.sinusoidal(**({"positions": 4, "d_model": 8} | {name: value}))


@pytest.mark.parametrize("function", ["inv_freq", "wavelengths", "columns", "steps", "shift_matrix"])
def test_the_other_functions_check_theirs_too(function):
    first = (1,) if function in ("steps", "shift_matrix") else ()
    called = getattr(posenc, function)
    with pytest.raises(ValueError, match=r"^d_model must be an integer from 1 to 16384, got -4$"):
        called(*first, -4)
    for name in {"base", "layout", "freq_shift"} & set(called.__kwdefaults__):
        with pytest.raises(ValueError, match=rf"^{name} must be "):
            called(*first, 8, **{name: BAD[name][0]})
    if first:
        with pytest.raises(ValueError, match=r"^(positions|k) must be "):
            called(float("nan"), 8)
