"""A table that somebody brought along, looked at: turned and cut as asked, what it is, and what is left over.

Letters: n rows (positions), d columns.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from posenc.naming.identify import identify
from posenc.naming.record import Identity
from posenc.parameters import BASE, D_MODEL
from posenc.picks import Given
from posenc.snippets_repairs import REPAIRS, Repair, repair
from posenc.tables import Table

Floats = NDArray[np.floating]
# Of a larger table the first rows are measured: they tell what it is, in a second and a few megabytes.
MOST_ROWS, MOST_CELLS = 1024, 2**20
REACH = (6, 12)  # rows and columns shown around a cell, each way
# How sure an answer is, in words, and from which confidence on.
SURENESS = (("certain", 0.9), ("likely", 0.6), ("possible", 0.3), ("unclear", 0.0))
USUAL = 30  # powers of ten: values in between are drawn as they are, in float32
# What `Identity.next_best` may say.
_NEXT = {
    "next_base": re.compile(r"base (?P<base>\S+), freq_shift (?P<freq_shift>\d)"),
    "next_float32": re.compile(r"computed in float32, with a residual of (?P<residual>\S+)"),
    "next_scaled": re.compile(r"rates scaled for a longer context"),
}
# What goes without saying.
_PLAIN = {"step": 1, "sign": 1, "scale": 1}


@dataclass(frozen=True, eq=False)
class Inspection:
    """What is seen of a table.

    Parameters
    ----------
    whole
        (n, d), turned and cut as asked; a view of the table that was opened.
    """

    whole: Floats

    @property
    def values(self) -> Floats:
        """The first rows and columns of it, that are measured; all of them as a rule."""
        columns = min(self.whole.shape[1], D_MODEL.maximum)
        return self.whole[: min(MOST_ROWS, max(1, MOST_CELLS // columns)), :columns]

    @property
    def cut(self) -> bool:
        """Whether not all of the table is measured."""
        return self.values.shape != self.whole.shape

    @cached_property
    def power(self) -> int:
        """The power of ten by which values are divided to be drawn: 0 unless they are huge or tiny."""
        largest = float(np.abs(self.whole).max())
        power = math.floor(math.log10(largest)) if largest else 0
        return power if abs(power) > USUAL else 0

    def drawn(self, values: Floats) -> Floats:
        """Return values of the table in the unit in which they are drawn."""
        # In two steps: 10³⁰⁸ is the largest power that there is.
        return values if not self.power else values / 10.0 ** (self.power // 2) / 10.0 ** -(-self.power // 2)

    @cached_property
    def identity(self) -> Identity:
        """What the table is."""
        return identify(self.values)

    @cached_property
    def difference(self) -> Floats | None:
        """The table less the nearest known one, (n, d); None where there is none."""
        nearest = self.identity.nearest
        return None if nearest is None else self.values - nearest

    @property
    def largest_difference(self) -> float:
        """The largest difference of a cell from the nearest known table, 0 where there is none."""
        return 0.0 if self.difference is None else float(np.abs(self.difference).max())

    @cached_property
    def given(self) -> Given:
        """The table as other pages take it, in the unit in which it is drawn."""
        rows = np.ascontiguousarray(self.drawn(self.values))
        rows.flags.writeable = False
        return Given(sha256(repr(rows.shape).encode() + rows.tobytes()).hexdigest(), rows)

    @property
    def zero_rows(self) -> list[int]:
        """Rows in which every value is zero: their cosine is undefined."""
        rows: list[int] = np.flatnonzero(~self.values.any(axis=1)).tolist()
        return rows

    @property
    def sureness(self) -> str:
        """How sure the answer is: one of the words of `SURENESS`, never more than its confidence says."""
        return next(word for word, least in SURENESS if self.identity.confidence >= least)

    @property
    def wrong(self) -> str | None:
        """The known mistake, unless a library makes this table on purpose."""
        return None if self.identity.implementations else self.identity.mistake

    @property
    def libraries(self) -> tuple[str, ...]:
        """Import names of the libraries that make this table."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in self.identity.implementations))

    @property
    def facts(self) -> dict[str, object]:
        """The parameters that are known and do not go without saying, by the names that `Identity` has."""
        names = ("layout", "base", "freq_shift", "first_position", "step", "sign", "scale", "grid")
        found = {name: getattr(self.identity, name) for name in names}
        if self.identity.nearest is not None:  # else it only says how the numbers are stored
            found["dtype"] = self.identity.dtype
        return {
            name: value for name, value in found.items() if value is not None and value != _PLAIN.get(name)
        }

    @property
    def next_best(self) -> tuple[str, Mapping[str, str]] | None:
        """The answer that was second, as a code and its values, so that it can be said in any language."""
        for code, pattern in _NEXT.items():
            if found := pattern.fullmatch(self.identity.next_best or ""):
                return code, found.groupdict()
        return None

    @property
    def repair(self) -> Repair | None:
        """The code of the mistake, before and after it is put right."""
        found = self.identity
        if self.wrong not in REPAIRS:
            return None
        n, d_model = self.values.shape[::-1] if self.wrong == "transposed" else self.values.shape
        low = found.dtype if found.dtype in ("float16", "bfloat16") else "float16"
        factor = math.sqrt(max(found.step, 1 / found.step)) if found.step else 2.0
        base = min(max(found.base or BASE.default, BASE.minimum), BASE.maximum)
        return repair(str(self.wrong), n, d_model, base=base, dtype=low, factor=factor)

    @property
    def makeable(self) -> bool:
        """Whether `posenc.sinusoidal` makes this table, with the parameters that were found."""
        found = self.identity
        alone = found.step == found.sign == 1 and found.scale is not None and abs(found.scale - 1) < 1e-3
        return found.scheme == "sinusoidal" and alone and self.wrong is None and found.base is not None

    def cells(self, column: int) -> Floats | None:
        """Return a column as the picture of the grid whose cells the rows are, None where there is no grid.

        Rows before the cells, as that of a class token, are left out.
        """
        grid = self.identity.grid
        if grid is None or math.prod(grid) > len(self.values):
            return None
        return self.values[-math.prod(grid) :, column].reshape(grid)


def inspect_table(table: Table, *, transpose: bool = False, skip: int = 0) -> Inspection:
    """Look at a table: with rows and columns exchanged if asked, and without its first `skip` rows.

    Raises
    ------
    ValueError
        If no row would be left.
    """
    turned = table.values.T if transpose else table.values
    if not 0 <= skip < len(turned):
        raise ValueError(f"skip must leave one of the {len(turned)} rows, got {skip}")
    return Inspection(turned[skip:])


def around(cell: tuple[int, int], shape: tuple[int, int]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the rows and the columns around a cell, as (start, stop), within a table of this shape."""
    down, across = (
        (max(0, at - reach), min(size, at + reach + 1))
        for at, size, reach in zip(cell, shape, REACH, strict=True)
    )
    return down, across
