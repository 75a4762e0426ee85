"""Portraits of tables, the edge, the waves in MiniLM: against values measured elsewhere and plain loops."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from posenc import comparison, sinusoidal
from posenc.learned import load
from posenc.picks import NAMES, pick_beside

MEASURED = json.loads((Path(__file__).parents[1] / "data" / "learned_tables_measured.json").read_text())
KEYS = {
    "minilm_l6": "minilm_l6",
    "me5_small": "me5_small",
    "whisper_encoder": "whisper_tiny_en_encoder_first448",
    "whisper_decoder": "whisper_tiny_en_decoder",
    "rxnmapper": "rxnmapper_albert",
}
_seen: dict[str, comparison.Portrait] = {}


def portrait(name: str, beside: str = "minilm_l6") -> comparison.Portrait:
    return _seen.setdefault(name, comparison.portrait(pick_beside(name, beside)))


def cosine(a, b) -> float:
    return math.fsum(a * b) / math.sqrt(math.fsum(a * a) * math.fsum(b * b))


def test_either_choice_offers_every_table_and_they_differ_by_default():
    assert set(comparison.TABLE_A.options) == set(comparison.TABLE_B.options) == set(NAMES)
    assert (comparison.TABLE_A.default, comparison.TABLE_B.default) == ("sinusoid", "minilm_l6")


@pytest.mark.parametrize("name", KEYS)
def test_measures_are_those_measured_elsewhere(name):
    expected, found = MEASURED[KEYS[name]], portrait(name).measures
    assert found.offset_share == pytest.approx(expected["offset_R2"], abs=1e-6)
    assert found.nearest_row_share == pytest.approx(expected["nn_adjacent"], abs=1e-9)
    assert found.effective_rank == pytest.approx(expected["erank"], abs=1e-6)
    assert found.sinusoid_fit == pytest.approx(expected["procrustes_10000"], abs=5.1e-5)
    assert found.cka == pytest.approx(expected["cka_10000"], abs=5.1e-5)


def test_baselines_are_chance():
    minilm = portrait("minilm_l6")
    shuffled, noise = minilm.baselines["shuffled"], minilm.baselines["gaussian"]
    assert shuffled.effective_rank == pytest.approx(minilm.measures.effective_rank, abs=1e-9)
    assert max(shuffled.offset_share, noise.offset_share) < 0.006
    assert max(shuffled.nearest_row_share, noise.nearest_row_share) < 0.03
    expected = MEASURED["baseline_gauss_sd0.02_512x384_seed0"]
    assert noise.effective_rank == pytest.approx(expected["erank"], abs=2)
    assert noise.sinusoid_fit == pytest.approx(expected["procrustes_10000"], abs=0.005)


@pytest.mark.parametrize("name", KEYS)
def test_a_portraits_arrays(name):
    seen, table, expected = portrait(name), load(name).astype(float), MEASURED[KEYS[name]]
    assert seen.shape == f"{len(table)} × {table.shape[1]}"
    for p, q in ((0, 1), (17, 300), (447, 3)):
        assert seen.cosine[p, q] == pytest.approx(cosine(table[p], table[q]), abs=1e-6)
    middle, lower, upper = comparison.middle_and_band(seen.profile)
    for offset, value in expected["cos_at_offset"].items():
        assert middle[int(offset)] == pytest.approx(value, abs=5.1e-4)
    one = [cosine(table[p], table[p + 200]) for p in range(len(table) - 200)]
    assert (lower[200], upper[200]) == pytest.approx((np.mean(one) - np.std(one), np.mean(one) + np.std(one)))
    np.testing.assert_allclose(seen.variance[:8], expected["top_var"], atol=5.1e-5)
    assert seen.norms[5] == pytest.approx(math.sqrt(math.fsum(table[5] ** 2)))
    assert seen.undefined == 0
    assert list(seen.positions[[0, -1]]) == [0, len(table) - 1]
    assert list(seen.directions[[0, -1]]) == [1, len(seen.variance)]


@pytest.mark.parametrize("name", [name for name in KEYS if name != "whisper_encoder"])
def test_odd_rows_are_those_found_elsewhere(name):
    expected = dict(map(tuple, MEASURED[KEYS[name]]["norm_outlier_rows"]))
    found = portrait(name).odd_rows
    assert expected.keys() <= found.keys()
    for row, ratio in expected.items():
        assert found[row] == pytest.approx(ratio, abs=0.0051)


def test_the_sinusoid_has_no_odd_row_and_no_share_below_rounding():
    seen = portrait("sinusoid")
    assert seen.odd_rows == {}
    assert np.isnan(seen.variance[-1])
    assert np.nanmin(seen.variance) > comparison.SMALLEST_SHARE
    assert seen.measures.sinusoid_fit == pytest.approx(1, abs=1e-6)


def test_portraits_cannot_be_changed():
    seen = portrait("minilm_l6")
    for array in (
        seen.table,
        seen.cosine,
        seen.norms,
        seen.variance,
        seen.path.coordinates,
        seen.profile.mean,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_zero_row_is_counted_as_undefined(monkeypatch):
    table = load("rxnmapper").copy()
    table[3] = 0
    monkeypatch.setattr(comparison.Pick, "build", lambda _: table)
    seen = comparison.portrait(pick_beside("rxnmapper", "rxnmapper"))
    assert seen.undefined == 1
    assert np.isnan(seen.cosine[3]).all()


def ask(position: int, name: str = "minilm_l6") -> comparison.Edge:
    return comparison.edge(load(name), position, base=10_000.0, layout="interleaved")


def test_the_last_row_is_granted_and_the_next_refused():
    assert ask(511).refusal == ""
    assert set(ask(511).curves) == {"table", "sinusoid"}
    refused = ask(512)
    assert "513" in refused.refusal
    assert "512" in refused.refusal
    assert set(refused.curves) == {"repeat", "interpolate", "sinusoid"}


def test_the_three_ways_past_the_edge():
    table, found = load("minilm_l6").astype(float), ask(600)
    assert found.repeated == 600 - 512
    assert found.curves["repeat"][88] == found.curves["repeat"][600] == pytest.approx(1)
    assert found.curves["repeat"][3] == pytest.approx(cosine(table[88], table[3]))
    # The last position takes the last row; position 300 of 601 lies between rows 255 and 256.
    between = (table[255] + table[256]) / 2
    assert 300 * 511 / 600 == 255.5
    assert found.curves["interpolate"][300] == pytest.approx(cosine(table[511], between))
    place = np.arange(512) * 511 / 600
    below = place.astype(int)
    moved = [(1 - w) * table[p] + w * table[p + 1] for p, w in zip(below, place - below, strict=True)]
    assert found.kept == pytest.approx(np.mean([cosine(*pair) for pair in zip(table, moved, strict=True)]))
    assert found.sinusoid_difference == 0
    rates = 10_000.0 ** (-np.arange(0, 384, 2) / 384)
    assert found.curves["sinusoid"][100] == pytest.approx(np.cos(500 * rates).mean())
    assert all(len(curve) == 601 == len(found.positions) for curve in found.curves.values())


def test_windows_lie_around_the_last_row():
    table, found = load("whisper_decoder").astype(float), ask(500, "whisper_decoder")
    assert found.first == 400
    assert found.most == 560
    assert all(window.shape == (96, 96) for window in found.windows.values())
    refused = found.windows["refuse"]
    assert np.isnan(refused[48:]).all()
    assert np.isnan(refused[:, 48:]).all()
    assert refused[0, 47] == pytest.approx(cosine(table[400], table[447]))
    assert found.windows["repeat"][0, 48] == pytest.approx(cosine(table[400], table[0]))
    neighbours = {way: np.diagonal(window, 1).mean() for way, window in found.windows.items()}
    assert neighbours["interpolate"] > np.nanmean(np.diagonal(refused, 1))


def test_a_position_past_a_quarter_more_is_refused_by_name():
    assert ask(639).repeated == 127
    with pytest.raises(ValueError, match="edge_position must be an integer from 0 to 639, got 640"):
        ask(640)


def test_the_evidence_for_the_ladder():
    found, expected = comparison.ladder(), MEASURED["minilm_l6_ladder_rows129_508"]
    for k, r2 in expected["R2 of constant + K pairs cos/sin(phase/3^k)"].items():
        assert found.r2["warped"][int(k) - 1] == pytest.approx(r2, abs=5.1e-5)
    by_ratio = dict(zip(found.ratios.round(6), found.r2_by_ratio, strict=True))
    for ratio, r2 in expected["ratio scan, K=5"].items():
        assert by_ratio[float(ratio)] == pytest.approx(r2, abs=5.1e-5)
    assert found.r2["straight"][4] <= 0.61
    assert found.r2["shuffled"][4] == pytest.approx(0.025, abs=0.005)
    assert list(found.positions[[0, -1]]) == [129, 508]
    line = np.polynomial.Polynomial.fit(found.positions, found.phase, 1)
    np.testing.assert_allclose(found.deviation, found.phase - line(found.positions), atol=1e-6)
    assert found.wavelength == pytest.approx(2 * math.pi / line.convert().coef[1])


def test_columns_in_another_order_are_the_same_table():
    # Sines first and interleaved hold the same columns (d = 8, by hand).
    one, other = sinusoidal(50, 8, layout="sin_cos"), sinusoidal(50, 8)
    found = comparison.together(one, other)
    assert found.difference == pytest.approx(np.abs(one.astype(float) - other).max())
    assert found.difference > 1
    assert found.permuted == 0
    assert found.cka == pytest.approx(1)
    assert comparison.match_columns(one, other).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_each_column_is_taken_once():
    order = comparison.match_columns(np.ones((9, 6)), np.ones((9, 6)))
    assert sorted(order) == list(range(6))


def test_no_order_of_columns_makes_different_tables_equal():
    noise = np.random.default_rng(0).standard_normal((60, 20))
    found = comparison.together(noise, np.random.default_rng(1).standard_normal((60, 20)))
    assert found.permuted > 1
    shuffled = noise[:, np.random.default_rng(2).permutation(20)].astype(np.float16)
    assert comparison.together(noise, shuffled).permuted < 2e-3  # up to the rounding of float16


def test_tables_of_different_widths_share_only_their_rows():
    found = comparison.together(sinusoidal(30, 8), sinusoidal(50, 6))
    assert found.rows == 30
    assert not found.same_width
    assert np.isnan(found.permuted)
    assert 0 < found.cka <= 1


def test_constant_and_wide_tables_are_compared_as_far_as_they_can_be():
    assert np.isnan(comparison.together(np.ones((5, 3)), np.ones((5, 3))).cka)
    wide = np.ones((2, comparison.MATCHED_COLUMNS + 1))
    found = comparison.together(wide, wide)
    assert (found.difference, found.same_width) == (0, True)
    assert np.isnan(found.permuted)
