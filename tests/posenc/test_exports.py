"""Exported files hold exactly the array, whatever its memory looks like, and others open them."""

import io
import struct
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import posenc
from posenc import exports

DTYPES = ("<f2", "<f4", "<f8", ">f2", ">f4", ">f8", "i4", ">i8", "u8")


def load_csv(data: bytes, dtype) -> np.ndarray:
    """Read each cell with Python's own float or int: not with what the writer checks itself."""
    number = int if np.dtype(dtype).kind in "iu" else float
    lines = data.decode("ascii").splitlines()
    return np.array([[number(cell) for cell in line.split(",")] for line in lines]).astype(dtype)


READERS = {
    exports.to_npy: lambda data, dtype: np.load(io.BytesIO(data)),
    exports.to_npz: lambda data, dtype: np.load(io.BytesIO(data))["table"],
    exports.to_csv: load_csv,
    exports.to_safetensors: lambda data, dtype: safetensors.numpy.load(data)["table"],
}
READ = pytest.mark.parametrize(("write", "read"), READERS.items(), ids=[each.__name__ for each in READERS])


def tables(dtype):
    """Return the same kind of table as it may lie in memory."""
    table = (100 + np.random.default_rng(0).normal(scale=20, size=(6, 4))).astype(dtype)
    yield table
    yield np.asfortranarray(table)
    yield table.T
    yield table[::2, ::-1]
    yield np.broadcast_to(table[:1], (3, 4))
    frozen = table.copy()
    frozen.flags.writeable = False
    yield frozen


@READ
@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_read_is_what_was_given(write, read, dtype):
    for table in tables(dtype):
        found = read(write(table), dtype)
        np.testing.assert_array_equal(found, table)
        assert write is exports.to_csv or found.dtype == np.dtype(dtype).newbyteorder("<")


@READ
@pytest.mark.parametrize("shape", [(), (3,), (1, 1), (2, 3, 4), (2, 1, 3, 1)])
def test_any_shape_keeps_its_values(write, read, shape):
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    found = read(write(values), "f4")
    if write is exports.to_csv:
        assert found.shape == (values.size // (shape or (1,))[-1], (shape or (1,))[-1])
    else:
        assert found.shape == shape
    np.testing.assert_array_equal(found.ravel(), values.ravel())


@READ
def test_bfloat16_is_exact(write, read):
    for table in tables(ml_dtypes.bfloat16):
        data = write(table)
        if write is exports.to_safetensors:  # the package reads no bfloat16 into NumPy
            ((name, stored),) = safetensors.deserialize(data)
            assert (name, stored["dtype"]) == ("table", "BF16")
            found = np.frombuffer(stored["data"], ml_dtypes.bfloat16).reshape(stored["shape"])
        else:
            found = read(data, "f4")
            assert found.dtype == np.float32
        np.testing.assert_array_equal(found.astype(np.float64), table.astype(np.float64))


@READ
def test_signed_zeros_infinities_nan_and_the_ends_of_the_range_are_kept(write, read):
    for dtype in (np.float16, np.float32, np.float64):
        kind = np.finfo(dtype)
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan]
        values += [kind.max, kind.min, kind.tiny, kind.smallest_subnormal]
        table = np.array([values], dtype)
        found = read(write(table), dtype)
        np.testing.assert_array_equal(found, table)
        np.testing.assert_array_equal(np.signbit(found[0, :4]), [False, True, False, True])


@settings(max_examples=60)
@given(st.sampled_from(DTYPES[:6]).flatmap(lambda dtype: arrays.arrays(dtype, (2, 3))))
def test_every_number_survives_text(table):
    np.testing.assert_array_equal(load_csv(exports.to_csv(table), table.dtype), table)


def test_text_has_no_digit_too_many():
    assert exports.to_csv(np.float32([[0.1, 1 / 3], [1e-7, 2]])) == b"0.1,0.33333334\n1e-07,2.0\n"
    assert exports.to_csv(np.float16([0.8413])) == b"0.8413\n"
    assert exports.to_csv(np.array([[1, -2], [2**53 + 1, 4]])) == b"1,-2\n9007199254740993,4\n"


