import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posenc.learned import load
from posenc.similarity import (
    MEASURE,
    MEASURES,
    by_offset,
    cosine,
    distance,
    dot,
    first_turn,
    norms,
    undefined_cells,
)
from posenc.sinusoidal import sinusoidal

FINITE = st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 6))
TABLES = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=FINITE)
# cos(PE(0), PE(1)) for d = 8, from the paper's formula: the mean of cos 1, cos 0.1, cos 0.01, cos 0.001.
COSINE_0_1 = (math.cos(1) + math.cos(0.1) + math.cos(0.01) + math.cos(0.001)) / 4


def paper_table(n: int = 16, d: int = 8) -> np.ndarray:
    table = np.empty((n, d))
    for p in range(n):
        for i in range(d // 2):
            table[p, 2 * i] = math.sin(p / 10000 ** (2 * i / d))
            table[p, 2 * i + 1] = math.cos(p / 10000 ** (2 * i / d))
    return table


def scalar_measures(x: list[float], y: list[float]) -> dict[str, float]:
    product = math.fsum(a * b for a, b in zip(x, y, strict=True))
    return {
        "dot": product,
        "cosine": product / (math.hypot(*x) * math.hypot(*y)) if any(x) and any(y) else math.nan,
        "distance": math.dist(x, y),
    }


@given(TABLES, st.data())
def test_every_measure_is_its_scalar_double_loop(a, data):
    b = data.draw(arrays(np.float64, st.tuples(st.integers(1, 6), st.just(a.shape[1])), elements=FINITE))
    for name, measure in MEASURES.items():
        for first, second, got in ((a, a, measure(a, None)), (a, b, measure(a, b))):
            expected = [[scalar_measures(x, y)[name] for y in second.tolist()] for x in first.tolist()]
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-6 if name == "dot" else 1e-12)


def test_no_measure_is_missing():
    assert list(MEASURES) == ["dot", "cosine", "distance"]


@pytest.mark.parametrize("size", [1.0, 1e200, 1e-200, 1e-300, 1e300])
def test_cosine_of_rows_of_any_size(size):
    assert cosine(size * paper_table())[0, 1] == pytest.approx(COSINE_0_1, abs=1e-12)
    assert round(COSINE_0_1, 6) == 0.883814


def test_cosine_of_subnormal_rows():
    tiny = 2.0**-1074
    np.testing.assert_allclose(cosine([[3 * tiny, 4 * tiny], [tiny, 0]]), [[1, 0.6], [0.6, 1]], rtol=1e-15)


def test_cosine_of_huge_rows_next_to_tiny_ones():
    rows = np.array([[3e200, 4e200], [1e-200, 0], [0, 5e-320], [-1.7e308, -1.7e308]])
    half = math.sqrt(0.5)
    expected = [
        [1, 0.6, 0.8, -1.4 * half],
        [0.6, 1, 0, -half],
        [0.8, 0, 1, -half],
        [-1.4 * half, -half, -half, 1],
    ]
    np.testing.assert_allclose(cosine(rows), expected, rtol=1e-14)


