"""The safetensors format: 8 bytes with the length of a JSON header, the header, then the tensors.

Only the header and one tensor are read, through a function from a range of bytes to the bytes: a file of any
size on a disk and one on a server are the same to it.

Source: https://github.com/huggingface/safetensors#format
"""

import json
import math
from collections.abc import Mapping
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray

from posenc.files.checks import Read, as_table, choose, table_shape
from posenc.tables import MAX_BYTES, Candidate, Note, Table, TableError, clean_name

MAX_HEADER = 2 * 2**20  # bytes of JSON: that of 15,000 tensors

# Name of the type in the header → bytes a value, and what NumPy and we call it.
_DTYPES: Mapping[str, tuple[int, str]] = {
    "BOOL": (1, "bool"),
    "U8": (1, "uint8"),
    "I8": (1, "int8"),
    "U16": (2, "uint16"),
    "I16": (2, "int16"),
    "U32": (4, "uint32"),
    "I32": (4, "int32"),
    "U64": (8, "uint64"),
    "I64": (8, "int64"),
    "F16": (2, "float16"),
    "BF16": (2, "bfloat16"),
    "F32": (4, "float32"),
    "F64": (8, "float64"),
}


class Tensor(NamedTuple):
    """One tensor of a file: its type as in the header, its shape, and where its bytes are in the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


def safetensors_header(read: Read, size: int) -> dict[str, Tensor]:
    """Return the tensors that the header announces, all of them checked against the size of the file.

    Parameters
    ----------
    read
        From `start` and `stop` to those bytes of the file.
    size
        Bytes of the whole file.

    Raises
    ------
    TableError
        If the header is cut off, too long, not of this format, or does not fit the file.
    """
    length = int.from_bytes(_exactly(read, 0, 8), "little") if size >= 8 else size
    broken = TableError("st_header", length=length, size=size)
    if size < 8 or not 2 <= length <= min(size - 8, MAX_HEADER):
        raise broken
    try:
        header = json.loads(_exactly(read, 8, 8 + length).decode("utf-8"), object_pairs_hook=_no_twins)
    except (ValueError, RecursionError):
        raise broken from None
    if not isinstance(header, dict):
        raise broken
    header.pop("__metadata__", None)
    tensors = {clean_name(key): _tensor(clean_name(key), entry, 8 + length) for key, entry in header.items()}
    end = 8 + length
    for key, tensor in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if tensor.start != end:  # the format allows neither holes nor overlaps
            raise TableError("st_tensor", key=key)
        end = tensor.stop
    if end != size:
        raise TableError("st_size", expected=end - 8 - length, got=size - 8 - length)
    return tensors


def choose_tensor(
    header: Mapping[str, Tensor], key: str | None = None
) -> tuple[str, tuple[Candidate, ...], tuple[Note, ...]]:
    """Return the key of the position table, all tensors that could be one, and what was assumed.

    Parameters
    ----------
    header
        As `safetensors_header` gives it.
    key
        The tensor that is wanted; None leaves it to the names.

    Raises
    ------
    TableError
        As in `choose`: ``"choose"`` has the candidates among its values.
    """
    arrays = [
        Candidate(name, tensor.shape, _DTYPES.get(tensor.dtype, (0, tensor.dtype))[1])
        for name, tensor in header.items()
    ]
    found, candidates, notes = choose(arrays, key, "safetensors")
    return found.key, candidates, notes


def check_tensor(key: str, tensor: Tensor) -> None:
    """Refuse a tensor that is no table of floats, or too big a one, before its bytes are read."""
    kind = _DTYPES.get(tensor.dtype, (0, ""))[1]
    if kind == "bool":
        raise TableError("not_numbers", what=key, dtype=kind)
    if "int" in kind:
        raise TableError("integers", what=key, dtype=kind)
    if "float" not in kind:
        raise TableError("st_dtype", key=key, dtype=tensor.dtype)
    table_shape(tensor.shape, key)
    if tensor.stop - tensor.start > MAX_BYTES:
        raise TableError("too_big", what=key, size=tensor.stop - tensor.start, limit=MAX_BYTES)


def decode(tensor: Tensor, data: bytes) -> NDArray[np.floating]:
    """Return the values of a tensor of floats from its bytes; bfloat16 becomes float32, without loss."""
    if tensor.dtype == "BF16":  # the upper half of a float32
        return bfloat16(np.frombuffer(data, "<u2")).reshape(tensor.shape)
    array: NDArray[np.floating] = np.frombuffer(data, f"<f{_DTYPES[tensor.dtype][0]}")
    return array.reshape(tensor.shape)


def bfloat16(halves: NDArray[np.uint16]) -> NDArray[np.float32]:
    """Return the float32 values whose upper 16 bits are given; the lower ones are zero."""
    bits = halves.astype(np.uint32)
    bits <<= 16
    return bits.view(np.float32)


def read_safetensors(read: Read, size: int, name: str = "", key: str | None = None) -> Table:
    """Read the position table of a file; arguments as in `safetensors_header` and `choose_tensor`.

    Raises
    ------
    TableError
        If the file is damaged, the tensor is no table of finite floats, or the choice is not clear.
    """
    header = safetensors_header(read, size)
    found, candidates, notes = choose_tensor(header, key)
    tensor = header[found]
    check_tensor(found, tensor)
    values = decode(tensor, _exactly(read, tensor.start, tensor.stop))
    return as_table(
        values,
        what=found,
        dtype=_DTYPES[tensor.dtype][1],
        name=name,
        notes=notes,
        key=found if len(header) > 1 else "",
        candidates=candidates,
    )


def _exactly(read: Read, start: int, stop: int) -> bytes:
    """Return the bytes asked for, or say that the file is shorter than it was."""
    data = read(start, stop)
    if len(data) != stop - start:
        raise TableError("st_size", expected=stop - start, got=len(data))
    return data


def _no_twins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build an object of the header, in which no key may come twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key comes twice")
    return found


def _tensor(key: str, entry: object, begin: int) -> Tensor:
    """Check one entry of the header: its type, its shape, and that they make as many bytes as it claims."""
    wrong = TableError("st_tensor", key=key)
    if not isinstance(entry, dict):
        raise wrong
    dtype, shape, span = (entry.get(part) for part in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or not _naturals(shape) or not _naturals(span) or len(span) != 2:
        raise wrong
    start, stop = span
    if stop < start or (dtype in _DTYPES and math.prod(shape) * _DTYPES[dtype][0] != stop - start):
        raise wrong
    return Tensor(dtype, tuple(shape), begin + start, begin + stop)


def _naturals(value: object) -> TypeGuard[list[int]]:
    """Say whether a value of the header is a list of whole numbers from 0 up, no more than NumPy has axes."""
    if not isinstance(value, list) or len(value) > 64:
        return False
    return all(type(size) is int and 0 <= size < 2**63 for size in value)
