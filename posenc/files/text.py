"""Tables in text: rows of numbers separated by commas, semicolons, tabs or spaces, in several encodings.

What is printed in brackets is read by `posenc.files.printed`. Text is read line by line, so that little more
than the numbers is held.
"""

import codecs
import csv
import io
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.files.numbers import COMMA, POINT, Numbers, decimal_mark, is_number
from posenc.files.printed import read_printed, starts_printed
from posenc.parameters import shown
from posenc.tables import MAX_CELLS, Note, TableError

MAX_LINE = 2**20  # characters: a row of 40,000 numbers in full

_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # of no text; \x0c parts pages
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_INDEX_NAMES = frozenset({"", "index", "idx", "id", "i", "n", "pos", "position", "positions", "row", "rows"})
_INDEX_NAMES |= {"p", "t", "token", "unnamed: 0", "위치", "번호", "행", "순서", "인덱스"}
_MISSING = frozenset({"n/a", "na", "null", "none", "-", "?", "#n/a"})
_SPACED_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_SAMPLE = 20  # lines that tell the separator

Float64 = NDArray[np.float64]


class Line(NamedTuple):
    """The cells of one line, and its number in the file, counted from 1."""

    number: int
    cells: list[str]
    text: str


def encoding_of(data: bytes) -> str | None:
    """Return the name of the encoding of a text, or None for what is no text in any of those known."""
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return codec if _decodes(data, codec) else None
    for codec in _without_mark(data):
        if _decodes(data, codec):
            return codec
    return None


def has_controls(data: bytes) -> bool:
    """Say whether there are bytes that no text of one byte a sign has."""
    return _CONTROL.search(data) is not None


def read_text(data: bytes, encoding: str) -> tuple[Float64, tuple[Note, ...]]:
    """Return the numbers of a text, (…, rows, columns) float64, and what was assumed.

    Parameters
    ----------
    data
        The whole text.
    encoding
        As `encoding_of` gives it.

    Raises
    ------
    TableError
        For a cell that is no number, a row of another length, or brackets that do not match.
    """
    notes = []
    if encoding not in ("utf-8", "utf-8-sig"):
        notes.append(Note("encoding", {"encoding": encoding.upper()}))
    with io.TextIOWrapper(io.BytesIO(data), encoding) as stream:
        start = stream.read(2000)
        stream.seek(0)
        values, found = read_printed(stream) if starts_printed(start) else _read_rows(stream, b"," in data)
    return values, (*notes, *found)


def _read_rows(stream: io.TextIOWrapper, commas: bool) -> tuple[Float64, tuple[Note, ...]]:
    """Read rows of separated numbers, with or without a line of names above and a column of names before."""
    sample = [text for _, text in islice(_texts(stream), _SAMPLE)]
    if not sample:
        raise TableError("no_numbers")
    separator, spaced = _separator(sample)
    mark = COMMA if spaced else POINT
    if commas and not spaced and (separator != "," or any('"' in text for text in sample)):
        mark = decimal_mark((line.number, line.text, line.cells) for line in _lines(stream, separator))
    lines = _lines(stream, separator)
    first, second = next(lines), next(lines, None)
    header = first if _is_header(first, second) else None
    start = second if header else first
    if start is None or not any(map(is_number, start.cells)):
        raise TableError("no_numbers")
    if header:
        _check_header(header, len(start.cells))
    rows = islice(_texts(stream), 1 if header else 0, None)
    return _Rows(header, start, separator, mark).read(rows)


