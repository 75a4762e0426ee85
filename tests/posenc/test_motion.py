"""Windows and shifts hold the exact positions and the values of the formula, however long the table."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import motion
from tests.posenc import paper

tables = st.tuples(st.integers(1, 10_000_000), st.integers(1, 600), st.sampled_from([1.0, 7.5, 1e4, 1e9]))


@given(tables, st.data())
def test_a_window_lies_in_the_table_and_stops_at_the_position(table, data):
    seq_len, d_model, base = table
    position = data.draw(st.integers(0, seq_len - 1))
    pair = data.draw(st.integers(0, (d_model + 1) // 2 - 1))
    window = motion.waves(position, seq_len, pair, d_model, base=base)
    first, last = window.span
    assert 0 <= first <= position <= last <= seq_len - 1
    assert window.positions[window.start] == position
    assert len(window.positions) <= 128
    assert first <= window.positions[0]
    assert window.positions[-1] <= last
    steps = np.unique(np.diff(window.positions))
    assert len(steps) <= 1
    # As many stops as fit, a whole table of up to 128 positions, and never fewer than three turns.
    step = int(steps[0]) if len(steps) else 1
    assert window.positions[0] - first < step
    assert last - window.positions[-1] < step
    turns = 3 * math.tau * base ** (2 * pair / d_model)
    assert last - first == min(seq_len - 1, max(127, math.ceil(turns))) or turns > 1e15
    # Several stops a turn, so that the hand is never seen to turn backwards.
    assert step == 1 or step <= turns / 3 / 21


@pytest.mark.parametrize(
    ("position", "seq_len", "pair", "d_model"),
    [(10, 50, 4, 128), (9_999_999, 10_000_000, 0, 128), (5_000_000, 10_000_000, 63, 128), (0, 1, 0, 1)],
)
def test_values_are_those_of_50_digits(position, seq_len, pair, d_model):
    window = motion.waves(position, seq_len, pair, d_model)
    for p, point in zip(window.positions, window.points, strict=True):
        sine, cosine = paper.exact(p, pair, d_model)
        np.testing.assert_allclose(point, [float(sine), float(cosine)], atol=5e-9)
    first, last = window.span
    for sample in (0, 1, 333, 1000):
        place = float(mpmath.mpf(first) + mpmath.mpf(last - first) * sample / 1000)
        sine, cosine = paper.exact(place, pair, d_model)
        assert window.sine[sample] == pytest.approx(float(sine), abs=1e-8)
        assert window.cosine[sample] == pytest.approx(float(cosine), abs=1e-8)


@pytest.mark.parametrize(("seq_len", "position"), [(10_000_000, 7_654_321), (50, 10), (400, 399)])
def test_the_curve_changes_sign_as_often_as_the_truth(seq_len, position):
    window = motion.waves(position, seq_len, 0, 128)
    (first, last), half = window.span, math.pi
    truth = math.floor(last / half) - math.floor(first / half) - (first == 0)
    # The very first sample of a table is sin 0.
    signs = np.sign(window.sine[window.sine != 0])
    assert np.count_nonzero(np.diff(signs)) == truth + (first == 0)


def test_the_window_of_the_article_is_its_whole_table():
    window = motion.waves(10, 50, 4, 512)
    assert window.span == (0, 49)
    np.testing.assert_array_equal(window.positions, np.arange(50))
    assert window.start == 10
    assert len(window.sine) == len(window.cosine) == 1001


@pytest.mark.parametrize(
    ("position", "seq_len", "pair", "span", "stops"),
    [
        (5_000_000, 10_000_000, 0, (4_999_937, 5_000_064), 128),  # in the middle
        (60, 10_000_000, 0, (0, 127), 128),
        (9_999_990, 10_000_000, 0, (9_999_872, 9_999_999), 128),
        (64, 129, 63, (0, 128), 65),  # one position too many: every second one
        (64, 128, 63, (0, 127), 128),
    ],
)
def test_windows_by_hand(position, seq_len, pair, span, stops):
    window = motion.waves(position, seq_len, pair, 128)
    assert window.span == span
    assert len(window.positions) == stops


@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
@pytest.mark.parametrize(("position", "d_model", "base"), [(0, 2, 1e4), (17, 9, 50.0), (9_999_999, 16, 1e4)])
def test_shifts_are_the_papers_rows(layout, position, d_model, base):
    pair = d_model // 2 - 1
    found = motion.shifts(position, pair, d_model, base=base, layout=layout)
    np.testing.assert_array_equal(found.offsets, range(-64, 65))
    rows = np.array(
        [paper.row(float(p), d_model, base=base, layout=layout) for p in range(position - 64, position + 65)]
    )
    np.testing.assert_allclose(found.before, rows[64], atol=5e-9)
    np.testing.assert_allclose(found.after, rows, atol=5e-9)
    assert np.isnan(found.moved).sum() == 129 * (d_model % 2)
    np.testing.assert_allclose(
        np.where(np.isnan(found.moved), found.after, found.moved), found.after, atol=1e-8
    )
    for k, hand in zip(found.offsets, found.there, strict=True):
        sine, cosine = paper.exact(position + int(k), pair, d_model, base=base)
        np.testing.assert_allclose(hand, [float(cosine), float(sine)], atol=5e-9)
    np.testing.assert_array_equal(found.here, found.there[64])


def test_moved_is_the_product_with_the_shift_matrix():
    found = motion.shifts(10, 0, 12, reach=5)
    for k, moved in zip(found.offsets, found.moved, strict=True):
        product = posenc.shift_matrix(int(k), 12) @ found.before
        np.testing.assert_allclose(moved, product, atol=1e-14)


@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
def test_only_the_first_columns_are_made(layout):
    whole = motion.shifts(3, 0, 100, layout=layout, reach=2)
    part = motion.shifts(3, 0, 100, layout=layout, reach=2, shown=7)
    np.testing.assert_array_equal(part.moved, whole.moved[:, :7])
    np.testing.assert_array_equal(part.after, whole.after[:, :7])
    assert motion.shifts(3, 0, 16_384, layout=layout).after.shape == (129, 128)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((50, 50, 0, 8), "position must be an integer from 0 to 49, got 50"),
        ((0, 0, 0, 8), "seq_len must be an integer from 1 to 10000000, got 0"),
        ((0, 50, 4, 8), "pair must be an integer from 0 to 3, got 4"),
        ((0, 50, 0, 0), "d_model must be an integer from 1 to 16384, got 0"),
    ],
)
def test_a_window_that_cannot_be_is_refused(arguments, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        motion.waves(*arguments)


@pytest.mark.parametrize(
    ("arguments", "more", "words"),
    [
        ((-1, 0, 8), {}, "position must be an integer from 0 to 9999999, got -1"),
        ((0, 4, 9), {}, "pair must be an integer from 0 to 3, got 4"),
        ((0, 0, 1), {}, "d_model must be an integer from 2 to 16384, got 1"),
        ((0, 0, 8), {"reach": 65}, "reach must be an integer from 1 to 64, got 65"),
        ((0, 0, 8), {"shown": 129}, "shown must be an integer from 1 to 128, got 129"),
    ],
)
def test_shifts_that_cannot_be_are_refused(arguments, more, words):
    with pytest.raises(ValueError, match=f"^{words}$"):
        motion.shifts(*arguments, **more)


def turned(x, position, pair, base, pairs):
    """One pair of a vector, rotated by a scalar loop."""
    m = len(x) // 2
    a, b = (pair, pair + m) if pairs == "half_split" else (2 * pair, 2 * pair + 1)
    angle = position / base ** (2 * pair / len(x))
    return (
        x[a] * math.cos(angle) - x[b] * math.sin(angle),
        x[b] * math.cos(angle) + x[a] * math.sin(angle),
    )


@pytest.mark.parametrize("pairs", ["half_split", "adjacent"])
@pytest.mark.parametrize("moves", ["both", "query", "key"])
def test_a_query_and_a_key_are_rotated_step_by_step(moves, pairs):
    q, k = np.random.default_rng(4).standard_normal((2, 6))
    found = motion.rotations(q, k, 9, 4, 1, moves=moves, base=300.0, pairs=pairs, reach=12)
    assert found.steps.tolist() == list(range(13))
    for step in (0, 1, 12):
        at, of = 9 + step * (moves != "key"), 4 + step * (moves != "query")
        hands = [[turned(x, p, i, 300.0, pairs) for i in range(3)] for x, p in ((q, at), (k, of))]
        np.testing.assert_allclose(found.q[step], hands[0][1], atol=1e-12)
        np.testing.assert_allclose(found.k[step], hands[1][1], atol=1e-12)
        products = [a * c + b * d for (a, b), (c, d) in zip(*hands, strict=True)]
        assert found.scores[step] == pytest.approx(sum(products))
        assert found.own[step] == pytest.approx(products[1])
        (a, b), (c, d) = hands[0][1], hands[1][1]
        between = math.atan2(b, a) - math.atan2(d, c)
        assert math.cos(found.angle[step] - between) == pytest.approx(1)
    for rest, x in zip(found.rest, (q, k), strict=True):
        np.testing.assert_allclose(rest, turned(x, 0, 1, 300.0, pairs), atol=1e-12)
    assert found.longest == pytest.approx(max(math.hypot(*rest) for rest in found.rest))
    assert np.ptp(found.scores) < 1e-12 if moves == "both" else np.ptp(found.scores) > 0.1


def test_no_score_is_beyond_the_bound_and_equal_vectors_reach_it():
    q, k = np.random.default_rng(1).standard_normal((2, 8))
    found = motion.rotations(q, k, 0, 0, 3, moves="query")
    assert np.abs(found.scores).max() <= found.bound
    assert motion.rotations(q, q, 7, 7, 0).scores[0] == pytest.approx(motion.rotations(q, q, 7, 7, 0).bound)


def test_ten_million_positions_on_moving_both_still_changes_nothing():
    q, k = np.random.default_rng(1).standard_normal((2, 128))
    near = motion.rotations(q, k, 60, 40, 0).scores
    far = motion.rotations(q, k, 9_999_999, 9_999_979, 0).scores
    np.testing.assert_allclose(far, near, atol=1e-6)


@pytest.mark.parametrize(
    "more", [{"pair": 2}, {"pair": -1}, {"query": -1}, {"key": 10_000_000}, {"moves": "none"}, {"reach": 65}]
)
def test_rotations_refuse_what_is_outside_their_limits(more):
    given_ = {"query": 1, "key": 0, "pair": 0} | more
    with pytest.raises(ValueError, match="must be"):
        motion.rotations(np.ones(4), np.ones(4), **given_)
