"""NumPy's formats: every type, order and version, and headers that promise something else."""

import io
import struct
import zipfile

import numpy as np
import pytest

import posenc
from tests.posenc.files.test_reading import codes, npy, npz, refusal

TABLE = np.random.default_rng(0).normal(size=(16, 8))


def raw(descr, shape, body, *, version=1, fortran=False):
    text = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes((version, 0)) + length + text + body


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("stored", "dtype", "kept"),
    [
        ("<f2", "float16", "f4"),
        (">f2", "float16", "f4"),
        ("<f4", "float32", "f4"),
        (">f4", "float32", "f4"),
        ("<f8", "float64", "f8"),
        (">f8", "float64", "f8"),
        ("g", "longdouble", "f8"),
    ],
)
def test_every_float_is_read_without_loss(stored, dtype, kept, order):
    array = TABLE.astype(stored).copy(order=order)
    table = posenc.read_table(npy(array), "table.npy")
    assert table.values.dtype == np.dtype(kept)
    assert table.values.flags.c_contiguous
    assert table.dtype == dtype
    np.testing.assert_array_equal(table.values, array)
    assert codes(table) == (["long_double"] if stored == "g" else [])


@pytest.mark.parametrize("version", [1, 2, 3])
def test_every_version_of_the_header(version):
    data = raw("<f8", (16, 8), TABLE.tobytes(), version=version)
    np.testing.assert_array_equal(posenc.read_table(data).values, np.load(io.BytesIO(data)))


@pytest.mark.parametrize(
    "text",
    [
        "{'shape': (16, 8), 'fortran_order': False, 'descr': '<f8'}",
        '{"descr": "<f8", "fortran_order": False, "shape": (16, 8)}',
        "{'descr': '<f8', 'fortran_order': False, 'shape': (16L, 8L), }",  # of Python 2
        "{'descr':'<f8','fortran_order':False,'shape':(16,8),}",
    ],
)
def test_headers_of_other_writers(text):
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + TABLE.tobytes()
    np.testing.assert_array_equal(posenc.read_table(data).values, TABLE)


def test_bfloat16_as_it_is_saved_without_a_name():
    bits = TABLE.astype("f4").view("u4") >> 16
    data = raw("<V2", (16, 8), bits.astype("<u2").tobytes())
    table = posenc.read_table(data)
    np.testing.assert_array_equal(table.values.view("u4") >> 16, bits)
    assert table.dtype == "bfloat16"
    assert codes(table) == ["void_bfloat16"]


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.arange(12).reshape(3, 4), "integers"),
        (np.arange(12, dtype="u1").reshape(3, 4), "integers"),
        (np.zeros((3, 4), bool), "not_numbers"),
        (np.zeros((3, 4), complex), "not_numbers"),
        (np.zeros((3, 4), "U3"), "not_numbers"),
        (np.zeros((3, 4), "S3"), "not_numbers"),
        (np.zeros((3, 4), "M8[s]"), "not_numbers"),
        (np.zeros((3, 4), "V3"), "not_numbers"),
        (np.zeros(3, [("a", "f4"), ("b", "f8")]), "not_numbers"),
        (np.zeros((0, 8)), "no_cells"),
        (np.zeros((16, 0)), "no_cells"),
        (np.zeros(()), "no_axes"),
        (np.zeros(16), "one_axis"),
        (np.zeros((2, 16, 8)), "many_axes"),
        (np.full((3, 4), np.nan), "not_finite"),
        (np.full((3, 4), np.longdouble("1e4000")), "not_finite"),
    ],
)
def test_what_is_no_table_is_refused_by_its_kind(array, code):
    for data in (npy(array), npz(a=array)):
        assert refusal(data).code == code


