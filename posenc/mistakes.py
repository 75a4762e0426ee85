"""Wrong sinusoidal tables that real code has shipped: to be recognised, never to be used.

Each is interleaved, as in the paper, and differs from `posenc.steps` in one step. What gives it away, from a
width of 4 on, is a property of the right table that it has lost, named in `breaks`:

- ``"origin"``: row 0 is 0, 1, 0, 1, …
- ``"pair_radius"``: sin² + cos² = 1 in each pair, since both partners have the same angle
- ``"row_norm"``: every row of an even width has the norm √(d/2)
- ``"offset_only"``: PE(p)·PE(q) of an even width depends on p − q only
- ``"wavelengths"``: pair i turns once in 2π·base^(2i/d) positions
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from posenc.parameters import BASE, D_MODEL, Positions, check_positions

Float64 = NDArray[np.float64]
Invariant = Literal["origin", "pair_radius", "row_norm", "offset_only", "wavelengths"]
INVARIANTS: tuple[Invariant, ...] = ("origin", "pair_radius", "row_norm", "offset_only", "wavelengths")

# The numbering of fairseq starts one past the padding index, which is 1 in its dictionaries.
_FIRST_POSITION = 2


@dataclass(frozen=True)
class Mistake:
    """One wrong formula: its LaTeX, where it was found, which properties it breaks, and how it is built."""

    name: str
    formula_latex: str
    source: str
    breaks: tuple[Invariant, ...]
    formula: Callable[[Float64, NDArray[np.intp], int, float], Float64]

    def build(self, positions: Positions, d_model: int, base: float = BASE.default) -> Float64:
        """Return the wrong table for a number of positions or an array of them: (n, d_model) float64.

        Arguments and their limits are those of `posenc.sinusoidal`.
        """
        d_model, base, rows = D_MODEL.check(d_model), BASE.check(base), check_positions(positions)
        p = (np.arange(float(rows)) if isinstance(rows, int) else rows)[:, np.newaxis]  # (n, 1)
        j = np.arange(d_model)[np.newaxis, :]  # (1, d)
        return self.formula(p, j, d_model, base)


def _table(angles: Float64, j: NDArray[np.intp]) -> Float64:
    """Take the sine in even columns, the cosine in odd ones."""
    return np.asarray(np.where(j % 2 == 0, np.sin(angles), np.cos(angles)))


def _raw_column(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Take the column number j where the paper has the pair number i = ⌊j/2⌋."""
    return _table(p / base ** (2 * j / d), j)


def _integer_division(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Divide whole numbers as whole numbers: every exponent is 0."""
    return _table(p / base ** (2 * (j // 2) // d).astype(float), j)


def _floored_log(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Read a / d // 2 as a / (d // 2): the floor falls on the logarithm."""
    return _table(p * np.exp(2 * (j // 2) * (-math.log(base) / d // 2)), j)


def _half_minus_one(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Divide by one pair fewer (at least 1), as tensor2tensor does on purpose."""
    return _table(p / base ** ((j // 2) / max((d + 1) // 2 - 1, 1)), j)


def _swapped(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Take the cosine in even columns, the sine in odd ones."""
    return _table(p / base ** (2 * (j // 2) / d), j + 1)


def _late_start(p: Float64, j: NDArray[np.intp], d: int, base: float) -> Float64:
    """Give the first token the position 2."""
    return _table((p + _FIRST_POSITION) / base ** (2 * (j // 2) / d), j)


_ALL = (
    Mistake(
        "raw_column",
        r"\mathrm{PE}(p,j)=\sin\text{ or }\cos\left(p\,/\,\mathrm{base}^{\,2j/d}\right)",
        "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/32",
        ("pair_radius", "row_norm", "offset_only", "wavelengths"),
        _raw_column,
    ),
    Mistake(
        "integer_division",
        r"\omega_i=\mathrm{base}^{-\lfloor 2i/d\rfloor}=1",
        "https://github.com/Kyubyong/transformer/pull/81",
        ("wavelengths",),
        _integer_division,
    ),
    Mistake(
        "floored_log",
        r"\omega_i=\exp\left(2i\left\lfloor\frac{-\ln\mathrm{base}}{d}\,/\,2\right\rfloor\right)",
        "https://github.com/zju3dv/LoFTR/issues/41",
        ("wavelengths",),
        _floored_log,
    ),
    Mistake(
        "half_minus_one",
        r"\omega_i=\mathrm{base}^{-i/(d/2-1)}",
        "https://github.com/hojonathanho/diffusion/issues/15",
        ("wavelengths",),
        _half_minus_one,
    ),
    Mistake(
        "swapped",
        r"\mathrm{PE}(p,2i)=\cos(p\,\omega_i),\quad\mathrm{PE}(p,2i+1)=\sin(p\,\omega_i)",
        "https://github.com/huggingface/diffusers/pull/1369",
        ("origin",),
        _swapped,
    ),
    Mistake(
        "late_start",
        r"\mathrm{PE}(p,2i)=\sin((p+2)\,\omega_i),\quad\mathrm{PE}(p,2i+1)=\cos((p+2)\,\omega_i)",
        "https://github.com/facebookresearch/fairseq/issues/1177",
        ("origin",),
        _late_start,
    ),
)
MISTAKES: dict[str, Mistake] = {mistake.name: mistake for mistake in _ALL}
