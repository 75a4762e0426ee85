"""Positions on a grid: sinusoids of two, three or more coordinates, Fourier features, and what they keep.

A cell has one coordinate on each axis: (y, x) in an image, (t, y, x) in a video. Each axis fills its share of
the columns with the sinusoid of its coordinate, and the shares stand side by side:

    PE(y, x) = [ s(x, d/2) | s(y, d/2) ]        s(c, w) = `posenc.sinusoidal.sinusoidal` at c, of width w

The tables of the libraries are this one with other coordinates, shares, axes and layouts (`GRID_FORMS`). Seen
without the order of its columns, each is a set of wave vectors k_i in radians per cell,

    sin(k_i · c), cos(k_i · c)                  and PE(c) · PE(c′) = Σ_i cos(k_i · (c − c′)),

where an axial table has vectors along the axes only (`axial_vectors`), a row-major count of the cells has all
along one direction (`flat_vectors`), and mixed ones may point anywhere (`mixed_vectors`).

Letters: d = `d_model` columns, m pairs (wave vectors), a axes, c the coordinates of a cell. Cells are
row-major: cell (y, x) of H × W is row y·W + x of a table, which is ``table.reshape(H * W, d)``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from posenc.arrays import Floats, check_array, check_finite
from posenc.offsets import of_dots
from posenc.parameters import (
    ANGLE,
    BASE,
    D_MODEL,
    FREQ_SHIFT,
    GRID_LAYOUT,
    MAX_RES,
    N_BANDS,
    SEQ_LEN,
    SPACING,
    check_dtype,
    shown,
)
from posenc.similarity import MEASURE
from posenc.sinusoidal import inv_freq, sinusoidal

Table = NDArray[np.floating]
Shape = Sequence[int]

# What the code of DETR adds to the last coordinate before it divides by it, which is 0 where all is padding.
EPSILON = 1e-6
# Pairs, and turns, worked on at once, so that the work on a large grid stays small beside its result.
_CHUNK_PAIRS, _CHUNK_TURNS = 256, 1 << 16


def grid_cells(
    shape: Shape, *, first: float | Sequence[float] = 0.0, step: float | Sequence[float] = 1.0
) -> Floats:
    """Return the coordinates of every cell of a grid: ``first + step · index`` on each axis.

    Parameters
    ----------
    shape
        Number of cells on each axis: (H, W), or (T, H, W).
    first, step
        Coordinate of the first cell and distance of two neighbours, one number for all axes or one for each.

    Returns
    -------
    (*shape, a) float64
        ``grid_cells((H, W))[y, x]`` is (y, x).

    Raises
    ------
    ValueError
        For a shape that is not made of positive integers, or of more than ten million cells.

    Examples
    --------
    >>> grid_cells((2, 3))[1].tolist()
    [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    """
    index = np.moveaxis(np.indices(check_shape(shape)), 0, -1)
    return np.asarray(check_array("first", first) + check_array("step", step) * index)


def valid_counts(mask: ArrayLike) -> Floats:
    """Return the coordinates of a grid in which some cells are padding: the valid ones are counted, from 1.

    The coordinate on an axis is the number of valid cells up to and with this one along that axis, as in
    DETR, where images of several sizes share one grid.

    Parameters
    ----------
    mask
        Of the grid's shape, true (1) where a cell is valid and false (0) where it is padding.

    Returns
    -------
    (*mask.shape, a) float64

    Raises
    ------
    ValueError
        For a mask that is empty, or holds anything but true and false.

    References
    ----------
    Carion et al. 2020, "End-to-End Object Detection with Transformers", https://arxiv.org/abs/2005.12872
    """
    valid = np.asarray(mask)
    if valid.ndim == 0 or valid.size == 0 or not np.isin(valid, (0, 1)).all():
        raise ValueError(f"mask must hold true or false for each cell of a grid, got {shown(mask)}")
    counts = [valid.cumsum(axis=axis, dtype=np.float64) for axis in range(valid.ndim)]
    return np.stack(counts, axis=-1)


def normalised_cells(coordinates: ArrayLike, *, scale: float = 2 * math.pi) -> Floats:
    """Stretch the coordinates of a grid so that the last cell of each row and column stands at `scale`.

    c ← c / (c_last + 1e-6) · scale, with c_last the coordinate of the last cell on the same line of the axis.
    Afterwards a cell's code depends on where it is in the image, and not on how many cells there are.

    Parameters
    ----------
    coordinates
        (*shape, a), such as those of ``grid_cells(shape, first=1)`` or `valid_counts`.
    scale
        2π in DETR: the fastest wave then turns once over the image.

    Returns
    -------
    (*shape, a) float64

    References
    ----------
    Carion et al. 2020, as in `valid_counts`; the 1e-6 is in its code only.
    """
    given = _check_coordinates(coordinates)
    stretched = [
        given[..., axis] / (np.take(given[..., axis], [-1], axis=axis) + EPSILON) * scale
        for axis in range(given.shape[-1])
    ]
    return np.stack(stretched, axis=-1)


def split_width(d_model: int, shares: Sequence[int]) -> tuple[int, ...]:
    """Split the width of a table among its axes: an even number of columns each, in these proportions.

    Parameters
    ----------
    d_model
        Number of columns of the table.
    shares
        (1, 1) for half and half, (2, 3, 3) for 2/8, 3/8 and 3/8.

    Raises
    ------
    ValueError
        If that is not possible, with the number that must divide `d_model`: 4 for two equal shares.

    Examples
    --------
    >>> split_width(32, (2, 3, 3))
    (8, 12, 12)
    """
    d_model, whole = D_MODEL.check(d_model), sum(shares)
    unit = math.lcm(*(2 * whole // math.gcd(2 * whole, part) for part in shares))
    if d_model % unit:
        raise ValueError(
            f"d_model must be a multiple of {unit}, so that each axis has whole pairs of sine and cosine, "
            f"got {d_model}"
        )
    return tuple(d_model * part // whole for part in shares)


def grid_sinusoidal(
    coordinates: ArrayLike,
    widths: Sequence[int],
    *,
    axes: Sequence[int] | None = None,
    base: float = BASE.default,
    freq_shift: int = FREQ_SHIFT.default,
    grid_layout: str = GRID_LAYOUT.default,
    dtype: DTypeLike = np.float32,
) -> Table:
    """Return the sinusoidal table of a grid: the code of every cell, whatever its coordinates.

    Part j of the columns is the sinusoid of coordinate ``axes[j]``, `widths[j]` columns wide:
    ``sinusoidal(c[axes[j]], widths[j])``, with the rates ω_i = base^(−2i/widths[j]) of its own width.

    Parameters
    ----------
    coordinates
        (…, a) coordinates of the cells: `grid_cells`, or any other.
    widths
        Columns of each part; `split_width` splits a width evenly. An odd one has one more sine.
    axes
        The axis of each part; without it, one part an axis in their order. (1, 0) puts x first in an image.
    base, freq_shift
        As in `posenc.sinusoidal`: 10000 and 0 in most, as for text.
    grid_layout
        ``"sin_cos"``, ``"interleaved"`` and ``"cos_sin"`` are those of `posenc.sinusoidal`, within each part;
        ``"sines_first"`` puts the sines of all parts before the cosines of all parts.
    dtype
        float16, float32 or float64 of the result; the values are computed in float64 and rounded once.

    Returns
    -------
    (…, sum(widths)) array of `dtype`

    Raises
    ------
    ValueError
        For an argument outside its limits, in one sentence that names it.

    References
    ----------
    Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", appendix D.4 (half of the width an axis),
    https://arxiv.org/abs/2010.11929; He et al. 2022, "Masked Autoencoders Are Scalable Vision Learners",
    https://arxiv.org/abs/2111.06377; Carion et al. 2020, as in `valid_counts`.

    Examples
    --------
    >>> grid_sinusoidal(grid_cells((1, 2)), (2, 2), axes=(1, 0), dtype="float64").round(4)
    array([[[0.    , 1.    , 0.    , 1.    ],
            [0.8415, 0.5403, 0.    , 1.    ]]])
    """
    given, grid_layout, wanted = (
        _check_coordinates(coordinates),
        GRID_LAYOUT.check(grid_layout),
        check_dtype(dtype),
    )
    joined = grid_layout == "sines_first"
    parts = [
        sinusoidal(
            given[..., axis].ravel(),
            width,
            base=base,
            freq_shift=freq_shift,
            layout="sin_cos" if joined else grid_layout,
            dtype=wanted,
        )
        for axis, width in _parts(given.shape[-1], widths, axes)
    ]
    if joined:
        sines = [part[:, : (part.shape[1] + 1) // 2] for part in parts]
        cosines = [part[:, (part.shape[1] + 1) // 2 :] for part in parts]
        parts = sines + cosines
    table = np.concatenate(parts, axis=1)  # (cells, sum(widths))
    return table.reshape(*given.shape[:-1], table.shape[1])


@dataclass(frozen=True)
class GridForm:
    """A grid's table as a library or a model builds it: the parameters of `grid_sinusoidal`.

    Parameters
    ----------
    axes, grid_layout, freq_shift
        As in `grid_sinusoidal`.
    shares
        Proportions of the width, in the order of `axes`, as in `split_width`.
    first
        Coordinate of the first cell.
    scale
        Of `normalised_cells`, or None where the cells keep their numbers.
    source
        Where that can be read.
    """

    axes: tuple[int, ...]
    grid_layout: str
    shares: tuple[int, ...]
    source: str
    freq_shift: int = 0
    first: float = 0.0
    scale: float | None = None

    def coordinates(self, shape: Shape) -> Floats:
        """Return the coordinates of every cell, (*shape, a)."""
        places = grid_cells(self._check(shape), first=self.first)
        return places if self.scale is None else normalised_cells(places, scale=self.scale)

    def table(
        self, shape: Shape, d_model: int, *, base: float = BASE.default, dtype: DTypeLike = np.float32
    ) -> Table:
        """Return the code of every cell, (*shape, d_model)."""
        return grid_sinusoidal(
            self.coordinates(shape),
            split_width(d_model, self.shares),
            axes=self.axes,
            base=base,
            freq_shift=self.freq_shift,
            grid_layout=self.grid_layout,
            dtype=dtype,
        )

    def vectors(self, shape: Shape, d_model: int, *, base: float = BASE.default) -> Floats:
        """Return the wave vectors of the table in radians per cell, (a, d_model/2)."""
        vectors = axial_vectors(
            split_width(d_model, self.shares), axes=self.axes, base=base, freq_shift=self.freq_shift
        )
        if self.scale is None:
            return vectors
        last = self.first + np.array(self._check(shape)) - 1  # coordinate of the last cell of each axis
        return vectors * (self.scale / (last + EPSILON))[:, np.newaxis]

    def _check(self, shape: Shape) -> tuple[int, ...]:
        if len(checked := check_shape(shape)) != len(self.axes):
            raise ValueError(f"shape must have {len(self.axes)} axes for this form, got {shown(shape)}")
        return checked


GRID_FORMS: Mapping[str, GridForm] = MappingProxyType(
    {
        # Masked autoencoders, DiT and diffusers: x, the column of the image, comes first.
        "mae": GridForm(
            (1, 0), "sin_cos", (1, 1), "https://github.com/facebookresearch/mae/blob/main/util/pos_embed.py"
        ),
        # The function that AIMv2, Florence-2 and RT-DETR share in transformers: y comes first.
        "aimv2": GridForm(
            (0, 1),
            "sin_cos",
            (1, 1),
            "https://github.com/huggingface/transformers/blob/main/src/transformers/models/vit_mae/modeling_vit_mae.py",
        ),
        # Plain ViT baselines (Beyer et al. 2022), SimpleViT: as MAE, with the rates of tensor2tensor.
        "big_vision": GridForm(
            (1, 0),
            "sin_cos",
            (1, 1),
            "https://github.com/google-research/big_vision/blob/main/big_vision/models/vit.py",
            freq_shift=1,
        ),
        "timm": GridForm(
            (0, 1),
            "sines_first",
            (1, 1),
            "https://github.com/huggingface/pytorch-image-models/blob/main/timm/layers/pos_embed_sincos.py",
        ),
        "detr": GridForm(
            (0, 1),
            "interleaved",
            (1, 1),
            "https://github.com/facebookresearch/detr/blob/main/models/position_encoding.py",
            first=1.0,
            scale=2 * math.pi,
        ),
        "positional_encodings": GridForm(
            (0, 1), "interleaved", (1, 1), "https://github.com/tatp22/multidim-positional-encoding"
        ),
        # Video, axes (t, y, x): a quarter of the width for time, then x and y.
        "cogvideox": GridForm(
            (0, 2, 1),
            "sin_cos",
            (2, 3, 3),
            "https://github.com/huggingface/diffusers/blob/main/src/diffusers/models/embeddings.py",
        ),
    }
)


def axial_vectors(
    widths: Sequence[int],
    *,
    axes: Sequence[int] | None = None,
    base: float = BASE.default,
    freq_shift: int = FREQ_SHIFT.default,
) -> Floats:
    """Return the wave vectors of `grid_sinusoidal`: each along one axis.

    Parameters
    ----------
    widths, axes, base, freq_shift
        As in `grid_sinusoidal`, the widths even, so that every sine has its cosine.

    Returns
    -------
    (a, m) float64, radians per cell
        Column i is k_i; m is half the sum of the widths.
    """
    odd = [width for width in widths if D_MODEL.check(width) % 2]
    if odd:
        raise ValueError(f"widths must be even, so that every sine has its cosine, got {odd[0]}")
    parts = _parts(len(widths) if axes is None else max(axes) + 1, widths, axes)
    rates = [inv_freq(width, base=base, freq_shift=freq_shift) for _, width in parts]
    vectors = np.zeros((max(axis for axis, _ in parts) + 1, sum(map(len, rates))))
    ends = np.cumsum([len(some) for some in rates])
    for (axis, _), some, end in zip(parts, rates, ends, strict=True):
        vectors[axis, end - len(some) : end] = some
    return vectors


def flat_vectors(shape: Shape, d_model: int, *, base: float = BASE.default) -> Floats:
    """Return the wave vectors of the one-dimensional table over a row-major count of the cells.

    Cell (y, x) has the number y·W + x, so the rate ω_i becomes the vector (W·ω_i, ω_i): the cell one row
    below is as far away as the one W columns to the right.

    Parameters
    ----------
    shape
        As in `grid_cells`; that of all axes but the first decides.
    d_model, base
        As in `posenc.sinusoidal`; of an odd width the complete pairs count.

    Returns
    -------
    (a, m) float64, radians per cell
    """
    rates = inv_freq(d_model, base=base)[: d_model // 2]
    strides = np.cumprod((1, *check_shape(shape)[:0:-1]))[::-1]  # how far one step on an axis is: (W, 1)
    return np.multiply.outer(strides.astype(np.float64), rates)


def mixed_vectors(d_model: int, angle: float, *, base: float = BASE.default) -> Floats:
    """Return the wave vectors of an axial table of an image with all of them turned by an angle φ.

    ω_j·(cos φ, sin φ) and, at a right angle to it, ω_j·(−sin φ, cos φ), with ω_j = base^(−4j/d_model). So
    each head of a mixed rotary encoding starts, every one with an angle of its own; the model learns on.

    Parameters
    ----------
    d_model
        A multiple of 4.
    angle
        φ in radians; 0 is the axial table.
    base
        10 in the code of the paper, since images have few cells on an axis.

    Returns
    -------
    (2, d_model/2) float64, radians per cell

    References
    ----------
    Heo et al. 2024, "Rotary Position Embedding for Vision Transformer", section 3.2 (RoPE-Mixed),
    https://arxiv.org/abs/2403.13298; the start in https://github.com/naver-ai/rope-vit
    """
    cos, sin = math.cos(ANGLE.check(angle)), math.sin(angle)
    turn = np.array([[cos, -sin], [sin, cos]])
    return np.asarray(turn @ axial_vectors(split_width(d_model, (1, 1)), base=base))


def cell_similarity(
    vectors: ArrayLike, shape: Shape, cell: Shape, *, measure: str = MEASURE.default
) -> Floats:
    """Return how alike the code of one cell and that of every cell are.

    PE(c)·PE(c′) = Σ_i cos(k_i·(c − c′)), from which `posenc.similarity` makes cosine (over m) and distance
    (√(2m − 2·PE(c)·PE(c′))). Computed as a product of matrices, an axis each; no table is made.

    Parameters
    ----------
    vectors
        (a, m) wave vectors in radians per cell: `axial_vectors`, `flat_vectors`, `mixed_vectors`,
        ``GRID_FORMS[…].vectors(…)``, or any other.
    shape
        Of the grid, a axes.
    cell
        Index of the cell, (y, x).
    measure
        ``"cosine"``, ``"dot"`` or ``"distance"``.

    Returns
    -------
    (*shape) float64

    Raises
    ------
    ValueError
        For vectors that do not fit the grid, or a cell outside of it.
    """
    measure = MEASURE.check(measure)
    dots = wave_sum(vectors, shape, cell)
    return of_dots(measure, dots, np.shape(vectors)[1])


def wave_sum(
    vectors: ArrayLike, shape: Shape, cell: Shape, weights: NDArray[np.complexfloating] | None = None
) -> Floats:
    """Return Re Σ_i w_i · exp(i·k_i·(c′ − c)) from one cell c to every cell c′.

    With weights 1 that is PE(c)·PE(c′). With w_i = conj(q_i)·k_i, of a query and a key whose pairs are read
    as complex numbers, it is the score of axial or mixed rotary embedding, the query at c and the key at c′.

    Parameters
    ----------
    vectors, shape, cell
        As in `cell_similarity`.
    weights
        (m,) complex; 1 if they are not given.

    Returns
    -------
    (*shape) float64

    Raises
    ------
    ValueError
        As in `cell_similarity`, and for weights of another shape.
    """
    sizes, waves = check_shape(shape), check_array("vectors", vectors)
    if waves.ndim != 2 or waves.shape[0] != len(sizes) or waves.shape[1] == 0:
        raise ValueError(
            f"vectors must have a row for each of the {len(sizes)} axes, got shape {waves.shape}"
        )
    here, n_pairs = check_cell(cell, sizes), waves.shape[1]
    given = np.ones(n_pairs) if weights is None else np.asarray(weights)
    if given.shape != (n_pairs,):
        raise ValueError(f"weights must have shape ({n_pairs},), one for each vector, got {given.shape}")
    if (np.count_nonzero(waves, axis=0) == 1).all():
        return _axial_sum(waves, sizes, here, given)
    total = np.zeros((math.prod(sizes[:-1]), sizes[-1]))
    for start in range(0, n_pairs, _CHUNK_PAIRS):
        some = slice(start, start + _CHUNK_PAIRS)
        turns = [
            np.exp(1j * np.multiply.outer(np.arange(n) - p, k[some]))
            for n, p, k in zip(sizes, here, waves, strict=True)
        ]
        before = given[np.newaxis, some]
        for turn in turns[:-1]:  # (n, m) for each axis
            before = (before[:, np.newaxis] * turn).reshape(-1, turn.shape[1])
        total += before.real @ turns[-1].real.T - before.imag @ turns[-1].imag.T
    return total.reshape(sizes)


def _axial_sum(waves: Floats, sizes: Shape, here: Shape, weights: NDArray[Any]) -> Floats:
    """Return `wave_sum` of vectors along the axes: a term for each axis, of its coordinate alone."""
    together = max(1, _CHUNK_TURNS // waves.shape[1])
    total = np.zeros((1,) * len(sizes))
    for axis, (n, p, k) in enumerate(zip(sizes, here, waves, strict=True)):
        along = k != 0
        term = np.zeros(n)
        for start in range(0, n, together):
            places = np.arange(start, min(start + together, n)) - p
            turns = np.exp(1j * np.multiply.outer(places, k[along]))
            term[start : start + together] = (turns @ weights[along]).real
        total = total + term.reshape([n if at == axis else 1 for at in range(len(sizes))])
    return total


def misread_cells(shape: Shape) -> NDArray[np.intp]:
    """Say whose code each cell gets when height and width of an image are swapped.

    The table is made for W × H cells, and its row y·W + x is taken for cell (y, x): it holds the code of the
    cell (y′, x′) with x′·H + y′ = y·W + x. In a square image that is the transposed cell, and nothing looks
    wrong: so MoCo v3 and RT-DETR built theirs, ``meshgrid(x, y, indexing="ij")``, for square images.

    Parameters
    ----------
    shape
        (H, W).

    Returns
    -------
    (H, W, 2) integers
        (y′, x′) for each (y, x), both within H × W.
    """
    height, width = check_shape(shape)
    x, y = np.divmod(np.arange(height * width).reshape(height, width), height)
    return np.stack([y, x], axis=-1)


def fourier_bands(n_bands: int, max_res: float, *, spacing: str = SPACING.default) -> Floats:
    """Return the rates of Fourier features for coordinates from −1 to 1.

    π·2^e with e evenly from 0 to log2(max_res) − 1 (``"log"``), or π·f with f evenly from 1 to max_res/2
    (``"linear"``): the slowest makes one turn over the axis, the fastest half a turn in each of `max_res`
    pixels, which is as fast a wave as that many pixels can show.

    Parameters
    ----------
    n_bands
        How many.
    max_res
        Pixels on the axis that the fastest band still resolves.
    spacing
        ``"log"`` or ``"linear"``.

    Returns
    -------
    (n_bands,) float64, radians per unit of the coordinate

    References
    ----------
    Jaegle et al. 2021, "Perceiver: General Perception with Iterative Attention", section 3.2,
    https://arxiv.org/abs/2103.03206
    """
    n_bands, max_res = N_BANDS.check(n_bands), MAX_RES.check(max_res)
    if SPACING.check(spacing) == "log":
        return np.pi * 2 ** np.linspace(0, math.log2(max_res) - 1, n_bands)
    return np.pi * np.linspace(1, max_res / 2, n_bands)


def fourier_features(coordinates: ArrayLike, rates: ArrayLike) -> tuple[Floats, Floats]:
    """Return sine and cosine of every coordinate times every rate.

    γ(c) = (sin(c·r_j), cos(c·r_j)), axis by axis; where features of a linear map B·c are wanted, as in Tancik
    et al., B·c are the coordinates, and one rate of 2π is enough.

    Parameters
    ----------
    coordinates
        (…, a): in Perceiver ``np.linspace(-1, 1, n)`` on each axis, which is
        ``grid_cells(shape, first=-1, step=2 / (n - 1))``.
    rates
        (n_bands,) radians per unit of the coordinate, such as `fourier_bands`.

    Returns
    -------
    sine, cosine : (…, a, n_bands) float64

    References
    ----------
    Tancik et al. 2020, "Fourier Features Let Networks Learn High Frequency Functions in Low Dimensional
    Domains", https://arxiv.org/abs/2006.10739; Jaegle et al. 2021, as in `fourier_bands`.
    """
    bands = check_finite("rates", check_array("rates", rates))
    if bands.ndim != 1 or bands.size == 0:
        raise ValueError(f"rates must have one axis and not be empty, got shape {bands.shape}")
    angles = _check_coordinates(coordinates)[..., np.newaxis] * bands
    return np.sin(angles), np.cos(angles)


def check_shape(shape: object) -> tuple[int, ...]:
    """Return the shape of a grid: positive integers, in all no more than ten million cells."""
    sizes = tuple(shape) if isinstance(shape, Sequence) and not isinstance(shape, str) else ()
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes)
    if not sizes or not whole or min(sizes) < 1 or math.prod(map(int, sizes)) > SEQ_LEN.maximum:
        raise ValueError(
            f"shape must be positive integers, an axis each, of at most {SEQ_LEN.maximum} cells in all, "
            f"got {shown(shape)}"
        )
    return tuple(map(int, sizes))


def check_cell(cell: object, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the index of a cell of this grid."""
    place = tuple(cell) if isinstance(cell, Sequence) and not isinstance(cell, str) else ()
    whole = all(isinstance(p, (int, np.integer)) and not isinstance(p, bool) for p in place)
    if (
        len(place) != len(shape)
        or not whole
        or not all(0 <= p < n for p, n in zip(place, shape, strict=True))
    ):
        raise ValueError(
            f"cell must be an index from 0 on into each axis of the grid {shape}, got {shown(cell)}"
        )
    return tuple(map(int, place))


def _check_coordinates(coordinates: ArrayLike) -> Floats:
    given = check_array("coordinates", coordinates)
    if given.ndim == 0 or given.size == 0:
        raise ValueError(f"coordinates must have shape (…, axes), nothing empty, got {given.shape}")
    return check_finite("coordinates", given)


def _parts(n_axes: int, widths: Sequence[int], axes: Sequence[int] | None) -> list[tuple[int, int]]:
    """Return axis and width of each part of the columns."""
    order = tuple(range(n_axes)) if axes is None else tuple(axes)
    if len(order) != len(widths) or not all(0 <= axis < n_axes for axis in order):
        raise ValueError(
            f"axes and widths must name one of the {n_axes} axes and its number of columns for each part, "
            f"got axes {shown(axes)} and widths {shown(widths)}"
        )
    return list(zip(order, (D_MODEL.check(width) for width in widths), strict=True))
