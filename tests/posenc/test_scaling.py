"""Longer contexts against their formulas a pair at a time, published values and what each method promises."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc

dims = st.integers(1, 40)
even_dims = st.integers(1, 40).map(lambda m: 2 * m)
bases = st.floats(2, 1e9)
factors = st.floats(1, 1000)
contexts = st.integers(64, 200_000)


def rates(dim, base):
    return [base ** (-2 * i / dim) for i in range((dim + 1) // 2)]


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-10)


# Published values


def test_the_base_of_dynamic_ntk_grows_with_the_sequence():
    # vllm-project/vllm#41236: not a constant, and back to the trained one where the sequence is short again.
    options = {"factor": 4, "max_position_embeddings": 2048}
    for length, base in (
        (2048, 10_000),
        (2049, 10_019.84),
        (4096, 51_293.79),
        (8192, 135_401.97),
        (9, 10_000),
    ):
        got = posenc.dynamic_ntk(128, seq_len=length, **options).inv_freq
        np.testing.assert_allclose(got, rates(128, base), rtol=1e-6)
    close(posenc.dynamic_ntk(128, **options).inv_freq, rates(128, 10_000))


def test_the_attention_factor_of_yarn():
    # sgl-project/sglang#33558 and others: once, not twice and not the logarithm of a logarithm.
    for factor, value in ((128, 1.485203), (64, 1.415888), (32, 1.346574), (4, 1.138629), (1, 1.0)):
        options = {"factor": factor, "original_max_position_embeddings": 4096}
        assert posenc.yarn(64, **options).attention_factor == pytest.approx(value, abs=6e-7)
        assert posenc.yarn_attention_factor(factor) == pytest.approx(value, abs=6e-7)
        assert posenc.yarn(64, attention_factor=1.3, mscale=1, mscale_all_dim=2, **options)[1] == 1.3
        for same in (0.707, 1.0):  # DeepSeek-V2 and V3: nothing is left
            assert posenc.yarn(64, mscale=same, mscale_all_dim=same, **options)[1] == 1
        apart = posenc.yarn(64, mscale=2, mscale_all_dim=0.5, **options).attention_factor
        assert apart == pytest.approx((0.2 * math.log(factor) + 1) / (0.05 * math.log(factor) + 1))
        for absent in ({"mscale": 2}, {"mscale": 2, "mscale_all_dim": 0}):
            assert posenc.yarn(64, **absent, **options).attention_factor == pytest.approx(value, abs=6e-7)


def test_the_rates_of_a_part_that_turns_are_those_of_its_width():
    # huggingface/transformers#48630
    assert posenc.unscaled(64).inv_freq[1] == pytest.approx(0.749894, abs=6e-7)
    assert posenc.unscaled(256).inv_freq[1] == pytest.approx(0.930572, abs=6e-7)
    assert (
        posenc.proportional(256, partial_rotary_factor=0.25).inv_freq[1] == posenc.unscaled(256).inv_freq[1]
    )


# The formulas


@given(dims, bases, factors)
def test_default_linear_and_ntk(dim, base, s):
    close(posenc.unscaled(dim, base=base).inv_freq, rates(dim, base))
    close(posenc.linear(dim, factor=s, base=base).inv_freq, [rate / s for rate in rates(dim, base)])
    if dim > 2:
        longer = base * s ** (dim / (dim - 2))
        close(posenc.ntk(dim, factor=s, base=base).inv_freq, rates(dim, longer))
    else:  # where transformers divides by 0
        close(posenc.ntk(dim, factor=s, base=base).inv_freq, [1.0])


@given(st.integers(3, 40), bases, factors, contexts, st.one_of(st.none(), st.integers(1, 10**6)))
def test_dynamic_ntk(dim, base, s, trained, length):
    got = posenc.dynamic_ntk(dim, factor=s, max_position_embeddings=trained, seq_len=length, base=base)
    longest = max(length or 0, trained)
    longer = base * (s * longest / trained - (s - 1)) ** (dim / (dim - 2))
    np.testing.assert_allclose(got.inv_freq, rates(dim, longer), rtol=1e-8)
    assert got.attention_factor == 1


@given(dims, bases, factors, contexts, st.floats(4, 64), st.floats(0.1, 4), st.booleans())
def test_yarn(dim, base, s, trained, fast, slow, truncate):
    def pair_with(turns):
        return dim * math.log(trained / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair_with(fast), pair_with(slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    want = []
    for i, rate in enumerate(rates(dim, base)):
        ramp = min(max((i - low) / (high - low), 0.0), 1.0)
        want.append((1 - ramp) * rate + ramp * rate / s)
    options = {
        "original_max_position_embeddings": trained,
        "base": base,
        "beta_fast": fast,
        "beta_slow": slow,
        "truncate": truncate,
    }
    close(posenc.yarn(dim, factor=s, **options).inv_freq, want)


@given(dims, bases, factors, contexts, st.floats(0.1, 4), st.floats(0, 8))
def test_llama3(dim, base, s, trained, low, span):
    want = []
    for rate in rates(dim, base):
        wavelength = 2 * math.pi / rate
        if wavelength < trained / (low + span):
            want.append(rate)
        elif wavelength > trained / low:
            want.append(rate / s)
        else:
            t = (trained / wavelength - low) / span if span else 1.0
            want.append((1 - t) * rate / s + t * rate)
    got = posenc.llama3(
        dim,
        factor=s,
        low_freq_factor=low,
        high_freq_factor=low + span,
        original_max_position_embeddings=trained,
        base=base,
    )
    np.testing.assert_allclose(got.inv_freq, want, rtol=1e-9)
    assert got.attention_factor == 1


@given(dims, bases, contexts, st.data())
def test_longrope(dim, base, trained, data):
    n = (dim + 1) // 2
    divisors = st.lists(st.floats(0.5, 99), min_size=n, max_size=n)
    short, long = data.draw(divisors), data.draw(divisors)
    options = {"short_factor": short, "long_factor": long, "original_max_position_embeddings": trained}
    for length, divisor in ((None, short), (1, short), (trained, short), (trained + 1, long)):
        got = posenc.longrope(dim, max_position_embeddings=2 * trained, seq_len=length, base=base, **options)
        close(got.inv_freq, [rate / by for rate, by in zip(rates(dim, base), divisor, strict=True)])
        assert got.attention_factor == pytest.approx(math.sqrt(1 + math.log(2) / math.log(trained)))
    for given_factor, value in ((1, 1.0), (8, math.sqrt(1 + math.log(8) / math.log(trained)))):
        got = posenc.longrope(dim, factor=given_factor, max_position_embeddings=9 * trained, **options)
        assert got.attention_factor == pytest.approx(value)
    assert posenc.longrope(dim, max_position_embeddings=max(trained // 2, 2), **options)[1] == 1
    assert posenc.longrope(dim, attention_factor=1.25, factor=8, **options)[1] == 1.25


@given(even_dims, st.floats(0, 1), factors, bases)
def test_proportional(dim, share, s, base):
    got = posenc.proportional(dim, partial_rotary_factor=share, factor=s, base=base).inv_freq
    turning = int(share * dim // 2)
    close(got[:turning], [rate / s for rate in rates(dim, base)[:turning]])
    assert got.shape == (dim // 2,)
    assert not got[turning:].any()


# What the methods promise

METHODS = {
    "linear": lambda s: posenc.linear(64, factor=s),
    "ntk": lambda s: posenc.ntk(64, factor=s),
    "dynamic": lambda s: posenc.dynamic_ntk(64, factor=s, max_position_embeddings=2048),
    "yarn": lambda s: posenc.yarn(64, factor=s, original_max_position_embeddings=2048),
    "llama3": lambda s: posenc.llama3(
        64, factor=s, low_freq_factor=1, high_freq_factor=4, original_max_position_embeddings=2048
    ),
    "proportional": lambda s: posenc.proportional(64, factor=s),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_factor_of_1_changes_nothing(name):
    close(METHODS[name](1).inv_freq, rates(64, 10_000))
    assert METHODS[name](1).attention_factor == 1


@pytest.mark.parametrize("name", METHODS)
def test_no_pair_becomes_faster_nor_slower_than_by_the_factor(name):
    shrunk = METHODS[name](8).inv_freq / rates(64, 10_000)
    assert (shrunk <= 1 + 1e-12).all()
    assert (shrunk >= 1 / 8 - 1e-12).all()


def test_who_keeps_its_rate_and_who_is_divided():
    shrunk = {name: method(8).inv_freq / rates(64, 10_000) for name, method in METHODS.items()}
    close(shrunk["ntk"][[0, -1]], [1, 1 / 8])
    turns = posenc.turns_made(posenc.unscaled(64).inv_freq, 2048)
    close(turns[[0, -1]], [2048 / (2 * math.pi), 2048 / (2 * math.pi * 10_000 ** (62 / 64))])
    close(shrunk["llama3"][turns > 4], 1.0)
    close(shrunk["llama3"][turns < 1], 1 / 8)
    ramp = posenc.yarn_ramp(64, original_max_position_embeddings=2048)
    # c(32) = 8.05 and c(1) = 20.09, rounded outwards
    assert np.flatnonzero(ramp > 0)[0] == 9
    assert np.flatnonzero(ramp < 1)[-1] == 20
    close(np.diff(ramp[8:22]), 1 / 13)
    close(shrunk["yarn"][:9], 1.0)
    close(shrunk["yarn"][21:], 1 / 8)
    smooth = posenc.yarn_ramp(64, original_max_position_embeddings=2048, truncate=False)
    assert smooth[8] == 0
    assert 0 < smooth[9] < 1
    assert smooth[21] == 1


def test_the_ramp_is_a_step_where_its_ends_are_the_same():
    # As Kimi K2, whose two betas are 1: 64·ln(4096/2π)/(2·ln 50000) = 19.17.
    options = {"original_max_position_embeddings": 4096, "base": 50_000, "beta_fast": 1}
    exact = posenc.yarn_ramp(64, truncate=False, **options)
    np.testing.assert_array_equal(exact, np.arange(32) > 19)
    np.testing.assert_array_equal(posenc.yarn_ramp(64, **options), np.arange(32) > 19)


def test_the_methods_stand_under_the_names_of_a_config():
    assert set(METHODS) | {"default", "longrope"} == set(posenc.ROPE_TYPES)
    assert posenc.ROPE_TYPES["dynamic"] is posenc.dynamic_ntk


# Refusals

LONG = {"original_max_position_embeddings": 2048}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: posenc.unscaled(0), "rotary_dim must be an integer from 1 to 1024, got 0"),
        (lambda: posenc.unscaled(64, base=0.5), "base must be a number from 1 to 1e"),
        (lambda: posenc.linear(64, factor=0.25), r"factor must be a number from 1 to 1e\+06, got 0.25"),
        (lambda: posenc.ntk(64, factor=None), "factor must be a number"),
        (
            lambda: posenc.dynamic_ntk(64, factor=2, max_position_embeddings=0),
            "max_position_embeddings must be",
        ),
        (
            lambda: posenc.dynamic_ntk(64, factor=2, max_position_embeddings=9, seq_len=0),
            "seq_len must be an integer from 1",
        ),
        (
            lambda: posenc.yarn(64, factor=2, original_max_position_embeddings=1),
            "original_max_position_embeddings must be an integer from 2",
        ),
        (
            lambda: posenc.yarn(64, factor=2, beta_fast=1, beta_slow=2, **LONG),
            "beta_fast must not be below beta_s",
        ),
        (lambda: posenc.yarn(64, factor=2, beta_slow=0, **LONG), "beta_slow must be a number"),
        (lambda: posenc.yarn(64, factor=2, base=1, **LONG), "base must be above 1 for YaRN, .*, got 1"),
        (
            lambda: posenc.yarn(64, factor=2, attention_factor=-1, **LONG),
            "attention_factor must be a number from 0",
        ),
        (lambda: posenc.yarn(64, factor=2, mscale="a", mscale_all_dim=1, **LONG), "mscale must be a number"),
        (
            lambda: posenc.llama3(64, factor=2, low_freq_factor=4, high_freq_factor=1, **LONG),
            "high_freq_factor must not be below low_freq_factor, 4, got 1",
        ),
        (
            lambda: posenc.longrope(4, short_factor=[1], long_factor=[1, 1], factor=1, **LONG),
            r"short_factor must be 2 numbers above 0, one for each pair, got shape \(1,\)",
        ),
        (
            lambda: posenc.longrope(4, short_factor=[1, 1], long_factor=[1, 0], factor=1, **LONG),
            r"long_factor must be 2 numbers above 0, .* and 0 in it",
        ),
        (
            lambda: posenc.longrope(4, short_factor=[1, 1], long_factor=[], factor=1, **LONG),
            r"long_factor must be 2 numbers above 0, one for each pair, got shape \(0,\)",
        ),
        (
            lambda: posenc.longrope(4, short_factor=[1, 1], long_factor=[1, 1], **LONG),
            "factor must be given, or max_position_embeddings or attention_factor, got none of them",
        ),
        (lambda: posenc.proportional(5), "head_dim must be an even integer"),
        (
            lambda: posenc.proportional(4, partial_rotary_factor=2),
            "partial_rotary_factor must be a number from 0",
        ),
        (lambda: posenc.turns_made([1.0], 0), "seq_len must be an integer from 1"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}") as refused:
        call()
    assert "\n" not in str(refused.value)