def test_a_zero_row_is_undefined_and_never_zero():
    rows = np.array([[1.0, 0], [0, 0], [1, 1]])
    found = cosine(rows)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_allclose(found[np.ix_([0, 2], [0, 2])], [[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])
    assert np.isnan(cosine([[0.0, 0]], [[1.0, 2]])).all()
    assert np.isnan(cosine([[1.0, 2]], [[0.0, 0]])).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_holds_no_number_spoils_itself_only(bad):
    rows = np.array([[1.0, 2], [bad, 1], [3, 4]])
    found = cosine(rows)
    assert np.isnan(found[1]).all()
    assert np.isnan(found[:, 1]).all()
    assert found[0, 2] == pytest.approx(11 / math.sqrt(125))
    assert distance(rows)[0, 2] == pytest.approx(math.sqrt(8))
    assert math.isnan(distance(rows)[1, 1])


@given(TABLES)
def test_cosine_stays_within_one(table):
    found = cosine(table * 1.1)
    defined = found[~np.isnan(found)]
    assert (np.abs(defined) <= 1).all()
    np.testing.assert_allclose(np.diag(found)[table.any(axis=1)], 1, rtol=1e-15)


def test_cosine_clips_what_rounding_leaves_above_one():
    table = np.random.default_rng(0).normal(size=(200, 3))
    unit = table / np.linalg.norm(table, axis=1, keepdims=True)
    assert (unit @ unit.T).max() > 1  # without clipping
    assert cosine(table).max() == 1


def test_dot_past_the_range_is_infinite_without_a_warning():
    np.testing.assert_array_equal(
        dot([[1e200, 0]], [[1e200, 0], [-1e200, 0], [1, 0]]), [[np.inf, -np.inf, 1e200]]
    )


@given(TABLES, st.sampled_from([1.0, 1e200, 1e-200, 1e-310]))
def test_equal_rows_are_exactly_zero_apart(table, size):
    rows = np.vstack([table, table]) * size
    n = len(table)
    found = distance(rows)
    np.testing.assert_array_equal(np.diag(found[:n, n:]), 0)
    np.testing.assert_array_equal(np.diag(distance(rows, rows)), 0)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("size", [1e200, 1e-200, 1e-155, 1e300])
def test_distance_of_rows_of_any_size(size):
    np.testing.assert_allclose(distance([[3 * size, 0], [0, 4 * size]])[0, 1], 5 * size, rtol=1e-14)


def test_distance_of_huge_rows_next_to_tiny_ones():
    found = distance([[3e-200, 0], [0, 4e-200], [3e200, 4e200], [1.5e308, 0], [-1.5e308, 0]])
    assert found[0, 1] == pytest.approx(5e-200, rel=1e-14)
    assert found[0, 2] == pytest.approx(5e200, rel=1e-14)
    assert found[3, 4] == np.inf


def test_distance_keeps_the_digits_of_close_rows():
    # |a|² + |b|² − 2 a·b would say 0 here.
    assert distance([[1.0, 1e8]], [[1.0 + 1e-7, 1e8]])[0, 0] == pytest.approx(1e-7, rel=1e-8)


def test_norms():
    np.testing.assert_allclose(
        norms([[3, 4], [0, 0], [3e200, 4e200], [3e-200, 4e-200]]), [5, 0, 5e200, 5e-200]
    )
    assert math.isnan(norms([[math.nan, 1]])[0])
    assert norms([[math.inf, 1]])[0] == math.inf


@pytest.mark.parametrize("measure", MEASURES.values())
def test_one_row_and_one_column(measure):
    assert measure([[2.0]], None).shape == (1, 1)
    assert measure([[2.0]], [[3.0], [4.0]]).shape == (1, 2)


@pytest.mark.parametrize("measure", MEASURES.values())
def test_arrays_of_any_memory_order_and_type(measure):
    table = paper_table(5, 4)
    expected = measure(table, None)
    read_only = table.copy()
    read_only.flags.writeable = False
    for same in (
        np.asfortranarray(table),
        table.astype(">f8"),
        np.repeat(table, 2, axis=1)[:, ::2],
        read_only,
    ):
        np.testing.assert_allclose(measure(same, None), expected, rtol=0, atol=1e-15)
    # 200 · 200 would wrap in uint8, 300 · 300 overflow in float16.
    assert dot(np.array([[200]], dtype=np.uint8))[0, 0] == 40000
    assert dot(np.array([[300]], dtype=np.float16))[0, 0] == 90000
    assert distance(np.array([[1], [3]], dtype=np.uint8))[0, 1] == 2


@pytest.mark.parametrize("measure", MEASURES.values())
@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0, 2.0], None, r"a must be a 2-D array with at least one row and one column, got shape \(2,\)"),
        ([[1.0]], [[[1.0]]], r"b must be a 2-D array .*, got shape \(1, 1, 1\)"),
        (np.empty((0, 4)), None, r"a must be a 2-D array .*, got shape \(0, 4\)"),
        (np.empty((4, 0)), None, r"a must be a 2-D array .*, got shape \(4, 0\)"),
        ([["x"]], None, r"a must be an array of real numbers, got dtype <U1"),
        ([[1j]], None, r"a must be an array of real numbers, got dtype complex128"),
        ([[True]], None, r"a must be an array of real numbers, got dtype bool"),
        ([[1.0], [1.0, 2.0]], None, r"a must be an array of real numbers, got dtype object"),
        ([[1.0, 2.0]], [[1.0]], r"a and b must have the same width, got 2 and 1 columns"),
    ],
)
def test_a_bad_table_is_named(measure, a, b, message):
    with pytest.raises(ValueError, match=rf"^{message}$"):
        measure(a, b)


