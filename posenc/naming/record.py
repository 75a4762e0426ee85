"""The answer to what a table is, and how it is laid beside the table of which it speaks."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Identity:
    """What a table is and how sure that is; None stands for what is unknown or does not apply.

    Parameters
    ----------
    scheme
        ``"sinusoidal"``, ``"rotary_cache"``, ``"grid"``, ``"learned"``, ``"random"`` or ``"constant"``.
    confidence
        0 … 1: how sure the scheme and its parameters are.
    layout
        Of `posenc.sinusoidal`, of `posenc.grid_sinusoidal` (grid), or ``"half_split"`` and ``"adjacent"``
        (rotary cache: where the copy of a column stands).
    base, base_error
        The base and its standard error.
    freq_shift
        As in `posenc.inv_freq`.
    first_position
        Position of row 0.
    step
        Positions from one row to the next, 1 as a rule.
    sign
        −1 where the positions fall from row to row, which is the same as sines with the other sign.
    scale
        What a table of amplitude 1 was multiplied with.
    dtype
        ``"bfloat16"``, ``"float16"``, ``"float32"`` or ``"float64"``: the format that it was computed in.
    mistake
        Name of a known mistake: a key of `posenc.MISTAKES` or of
        `posenc.naming.answers.MORE_MISTAKES`.
    implementations
        Names of `posenc.IMPLEMENTATIONS` that make this table.
    grid
        Height and width of a grid.
    residual
        Root mean square of the table less the nearest, over that of the table.
    first_difference
        Row and column of the first cell that is not the nearest table's, beyond its rounding; None if there
        is none.
    odd_rows
        Rows that are zero, rescaled or overwritten where the rest follows the formula.
    next_best
        The answer that was second, in few words.
    nearest
        (n, d_model) float64, the nearest known table.
    measures
        Of what has no formula, those of `posenc.naming.noise.Order`.
    """

    scheme: str
    confidence: float = 0.0
    layout: str | None = None
    base: float | None = None
    base_error: float | None = None
    freq_shift: int | None = None
    first_position: float | None = None
    step: float | None = None
    sign: int | None = None
    scale: float | None = None
    dtype: str | None = None
    mistake: str | None = None
    implementations: tuple[str, ...] = ()
    grid: tuple[int, int] | None = None
    residual: float | None = None
    first_difference: tuple[int, int] | None = None
    odd_rows: tuple[int, ...] = ()
    next_best: str | None = None
    nearest: Floats | None = field(default=None, repr=False, compare=False)
    measures: Mapping[str, float] = field(default_factory=lambda: _NOTHING)


def relative(values: Floats, nearest: Floats, rows: NDArray[np.bool_] | None = None) -> float:
    """Root mean square of values − nearest over that of the values, of these rows or all."""
    some = slice(None) if rows is None else rows
    power = float(np.mean(values[some] ** 2)) if values[some].size else 0.0
    return float(np.sqrt(np.mean((values[some] - nearest[some]) ** 2) / power)) if power > 0 else np.inf


def beside(identity: Identity, values: Floats, nearest: Floats, rows: NDArray[np.bool_]) -> Identity:
    """Lay a table beside the nearest known one: residual and first cell that differs beyond rounding."""
    off = np.abs(values - nearest)
    typical = float(np.median(off[rows])) if rows.any() else 0.0
    size = float(np.abs(nearest).max(initial=0.0))
    far = np.argwhere(off > max(8 * typical, 1e-3 * size))
    first = (int(far[0, 0]), int(far[0, 1])) if len(far) else None
    return replace(
        identity,
        residual=relative(values, nearest),
        first_difference=first,
        odd_rows=tuple(np.flatnonzero(~rows).tolist()),
        nearest=nearest,
    )
