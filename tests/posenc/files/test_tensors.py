"""The safetensors format, read by ranges of bytes, against what the format's own library writes."""

import json

import numpy as np
import pytest

import posenc
from posenc.files.tensors import MAX_HEADER, choose_tensor, read_safetensors, safetensors_header
from tests.posenc.files.test_reading import codes, refusal, safetensors

TABLE = np.random.default_rng(0).normal(size=(16, 8)).astype("f4")


def file_of(header, body=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(shape, start, stop, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


def test_a_file_of_the_format_s_own_library():
    library = pytest.importorskip("safetensors.numpy")
    arrays = {
        "wpe.weight": TABLE,
        "ids": np.arange(16)[None],
        "half": TABLE.astype("f2"),
        "b": TABLE.astype("f8"),
    }
    data = library.save(arrays, metadata={"format": "pt"})
    for key in ("wpe.weight", "half", "b"):
        table = posenc.read_table(data, key=key)
        np.testing.assert_array_equal(table.values, arrays[key])
        assert table.dtype == arrays[key].dtype.name


def test_bfloat16_is_widened_without_loss():
    bits = TABLE.view("u4") >> 16
    table = posenc.read_table(file_of({"a": entry([16, 8], 0, 256, "BF16")}, bits.astype("<u2").tobytes()))
    np.testing.assert_array_equal(table.values.view("u4"), bits << 16)
    assert (table.dtype, table.values.dtype) == ("bfloat16", np.float32)


def test_only_the_header_and_one_tensor_are_read():
    data = safetensors(word=np.zeros((5000, 8), "f4"), position=TABLE, last=np.zeros((5000, 8), "f4"))
    asked = []

    def read(start, stop):
        asked.append((start, stop))
        return data[start:stop]

    table = read_safetensors(read, len(data), "model.safetensors")
    np.testing.assert_array_equal(table.values, TABLE)
    assert table.key == "position"
    begin = asked[1][1] + 5000 * 32
    assert asked == [(0, 8), asked[1], (begin, begin + 512)]


def test_a_server_that_sends_too_little_is_noticed():
    data = safetensors(position=TABLE)
    assert safetensors_header(lambda start, stop: data[start:stop], len(data))["position"].shape == (16, 8)
    for cut in (4, 20, 500):
        with pytest.raises(posenc.TableError):
            read_safetensors(lambda start, stop, cut=cut: data[start : min(stop, cut)], len(data))


@pytest.mark.parametrize(
    ("header", "body", "code"),
    [
        (b"{", b"", "st_header"),
        (b"[]", b"", "unknown_format"),
        (b'{"a": 1e', b"", "st_header"),
        (b'{"a": {}, "a": {}}', b"", "st_header"),
        (b"\xff" * 9, b"", "unknown_format"),
        ({"a": entry([2, 2], 0, 16)}, bytes(12), "st_size"),
        ({"a": entry([2, 2], 0, 16)}, bytes(20), "st_size"),
        ({"a": entry([2, 3], 0, 16)}, bytes(16), "st_tensor"),
        ({"a": entry([-2, -2], 0, 16)}, bytes(16), "st_tensor"),
        ({"a": entry([2, 2.0], 0, 16)}, bytes(16), "st_tensor"),
        ({"a": entry([True, 4], 0, 16)}, bytes(16), "st_tensor"),
        ({"a": entry([2, 2], 16, 0)}, bytes(16), "st_tensor"),
        ({"a": entry([2, 2], 4, 20)}, bytes(20), "st_tensor"),
        ({"a": entry([2, 2], 0, 16), "b": entry([2, 2], 8, 24)}, bytes(24), "st_tensor"),
        ({"a": entry([2**40, 2**40], 0, 16)}, bytes(16), "st_tensor"),
        ({"a": {"dtype": "F32", "shape": [2, 2]}}, bytes(16), "st_tensor"),
        ({"a": 3}, b"", "st_tensor"),
        ({"a": entry([2, 2], 0, 4, "F8_E4M3")}, bytes(4), "st_dtype"),
        ({"a": entry([2, 2], 0, 32, "I64")}, bytes(32), "integers"),
        ({"a": entry([2, 2], 0, 4, "BOOL")}, bytes(4), "not_numbers"),
        ({"a": entry([4], 0, 16)}, bytes(16), "one_axis"),
        ({"a": entry([], 0, 4)}, bytes(4), "no_axes"),
        ({"a": entry([2, 2, 2], 0, 32)}, bytes(32), "many_axes"),
        ({"a": entry([0, 2], 0, 0)}, b"", "no_cells"),
        ({"a": entry([2, 2], 0, 16)}, b"\xff" * 16, "not_finite"),
        ({}, b"", "no_arrays"),
        ({"__metadata__": {"format": "pt"}}, b"", "no_arrays"),
    ],
)
def test_a_damaged_file_is_refused(header, body, code):
    assert refusal(file_of(header, body)).code == code


def test_a_header_longer_than_any_is_not_read():
    with pytest.raises(posenc.TableError) as caught:
        safetensors_header(lambda start, stop: (MAX_HEADER + 1).to_bytes(8, "little")[: stop - start], 2**40)
    assert caught.value.code == "st_header"


def test_a_tensor_too_big_is_refused_before_it_is_read():
    header = {"a": entry([50257, 768], 0, 50257 * 768 * 4)}
    text = file_of(header)
    size = len(text) + 50257 * 768 * 4
    with pytest.raises(posenc.TableError) as caught:
        read_safetensors(lambda start, stop: text[start:stop], size)
    assert caught.value.code == "too_many_cells"


def test_names_that_cannot_be_shown_are_cleaned_and_still_choose():
    data = file_of({"a\ud800": entry([2, 2], 0, 16), "b": entry([2, 2], 16, 32)}, bytes(32))
    assert refusal(data).values["keys"] == "a\ufffd (2, 2), b (2, 2)"
    assert posenc.read_table(data, key="a\ufffd").key == "a\ufffd"


def test_the_choice_is_told_from_the_header_alone():
    data = safetensors(embeddings=TABLE, position_embeddings=TABLE, position_ids=np.arange(16)[None])
    header = safetensors_header(lambda start, stop: data[start:stop], len(data))
    key, candidates, notes = choose_tensor(header)
    assert key == "position_embeddings"
    assert [found.key for found in candidates] == ["position_embeddings", "embeddings"]
    assert [note.code for note in notes] == ["chosen"]
    assert codes(posenc.read_table(data)) == ["chosen"]
