"""The cells of an image on our figures: one number a cell over the grid, or a row for each cell."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pages.ui import heatmap, layout
from pages.ui.text import label
from posenc.figures import Axis, Line
from posenc.images import AXES, row_and_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from posenc.grid_blocks import GridColumns

HALF, THIRD = 380, layout.PICTURE  # pixels that each of two or three grids side by side has at least
LOOK = {"square": True, "half": True}


def over_cells(title: str, key: str, alt: str, values: "NDArray", unit: str, **look: Any) -> None:
    """Draw one number a cell, over the grid, under a title."""
    layout.titled(f"**{title}**", key, alt, heatmap.of_table(values), *image(), unit, **LOOK, **look)


def image() -> tuple[Axis, Axis]:
    """Return the axes of an image: rows down, columns across."""
    down, across = (label(f"axis.image_{axis}") for axis in AXES)
    return Axis(down, down), Axis(across, across)


def cells(shape: Sequence[int]) -> Axis:
    """Return the axis of a table with a row for each cell, row-major, which also says where the cell is."""
    name = label("axis.cell")
    lines = zip(AXES, row_and_column(shape), strict=True)
    return Axis(
        name,
        name,
        label("axis.cells"),
        lines=[Line(label(f"axis.image_{axis}"), values) for axis, values in lines],
    )


def columns(order: "GridColumns", rates: "NDArray") -> Axis:
    """Return the axis of the columns of a grid's table: axis, pair, function, frequency and wavelength."""
    name = label("axis.dimension")
    lines = (
        Line(label("axis.image_axis"), order.axis, AXES),
        Line(label("axis.pair"), order.pair),
        Line(label("axis.function"), order.is_cos, (label("axis.sine"), label("axis.cosine"))),
        Line(label("axis.frequency_cell"), rates),
        Line(label("axis.wavelength_cell"), math.tau / rates),
    )
    return Axis(name, name, label("axis.dimensions"), lines=lines)


def axial_pairs(rates: "NDArray", by_x: "NDArray") -> Axis:
    """Return the axis of the pairs of axial rotary embedding, of which those marked in `by_x` turn by x."""
    name = label("axis.pair")
    lines = (
        Line(label("axis.image_axis"), by_x, AXES),
        Line(label("axis.frequency_cell"), rates),
    )
    return Axis(name, name, label("axis.pairs"), lines=lines)
