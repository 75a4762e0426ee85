"""Learned position tables at another size: resampled along their positions, or over a grid of cells.

The wanted size is given, never the ratio of two sizes: ⌊14 · (61/14)⌋ is 60 in floating point.

Position o of n_out reads the table at the coordinate x, and takes the rows i around it by a kernel K:

    x = (o + ½) · n_in/n_out − ½          half a row in from both edges, as between pixels
    x = o · (n_in − 1)/(n_out − 1)        from the first row to the last (`align_corners`)

    row o = Σ_i K(i − x) · table[i]       where i is past an edge, the row at the edge

    linear    K(t) = 1 − |t|                                  for |t| ≤ 1
    cubic     K(t) = (a + 2)|t|³ − (a + 3)|t|² + 1            for |t| ≤ 1
              K(t) = a · (|t|³ − 5|t|² + 8|t| − 4)            for 1 < |t| ≤ 2

A table made smaller in this way leaves rows out. With `antialias` the kernel is s = max(n_in/n_out, 1) times
as wide, K((i − x)/s), and the weights of the rows inside the table are divided by their sum.

Sources: Keys 1981, "Cubic Convolution Interpolation for Digital Image Processing",
https://doi.org/10.1109/TASSP.1981.1163711; PyTorch, `torch.nn.functional.interpolate`.
"""

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_table
from posenc.parameters import HEIGHT, SEQ_LEN, WIDTH, Choice, Integer, Real, shown

METHOD: Choice[str] = Choice("method", ("linear", "cubic"))
GRID_METHOD: Choice[str] = Choice("method", ("bicubic", "bilinear"))
SHARPNESS = Real("a", default=-0.75, minimum=-3.0, maximum=0.0)
PREFIX = Integer("prefix", default=0, minimum=0, maximum=1024)
_N_IN, _N_OUT = replace(SEQ_LEN, name="n_in"), replace(SEQ_LEN, name="n_out")
_REACH = {"linear": 1, "cubic": 2}


class Taps(NamedTuple):
    """What each output row is made of: which `rows` (n_out, taps), and their `weights` (n_out, taps)."""

    rows: NDArray[np.intp]
    weights: Floats


class SquareGrid(NamedTuple):
    """A square grid of side × side cells behind `prefix` rows that are no cells."""

    side: int
    prefix: int


def taps(
    n_in: int,
    n_out: int,
    *,
    method: str = METHOD.default,
    antialias: bool = False,
    align_corners: bool = False,
    a: float | None = None,
) -> Taps:
    """Return which rows, and how much of each, make a table of n_out rows out of one of n_in.

    Parameters
    ----------
    n_in, n_out
        Rows there are and rows wanted.
    method
        ``"linear"`` or ``"cubic"``.
    antialias
        Whether the kernel is widened where the table gets smaller.
    align_corners
        Whether the first and the last row stay what they are; not together with `antialias`.
    a
        Slope of the cubic kernel at 1, from −3 to 0. As in PyTorch it is −0.75 if it is not given, and −0.5
        with `antialias`, where PyTorch follows Pillow: so the two differ in a larger table, too.

    Returns
    -------
    Taps
        Weights sum to 1 in each row. Of equal sizes each row is itself.

    Raises
    ------
    ValueError
        For `antialias` with `align_corners`, or an argument outside its limits.
    """
    old, new, kind = _N_IN.check(n_in), _N_OUT.check(n_out), METHOD.check(method)
    slope = SHARPNESS.check((-0.5 if antialias else SHARPNESS.default) if a is None else a)
    if antialias and align_corners:
        raise ValueError("antialias must be false with align_corners, got both")
    x = _coordinates(old, new, align_corners)
    stretch = max(old / new, 1.0) if antialias else 1.0
    reach = _REACH[kind] * stretch
    i = np.floor(x - reach).astype(np.intp)[:, np.newaxis] + 1 + np.arange(math.ceil(2 * reach))
    weights = _kernel(np.abs(i - x[:, np.newaxis]) / stretch, kind, slope)
    if antialias:
        weights *= (i >= 0) & (i < old)
        weights /= weights.sum(axis=1, keepdims=True)
    return Taps(i.clip(0, old - 1), weights)


