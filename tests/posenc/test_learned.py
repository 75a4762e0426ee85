import hashlib
import json
import math
import os
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from posenc.learned import (
    LADDER_ROWS,
    LEARNED,
    extend,
    ladder_fit,
    ladder_phase,
    load,
    random_init,
    read_array,
    shuffle_rows,
    straight_phase,
)
from posenc.sinusoidal import sinusoidal

DATA = files("posenc") / "data"
PROVENANCE = (DATA / "PROVENANCE.md").read_text(encoding="utf-8")
# | `file` | shape dtype | tensor | `sha256` |
ARRAYS = re.findall(r"\| `(\S+\.npy)` \| (\S+) (\S+) \|.*\| `([0-9a-f]{64})` \|", PROVENANCE)
MEASURED = json.loads((Path(__file__).parents[1] / "data" / "learned_tables_measured.json").read_text())
LADDER = MEASURED["minilm_l6_ladder_rows129_508"]
TABLES = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 3)), elements=st.floats(-9, 9))


@pytest.mark.parametrize(("file", "shape", "dtype", "digest"), ARRAYS)
def test_a_bundled_array_is_the_one_of_its_provenance(file, shape, dtype, digest):
    with (DATA / file).open("rb") as stream:
        array = np.load(stream, allow_pickle=False)
    assert hashlib.sha256(array.tobytes()).hexdigest() == digest
    assert "x".join(map(str, array.shape)) == shape
    assert array.dtype == dtype
    assert array.dtype.byteorder in "=<"


def test_every_bundled_file_has_its_provenance_and_every_licence_is_there():
    bundled = {entry.name for entry in DATA.iterdir() if entry.name.endswith((".npy", ".json"))}
    assert bundled == {file for file, *_ in ARRAYS} | {"minilm_l6_tokens.json", "me5_small_tokens.json"}
    assert all(name in PROVENANCE for name in bundled)
    notices = set(re.findall(r"LICENSES/(\S+?\.txt)", PROVENANCE))
    assert notices == {entry.name for entry in (DATA / "LICENSES").iterdir()}
    for notice in notices:
        text = (DATA / "LICENSES" / notice).read_text(encoding="utf-8")
        assert "Permission is hereby granted" in text or "Apache License" in text


@pytest.mark.parametrize("name", LEARNED)
def test_load(name):
    about, table = LEARNED[name], load(name)
    assert about.name == name
    assert table.shape == (about.rows, about.d_model)
    assert table.dtype == np.float32
    with (DATA / about.file).open("rb") as stream:
        stored = np.load(stream, allow_pickle=False)
    assert stored.dtype == about.dtype
    np.testing.assert_array_equal(table, stored.astype(np.float64))
    with pytest.raises(ValueError, match="read-only"):
        table[0, 0] = 1
    assert about.parameters == about.max_len * about.d_model >= table.size
    # Only the encoder's table is cut; it is also the only one that no one trained.
    assert (about.rows < about.max_len) == (about.kind == "sinusoid") == (name == "whisper_encoder")


def test_the_tables_are_those_that_were_asked_for():
    assert list(LEARNED) == ["minilm_l6", "me5_small", "whisper_encoder", "whisper_decoder", "rxnmapper"]
    with pytest.raises(ValueError, match=r"^name must be 'minilm_l6' or .* or 'rxnmapper', got 'bert'$"):
        load("bert")


def test_tables_are_found_from_any_directory(tmp_path):
    code = "from posenc.learned import load; print(load('rxnmapper').shape)"
    root = str(Path(__file__).parents[2])
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == "(512, 128)\n"


