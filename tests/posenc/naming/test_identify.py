"""What a table is: clean and spoilt tables of every form, the bundled ones, noise, and what may not be."""

import dataclasses
from collections import Counter

import numpy as np
import pytest

import posenc
from posenc.naming.answers import MORE_MISTAKES
from tests.posenc.naming.drawn_tables import SHARES, drawn, faults, waves

SCHEMES = {"sinusoidal", "rotary_cache", "grid", "learned", "random", "constant"}
SURE = 0.8


@pytest.fixture(scope="module")
def judged():
    """Some three hundred tables at random parameters, with what was found and what of it is wrong."""
    found = [(made, posenc.identify(made.table)) for made in drawn(0)]
    return [(made, identity, faults(made, identity)) for made, identity in found]


def test_of_three_hundred_tables_99_in_100_are_named_right_and_none_is_wrong_for_sure(judged):
    wrong = [(made.kind, fault, identity.confidence) for made, identity, fault in judged if fault]
    assert len(judged) == sum(count for _, count in SHARES)
    assert len(wrong) <= len(judged) / 100, wrong
    assert not [each for each in wrong if each[2] > SURE]


def test_clean_tables_are_right_for_sure(judged):
    sure = Counter(
        identity.confidence > SURE
        for made, identity, _ in judged
        if made.kind.startswith("clean") and " b10000 " in made.kind
    )
    assert sure[True] > 0.95 * sure.total()


def test_what_is_found_is_of_the_words_that_are_documented(judged):
    for _, identity, _ in judged:
        assert identity.scheme in SCHEMES
        assert 0 <= identity.confidence <= 1
        assert identity.mistake is None or identity.mistake in {*posenc.MISTAKES, *MORE_MISTAKES}
        assert set(identity.implementations) <= set(posenc.IMPLEMENTATIONS)
        assert identity.dtype in posenc.FORMATS


def test_the_nearest_table_has_the_shape_and_the_residual_that_are_said(judged):
    for made, identity, _ in judged:
        if identity.nearest is None:
            assert identity.residual is None
            continue
        assert identity.nearest.shape == made.table.shape
        off = np.asarray(made.table, dtype=np.float64) - identity.nearest
        rms = np.sqrt(np.mean(off**2) / np.mean(np.asarray(made.table, dtype=np.float64) ** 2))
        assert identity.residual == pytest.approx(rms, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
@pytest.mark.parametrize("freq_shift", posenc.FREQ_SHIFT.options)
@pytest.mark.parametrize(("n", "d_model"), [(8, 4), (8, 128), (50, 10), (512, 64)])
@pytest.mark.parametrize("first", [0, 7])
def test_clean_tables_are_read_exactly(layout, freq_shift, n, d_model, first):
    table = posenc.sinusoidal(first + np.arange(n), d_model, layout=layout, freq_shift=freq_shift)
    found = posenc.identify(table)
    assert (found.scheme, found.layout, found.freq_shift) == ("sinusoidal", layout, freq_shift)
    assert found.base == pytest.approx(10_000, rel=1e-3)
    assert (found.first_position, found.step, found.sign, found.scale) == (first, 1, 1, 1)
    assert found.dtype == "float32"
    assert found.residual < 1e-6
    assert found.first_difference is None
    assert found.odd_rows == ()


@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(16, 8), (12, 64), (100, 32), (512, 256)])
def test_rounded_tables_keep_their_base_and_shift(layout, precision, shape):
    n, d_model = shape
    found = posenc.identify(posenc.rounded(posenc.sinusoidal(n, d_model, layout=layout), precision))
    assert (found.layout, found.base, found.freq_shift) == (layout, 10_000, 0)
    assert (found.first_position, found.mistake, found.dtype) == (0, None, precision)


def test_the_stated_error_of_the_base_is_honest():
    # Of a right standard error, 0.3 % of the estimates are farther off than three of them.
    rng = np.random.default_rng(1)
    off = []
    for base in np.exp(rng.uniform(np.log(200), np.log(200_000), 60)):
        table = waves(np.arange(64), 48, base, "sin_cos", 0) + rng.normal(0, 0.01, (64, 48))
        found = posenc.identify(table)
        fitted = found.base if found.freq_shift == 0 else found.base ** (24 / 23)
        if found.base not in (1e3, 1e4, 1e5):
            off.append(abs(fitted - base) / (found.base_error * fitted / found.base))
    assert len(off) > 50
    assert np.mean(np.array(off) > 3) <= 0.05
    assert np.median(off) > 0.1  # and no wider than it need be


