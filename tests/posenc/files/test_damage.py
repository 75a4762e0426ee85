"""Damaged and malicious files: one sentence comes out, soon, and within the memory that is allowed."""

import io
import json
import os
import random
import tracemalloc
import zipfile

import numpy as np
import pytest

import posenc
from tests.posenc.files.test_reading import CASES, EXPECTED, npy, npz, safetensors

# As Hypothesis does: few of them on every run, thousands in a hunt (see tests/conftest.py).
HUNT = os.environ.get("HYPOTHESIS_PROFILE") == "hunt"
FLIPS, CUTS = (3000, 3000) if HUNT else (150, 150)
# A file of 60 kB is unpacked each time.
SLOW = {"npz_bomb_64MB.npz": 100 if HUNT else 10}


def opens(data, name):
    """Open or refuse; anything else fails the test."""
    try:
        table = posenc.read_table(data, name)
    except posenc.TableError:
        return
    assert np.isfinite(table.values).all()
    assert table.values.size


@pytest.mark.parametrize("name", EXPECTED)
def test_every_truncation_is_opened_or_refused(name):
    data = (CASES / "files" / name).read_bytes()
    step = max(1, len(data) // CUTS)
    for stop in range(0, len(data), step):
        opens(data[:stop], name)


@pytest.mark.parametrize("name", EXPECTED)
def test_flipped_bits_are_opened_or_refused(name):
    data = (CASES / "files" / name).read_bytes()
    chance = random.Random(name)
    for _ in range(SLOW.get(name, FLIPS) if data else 0):
        broken = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 8))):
            # Half of them at the start, where the headers are.
            place = chance.randrange(len(data) if chance.random() < 0.5 else min(len(data), 160))
            broken[place] ^= 1 << chance.randrange(8)
        opens(bytes(broken), name)


def zipped(method=zipfile.ZIP_DEFLATED, **members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name + ".npy", data)
    return stream.getvalue()


def lying_about_its_size():
    data = bytearray(zipped(a=npy(np.zeros((1000, 1000)))))
    small = npy(np.zeros((4, 4)))
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + place
        data[at : at + 4] = len(small).to_bytes(4, "little")
    return bytes(data)


def header_of(size, text):
    return size.to_bytes(8, "little") + text.ljust(size)[:size]


HOSTILE = {
    "a lying size": lying_about_its_size,
    "bzip2": lambda: zipped(zipfile.ZIP_BZIP2, a=npy(np.zeros((2500, 1000)))),
    "lzma": lambda: zipped(zipfile.ZIP_LZMA, a=npy(np.zeros((2500, 1000)))),
    "many members": lambda: zipped(**{str(i): b"" for i in range(20_000)}),
    "deep brackets": lambda: b"[" * 1_000_000,
    "empty brackets": lambda: b"[[" + b"[]," * 30_000,
    "deep header": lambda: header_of(2_000_000, b'{"a":' + b"[" * 1_999_000),
    "a header of lists": lambda: header_of(2_000_000, b'{"a":[' + b"[]," * 600_000 + b"0]}"),
    "a long shape": lambda: header_of(
        40_000,
        b'{"a":{"dtype":"F32","data_offsets":[0,4],"shape":[' + b"9223372036854775807," * 1900 + b"1]}}",
    ),
    "one long line": lambda: b"0 " * 3_000_000,
    "cells of one line": lambda: b"00 " * 340_000,
    "a cell of digits": lambda: b"1" * 1_000_000,
    "quotes": lambda: b'"' * 900_000,
    "words": lambda: b"abc def\n" * 300_000,
    "a doubtful comma": lambda: b"1.234;5,678\n" * 100_000,
    "noise": lambda: random.Random(0).randbytes(2_000_000),
    "hangul": lambda: b"\xb0\xa1" * 1_000_000,
}

LARGE = {
    "npy float64": lambda: npy(np.zeros((2560, 1020))),
    "npy big-endian, Fortran": lambda: npy(np.asfortranarray(np.zeros((2560, 1020), ">f8"))),
    "npy float16": lambda: npy(np.zeros((5120, 1024), "f2")),
    "npy NaN": lambda: npy(np.full((5120, 1020), np.nan, "f4")),
    "npz float64": lambda: zipped(a=npy(np.zeros((2560, 1020)))),
    "npz float32": lambda: zipped(a=npy(np.zeros((5120, 1020), "f4"))),
    "npz float16": lambda: zipped(a=npy(np.zeros((5120, 1024), "f2"))),
    "npz big-endian, Fortran": lambda: zipped(a=npy(np.asfortranarray(np.zeros((2560, 1020), ">f8")))),
    "npz stored": lambda: npz(a=np.zeros((2560, 1020))),
    "safetensors": lambda: safetensors(a=np.zeros((5120, 1020), "f4")),
    "csv": lambda: b"\n".join([b",".join([b"0.123456"] * 1000)] * 300),
    "csv of digits": lambda: b"\n".join([b" ".join([b"0"] * 1024)] * 2000),
    "csv, numbered": lambda: b"\n".join(b"%d" % i + b";0,5" * 1000 for i in range(500)),
    "utf-16": lambda: "\n".join([",".join(["0.123456"] * 1000)] * 500).encode("utf-16"),
    "names of Hangul": lambda: b"\n".join(
        [",".join(["위치"] * 1000).encode(), *[b",".join([b"0.5"] * 1000)] * 1000]
    ),
    "printed": lambda: b"[[" + b"],\n[".join([b", ".join([b"0.123456"] * 1000)] * 300) + b"]]",
    "json on one line": lambda: json.dumps(np.zeros((1000, 1000), int).tolist()).encode(),
}


@pytest.mark.parametrize("name", [*HOSTILE, *LARGE])
def test_memory_is_bounded_by_four_times_the_file_and_64_mb(name):
    data = (HOSTILE | LARGE)[name]()
    tracemalloc.start()
    try:
        opens(data, "")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 4 * len(data) + 64_000_000


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_is_refused(name):
    if name != "cells of one line":  # which is one long row
        with pytest.raises(posenc.TableError):
            posenc.read_table(HOSTILE[name]())
