"""Numbers as people and spreadsheets write them: decimal points or commas, and marks between thousands."""

import re
from collections.abc import Iterable, Sequence

from posenc.tables import TableError

POINT, COMMA = ".", ","

_DOUBTED = 10_000  # lines after which no proof is looked for
_WORDS = r"nan|inf(?:inity)?"
_LIKE = re.compile(rf"[-+]?(?:(?=[.,]?\d)\d*(?:[.,\s'’]\d+)*[.,]?(?:[eE][-+]?\d+)?|{_WORDS})", re.IGNORECASE)
# {1}: the decimal mark. Groups of three digits may be parted by the other mark, a space or an apostrophe.
_PLAIN = rf"[-+]?(?:(?:\d+(?:[{{0}}]\d*)?|[{{0}}]\d+)(?:[eE][-+]?\d+)?|{_WORDS})"
_GROUPED = r"[-+]?[1-9]\d{{0,2}}(?:([{1} \u00a0\u202f'’])\d{{3}})(?:\1\d{{3}})*(?:[{0}]\d*)?"
_FORMS = {
    mark: tuple(re.compile(form.format(mark, other), re.IGNORECASE | re.ASCII) for form in (_PLAIN, _GROUPED))
    for mark, other in ((POINT, COMMA), (COMMA, POINT))
}
# A mark that cannot part thousands: no three digits behind it, none or a zero or four before it, or it comes
# after the other mark.
_DECIMAL = re.compile(
    r"(?<![\d.,])(?:(?:0|\d{4,})?([.,])\d|\d+([.,])(?:\d{1,2}|\d{4,})(?![\d.,]))|[,\s]\d{3}(\.)\d|[.\s]\d{3}(,)\d"
)


def is_number(cell: str) -> bool:
    """Say whether a cell looks like a number, whichever its decimal mark is."""
    return _LIKE.fullmatch(cell.strip().replace("−", "-")) is not None


def decimal_mark(lines: Iterable[tuple[int, str, Sequence[str]]]) -> str:
    """Return the decimal mark of a text in which a comma does not part cells.

    Parameters
    ----------
    lines
        Number of each line, its text, and its cells.

    Raises
    ------
    TableError
        If there are commas, and each could part thousands.
    """
    doubt: tuple[int, str] | None = None
    for number, text, cells in lines:
        if COMMA not in text and POINT not in text:
            continue
        if doubt and number > doubt[0] + _DOUBTED:
            break
        for cell in filter(is_number, cells):
            proof = _DECIMAL.search(cell)
            if proof:
                return str(next(filter(None, proof.groups())))
            if COMMA in cell and doubt is None:
                doubt = number, cell
    if doubt:
        raise TableError("either_comma", line=doubt[0], cell=doubt[1].strip())
    return POINT


class Numbers:
    """Turns cells into numbers by one decimal mark; `dropped` is the mark that was left out of thousands."""

    def __init__(self, mark: str = POINT) -> None:
        self.mark = mark
        self.dropped = ""
        self._plain, self._grouped = _FORMS[mark]

    def plain(self, text: str, separator: str | None) -> list[float] | None:
        """Return the numbers of a line that has nothing else, which is fast; None leaves it to `row`."""
        # float takes more than that: digits of other scripts, and underscores.
        if not text.isascii() or "_" in text:
            return None
        if self.mark == COMMA:
            if POINT in text:
                return None
            text = text.replace(COMMA, POINT)
        try:
            return list(map(float, text.split(separator)))
        except ValueError:
            return None

    def row(self, cells: Sequence[str]) -> list[float]:
        """Return the numbers of a row up to the first cell that is none."""
        found: list[float] = []
        for cell in cells:
            value = self.value(cell)
            if value is None:
                break
            found.append(value)
        return found

    def value(self, cell: str) -> float | None:
        """Return the number in a cell, or None if it is none."""
        plain = cell.strip().replace("−", "-")
        if self._plain.fullmatch(plain):
            return float(plain.replace(COMMA, POINT))
        grouped = self._grouped.fullmatch(plain)
        if not grouped:
            return None
        self.dropped = grouped[1]
        return float(plain.replace(grouped[1], "").replace(COMMA, POINT))
