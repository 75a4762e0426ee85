"""What a table of positions is: a known formula with its parameters, a known mistake, learned, or noise.

`identify` measures first and looks up second. Waves are measured pair by pair (`posenc.naming.waves`), the
factor between their rates is read as a base (`posenc.naming.bases`), and the table of those parameters is
made by the functions of this package and laid beside the one in question: what is left decides. Only a
table that no formula makes is asked how much order it has (`posenc.naming.noise`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import check_finite, check_table
from posenc.naming.answers import (
    CERTAIN,
    REFUSED,
    grid_answer,
    noise_answer,
    rotary_answer,
    rounded_answer,
    scattered_answer,
    sinusoidal_answer,
)
from posenc.naming.grid import read_grid, read_video
from posenc.naming.known import exact_dtype
from posenc.naming.mistakes import few_digits, raw_column, repeated
from posenc.naming.record import Identity, beside
from posenc.naming.rotary import read_rotary, read_single
from posenc.naming.scattered import read_scattered
from posenc.naming.sinusoid import Reading, pair_layouts, read_sinusoid
from posenc.parameters import BASE

Floats = NDArray[np.float64]

# Residual that rounding to a format leaves, at least; above twice that, digits may have been lost before.
_ROUNDED = {"bfloat16": 1.4e-3, "float16": 1.8e-4, "float32": 1.5e-4, "float64": 1.5e-4}


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
    # Powers of two change no digit; afterwards 1e200 can be squared. Usual sizes stay as they are.
    exponent = int(np.frexp(np.abs(values).max())[1])
    far = not -64 < exponent < 64
    unit = np.ldexp(values, -exponent) if far else values
    dtype = exact_dtype(unit)
    found = _identify(unit, dtype)
    if far:
        found = _rescaled(found, exponent)
    return replace(found, dtype=found.dtype or dtype)


def _rescaled(found: Identity, exponent: int) -> Identity:
    scale = None if found.scale is None else float(np.ldexp(found.scale, exponent))
    nearest = None if found.nearest is None else np.ldexp(found.nearest, exponent)
    return replace(found, scale=scale, nearest=nearest, implementations=())


def _identify(values: Floats, dtype: str) -> Identity:
    if not (values - values[0]).any():
        return _one_row(values)
    for kept, index in repeated(values):
        inner = read_sinusoid(kept)
        if inner is not None and inner.rest < CERTAIN:
            answer = replace(sinusoidal_answer(kept, inner), mistake="batch_axis", implementations=())
            return beside(answer, values, inner.nearest[index], inner.rows[index])
    reading = read_sinusoid(values)
    if reading is not None and reading.rest < 2 * _ROUNDED[dtype]:
        return sinusoidal_answer(values, reading)
    found = _few_digits(values, reading)
    if found is not None:
        return found
    if reading is not None and reading.rest < CERTAIN:
        return sinusoidal_answer(values, reading)
    answers = list(_others(values, reading))
    return max(answers, key=lambda answer: answer.confidence) if answers else noise_answer(values)


def _others(values: Floats, reading: Reading | None) -> Iterator[Identity]:
    """Yield what else the table may be, unless it is noise."""
    if reading is not None and reading.rest < REFUSED:
        yield sinusoidal_answer(values, reading)
    rotary = read_rotary(values)
    if rotary is not None:
        yield rotary_answer(values, rotary)
        return
    grid = read_grid(values) or read_video(values)
    if grid is not None and grid.rest < REFUSED:
        yield grid_answer(values, grid)
        return
    raw = raw_column(values)
    if raw is not None:
        base, nearest, _ = raw
        answer = Identity(
            "sinusoidal",
            layout="interleaved",
            base=base,
            freq_shift=0,
            first_position=0.0,
            step=1.0,
            sign=1,
            scale=1.0,
            mistake="raw_column",
            confidence=0.97,
        )
        yield beside(answer, values, nearest, np.ones(len(values), dtype=bool))
        return
    turned = read_sinusoid(values.T) if len(values) > 1 and values.shape[1] > 2 else None
    if turned is not None and turned.rest < CERTAIN:
        answer = replace(
            sinusoidal_answer(np.ascontiguousarray(values.T), turned),
            mistake="transposed",
            implementations=(),
        )
        yield beside(answer, values, turned.nearest.T, np.ones(len(values), dtype=bool))
        return
    scattered = read_scattered(values)
    if scattered is not None and scattered.rest < CERTAIN:
        yield scattered_answer(values, scattered)
        return
    single = read_single(values)
    if single is not None:
        yield rotary_answer(values, single)


def _few_digits(values: Floats, reading: Reading | None) -> Identity | None:
    """Say whether the table is one of which the angles had few digits: only that makes it, and all of it."""
    layouts = pair_layouts(values) if reading is None else (reading.form.layout,)
    if not layouts or (reading is not None and (reading.form.swapped or reading.rest > 0.9)):
        return None
    scale = 1.0 if reading is None else reading.scale
    bases = tuple({BASE.default, *(() if reading is None or reading.base is None else (reading.form.base,))})
    firsts = (0.0,) if reading is None else tuple({0.0, float(round(reading.first))})
    found = few_digits(values / scale, layouts, bases, firsts)
    before = 1.0 if reading is None else reading.rest
    if found is None or found.rest > min(0.4 * before, 0.1):
        return None
    return rounded_answer(values, found, before, scale)


def _one_row(values: Floats) -> Identity:
    """Say what a table of equal rows is: the code of one position for all of them, or a constant."""
    many = len(values) > 1
    if many and np.ptp(values[0]) > 0:
        reading = read_scattered(values[:1])
        if reading is not None and reading.rest < CERTAIN:
            nearest = np.repeat(reading.nearest, len(values), axis=0)
            answer = Identity(
                "constant", confidence=0.8, layout=reading.form.layout, base=reading.form.base,
                freq_shift=reading.form.freq_shift, first_position=reading.first, scale=reading.scale,
                mistake="batch_axis",
            )  # fmt: skip
            return beside(answer, values, nearest, np.ones(len(values), dtype=bool))
    return Identity("constant", confidence=1.0 if many or np.ptp(values) == 0 else 0.3)
