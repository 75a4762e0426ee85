"""Fill a table of sines and cosines, in less time and memory than one sine and one cosine a pair.

The pair (sin θ, cos θ) is kept as the complex number i·e^(−iθ) = sin θ + i·cos θ: a block of pairs, read as
plain numbers, is a block of the interleaved table. Moving on by k positions is one complex product a pair,

    i·e^(−i(p + k)ω) = i·e^(−ipω) · e^(−ikω),

which is PE(p + k) = M_k·PE(p) written in complex numbers. Letters as in `posenc.sinusoidal`.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]
Complex128 = NDArray[np.complex128]
Table = NDArray[np.floating]

_BLOCK_PAIRS = 1 << 15  # half a mebibyte of complex numbers: a block and its product stay in a core's cache
_MIN_BLOCK_ROWS = 16  # shorter blocks would spend their time on the turns between them


def fill(table: Table, positions: int | Float64, rates: Float64, sines: slice, cosines: slice) -> None:
    """Write sin(p·ω_i) to the columns `sines` and cos(p·ω_i) to the columns `cosines` of `table` (n, width).

    `positions` is n, for the rows 0 … n − 1, or an array (n,); `rates` (n_pairs,) has an ω_i for every sine.
    There is a cosine for every sine, or one fewer. Computed in float64, rounded once to the dtype of `table`.
    """
    n = len(table)
    block = min(n, max(_MIN_BLOCK_ROWS, _BLOCK_PAIRS // max(rates.size, 1)))
    if isinstance(positions, int):
        blocks = _turned_blocks(n, block, rates)
    else:
        blocks = (1j * _turn(positions[start : start + block], rates) for start in range(0, n, block))
    for start, pairs in zip(range(0, n, block), blocks, strict=True):
        _write(table[start : start + block], pairs, sines, cosines)


def _turned_blocks(n: int, block: int, rates: Float64) -> Iterator[Complex128]:
    """Yield the pairs of the rows 0 … n − 1: the first block, then that block turned on, in one buffer."""
    first = 1j * _turns(block, 1, rates)  # (block, n_pairs)
    turned = np.empty_like(first)
    for start, turn in zip(range(0, n, block), _turns(-(-n // block), block, rates), strict=True):
        rows = min(block, n - start)
        yield np.multiply(first[:rows], turn, out=turned[:rows])


def _turns(count: int, step: int, rates: Float64) -> Complex128:
    """Return e^(−i·p·ω) for the `count` positions 0, step, 2·step, …: (count, n_pairs).

    Each is a coarse turn times a fine one, so that sines and cosines of about 2·√count rows are enough.
    """
    few = math.isqrt(count)
    coarse = _turn(np.arange(0.0, count, few) * step, rates)  # (⌈count / few⌉, n_pairs)
    fine = _turn(np.arange(float(few)) * step, rates)  # (few, n_pairs)
    return (coarse[:, np.newaxis] * fine).reshape(len(coarse) * few, rates.size)[:count]


def _turn(positions: Float64, rates: Float64) -> Complex128:
    """Return e^(−i·p·ω) for each of the positions p: (n, n_pairs)."""
    angles = positions[:, np.newaxis] * rates
    turn = np.empty(angles.shape, dtype=np.complex128)
    turn.real = np.cos(angles)
    turn.imag = -np.sin(angles)
    return turn


def _write(rows: Table, pairs: Complex128, sines: slice, cosines: slice) -> None:
    """Spread the pairs sin θ + i·cos θ over the columns; an odd width leaves the last cosine out."""
    width = rows.shape[1]
    if (sines, cosines) == (slice(0, width, 2), slice(1, width, 2)):  # the order in which pairs lie in memory
        rows[:] = pairs.view(np.float64)[:, :width]
    else:
        rows[:, sines] = pairs.real
        rows[:, cosines] = pairs.imag[:, : width // 2]
