"""Rounding against NumPy's and ml_dtypes' own formats, fifty digits, and the published accidents."""

import doctest
import math

import ml_dtypes
import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import posenc
from posenc import precision
from posenc.parameters import PRECISION, STAGE

# Formats of others, and how a float64 gets there without being rounded twice.
DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16}
precisions = st.sampled_from(PRECISION.options)
stages = st.sampled_from(STAGE.options)
numbers = st.floats(allow_nan=False, width=64)
ordinary = st.floats(-1e7, 1e7)
position_lists = st.lists(ordinary, min_size=1, max_size=20)


def cast(values, name):
    """The values in another's format, as float64; past its largest number they are infinite."""
    values = np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if name == "bfloat16":  # ml_dtypes goes by way of float32, and would round a second time
            values = to_odd(values).astype(np.float32)
        return values.astype(DTYPES[name]).astype(np.float64)


def to_odd(values):
    """Cut to float32 and set the last digit where something was cut: no half can arise from that."""
    near = values.astype(np.float32)
    cut = np.where(np.abs(near) > np.abs(values), np.nextafter(near, np.float32(0)), near)
    odd = (cut.view(np.uint32) | 1).view(np.float32)
    return np.where(near == values, values, odd)


# The formats


@pytest.mark.parametrize("name", DTYPES)
def test_a_format_has_the_digits_and_the_ends_of_the_real_one(name):
    limits, form = ml_dtypes.finfo(DTYPES[name]), precision.FORMATS[name]
    assert form.digits == limits.nmant + 1
    assert 2.0**form.smallest == float(limits.smallest_subnormal)
    assert form.largest == float(limits.max)


@given(numbers, precisions)
@example(65519.99, "float16")
@example(65520.0, "float16")
@example(-65520.0, "float16")
@example(1 + 2**-8 + 2**-40, "bfloat16")
@example(1 + 2**-8, "bfloat16")
@example(1 + 3 * 2**-8, "bfloat16")
@example(3e-8, "float16")
@example(2.0**-25, "float16")
@example(1.5 * 2.0**-149, "float32")
@example(3.4e38, "bfloat16")
@example(math.inf, "bfloat16")
@example(-0.0, "float16")
@example(1e308, "float32")
def test_a_number_is_rounded_as_the_real_format_rounds_it(value, name):
    made = precision.rounded([value], name)
    np.testing.assert_array_equal(made, cast([value], name))
    assert np.signbit(made) == np.signbit(value)


@given(st.integers(0, 2**16 - 1), st.sampled_from(["float16", "bfloat16"]))
def test_every_number_of_a_format_stays_what_it_is(bits, name):
    value = np.array([bits], np.uint16).view(DTYPES[name]).astype(float)
    np.testing.assert_array_equal(precision.rounded(value, name), value)


@given(st.floats(1e-3, 6e4), st.sampled_from(["float16", "float32", "float64"]))
def test_spacing_is_that_of_numpy(value, name):
    near = DTYPES[name](value)
    assert precision.spacing([float(near)], name) == float(np.spacing(near))


@given(numbers, precisions)
def test_rounding_is_done_after_one_time_and_never_by_more_than_half_a_gap(value, name):
    made = precision.rounded([value], name)
    np.testing.assert_array_equal(precision.rounded(made, name), made)
    if np.isfinite(made).all() and np.isfinite(value):
        assert abs(made[0] - value) <= precision.spacing([value], name)[0] / 2


def test_what_is_not_a_number_stays_so_and_any_shape_is_kept():
    made = precision.rounded([[1.0, math.nan], [257, -math.inf]], "bfloat16")
    np.testing.assert_array_equal(made, [[1.0, math.nan], [256, -math.inf]])


# Positions


def test_published_positions_in_bfloat16():
    # EleutherAI/gpt-neox#1016; huggingface/transformers#29285; the gap near 15,962 is 64.
    given_out = precision.rounded([257, 259, 4095, 15962, 65535], "bfloat16")
    assert given_out.tolist() == [256, 260, 4096, 15936, 65536]
    assert precision.spacing([15962, 65536], "bfloat16").tolist() == [64, 512]


@pytest.mark.parametrize(("n", "distinct"), [(256, 256), (257, 257), (258, 257), (512, 385), (4096, 769)])
def test_published_numbers_of_distinct_positions_in_bfloat16(n, distinct):
    assert precision.collisions(n, "bfloat16").distinct == distinct