@given(TABLES.filter(lambda t: len(t) > 1), st.booleans())
def test_by_offset_is_its_double_loop(table, signed):
    matrix = table @ np.linspace(-1, 1, table.shape[1])[:, None] * np.arange(len(table))  # not symmetric
    matrix[0, -1] = np.nan
    n = len(matrix)
    profile = by_offset(matrix, signed=signed)
    assert profile.offset.tolist() == list(range(1 - n if signed else 0, n))
    for index, k in enumerate(profile.offset):
        cells = [matrix[p, p + k] for p in range(n) if 0 <= p + k < n and not math.isnan(matrix[p, p + k])]
        assert profile.count[index] == len(cells)
        if not cells:
            assert math.isnan(profile.mean[index])
            continue
        mean = math.fsum(cells) / len(cells)
        spread = math.sqrt(math.fsum((cell - mean) ** 2 for cell in cells) / len(cells))
        found = [profile.mean, profile.std, profile.minimum, profile.maximum]
        np.testing.assert_allclose(
            [values[index] for values in found], [mean, spread, min(cells), max(cells)], rtol=1e-9, atol=1e-9
        )


def test_by_offset_leaves_an_undefined_row_out():
    table = paper_table(6)
    table[1] = 0
    profile = by_offset(cosine(table))
    assert profile.count.tolist() == [5, 3, 3, 2, 1, 1]
    assert not np.isnan(profile.mean).any()
    nothing = by_offset(cosine(np.zeros((3, 2))))
    assert nothing.count.tolist() == [0, 0, 0]
    assert np.isnan([nothing.mean, nothing.std, nothing.minimum, nothing.maximum]).all()


def test_by_offset_of_infinite_products_warns_of_nothing():
    assert by_offset(dot(np.full((3, 2), 1e200))).mean.tolist() == [np.inf] * 3


def test_by_offset_of_one_position():
    profile = by_offset([[2.5]], signed=True)
    assert (profile.offset.tolist(), profile.mean.tolist(), profile.std.tolist()) == ([0], [2.5], [0])


def test_by_offset_needs_a_square():
    with pytest.raises(ValueError, match=r"^matrix must be square, .* got shape \(2, 3\)$"):
        by_offset(np.ones((2, 3)))


def test_the_sinusoid_depends_on_the_offset_alone():
    table = sinusoidal(64, 16, dtype=np.float64)
    for measure in MEASURES.values():
        assert by_offset(measure(table, None), signed=True).std.max() < 1e-12
    # Similarity to position 0 first rises at offset 12 for d = 128: it does not decay monotonically.
    mean = by_offset(cosine(sinusoidal(50, 128, dtype=np.float64))).mean
    assert np.flatnonzero(np.diff(mean) > 0)[0] + 1 == 12


def test_measures_of_a_real_table_take_no_time():
    table = load("minilm_l6")
    for measure, seconds in ((dot, 0.2), (cosine, 0.3), (distance, 1.0)):  # some ten times what it takes
        start = time.process_time()
        measure(table)
        assert time.process_time() - start < seconds


def test_the_choice_of_measures_names_each_once():
    assert sorted(MEASURE.options) == sorted(MEASURES)


def test_the_profile_as_a_band_and_seen_from_a_position():
    profile = by_offset([[4.0, 1, 7], [1, 6, 3], [7, 3, 5]])
    np.testing.assert_allclose(profile.band[0], [5, 2, 7])
    np.testing.assert_allclose(profile.band[1], [5 - math.sqrt(2 / 3), 1, 7])
    np.testing.assert_allclose(profile.band[2], [5 + math.sqrt(2 / 3), 3, 7])
    assert profile.widest == 1
    np.testing.assert_array_equal(profile.seen_from(0), [5, 2, 7])
    np.testing.assert_array_equal(profile.seen_from(1), [2, 5, 2])
    assert math.isnan(by_offset([[math.nan]]).widest)


@pytest.mark.parametrize(
    ("values", "turn"),
    [
        ([5, 4, 3, 4], 3),
        ([0, 1, 2, 2, 1], 4),  # a distance grows first
        ([3, 2, 1], None),
        ([1, 1, 1], None),
        ([1, 1 - 1e-15, 1], None),  # rounding
        ([1e-200, 0.5e-200, 0.8e-200], 2),
        ([math.nan, 3, 2, math.nan, 4, 3, 4], 6),
        ([math.nan], None),
        ([2], None),
    ],
)
def test_the_first_turn_of_a_curve(values, turn):
    assert first_turn(values) == turn


def test_the_mean_of_minilm_turns_where_it_was_measured_to():
    # .592, .440, .504 at 2, 3, 4
    assert first_turn(by_offset(cosine(load("minilm_l6"))).mean) == 4


def test_undefined_cells_are_counted():
    assert undefined_cells(cosine([[1.0, 0], [0, 0], [1, 1]])) == 5
    assert undefined_cells(cosine([[1.0, 0]])) == 0
