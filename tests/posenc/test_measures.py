import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posenc.learned import load
from posenc.measures import (
    column_spectrum,
    effective_rank,
    linear_cka,
    nearest_row_share,
    norm_outliers,
    offset_share,
    pca_path,
    singular_values,
    sinusoid_fit,
)
from posenc.similarity import by_offset, cosine, norms
from posenc.sinusoidal import sinusoidal

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "learned_tables_measured.json").read_text())
FINITE = st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 3))
TABLES = arrays(np.float64, st.tuples(st.integers(2, 7), st.integers(1, 5)), elements=FINITE)
SCALARS = (offset_share, effective_rank, nearest_row_share, sinusoid_fit)


def baselines() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.02, (512, 384))
    return {
        "baseline_sinusoid_512x384_base10000": sinusoidal(512, 384, dtype=np.float64),
        "baseline_gauss_sd0.02_512x384_seed0": noise,
        "baseline_minilm_rows_shuffled": load("minilm_l6")[generator.permutation(512)],
    }


TABLES_BY_NAME = {
    "minilm_l6": load("minilm_l6"),
    "me5_small": load("me5_small"),
    "whisper_tiny_en_decoder": load("whisper_decoder"),
    "whisper_tiny_en_encoder_first448": load("whisper_encoder"),
    "rxnmapper_albert": load("rxnmapper"),
    **baselines(),
}


@pytest.fixture(scope="module", params=TABLES_BY_NAME)
def measured(request):
    table, expected = TABLES_BY_NAME[request.param], MEASURED[request.param]
    assert list(table.shape) == expected["shape"]
    return table, expected


def test_every_measured_table_is_here():
    assert {name for name, values in MEASURED.items() if "shape" in values} == set(TABLES_BY_NAME)


def test_shares_and_ranks(measured):
    table, expected = measured
    assert offset_share(table) == pytest.approx(expected["offset_R2"], abs=1e-6)
    assert effective_rank(table) == pytest.approx(expected["erank"], abs=1e-6)
    assert nearest_row_share(table) == pytest.approx(expected["nn_adjacent"], abs=1e-9)


def test_likeness_to_the_sinusoid(measured):
    table, expected = measured
    target = sinusoidal(*table.shape, dtype=np.float64)
    assert linear_cka(table, target) == pytest.approx(expected["cka_10000"], abs=5.1e-5)
    assert sinusoid_fit(table) == pytest.approx(expected["procrustes_10000"], abs=5.1e-5)


def test_cosine_against_offset(measured):
    table, expected = measured
    mean = by_offset(cosine(table)).mean
    for offset, value in expected["cos_at_offset"].items():
        assert mean[int(offset)] == pytest.approx(value, abs=5.1e-4)


def test_singular_values_and_paths(measured):
    table, expected = measured
    values = singular_values(table)
    share = np.cumsum(values**2) / np.sum(values**2)
    np.testing.assert_allclose(values[:8] ** 2 / np.sum(values**2), expected["top_var"], atol=5.1e-5)
    assert np.searchsorted(share, 0.9) + 1 == expected["rank90"]
    assert np.searchsorted(share, 0.99) + 1 == expected["rank99"]
    for pairs, value in expected["svd_2K_R2"].items():
        assert share[2 * int(pairs) - 1] == pytest.approx(value, abs=5.1e-5)
    np.testing.assert_allclose(pca_path(table, 8).share, expected["top_var"], atol=5.1e-5)


def test_spectrum(measured):
    table, expected = measured
    spectrum = column_spectrum(table)
    strongest = np.sort(spectrum.share)[::-1]
    for rank, (index, period, share) in enumerate(expected["fft_top_bins"]):
        assert spectrum.share[index] == pytest.approx(share, abs=5.1e-5)
        assert strongest[rank] == pytest.approx(share, abs=5.1e-5)
        assert 1 / spectrum.frequency[index] == pytest.approx(period, abs=0.051)


def test_norms_and_outliers(measured):
    table, expected = measured
    length = norms(table)
    assert np.median(length) == pytest.approx(expected["norm_median"], rel=1e-12)
    for extreme in (expected["norm_min"], expected["norm_max"]):
        assert length[extreme[1]] == pytest.approx(extreme[0], rel=1e-12)
    if "norm_outlier_rows" in expected:
        outliers = norm_outliers(table)
        assert outliers.tolist() == [row for row, _ in expected["norm_outlier_rows"]]
        ratios = length[outliers] / np.median(length)
        np.testing.assert_allclose(ratios, [ratio for _, ratio in expected["norm_outlier_rows"]], atol=0.0051)


def test_the_whisper_encoder_is_a_sinusoid_of_the_other_frequencies():
    formula = sinusoidal(448, 384, layout="sin_cos", freq_shift=1, dtype=np.float64)
    assert np.abs(load("whisper_encoder") - formula).max() < 2.5e-4
    assert sinusoid_fit(load("whisper_encoder")) < 0.995 < linear_cka(load("whisper_encoder"), formula)


