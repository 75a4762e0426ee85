"""A position table that somebody brings along: what it holds, what was assumed, and why one is refused.

Every sentence has a code, so that a page can say it in the reader's language.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Limits on what is read: of a file read whole, and of what a packed array or one tensor unpacks to (bytes).
MAX_BYTES = 20 * 2**20
MAX_CELLS = 5_242_880  # rows × columns: 40 MiB of float64

_UNSHOWN = ("Cc", "Cs", "Zl", "Zp")  # controls, surrogates, line and paragraph separators

# What stands for a placeholder is a name, a number or a shape, never prose: the sentence is all there is to
# translate. `what` is the name of the array or tensor, or else of the file.
MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        # The file as a whole.
        "empty_file": "the file is empty (0 bytes); save the table again, or choose another file",
        "unreadable": "the file {name} cannot be read; check its path and its rights",
        "too_big": "{what} has {size} bytes, more than the {limit} that are read; save the table alone",
        "too_many_cells": (
            "{what} has {rows} × {columns} cells, more than the {limit} that are read; save fewer rows"
        ),
        "web_page": "the file is a web page, not a table; download the file itself, not its page",
        "lfs_pointer": (
            "the file is a Git LFS pointer, not the data it stands for; run git lfs pull or download it again"
        ),
        "text_inside": (
            "the file is named {suffix}, but holds text; name it .csv if it is a table, "
            "or save it again in the format of its name"
        ),
        "unknown_format": (
            "the file is neither .npy, .npz, .safetensors nor text; "
            "save the table with np.save and open the .npy file"
        ),
        "other_format": (
            "the file is a {format} file, which is not read; "
            "save the table with np.save and open the .npy file"
        ),
        "pickle": (
            "{what} is a Python pickle, which can run code and is never opened; "
            "convert it where you trust it:\n{convert}"
        ),
        # What a table must be.
        "no_axes": "{what} is a single number, not a table; save an array of shape (positions, d_model)",
        "one_axis": "{what} has one axis, shape {shape}; reshape it to the two of (positions, d_model)",
        "many_axes": (
            "{what} has shape {shape}, more than two axes; "
            "save one slice of shape (positions, d_model), for instance table[0]"
        ),
        "no_cells": "{what} has shape {shape}, so it is empty; save at least one row and one column",
        "integers": (
            "{what} holds whole numbers ({dtype}) as an index buffer such as position_ids does, not vectors; "
            "save the float table, or this one with astype('float32') if these are its values"
        ),
        "not_numbers": "{what} holds {dtype} values, not real numbers; save it with astype('float32')",
        "not_finite": (
            "{what} is NaN or infinite in {count} cells, at [row, column] {places} counted from 0; "
            "repair them and save it again"
        ),
        "choose": "there are several tables and none is named as one of positions; choose one of {keys}",
        "unknown_key": "there is no table named {key}; choose one of {keys}",
        "no_tables": "the {format} file has no floats of two axes, only {held}; save the table in it",
        "no_arrays": "the {format} file holds nothing; save the position table in it",
        # Binary formats.
        "npy_header": "the .npy header of {what} cannot be read; save the table again with np.save",
        "wrong_size": (
            "{what} announces shape {shape} of {dtype}, {expected} bytes, but has {got}; "
            "it was cut off or is damaged: save or download it again"
        ),
        "zip_damaged": "{what} cannot be unpacked, cut off or damaged; save it again with np.savez",
        "zip_bomb": "{what} unpacks from {packed} to {size} bytes, more than the {limit} that are read",
        "st_header": (
            "the safetensors header announces {length} bytes of JSON in a file of {size}, or is no JSON; "
            "save or download the file again"
        ),
        "st_tensor": (
            "tensor {key} is not described right in the safetensors header; save or download the file again"
        ),
        "st_size": (
            "the safetensors header announces {expected} bytes of tensors, but {got} follow; "
            "the file was cut off or is damaged: save or download it again"
        ),
        "st_dtype": (
            "tensor {key} is stored as {dtype}, which is not read; save it as F32, F16, BF16 or F64, "
            "for instance with tensor.float()"
        ),
        # Text.
        "encoding": "the text is neither UTF-8, UTF-16 nor CP949; save it as UTF-8",
        "no_numbers": (
            "the text has no row of numbers; write one row a line, separated by commas, tabs or spaces"
        ),
        "ragged": (
            "row {row} (line {line}) has {got} cells where the rows before have {expected}; "
            "give every row the same number of cells"
        ),
        "cell": (
            "row {row}, column {column} (line {line}) is {cell}, which is not a number; correct it, "
            "and keep no words but one line of names above the numbers"
        ),
        "long_line": (
            "line {line} has a row of more than {limit} characters; write one row a line, or use np.save"
        ),
        "either_comma": (
            "{cell} in line {line} could be a thousand or a fraction, and no other cell tells which; "
            "write decimal points"
        ),
        "elided": (
            "line {line} has an ellipsis, so this is not the whole array; print all of it with "
            "np.set_printoptions(threshold=sys.maxsize) or torch.set_printoptions(profile='full')"
        ),
        "brackets": "the brackets do not match at line {line}; copy the printed array whole",
        # From the Hugging Face Hub.
        "hub_off": "reading from the Hugging Face Hub is switched off here; download the file and open it",
        "hub_id": "{given} is not the id of a model; write organisation/name, as openai/whisper-tiny",
        "hub_missing": "the Hub has no public model {model}; check the id",
        "hub_gated": "the model {model} is for those who accepted its terms; open a downloaded file",
        "hub_busy": "the Hub has had too many requests from here; try again in a few minutes",
        "hub_slow": "the Hub has not answered within {seconds} s; try again, or open a file",
        "hub_unreachable": "the Hub cannot be reached at {endpoint}; open a downloaded file",
        "hub_no_safetensors": "the model {model} has no safetensors file; open a file of its table",
        "hub_no_position_table": (
            "the model {model} has no position table among its tensors ({tensors}); "
            "models with rotary positions or biases keep none"
        ),
        "hub_cut": "the answer of the Hub for {model} was cut off or is not what was asked for; try again",
    }
)

NOTES: Mapping[str, str] = MappingProxyType(
    {
        "squeezed": "Shape {stored} was read as {shape}: axes of size 1 were dropped.",
        "class_token": (
            "{rows} rows are {side} × {side} + 1: row 0 may be a class token before a square grid of cells."
        ),
        "transposed": "The columns look like the positions, not the rows: the table may be transposed.",
        "chosen": "{key} was taken because of its name; the file also has {others}.",
        "only_table": "{key} was taken as the only table of floats; the file also has {others}.",
        "asked": "{key} was chosen; the file also has {others}.",
        "other_name": "The file is named {suffix} but is a {format} file, and was read as one.",
        "void_bfloat16": "Values of the unnamed type {dtype} were read as bfloat16.",
        "long_double": "Values of {dtype} were rounded to float64.",
        "encoding": "The text was read as {encoding}.",
        "decimal_comma": "Commas were read as decimal points.",
        "thousands": "{mark} between groups of three digits was left out.",
        "index_column": "The first column numbers the rows from {first}, and was left out.",
        "label_column": "The first column names the rows, the first one {first}, and was left out.",
        "column_numbers": "The first row only numbers the columns from {first}, and was left out.",
        "brackets": "The text was read as nested lists in brackets.",
        "printed": "The text was read as an array printed by {library}, which rounds its values.",
    }
)


class TableError(ValueError):
    """A table that cannot be opened; ``str()`` is one English sentence.

    Parameters
    ----------
    code
        A key of `MESSAGES`.
    values
        What its placeholders stand for.
    """

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(MESSAGES[code].format(**values))
        self.code = code
        self.values: Mapping[str, object] = values


class Note(NamedTuple):
    """One thing that was assumed while a table was opened; ``str()`` is an English sentence."""

    code: str
    values: Mapping[str, object]

    def __str__(self) -> str:
        return NOTES[self.code].format(**self.values)


class Candidate(NamedTuple):
    """One array of a file that could be the position table; `shape` and `dtype` as stored."""

    key: str
    shape: tuple[int, ...]
    dtype: str

    def __str__(self) -> str:
        return f"{self.key} {self.shape}"


@dataclass(frozen=True, eq=False)
class Table:
    """A position table as it was brought along: one row a position, one column a channel.

    Attributes
    ----------
    values
        (n, d_model) float32 (stored as float16, bfloat16 or float32) or float64, finite and read-only, in
        C order and the machine's own byte order.
    name
        Name of the file, in Unicode's composed form (NFC), lone surrogates replaced.
    dtype
        As stored: ``"float16"``, ``"bfloat16"``, ``"float32"``, ``"float64"``, ``"longdouble"``, ``"text"``.
    notes
        What was assumed.
    key
        Which array or tensor of the file it is; empty where the file holds only one.
    candidates
        All arrays or tensors of the file that could be chosen.
    """

    values: NDArray[np.float32] | NDArray[np.float64]
    name: str = ""
    dtype: str = "float64"
    notes: tuple[Note, ...] = ()
    key: str = ""
    candidates: tuple[Candidate, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """Positions and d_model."""
        rows, width = self.values.shape
        return rows, width

    @property
    def zero_rows(self) -> tuple[int, ...]:
        """Rows in which every value is zero: their direction, and so their cosine, is undefined."""
        return tuple(np.flatnonzero(~self.values.any(axis=1)).tolist())


def clean_name(name: str) -> str:
    """Return a name that can be shown and compared: composed (NFC), controls and lone surrogates U+FFFD."""
    composed = unicodedata.normalize("NFC", name)
    return "".join("\ufffd" if unicodedata.category(sign) in _UNSHOWN else sign for sign in composed)
