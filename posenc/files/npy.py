"""NumPy's own formats: .npy, one array behind a header of text, and .npz, a ZIP archive of such files.

The headers are read without NumPy's reader, which would evaluate them, allocate what they announce, or advise
to unpickle. What they announce is compared with the bytes there are before anything is made of them.

Source: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.files.checks import Read, as_table, choose, table_shape
from posenc.files.tensors import bfloat16
from posenc.tables import MAX_BYTES, Candidate, Note, Table, TableError, clean_name

MAGIC = b"\x93NUMPY"
HEADER_BYTES = 10_000  # as in NumPy: a longer header is no plain array's
_MEMBERS = 4096
_PART = re.compile(
    r"""["'](?:descr["']\s*:\s*["'](?P<descr>[^"']{1,99})["']"""
    r"""|fortran_order["']\s*:\s*(?P<order>True|False)"""
    r"""|shape["']\s*:\s*\((?P<shape>[\dL,\s]{0,999})\))"""
)
_KINDS = {"b": "bool", "?": "bool", "S": "text", "U": "text", "a": "text", "V": "void"}
_KINDS |= {"c": "complex", "m": "timedelta", "M": "datetime"}

# What the owner of a pickle runs, where it is trusted, to get a file without one.
_CONVERT = (
    "array = np.load({name!r}, allow_pickle=True)\n"
    "np.save('table.npy', np.array(array.tolist(), dtype='float32'))"
)


class Header(NamedTuple):
    """What a .npy file announces: type as written, whether columns come first, shape; and its own length."""

    descr: str
    fortran: bool
    shape: tuple[int, ...]
    length: int

    @property
    def dtype(self) -> str:
        """Name of the type, ``"pickle"`` for objects; the type as written where it has no name here."""
        kind, size = self.descr.lstrip("<>|=")[:1], self.descr.lstrip("<>|=")[1:]
        if kind == "f" and size in ("2", "4", "8", "12", "16"):
            return {"2": "float16", "4": "float32", "8": "float64"}.get(size, "longdouble")
        if kind == "V" and size == "2":  # how NumPy saves the bfloat16 of ml_dtypes
            return "bfloat16"
        if kind in ("i", "u") and size in ("1", "2", "4", "8"):
            return ("int" if kind == "i" else "uint") + str(8 * int(size))
        return "pickle" if kind == "O" else _KINDS.get(kind, self.descr)

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * int(self.descr.lstrip("<>|=")[1:])


def npy_header(head: bytes, what: str) -> Header:
    """Read the header of a .npy file from its first `HEADER_BYTES` + 12 bytes.

    Raises
    ------
    TableError
        If it is cut off, too long, or not one of the format.
    """
    broken = TableError("npy_header", what=what)
    wide = head[6:7] != b"\x01"  # from version 2 on, the length has four bytes
    begin = 12 if wide else 10
    if not head.startswith(MAGIC) or len(head) < begin or head[6] not in (1, 2, 3):
        raise broken
    length = struct.unpack("<I" if wide else "<H", head[8:begin])[0]
    text = head[begin : begin + length].decode("latin-1")
    if length > HEADER_BYTES or len(text) < length:
        raise broken
    if re.search(r"descr['\"]\s*:\s*\[", text):
        raise TableError("not_numbers", what=what, dtype="record")
    parts = {part.lastgroup: part[part.lastgroup] for part in _PART.finditer(text) if part.lastgroup}
    if len(parts) != 3:
        raise broken
    sizes = [size.strip(" L") for size in parts["shape"].split(",") if size.strip()]
    if len(sizes) > 64 or not all(re.fullmatch(r"\d{1,20}", size) for size in sizes):
        raise broken
    return Header(parts["descr"], parts["order"] == "True", tuple(map(int, sizes)), begin + length)


def check_header(header: Header, size: int, what: str, name: str) -> None:
    """Refuse what is no table of floats or does not have the bytes that it announces.

    Parameters
    ----------
    header
        Of the array.
    size
        Bytes of the whole .npy file.
    what, name
        How messages call the array, and the file that holds it.
    """
    kind = header.dtype
    if kind == "pickle":
        raise TableError("pickle", what=what, convert=_CONVERT.format(name=name or "table.npy"))
    if "int" in kind:
        raise TableError("integers", what=what, dtype=kind)
    if "float" not in kind and kind != "longdouble":
        raise TableError("not_numbers", what=what, dtype=kind)
    table_shape(header.shape, what)
    if header.nbytes != size - header.length:
        raise TableError(
            "wrong_size",
            what=what,
            shape=header.shape,
            dtype=kind,
            expected=header.nbytes,
            got=size - header.length,
        )


def npy_values(
    header: Header, body: bytes | memoryview, what: str
) -> tuple[NDArray[np.floating], tuple[Note, ...]]:
    """Return the values of an array from the bytes behind its header, and what was assumed of their type."""
    order = ">" if header.descr.startswith(">") else "<"
    if header.dtype == "bfloat16":
        halves = np.frombuffer(body, order + "u2")
        note = Note("void_bfloat16", {"dtype": header.descr})
        return _shaped(bfloat16(halves), header), (note,)
    try:
        stored = np.dtype(order + header.descr.lstrip("<>|="))
    except TypeError:  # a long double of another machine
        raise TableError("not_numbers", what=what, dtype=header.descr) from None
    values = _shaped(np.frombuffer(body, stored), header)
    long = header.dtype == "longdouble"
    return values, (Note("long_double", {"dtype": header.descr}),) if long else ()


def _shaped(values: NDArray[np.floating], header: Header) -> NDArray[np.floating]:
    """Return the values in the shape of the header; in Fortran's order the first axis runs fastest."""
    return values.reshape(header.shape[::-1]).T if header.fortran else values.reshape(header.shape)


def read_npy(read: Read, size: int, name: str = "") -> Table:
    """Read a .npy file through `read`, from `start` and `stop` to those bytes; `size` is that of the file.

    Raises
    ------
    TableError
        If it is damaged or no table of finite floats.
    """
    what = name or "array"
    header = npy_header(read(0, min(size, HEADER_BYTES + 12)), what)
    check_header(header, size, what, name)
    values, notes = npy_values(header, read(header.length, size), what)
    return as_table(values, what=what, dtype=header.dtype, name=name, notes=notes)


def read_npz(data: bytes, name: str = "", key: str | None = None) -> Table:
    """Read the position table of a .npz file, or the array `key` of it.

    Raises
    ------
    TableError
        If the archive is damaged, unpacks to too much, has no table of floats or no clear choice.
    """
    what = name or "file"
    with _opened(data, what) as archive:
        heads: dict[str, tuple[zipfile.ZipInfo, Header]] = {}
        for member in archive.infolist():
            if member.filename.endswith(".npy"):
                label = clean_name(member.filename.removesuffix(".npy"))
                heads[label] = (member, npy_header(_unpack(archive, member, HEADER_BYTES + 12), label))
        arrays = [Candidate(label, head.shape, head.dtype) for label, (_, head) in heads.items()]
        found, candidates, notes = choose(arrays, key, ".npz")
        member, header = heads[found.key]
        if member.file_size > MAX_BYTES + HEADER_BYTES:
            raise TableError(
                "zip_bomb",
                what=found.key,
                packed=member.compress_size,
                size=member.file_size,
                limit=MAX_BYTES,
            )
        check_header(header, member.file_size, found.key, name)
        packed = _unpack(archive, member, member.file_size + 1)
    if len(packed) != member.file_size:
        raise TableError("zip_damaged", what=what)
    values, assumed = npy_values(header, memoryview(packed)[header.length :], found.key)
    return as_table(
        values,
        what=found.key,
        dtype=header.dtype,
        name=name,
        notes=(*notes, *assumed),
        key=found.key if len(arrays) > 1 else "",
        candidates=candidates,
    )


def archive_names(data: bytes, what: str) -> Sequence[str]:
    """Return the names of the files in a ZIP archive, from its directory."""
    with _opened(data, what) as archive:
        return archive.namelist()


@contextmanager
def _opened(data: bytes, what: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever is wrong with it or comes up while it is read is one error."""
    if data.count(b"PK\x01\x02") > _MEMBERS:  # its directory alone would take too much memory
        raise TableError("zip_damaged", what=what)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield archive
    except TableError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        ValueError,
        RuntimeError,
        struct.error,
    ) as error:
        raise TableError("zip_damaged", what=what) from error


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int) -> bytes:
    """Return the first `limit` bytes of a member at most."""
    # The other methods unpack a whole block at once, however long it gets.
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise TableError("zip_damaged", what=member.filename)
    with archive.open(member) as stream:
        return stream.read(limit)
