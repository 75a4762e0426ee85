"""Blocks of matrices that depend on the offset, against the matrices themselves."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.offsets import LOOKS, Waves, offset_blocks, sinusoid_similarity_blocks
from posenc.similarity import MEASURES
from posenc.sinusoidal import sinusoidal
from tests.posenc import paper
from tests.posenc.test_blocks import FAR, loop, records

measures = st.sampled_from(list(MEASURES))


def table(span, d_model, **options):
    return np.array([paper.row(p, d_model, **options) for p in range(*span)])


def wanted(measure, blocks, d_model, **options):
    """Mean and extremes of every block of the matrix; of distances, the root of the mean square."""
    spans = [(int(edges[0]), int(edges[-1])) for edges in (blocks.rows, blocks.columns)]
    matrix = MEASURES[measure](*(table(span, d_model, **options) for span in spans))
    found = loop(matrix, blocks.rows, blocks.columns)
    if measure == "distance":
        found[0] = np.sqrt(loop(matrix**2, blocks.rows, blocks.columns)[0])
    return found


views = st.tuples(st.integers(0, 300), st.integers(1, 70)).map(lambda view: (view[0], sum(view)))


@given(measures, views, views, st.integers(1, 20), st.sampled_from([1.0, 30.0, 1e4, 1e9]), st.data())
def test_blocks_are_those_of_the_matrix_of_the_paper(measure, rows, columns, half, base, data):
    # Widths of pairs alone: even ones, and odd ones that end in a column of zeros.
    d_model, freq_shift = data.draw(st.sampled_from([(2 * half, 0), (2 * half, 1), (2 * half + 1, 1)]))
    options = {"base": base, "freq_shift": freq_shift}
    # At most 32 positions a block: every offset is looked at.
    most = {name: data.draw(st.integers(3, 30)) for name in ("most_rows", "most_columns")}
    blocks = sinusoid_similarity_blocks(measure, rows, columns, d_model, **options, **most)
    assert blocks.exact
    assert blocks.mean.shape[0] <= most["most_rows"]
    assert blocks.mean.shape[1] <= most["most_columns"]
    assert set(np.diff(blocks.rows)[:-1]) | set(np.diff(blocks.columns)[:-1]) <= {
        max(np.diff(blocks.rows)[0], np.diff(blocks.columns)[0])
    }
    # Square roots of rounding: 1e-7 where distances are nearly 0.
    np.testing.assert_allclose(
        records(blocks),
        wanted(measure, blocks, d_model, **options),
        rtol=0,
        atol=3e-7 if measure == "distance" else 1e-10,
    )
    assert (blocks.minimum <= blocks.mean).all()
    assert (blocks.mean <= blocks.maximum).all()


@pytest.mark.parametrize("d_model", [1, 3, 7, 32])
@pytest.mark.parametrize("measure", MEASURES)
def test_views_that_are_not_cut_show_every_value(measure, d_model):
    blocks = sinusoid_similarity_blocks(measure, (3, 43), (0, 31), d_model)
    assert blocks.single
    assert blocks.exact
    matrix = MEASURES[measure](table((3, 43), d_model), table((0, 31), d_model))
    # The cosine of position 0 of a sine alone is undefined, a row of zeros.
    np.testing.assert_allclose(
        records(blocks), [matrix] * 3, rtol=0, atol=1e-7 if measure == "distance" else 1e-12
    )


@pytest.mark.parametrize("d_model", [2, 4, 5, 64])
@pytest.mark.parametrize("n", [2, 3, 17, 40, 100, 299, 300])
def test_a_position_is_exactly_like_itself(d_model, n):
    span = (9_999_000, 9_999_000 + n)
    assert (np.diag(sinusoid_similarity_blocks("distance", span, span, d_model).mean) == 0).all()
    cosines = np.diag(sinusoid_similarity_blocks("cosine", span, span, d_model).mean)
    np.testing.assert_allclose(cosines, 1, rtol=0, atol=1e-15)
    if d_model % 2 == 0:
        assert (np.diag(sinusoid_similarity_blocks("dot", span, span, d_model).maximum) == d_model / 2).all()
        coarse = sinusoid_similarity_blocks("distance", (0, FAR), (0, FAR), d_model)
        assert (np.diag(coarse.minimum) == 0).all()


@given(measures, views, views, st.integers(0, 10), st.sampled_from([1.0, 30.0, 1e4]), st.integers(1, 6))
def test_a_sine_without_its_cosine(measure, rows, columns, half, base, most):
    d_model = 2 * half + 1
    blocks = sinusoid_similarity_blocks(
        measure, rows, columns, d_model, base=base, most_rows=most, most_columns=most
    )
    assert blocks.exact == blocks.single
    mean, least, greatest = wanted(measure, blocks, d_model, base=base)
    if measure != "cosine":
        np.testing.assert_allclose(blocks.mean, mean, rtol=0, atol=3e-7)
    if 2 * blocks.rows_each - 1 <= LOOKS:  # then all offsets are looked at, and the sums enclose the extremes
        assert (blocks.minimum <= least + 3e-7)[~np.isnan(least)].all()
        assert (blocks.maximum >= greatest - 3e-7)[~np.isnan(least)].all()
    if measure == "cosine" and not np.isnan(mean).any() and half >= 2:
        np.testing.assert_allclose(blocks.mean, mean, rtol=0, atol=0.5 / half)


def test_the_mean_of_long_blocks_is_the_product_of_the_means_of_rows():
    d_model, n = 30, 1_000_000
    blocks = sinusoid_similarity_blocks("dot", (0, n), (n // 2, n), d_model, most_rows=50, most_columns=400)
    assert (blocks.rows_each, blocks.mean.shape) == (20_000, (50, 25))
    means = sinusoidal(n, d_model, dtype=np.float64).reshape(50, -1, d_model).mean(axis=1)
    np.testing.assert_allclose(blocks.mean, means @ means[25:].T, rtol=0, atol=1e-9)


def test_extremes_of_long_blocks_are_values_of_the_block():
    d_model, each = 64, 500
    blocks = sinusoid_similarity_blocks("cosine", (0, 20 * each), (0, 20 * each), d_model, most_rows=20)
    assert not blocks.exact
    profile = (
        sinusoidal([0.0], d_model, dtype=np.float64) @ sinusoidal(20 * each, d_model, dtype=np.float64).T
    )
    cosines = profile[0] / (d_model / 2)
    for diagonal in range(20):
        inside = cosines[np.abs(np.arange(diagonal * each - each + 1, diagonal * each + each))]
        for i, j in ((diagonal, 0), (0, diagonal), (19, 19 - diagonal)):
            assert inside.min() - 1e-12 <= blocks.minimum[i, j] <= inside.min() + 0.25
            assert inside.max() - 0.25 <= blocks.maximum[i, j] <= inside.max() + 1e-12
            assert blocks.mean[i, j] == pytest.approx(
                np.average(inside, weights=each - np.abs(np.arange(1 - each, each))), abs=1e-10
            )


def test_far_offsets_are_right_to_5e_9():
    blocks = sinusoid_similarity_blocks("cosine", (FAR - 4, FAR), (0, 4), 16)
    for i in range(4):
        for j in range(4):
            exact = [paper.exact(FAR - 4 + i - j, pair, 16)[1] for pair in range(8)]
            assert abs(sum(exact) / 8 - blocks.mean[i, j]) <= 5e-9


def test_waves_with_weights_and_phases():
    waves = Waves(np.array([1.0, 0.3]), np.array([2.0, -0.5]), np.array([0.2, 1.0]))
    blocks = offset_blocks(waves, (10, 40), (0, 25), most_rows=7)
    offset = np.subtract.outer(np.arange(10, 40), np.arange(25))
    matrix = 2 * np.cos(offset + 0.2) - 0.5 * np.cos(0.3 * offset + 1)
    np.testing.assert_allclose(records(blocks), loop(matrix, blocks.rows, blocks.columns), rtol=0, atol=1e-12)


def test_no_mean_leaves_its_extremes():
    still = Waves(np.full(3, 1e-12), np.array([0.1, 0.7, 1.3]), np.array([0.5, 0.1, 1.0]))
    blocks = offset_blocks(still, (0, 900), (0, 900), most_rows=40)
    assert (blocks.minimum <= blocks.mean).all()
    assert (blocks.mean <= blocks.maximum).all()


class Lines:
    """f(k) = −|k|: no wave at all."""

    def over_blocks(self, starts, block, lags):
        inside = np.subtract.outer(np.arange(block[0]), np.arange(block[1])).ravel()
        begin = np.array(starts)[:, np.newaxis]
        return -np.abs(begin + inside).mean(axis=1), -np.abs(begin + lags)


@pytest.mark.parametrize("most", [3, 50])
def test_any_function_of_the_offset(most):
    blocks = offset_blocks(Lines(), (20, 220), (0, 180), most_rows=most, most_columns=most)
    matrix = -np.abs(np.subtract.outer(np.arange(20.0, 220), np.arange(180.0)))
    # Of 133 offsets in a block 64 are looked at; its ends, and 0, are always among them.
    np.testing.assert_allclose(records(blocks), loop(matrix, blocks.rows, blocks.columns), rtol=0, atol=1e-12)
    assert blocks.exact == (most == 50)


def test_memory_does_not_depend_on_positions():
    tracemalloc.start()
    sinusoid_similarity_blocks("distance", (0, FAR), (0, FAR), 16_384)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 2**20


def test_a_bad_argument_is_named():
    good = {"measure": "dot", "rows": (0, 4), "columns": (0, 4), "d_model": 4}
    for name, value in {
        "measure": "angle",
        "rows": (0, 2 * FAR + 1),
        "columns": (3, 3),
        "d_model": 0,
        "base": 0.5,
        "freq_shift": 2,
        "most_rows": 0,
        "most_columns": 0,
    }.items():
        with pytest.raises(ValueError, match=rf"^{name} must be "):
            sinusoid_similarity_blocks(**(good | {name: value}))
