"""The core conforms to the shipped set, and the check that says so can fail."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import posenc
from tests.conformance.__main__ import main
from tests.conformance.adapters import ADAPTERS
from tests.conformance.check import MANIFEST, SHIPPED, check_folder, summary
from tests.posenc import paper

ENTRIES = json.loads((SHIPPED / MANIFEST).read_text(encoding="utf-8"))["arrays"]
COVERED = [entry for entry in ENTRIES if entry["semantics"] in ADAPTERS and entry["role"] == "output"]


@pytest.fixture
def folder(tmp_path):
    """A set of one array: four rows of a table of width 6, in two blocks."""
    rows = np.array([paper.row(p, 6, layout="sin_cos") for p in range(4)])
    np.savez(tmp_path / "one.npz", table=rows)
    write(tmp_path, entry())
    return tmp_path


def entry(**changes):
    made = {
        "name": "table",
        "file": "one.npz",
        "semantics": "sin.ctrl",
        "args": {"d_model": 6, "length": 4, "dtype": "float64"},
        "shape": [4, 6],
        "dtype": "float64",
        "role": "output",
        "suggested_atol": 1e-12,
    }
    return made | changes


def write(folder, *entries):
    (folder / MANIFEST).write_text(json.dumps({"arrays": entries}), encoding="utf-8")


def only(folder):
    (verdict,) = check_folder(folder)
    return verdict


def test_every_array_with_an_adapter_passes_and_inputs_are_not_counted():
    verdicts = check_folder(SHIPPED)
    assert [verdict for verdict in verdicts if verdict.status == "failed"] == []
    assert {verdict.name for verdict in verdicts if verdict.status == "passed"} == {
        entry["name"] for entry in COVERED
    }
    assert [verdict.name for verdict in verdicts] == [
        entry["name"] for entry in ENTRIES if entry["role"] == "output"
    ]


def test_every_adapter_is_tried_by_the_shipped_set():
    assert {entry["semantics"] for entry in COVERED} == set(ADAPTERS)


def test_no_array_passes_with_one_value_changed(tmp_path):
    """A value moves by ten tolerances in each array, in turn at another place."""
    copy, changed = shutil.copytree(SHIPPED, tmp_path / "copy"), {}
    for number, entry in enumerate(COVERED):
        with np.load(SHIPPED / entry["file"]) as arrays:
            array = arrays[entry["name"]].astype(np.float64)
        free = ~np.isnan(array).ravel()
        for distance, *_ in entry.get("float32_boundary", ()):
            free[distance - entry["args"]["rel_min"]] = False
        place = np.flatnonzero(free)[number * 7 % free.sum()]
        array.flat[place] += 10 * (
            entry["suggested_atol"] + entry.get("suggested_rtol", 0) * abs(array.flat[place])
        )
        array.flat[place] += 1e-6
        changed[entry["name"]] = array
    np.savez(copy / "changed.npz", **changed)
    inputs = [entry for entry in ENTRIES if entry["role"] == "input"]
    write(copy, *inputs, *(entry | {"file": "changed.npz", "dtype": "float64"} for entry in COVERED))
    verdicts = check_folder(copy)
    assert [verdict.name for verdict in verdicts if verdict.status != "failed"] == []
    assert all("1 of " in verdict.reason for verdict in verdicts)


@pytest.mark.parametrize(
    "broken",
    [
        lambda table: table + 1e-3,
        lambda table: table[:, ::-1],
        lambda table: table[:-1],
        lambda table: np.full_like(table, np.nan),
    ],
    ids=["a little off", "columns reversed", "a row short", "not a number"],
)
def test_no_array_passes_with_a_broken_core(monkeypatch, broken):
    right = posenc.sinusoidal
    monkeypatch.setattr(posenc, "sinusoidal", lambda *args, **options: broken(right(*args, **options)))
    failed = {verdict.name for verdict in check_folder(SHIPPED) if verdict.status == "failed"}
    # A single column is its own reverse.
    sines = [entry for entry in COVERED if entry["semantics"].startswith("sin.")]
    assert failed >= {entry["name"] for entry in sines if entry["shape"][-1] > 1}


def test_one_right_array_passes(folder):
    assert only(folder).status == "passed"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"file": "gone.npz"}, "gone.npz"),
        ({"name": "other"}, "other is not a file in the archive"),
        ({"file": 3}, "TypeError"),
        ({"shape": [6, 4]}, "the stored array is float64 [4, 6], its entry says float64 [6, 4]"),
        ({"dtype": "float32"}, "its entry says float32"),
        ({"dtype": "nonsense"}, "nonsense"),
        ({"args": {"d_model": 6}}, "KeyError: 'length'"),
        ({"args": {"d_model": -6, "length": 4}}, "d_model must be an integer"),
        ({"args": None}, "TypeError"),
        ({"args": {"d_model": 6, "length": 5}}, "the core gives the shape (5, 6), the library (4, 6)"),
        ({"semantics": "sin.videomae"}, "values differ, first at [0, 1]: the core gives 1, the library 0"),
        ({"rows": [0, 1, 2, 9]}, "IndexError"),
        ({"rows": [0, 1, 3, 2]}, "12 of 24 values differ"),
        ({"suggested_atol": "small"}, "Error"),
        ({"semantics": ["sin.ctrl"]}, "TypeError"),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_a_wrong_entry_is_a_failure_by_name(folder, changes, reason):
    write(folder, entry(**changes))
    verdict = only(folder)
    assert verdict.status == "failed"
    assert verdict.name == changes.get("name", "table")
    assert reason in verdict.reason
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("missing", ["file", "semantics", "args", "shape", "dtype", "role", "suggested_atol"])
def test_an_entry_without_one_of_its_fields_is_a_failure_by_name(folder, missing):
    incomplete = entry()
    del incomplete[missing]
    write(folder, incomplete)
    assert only(folder) == ("table", "failed", f"KeyError: '{missing}'")


def test_an_entry_without_a_name_is_named_by_its_place(folder):
    write(folder, entry(), "nonsense", None, {})
    assert [(verdict.name, verdict.status) for verdict in check_folder(folder)] == [
        ("table", "passed"),
        ("arrays[1]", "failed"),
        ("arrays[2]", "failed"),
        ("arrays[3]", "failed"),
    ]


@pytest.mark.parametrize("content", [b"", b"not a zip", None], ids=["empty", "text", "cut short"])
def test_a_broken_archive_fails_the_arrays_in_it(folder, content):
    archive = folder / "one.npz"
    archive.write_bytes(archive.read_bytes()[:300] if content is None else content)
    assert only(folder).status == "failed"
    assert only(folder).name == "table"


def test_an_archive_that_would_run_code_is_not_opened(folder):
    np.savez(folder / "one.npz", table=np.array([object()]))
    assert "allow_pickle=False" in only(folder).reason


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b"[]", b"{}", b'{"arrays": 3}', b'{"arrays": []}', b"\xff\xfe{", b"[" * 100_000],
)
def test_a_broken_manifest_is_a_failure(folder, content):
    if content is None:
        (folder / MANIFEST).unlink()
    else:
        (folder / MANIFEST).write_bytes(content)
    verdict = only(folder)
    assert (verdict.name, verdict.status) == (MANIFEST, "failed")
    assert verdict.reason


def test_what_no_adapter_covers_and_what_is_no_output_is_skipped_by_name(folder):
    write(folder, entry(name="a", semantics="sin.unheard_of"), entry(name="b", role="note"))
    assert check_folder(folder) == [
        ("a", "skipped", "no adapter for sin.unheard_of"),
        ("b", "skipped", "its role is note"),
    ]


def test_not_a_number_agrees_with_not_a_number_only(folder):
    arguments = {
        "timesteps": [0.0, 2.0],
        "embedding_dim": 3,
        "flip_sin_to_cos": False,
        "downscale_freq_shift": 1,
        "scale": 1,
        "max_period": 10000,
    }
    nan = np.array([[np.nan, np.nan, 0]] * 2)
    np.savez(folder / "one.npz", table=nan, zeros=np.zeros((2, 3)))
    made = entry(semantics="sin.diffusers_timestep", args=arguments, shape=[2, 3])
    write(folder, made, made | {"name": "zeros"})
    assert [verdict.status for verdict in check_folder(folder)] == ["passed", "failed"]


def test_a_relative_tolerance_keeps_zeros_exact(folder):
    rows = posenc.sinusoidal(4, 6, layout="sin_cos", dtype=np.float64)
    np.savez(folder / "one.npz", table=rows * 1.01)
    write(folder, entry(suggested_atol=0, suggested_rtol=0.02))
    assert only(folder).status == "passed"
    rows[0, 0] = 1e-9  # sin 0
    np.savez(folder / "one.npz", table=rows)
    assert "first at [0, 0]" in only(folder).reason


def test_timesteps_take_any_shift(folder):
    arguments = {
        "timesteps": [0.5, 7.0],
        "embedding_dim": 8,
        "flip_sin_to_cos": True,
        "downscale_freq_shift": 0.5,
        "scale": 2,
        "max_period": 100,
    }
    angles = np.array([[2 * t * 100 ** (-i / 3.5) for i in range(4)] for t in (0.5, 7.0)])
    np.savez(folder / "one.npz", table=np.hstack([np.cos(angles), np.sin(angles)]))
    write(folder, entry(semantics="sin.diffusers_timestep", args=arguments, shape=[2, 8]))
    assert only(folder).status == "passed"


def test_the_command_names_ends_with_counts_and_exits_with_1_on_a_failure(folder, capsys):
    assert main([str(folder)]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed, 0 skipped\n"
    write(folder, entry(), entry(name="short", shape=[1]), entry(name="given", role="note"))
    assert main([str(folder)]) == 1
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("failed short: ")
    assert second == "skipped given: its role is note"
    assert last == "1 passed, 1 failed, 1 skipped"


def test_the_command_runs_as_a_module_on_a_damaged_copy(tmp_path):
    copy = shutil.copytree(SHIPPED, tmp_path / "copy")
    (copy / "absolute_1d.npz").unlink()
    root = Path(__file__).parents[2]
    lost = sum(entry["file"] == "absolute_1d.npz" for entry in COVERED)
    for arguments, code, failed in (([], 0, 0), ([str(copy)], 1, lost)):
        command = [sys.executable, "-m", "tests.conformance", *arguments]
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert run.returncode == code
        assert run.stderr == ""
        assert f" {failed} failed, " in run.stdout.splitlines()[-1]


def test_the_summary_counts():
    assert summary([]) == "0 passed, 0 failed, 0 skipped"