def resize(
    table: ArrayLike,
    seq_len: int,
    *,
    method: str = METHOD.default,
    antialias: bool = False,
    align_corners: bool = False,
    a: float | None = None,
) -> Floats:
    """Return a table of positions stretched or squeezed to `seq_len` of them.

    Parameters
    ----------
    table
        (n, d).
    seq_len
        Rows wanted.
    method, antialias, align_corners, a
        As in `taps`.

    Returns
    -------
    (seq_len, d) float64

    Raises
    ------
    ValueError
        For an argument outside its limits.
    """
    rows, wanted = check_table("table", table), SEQ_LEN.check(seq_len)
    made_of = taps(len(rows), wanted, method=method, antialias=antialias, align_corners=align_corners, a=a)
    return _resample(rows, made_of)


def resize_grid(
    table: ArrayLike,
    old: tuple[int, int],
    new: tuple[int, int],
    *,
    prefix: int = PREFIX.default,
    method: str = GRID_METHOD.default,
    antialias: bool = False,
    a: float | None = None,
) -> Floats:
    """Return the table of a grid of cells for a grid of another size, as vision transformers resize theirs.

    Rows of the grid are resampled, then its columns: the kernel is separable.

    Parameters
    ----------
    table
        (prefix + height·width, d), the cells row-major.
    old, new
        (height, width) of the grid that there is and of the one wanted.
    prefix
        Rows before the cells that are copied: class token, registers.
    method
        ``"bicubic"`` or ``"bilinear"``.
    antialias, a
        As in `taps`.

    Returns
    -------
    (prefix + new height·width, d) float64

    Raises
    ------
    ValueError
        If the table has another number of rows, or for an argument outside its limits.

    References
    ----------
    Dosovitskiy et al. 2021, "An Image is Worth 16×16 Words", section 3.2, https://arxiv.org/abs/2010.11929;
    timm, `resample_abs_pos_embed`; transformers, `ViTEmbeddings.interpolate_pos_encoding`
    """
    rows, extra = check_table("table", table), PREFIX.check(prefix)
    (height, width), wanted = _size("old", old), _size("new", new)
    if len(rows) != extra + height * width:
        raise ValueError(
            f"table must have prefix + height·width = {extra + height * width} rows, got {len(rows)}"
        )
    kind = GRID_METHOD.check(method).removeprefix("bi")
    down, across = (
        taps(n_in, n_out, method=kind, antialias=antialias, a=a)
        for n_in, n_out in zip((height, width), wanted, strict=True)
    )
    cells = _resample(rows[extra:].reshape(height, width, -1), down)  # (new height, width, d)
    cells = _resample(cells.swapaxes(0, 1), across).swapaxes(0, 1)  # (new height, new width, d)
    return np.concatenate([rows[:extra], cells.reshape(-1, rows.shape[1])])


def square_grid(n_rows: int) -> SquareGrid:
    """Say which square grid a table of so many rows is for, with a class token or without.

    n = side², or side² + 1 with a class token. By the whole square root: that 196 rows can be divided by 14
    and 195 by 13 says nothing.

    Parameters
    ----------
    n_rows
        Rows of the table.

    Raises
    ------
    ValueError
        For other numbers of rows: the height and the width, and the rows before the grid, must then be known.

    Examples
    --------
    >>> square_grid(197)
    SquareGrid(side=14, prefix=1)
    """
    n = replace(SEQ_LEN, name="n_rows").check(n_rows)
    side = math.isqrt(n)
    if n - side**2 > 1:
        raise ValueError(f"n_rows must be a square number or one more, got {n}: say height, width and prefix")
    return SquareGrid(side, n - side**2)


def _coordinates(n_in: int, n_out: int, align_corners: bool) -> Floats:
    """Return where each output row reads the input."""
    o = np.arange(float(n_out))
    if align_corners:
        return o * (n_in - 1) / max(n_out - 1, 1)
    return (o + 0.5) * n_in / n_out - 0.5


def _kernel(t: Floats, method: str, a: float) -> Floats:
    """Return K(t) for t ≥ 0."""
    if method == "linear":
        return np.maximum(1 - t, 0.0)
    near = ((a + 2) * t - (a + 3)) * t**2 + 1
    far = a * (((t - 5) * t + 8) * t - 4)
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def _resample(values: Floats, made_of: Taps) -> Floats:
    """Return the weighted sums of the first axis of (n_in, …)."""
    total = np.zeros((len(made_of.rows), *values.shape[1:]))
    for rows, weights in zip(made_of.rows.T, made_of.weights.T, strict=True):  # tap after tap, to be small
        total += weights.reshape(-1, *(1,) * (values.ndim - 1)) * values[rows]
    return total


def _size(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ValueError(f"{name} must be two integers (height, width), got {shown(value)}")
    height, width = value
    return (
        replace(HEIGHT, name=f"{name} height").check(height),
        replace(WIDTH, name=f"{name} width").check(width),
    )
