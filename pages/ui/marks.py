"""What the axes of our figures say, in the reader's language."""

import math
from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from pages.ui.text import label, number
from posenc import Columns
from posenc.figures import MAX_SIDE, Axis

if TYPE_CHECKING:
    from numpy.typing import NDArray


def positions(labels: Iterable[str] = (), *, first: int = 0) -> Axis:
    """Return the axis of positions, the first of them numbered `first`."""
    return Axis(label("axis.position"), label("axis.position"), first=first, labels=tuple(labels))


def dimensions(columns: Columns | None = None, rates: "NDArray | None" = None) -> Axis:
    """Return the axis of dimensions; a sinusoid's columns also say their pair, frequency and wavelength."""
    title = label("axis.dimension")
    if columns is None or rates is None:
        return Axis(title, title)
    return Axis(
        title,
        title,
        hover=[_column(pair, cos, rates) for pair, cos in islice(zip(*columns, strict=True), MAX_SIDE)],
    )


def vectors(names: Iterable[str]) -> Axis:
    """Return the axis of a few named vectors."""
    return Axis("", label("axis.vector"), labels=tuple(names))  # the names say it all


def by_function(row: "NDArray", columns: Columns) -> "dict[str, tuple[NDArray, NDArray]]":
    """Split one row of a sinusoid into its sines and its cosines: name → (dimensions, values)."""
    import numpy as np

    where = {label("axis.sine"): ~columns.is_cos, label("axis.cosine"): columns.is_cos}
    return {name: (np.flatnonzero(mask), row[mask]) for name, mask in where.items()}


def _column(pair: int, cos: bool, rates: "NDArray") -> str:
    return label(
        "sinusoidal.column",
        pair=pair,
        function=label("axis.cosine" if cos else "axis.sine"),
        frequency=number(rates[pair]),
        wavelength=number(math.tau / rates[pair]),
    )
