"""From what was read in a table to the answer: names of mistakes and libraries, and how sure it is."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from posenc.learned import STD
from posenc.naming.bases import KNOWN
from posenc.naming.grid import Grid
from posenc.naming.known import grid_implementations, implementations, rotary_implementations
from posenc.naming.mistakes import Rounded
from posenc.naming.noise import order_of
from posenc.naming.record import Identity, beside
from posenc.naming.rotary import Cache
from posenc.naming.sinusoid import Reading

Floats = NDArray[np.float64]

# A residual that leaves no doubt about a formula, and one that leaves no belief in it.
CERTAIN, REFUSED = 0.03, 0.3
# What the recurrence of a wave leaves of a column, relatively: of a trained one it leaves far more.
_PURE, _SMOOTH = 1e-3, 0.2
# Mistakes beside those of `posenc.MISTAKES`, and what happened.
MORE_MISTAKES: Mapping[str, str] = MappingProxyType(
    {
        "doubled_exponent": "the exponent is twice what it should be: base 10000 has become its square",
        "position_scaled_twice": "the positions are divided or multiplied by the square of a whole factor",
        "transposed": "rows and columns are exchanged",
        "batch_axis": "the rows are repeated: the batch was taken for the sequence",
        "half_precision": "positions, rates or angles were computed in float16 or bfloat16",
        "rows_shuffled": "the rows are those of a sinusoidal table in another order",
        "random_init": "random numbers as a model is initialised with them, where a table should be",
        "full_width_rates": "the rates of a partial rotation are those of the whole head",
    }
)


def sinusoidal_answer(values: Floats, reading: Reading) -> Identity:
    """Say what was read over one axis."""
    form, base = reading.form, reading.base
    mistake = sinusoidal_mistake(values.shape[1], reading)
    names = implementations(
        values.shape,
        layout=form.layout,
        base=form.base,
        freq_shift=form.freq_shift,
        first=reading.first,
        step=reading.sign * reading.step,
        scale=reading.scale,
        zero_rows=tuple(np.flatnonzero(~values.any(axis=1)).tolist()),
        last_zero=form.last_zero,
        next_even=form.next_even,
    )
    identity = Identity(
        "sinusoidal",
        layout=form.layout,
        base=form.base if (base is not None and form.base > 1) or form.floored else None,
        base_error=None if base is None else form.base * base.error,
        freq_shift=form.freq_shift,
        first_position=reading.first,
        step=reading.step,
        sign=reading.sign,
        scale=reading.scale,
        dtype=reading.position_dtype,
        mistake=mistake,
        implementations=names if mistake in (None, "late_start", "half_minus_one") else (),
        next_best=_runner_up(reading),
        # Columns cut from a wider table look like positions that were scaled.
        confidence=_sure(values.shape, reading) * {"position_scaled_twice": 0.7}.get(mistake or "", 1.0),
    )
    return beside(identity, values, reading.nearest, reading.rows)


def sinusoidal_mistake(d_model: int, reading: Reading) -> str | None:
    """Name the known mistake that a reading is, or None."""
    form = reading.form
    single = reading.base is None and not form.floored
    if form.swapped:
        return "swapped"
    if form.floored:
        return "floored_log"
    if form.base == 1 and not single:
        return "integer_division"
    if reading.position_dtype is not None:
        return "half_precision"
    if form.base == 1e8 and form.freq_shift == 0:
        return "doubled_exponent"
    if reading.step != 1 and _square(max(reading.step, 1 / reading.step)):
        return "position_scaled_twice"
    if form.layout != "interleaved" or single:
        return None
    if form.freq_shift == 1 and d_model % 2 == 0:
        return "half_minus_one"
    return "late_start" if reading.first in (1, 2) and reading.sign == reading.step == 1 else None


def _square(factor: float) -> bool:
    root = math.sqrt(factor)
    return root >= 2 and abs(root - round(root)) < 1e-6


def _runner_up(reading: Reading) -> str | None:
    other = reading.runner_up
    return None if other is None else f"base {other.value:.6g}, freq_shift {other.freq_shift}"


def _sure(shape: tuple[int, int], reading: Reading) -> float:
    """Fall with what is left over, with another base as likely, and where there is little to go by."""
    confidence = _from_residual(reading.rest)
    if reading.base is not None and reading.runner_up is not None and reading.form.base > 1:
        apart = max(reading.runner_up.cost - reading.base.cost, 0.0)
        known = reading.form.base in KNOWN
        confidence *= min(1.0, 0.6 + 0.2 * apart if known else 0.5 + 0.12 * apart)
    if (reading.base is None and not reading.form.floored) or min(shape) < 4:
        confidence *= 0.7
    return confidence * float(min(1.0, 0.5 + reading.rows.mean())) / (1 + math.exp(-reading.margin))


def _from_residual(rest: float) -> float:
    return 0.99 * (1 - min(max((rest - CERTAIN) / (REFUSED - CERTAIN), 0.0), 1.0))


def rounded_answer(values: Floats, found: Rounded, before: float, scale: float) -> Identity:
    """Say in which format a table was computed; `before` is the residual without that."""
    identity = Identity(
        "sinusoidal",
        layout=found.layout,
        base=found.base,
        base_error=0.0,
        freq_shift=found.freq_shift,
        first_position=found.first,
        step=1.0,
        sign=1,
        scale=scale,
        dtype=found.precision,
        mistake="half_precision",
        next_best=f"computed in float32, with a residual of {before:.2g}" if before < 1 else None,
        confidence=0.97 if found.rest < 0.01 else 0.6,
    )
    return beside(identity, values, scale * found.nearest, np.ones(len(values), dtype=bool))


def scattered_answer(values: Floats, reading: Reading) -> Identity:
    """Say what was read where each row was placed by itself."""
    whole = np.sort(reading.positions)
    shuffled = len(whole) > 3 and bool((np.diff(whole) == 1).all())
    identity = replace(
        sinusoidal_answer(values, reading),
        step=None if math.isnan(reading.step) else reading.step,
        sign=None if math.isnan(reading.step) else reading.sign,
        mistake="rows_shuffled" if shuffled else None,
        implementations=(),
        next_best=None,
    )
    return replace(identity, confidence=min(identity.confidence, 0.9))


def rotary_answer(values: Floats, cache: Cache) -> Identity:
    """Say what a rotary cache holds."""
    base, mistake, written = cache.base, None, None if cache.base is None else cache.base.value
    if written in (10.0, 10_000**0.5 / 10) and cache.nearest is not None:
        # 10000^(1/4): the rates of a head of which a quarter is rotated.
        mistake, written = "full_width_rates", 10_000.0
    # Single cosines may be a part of anything; rates of no ladder may be of many scalings.
    doubtful = cache.nearest is None or cache.copies == "single"
    names = rotary_implementations(cache.copies, cache.step, cache.scale, cache.nearest is not None)
    identity = Identity(
        "rotary_cache",
        layout=cache.copies,
        base=written,
        base_error=None if base is None else base.value * base.error,
        freq_shift=0,
        first_position=None if math.isnan(cache.step) else cache.first,
        step=None if math.isnan(cache.step) else cache.step,
        sign=None if math.isnan(cache.step) else 1,
        scale=cache.scale,
        mistake=mistake,
        implementations=() if mistake else names,
        next_best="rates scaled for a longer context" if cache.nearest is None else None,
        confidence=0.75 if doubtful else _from_residual(cache.rest) * (0.6 if mistake else 1.0),
    )
    if cache.nearest is None:
        return identity
    return beside(identity, values, cache.nearest, np.ones(len(values), dtype=bool))


def grid_answer(values: Floats, grid: Grid) -> Identity:
    """Say what the cells of a grid hold."""
    leader = grid.leader
    form, base = leader.form, leader.base
    mistake = sinusoidal_mistake(2, leader) if form.floored or form.swapped or form.base == 1 else None
    identity = Identity(
        "grid",
        layout=grid.layout,
        base=None if base is None and not form.floored else form.base,
        base_error=None if base is None else form.base * base.error,
        freq_shift=form.freq_shift,
        first_position=leader.first,
        step=leader.step,
        sign=leader.sign,
        scale=leader.scale,
        mistake=mistake,
        implementations=() if mistake else _grid_names(grid, leader),
        grid=grid.shape,
        next_best=_runner_up(leader),
        confidence=_from_residual(grid.rest),
    )
    return beside(identity, values, grid.nearest, grid.rows)


def _grid_names(grid: Grid, leader: Reading) -> tuple[str, ...]:
    return grid_implementations(
        axes=grid.axes,
        layout=grid.layout,
        base=leader.form.base,
        freq_shift=leader.form.freq_shift,
        first=leader.first,
        step=leader.step,
        skipped=grid.skipped,
    )


def noise_answer(values: Floats) -> Identity:
    """Tell a learned table from random numbers by the order that is left in it."""
    alive = values[values.any(axis=1)]
    if len(alive) < 3 or values.shape[1] < 2:
        return Identity("random", confidence=0.1)
    order = order_of(alive / np.abs(alive).max())
    lack = (1 - order.directions) / order.directions_error  # of directions, in standard deviations
    sure = max(lack / 6, order.neighbours / 8)
    measures = {key: value for key, value in order._asdict().items() if key != "directions_error"}
    few = 1 - 1 / math.sqrt(min(values.shape))  # a handful of rows proves nothing
    if order.waving < _PURE:
        return Identity("sinusoidal", confidence=0.5 * few, next_best="learned", measures=measures)
    if len(np.unique(values[:, :4])) <= 8:  # no training leaves so few different numbers
        few *= 0.4
    if order.waving < _SMOOTH:
        few *= 0.5
    if sure > 1:
        return Identity("learned", confidence=float(min(0.98, 0.5 + 0.2 * sure)) * few, measures=measures)
    usual = abs(float(alive.std()) / STD.default - 1) < 0.05
    return Identity(
        "random",
        confidence=float(0.98 - 0.4 * max(sure, 0)) * few,
        mistake="random_init" if usual else None,
        measures=measures,
    )
