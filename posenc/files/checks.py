"""What is the same for every format: which array of a file is the table, and what a table must be."""

import math
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from posenc.tables import MAX_CELLS, Candidate, Note, Table, TableError, clean_name

Read = Callable[[int, int], bytes]
"""Bytes of a file from `start` up to `stop`, exactly those, or an error of its own."""

FLOATS = ("float16", "bfloat16", "float32", "float64", "longdouble")

_PLACES = 10  # holes that a message names
_BLOCK = 512  # rows and columns that are enough to tell which way round a table is
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_POSITION = {"wpe", "pe", "pos", "position", "positions", "positional", "posembed", "posemb", "posenc"}
_TABLE = {"wpe", "pe", "embed", "embedding", "embeddings", "emb", "encoding", "encodings", "enc"}
_TABLE |= {"encoder", "table", "weight", "posembed", "posemb", "posenc"}
# Neither numbers of positions, nor biases between two of them, nor the layers behind them.
_OTHER = {"ids", "id", "type", "relative", "rel", "rotary", "bias", "proj", "projection", "linear", "norm"}


def listed(candidates: Iterable[Candidate]) -> str:
    """Return the keys and shapes of some arrays on one line, as far as they are not too many."""
    shown = [str(candidate) for candidate in candidates]
    return ", ".join(shown[:8]) + (", …" if len(shown) > 8 else "")


def table_shape(shape: Sequence[int], what: str) -> tuple[int, int]:
    """Return (positions, d_model) of an array of `shape`, axes of size 1 dropped where there are too many.

    Raises
    ------
    TableError
        If the array has nothing in it, fewer or more than two axes, or more than `MAX_CELLS`.
    """
    axes = list(shape)
    if not axes:
        raise TableError("no_axes", what=what)
    if 0 in axes:
        raise TableError("no_cells", what=what, shape=tuple(shape))
    while len(axes) > 2 and 1 in axes:
        axes.remove(1)
    if len(axes) == 1:
        raise TableError("one_axis", what=what, shape=tuple(shape))
    if len(axes) > 2:
        raise TableError("many_axes", what=what, shape=tuple(shape))
    if axes[0] * axes[1] > MAX_CELLS:
        raise TableError("too_many_cells", what=what, rows=axes[0], columns=axes[1], limit=MAX_CELLS)
    return axes[0], axes[1]


def choose(
    arrays: Sequence[Candidate], key: str | None, kind: str
) -> tuple[Candidate, tuple[Candidate, ...], tuple[Note, ...]]:
    """Return the array of a file that is its position table, all that could be, and what was assumed.

    Parameters
    ----------
    arrays
        All arrays of the file.
    key
        The one that is wanted; None leaves it to their names, those of positions first.
    kind
        Format of the file, for the message.

    Raises
    ------
    TableError
        If there is no such array, no table of floats, or several and none is named as one of positions.
    """
    if not arrays:
        raise TableError("no_arrays", format=kind)
    # Stable: those of one rank stay as they are in the file.
    tables = sorted(filter(_is_table, arrays), key=lambda array: -position_rank(array.key))
    if key is not None:
        found = next((array for array in arrays if array.key == clean_name(key)), None)
        if found is None:
            raise TableError("unknown_key", key=key, keys=listed(arrays), candidates=tuple(arrays))
        return found, tuple(tables), _others("asked", found, arrays)
    if len(arrays) == 1:  # what is wrong with it is said when it is read
        return arrays[0], tuple(tables), ()
    if not tables:
        raise TableError("no_tables", format=kind, held=listed(arrays))
    if len(tables) > 1 and position_rank(tables[0].key) == 0:
        raise TableError("choose", keys=listed(tables), candidates=tuple(tables))
    code = "only_table" if len(tables) == 1 else "chosen"
    return tables[0], tuple(tables), _others(code, tables[0], tables if len(tables) > 1 else arrays)


