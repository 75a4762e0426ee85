"""Tables and features of grids with two or three axes."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc
from posenc import grid

Arguments = Mapping[str, Any]
Table = NDArray[np.floating]


def mae_builder(a: Arguments) -> Table:
    table = grid.GRID_FORMS["aimv2"].table(
        (a["height"], a["width"]), a.get("embed_dim", 256), base=a.get("temperature", 10_000), dtype=_dtype(a)
    )
    return _rows(table, int(a.get("cls_token", False)))


def vitmae_model(a: Arguments) -> Table:
    shape = a["grid"], a["grid"]
    return _rows(grid.GRID_FORMS["mae"].table(shape, a["hidden_size"], dtype=np.float64), n_extra=1)


def diffusers_2d(a: Arguments) -> Table:
    size, base_size, scale = _axes(a["grid_size"]), a.get("base_size", 16), a.get("interpolation_scale", 1.0)
    # Quirk: a grid is stretched to the one of base_size × base_size cells that the model was trained on.
    coordinates = grid.grid_cells(size, step=[base_size / (n * scale) for n in size])
    widths = grid.split_width(a["embed_dim"], (1, 1))
    table = grid.grid_sinusoidal(coordinates, widths, axes=(1, 0), dtype=np.float64)
    return _rows(table, a.get("extra_tokens", 0) if a.get("cls_token") else 0)


def diffusers_3d(a: Arguments) -> Table:
    width, height = _axes(a["spatial_size"])
    shape = a["temporal_size"], height, width
    spatial = a.get("spatial_interpolation_scale", 1.0)
    step = 1 / np.array([a.get("temporal_interpolation_scale", 1.0), spatial, spatial])
    widths = grid.split_width(a["embed_dim"], (2, 3, 3))
    table = grid.grid_sinusoidal(grid.grid_cells(shape, step=step), widths, axes=(0, 2, 1), dtype=np.float64)
    return table.reshape(shape[0], height * width, a["embed_dim"])


def detr_sine(a: Arguments) -> Table:
    mask, scale, n = a.get("mask"), a.get("scale"), a.get("num_position_features", 64)
    coordinates = grid.valid_counts(np.ones((a["height"], a["width"])) if mask is None else mask)
    if a.get("normalize"):
        coordinates = grid.normalised_cells(coordinates, scale=2 * math.pi if scale is None else scale)
    table = grid.grid_sinusoidal(
        coordinates, (n, n), base=a.get("temperature", 10_000), grid_layout="interleaved", dtype=_dtype(a)
    )
    return np.moveaxis(table, -1, 0)


def timm_sincos2d(a: Arguments) -> Table:
    # Quirk: with reverse_coord the rows run over the transposed grid.
    shape = a["feat_shape"][::-1] if a.get("reverse_coord") else a["feat_shape"]
    table = grid.grid_sinusoidal(
        grid.grid_cells(shape),
        grid.split_width(a.get("dim", 64), (1, 1)),
        base=a.get("temperature", 10_000),
        grid_layout="sin_cos" if a.get("interleave_sin_cos") else "sines_first",
        dtype=np.float64,
    )
    return _rows(table)


def timm_fourier(a: Arguments) -> Mapping[str, Table]:
    shape = a["feat_shape"]
    coordinates = grid.grid_cells(shape, first=-1, step=[2 / max(n - 1, 1) for n in shape])
    spacing = "linear" if a.get("linear_bands") else "log"
    bands = grid.fourier_bands(a.get("num_bands", 64), a.get("max_res", 224), spacing=spacing)
    sine, cosine = grid.fourier_features(coordinates, bands)
    return {"sin": sine, "cos": cosine}


def positional_encodings(a: Arguments) -> Table:
    shape, d_model = a["shape"], a["d_model"]
    # Quirk: any width is cut from that of the next multiple of twice the number of axes.
    width = 2 * math.ceil(d_model / (2 * len(shape)))
    table = grid.grid_sinusoidal(
        grid.grid_cells(shape), [width] * len(shape), grid_layout="interleaved", dtype=np.float64
    )
    return table[..., :d_model]


def _rows(table: Table, n_extra: int = 0) -> Table:
    """One row a cell, after rows of zeros for the tokens that stand nowhere in the image."""
    return np.pad(table.reshape(-1, table.shape[-1]), ((n_extra, 0), (0, 0)))


def _axes(size: int | list[int]) -> list[int]:
    return [size, size] if isinstance(size, int) else size


def _dtype(a: Arguments) -> str:
    return a["dtype"] if a.get("dtype") in posenc.parameters.FLOAT_DTYPES else "float64"


ADAPTERS: dict[str, Callable[[Arguments], Table | Mapping[str, Table]]] = {
    "grid.mae_builder": mae_builder,
    "grid.vitmae_model": vitmae_model,
    "grid.diffusers_2d": diffusers_2d,
    "grid.diffusers_3d": diffusers_3d,
    "grid.detr_sine": detr_sine,
    "grid.timm_sincos2d": timm_sincos2d,
    "grid.timm_fourier": timm_fourier,
    "grid.positional_encodings_2d": positional_encodings,
    "grid.positional_encodings_3d": positional_encodings,
}
