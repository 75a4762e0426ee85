"""What a table of positions is: a known formula with its parameters, a known mistake, learned, or noise.

`identify` measures first and looks up second. Waves are measured pair by pair (`posenc.identify_waves`), the
factor between their rates is read as a base (`posenc.identify_bases`), and the table of those parameters is
made by the functions of this package and laid beside the one in question: what is left decides. Only a
table that no formula makes is asked how much order it has (`posenc.identify_noise`).
"""

import math
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import check_finite, check_table
from posenc.identify_known import exact_dtype, implementations
from posenc.identify_noise import order_of
from posenc.identify_sinusoid import Reading, read_sinusoid
from posenc.identity import Identity, beside

Floats = NDArray[np.float64]

# A residual that leaves no doubt about a formula, and one that leaves no belief in it.
_CERTAIN, _REFUSED = 0.02, 0.25


@runtime_checkable
class HasValues(Protocol):
    """A table as `posenc.read_table` returns it."""

    @property
    def values(self) -> NDArray[np.floating]:
        """The (n, d_model) array."""


def identify(table: ArrayLike | HasValues) -> Identity:
    """Say what a table of positions is, with which parameters, and how sure that is.

    Parameters
    ----------
    table
        (n, d_model) array, or what `posenc.read_table` returns.

    Returns
    -------
    Identity

    Raises
    ------
    ValueError
        For anything but a finite array of two axes with at least one row and one column.

    Examples
    --------
    >>> from posenc import sinusoidal
    >>> found = identify(sinusoidal(50, 128, layout="sin_cos", freq_shift=1))
    >>> found.scheme, found.layout, found.base, found.freq_shift
    ('sinusoidal', 'sin_cos', 10000.0, 1)
    """
    given = table.values if isinstance(table, HasValues) else table
    values = check_finite("table", check_table("table", given))
    # Powers of two change no digit; afterwards 1e200 can be squared.
    exponent = int(np.frexp(np.abs(values).max())[1])
    unit = np.ldexp(values, -exponent) if not -64 < exponent < 64 else values
    found = _identify(unit)
    return replace(found, dtype=found.dtype or exact_dtype(values))


def _identify(values: Floats) -> Identity:
    if not (values - values[0]).any():
        return Identity("constant", confidence=1.0 if len(values) > 1 else 0.3)
    reading = read_sinusoid(values)
    if reading is not None and reading.rest < _REFUSED:
        return _sinusoidal(values, reading)
    return _without_formula(values)


def _sinusoidal(values: Floats, reading: Reading) -> Identity:
    """Say what was read, name the libraries that make it, and what is wrong with it."""
    form, base = reading.form, reading.base
    zero = tuple(np.flatnonzero(~values.any(axis=1)).tolist())
    names = implementations(
        values.shape,
        layout=form.layout,
        base=form.base,
        freq_shift=form.freq_shift,
        first=reading.first,
        step=reading.sign * reading.step,
        scale=reading.scale,
        zero_rows=zero,
        last_zero=form.last_zero,
        next_even=form.next_even,
    )
    mistake = _mistake(values.shape[1], reading)
    identity = Identity(
        "sinusoidal",
        layout=form.layout,
        base=None if base is None else form.base,
        base_error=None if base is None else form.base * base.error,
        freq_shift=form.freq_shift,
        first_position=reading.first,
        step=reading.step,
        sign=reading.sign,
        scale=reading.scale,
        mistake=mistake,
        implementations=names if mistake in (None, "late_start", "half_minus_one") else (),
        next_best=_runner_up(reading),
        confidence=_confidence(values.shape, reading),
    )
    return beside(identity, values, reading.nearest, reading.rows)


def _mistake(d_model: int, reading: Reading) -> str | None:
    form = reading.form
    if form.swapped:
        return "swapped"
    if form.floored:
        return "floored_log"
    if form.base == 1 and reading.base is not None:
        return "integer_division"
    if reading.base is not None and form.base == 1e8 and form.freq_shift == 0:
        return "doubled_exponent"
    if reading.step != 1 and _square(max(reading.step, 1 / reading.step)):
        return "position_scaled_twice"
    if form.layout == "interleaved" and form.freq_shift == 1 and d_model % 2 == 0:
        return "half_minus_one"
    if form.layout == "interleaved" and reading.first in (1, 2) and reading.sign == 1 and reading.step == 1:
        return "late_start"
    return None


def _square(factor: float) -> bool:
    root = math.sqrt(factor)
    return root >= 2 and abs(root - round(root)) < 1e-6


def _runner_up(reading: Reading) -> str | None:
    other = reading.runner_up
    if other is None:
        return None
    return f"base {other.value:.6g}, freq_shift {other.freq_shift}"


def _confidence(shape: tuple[int, int], reading: Reading) -> float:
    """Fall with what is left over, with another base as likely, and where there is little to go by."""
    left = min(max((reading.rest - _CERTAIN) / (_REFUSED - _CERTAIN), 0.0), 1.0)
    confidence = 0.99 * (1 - left)
    if reading.base is not None and reading.runner_up is not None:
        confidence *= min(1.0, 0.6 + 0.2 * max(reading.runner_up.cost - reading.base.cost, 0.0))
    if reading.base is None or min(shape) < 4:
        confidence *= 0.7
    return confidence


def _without_formula(values: Floats) -> Identity:
    """Tell a learned table from random numbers by the order that is left in it."""
    alive = values[values.any(axis=1)]
    if len(alive) < 3 or values.shape[1] < 2:
        return Identity("random", confidence=0.1)
    order = order_of(alive / np.abs(alive).max())
    lack = (1 - order.directions) / order.directions_error  # of directions, in standard deviations
    sure = max(lack / 6, order.neighbours / 8)
    measures = {key: value for key, value in order._asdict().items() if key != "directions_error"}
    few = 1 - 1 / math.sqrt(min(values.shape))  # a handful of rows proves nothing
    if sure > 1:
        return Identity("learned", confidence=float(min(0.98, 0.5 + 0.2 * sure)) * few, measures=measures)
    mistake = "random_init" if abs(float(alive.std()) / 0.02 - 1) < 0.05 else None
    return Identity(
        "random", confidence=float(0.98 - 0.4 * max(sure, 0)) * few, mistake=mistake, measures=measures
    )