class _Rows:
    """Collects rows of one length under a header or without one."""

    def __init__(self, header: Line | None, first: Line, separator: str | None, mark: str) -> None:
        self.header = header
        self.first = first
        self.separator = separator
        self.width = len(first.cells)
        self.numbers = Numbers(mark)
        self.values = array("d")
        self.label = first.cells[0] if _is_label(first.cells) else ""
        self.rows = 0

    def read(self, lines: Iterable[tuple[int, str]]) -> tuple[Float64, tuple[Note, ...]]:
        """Return the numbers of all lines and what was assumed."""
        for number, text in lines:
            found = None if self.label else self.numbers.plain(text, self.separator)
            if found is None or len(found) != self.width:
                found = self._numbers(Line(number, _cells(text, self.separator, self.width), text))
            self.values.extend(found)
            self.rows += 1
            if len(self.values) > MAX_CELLS + self.rows:  # the first column may count the rows
                raise TableError(
                    "too_many_cells", what="text", rows=self.rows, columns=self.width, limit=MAX_CELLS
                )
        if self.label and self.rows < 2:
            raise TableError("cell", row=0, column=0, line=self.first.number, cell=shown(self.label))
        table = np.frombuffer(self.values, np.float64).reshape(self.rows, -1)
        notes = []
        if self.numbers.mark == COMMA:
            notes.append(Note("decimal_comma", {}))
        if self.numbers.dropped:
            notes.append(Note("thousands", {"mark": repr(self.numbers.dropped)}))
        if self.label:
            notes.append(Note("label_column", {"first": shown(self.label)}))
        elif self._numbers_rows(table):
            notes.append(Note("index_column", {"first": int(table[0, 0])}))
            table = table[:, 1:]
        elif self.header and 1 < len(self.header.cells) < self.width:  # the cell missing is not its name
            names = len(self.header.cells)
            raise TableError("ragged", row=0, line=self.header.number + 1, got=self.width, expected=names)
        if self.header and all(map(is_number, self.header.cells)):
            notes.append(Note("column_numbers", {"first": self.header.cells[0].strip()}))
        return table, tuple(notes)

    def _numbers(self, line: Line) -> list[float]:
        """Return the numbers of one line, in whatever form, or say what is wrong with it."""
        cells = line.cells
        if len(cells) != self.width:
            raise TableError("ragged", row=self.rows, line=line.number, got=len(cells), expected=self.width)
        if self.label:
            cells = cells[1:]
        found = self.numbers.row(cells)
        if len(found) < len(cells):
            self._refuse(line, cells, len(found))
        if self.label and is_number(line.cells[0]):
            raise TableError("cell", row=0, column=0, line=self.first.number, cell=shown(self.label))
        return found

    def _refuse(self, line: Line, cells: Sequence[str], place: int) -> None:
        """Name a cell that is no number by its place in the table, without a column that numbers the rows."""
        cell = cells[place].strip()
        if cell in ("...", "…"):
            raise TableError("elided", line=line.number)
        counted = not self.label and self.rows > 0
        counted = counted and self._numbers_rows(np.array(self.values).reshape(self.rows, -1))
        raise TableError(
            "cell", row=self.rows, column=max(place - counted, 0), line=line.number, cell=shown(cell)
        )

    def _numbers_rows(self, table: Float64) -> bool:
        """Say whether the first column numbers the rows: it is named so, or only counts beside fractions."""
        if len(table) < 2 or table.shape[1] < 2:
            return False
        first, rest = table[:, 0], table[:, 1:]
        step = np.diff(first)
        if not (np.all(first == np.floor(first)) and np.all(step > 0)):
            return False
        if self.header and len(self.header.cells) < self.width:
            return True
        if self.header and self.header.cells[0].strip().lower() in _INDEX_NAMES:
            return True
        counts = first[0] in (0, 1) and bool(np.all(step == 1))
        return counts and not self.header and len(table) > 2 and bool(np.any(rest != np.floor(rest)))