@given(TABLES)
def test_offset_share_is_its_double_loop(table):
    n = len(table)
    cosines = {}
    for p in range(n):
        for q in range(p + 1, n):
            x, y = table[p].tolist(), table[q].tolist()
            if any(x) and any(y):
                product = math.fsum(a * b for a, b in zip(x, y, strict=True))
                cosines[p, q] = product / math.hypot(*x) / math.hypot(*y)
    values = list(cosines.values())
    if not values or max(values) - min(values) < 1e-6:
        return
    by_k: dict[int, list[float]] = {}
    for (p, q), value in cosines.items():
        by_k.setdefault(q - p, []).append(value)
    within = sum((value - np.mean(group)) ** 2 for group in by_k.values() for value in group)
    total = sum((value - np.mean(values)) ** 2 for value in values)
    assert offset_share(table) == pytest.approx(1 - within / total, abs=1e-6)


@given(TABLES)
def test_nearest_row_share_is_its_double_loop(table):
    rows = table - table.mean(axis=0)
    length = np.sqrt((rows**2).sum(axis=1))
    assume((length > 1e-6).all())
    hits = 0
    for p in range(len(rows)):
        cosines = {q: rows[p] @ rows[q] / length[p] / length[q] for q in range(len(rows)) if q != p}
        ranked = sorted(cosines.values())
        assume(len(ranked) == 1 or ranked[-1] - ranked[-2] > 1e-9)  # no tie for the nearest
        hits += abs(max(cosines, key=cosines.__getitem__) - p) == 1
    assert nearest_row_share(table) == pytest.approx(hits / len(rows))


@given(TABLES, st.data())
def test_cka_is_its_definition_and_knows_no_rotation(table, data):
    width = data.draw(st.integers(1, 4))
    other = data.draw(arrays(np.float64, (len(table), width), elements=FINITE))
    spread = [np.abs(values - values.mean(axis=0)).max() for values in (table, other)]
    assume(min(spread) > 1e-2)
    grams = []
    for values in (table, other):
        gram = values @ values.T
        centring = np.eye(len(gram)) - 1 / len(gram)
        grams.append(centring @ gram @ centring)
    expected = np.sum(grams[0] * grams[1]) / math.sqrt(np.sum(grams[0] ** 2) * np.sum(grams[1] ** 2))
    found = linear_cka(table, other)
    assert found == pytest.approx(expected, abs=1e-6)
    assert linear_cka(other, table) == pytest.approx(found, abs=1e-12)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(width, width)))[0]
    assert linear_cka(table, 7 * other @ rotation + 3) == pytest.approx(found, abs=1e-9)


def test_effective_rank_counts_equal_directions():
    corners = np.vstack([np.eye(3), -np.eye(3)])
    assert effective_rank(corners) == pytest.approx(3)
    assert effective_rank(corners * [1, 1, 0]) == pytest.approx(2)
    assert effective_rank(np.arange(5.0)[:, None]) == pytest.approx(1)
    # Two directions of 4/5 and 1/5 of the variance.
    uneven = np.array([[2, 0], [-2, 0], [0, 1], [0, -1]])
    assert effective_rank(uneven) == pytest.approx(math.exp(-0.8 * math.log(0.8) - 0.2 * math.log(0.2)))


@pytest.mark.parametrize("base", [100.0, 10000.0])
@pytest.mark.parametrize("d_model", [2, 7, 16])
def test_sinusoid_fit_finds_a_rotated_scaled_and_moved_sinusoid(base, d_model):
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(d_model, d_model)))[0]
    moved = 1 + 0.3 * sinusoidal(40, d_model, base=base, dtype=np.float64) @ rotation
    assert sinusoid_fit(moved, base=base) == pytest.approx(1, abs=1e-12)
    if d_model > 2:
        assert sinusoid_fit(moved, base=base * 3) < 0.99


def test_sinusoid_fit_is_the_r2_of_the_fit_itself():
    table = load("rxnmapper")[:64, :12].astype(np.float64)
    target = sinusoidal(64, 12, dtype=np.float64)
    target -= target.mean(axis=0)
    rows = table - table.mean(axis=0)
    left, _, right = np.linalg.svd(target.T @ rows)
    turned = target @ (left @ right)
    scale = np.sum(turned * rows) / np.sum(turned**2)
    r2 = 1 - np.sum((rows - scale * turned) ** 2) / np.sum(rows**2)
    assert sinusoid_fit(table) == pytest.approx(r2, abs=1e-12)


@pytest.mark.parametrize("measure", SCALARS)
@pytest.mark.parametrize("size", [1e200, 1e-200, 1.0])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3])
def test_a_constant_table_is_undefined(measure, size, value):
    assert math.isnan(measure(np.full((7, 5), value * size)))
    assert math.isnan(linear_cka(np.full((7, 5), value * size), np.eye(7)))
    assert math.isnan(linear_cka(np.eye(7), np.full((7, 5), value * size)))


def test_equal_rows_are_undefined_however_they_are_rounded():
    row = np.random.default_rng(0).normal(size=384)
    for measure in SCALARS:
        assert math.isnan(measure(np.tile(row, (300, 1))))


