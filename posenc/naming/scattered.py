"""Sinusoidal tables whose rows are at no regular positions: shuffled, chosen by hand, or one alone.

Nothing can be measured from row to row, so the rates are those of the bases that are written in code; each
row is then placed by itself (`posenc.naming.places.places`), and the base that places all of them is taken.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from posenc.naming.bases import KNOWN, Base
from posenc.naming.places import places
from posenc.naming.sinusoid import Form, Reading, laid_beside, last_is_zero, layout_of
from posenc.naming.waves import Pairing, pairings
from posenc.sinusoidal import inv_freq

Floats = NDArray[np.float64]

# Rows and pairs from which the base is told; rms of a phase, radians, at which a row has its place.
_ROWS, _PAIRS, _PLACED = 24, 32, 0.05
# Fewer columns have a place for any row.
_WIDTH = 6
_BASES = tuple(KNOWN)[:9]


def read_scattered(values: Floats) -> Reading | None:
    """Read a table (n, d), whose rows stand at any positions, of a known base; None if it is none."""
    if values.shape[1] < _WIDTH:
        return None
    best = min(_readings(values), key=lambda found: found[0], default=None)
    if best is None:
        return None
    return _placed(values, *best[1:])


def _readings(values: Floats) -> Iterator[tuple[float, Pairing, Form, float]]:
    last_zero = last_is_zero(values)
    alive = np.flatnonzero(values.any(axis=1))
    some = values[alive[np.unique(np.linspace(0, len(alive) - 1, _ROWS).astype(np.intp))]]
    width = values.shape[1] - last_zero
    for pairing in pairings(width):
        z = some[:, pairing.cosines] + 1j * some[:, pairing.sines]
        length = np.abs(z)
        amplitude = np.median(length, axis=1, keepdims=True)
        if not amplitude.all() or np.median(np.abs(length / amplitude - 1)) > 0.1:
            continue
        pairs = np.unique(np.linspace(0, z.shape[1] - 1, _PAIRS).astype(np.intp))
        theta = np.angle(z[:, pairs]).T  # (m, k)
        for cosine_first in (False, True):
            placed = layout_of(pairing.name, cosine_first, odd=width % 2 == 1)
            if placed is None:
                continue
            for base in _BASES:
                for shift in (0,) if width % 2 else (0, 1):
                    form = Form(placed[0], base, shift, swapped=placed[1], last_zero=last_zero)
                    rates = inv_freq(width, base=base, freq_shift=shift)[pairs]
                    seen = math.pi / 2 - theta if cosine_first else theta
                    _, rest = places(seen, rates, reach=math.pi)
                    left = float(np.median(rest.min(axis=0)))
                    if left < _PLACED:
                        yield left + 1e-3 * placed[1], pairing, form, float(np.median(amplitude))


def _placed(values: Floats, pairing: Pairing, form: Form, amplitude: float) -> Reading:
    """Place every row, on whole numbers where that is as good."""
    z = values[:, pairing.cosines] + 1j * values[:, pairing.sines]
    rates = inv_freq(values.shape[1] - form.last_zero, base=form.base, freq_shift=form.freq_shift)
    pairs = np.unique(np.linspace(0, z.shape[1] - 1, _PAIRS).astype(np.intp))
    theta = np.angle(z[:, pairs]).T
    cosine_first = form.swapped or (form.layout == "cos_sin" and pairing.name == "halves")
    x, rest = places(math.pi / 2 - theta if cosine_first else theta, rates[pairs], reach=math.pi)
    positions = np.take_along_axis(x, rest.argmin(axis=0)[None], axis=0)[0]
    whole = np.round(positions)
    off = np.abs(positions - whole)
    positions = np.where(off < max(5 * float(np.median(off)), 1e-3), whole, positions)
    scale = 1.0 if abs(amplitude - 1) < 5e-3 else amplitude
    base = Base(form.base, 1e-3, form.freq_shift, 0.0, 0.0)
    empty = np.zeros(0)
    gaps = np.diff(positions)
    regular = len(gaps) > 0 and gaps[0] != 0 and bool((gaps == gaps[0]).all())
    reading = Reading(
        form,
        base,
        None,
        float(positions[0]),
        abs(float(gaps[0])) if regular else math.nan,
        -1 if regular and gaps[0] < 0 else 1,
        scale,
        positions,
        empty,
        empty > 0,
        math.inf,
        0.0,
        0.0,
    )
    return laid_beside(values, reading)