@given(st.lists(st.integers(0, 70_000), min_size=1, max_size=40), precisions)
def test_collisions_are_counted_one_by_one(positions, name):
    found, seen = precision.collisions(positions, name), []
    first = None
    for index, position in enumerate(positions):
        value = float(cast([position], name)[0])
        if value in seen and first is None:
            first = index
        seen.append(value)
    assert found.values.tolist() == seen
    assert (found.distinct, found.first) == (len(set(seen)), first)
    assert found.largest == max(seen.count(value) for value in seen)


@pytest.mark.parametrize(("name", "first"), [("bfloat16", 257), ("float16", 2049), ("float32", None)])
def test_positions_collide_from_two_to_the_number_of_digits(name, first):
    assert precision.collisions(5000, name).first == first
    assert precision.collisions([2**24, 2**24 + 1], "float32").first == 1


def test_beyond_its_largest_number_float16_has_one_place_for_all():
    found = precision.collisions([65519, 65520, 70_000, 1e6], "float16")
    assert found.values.tolist() == [65504, math.inf, math.inf, math.inf]
    assert (found.distinct, found.largest) == (2, 3)


# Angles and tables


def steps(p, omega, name, stage):
    """One angle and its sine, a step at a time, in the real format."""

    def r(value):
        return float(cast([value], name)[0])

    if stage == "chain":
        angle = r(r(p) * r(omega))
        return angle, r(math.sin(angle))
    if stage == "angle":
        angle = r(p * omega)
        return angle, math.sin(angle)
    if stage == "position":
        angle = r(p) * omega
        return angle, math.sin(angle)
    return p * omega, r(math.sin(p * omega))


@given(st.floats(-6e4, 6e4), st.floats(1e-4, 1), precisions, stages)
def test_each_stage_rounds_its_own_step(p, omega, name, stage):
    angle, sine = steps(p, omega, name, stage)
    assert precision.angles_in([p], [omega], name, stage=stage) == [[angle]]
    made, cosine = precision.waves_in([p], [omega], name, stage=stage)
    gap = precision.spacing(sine, name) if stage in ("chain", "table") else 0
    assert made[0, 0] == pytest.approx(sine, abs=max(float(gap), 1e-15))
    assert made[0, 0] ** 2 + cosine[0, 0] ** 2 == pytest.approx(
        1, abs=4 * 2.0 ** -precision.FORMATS[name].digits
    )


@given(
    position_lists,
    st.integers(1, 12),
    st.sampled_from(posenc.LAYOUT.options),
    st.sampled_from(posenc.FREQ_SHIFT.options),
    st.sampled_from(["float16", "float32", "float64"]),
)
def test_cast_last_the_table_is_the_usual_one_in_that_dtype(positions, d_model, layout, freq_shift, name):
    options = {"layout": layout, "freq_shift": freq_shift}
    made = precision.sinusoid_in(positions, d_model, name, stage="table", **options)
    right = posenc.sinusoidal(positions, d_model, dtype=name, **options)
    np.testing.assert_allclose(made, right.astype(float), rtol=0, atol=2.0 ** -precision.FORMATS[name].digits)
    exact = posenc.sinusoidal(positions, d_model, dtype="float64", **options)
    np.testing.assert_array_equal(made, cast(exact, name))


@pytest.mark.parametrize("stage", STAGE.options)
def test_a_table_has_its_waves_in_their_columns(stage):
    rates = posenc.inv_freq(7)
    sine, cosine = precision.waves_in(300, rates, "bfloat16", stage=stage)
    made = precision.sinusoid_in(300, 7, "bfloat16", stage=stage)
    np.testing.assert_array_equal(made[:, 0::2], sine)
    np.testing.assert_array_equal(made[:, 1::2], cosine[:, :3])
    zeros = precision.sinusoid_in(300, 7, "bfloat16", stage=stage, freq_shift=1)[:, 6]
    assert (zeros == 0).all()
    assert (precision.sinusoid_in(3, 1, "bfloat16", stage=stage, freq_shift=1) == np.zeros((3, 1))).all()


def test_position_0_keeps_its_code_in_every_format():
    for name in PRECISION.options:
        for stage in STAGE.options:
            assert precision.sinusoid_in(1, 4, name, stage=stage).tolist() == [[0, 1, 0, 1]]


