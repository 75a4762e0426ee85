"""The checks of the shared arguments: what they let through, what they refuse, and how they say so."""

import fractions

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.parameters import (
    BASE,
    D_MODEL,
    FREQ_SHIFT,
    HEAD_DIM,
    LAYOUT,
    SEQ_LEN,
    SHIFT,
    check_dtype,
    check_positions,
    shown,
)

NOT_INTEGERS = [
    True,
    np.True_,
    1.0,
    np.float64(2),
    2.5,
    float("nan"),
    float("inf"),
    "8",
    "６４",
    None,
    [8],
    np.array(8),
    1j,
]


def refusal(parameter, value):
    """The sentence that refuses `value`, or None where it is taken."""
    try:
        parameter.check(value)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("limits", [SEQ_LEN, D_MODEL])
def test_an_integer_is_taken_from_the_minimum_to_the_maximum(limits):
    for value in (limits.minimum, limits.default, limits.maximum):
        assert limits.check(value) == value
    for value in (limits.minimum - 1, limits.maximum + 1, -(10**30), 10**30):
        with pytest.raises(ValueError, match=rf"^{limits.name} must be an integer from "):
            limits.check(value)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.uint64])
def test_numpy_integers_become_python_integers(kind):
    assert type(D_MODEL.check(kind(8))) is int


@pytest.mark.parametrize("value", NOT_INTEGERS, ids=repr)
def test_what_is_no_integer_is_refused(value):
    with pytest.raises(ValueError, match=r"^d_model must be an integer from 1 to 16384, got "):
        D_MODEL.check(value)


def test_the_sentence_names_argument_limits_and_value():
    with pytest.raises(ValueError, match=r"^d_model must be an integer from 1 to 16384, got -4$"):
        D_MODEL.check(-4)
    with pytest.raises(ValueError, match=r"^base must be a number from 1 to 1e\+12, got 0\.5$"):
        BASE.check(np.float32(0.5))
    with pytest.raises(
        ValueError, match=r"^layout must be 'interleaved' or 'sin_cos' or 'cos_sin', got 'sincos'$"
    ):
        LAYOUT.check("sincos")
    with pytest.raises(ValueError, match=r"^freq_shift must be 0 or 1, got 2$"):
        FREQ_SHIFT.check(2)


def test_an_even_number_is_asked_for_where_pairs_are_made():
    assert [HEAD_DIM.check(value) for value in (2, np.int64(64), 1024)] == [2, 64, 1024]
    for value in (3, 127, 0, 1026, 4.0, True):
        with pytest.raises(ValueError, match=r"^head_dim must be an even integer from 2 to 1024, got "):
            HEAD_DIM.check(value)


@given(st.one_of(st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.binary(), st.none()))
def test_whatever_is_refused_is_refused_in_one_line(value):
    for parameter in (SEQ_LEN, BASE, LAYOUT, FREQ_SHIFT):
        sentence = refusal(parameter, value)
        assert sentence is None or sentence.startswith(f"{parameter.name} must be ")
        assert sentence is None or ("\n" not in sentence and len(sentence) < 130)


def test_a_real_number_is_taken_from_the_minimum_to_the_maximum():
    for value in (1, 1.0, 10_000, 1e12, np.float32(500), np.int64(2)):
        assert BASE.check(value) == float(value)
        assert type(BASE.check(value)) is float
    bad = (
        0.999,
        1.1e12,
        10**400,
        float("nan"),
        float("inf"),
        -float("inf"),
        True,
        "2",
        None,
        2j,
        [2.0],
        np.array(2.0),
    )
    for value in (*bad, fractions.Fraction(3, 2)):
        with pytest.raises(ValueError, match=r"^base must be a number from 1 to "):
            BASE.check(value)


def test_a_shift_reaches_as_far_as_positions_do_both_ways():
    assert SHIFT.check(-1e7) == -1e7
    assert SHIFT.check(1e7) == SEQ_LEN.maximum
    with pytest.raises(ValueError, match=r"^k must be "):
        SHIFT.check(1.1e7)


