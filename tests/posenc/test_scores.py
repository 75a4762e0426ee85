"""Which query and key, over which offsets: against scalar loops, the worked example and what papers prove."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import posenc
from posenc import scores

PAIRS = ("half_split", "adjacent")


def rotated(x, position, base, pairs):
    """Turn each pair of a vector by a scalar loop."""
    m, y = len(x) // 2, list(x)
    for i in range(m):
        a, b = (i, i + m) if pairs == "half_split" else (2 * i, 2 * i + 1)
        angle = position / base ** (2 * i / len(x))
        y[a] = x[a] * math.cos(angle) - x[b] * math.sin(angle)
        y[b] = x[b] * math.cos(angle) + x[a] * math.sin(angle)
    return y


def score(q, k, p, other, base=10_000.0, pairs="half_split"):
    turned = zip(rotated(q, p, base, pairs), rotated(k, other, base, pairs), strict=True)
    return sum(a * b for a, b in turned)


def test_vectors_are_what_their_names_say():
    q, k = scores.query_and_key("worked", 64)
    assert (q.tolist(), k.tolist()) == ([1, 2, 3, 4], [4, 3, 2, 1])
    q, k = scores.query_and_key("ones", 6)
    assert (q.tolist(), k.tolist()) == ([1] * 6, [1] * 6)
    q, k = scores.query_and_key("gaussian", 1024, seed=5)
    again = scores.query_and_key("gaussian", 1024, seed=5)
    assert (q == again.q).all()
    assert not np.isclose(q, k).any()
    assert np.std(np.append(q, k)) == pytest.approx(1, abs=0.05)
    assert (scores.query_and_key("gaussian", 1024, seed=6).q != q).all()


@pytest.mark.parametrize(
    "arguments",
    [("random", 8), ("ones", 7), ("ones", 0), ("gaussian", 8, {"seed": -1})],
)
def test_what_is_not_allowed_is_refused(arguments):
    *given_, more = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(ValueError, match="must be"):
        scores.query_and_key(*given_, **more)


@given(st.integers(1, 10_000_000), st.integers(1, 800))
def test_offsets_are_all_or_some_of_them(seq_len, least):
    offsets, logarithmic = scores.some_offsets(seq_len, least=least)
    last = max(seq_len, least) - 1
    assert len(offsets) <= 800
    assert offsets[-1] == last
    assert (np.diff(offsets) > 0).all()
    assert logarithmic == (last >= 800)
    assert offsets.tolist() == list(range(last + 1)) or (logarithmic and offsets[0] == 1)


def test_scores_of_ones_fall_and_rise_and_those_of_a_turned_key_peak_elsewhere():
    found = scores.falls(300, 64, peak=33)
    ones = [1.0] * 64
    for k in (0, 1, 6, 33, 299):
        assert found.ones[k] == pytest.approx(score(ones, ones, k, 0), abs=1e-10)
        assert found.peaked[k] == pytest.approx(
            score(ones, rotated(ones, 33, 1e4, "adjacent"), k, 0, 1e4, "adjacent")
        )
    assert found.first_rise == 6  # computed for d = 64 by independent code
    assert np.argmax(found.peaked) == 33
    assert found.lowest == found.ones.min()
    assert found.offsets.values.tolist() == list(range(300))


def test_gaussian_scores_have_mean_0_and_variance_head_dim_at_every_offset():
    found = scores.falls(64, 32, draws=500, seed=9)
    assert len(found.mean) == 256
    # Five standard errors of 500 draws.
    assert np.abs(found.mean).max() < 5 * math.sqrt(32 / 500)
    np.testing.assert_allclose(found.spread, math.sqrt(32), rtol=5 * math.sqrt(1 / 1000) * 1.5)
    assert found.largest_mean == np.abs(found.mean).max()
    q, k = scores.query_and_key("gaussian", 32, seed=9)
    for offset in (0, 5, 255):
        assert found.own[offset] == pytest.approx(score(q, k, offset + 3, 3), abs=1e-10)
    middle, lower, upper = found.band
    np.testing.assert_allclose(upper - middle, found.spread)
    np.testing.assert_allclose(middle - lower, found.spread)


def test_one_draw_is_the_visitors_own():
    found = scores.falls(50, 8, draws=1, seed=2)
    np.testing.assert_array_equal(found.mean, found.own)
    assert not found.spread.any()


def test_the_worked_example():
    found = scores.layouts(scores.query_and_key("worked", 4), 1, 0)
    np.testing.assert_allclose(
        found.rotated["adjacent"], [-1.142640, 1.922076, 2.959851, 4.029800], atol=5e-7
    )
    np.testing.assert_allclose(
        found.rotated["half_split"], [-1.984111, 1.959901, 2.462378, 4.019800], atol=5e-7
    )
    assert found.order.tolist() == [0, 2, 1, 3]
    found = scores.layouts(scores.query_and_key("worked", 4), 5, 2)
    assert found.scores["adjacent"].here == pytest.approx(-0.760002, abs=5e-7)
    assert found.scores["half_split"].here == pytest.approx(-1.615580, abs=5e-7)
    for moved in (*found.scores.values(), found.permuted_score):
        assert moved.moved == pytest.approx(moved.here, abs=1e-12)
        assert moved.change == abs(moved.moved - moved.here)
    assert found.permuted_score.here == pytest.approx(-0.760002, abs=5e-7)


@given(
    st.integers(1, 40).map(lambda m: 2 * m),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
    st.integers(0, 99),
    st.sampled_from([1.0, 100.0, 1e4]),
)
def test_layouts_differ_by_an_order_and_scores_by_nothing(head_dim, query, key, seed, base):
    q, k = vectors = scores.query_and_key("gaussian", head_dim, seed=seed)
    found = scores.layouts(vectors, query, key, base=base)
    assert sorted(found.order) == list(range(head_dim))
    assert found.difference < 1e-12
    expected = rotated(q[found.order], query, base, "half_split")
    np.testing.assert_allclose(found.permuted, expected, atol=1e-9)
    assert found.permuted_score.here == pytest.approx(found.scores["adjacent"].here, abs=1e-9)
    for pairs in PAIRS:
        assert found.scores[pairs].here == pytest.approx(score(q, k, query, key, base, pairs), abs=1e-8)
        assert found.scores[pairs].moved == pytest.approx(
            score(q, k, query + 100, key + 100, base, pairs), abs=1e-8
        )


@pytest.mark.parametrize(("head_dim", "usual"), [(2, 2), (4, 2), (12, 2), (64, 16), (128, 32), (1024, 256)])
def test_a_quarter_of_the_features_turns_where_nothing_is_said(head_dim, usual):
    parameter = scores.rotary_dim(head_dim)
    assert (parameter.name, parameter.default, parameter.minimum, parameter.maximum) == (
        "rotary_dim",
        usual,
        2,
        head_dim,
    )
    assert parameter.check(usual) == usual


@pytest.mark.parametrize("pairs", PAIRS)
def test_variants_are_partial_rotary_and_xpos(pairs):
    q, k = vectors = scores.query_and_key("gaussian", 8, seed=1)
    found = scores.variants(vectors, 40, 4, scale_base=32.0, pairs=pairs)
    assert len(found.offsets.values) == 256
    for offset in (0, 3, 255):
        assert found.plain[offset] == pytest.approx(score(q, k, offset, 0, pairs=pairs))
        # Four features turn, with the rates of a width of four; the other four stay.
        turned = score(q[:4], k[:4], offset, 0, pairs=pairs) + float(q[4:] @ k[4:])
        assert found.partial[offset] == pytest.approx(turned)
        expected = 0.0
        for i in range(4):
            a, b = (i, i + 4) if pairs == "half_split" else (2 * i, 2 * i + 1)
            fade = ((2 * i / 8 + 0.4) / 1.4) ** (offset / 32)
            angle = offset / 10_000 ** (2 * i / 8)
            real, imaginary = q[a] * k[a] + q[b] * k[b], q[b] * k[a] - q[a] * k[b]
            expected += fade * (real * math.cos(angle) - imaginary * math.sin(angle))
        assert found.xpos[offset] == pytest.approx(expected)


# A turn takes 6.28, 62.8, 628 and 6,283 positions.
@pytest.mark.parametrize(
    ("seq_len", "count"), [(1, 4), (6, 4), (7, 3), (63, 2), (628, 2), (629, 1), (6283, 1), (6284, 0)]
)
def test_pairs_that_never_come_round_are_counted(seq_len, count):
    assert scores.never_round(8, seq_len) == count
    assert (posenc.inv_freq(8) < scores.once_round(seq_len)).sum() == count


def test_the_worked_example_is_that_of_the_page():
    example = scores.worked_example()
    np.testing.assert_allclose(example["adjacent"][0], [-1.142640, 1.922076, 2.959851, 4.029800], atol=5e-7)
    np.testing.assert_allclose(example["half_split"][0], [-1.984111, 1.959901, 2.462378, 4.019800], atol=5e-7)
    assert [round(example[pairs][1], 6) for pairs in ("adjacent", "half_split")] == [-0.760002, -1.615580]


def test_a_drawn_order_is_small_and_a_peak_lies_among_the_offsets():
    assert scores.shown_order(6) == [0, 2, 4, 1, 3, 5]
    assert scores.shown_order(128) == [*range(0, 16, 2), *range(1, 16, 2)]
    assert [scores.peaks(n).maximum for n in (1, 256, 257, 10_000_000)] == [255, 255, 256, 9_999_999]
