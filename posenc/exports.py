"""An array as the bytes of a file that others open; each is read again and compared before it is given out.

What was in memory does not matter: Fortran order, strides and foreign byte order are made plain first (the
safetensors package writes such arrays wrong, in silence). NumPy's own formats have no bfloat16: its values
are kept there as float32, which is exact.
"""

import io
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

NAME = "table"  # of the one array in an archive
_RESERVED = ("file", "allow_pickle", "__metadata__")  # arguments of np.savez, a key of safetensors
_CELLS = 65_536  # written as text at a time: each takes 128 bytes on the way

Numbers = NDArray[np.generic]


def to_npy(array: Numbers) -> bytes:
    """Return `array` as an ``.npy`` file, in C order and little-endian, its dtype kept.

    Parameters
    ----------
    array
        Real numbers of any shape, at least one: integers, float16, bfloat16 (stored as float32), float32 or
        float64.

    Returns
    -------
    bytes
        A file that is read back to exactly these values.

    Raises
    ------
    ValueError
        For an empty array or one of another dtype, in one sentence.
    """
    values = _without_bfloat16(_plain(array))
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return _checked(buffer.getvalue(), {NAME: values}, lambda data: {NAME: np.load(io.BytesIO(data))})


def to_npz(array: Numbers, name: str = NAME) -> bytes:
    """Return `array` as the one member `name` of a packed ``.npz`` file; the rest is as in `to_npy`."""
    values = {_member(name): _without_bfloat16(_plain(array))}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **values)
    return _checked(buffer.getvalue(), values, _npz)


def to_csv(array: Numbers) -> bytes:
    """Return `array` as lines of numbers between commas, a row a line, as few digits as name each exactly.

    Rows are those of the last axis; axes before it are gone through in order. Arguments and errors are those
    of `to_npy`. Whoever reads the numbers as float64 and rounds them to the dtype of `array` has its values.
    """
    values = _without_bfloat16(_plain(array))
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else np.atleast_2d(values)
    if rows.dtype.kind == "f":
        rows = np.where(np.isnan(rows), rows.dtype.type(np.nan), rows)  # text has only one of the many NaN
    step = max(1, _CELLS // rows.shape[1])
    text = "".join(_lines(rows[start : start + step]) for start in range(0, len(rows), step))
    return _checked(text.encode("ascii"), {NAME: rows}, lambda data: {NAME: _csv(data, rows.dtype)})


def to_safetensors(array: Numbers, name: str = NAME) -> bytes:
    """Return `array` as the one tensor `name` of a ``.safetensors`` file, its dtype kept, bfloat16 too.

    Arguments and errors are those of `to_npy`.
    """
    from safetensors.numpy import save

    values = {_member(name): _plain(array)}
    return _checked(save(values), values, lambda data: _safetensors(data, values))


WRITERS: Mapping[str, Callable[[Numbers], bytes]] = {
    "npy": to_npy,
    "npz": to_npz,
    "csv": to_csv,
    "safetensors": to_safetensors,
}  # ending of the file → what writes it


def _member(name: str) -> str:
    """Return the name of an array in an archive if every reader can have it."""
    if not name.isprintable() or not name or "/" in name or name in _RESERVED:
        raise ValueError(f"name must be printable, without a slash and not reserved, got {name!r}")
    return name


def _plain(array: Numbers) -> Numbers:
    """Return the same values in C order and little-endian."""
    array = np.asarray(array)
    real = (array.dtype.kind in "iuf" and array.dtype.itemsize <= 8) or _is_bfloat16(array.dtype)
    if not real or not array.size:
        raise ValueError(
            f"array must hold at least one real number, of at most 64 bits, "
            f"got dtype {array.dtype} and shape {array.shape}"
        )
    # Not `ascontiguousarray`, which gives a single number an axis.
    return np.require(array, array.dtype.newbyteorder("<"), "C")


def _is_bfloat16(dtype: np.dtype[np.generic]) -> bool:
    return dtype.name == "bfloat16"


def _without_bfloat16(values: Numbers) -> Numbers:
    return values.astype(np.float32) if _is_bfloat16(values.dtype) else values


def _checked(
    data: bytes, values: Mapping[str, Numbers], read: Callable[[bytes], Mapping[str, Numbers]]
) -> bytes:
    """Return `data` if `read` finds `values` in it, bit by bit."""
    found = read(data)
    for name, array in values.items():
        if found[name].shape != array.shape or _bits(found[name]) != _bits(array):
            raise RuntimeError(f"the file written for {name} does not hold the array it was made of")
    return data


def _bits(array: Numbers) -> memoryview:
    """Return the bytes of an array in C order, not copied."""
    return np.ravel(array).view(np.uint8).data


def _npz(data: bytes) -> Mapping[str, Numbers]:
    with np.load(io.BytesIO(data)) as archive:
        return dict(archive)


def _lines(rows: Numbers) -> str:
    """Write each number with the fewest digits that name it among those of its dtype."""
    texts = rows.astype(str)
    if rows.dtype.kind == "f":
        # Readers go by way of float64. Rounded twice, 7.038531e-26 ends beside the float32 it is short for.
        lost = (texts.astype(np.float64).astype(rows.dtype) != rows) & ~np.isnan(rows)
        texts[lost] = rows[lost].astype(np.float64).astype(str)
    return "".join(",".join(row) + "\n" for row in texts.tolist())


def _csv(data: bytes, dtype: np.dtype[np.generic]) -> Numbers:
    return np.loadtxt(io.BytesIO(data), dtype=dtype, delimiter=",", ndmin=2)


def _safetensors(data: bytes, values: Mapping[str, Numbers]) -> Mapping[str, Numbers]:
    from safetensors import deserialize

    return {
        name: np.frombuffer(stored["data"], values[name].dtype).reshape(stored["shape"])
        for name, stored in deserialize(data)  # type: ignore[no-untyped-call]  # compiled code
    }