@pytest.mark.parametrize("measure", SCALARS)
def test_one_row_is_undefined(measure):
    assert math.isnan(measure([[1.0, 2.0, 3.0]]))


def test_shapes_at_the_edges_of_constant_and_single_rows():
    for table in (np.full((4, 3), 0.1), [[1.0, 2.0, 3.0]]):
        assert singular_values(table).tolist() == [0.0] * min(np.shape(table))
        path = pca_path(table, 1)
        assert not path.coordinates.any()
        assert np.isnan(path.share).all()
        spectrum = column_spectrum(table)
        assert np.isnan(spectrum.share).all()
        assert np.isnan(spectrum.peak).all()
        assert np.isnan(spectrum.columns).all()
        assert norm_outliers(table).size == 0


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_measures_do_not_depend_on_the_size_of_the_numbers(size):
    table = load("rxnmapper")[:60].astype(np.float64)
    for measure in SCALARS:
        assert measure(table * size) == pytest.approx(measure(table), abs=1e-9)
    assert linear_cka(table * size, table) == pytest.approx(1)
    np.testing.assert_allclose(
        singular_values(table * size), singular_values(table) * size, rtol=1e-9, atol=1e-12 * size
    )
    np.testing.assert_allclose(
        pca_path(table * size).coordinates, pca_path(table).coordinates * size, rtol=1e-6, atol=1e-9 * size
    )
    np.testing.assert_allclose(column_spectrum(table * size).share, column_spectrum(table).share, atol=1e-12)
    assert norm_outliers(table * size).tolist() == norm_outliers(table).tolist()


@given(TABLES)
def test_pca_path_keeps_the_distances_between_rows(table):
    k = min(table.shape)
    path = pca_path(table, k)
    assert path.coordinates.shape == (len(table), k)
    expected = np.linalg.norm(table[:, None] - table[None], axis=2)
    got = np.linalg.norm(path.coordinates[:, None] - path.coordinates[None], axis=2)
    np.testing.assert_allclose(got, expected, atol=1e-9)
    assert (
        path.coordinates.max(axis=0) >= -path.coordinates.min(axis=0) - 1e-12
    ).all()  # points to the farthest


@pytest.mark.parametrize(
    ("table", "k"), [(np.eye(4), 5), (np.eye(4), 0), (np.ones((1, 3)), 3), (np.eye(4), 1.5)]
)
def test_pca_path_has_no_more_directions_than_the_table(table, k):
    with pytest.raises(ValueError, match=rf"^k must be an integer from 1 to {min(table.shape)}, got {k}$"):
        pca_path(table, k)


def test_spectrum_finds_the_frequency_of_each_column():
    p = np.arange(64)
    table = np.column_stack(
        [np.cos(2 * np.pi * 5 * p / 64), 3 + np.sin(2 * np.pi * 12 * p / 64), np.ones(64)]
    )
    spectrum = column_spectrum(table)
    np.testing.assert_allclose(spectrum.peak, [5 / 64, 12 / 64, np.nan])
    np.testing.assert_allclose(spectrum.columns[:, :2].sum(axis=0), 1)
    assert spectrum.share.sum() == pytest.approx(1)
    assert spectrum.columns[[4, 5, 6], 0].sum() > 0.99  # the window keeps a whole wave to three frequencies
    assert spectrum.frequency.tolist() == [i / 64 for i in range(33)]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize(
    "measure", [effective_rank, nearest_row_share, sinusoid_fit, singular_values, pca_path, column_spectrum]
)
def test_a_table_with_a_hole_is_refused_by_name(measure, bad):
    table = np.ones((3, 4))
    table[1, 2] = bad
    with pytest.raises(ValueError, match=rf"^table must be finite, got {bad} at index 1, 2$"):
        measure(table)


def test_cka_needs_the_same_positions():
    with pytest.raises(ValueError, match=r"^a and b must have the same number of rows, got 3 and 2$"):
        linear_cka(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match=r"^b must be finite, got nan at index 0, 1$"):
        linear_cka(np.eye(2), [[1, np.nan], [1, 1]])
    with pytest.raises(ValueError, match=r"^a must be a 2-D array"):
        linear_cka([1.0], np.eye(2))


@pytest.mark.parametrize("shape", [(6, 40), (40, 6), (7, 7)])
def test_wide_tables_are_measured_as_tall_ones_are(shape):
    """The definitions, as they are written: products of columns, whatever is larger."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    x, y = a - a.mean(axis=0), b - b.mean(axis=0)
    expected = np.linalg.norm(x.T @ y) ** 2 / (np.linalg.norm(x.T @ x) * np.linalg.norm(y.T @ y))
    assert linear_cka(a, b) == pytest.approx(expected, rel=1e-9)
    target = sinusoidal(*shape, dtype=np.float64)
    target -= target.mean(axis=0)
    nuclear = np.linalg.svd(x.T @ target, compute_uv=False).sum()
    expected = nuclear**2 / ((x**2).sum() * (target**2).sum())
    assert sinusoid_fit(a) == pytest.approx(expected, rel=1e-9)