def as_table(
    values: NDArray[np.floating],
    *,
    what: str,
    dtype: str,
    name: str = "",
    notes: Sequence[Note] = (),
    key: str = "",
    candidates: Sequence[Candidate] = (),
) -> Table:
    """Return the table of an array of any real type, layout and byte order, or say what is wrong with it.

    Parameters
    ----------
    values
        (…, positions, d_model); what is not float64 must fit into a float32, a longdouble into a float64.
    what
        How messages call the array.
    dtype, name, notes, key, candidates
        As in `Table`; notes on what is found here are added.

    Raises
    ------
    TableError
        As in `table_shape`, or if a value is NaN or infinite.
    """
    shape = table_shape(values.shape, what)
    kept: NDArray[np.float32] | NDArray[np.float64]
    with np.errstate(over="ignore"):  # a longdouble past float64 is then found to be infinite
        if values.dtype.itemsize >= 8:
            kept = np.require(values.reshape(shape), np.float64, ["C", "A"])
        else:
            kept = np.require(values.reshape(shape), np.float32, ["C", "A"])
    _check_finite(kept, what)
    kept.flags.writeable = False
    assumed = list(notes)
    if values.ndim > 2:
        assumed.append(Note("squeezed", {"stored": values.shape, "shape": shape}))
    side = math.isqrt(shape[0] - 1)
    if side >= 3 and side * side == shape[0] - 1:
        assumed.append(Note("class_token", {"rows": shape[0], "side": side}))
    if looks_transposed(kept):
        assumed.append(Note("transposed", {}))
    return Table(kept, name, dtype, tuple(assumed), key, tuple(candidates))


def looks_transposed(table: NDArray[np.float32] | NDArray[np.float64]) -> bool:
    """Say whether the columns of a (n, d) table look like its positions, and the rows do not.

    Neighbouring positions have like vectors, and those of a sinusoid have one length. It is said only where
    the rows differ in length, neighbouring columns are alike, and either all of one length, which the waves
    of a sinusoid are not, or neighbouring rows are not alike.
    """
    block = table[:_BLOCK, :_BLOCK].astype(np.float64)
    block /= np.abs(block).max() or 1.0
    if min(block.shape) < 4 or _equal_norms(block):
        return False
    return _likeness(block.T) > 0.5 and (_equal_norms(block.T) or _likeness(block) < 0.25)


def _equal_norms(rows: NDArray[np.float64]) -> bool:
    """Say whether most rows have one length, up to 2 %."""
    norm = np.linalg.norm(rows, axis=1)
    return bool(np.mean(np.abs(norm - np.median(norm)) <= 0.02 * np.median(norm)) > 0.9)


def _likeness(rows: NDArray[np.float64]) -> float:
    """Return the mean cosine of neighbouring rows about their mean, 0 where a row is the mean itself."""
    about = rows - rows.mean(axis=0)
    norm = np.linalg.norm(about, axis=1)
    about /= np.where(norm > 0, norm, 1.0)[:, np.newaxis]
    return float(np.mean(np.sum(about[1:] * about[:-1], axis=1)))


def _check_finite(values: NDArray[np.float32] | NDArray[np.float64], what: str) -> None:
    """Name the first cells that are NaN or infinite."""
    bad = ~np.isfinite(values)
    count = int(np.count_nonzero(bad))
    if count:
        first = np.flatnonzero(bad)[:_PLACES]
        places = [f"[{row}, {column}]" for row, column in np.column_stack(np.divmod(first, values.shape[1]))]
        more = ", …" if count > _PLACES else ""
        raise TableError("not_finite", what=what, count=count, places=", ".join(places) + more)


def _is_table(array: Candidate) -> bool:
    """Say whether an array of a file could be a table by its type and its axes."""
    wide = sum(size != 1 for size in array.shape) <= 2 <= len(array.shape)
    return array.dtype in FLOATS and wide and 0 not in array.shape


def position_rank(key: str) -> int:
    """Return 2 for the name of a table of positions, 1 for one that has to do with positions, else 0."""
    words = {word.lower() for word in _WORD.findall(key)}
    if not words & _POSITION or words & _OTHER:
        return 0
    return 2 if words & _TABLE else 1


def _others(code: str, found: Candidate, arrays: Sequence[Candidate]) -> tuple[Note, ...]:
    """Say which other arrays there were, if there were any."""
    others = [array for array in arrays if array is not found]
    return (Note(code, {"key": found.key, "others": listed(others)}),) if others else ()