def _is_header(first: Line, second: Line | None) -> bool:
    """Say whether the first line names the columns: words, or whole numbers that count up above fractions."""
    cells = [cell.strip() for cell in first.cells]
    if not all(is_number(cell) or _is_name(cell) for cell in cells):
        return False
    numbers = [cell for cell in cells if is_number(cell)]
    whole = [int(cell) for cell in numbers if re.fullmatch(r"\d{1,9}", cell)]
    counts = (
        len(whole) == len(numbers) and whole == list(range(whole[0], whole[0] + len(whole)))
        if whole
        else False
    )
    if len(numbers) == len(cells):
        below = second.cells if second else []
        fractions = any(is_number(cell) and not re.fullmatch(r"[-+]?\d+", cell.strip()) for cell in below)
        return counts and whole[0] in (0, 1) and len(whole) > 2 and fractions
    return counts or 2 * len(numbers) < len(cells)


def _is_name(cell: str) -> bool:
    """Say whether a cell can name a column or row: not meant to be a number, nor a missing one."""
    return not cell or (not re.match(r"[-+.−]?\d", cell) and cell.lower() not in _MISSING)


def _check_header(header: Line, width: int) -> None:
    """Refuse names of columns that do not go with the rows; the column of row numbers may have none."""
    if len(header.cells) not in (1, width - 1, width):
        raise TableError("ragged", row=0, line=header.number + 1, got=width, expected=len(header.cells))


def _is_label(cells: Sequence[str]) -> bool:
    """Say whether a row begins with its name, and all else are numbers."""
    first = cells[0].strip()
    named = bool(first) and not is_number(first) and _is_name(first)
    return named and len(cells) > 1 and all(map(is_number, cells[1:]))


def _separator(sample: Sequence[str]) -> tuple[str | None, bool]:
    """Return what parts the cells, None for spaces, and whether these part numbers with decimal commas."""
    body = sample[1:] or sample
    for separator in (";", "\t", ","):
        if 2 * sum(separator in text for text in body) < len(body):
            continue
        if separator == "," and all(_is_spaced(text) for text in body):
            return None, True
        return separator, False
    return None, False


def _is_spaced(text: str) -> bool:
    """Say whether a line is of two or more numbers with decimal commas between spaces."""
    cells = text.split()
    return len(cells) > 1 and "," in text and all(map(_SPACED_COMMA.fullmatch, cells))


def _lines(stream: io.TextIOWrapper, separator: str | None) -> Iterator[Line]:
    """Yield the cells of each line from the start."""
    width = 0
    for number, text in _texts(stream):
        cells = _cells(text, separator, width)
        width = width or len(cells)
        yield Line(number, cells, text)


def _texts(stream: io.TextIOWrapper) -> Iterator[tuple[int, str]]:
    """Yield each line from the start that is neither blank nor a comment, with its number, counted from 1."""
    stream.seek(0)
    for number, text in enumerate(stream, 1):
        if len(text) > MAX_LINE:
            raise TableError("long_line", line=number, limit=MAX_LINE)
        if text.strip(" \t\r\n\x0b\x0c,;") and not text.startswith("#"):
            yield number, text.rstrip("\r\n")


def _cells(text: str, separator: str | None, width: int) -> list[str]:
    """Part one line, without the empty cell behind a last separator unless that makes `width` cells."""
    if separator is None:
        return [cell.strip("\"'") for cell in text.split()]
    cells = text.split(separator)
    if '"' in text:  # quotes may hold a separator
        try:
            cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True))
        except csv.Error:  # a cell of more characters than any number has
            return [text]
    if len(cells) > 1 and not cells[-1].strip() and len(cells) != width:
        cells.pop()
    return cells


def _without_mark(data: bytes) -> Sequence[str]:
    """Return which encodings a text without a byte order mark can have."""
    head = data[:2000]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if odd > len(head) // 4 > even:
        return ("utf-16-le",)
    if even > len(head) // 4 > odd:
        return ("utf-16-be",)
    return () if has_controls(data) else ("utf-8", "cp949")


def _decodes(data: bytes, codec: str) -> bool:
    """Say whether all of a text can be read in an encoding."""
    decoder = codecs.getincrementaldecoder(codec)()
    try:
        for start in range(0, len(data), 2**16):
            decoder.decode(data[start : start + 2**16])
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True