@pytest.mark.parametrize("name", posenc.LEARNED)
def test_the_bundled_tables_and_their_shuffled_and_rescaled_copies(name):
    table, kind = posenc.load(name), posenc.LEARNED[name].kind
    scheme = {"sinusoid": "sinusoidal", "learned": "learned"}[kind]
    assert posenc.identify(table).scheme == posenc.identify(table * 37.0).scheme == scheme
    shuffled = posenc.identify(posenc.shuffle_rows(table))
    assert shuffled.scheme == scheme
    assert shuffled.mistake == {"sinusoid": "rows_shuffled", "learned": None}[kind]


def test_whisper_has_the_table_of_whisper():
    found = posenc.identify(posenc.load("whisper_encoder"))
    assert (found.layout, found.freq_shift, found.base, found.dtype) == ("sin_cos", 1, 10_000, "float16")
    assert "transformers.models.whisper.modeling_whisper.sinusoids" in found.implementations


@pytest.mark.parametrize("shape", [(512, 384), (64, 64), (16, 8)])
def test_noise_is_not_learned(shape):
    rng = np.random.default_rng(0)
    for table in (rng.normal(0, 0.02, shape), rng.uniform(-1, 1, shape), rng.standard_t(5, shape)):
        assert posenc.identify(table).scheme == "random"


@pytest.mark.parametrize("name", posenc.MISTAKES)
@pytest.mark.parametrize("shape", [(16, 8), (64, 128), (300, 512)])
def test_the_known_mistakes_have_their_names(name, shape):
    table = posenc.MISTAKES[name].build(*shape).astype(np.float32)
    found = posenc.identify(table)
    assert found.mistake == name
    np.testing.assert_allclose(found.nearest, table, rtol=0, atol=1e-6)


def test_a_table_of_one_position_for_the_whole_sequence_is_a_batch_axis_taken_for_it():
    row = posenc.sinusoidal(np.array([3]), 64)
    found = posenc.identify(np.repeat(row, 20, axis=0))
    assert (found.scheme, found.mistake, found.first_position) == ("constant", "batch_axis", 3)
    plain = posenc.identify(np.ones((20, 64)))
    assert (plain.scheme, plain.mistake, plain.confidence) == ("constant", None, 1.0)


@pytest.mark.parametrize(("precision", "n"), [("bfloat16", 600), ("bfloat16", 1500), ("float16", 4000)])
def test_positions_that_fell_together_are_seen(precision, n):
    found = posenc.identify(posenc.sinusoid_in(n, 32, precision, stage="position"))
    if precision == "float16":  # equal positions come after the rows that are measured
        assert found.base == 10_000
    else:
        assert (found.mistake, found.dtype, found.residual) == ("half_precision", precision, 0.0)


@pytest.mark.parametrize("stage", ["chain", "angle"])
@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_angles_of_few_digits_are_seen_and_made_again(precision, stage):
    table = posenc.sinusoid_in(600, 64, precision, stage=stage, layout="sin_cos", freq_shift=1)
    found = posenc.identify(table)
    assert (found.scheme, found.mistake, found.dtype) == ("sinusoidal", "half_precision", precision)
    assert (found.layout, found.freq_shift, found.base) == ("sin_cos", 1, 10_000)
    # Made again but for the last rounding, of sine and cosine, which leaves half a unit of the last digit.
    assert np.abs(table - found.nearest).max() <= posenc.spacing(0.999, precision) / 2


def test_the_first_cell_that_differs_and_the_odd_rows_are_named():
    table = posenc.sinusoidal(40, 16).astype(np.float64)
    table[7, 3] += 0.05
    table[20] = 0
    found = posenc.identify(table)
    assert found.first_difference == (7, 3)
    assert 20 in found.odd_rows
    assert found.first_position == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda table, rng: table[:, rng.permutation(64)],
        lambda table, rng: table + rng.normal(0, 1, 64),
        lambda table, rng: table - table.mean(axis=0),
        lambda table, rng: np.cumsum(rng.normal(size=(128, 64)), axis=0),
        lambda table, rng: table @ table.T,
        lambda table, rng: np.eye(64),
        lambda table, rng: np.tri(64),
        lambda table, rng: -0.5 * np.abs(np.subtract.outer(np.arange(64.0), np.arange(64.0))),
        lambda table, rng: np.outer(np.linspace(0, 1, 100), rng.normal(size=16)),
    ],
)
def test_what_nobody_can_name_is_not_named_for_sure(change):
    table = change(posenc.sinusoidal(128, 64, dtype=np.float64), np.random.default_rng(0))
    assert posenc.identify(table).confidence < SURE


