"""A heatmap as bytes: the message that the canvas in the browser draws from.

A little-endian uint32 (how many bytes of JSON follow), the JSON, then the arrays that it names in ``arrays``
as [name, type, count], one after the other. Cells are float32 where each is one value. Where blocks are
drawn, mean, least and greatest are 16-bit steps of one scale, value = scale[0] + scale[1]·step, rounded to
the nearest; 65535 stands for no value. Where all means lie midway between two values, they are not sent.
The size of a message depends on the number of cells alone.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posenc.blocks import Blocks, Cut
from posenc.figures.picture import Axis, Picture
from posenc.figures.style import colours

STEPS = 65534
EMPTY = 65535


@dataclass(frozen=True)
class Cells(Cut):
    """The blocks of a view as they are sent, rounded: a quarter of their size, so that they can be kept.

    A picture of them is the same message as one of the blocks.
    """

    planes: dict[str, NDArray[Any]]  # mean as float32; or steps of least, greatest, and the mean if need be
    scale: tuple[float, ...]  # none where each block is one value
    exact: bool


def pack(picture: Picture[Blocks | Cells], shape: tuple[int, int], **more: object) -> bytes:
    """Write a picture as bytes.

    Parameters
    ----------
    picture
        What to draw.
    shape
        Rows and columns of the whole matrix, of which the picture's blocks are a part.
    more
        Further entries of the JSON: the words of buttons, the key of the chart.

    Returns
    -------
    bytes
    """
    blocks = cells(picture.blocks)
    arrays = dict(blocks.planes)
    entries: dict[str, Any] = {"scale": blocks.scale} if blocks.scale else {}
    for name, axis, edges in (
        ("rows", picture.rows, blocks.rows),
        ("columns", picture.columns, blocks.columns),
    ):
        entries[name] = _axis(axis)
        arrays |= {f"{name}{k}": _at_ends(line.values, edges) for k, line in enumerate(axis.lines)}
    if picture.product:
        entries["product"], factors = picture.product
        arrays["factors"] = factors[blocks.columns[:-1]].astype(np.float64)
    view = [blocks.rows[0], blocks.rows[-1], blocks.columns[0], blocks.columns[-1]]
    head = {
        "shape": shape,
        "view": [int(end) for end in view],
        "each": [blocks.rows_each, blocks.columns_each],
        "cells": blocks.shape,
        "limits": picture.limits,
        "colours": colours(picture.sequential),
        "value": picture.value,
        "height": picture.height,
        "square": picture.square,
        "arrays": [(name, array.dtype.name, array.size) for name, array in arrays.items()],
    }
    text = json.dumps(head | entries | more, ensure_ascii=False).encode()
    little = (np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data for array in arrays.values())
    return b"".join([len(text).to_bytes(4, "little"), text, *little])


def cells(blocks: Blocks | Cells) -> Cells:
    """Round blocks as they are sent."""
    if isinstance(blocks, Cells):
        return blocks
    ends = blocks.rows, blocks.columns
    if blocks.single:
        return Cells(*ends, {"mean": blocks.mean.astype(np.float32)}, (), blocks.exact)
    low, high = float(np.fmin.reduce(blocks.minimum, None)), float(np.fmax.reduce(blocks.maximum, None))
    if np.isnan(low):  # no number at all
        low = high = 0.0
    step = (high - low) / STEPS or 1.0
    planes = {"least": blocks.minimum, "greatest": blocks.maximum}
    if not _midway(blocks, step):
        planes["mean"] = blocks.mean
    steps = {name: _steps(plane, low, step) for name, plane in planes.items()}
    return Cells(*ends, steps, (low, step), blocks.exact)


def _midway(blocks: Blocks, step: float) -> bool:
    """Say whether means lie midway between extremes: of two values they do, of their squares not."""
    if blocks.rows_each * blocks.columns_each > 2:
        return False
    off = blocks.mean - (blocks.minimum + blocks.maximum) / 2
    return bool(np.fmax.reduce(np.abs(off), None, initial=0.0) < step / 1000)


def _steps(plane: NDArray[np.float64], low: float, step: float) -> NDArray[np.uint16]:
    steps = plane - low
    steps /= step
    np.rint(steps, out=steps)
    steps[np.isnan(steps)] = EMPTY
    return steps.astype(np.uint16)


def _axis(axis: Axis) -> dict[str, Any]:
    lines = [{"name": line.name} | ({"words": line.words} if line.words else {}) for line in axis.lines]
    labels = {"labels": list(axis.labels)} if axis.labels else {}
    return {"title": axis.title, "name": axis.name, "first": axis.first, "lines": lines} | labels


def _at_ends(values: NDArray[Any], edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the value of the first and of the last row or column of each block, side by side."""
    return np.stack([values[edges[:-1]], values[edges[1:] - 1]], axis=1).astype(np.float64)
