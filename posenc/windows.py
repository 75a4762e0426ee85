"""Relative positions between the cells of a window of an image, as Swin reads them.

Cells are numbered row-major: cell (y, x) of height × width is y·width + x. Distances are dy = y_i − y_j and
dx = x_i − x_j, the cell that looks minus the cell that is looked at.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_finite
from posenc.parameters import Integer, shown

Int64 = NDArray[np.int64]

WINDOW_HEIGHT = Integer("height", default=8, minimum=1, maximum=128)
WINDOW_WIDTH = replace(WINDOW_HEIGHT, name="width")
MOST_CELLS = 4096  # of a window; the index holds a number for each pair of them
TRAINED = Integer("trained", default=8, minimum=1, maximum=1024)


def swin_index(height: int, width: int, *, class_token: bool = False) -> Int64:
    """Return the row of Swin's bias table for each pair of cells of a window.

    index(i, j) = (y_i − y_j + height − 1) · (2·width − 1) + (x_i − x_j + width − 1)

    Parameters
    ----------
    height, width
        Of the window, in cells: at most 128 each way, and 4,096 in all.
    class_token
        Whether a token that is no cell stands before the cells (BEiT). With K = (2·height − 1)·(2·width − 1)
        rows for the window, row K is for class to cell, K + 1 for cell to class, K + 2 for class to itself.

    Returns
    -------
    (n, n) int64, n = height·width, or one more with a class token: rows are queries, columns keys

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Liu et al. 2021, "Swin Transformer: Hierarchical Vision Transformer using Shifted Windows", section 3.2,
    equation 4, https://arxiv.org/abs/2103.14030; timm, `gen_relative_position_index`
    """
    h, w = _window(height, width)
    y, x = np.divmod(np.arange(h * w), w)
    dy, dx = np.subtract.outer(y, y), np.subtract.outer(x, x)
    index: Int64 = (dy + h - 1) * (2 * w - 1) + (dx + w - 1)
    if class_token:
        rows = (2 * h - 1) * (2 * w - 1)
        index = np.pad(index, ((1, 0), (1, 0)))
        index[0, :], index[:, 0], index[0, 0] = rows, rows + 1, rows + 2
    return index


def window_distances(height: int, width: int) -> Floats:
    """Return the distances (dy, dx) that occur in a window, in the order of the rows of Swin's table.

    Parameters
    ----------
    height, width
        Of the window, in cells: at most 128 each way, and 4,096 in all.

    Returns
    -------
    (2·height − 1, 2·width − 1, 2) float64: dy = −(height − 1) … height − 1 down, dx likewise across
    """
    h, w = _window(height, width)
    dy, dx = np.arange(1.0 - h, h), np.arange(1.0 - w, w)
    return np.stack(np.meshgrid(dy, dx, indexing="ij"), axis=-1)


def log_distance(distances: ArrayLike) -> Floats:
    """Return sign(d) · ln(1 + |d|) for distances of any shape (Swin V2, equation 4)."""
    d = check_finite("distances", check_array("distances", distances))
    return np.sign(d) * np.log1p(np.abs(d))


def swin_log_coords(height: int, width: int, *, trained: Sequence[int] | None = None) -> Floats:
    """Return the log-spaced distances from which a small network makes the biases of Swin V2.

    c = 8·d/(n − 1) with the n cells that the model was trained with, then sign(c) · ln(1 + |c|)/ln 8: where
    trained it lies within ±ln 9/ln 8 = ±1.06, and a larger window asks only a little beyond.

    Parameters
    ----------
    height, width
        Of the window, in cells: at most 128 each way, and 4,096 in all.
    trained
        (height, width) of the window that the model was trained with; this one if it is not given.

    Returns
    -------
    (2·height − 1, 2·width − 1, 2) float64, (dy, dx) last; 0 along an axis of a single cell

    Raises
    ------
    ValueError
        For an argument outside its limits.

    References
    ----------
    Liu et al. 2022, "Swin Transformer V2: Scaling Up Capacity and Resolution", section 3.3,
    https://arxiv.org/abs/2111.09883; timm, `gen_relative_log_coords`
    """
    distances = window_distances(height, width)
    n = np.array([TRAINED.check(cells) for cells in _pair(trained or (height, width))])
    return log_distance(8 * distances / np.maximum(n - 1, 1)) / math.log(8)


def _window(height: int, width: int) -> tuple[int, int]:
    h, w = WINDOW_HEIGHT.check(height), WINDOW_WIDTH.check(width)
    if h * w > MOST_CELLS:
        raise ValueError(f"a window must have at most {MOST_CELLS:,} cells, got height {h} and width {w}")
    return h, w


def _pair(trained: object) -> Sequence[object]:
    if isinstance(trained, (tuple, list)) and len(trained) == 2:
        return trained
    raise ValueError(f"trained must be two integers (height, width), got {shown(trained)}")
