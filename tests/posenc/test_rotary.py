"""Rotary embedding against its equations a feature at a time, 50 digits, published values and its laws."""

import doctest
import math
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import posenc
from posenc.offsets import Waves, offset_blocks

PAIRS = posenc.PAIRS.options
places = st.floats(-1e4, 1e4)
widths = st.integers(1, 20).map(lambda m: 2 * m)
bases = st.sampled_from([1.0, 3.7, 10_000.0, 1e6, 1e12])
pairings = st.sampled_from(PAIRS)
seeds = st.integers(0, 2**32 - 1)


def drawn(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def rotated(x, p, rates, pairs):
    """Equation 13 of the paper, a pair at a time."""
    m, out = len(rates), list(x)
    for i, rate in enumerate(rates):
        a, b = (i, i + m) if pairs == "half_split" else (2 * i, 2 * i + 1)
        cos, sin = math.cos(p * rate), math.sin(p * rate)
        out[a], out[b] = x[a] * cos - x[b] * sin, x[b] * cos + x[a] * sin
    return out


def paper_rates(dim, base):
    return [base ** (-2 * i / dim) for i in range(dim // 2)]


# Values from outside


def test_values_from_bug_reports():
    # huggingface/transformers#25199: the two layouts.
    q, k = [1, 2, 3, 4], [4, 3, 2, 1]
    adjacent = [-1.142640, 1.922076, 2.959851, 4.029800]
    half = [-1.984111, 1.959901, 2.462378, 4.019800]
    np.testing.assert_allclose(posenc.rotate([q], [1], pairs="adjacent")[0], adjacent, rtol=0, atol=6e-7)
    np.testing.assert_allclose(posenc.rotate([q], [1])[0], half, rtol=0, atol=6e-7)
    for pairs, score in (("adjacent", -0.760002), ("half_split", -1.615580)):
        for shift in (0, 100):
            at = posenc.rotate([q, k], [5 + shift, 2 + shift], pairs=pairs)
            assert at[0] @ at[1] == pytest.approx(score, abs=6e-7)
        assert posenc.score(q, k, [3], pairs=pairs)[0] == pytest.approx(score, abs=6e-7)
    # huggingface/transformers#48630: the rates of the part that turns, not of the whole head.
    x = drawn(0, 1, 256)
    turned = posenc.rotate(x, [1], rotary_dim=64)
    np.testing.assert_array_equal(turned[:, 64:], x[:, 64:])
    angle = np.angle(complex(turned[0, 1], turned[0, 33]) / complex(x[0, 1], x[0, 33]))
    assert angle == pytest.approx(0.749894, abs=6e-7)
    x = drawn(0, 1, 64)
    assert (posenc.rotate(x, [1], rotary_dim=16) != x).sum() == 16


@given(
    seeds,
    st.integers(1, 5),
    widths,
    st.integers(0, 5),
    bases,
    pairings,
    st.lists(places, min_size=1, max_size=4),
)
def test_rotation_is_the_equation_a_pair_at_a_time(seed, heads, dim, rest, base, pairs, positions):
    x = drawn(seed, heads, len(positions), dim + rest)
    rates = paper_rates(dim, base)
    want = [[rotated(row, p, rates, pairs) for row, p in zip(head, positions, strict=True)] for head in x]
    got = posenc.rotate(x, positions, base=base, pairs=pairs, rotary_dim=dim)
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-11)
    given_rates = posenc.rotate(x, positions, inv_freq=rates, pairs=pairs, attention_factor=0.5)
    np.testing.assert_allclose(given_rates[..., :dim], got[..., :dim] / 2, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(given_rates[..., dim:], x[..., dim:])


def test_far_positions_are_right_to_5e_9():
    for p in (1e7, -1e7, 9_999_999.5):
        for i, cell in enumerate(posenc.rotate(np.ones((1, 64)), [p])[0, :32]):
            with mpmath.workdps(50):
                angle = mpmath.mpf(p) * mpmath.power(10_000, -mpmath.mpf(2 * i) / 64)
                assert abs(mpmath.cos(angle) - mpmath.sin(angle) - mpmath.mpf(float(cell))) <= 5e-9


# Laws


@given(seeds, widths, bases, pairings, places, places)
def test_rotations_keep_norms_and_add_up(seed, dim, base, pairs, p, k):
    x = drawn(seed, 1, dim)

    def moved(x, p):
        return posenc.rotate(x, [p], base=base, pairs=pairs)

    np.testing.assert_allclose(np.linalg.norm(moved(x, p)), np.linalg.norm(x), rtol=1e-13)
    np.testing.assert_allclose(moved(moved(x, p), k), moved(x, p + k), rtol=0, atol=1e-10)
    np.testing.assert_allclose(moved(moved(x, p), -p), x, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(moved(x, 0), x)


@given(seeds, widths, st.integers(0, 3), bases, pairings, places, places)
def test_a_score_depends_on_the_distance_only(seed, dim, rest, base, pairs, p, shift):
    q, k = drawn(seed, 2, dim + rest)
    rates = paper_rates(dim, base)
    options = {"inv_freq": rates, "pairs": pairs}
    for other in (p + 3, shift):
        rows = posenc.rotate([q, k], [p, other], **options)
        far = posenc.rotate([q, k], [p + shift, other + shift], **options)
        want = posenc.score(q, k, [p - other], **options)[0]
        np.testing.assert_allclose([rows[0] @ rows[1], far[0] @ far[1]], [want, want], rtol=0, atol=1e-9)


@given(seeds, widths, pairings)
def test_a_permutation_turns_one_pairing_into_the_other(seed, dim, pairs):
    x, order = drawn(seed, 5, dim), posenc.pair_order(dim)
    theta = posenc.angles(5, paper_rates(dim, 1e4))
    half = posenc.turn(x[:, order], theta, pairs="half_split")
    adjacent = posenc.turn(x, theta, pairs="adjacent")
    np.testing.assert_array_equal(half, adjacent[:, order])
    np.testing.assert_array_equal(half[:, np.argsort(order)], adjacent)
    assert order.tolist() == [*range(0, dim, 2), *range(1, dim, 2)]


def test_the_score_of_ones_rises_before_it_has_fallen():
    """Similarity to position 0 first rises at these offsets: "always decays" is false."""
    for dim, first in ((512, 44), (128, 12), (64, 6)):
        scores = posenc.score(np.ones(dim), np.ones(dim), 100)
        assert scores[0] == dim
        assert np.flatnonzero(np.diff(scores) > 0)[0] + 1 == first


def test_gaussian_queries_and_keys_score_nothing_on_average():
    rng = np.random.default_rng(0)
    scores = [posenc.score(rng.normal(size=64), rng.normal(size=64), [0, 1, 100]) for _ in range(4000)]
    assert (np.abs(np.mean(scores, axis=0)) < 4 * 8 / math.sqrt(4000)).all()  # one draw has a spread of 8


@settings(max_examples=30)
@given(seeds, widths, st.integers(0, 3), pairings, st.integers(0, 300), st.integers(0, 300))
def test_waves_are_the_score_also_where_some_pairs_stand_still(seed, dim, rest, pairs, row, column):
    q, k = drawn(seed, 2, dim + rest)
    rates = np.array(paper_rates(dim, 1e4))
    rates[len(rates) // 2 :] = 0.0
    waves = posenc.score_waves(q, k, inv_freq=rates, pairs=pairs)
    assert isinstance(waves, Waves)
    blocks = offset_blocks(waves, (row, row + 6), (column, column + 4), most_rows=3, most_columns=2)
    offsets = np.subtract.outer(np.arange(row, row + 6), np.arange(column, column + 4))
    cells = posenc.score(q, k, offsets, inv_freq=rates, pairs=pairs)
    want = cells.reshape(3, 2, 2, 2)
    scale = np.abs(q) @ np.abs(k) + 1
    np.testing.assert_allclose(blocks.mean, want.mean(axis=(1, 3)), rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(blocks.maximum, want.max(axis=(1, 3)), rtol=0, atol=1e-10 * scale)


# Shapes


def test_rows_of_a_batch_may_have_positions_of_their_own():
    x = drawn(0, 2, 3, 4, 8)  # batch, heads, seq_len, head_dim
    ids = np.array([[0, 1, 2, 3], [1, 1, 0, 1]])
    batch = posenc.rotate(x, ids[:, np.newaxis])
    for row in range(2):
        np.testing.assert_array_equal(batch[row], posenc.rotate(x[row], ids[row]))
    np.testing.assert_array_equal(batch[0], posenc.rotate(x[0], 4))
    assert posenc.angles(ids, [1.0, 0.1]).shape == (2, 4, 2)


def test_arguments_are_left_as_they_are_and_any_dtype_becomes_float64():
    x = np.ones((3, 4), dtype=np.float16)
    positions = np.array([255, 256, 200], dtype=np.uint16)
    x.flags.writeable = positions.flags.writeable = False
    got = posenc.rotate(x, positions)
    assert got.dtype == np.float64
    np.testing.assert_array_equal(got, posenc.rotate(x.astype(float), positions.astype(float)))
    assert (x == 1).all()


def test_a_value_of_a_pair_is_written_at_both_its_places():
    assert posenc.per_feature([[1, 2, 3]]).tolist() == [[1, 2, 3, 1, 2, 3]]
    assert posenc.per_feature([[1, 2, 3]], pairs="adjacent").tolist() == [[1, 1, 2, 2, 3, 3]]


# xPos


@given(st.integers(1, 16), places, st.floats(100, 1e4), st.floats(0.1, 2))
def test_the_scale_of_xpos_is_the_algorithm_of_its_paper(m, p, scale_base, gamma):
    # torchscale: (arange(0, head_dim, 2) + 0.4·head_dim) / (1.4·head_dim), to the power p/scale_base
    got = posenc.xpos_scale([p], 2 * m, scale_base=scale_base, gamma=gamma)[0]
    want = [((2 * i + gamma * 2 * m) / ((1 + gamma) * 2 * m)) ** (p / scale_base) for i in range(m)]
    np.testing.assert_allclose(got, want, rtol=1e-11)


@given(seeds, widths, pairings, places)
def test_xpos_scores_depend_on_the_distance_only(seed, dim, pairs, p):
    q, k = drawn(seed, 2, dim)
    angles = posenc.angles([p + 7, p], paper_rates(dim, 1e4))
    scale = [posenc.xpos_scale([p + 7], dim)[0], posenc.xpos_scale([-p], dim)[0]]
    rows = posenc.turn([q, k], angles, pairs=pairs, scale=scale)
    want = posenc.score(q, k, [7], pairs=pairs, scale_base=512)[0]
    assert rows[0] @ rows[1] == pytest.approx(want, abs=1e-9)


def test_xpos_scores_stay_within_a_bound_that_falls():
    offsets = np.arange(0, 9000, 7)
    bound = 2 * posenc.xpos_scale(offsets, 64).sum(axis=1)
    scores = posenc.score(np.ones(64), np.ones(64), offsets, scale_base=512)
    assert (np.abs(scores) <= bound + 1e-12).all()
    assert scores[0] == bound[0] == 64
    assert bound[-1] < 12


# Images and text


@given(st.lists(st.integers(0, 6), min_size=2, max_size=4), st.booleans(), seeds)
def test_section_angles_are_the_rule_a_pair_at_a_time(sections, interleaved, seed):
    n, m = len(sections), sum(sections)
    if m == 0:
        return
    ids = np.random.default_rng(seed).integers(0, 99, (n, 5))
    rates = paper_rates(2 * m, 1e4)
    got = posenc.section_angles(ids, rates, sections, interleaved=interleaved)
    ends = np.cumsum(sections)
    for i in range(m):
        if interleaved:
            axis = i % n if i < n * sections[i % n] else 0
        else:
            axis = next(a for a in range(n) if i < ends[a])
        np.testing.assert_array_equal(got[:, i], ids[axis] * rates[i])
    text = np.tile(np.arange(5), (n, 1))
    np.testing.assert_array_equal(
        posenc.section_angles(text, rates, sections, interleaved=interleaved), posenc.angles(5, rates)
    )


def test_positions_of_texts_images_and_videos():
    ids = posenc.multimodal_positions([3, (1, 2, 3), 2, (4, 1, 2), 1])
    start, want = 0, []
    for segment in (3, (1, 2, 3), 2, (4, 1, 2), 1):
        if isinstance(segment, int):
            want += [(start + j,) * 3 for j in range(segment)]
        else:
            t, h, w = segment
            want += [(start + a, start + b, start + c) for a in range(t) for b in range(h) for c in range(w)]
        start = 1 + max(max(place) for place in want)
    assert ids.T.tolist() == [list(place) for place in want]
    assert ids.dtype == np.int64


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.integers(1, 5), seeds)
def test_axial_scores_depend_on_the_difference_of_cells(shape, m, seed):
    rng = np.random.default_rng(seed)
    cells = np.moveaxis(np.indices(shape), 0, -1).astype(float)
    rates = [rng.uniform(0.1, 2, m + axis) for axis in range(len(shape))]
    angles = posenc.axial_angles(cells, rates)
    for cell in np.ndindex(*shape):
        want = [c * rate for c, omega in zip(cell, rates, strict=True) for rate in omega]
        np.testing.assert_allclose(angles[cell], want, rtol=1e-14)
    step = rng.uniform(-9, 9, len(shape))
    q, k = rng.normal(size=(2, 2 * angles.shape[-1]))
    both = [posenc.axial_angles([[c, c + 1.5]], rates)[0] for c in (np.zeros(len(shape)), step)]
    scores = [float(np.multiply(*posenc.turn([q, k], theta)).sum()) for theta in both]
    assert scores[0] == pytest.approx(scores[1], abs=1e-10)


# Refusals

X, RATES = np.ones((3, 4)), [1.0, 0.1]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: posenc.rotate(X, 4), r"positions must fit the shape \(3,\) of x .*, got \(4,\)"),
        (lambda: posenc.rotate(X, [[0, 1, 2]] * 2), r"positions must fit the shape \(3,\) of x"),
        (lambda: posenc.rotate(X, True), "positions must be an integer from 1 to 10000000, got True"),
        (
            lambda: posenc.rotate(X, 1.5),
            "positions must be an integer or an array with nothing empty, got 1.5",
        ),
        (lambda: posenc.rotate(X, [0, np.nan, 1]), "positions must be finite, got nan at index 1"),
        (lambda: posenc.rotate(X, 0), "positions must be an integer from 1 to"),
        (lambda: posenc.rotate(np.ones((3, 5)), 3), "head_dim must be an even integer from 2 to 1024, got 5"),
        (
            lambda: posenc.rotate(X, 3, rotary_dim=3),
            "rotary_dim must be an even integer from 2 to 1024, got 3",
        ),
        (lambda: posenc.rotate(X, 3, rotary_dim=6), "head_dim must be at least 2 for each of 3 rates, got 4"),
        (
            lambda: posenc.rotate(X, 3, rotary_dim=2, inv_freq=[1]),
            "rotary_dim must not be given with inv_freq",
        ),
        (
            lambda: posenc.rotate(X, 3, inv_freq=[RATES]),
            r"inv_freq must have one axis .*, got shape \(1, 2\)",
        ),
        (lambda: posenc.rotate(X, 3, inv_freq=[]), r"inv_freq must have one axis"),
        (lambda: posenc.rotate(X, 3, inv_freq=[np.inf]), "inv_freq must be finite, got inf at index 0"),
        (
            lambda: posenc.rotate(X, 3, pairs="halves"),
            "pairs must be 'half_split' or 'adjacent', got 'halves'",
        ),
        (lambda: posenc.rotate(X, 3, base=0.5), "base must be a number from 1 to 1e"),
        (
            lambda: posenc.rotate(X, 3, attention_factor=-1),
            "attention_factor must be a number from 0 to 1000",
        ),
        (lambda: posenc.rotate(np.ones(4), 1), r"x must have shape \(…, seq_len, head_dim\)"),
        (
            lambda: posenc.turn(X, np.ones((3, 3))),
            r"angles and scale must fit x, of shape \(3, 4\): .* most 4",
        ),
        (lambda: posenc.turn(X, np.ones((2, 3, 2))), "angles and scale must fit x"),
        (lambda: posenc.turn(X, 1.0), "angles and scale must fit x"),
        (lambda: posenc.turn(X, np.ones((3, 2)), scale=np.ones(3)), "angles and scale must fit x"),
        (lambda: posenc.pair_order(7), "head_dim must be an even integer"),
        (lambda: posenc.xpos_scale([-1e6], 64), "positions must be at least -286.* for a scale_base of 512"),
        (lambda: posenc.xpos_scale(3, 64, scale_base=0), "scale_base must be a number from 0.001"),
        (
            lambda: posenc.score(np.ones(4), np.ones(6), 3),
            r"q and k must be vectors .*, got shapes \(4,\) and",
        ),
        (lambda: posenc.score(X, X, 3), "q and k must be vectors of as many features"),
        (lambda: posenc.section_angles(np.ones((3, 5)), RATES, [1, 1, 1]), "sections must be .* add up to 2"),
        (
            lambda: posenc.section_angles(np.ones((3, 5)), RATES, [1.0, 1, 0]),
            "sections must be .* add up to 2",
        ),
        (
            lambda: posenc.section_angles(np.ones((3, 5)), RATES, [3, -1, 0]),
            "sections must be numbers of pairs",
        ),
        (
            lambda: posenc.section_angles(np.ones((2, 5)), RATES, [1, 1, 0]),
            "position_ids must have a row for",
        ),
        (
            lambda: posenc.multimodal_positions([2, (1, 2)]),
            r"a segment must be .* or \(t, h, w\), got \(1, 2\)",
        ),
        (lambda: posenc.multimodal_positions([0]), "the size of a segment must be an integer from 1"),
        (lambda: posenc.axial_angles(np.ones((4, 2)), [RATES]), r"coordinates must have shape \(…, 1\)"),
        (lambda: posenc.axial_angles(np.ones((4, 2)), []), r"coordinates must have shape \(…, 0\)"),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}") as refused:
        call()
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 180


def test_examples():
    for name in ("posenc.rotary", "posenc.scaling", "posenc.rope_config"):
        assert doctest.testmod(sys.modules[name]).failed == 0