def test_a_position_that_float16_does_not_have_has_no_code():
    for stage in ("chain", "position"):
        made = precision.sinusoid_in([3, 70_000], 4, "float16", stage=stage)
        assert np.isfinite(made[0]).all()
        assert np.isnan(made[1]).all()
        assert np.isnan(precision.worst_error([70_000], [1.0, 0.01], "float16", stage=stage)).all()
    assert np.isfinite(precision.sinusoid_in([70_000], 4, "float16", stage="table")).all()
    # A rate below half the smallest number is 0, and ∞·0 is no angle.
    assert np.isnan(precision.angles_in([70_000], [1e-9], "float16", stage="chain")).all()


# Errors


def fifty_digits(p, omega):
    with mpmath.workdps(50):
        angle = mpmath.mpf(float(p)) * mpmath.mpf(float(omega))
        return angle, mpmath.sin(angle), mpmath.cos(angle)


@given(position_lists, st.lists(st.floats(1e-9, 1), min_size=1, max_size=5), precisions, stages)
def test_errors_are_those_against_fifty_digits(positions, rates, name, stage):
    angles = precision.angles_in(positions, rates, name, stage=stage)
    made = precision.waves_in(positions, rates, name, stage=stage)
    phase = precision.phase_error(positions, rates, name, stage=stage)
    worst = precision.worst_error(positions, rates, name, stage=stage)
    for row, p in enumerate(positions):
        errors = []
        for column, omega in enumerate(rates):
            exact = fifty_digits(p, omega)
            if not np.isfinite(angles[row, column]):
                assert np.isnan(worst[row])
                return
            with mpmath.workdps(50):
                off = float(mpmath.mpf(angles[row, column]) - exact[0])
                errors += [
                    abs(float(mpmath.mpf(wave[row, column]) - right))
                    for wave, right in zip(made, exact[1:], strict=True)
                ]
            assert phase[row, column] == pytest.approx(off, rel=1e-9, abs=1e-25)
        assert worst[row] == pytest.approx(max(errors), rel=1e-6, abs=5e-16)


def test_published_sine_errors_of_float32():
    # d = 128; kekzl/imp#1325 and others: float32 angles drift at long positions.
    positions = [1e3, 1e4, 1e5, 1e6]
    made = precision.sinusoid_in(positions, 128, "float32", layout="sin_cos")[:, :64]
    right = posenc.sinusoidal(positions, 128, layout="sin_cos", dtype="float64")[:, :64]
    assert [f"{error:.1e}" for error in np.abs(made - right).max(axis=1)] == [
        "1.8e-05",
        "2.0e-04",
        "2.3e-03",
        "5.2e-02",
    ]


@given(st.integers(0, 100_000), st.floats(-50, 50), st.sampled_from(["float32", "float64"]))
def test_a_score_depends_on_the_offset_alone_as_far_as_the_digits_go(p, offset, name):
    rates = posenc.inv_freq(32)
    score = precision.score_in([p, p + 1000.0], offset, rates, name)
    right = math.fsum(math.cos(offset * omega) for omega in rates) / 16
    tolerance = 1e5 * 2.0 ** (1 - precision.FORMATS[name].digits)
    np.testing.assert_allclose(score, right, rtol=0, atol=2 * tolerance)


def test_in_bfloat16_a_score_changes_when_both_positions_move():
    rates = posenc.inv_freq(128)
    score = precision.score_in(np.arange(0, 8192, 7), 3, rates, "bfloat16", stage="position")
    right = np.cos(3 * rates).mean()
    assert score[0] == pytest.approx(right, abs=1e-12)
    assert score.max() - score.min() > 0.3
    # From 1,024 on neighbours are 8 apart: 1,029 and 1,032 are one place, and its score with itself is 1.
    assert precision.score_in([1029], 3, rates, "bfloat16", stage="position") == pytest.approx(1)


# Accidents


def rotary(accident):
    first, last = accident.positions
    return np.arange(first, last + 1), posenc.inv_freq(accident.rotary_dim)


