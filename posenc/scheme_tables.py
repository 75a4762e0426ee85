"""Schemes as tables whose rows can be compared: a row for each position, or for each cell of a grid.

An absolute or a grid scheme is a table already. A rotary one turns whatever it is given; what it does to a
vector of ones is a row f·R_p·1, f the attention factor, and the dot product of two rows is the score of a
query and a key of ones. A bias adds to a score and has nothing to compare.

Letters: p any position, n positions, d width, m pairs of features, k = p − q an offset.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from posenc.arrays import Floats
from posenc.offsets import Waves
from posenc.parameters import Choice, Positions
from posenc.registry import SCHEMES, Rotation
from posenc.rotary import turn

# Why a scheme has no table: it adds to a score; its queries and its keys grow by two different scales.
NO_TABLE: Mapping[str, str] = MappingProxyType(
    {scheme.name: "bias" for scheme in SCHEMES.values() if scheme.kind == "bias"} | {"xpos": "two_scales"}
)
TABLED: Choice[str] = Choice("scheme", tuple(name for name in SCHEMES if name not in NO_TABLE))
# Rotations by the position alone: their scores are functions of the offset.
WAVED: Choice[str] = Choice(
    "scheme",
    tuple(name for name in TABLED.options if SCHEMES[name].kind == "rotary" and SCHEMES[name].axes == 1),
)


def scheme_table(scheme: str, positions: Positions | Sequence[int], size: int, **options: Any) -> Floats:
    """Return the rows of a scheme, whose dot products are those of `posenc.registry.position_scores`.

    Parameters
    ----------
    scheme
        One of `TABLED`.
    positions
        A number n or an array; with several axes a shape, whose cells are row-major.
    size
        `d_model`, of a rotary scheme `head_dim`.
    options
        The scheme's `parameters`, by name.

    Returns
    -------
    (n, size) float64; of a rotary scheme f·R_p·1, features paired half by half

    Raises
    ------
    ValueError
        If there is no such scheme or it has no table, or for an argument outside its limits.
    """
    built = SCHEMES[TABLED.check(scheme)].build(positions, size, **options)
    if isinstance(built, Rotation):
        ones = np.ones((len(built.angles), 2 * built.angles.shape[1]))
        return turn(ones, built.angles, scale=built.query_scale)
    return np.asarray(built, dtype=np.float64)


def scheme_waves(scheme: str, size: int, **options: Any) -> Waves:
    """Return the dot product of two rows as a function of their offset, for any number of positions.

    f²·⟨R_p 1, R_q 1⟩ = Σ_i 2f²·cos(k·ω_i): a sinusoid's similarity with the rates of the scheme, its rows √2
    times as long.

    Parameters
    ----------
    scheme
        One of `WAVED`.
    size, options
        As in `scheme_table`.

    Raises
    ------
    ValueError
        If there is no such scheme or it has several axes, or for an argument outside its limits.
    """
    # At position 1 an angle is a rate.
    turned = SCHEMES[WAVED.check(scheme)].build(np.ones(1), size, **options)
    rates, scale = turned.angles[0], turned.query_scale[0]
    return Waves(rates, 2 * scale**2, np.zeros_like(rates))
