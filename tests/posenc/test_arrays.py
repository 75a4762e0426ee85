import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posenc.arrays import check_array, check_finite, check_table, check_whole, unit_scale

NUMBERS = arrays(
    np.float64, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=st.floats(-1e300, 1e300)
)


@given(NUMBERS, st.sampled_from([None, 1]))
def test_unit_scale_changes_no_digit(values, axis):
    scaled, exponent = unit_scale(values, axis)
    peak = np.abs(scaled).max(axis=axis)
    assert ((peak == 0) | ((peak >= 0.5) & (peak < 1))).all()
    normal = (
        np.abs(scaled) >= 1e-290
    )  # what is 1e290 times smaller than its row's largest value may lose digits
    np.testing.assert_array_equal(np.ldexp(scaled, exponent)[normal], values[normal])


@pytest.mark.parametrize("value", [2.0**-1074, 2.0**1023, 1.0, -3e-310])
def test_unit_scale_of_the_smallest_and_the_largest_number(value):
    scaled, exponent = unit_scale(np.array([[value]]), axis=1)
    assert 0.5 <= abs(scaled[0, 0]) < 1
    assert np.ldexp(scaled, exponent)[0, 0] == value


def test_arrays_become_float64_and_are_copied():
    given_array = np.array([[1, 2]], dtype=np.int8)
    checked = check_table("table", given_array)
    assert checked.dtype == np.float64
    original = np.array([[1.0, 2.0]])
    check_array("x", original)[0, 0] = 9
    assert original[0, 0] == 1


@pytest.mark.parametrize("bad", ["text", None, [[1, 2], [3]], [True], [1j], [object()], np.array(["1"])])
def test_what_is_no_array_of_numbers_is_named(bad):
    with pytest.raises(ValueError, match=r"^x must be an array of real numbers, got dtype "):
        check_array("x", bad)


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (3, 0), (1, 2, 3)])
def test_a_table_has_two_axes_and_is_not_empty(shape):
    with pytest.raises(
        ValueError, match=r"^table must be a 2-D array with at least one row and one column, got "
    ):
        check_table("table", np.ones(shape))


@pytest.mark.parametrize("value", [np.inf, [np.nan], [[0.0], [-np.inf]]])
def test_the_first_number_that_is_not_finite_is_named(value):
    where = {0: "", 1: " at index 0", 2: " at index 1, 0"}[np.ndim(value)]
    with pytest.raises(ValueError, match=f"^x must be finite, got -?(inf|nan){where}$"):
        check_finite("x", check_array("x", value))


def test_whole_numbers_become_int64_whatever_their_dtype():
    for value in (3, [1.0, -2.0], np.float16([[4]]), np.uint8([200]), 2.0**53, np.empty((0, 2))):
        checked = check_whole("x", value)
        assert checked.dtype == np.int64
        np.testing.assert_array_equal(checked, value)


@pytest.mark.parametrize("value", [0.5, [1, np.nan], [np.inf], 2.0**60])
def test_what_is_not_whole_is_refused(value):
    with pytest.raises(ValueError, match=r"^x must be whole numbers, got "):
        check_whole("x", value)