def test_random_init():
    table = random_init(512, 384)
    assert (table.shape, table.dtype) == ((512, 384), np.float32)
    expected = MEASURED["baseline_gauss_sd0.02_512x384_seed0"]
    assert table.std() == pytest.approx(expected["std"], rel=1e-6)
    assert np.median(np.linalg.norm(table, axis=1)) == pytest.approx(expected["norm_median"], rel=1e-6)
    np.testing.assert_array_equal(random_init(3, 4, std=0.5, seed=7), random_init(3, 4, std=0.5, seed=7))
    assert (random_init(3, 4, seed=1) != random_init(3, 4, seed=2)).all()
    assert not random_init(3, 4, std=0).any()
    for bad in ({"std": -1}, {"seed": -1}, {"seed": 1.5}, {"std": math.nan}):
        with pytest.raises(ValueError, match=rf"^{next(iter(bad))} must be "):
            random_init(3, 4, **bad)


@given(TABLES, st.integers(0, 99))
def test_shuffled_rows_are_the_same_rows(table, seed):
    shuffled = shuffle_rows(table, seed)
    assert sorted(map(tuple, shuffled.tolist())) == sorted(map(tuple, table.tolist()))
    np.testing.assert_array_equal(shuffled, shuffle_rows(table, seed))


def test_shuffling_changes_the_order():
    rows = np.arange(50.0)[:, None]
    assert (shuffle_rows(rows) != rows).mean() > 0.9
    assert (shuffle_rows(rows, 1) != shuffle_rows(rows, 2)).mean() > 0.9


@pytest.mark.parametrize("how", ["refuse", "repeat", "interpolate"])
def test_up_to_its_last_row_a_table_is_itself(how):
    table = load("minilm_l6")
    np.testing.assert_array_equal(extend(table, 512, how=how), table)
    np.testing.assert_array_equal(extend(table, 50, how=how), table[:50])


def test_refusing_names_both_numbers():
    with pytest.raises(
        ValueError, match=r"^513 positions > 512 rows \(max_len\): a learned table has no row"
    ):
        extend(load("minilm_l6"), 513, how="refuse")


def test_a_sinusoid_goes_on_and_agrees_with_its_shorter_self():
    np.testing.assert_array_equal(sinusoidal(513, 384)[:512], sinusoidal(512, 384))


@given(TABLES, st.integers(1, 20))
def test_repeating_starts_again_at_row_0(table, n):
    repeated = extend(table, n, how="repeat")
    assert repeated.tolist() == [table[p % len(table)].tolist() for p in range(n)]


@given(TABLES, st.integers(1, 20))
def test_interpolating_stretches_the_rows_to_the_size_asked_for(table, more):
    n = len(table) + more
    stretched = extend(table, n, how="interpolate")
    assert stretched.shape == (n, table.shape[1])
    np.testing.assert_allclose(stretched[[0, -1]], table[[0, -1]], atol=1e-12)
    for column in range(table.shape[1]):
        places = [p * (len(table) - 1) / (n - 1) for p in range(n)]
        expected = np.interp(places, range(len(table)), table[:, column])
        np.testing.assert_allclose(stretched[:, column], expected, atol=1e-12)


@pytest.mark.parametrize(("rows", "n"), [(14, 61), (14, 115), (14, 122), (37, 39), (37, 193)])
def test_interpolating_loses_no_row_to_rounding(rows, n):
    # floor(14 · (61 / 14)) is 60: sizes at which a scale factor lost a row.
    line = np.arange(float(rows))[:, None]
    stretched = extend(line, n, how="interpolate")
    np.testing.assert_allclose(stretched[:, 0], np.linspace(0, rows - 1, n), atol=1e-12)


def test_extending_hands_out_a_copy():
    table = np.ones((3, 2))
    extend(table, 2, how="repeat")[0] = 9
    assert (table == 1).all()


