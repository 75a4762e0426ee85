"""What the axes of our figures say, in the reader's language."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pages.ui.text import label
from posenc import Columns
from posenc.figures import Axis, Line, Words

if TYPE_CHECKING:
    from numpy.typing import NDArray


def positions(labels: Iterable[str] = (), *, first: int = 0) -> Axis:
    """Return the axis of positions, the first of them numbered `first`."""
    name = label("axis.position")
    return Axis(name, name, label("axis.positions"), first=first, labels=tuple(labels))


def queries_and_keys() -> tuple[Axis, Axis]:
    """Return the axes of a matrix of scores: positions of queries down, of keys across."""
    names = label("axis.query_position"), label("axis.key_position")
    queries, keys = (Axis(name, name, label("axis.positions")) for name in names)
    return queries, keys


def offsets(logarithmic: bool) -> str:
    """Return the title of an axis of offsets."""
    return label("axis.offset_log" if logarithmic else "axis.offset")


def dimensions(columns: Columns | None = None, rates: "NDArray | None" = None) -> Axis:
    """Return the axis of dimensions; a sinusoid's columns also say their pair, frequency and wavelength."""
    name, many = label("axis.dimension"), label("axis.dimensions")
    if columns is None or rates is None:
        return Axis(name, name, many)
    here = rates[columns.pair]
    lines = (
        Line(label("axis.pair"), columns.pair),
        Line(label("axis.function"), columns.is_cos, (label("axis.sine"), label("axis.cosine"))),
        Line(label("axis.frequency"), here),
        Line(label("axis.wavelength"), math.tau / here),
    )
    return Axis(name, name, many, lines=lines)


def clock() -> tuple[str, str]:
    """Return the titles of the two axes of a clock."""
    return label("axis.clock_cos"), label("axis.clock_sin")


def moving(name: str) -> Words:
    """Return the words on the controls of a figure that moves, of which `name` is what its slider moves."""
    return Words(name, label("motion.play"), label("motion.pause"))


def by_function(row: "NDArray", columns: Columns) -> "dict[str, tuple[NDArray, NDArray]]":
    """Split one row of a sinusoid into its sines and its cosines: name → (dimensions, values)."""
    import numpy as np

    where = {label("axis.sine"): ~columns.is_cos, label("axis.cosine"): columns.is_cos}
    return {name: (np.flatnonzero(mask), row[mask]) for name, mask in where.items()}