def test_float16_angles_of_gpt_neox():
    # EleutherAI/gpt-neox#1003 prints 1044.2678, 1045. and, over all of the table, 0.7819.
    accident = precision.ACCIDENTS["gpt_neox"]
    positions, rates = rotary(accident)
    assert positions.size == 2048
    assert f"{1857 * rates[1]:.4f}" == "1044.2678"
    made = precision.angles_in([1857], rates, accident.precision, stage=accident.stage)
    assert made[0, 1] == 1045
    _, cosine = precision.waves_in(positions, rates, accident.precision, stage=accident.stage)
    error = np.abs(cosine - np.cos(np.multiply.outer(positions, rates)))
    assert f"{error.max():.4f}" == "0.7819"
    assert np.unravel_index(error.argmax(), error.shape) == (2008, 1)
    # Position 1857 itself is off by 0.71; rounding its angle alone would have given 1044.
    assert error[1857, 1] == pytest.approx(0.7149, abs=3e-4)
    assert precision.angles_in([1857], rates, accident.precision, stage="angle")[0, 1] == 1044


def test_bfloat16_positions_of_a_cast_model():
    accident = precision.ACCIDENTS["llama"]
    positions, rates = rotary(accident)
    found = precision.collisions(positions, accident.precision)
    # 256 values below 256, 128 in each of the five doublings up to 8,192, and 8,192 itself.
    assert (found.first, found.distinct) == (257, 256 + 5 * 128 + 1)
    assert precision.worst_error(positions, rates, accident.precision, stage=accident.stage).max() > 1.99


def test_a_whole_image_at_one_place():
    # huggingface/diffusers#13920: every position of a grid at 65,536 is 65,536.
    accident = precision.ACCIDENTS["ideogram"]
    positions, rates = rotary(accident)
    assert precision.collisions(positions, accident.precision).distinct == 1
    made = precision.waves_in(positions, rates, accident.precision, stage=accident.stage)
    for wave in made:
        assert (wave == wave[0]).all()
    error = np.abs(made[1] - np.cos(np.multiply.outer(positions.astype(float), rates)))
    assert error.max() > 1.9


# Positions to look at


@given(st.integers(1, 10_000_000), st.integers(2, 500))
def test_positions_are_spread_from_the_first_to_the_last(seq_len, count):
    places = precision.log_positions(seq_len, count)
    assert places[0] == 0
    assert places[-1] == seq_len - 1
    assert (np.diff(places) > 0).all()
    assert len(places) <= count + 1


# Refusals


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: precision.rounded([1], "float8"), "precision must be 'bfloat16' or 'float16' or"),
        (lambda: precision.rounded(["1"], "float16"), "values must be an array of real numbers"),
        (lambda: precision.angles_in(3, [1.0], stage="sum"), "stage must be 'chain' or 'angle' or"),
        (lambda: precision.angles_in(3, []), "inv_freq must have one axis and not be empty"),
        (lambda: precision.angles_in(3, [[1.0]]), "inv_freq must have one axis and not be empty"),
        (lambda: precision.angles_in(3, [math.nan]), "inv_freq must be finite, got nan at index 0"),
        (lambda: precision.angles_in(0, [1.0]), "positions must be an integer from 1"),
        (lambda: precision.sinusoid_in(3, 0), "d_model must be an integer from 1"),
        (lambda: precision.score_in(3, math.inf, [1.0]), "k must be a number from"),
        (lambda: precision.log_positions(0), "seq_len must be an integer from 1"),
        (lambda: precision.log_positions(5, 1), "count must be an integer from 2"),
        (lambda: precision.collisions("12"), "positions must be an integer or a 1-D array"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(precision) == (0, 1)


def test_several_worst_errors_at_once_are_each_by_itself():
    rates = posenc.inv_freq(64)
    cases = [(name, stage) for name in PRECISION.options for stage in STAGE.options]
    found = precision.worst_errors([3, 300, 30_000, 3_000_000], rates, cases)
    for (name, stage), worst in found.items():
        alone = precision.worst_error([3, 300, 30_000, 3_000_000], rates, name, stage=stage)
        np.testing.assert_array_equal(worst, alone)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
def test_waves_that_are_looked_up_are_those_of_the_angle(name):
    angles = precision.rounded(np.concatenate([np.geomspace(1e-9, 60_000, 2000), [0.0]]), name)
    both = np.append(angles, -angles)
    sine, cosine = precision.waves_in(both, [1.0], name, stage="angle")
    np.testing.assert_array_equal(sine[:, 0], np.sin(both))
    np.testing.assert_array_equal(cosine[:, 0], np.cos(both))
