"""Tables of the cells of a grid: a part of the columns follows x only, the other y only.

Taken alone, each part is a sinusoidal table over one axis and is read as one (`posenc.naming.sinusoid`).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posenc.naming.scattered import read_scattered
from posenc.naming.sinusoid import Reading, following, read_sinusoid

Floats = NDArray[np.float64]

# So much of the power of a column may depend on the other axis: noise of 2 %.
_ALONE = 2e-3
_COLUMNS = 64
# A residual with which an axis is not believed.
REFUSED = 0.12


@dataclass(frozen=True)
class Grid:
    """A grid as it was read: `skipped` rows before the cells, and the axis that tells the base.

    `layout` as in `posenc.grid_sinusoidal`; `axes` (1, 0) where x comes first,
    (0, 2, 1) for a video.
    """

    shape: tuple[int, int]
    skipped: int
    axes: tuple[int, ...]
    layout: str
    leader: Reading
    nearest: Floats
    rows: NDArray[np.bool_]
    rest: float


def read_grid(values: Floats) -> Grid | None:
    """Read a table (n, d) as the row-major cells of a grid, with or without a class token before them."""
    best: Grid | None = None
    for skipped, (height, width) in _shapes(values):
        cells = values[skipped:].reshape(height, width, -1)
        across, down = _other(cells)
        for layout, first, second in _parts(values.shape[1]):
            for axes, (on_x, on_y) in (((1, 0), (first, second)), ((0, 1), (second, first))):
                total = float((cells**2).sum())
                if float(down[on_x].sum() + across[on_y].sum()) > _ALONE * total:
                    continue
                found = _read(values, skipped, cells, on_x, on_y, axes, layout)
                if found is not None and (best is None or found.rest < 0.5 * best.rest):
                    best = found
    return best


def read_video(values: Floats) -> Grid | None:
    """Read the cells of a video (t, y, x): a quarter of the columns follows t, the rest is a grid a frame."""
    n, d_model = values.shape
    quarter = d_model // 4
    if d_model % 16 or not (changes := np.flatnonzero(values[:, 0] != values[0, 0])).size:
        return None
    cells = int(changes[0])  # of one frame
    if cells < 4 or n % cells or n == cells:
        return None
    frames = values.reshape(n // cells, cells, d_model)
    inner = read_grid(np.ascontiguousarray(frames[0, :, quarter:]))
    if inner is None or inner.skipped:
        return None
    times = frames[:, 0, :quarter]
    time = _axis(times, _line(times), inner.leader)
    nearest = np.empty_like(frames)
    nearest[:, :, :quarter] = time.nearest[:, None]
    nearest[:, :, quarter:] = inner.nearest
    flat = nearest.reshape(n, d_model)
    rows, rest = following(values, flat)
    return replace(inner, axes=(0, *(axis + 1 for axis in inner.axes)), nearest=flat, rows=rows, rest=rest)


def _other(cells: Floats) -> tuple[Floats, Floats]:
    """Return how much of each column changes along x, and along y: (d,) each."""
    across = ((cells - cells.mean(axis=1, keepdims=True)) ** 2).sum(axis=(0, 1))
    down = ((cells - cells.mean(axis=0, keepdims=True)) ** 2).sum(axis=(0, 1))
    return across, down


def _shapes(values: Floats) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the heights and widths in which every column follows one axis, and rows to skip before."""
    zero = 0
    while zero < min(len(values), 8) and not values[zero].any():
        zero += 1
    some = values[:, np.unique(np.linspace(0, values.shape[1] - 1, _COLUMNS).astype(np.intp))]
    for skipped in dict.fromkeys((zero, 0, 1)):
        n = len(values) - skipped
        for width in range(2, n // 2 + 1):
            if n % width:
                continue
            cells = some[skipped:].reshape(n // width, width, -1)
            across, down = _other(cells)
            power = float((cells**2).sum())
            alone = float(np.minimum(across, down).sum()) <= _ALONE * power
            if alone and min(float(across.sum()), float(down.sum())) > 2 * _ALONE * power:
                yield skipped, (n // width, width)


def _parts(d_model: int) -> Iterator[tuple[str, NDArray[np.intp], NDArray[np.intp]]]:
    """Yield how the columns may be shared out between two axes: halves, blocks of sines, or four by four."""
    j = np.arange(d_model)
    for first in dict.fromkeys((d_model // 2, 2 * math.ceil(d_model / 4))):
        if 0 < first < d_model:
            yield "halves", j[:first], j[first:]
    if d_model % 4 == 0:
        quarter = d_model // 4
        yield "sines_first", j[j // quarter % 2 == 0], j[j // quarter % 2 == 1]
        yield "by_fours", j[j % 4 < 2], j[j % 4 >= 2]


def _read(
    values: Floats,
    skipped: int,
    cells: Floats,
    on_x: NDArray[np.intp],
    on_y: NDArray[np.intp],
    axes: tuple[int, int],
    layout: str,
) -> Grid | None:
    """Read both axes and lay the grid that they make beside the table."""
    height, width = cells.shape[:2]
    lines = cells[:, :, on_y].mean(axis=1), cells[:, :, on_x].mean(axis=0)  # (H, d_y), (W, d_x)
    read = [_line(line) for line in lines]
    # The wider part, and of two the longer axis, tells the base; the other is laid beside it.
    leader = max((each for each in read if each is not None), key=_says, default=None)
    if leader is None:
        return None
    both = tuple(_axis(line, own, leader) for line, own in zip(lines, read, strict=True))
    nearest = np.zeros_like(values)
    made = np.zeros_like(cells)
    made[:, :, on_y] = both[0].nearest[:, None]
    made[:, :, on_x] = both[1].nearest[None]
    nearest[skipped:] = made.reshape(height * width, -1)
    rows, rest = following(values[skipped:], nearest[skipped:])
    if layout == "halves":
        layout = leader.form.layout
    elif layout == "sines_first" and leader.form.layout != "sin_cos":
        layout = "cosines_first"
    rows = np.concatenate([~values[:skipped].any(axis=1), rows])
    return Grid((height, width), skipped, axes, layout, leader, nearest, rows, rest)


def _line(line: Floats) -> Reading | None:
    """Read one axis; cells far apart turn more than once between two of them."""
    found = read_sinusoid(line)
    if found is None or found.rest > REFUSED:
        found = read_scattered(line) or found
    return None if found is None or math.isnan(found.step) else found


def _says(reading: Reading) -> tuple[int, int]:
    return reading.nearest.shape[1], len(reading.nearest)


def _axis(line: Floats, own: Reading | None, leader: Reading) -> Reading:
    """Read one axis with the form of the leading one, where that is as near; its own start and step."""
    choices = []
    width = max(line.shape[1], leader.nearest.shape[1])  # positional_encodings cuts the last part off
    steps = {(leader.first, leader.step)}
    if math.isclose(leader.first, leader.step, rel_tol=1e-3):
        # Stretched to 2π over the axis, as in DETR.
        steps.add((math.tau / len(line), math.tau / len(line)))
    if own is not None:
        steps.add((own.first, own.step))
    for first, step in steps:
        positions = first + leader.sign * step * np.arange(float(len(line)))
        nearest = leader.scale * leader.form.table(positions, width)[:, : line.shape[1]]
        rows, rest = following(line, nearest)
        choices.append(
            replace(
                leader, first=first, step=step, positions=positions, nearest=nearest, rows=rows, rest=rest
            )
        )
    best = min(choices, key=lambda each: each.rest)
    return own if own is not None and own.rest < 0.2 * best.rest else best
