"""Learned position tables resized to another grid of cells."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc

Arguments = Mapping[str, Any]
Table = NDArray[np.floating]


def vit(a: Arguments, table: Table) -> Table:
    new = a["height"] // a["patch"], a["width"] // a["patch"]
    return posenc.resize_grid(table, (a["grid"], a["grid"]), new, prefix=1)


def timm(a: Arguments, table: Table) -> Table:
    old, new, prefix = a["old_size"], a["new_size"], a.get("num_prefix_tokens", 1)
    # Quirk: a square grid of as many cells as the table has is taken for the same grid.
    if new[0] == new[1] and new[0] * new[1] == old[0] * old[1]:
        return table
    return posenc.resize_grid(
        table,
        old,
        new,
        prefix=prefix,
        method=a.get("interpolation", "bicubic"),
        antialias=a.get("antialias", True),
    )


def timm_rel_bias(a: Arguments, table: Table) -> Table:
    # A window of n cells has 2n − 1 distances; rows of a class token stand behind them.
    n_distances = (2 * a["window"] - 1) ** 2
    old, new = [2 * a["window"] - 1] * 2, [2 * n - 1 for n in a["new_window"]]
    return np.concatenate([posenc.resize_grid(table[:n_distances], old, new), table[n_distances:]])


ADAPTERS: dict[str, Callable[..., Table]] = {
    "interp.vit": vit,
    "interp.timm": timm,
    "interp.timm_rel_bias": timm_rel_bias,
}