def test_the_first_option_is_the_default():
    assert LAYOUT.default == "interleaved"
    assert FREQ_SHIFT.default == 0


def test_a_choice_takes_only_its_own_kind():
    assert FREQ_SHIFT.check(np.int64(1)) == 1
    assert LAYOUT.check(np.str_("cos_sin")) == "cos_sin"
    for value in (True, False, 1.0, "1", np.array(1), None):
        with pytest.raises(ValueError, match=r"^freq_shift must be 0 or 1, got "):
            FREQ_SHIFT.check(value)


@pytest.mark.parametrize(
    "dtype", [np.float16, "float32", np.dtype(np.float64), float, "float", "f4", "<f8", "single"]
)
def test_three_float_dtypes_are_taken(dtype):
    assert check_dtype(dtype) == np.dtype(dtype)


@pytest.mark.parametrize(
    "dtype", [None, int, "int8", "complex64", ">f4", "bfloat16", object, 3, "longdouble"]
)
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(ValueError, match=r"^dtype must be float16 or float32 or float64, got "):
        check_dtype(dtype)


def test_a_number_of_positions_is_checked_under_its_own_name():
    assert check_positions(np.int16(7)) == 7
    for value in (0, -3, 10_000_001):
        with pytest.raises(
            ValueError, match=rf"^positions must be an integer from 1 to 10000000, got {value}$"
        ):
            check_positions(value)


@pytest.mark.parametrize(
    "positions",
    [
        np.array([200, 255], np.uint8),
        np.array([2048, -3], np.float16),
        np.array([1, 2, 3], ">i4"),
        np.arange(20.0)[::3],
        [0, 2.5, -7],
        (1,),
        range(3),
    ],
    ids=lambda positions: repr(positions)[:40],
)
def test_positions_become_native_float64_with_the_same_values(positions):
    exact = check_positions(positions)
    assert exact.dtype == np.float64
    assert exact.dtype.isnative
    assert exact.tolist() == [float(p) for p in positions]


def test_positions_are_not_changed_in_place():
    positions = np.arange(4.0)
    positions.flags.writeable = False
    check_positions(positions)[:] = 9
    assert positions.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "positions",
    [
        True,
        2.5,
        np.float64(3),
        "12",
        None,
        [],
        np.empty(0),
        [[1, 2]],
        np.zeros((2, 2)),
        np.array(5),
        ["1"],
        [True, False],
        [1j],
        [None],
        [[1], [1, 2]],
        [10**30],
        np.array(["2020-01-01"], "M8[D]"),
        {1, 2},
    ],
    ids=repr,
)
def test_what_is_no_axis_of_real_numbers_is_refused_in_one_sentence(positions):
    sentence = r"^positions must be an integer or a 1-D array of 1 to 10000000 real numbers, got "
    with pytest.raises(ValueError, match=sentence) as refusal:
        check_positions(positions)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_the_first_position_that_is_not_finite_is_named(value):
    with pytest.raises(ValueError, match=rf"^positions must be finite, got {value} at index 2$"):
        check_positions([0, 1, value, float("nan")])


def test_too_many_positions_are_refused_without_being_copied():
    with pytest.raises(ValueError, match="got an array of int8 of shape"):
        check_positions(np.broadcast_to(np.int8(0), 10_000_001))


def test_a_refused_value_is_shown_on_one_short_line():
    assert shown(np.zeros((2, 3))) == "an array of float64 of shape (2, 3)"
    assert shown(10**5000) == "a value of type int that is too long to show"
    assert shown([10**5000]) == "a value of type list that is too long to show"
    assert shown([10**35] * 4).endswith("...")
    assert shown(np.float64("nan")) == "nan"
    assert shown("a\nb") == r"'a\nb'"
    assert len(shown("x" * 10_000)) <= 60
    assert shown("\ud800") == r"'\ud800'"