@pytest.mark.parametrize(
    ("n", "how", "message"),
    [
        (0, "repeat", "seq_len must be an integer from 1"),
        (2.5, "repeat", "seq_len must be an integer from 1"),
        (3, "stretch", "how must be 'refuse' or 'repeat' or 'interpolate', got 'stretch'"),
    ],
)
def test_bad_requests_to_extend(n, how, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        extend(np.ones((2, 2)), n, how=how)


@pytest.mark.parametrize(("n_pairs", "r2"), LADDER["R2 of constant + K pairs cos/sin(phase/3^k)"].items())
def test_ladder(n_pairs, r2):
    fit = ladder_fit(load("minilm_l6")[LADDER_ROWS], ladder_phase(), n_pairs=int(n_pairs))
    assert fit.r2 == pytest.approx(r2, abs=5.1e-5)
    assert fit.basis.shape == (380, 1 + 2 * int(n_pairs))
    assert fit.fitted.shape == (380, 384)


@pytest.mark.parametrize(("ratio", "r2"), LADDER["ratio scan, K=5"].items())
def test_ladder_ratio(ratio, r2):
    rows = load("minilm_l6")[LADDER_ROWS]
    assert ladder_fit(rows, ladder_phase(), ratio=float(ratio)).r2 == pytest.approx(r2, abs=5.1e-5)


def test_the_ladder_needs_its_warp_and_its_order():
    rows, phase = load("minilm_l6")[LADDER_ROWS], ladder_phase()
    assert ladder_fit(rows, straight_phase(phase)).r2 == pytest.approx(0.6084, abs=1e-3)
    # The best of all straight axes, whatever their slope, explains 0.61.
    slopes = np.linspace(1.0, 1.07, 29)
    assert max(ladder_fit(rows, slope * np.arange(380)).r2 for slope in slopes) < 0.615
    assert ladder_fit(shuffle_rows(rows), phase).r2 == pytest.approx(0.025, abs=0.005)


def test_ladder_fit_finds_its_own_waves():
    phase = np.cumsum(np.random.default_rng(0).uniform(0.8, 1.2, 200))
    waves = np.column_stack([f(phase / 2.5**k) for k in range(3) for f in (np.cos, np.sin)])
    rows = 4 + waves @ np.random.default_rng(1).normal(size=(6, 8))
    fit = ladder_fit(rows, phase, n_pairs=3, ratio=2.5)
    assert fit.r2 == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(fit.fitted, rows, atol=1e-9)
    np.testing.assert_allclose(fit.basis[:, 1:], waves, atol=1e-12)
    assert ladder_fit(rows, phase, n_pairs=2, ratio=2.5).r2 < 0.9


def test_ladder_fit_of_constant_rows_is_undefined():
    assert math.isnan(ladder_fit(np.full((9, 2), 0.1), np.arange(9.0)).r2)


def test_straight_phase_is_the_regression_line():
    phase = ladder_phase()
    position = np.arange(380)
    np.testing.assert_allclose(straight_phase(phase), np.polyval(np.polyfit(position, phase, 1), position))
    np.testing.assert_allclose(straight_phase([1.0, 3.0, 5.0]), [1, 3, 5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ladder_fit(np.ones((3, 2)), [1.0, 2.0]),
            r"phase must have one value for each of the 3 rows",
        ),
        (
            lambda: ladder_fit(np.ones((3, 2)), [1.0] * 3, n_pairs=0),
            "n_pairs must be an integer from 1 to 64, got 0",
        ),
        (
            lambda: ladder_fit(np.ones((3, 2)), [1.0] * 3, ratio=0.5),
            "ratio must be a number from 1 to 100, got 0.5",
        ),
        (lambda: ladder_fit(np.ones((2, 2)), [1.0, np.nan]), "phase must be finite, got nan at index 1"),
        (lambda: ladder_fit([[1.0], [np.inf]], [1.0, 2.0]), "rows must be finite, got inf at index 1, 0"),
        (
            lambda: straight_phase([1.0]),
            r"phase must be a 1-D array of at least two values, got shape \(1,\)",
        ),
        (lambda: straight_phase([[1.0, 2.0]]), r"phase must be a 1-D array of at least two values"),
        (lambda: shuffle_rows([1.0]), "table must be a 2-D array"),
    ],
)
def test_bad_ladders(call, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        call()


def test_the_phase_is_the_measured_one():
    phase = ladder_phase()
    assert phase.shape == (380,) == (LADDER_ROWS.stop - LADDER_ROWS.start,)
    assert (np.diff(phase) > 0).all()
    assert read_array("minilm_l6_phase_rows129_508_f32.npy")[-1] == np.float32(phase[-1])
