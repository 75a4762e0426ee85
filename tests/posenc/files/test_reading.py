"""Files by what they hold: the cases of the field, misleading names, pickles, and what is too big."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import posenc
from posenc.tables import MAX_BYTES
from tests.table_files import check

CASES = Path(check.__file__).parent / "cases"
EXPECTED = check.expected(CASES)
TABLE = posenc.sinusoidal(16, 8, dtype=np.float64)


def npy(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def safetensors(**arrays):
    header, body = {}, b""
    for key, array in arrays.items():
        kind = {"f": "F", "i": "I"}[array.dtype.kind] + str(8 * array.itemsize)
        span = [len(body), len(body) + array.nbytes]
        header[key] = {"dtype": kind, "shape": list(array.shape), "data_offsets": span}
        body += array.tobytes()
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def csv(array):
    return "\n".join(",".join(map(repr, row)) for row in array.tolist()).encode()


def codes(table):
    return [note.code for note in table.notes]


def refusal(source, name="", **options):
    with pytest.raises(posenc.TableError) as caught:
        posenc.read_table(source, name, **options)
    return caught.value


def test_all_cases_are_here():
    assert set(EXPECTED) == {path.name for path in (CASES / "files").iterdir()}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_case_of_the_field_comes_out_as_expected(name):
    assert check.faults(CASES / "files" / name, EXPECTED[name]) == []


def test_the_command_counts_and_fails_where_one_is_not_as_expected(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "good.npy").write_bytes(npy(TABLE))
    (tmp_path / "files" / "bad.npy").write_bytes(npy(TABLE))
    want = {"verdict": "accept", "shape": [16, 8], "v10": 0.8414709848}
    wrong = {"good.npy": want, "bad.npy": {"verdict": "reject"}, "gone.npy": want}
    (tmp_path / "EXPECTED.json").write_text(json.dumps(wrong))
    command = [sys.executable, "-m", "tests.table_files", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=CASES.parents[2], check=False)
    assert run.returncode == 1
    assert "bad.npy" in run.stdout
    assert run.stdout.splitlines()[-1] == "1 passed, 1 failed, 1 skipped"


@pytest.mark.parametrize(
    "want",
    [
        {"verdict": "accept_with_note"},
        {"verdict": "accept", "shape": [8, 16]},
        {"verdict": "accept", "v10": 0.5403},
        {"verdict": "accept", "zero_rows": [1]},
        {"verdict": "accept", "keys": ["wpe"]},
        {"verdict": "accept", "upload_name": "a\ud800.npy"},
    ],
)
def test_the_command_sees_each_kind_of_difference(tmp_path, want):
    path = tmp_path / "table.npy"
    path.write_bytes(npy(TABLE))
    assert check.faults(path, want)


FORMATS = {
    ".npy": npy(TABLE),
    ".npz": npz(a=TABLE),
    ".safetensors": safetensors(a=TABLE),
}


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".csv", ".txt", ".pt", ".bin", ".h5"])
@pytest.mark.parametrize("kind", FORMATS)
def test_what_a_file_holds_decides_and_another_name_is_noted(kind, suffix):
    table = posenc.read_table(FORMATS[kind], "table" + suffix)
    np.testing.assert_array_equal(table.values, TABLE)
    assert codes(table) == ([] if kind == suffix else ["other_name"])


@pytest.mark.parametrize("name", ["", "table", "v1.0 final", "table.ndarray"])
def test_a_name_that_promises_nothing_needs_no_note(name):
    assert all(not posenc.read_table(data, name).notes for data in FORMATS.values())


@pytest.mark.parametrize("suffix", [".npy", ".NPZ", ".safetensors", ".pt", ".pth", ".bin", ".pkl"])
def test_text_behind_the_name_of_another_format_is_refused(suffix):
    assert refusal(csv(TABLE), "table" + suffix).code == "text_inside"


@pytest.mark.parametrize("name", ["", "a.npy", "a.csv", "a.safetensors", "a.pt"])
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"<!DOCTYPE html><html><body>404</body></html>", "web_page"),
        (b"\xef\xbb\xbf\r\n  <HTML lang='ko'>", "web_page"),
        ("<!doctype html>\n<p>".encode("utf-16"), "web_page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "lfs_pointer"),
        (b"", "empty_file"),
        (b"\x89HDF\r\n\x1a\n" + bytes(100), "other_format"),
    ],
)
def test_what_is_no_table_is_named_under_any_name(data, code, name):
    assert refusal(data, name).code == code


@pytest.mark.parametrize(
    ("name", "code"), [("a.npy", "unknown_format"), ("", "unknown_format"), ("a.safetensors", "st_header")]
)
def test_bytes_of_no_format_are_told_so(name, code):
    assert refusal(bytes(range(256)), name).code == code


class Bomb:
    """Calls what the test watches if it is unpickled."""

    def __reduce__(self):
        return os.getloadavg, ()


def pickles():
    yield from (pickle.dumps(Bomb(), protocol) for protocol in range(6))
    yield from (pickle.dumps([[0.5, 1.0]], protocol) for protocol in range(6))
    yield from (pickle.dumps({"a": TABLE}, protocol) for protocol in range(6))
    yield npy(np.array([[Bomb(), 1], [2, 3]], dtype=object), allow_pickle=True)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(Bomb(), 2))
        archive.writestr("archive/data/0", TABLE.tobytes())
    yield stream.getvalue()
    yield npz(a=np.array([[Bomb(), 1], [2, 3]], dtype=object))


PICKLES = tuple(pickles())


@pytest.mark.parametrize("name", ["", "model.pt", "model.pth", "pytorch_model.bin", "table.pkl"])
def test_a_pickle_is_never_opened_and_two_lines_convert_it(name, monkeypatch):
    def never(*_args, **_options):
        raise AssertionError("unpickled")

    for module, function in ((pickle, "load"), (pickle, "loads"), (pickle, "Unpickler"), (os, "getloadavg")):
        monkeypatch.setattr(module, function, never)
    for data in PICKLES:
        error = refusal(data, name)
        assert error.code == "pickle"
        lines = str(error.values["convert"]).splitlines()
        assert len(lines) == 2
        compile("\n".join(lines), "shown", "exec")
        assert "np.save" in lines[1]
        assert not name or repr(name) in lines[0]


def test_a_good_array_beside_a_pickle_is_read():
    table = posenc.read_table(npz(names=np.array(["a", None], dtype=object), wpe=TABLE))
    np.testing.assert_array_equal(table.values, TABLE)
    assert codes(table) == ["only_table"]


@pytest.mark.parametrize("convert", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken_and_left_alone(convert):
    data = convert(npy(TABLE))
    np.testing.assert_array_equal(posenc.read_table(data).values, TABLE)
    assert bytes(data) == npy(TABLE)


def test_a_path_gives_the_name_and_can_be_replaced_by_another(tmp_path):
    path = tmp_path / "위치표.npy"
    path.write_bytes(npy(TABLE))
    assert posenc.read_table(path).name == "위치표.npy"
    assert posenc.read_table(str(path), "other.npy").name == "other.npy"


def test_a_path_that_is_no_file_is_one_sentence(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none.npy", tmp_path / "pipe", "nul\0.npy", "/dev/zero"):
        assert refusal(path).code == "unreadable"


def test_a_safetensors_file_may_be_of_any_size_and_others_may_not(tmp_path):
    size = MAX_BYTES + 2**20
    header = {"pad": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}
    header["wpe"] = {"dtype": "F64", "shape": [16, 8], "data_offsets": [size, size + TABLE.nbytes]}
    text = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.seek(8 + len(text) + size)  # a hole in the file
        stream.write(TABLE.tobytes())
    np.testing.assert_array_equal(posenc.read_table(path).values, TABLE)
    path = tmp_path / "table.npy"
    with path.open("wb") as stream:
        stream.write(npy(TABLE))
        stream.truncate(size)
    error = refusal(path)
    assert error.code == "too_big"
    assert str(MAX_BYTES) in str(error)


def test_values_cannot_be_changed_and_belong_to_nobody_else():
    data = bytearray(npy(TABLE))
    table = posenc.read_table(data)
    data[-8:] = bytes(8)
    np.testing.assert_array_equal(table.values, TABLE)
    with pytest.raises(ValueError, match="read-only"):
        table.values[0, 0] = 1