def test_a_float32_whose_shortest_name_is_rounded_twice_by_readers_is_named_in_full():
    # The classic case of parsers: 0x15ae43fd, by way of float64, becomes 0x15ae43fe.
    (value,) = struct.unpack("<f", struct.pack("<I", 0x15AE43FD))
    table = np.array([[value, 0.1]], np.float32)
    assert str(table[0, 0]) == "7.038531e-26"
    assert np.float32(np.float64("7.038531e-26")) != table[0, 0]
    np.testing.assert_array_equal(load_csv(exports.to_csv(table), "f4"), table)


def test_a_table_longer_than_one_lot_of_lines_is_whole(monkeypatch):
    monkeypatch.setattr(exports, "_CELLS", 7)
    table = posenc.sinusoidal(11, 3)
    np.testing.assert_array_equal(load_csv(exports.to_csv(table), "f4"), table)
    np.testing.assert_array_equal(load_csv(exports.to_csv(table.T), "f4"), table.T)  # rows wider than a lot


@pytest.mark.parametrize("write", READERS)
@pytest.mark.parametrize(
    "array",
    [
        np.empty((0, 3)),
        np.ones((2, 2), bool),
        np.ones((2, 2), np.longdouble),
        np.ones((2, 2), complex),
        np.array([["a"]]),
        np.array([[None]]),
        np.zeros(3, "V2"),
    ],
)
def test_what_no_file_can_hold_is_refused(write, array):
    with pytest.raises(ValueError, match=r"^array must hold at least one real number.*shape \(.*\)$"):
        write(array)


def test_archives_call_the_array_what_the_caller_does():
    table = posenc.sinusoidal(3, 4)
    assert np.load(io.BytesIO(exports.to_npz(table, "wpe"))).files == ["wpe"]
    assert list(safetensors.numpy.load(exports.to_safetensors(table, "위치표.weight"))) == ["위치표.weight"]


@pytest.mark.parametrize("write", [exports.to_npz, exports.to_safetensors])
@pytest.mark.parametrize("name", ["", "a/b", "file", "allow_pickle", "__metadata__", "a\nb", "\ud800"])
def test_a_name_that_some_reader_cannot_have_is_refused(write, name):
    with pytest.raises(ValueError, match=r"^name must be"):
        write(np.ones((1, 1)), name)


def test_a_file_that_does_not_hold_the_array_is_not_given_out(monkeypatch):
    # As the safetensors package writes Fortran order: without a word, and wrong.
    monkeypatch.setattr(exports, "_plain", lambda array: array)
    with pytest.raises(RuntimeError, match="does not hold"):
        exports.to_safetensors(np.asfortranarray(posenc.sinusoidal(3, 4)))


@pytest.mark.framework
def test_pytorch_opens_the_files():
    import torch
    from safetensors.torch import load

    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        table = np.asfortranarray(posenc.sinusoidal(5, 6)).astype(dtype)
        found = load(exports.to_safetensors(table))["table"]
        assert found.dtype == getattr(torch, np.dtype(dtype).name)
        np.testing.assert_array_equal(found.double().numpy(), table.astype(np.float64))
        found = torch.from_numpy(np.load(io.BytesIO(exports.to_npy(table))))
        np.testing.assert_array_equal(found.double().numpy(), table.astype(np.float64))


@pytest.mark.framework
def test_tensorflow_and_jax_open_the_files(tmp_path):
    from safetensors.flax import load_file as load_flax
    from safetensors.tensorflow import load_file as load_tensorflow

    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
        table = posenc.sinusoidal(5, 6).astype(dtype)
        file = tmp_path / "table.safetensors"
        file.write_bytes(exports.to_safetensors(table))
        for load in (load_tensorflow, load_flax):
            found = np.asarray(load(file)["table"])
            assert found.dtype == dtype
            np.testing.assert_array_equal(found.astype(np.float64), table.astype(np.float64))


def test_a_file_is_checked_without_copies_of_what_it_holds():
    array = np.ones((128, 4096))
    tracemalloc.start()
    try:
        exports.to_npy(array)
        assert tracemalloc.get_traced_memory()[1] < 2.5 * array.nbytes  # the file, and what is read back
    finally:
        tracemalloc.stop()
