"""Sinusoidal tables over one axis: from measured waves to layout, base, first position, scale and mistake."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from posenc.mistakes import MISTAKES
from posenc.naming.bases import Base, candidates
from posenc.naming.waves import Ladder, Start, Waves, find_starts, fit_ladder, measure, pairings
from posenc.parameters import BASE
from posenc.precision import rounded
from posenc.sinusoidal import sinusoidal

Floats = NDArray[np.float64]

# A residual below this tells nothing any more: float32 code is as far from the formula.
_ROUNDING = 3e-7
# Rows that are measured.
_HEAD = 768


@dataclass(frozen=True)
class Form:
    """The form of a sinusoidal table as libraries and mistakes have it: `table` makes one.

    Parameters
    ----------
    layout, base, freq_shift
        As in `posenc.sinusoidal`.
    swapped
        Cosine in the even columns, sine in the odd ones.
    next_even
        An odd width is cut from the table of the next even one (positional_encodings).
    last_zero
        An odd width ends in a column of zeros, whatever the shift (diffusers, fairseq).
    floored
        The rates are those of the mistake ``"floored_log"``.
    """

    layout: str
    base: float
    freq_shift: int = 0
    swapped: bool = False
    next_even: bool = False
    last_zero: bool = False
    floored: bool = False

    def table(self, positions: Floats, d_model: int) -> Floats:
        """Return the table of these positions, (n, d_model) float64."""
        width = d_model - self.last_zero
        if self.floored or self.swapped:
            table = self._mistaken(positions, width)
        else:
            table = _sinusoidal(positions, width + self.next_even, self.base, self.layout, self.freq_shift)
        return np.pad(table[:, :width], ((0, 0), (0, int(self.last_zero))))

    def _mistaken(self, positions: Floats, width: int) -> Floats:
        even = width + width % 2
        if self.floored:
            table = MISTAKES["floored_log"].build(positions, even, self.base)
            half = np.r_[0:even:2, 1:even:2]
            order = {"sin_cos": half, "cos_sin": np.roll(half, even // 2)}.get(self.layout, np.arange(even))
            table = table[:, order]
        else:
            table = _sinusoidal(positions, even, self.base, "interleaved", self.freq_shift)
        return table[:, np.arange(even) ^ 1] if self.swapped else table


def _sinusoidal(positions: Floats, d_model: int, base: float, layout: str, freq_shift: int) -> Floats:
    table = sinusoidal(positions, d_model, base=base, layout=layout, freq_shift=freq_shift, dtype=np.float64)
    return table.astype(np.float64, copy=False)


@dataclass(frozen=True)
class Reading:
    """A way to read a table: its form and what is left unexplained.

    `base` None for a single pair of columns, which has none; `first` position of row 0, `step` from row to
    row (positive), `sign` ±1 of the step, `positions` (n,), `rows` that follow, `rest` relative residual of
    these, `noise` of the phases, `unlikely` minus the log of how likely it is that
    somebody makes such a table and these cells come of it. `position_dtype` is the format in which the
    positions were rounded, if they were; `margin` how much less likely the next reading is.
    """

    form: Form
    base: Base | None
    runner_up: Base | None
    first: float
    step: float
    sign: int
    scale: float
    positions: Floats
    nearest: Floats
    rows: NDArray[np.bool_]
    rest: float
    noise: float
    unlikely: float
    position_dtype: str | None = None
    margin: float = math.inf


def read_sinusoid(values: Floats) -> Reading | None:
    """Read a table (n, d) as waves over one axis, the best of all layouts; None if nothing in it turns."""
    head = values[:_HEAD]
    found = sorted(_readings(head), key=lambda reading: reading.unlikely)
    if not found:
        return None
    best = found[0]
    if len(found) > 1:
        best = replace(best, margin=found[1].unlikely - best.unlikely)
    even = best.first + best.sign * best.step * np.arange(float(len(values)))
    if not np.array_equal(best.positions, even[: len(head)]):
        for precision in ("float16", "bfloat16"):
            short = rounded(even, precision)
            if np.array_equal(best.positions, short[: len(head)]):
                return laid_beside(values, replace(best, positions=short, position_dtype=precision))
    if len(head) == len(values):
        return best
    # How the table goes on is not measured, but laid beside it.
    more = even[len(head) :] - even[len(head) - 1] + best.positions[-1]
    return laid_beside(values, replace(best, positions=np.concatenate([best.positions, more])))


def pair_layouts(values: Floats) -> tuple[str, ...]:
    """Name the layouts in which every pair of columns has the same length: sin² + cos² of something."""
    found: list[str] = []
    for pairing in pairings(values.shape[1]):
        square = values[:, pairing.sines] ** 2 + values[:, pairing.cosines] ** 2
        if square.size and np.median(np.abs(square / max(float(np.median(square)), 1e-300) - 1)) < 0.02:
            found += ["interleaved"] if pairing.name == "interleaved" else ["sin_cos", "cos_sin"]
    return tuple(found)


def laid_beside(values: Floats, reading: Reading) -> Reading:
    """Make the whole nearest table of a reading, and say which rows follow it and how closely."""
    nearest = reading.scale * reading.form.table(reading.positions, values.shape[1])
    rows, rest = following(values, nearest)
    return replace(reading, nearest=nearest, rows=rows, rest=rest)


def last_is_zero(values: Floats) -> bool:
    """Say whether an odd width ends in a column of zeros."""
    d_model = values.shape[1]
    return d_model % 2 == 1 and d_model > 2 and not values[:, -1].any()


def _readings(values: Floats) -> Iterator[Reading]:
    last_zero = last_is_zero(values)
    for pairing in pairings(values.shape[1] - last_zero):
        waves = measure(values, pairing)
        if waves is None or (ladder := fit_ladder(waves)) is None:
            continue
        step = _step(ladder)
        ladder = fit_ladder(waves, start=math.log(step)) or ladder
        for start in find_starts(waves, ladder.rates(waves.pairs))[:3]:
            reading = _read(values, waves, step, start, last_zero)
            if reading is not None:
                yield reading


def _step(ladder: Ladder) -> float:
    """Read the rate of the first pair as positions from row to row: 1, or what else it clearly is."""
    if abs(ladder.start) < max(5 * ladder.start_error, 2e-3):
        return 1.0
    return _short(math.exp(ladder.start), max(3 * ladder.start_error, 1e-5))


def _short(value: float, tolerance: float) -> float:
    """Write a number or one over it in few digits, if that is the same within a relative tolerance."""
    for digits in (1, 2, 3):
        for short in (float(f"{value:.{digits - 1}e}"), 1 / float(f"{1 / value:.{digits - 1}e}")):
            if abs(short / value - 1) < min(tolerance, 10.0**-digits / 5):
                return short
    return value


def _read(values: Floats, waves: Waves, step: float, start: Start, last_zero: bool) -> Reading | None:
    """Read the waves with a given start: refine the ladder, name its base, lay the nearest table beside."""
    d_model = values.shape[1]
    placed = layout_of(waves.pairing.name, start.cosine_first, odd=(d_model - last_zero) % 2 == 1)
    if placed is None:
        return None
    layout, swapped = placed
    first = start.first * step
    if abs(first - round(first)) < min(max(5 * start.error * step, 1e-2), 0.2):
        first = float(round(first))
    ladder = fit_ladder(waves, start=math.log(step), origin=start._replace(first=first / step))
    if ladder is None:
        return None
    positions = first + start.direction * step * waves.numbers
    scale = _scale(start.sign * waves.amplitude, waves.noise, d_model)
    best = None
    for form, base, runner_up in _forms(waves, ladder, d_model, layout, swapped, last_zero):
        nearest = scale * form.table(positions, d_model)
        rows, rest = following(values, nearest)
        unlikely = (
            start.unlikely + 4 * swapped + 3 * (step != 1) + (0 if base is None else 2.3 * min(base.cost, 3))
        )
        unlikely += int(rows.sum()) * d_model * math.log(max(rest, _ROUNDING))
        if best is None or unlikely < best.unlikely:
            best = Reading(
                form, base, runner_up, first, step, start.direction, scale, positions, nearest, rows, rest,
                waves.noise, unlikely,
            )  # fmt: skip
    return best


def layout_of(pairing: str, cosine_first: bool, *, odd: bool) -> tuple[str, bool] | None:
    """Name the layout of a pairing with this order; whether it is the swapped one."""
    if pairing == "interleaved":
        return "interleaved", cosine_first
    if odd and (pairing == "cos_sin" or cosine_first):
        # The longer half of an odd width holds sines.
        return ("cos_sin", False) if pairing == "cos_sin" and not cosine_first else None
    return ("cos_sin" if cosine_first else "sin_cos"), False


def _forms(
    waves: Waves, ladder: Ladder, d_model: int, layout: str, swapped: bool, last_zero: bool
) -> Iterator[tuple[Form, Base | None, Base | None]]:
    """Yield the forms that a ladder may stand for, the likeliest first."""
    form = Form(layout, BASE.default, swapped=swapped, last_zero=last_zero)
    n_pairs = len(waves.pairs)
    if n_pairs == 1:
        yield form, None, None
        return
    # ⌊−ln(base)/d / 2⌋ instead of −ln(base)/d: rates e^(−2k·i).
    floored = 2.0 * math.ceil(math.log(BASE.default) / (2 * d_model))
    if abs(ladder.fall - floored) < max(5 * ladder.fall_error, 1e-6):
        yield replace(form, floored=True), None, None
    bases = candidates(
        ladder.fall,
        ladder.fall_error,
        d_model,
        interleaved=layout == "interleaved",
        last_zero=last_zero,
        noise=waves.noise,
        exact=ladder.exact and min(n_pairs, len(waves.numbers) / 4) >= 8,
    )
    if bases and BASE.minimum <= bases[0].value <= BASE.maximum:
        base, runner_up = bases[0], bases[1] if len(bases) > 1 else None
        next_even = base.divisor * 2 > d_model - last_zero
        yield (
            replace(form, base=base.value, freq_shift=base.freq_shift, next_even=next_even),
            base,
            runner_up,
        )


def _scale(amplitude: float, noise: float, d_model: int) -> float:
    """Read an amplitude as 1, √d or 1/√d where it is one of them."""
    for known in (1.0, math.sqrt(d_model), 1 / math.sqrt(d_model)):
        if abs(abs(amplitude) / known - 1) < min(max(2e-3, noise / 2), 0.02):
            return math.copysign(known, amplitude)
    return amplitude


def following(values: Floats, nearest: Floats) -> tuple[NDArray[np.bool_], float]:
    """Say which rows follow the nearest table, and how far these are from it, relatively."""
    size = float(np.sqrt(np.mean(nearest**2)))
    off = np.sqrt(np.mean((values - nearest) ** 2, axis=1)) / size
    rows = off <= max(0.02, 4 * float(np.median(off)))
    return rows, float(np.sqrt(np.mean(off[rows] ** 2))) if rows.any() else np.inf
