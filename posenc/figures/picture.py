"""What a heatmap shows: blocks, what its axes say, and its colours."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from posenc.blocks import Cut

# Pixels: what title, axis and margins take of a heatmap's height, and what a line of text takes.
FURNITURE, LINE = 90, 16

Held = TypeVar("Held", bound=Cut, covariant=True)


@dataclass(frozen=True)
class Line:
    """One more line of the hover: a number about each row or column, or the number of one of `words`."""

    name: str
    values: NDArray[Any] = field(repr=False)
    words: Sequence[str] = ()


@dataclass(frozen=True)
class Axis:
    """What an axis of a matrix says.

    Parameters
    ----------
    title
        With its unit where it has one.
    name
        The word for one row or column in the hover: "position".
    many
        The word for several, where it is another.
    first
        The number of the first row or column.
    labels
        Words that stand for the numbers, one a row or column (pieces of a sentence).
    lines
        More lines of the hover, each with one value a row or column.
    """

    title: str
    name: str
    many: str = ""
    first: int = 0
    labels: Sequence[str] = ()
    lines: Sequence[Line] = ()


@dataclass(frozen=True)
class Picture(Generic[Held]):
    """A heatmap.

    Parameters
    ----------
    blocks
        The part of the matrix in view, in blocks, or these as they are sent; NaN cells stay empty.
    rows, columns
        What the axes say, of the whole matrix.
    value
        Name of the values, for the colour bar and the hover.
    limit
        Largest absolute value of the colour scale, always symmetric. A limit of 0 (all values are zero) is 1.
    sequential
        For values that are never negative (weights, distances): a scale from 0 to `limit`.
    low
        Where such a scale starts instead, for values that are all close to `limit`.
    square
        Cells as high as they are wide.
    height
        In pixels.
    product
        Name and one factor a column of one more number for the hover of a single cell: row number × factor.
    """

    blocks: Held
    rows: Axis
    columns: Axis
    value: str
    limit: float
    sequential: bool = False
    low: float = 0.0
    square: bool = False
    height: int = 420
    product: tuple[str, NDArray[np.floating]] | None = None

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the colour scale."""
        high = self.limit or 1.0
        return (self.low if self.sequential else -high, high)


def rows_height(rows: int, *, most: int = 640) -> int:
    """Return a height in pixels that gives each row room for its label, as long as there are not too many."""
    return min(most, FURNITURE + rows * (LINE + 8))


def common_limit(*matrices: NDArray[np.floating], share: float = 0.995) -> float:
    """Return one colour limit for several matrices: all but a few of their values lie within it.

    One huge value would leave everything else pale; the values beyond share the darkest colour.
    """
    values = np.concatenate([np.abs(matrix).ravel() for matrix in matrices])
    finite = np.isfinite(values)
    if not finite.all():
        values = values[finite]
    return _quantile(values, share) if values.size else 1.0


def _quantile(values: NDArray[np.floating], share: float) -> float:
    """Return what `np.quantile` does of finite numbers, whose order is lost.

    One cut and the least number above it are enough; NumPy cuts at four places, in ten times the time.
    """
    at = share * (values.size - 1)
    below = int(at)
    values.partition(below)
    low, above = values[below], values[below + 1 :]
    high, part = above.min() if above.size else low, at - below
    return float(low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part))