@pytest.mark.parametrize(
    ("shape", "want"),
    [
        ((1, 16, 8), (16, 8)),
        ((16, 1, 8), (16, 8)),
        ((1, 1, 16, 8), (16, 8)),
        ((1, 1, 128), (1, 128)),
        ((128, 1, 1), (128, 1)),
        ((1, 128, 1), (128, 1)),
    ],
)
def test_axes_of_one_are_dropped_and_noted(shape, want):
    table = posenc.read_table(npy(TABLE.reshape(shape)))
    assert table.shape == want
    assert codes(table) == ["squeezed"]


@pytest.mark.parametrize("shape", [(16, 8), (1, 128), (128, 1), (1, 1)])
def test_two_axes_are_taken_as_they_are(shape):
    table = posenc.read_table(npy(np.resize(TABLE, shape)))
    assert table.shape == shape
    assert codes(table) == []


@pytest.mark.parametrize(
    ("descr", "shape", "code"),
    [
        ("<f8", (10**6, 10**6), "too_many_cells"),
        ("<f8", (2**33, 2**33), "too_many_cells"),
        ("<f8", (16, 9), "wrong_size"),
        ("<f8", (16, 7), "wrong_size"),
        ("<f4", (16, 8), "wrong_size"),
        ("<f9", (16, 8), "not_numbers"),
        ("q", (16, 8), "not_numbers"),
        ("", (16, 8), "npy_header"),
        ("<f8", (-16, 8), "npy_header"),
        ("<f8", (16.0, 8), "npy_header"),
        ("<f8", 128, "npy_header"),
        ("<f8", (1,) * 65, "npy_header"),
    ],
)
def test_a_header_that_promises_something_else(descr, shape, code):
    assert refusal(raw(descr, shape, TABLE.tobytes())).code == code


def test_the_refusal_of_a_cut_off_file_says_how_much_is_missing():
    error = refusal(npy(TABLE)[:-40], "table.npy")
    assert error.values["what"] == "table.npy"
    assert (error.values["expected"], error.values["got"]) == (1024, 984)


def test_a_code_in_a_header_is_not_run():
    text = b"{'descr': '<f8', 'fortran_order': False, 'shape': (16, 8), 'x': __import__('os').abort()}"
    data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + TABLE.tobytes()
    np.testing.assert_array_equal(posenc.read_table(data).values, TABLE)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_of_one_array(save):
    stream = io.BytesIO()
    save(stream, TABLE)
    table = posenc.read_table(stream.getvalue(), "table.npz")
    np.testing.assert_array_equal(table.values, TABLE)
    assert (table.key, codes(table)) == ("", [])


def test_an_archive_of_several_arrays_is_a_choice():
    data = npz(wte=TABLE[:5], wpe=TABLE, steps=np.arange(3))
    table = posenc.read_table(data)
    assert table.key == "wpe"
    assert [found.key for found in table.candidates] == ["wpe", "wte"]
    assert codes(table) == ["chosen"]
    other = posenc.read_table(data, key="wte")
    np.testing.assert_array_equal(other.values, TABLE[:5])
    assert codes(other) == ["asked"]
    assert refusal(data, key="none").code == "unknown_key"
    assert refusal(data, key="steps").code == "integers"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (npz(), "no_arrays"),
        (npz(a=np.arange(3), b=np.zeros(3)), "no_tables"),
        (npz(a=TABLE, b=TABLE), "choose"),
        (npz(a=TABLE)[:-30], "zip_damaged"),
        (npz(a=TABLE).replace(b"\x93NUMPY", b"\x93NUMPX"), "zip_damaged"),
        (b"PK\x03\x04", "zip_damaged"),
    ],
)
def test_other_archives_are_refused(data, code):
    error = refusal(data)
    assert error.code == code
    if code == "choose":
        assert [found.key for found in error.values["candidates"]] == ["a", "b"]


def test_other_kinds_of_archive_are_named():
    for member, kind in (("[Content_Types].xml", "Excel"), ("table.csv", "ZIP")):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(member, "x")
        assert refusal(stream.getvalue()).values["format"] == kind