def test_the_kinds_of_rotary_caches():
    angle = np.multiply.outer(np.arange(200), 10_000.0 ** (-np.arange(32) / 32))
    cos, sin = np.cos(angle), np.sin(angle)
    for table, layout in (
        (np.hstack([cos, cos]), "half_split"),
        (np.repeat(sin, 2, axis=1), "adjacent"),
        (np.hstack([cos, cos, sin, sin]), "cos_sin"),
        (cos, "single"),
    ):
        found = posenc.identify(table)
        assert (found.scheme, found.layout, found.base) == ("rotary_cache", layout, 10_000)
    scaled = posenc.yarn(64, factor=4, original_max_position_embeddings=64)
    angle = np.multiply.outer(np.arange(200), scaled.inv_freq)
    for table in (np.tile(np.cos(angle), 2), np.hstack([np.cos(angle), np.sin(angle)])):
        found = posenc.identify(scaled.attention_factor * table)
        assert (found.scheme, found.nearest) == ("rotary_cache", None)
        assert found.scale == pytest.approx(scaled.attention_factor)


def test_rates_of_the_whole_head_are_seen_in_a_partial_rotation():
    angle = np.multiply.outer(np.arange(64), 10_000.0 ** (-np.arange(32) * 2 / 256))
    found = posenc.identify(np.tile(np.cos(angle), 2))
    assert (found.scheme, found.mistake, found.base) == ("rotary_cache", "full_width_rates", 10_000)


def test_timesteps_far_apart_are_placed_one_by_one():
    for timesteps in (
        np.arange(0, 1000, 20),
        np.arange(980, -1, -20),
        np.array([0, 0.5, 3.25, 17, -4, 1000]),
    ):
        found = posenc.identify(posenc.sinusoidal(timesteps, 64, layout="cos_sin"))
        assert (found.scheme, found.layout, found.base) == ("sinusoidal", "cos_sin", 10_000)
        assert found.first_position == timesteps[0]
        assert found.residual < 1e-6


def test_what_may_not_be_a_table_is_refused_in_one_sentence():
    for table in ([], [1.0], [[np.nan, 1.0]], [["a"]], np.zeros((2, 2, 2)), [[1 + 2j]]):
        with pytest.raises(ValueError, match="table must be"):
            posenc.identify(table)


@pytest.mark.parametrize(
    "table",
    [
        [[0.0]], [[1.0, 2.0]], [[1.0], [2.0]], np.zeros((5, 4)), np.eye(6), np.arange(12.0).reshape(3, 4),
        np.arange(12.0).reshape(4, 3), np.ones((3, 1)), np.tri(9), [[0.0, 1.0]] * 2 + [[1.0, 0.0]],
        posenc.sinusoidal(1, 8), posenc.sinusoidal(2, 8), posenc.sinusoidal(3, 2), posenc.sinusoidal(50, 1),
        posenc.sinusoidal(50, 3), 1e200 * posenc.sinusoidal(50, 16, dtype=np.float64),
        1e300 * np.tri(9), np.vstack([np.zeros((8, 8)), np.eye(8)]),
    ],
)  # fmt: skip
def test_small_and_strange_tables_have_an_answer(table):
    found = posenc.identify(table)
    assert found.scheme in SCHEMES
    assert 0 <= found.confidence <= 1


def test_sizes_beyond_squares_change_the_scale_only():
    table = posenc.sinusoidal(50, 16).astype(np.float64)
    for exponent in (600, -600):
        found = posenc.identify(np.ldexp(table, exponent))
        assert (found.layout, found.base) == ("interleaved", 10_000)
        assert found.scale == pytest.approx(2.0**exponent, rel=1e-6)
        np.testing.assert_allclose(found.nearest, np.ldexp(table, exponent), rtol=1e-5)


def test_what_read_table_returns_is_taken_as_it_is():
    @dataclasses.dataclass
    class Held:
        values: np.ndarray

    assert posenc.identify(Held(posenc.sinusoidal(50, 16))).layout == "interleaved"
