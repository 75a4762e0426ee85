"""Arrays as they are printed: ``array([[…]])``, ``tensor([[…]], device='cuda:0')``, or brackets alone."""

import re
from array import array
from collections.abc import Iterator
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from posenc.files.numbers import Numbers
from posenc.parameters import shown
from posenc.tables import MAX_CELLS, Note, TableError

MAX_ROW = 2**20  # characters
_CHUNK = 2**16

_START = re.compile(
    r"(?P<before>[^\[\]]{0,400}?)\[\s*(?:\[|\]|[-+]?\.?\d|[-+]?(?:nan|inf)\b|(?:array|tensor|np)\b)"
)
_BETWEEN = re.compile(r"(?:[\s,()]|array|tensor|dtype=[\w.']+)*")
_SCALAR = re.compile(r"np\.float\d+\(([^()]*)\)")
_LIBRARIES = (("tf.", "TensorFlow"), ("tensor(", "PyTorch"), ("Array(", "JAX"), ("array(", "NumPy"))


def starts_printed(text: str) -> bool:
    """Say whether a text is an array in brackets: first in it, or behind what opens them."""
    found = _START.match(text)
    if not found:
        return False
    before = found["before"].strip(" \t")
    return not before or before[-1] in "(=:\n"


def read_printed(stream: TextIO) -> tuple[NDArray[np.float64], tuple[Note, ...]]:
    """Return the numbers of a printed array, in the shape that its brackets have, and what was assumed.

    Raises
    ------
    TableError
        If an ellipsis stands for some of it, brackets do not match, rows differ in length, or a cell is no
        number.
    """
    nest = _Nest()
    before, library = "", ""
    for line, piece in _pieces(stream):
        if not library:
            before, _, piece = piece.partition("[")
            library = next((name for mark, name in _LIBRARIES if mark in before), "brackets")
            if library == "brackets" and "," not in piece:
                library = "NumPy"
            piece = "[" + piece
        nest.take(piece, line)
    if nest.depth or not library:
        raise TableError("brackets", line=nest.line)
    note = Note("brackets", {}) if library == "brackets" else Note("printed", {"library": library})
    return np.frombuffer(nest.values, np.float64).reshape(nest.shape), (note,)


class _Nest:
    """The brackets that are open, the length of the lists at each depth, and the numbers so far."""

    def __init__(self) -> None:
        self.values = array("d")
        self.line = 1
        self.rows = 0
        self._lists = 0  # outermost ones
        self._open: list[int] = []  # how much there is in each list that is open
        self._sizes: dict[int, int] = {}  # what a list of each depth has in it
        self._leaf = 0  # the depth of lists of numbers
        self._numbers = Numbers()

    @property
    def depth(self) -> int:
        """How many brackets are open."""
        return len(self._open)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the lists from the outermost to the rows; several of those are a list of their own."""
        sizes = tuple(self._sizes[depth] for depth in range(1, self._leaf + 1))
        return sizes if self._lists == 1 else (self._lists, *sizes)

    def take(self, piece: str, line: int) -> None:
        """Take the text up to a closing bracket, which is not part of it and begins in `line`."""
        *between, inside = piece.split("[")
        for text in between:
            self._between(text, line)
            if self._open:
                self._open[-1] += 1
            else:
                self._lists += 1
            self._open.append(0)
            line += text.count("\n")
        self.line = line + inside.count("\n")
        if not between:
            self._between(inside, line)
        elif inside.strip() or not self._leaf:
            self._row(inside, line)
        self._close()

    def _between(self, text: str, line: int) -> None:
        """Let nothing stand between two brackets but what joins them."""
        _check_whole(text, line)
        if not _BETWEEN.fullmatch(text):
            raise TableError("brackets", line=line + text.rstrip().count("\n"))

    def _row(self, text: str, line: int) -> None:
        """Take the numbers of one list."""
        _check_whole(text, line)
        spaced = text.replace(",", " ")
        found = self._numbers.plain(spaced, None)
        if found is None:
            cells = _SCALAR.sub(r"\1", spaced).split()
            found = self._numbers.row(cells)
            if len(found) < len(cells):
                cell = shown(cells[len(found)])
                raise TableError("cell", row=self.rows, column=len(found), line=self.line, cell=cell)
        self._leaf = self._leaf or self.depth
        if self._leaf != self.depth:
            raise TableError("brackets", line=self.line)
        self._open[-1] = len(found)
        self.values.extend(found)
        self.rows += 1
        if len(self.values) > MAX_CELLS:
            raise TableError(
                "too_many_cells", what="text", rows=self.rows, columns=len(found), limit=MAX_CELLS
            )

    def _close(self) -> None:
        """Close a list; lists of one depth have one length."""
        if not self._open:
            raise TableError("brackets", line=self.line)
        depth, size = self.depth, self._open.pop()
        expected = self._sizes.setdefault(depth, size)
        if size != expected:
            raise TableError("ragged", row=max(self.rows - 1, 0), line=self.line, got=size, expected=expected)


def _check_whole(text: str, line: int) -> None:
    """Refuse the ellipsis that stands for what was not printed."""
    place = max(text.find("..."), text.find("…"))
    if place >= 0:
        raise TableError("elided", line=line + text[:place].count("\n"))


def _pieces(stream: TextIO) -> Iterator[tuple[int, str]]:
    """Yield what comes before each closing bracket, with the number of the line in which it begins."""
    line, rest = 1, ""
    while chunk := stream.read(_CHUNK):
        *pieces, rest = (rest + chunk).split("]")
        for piece in pieces:
            yield line, piece
            line += piece.count("\n")
        if len(rest) > MAX_ROW:
            raise TableError("long_line", line=line, limit=MAX_ROW)
