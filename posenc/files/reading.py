"""Open a file that holds a position table, whatever its name says: .npy, .npz, .safetensors or text.

Nothing in a file is run, and nothing is allocated because a header says so.
"""

import os
import re
import stat
from dataclasses import replace
from pathlib import Path, PurePath

from posenc.files.checks import Read, as_table
from posenc.files.npy import MAGIC, archive_names, read_npy, read_npz
from posenc.files.tensors import read_safetensors
from posenc.files.text import encoding_of, has_controls, read_text
from posenc.tables import MAX_BYTES, Note, Table, TableError, clean_name

_HEAD = 4096  # bytes that tell what a file is

# Suffixes that promise the format, and those that promise no text.
_PROMISED = {".npy": ".npy", ".npz": ".npz", ".safetensors": "safetensors"}
_TEXT = frozenset({".csv", ".tsv", ".txt", ".text", ".dat", ".json", ".md", ".tab"})
_PICKLED = frozenset({".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt", ".joblib"})
_BINARY = frozenset(
    {*_PROMISED, *_PICKLED, ".h5", ".hdf5", ".onnx", ".gguf", ".parquet", ".mat", ".xlsx", ".zip"}
)
_MARKS = (
    (b"\x89HDF", "HDF5"),
    (b"GGUF", "GGUF"),
    (b"PAR1", "Parquet"),
    (b"ARROW1", "Arrow"),
    (b"MATLAB 5.0", "MATLAB"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "RAR"),
    (b"%PDF", "PDF"),
    (b"\x89PNG", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"\xd0\xcf\x11\xe0", "Excel"),
)
# Protocols 2 to 5 begin with a mark; older ones with a list, a dictionary, or a class of a module.
_PICKLE = re.compile(
    rb"\x80[\x02-\x05]|\([ld]p?\d*\n|[\]}]q\x00|c[\w.]+\n\w+\n(?:p\d+\n|q|\()|c\w+\.[\w.]+\n\w+\n"
)
_PAGE = re.compile(rb"\s*<(!doctype\s+html|html|head|body|\?xml|!--)", re.IGNORECASE)
_POINTER = b"version https://git-lfs.github.com/spec/"
# What the owner of a pickle runs where it is trusted.
_FROM_TORCH = (
    "state = torch.load({name!r}, weights_only=True, map_location='cpu')\n"
    "np.save('table.npy', state[key].float().numpy())  # key: one of list(state)"
)
_FROM_PICKLE = (
    "table = pickle.load(open({name!r}, 'rb'))\nnp.save('table.npy', np.asarray(table, dtype='float32'))"
)


def read_table(
    source: bytes | bytearray | memoryview | str | os.PathLike[str], name: str = "", *, key: str | None = None
) -> Table:
    """Return the position table of a file.

    Parameters
    ----------
    source
        What the file holds, as bytes, or its path. Of a safetensors file on a path only the header and the
        table are read, so it may be of any size; another file may have up to `posenc.tables.MAX_BYTES`.
    name
        Name of the file; compared with what the file holds, which decides. Without it, that of the path.
    key
        Which array or tensor of the file; without it, the one that is named as a table of positions.

    Returns
    -------
    Table
        What was assumed is in its `notes`.

    Raises
    ------
    TableError
        If it cannot be opened: one sentence on what is wrong, where, and what to do.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)  # the same object, if it is of bytes
        return _read(lambda start, stop: data[start:stop], len(data), clean_name(name), key)
    path = Path(source)
    label = clean_name(name or path.name)
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise TableError("unreadable", name=label)
        with path.open("rb") as stream:

            def read(start: int, stop: int) -> bytes:
                stream.seek(start)
                return stream.read(stop - start)

            return _read(read, facts.st_size, label, key)
    except TableError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL in it
        raise TableError("unreadable", name=label) from error


def _read(read: Read, size: int, name: str, key: str | None) -> Table:
    """Read a file of any format through `read`."""
    if size == 0:
        raise TableError("empty_file")
    suffix = PurePath(name).suffix.lower()
    kind = _kind(read(0, min(size, _HEAD)), suffix, name)
    if kind == "safetensors":
        table = read_safetensors(read, size, name, key)
    elif size > MAX_BYTES + _HEAD:
        raise TableError("too_big", what=name or "file", size=size, limit=MAX_BYTES)
    elif kind == ".npy":
        table = read_npy(read, size, name)
    elif kind == ".npz":
        table = _read_archive(read(0, size), suffix, name, key)
    else:
        return _read_text(read(0, size), suffix, name)
    if suffix not in _TEXT | _BINARY or _PROMISED.get(suffix) == kind:
        return table
    return replace(table, notes=(Note("other_name", {"suffix": suffix, "format": kind}), *table.notes))


def _kind(head: bytes, suffix: str, name: str) -> str:
    """Return what a file is by its first bytes, empty for text; refuse what is known not to be a table."""
    plain = head.replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe")  # also of UTF-16 and behind its mark
    if plain.startswith(_POINTER):
        raise TableError("lfs_pointer")
    if _PAGE.match(plain):
        raise TableError("web_page")
    if head.startswith(MAGIC):
        return ".npy"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return ".npz"
    if head[5:9] == b"\0\0\0{":  # the length of the header takes eight bytes, of which few are needed
        return "safetensors"
    if _PICKLE.match(head):
        raise _pickled(suffix, name)
    for mark, kind in _MARKS:
        if head.startswith(mark):
            raise TableError("other_format", format=kind)
    return ""


def _pickled(suffix: str, name: str) -> TableError:
    """Return the refusal of a pickle with the two lines that convert it."""
    code = _FROM_PICKLE if suffix in (".pkl", ".pickle") else _FROM_TORCH
    return TableError("pickle", what=name or "file", convert=code.format(name=name or "model.pt"))


def _read_archive(data: bytes, suffix: str, name: str, key: str | None) -> Table:
    """Read a ZIP archive as .npz, unless its names say that it is something else."""
    names = archive_names(data, name or "file")
    if any(member.endswith("data.pkl") for member in names):
        raise _pickled(suffix, name)
    if names and not any(member.endswith(".npy") for member in names):
        raise TableError("other_format", format="Excel" if "[Content_Types].xml" in names else "ZIP")
    return read_npz(data, name, key)


def _read_text(data: bytes, suffix: str, name: str) -> Table:
    """Read text, unless the name promises something else: what made it text is then the thing to mend."""
    encoding = encoding_of(data)
    if encoding is None and suffix == ".safetensors":
        raise TableError("st_header", length=int.from_bytes(data[:8], "little"), size=len(data))
    if encoding is None:
        raise TableError("unknown_format" if has_controls(data) else "encoding")
    if suffix in _BINARY:
        raise TableError("text_inside", suffix=suffix)
    values, notes = read_text(data, encoding)
    return as_table(values, what=name or "text", dtype="text", name=name, notes=notes)
