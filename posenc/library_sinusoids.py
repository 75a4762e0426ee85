"""The sinusoid as libraries build it, beside the paper's: which columns where, and which rates.

Every function of `posenc.implementations` that is `posenc.sinusoidal` with parameters of its own; what a
library does besides is its quirk, named here and composed array by array in `tests/conformance`.

Letters: p position, i pair, m pairs, n positions, d = d_model.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc.arrays import Floats
from posenc.implementations import IMPLEMENTATIONS, Implementation
from posenc.parameters import BASE, Choice
from posenc.sinusoidal import columns, inv_freq, sinusoidal

LIBRARY_SINUSOIDS: Mapping[str, Implementation] = MappingProxyType(
    {each.name: each for each in IMPLEMENTATIONS.values() if each.function == "sinusoidal.sinusoidal"}
)
# Whisper's comes first: it differs from the paper in both parameters.
_FIRST = "transformers.models.whisper.modeling_whisper.sinusoids"
IMPLEMENTATION: Choice[str] = Choice(
    "implementation", (_FIRST, *(name for name in LIBRARY_SINUSOIDS if name != _FIRST))
)
MOST_CELLS = 2**18  # of which two tables are compared in a few hundredths of a second
ROUNDING = 1e-12  # tables that differ by less are equal

Quirk = Literal[
    "even_only",  # an odd width is an error
    "division",  # at one pair the exponent is 0/0, and that is an error
    "odd_cut",  # an odd width is cut from the table of the next even one
    "odd_zeros",  # an odd width ends in a column of zeros
    "padding_row",  # the row of the padding index is blanked
    "padding_first",  # tokens are counted from the padding index on
    "learned_factor",  # the table is multiplied by a number that is learned
    "rotation",  # the table turns queries and keys
    "offsets_down",  # rows are offsets, from the largest down, of keys and queries
    "offsets_both",  # rows are offsets, from n − 1 down to 1 − n
    "timescale",  # the shortest time scale multiplies all rates
    "time_steps",  # positions are time steps of a diffusion, and both parameters can be chosen
]
_QUIRKS: tuple[tuple[str, tuple[Quirk, ...]], ...] = (
    ("diffusers.models.embeddings.SinusoidalPositionalEmbedding", ("even_only",)),
    ("whisper.modeling_whisper.sinusoids", ("even_only", "division")),
    ("torch_encodings.PositionalEncoding1D", ("odd_cut",)),
    (".get_embedding", ("padding_row", "division")),
    (".SinusoidalPositionalEmbedding.forward", ("padding_first", "padding_row", "division")),
    (".M2M100SinusoidalPositionalEmbedding.forward", ("padding_first", "padding_row", "division")),
    (".TimesFmPositionalEmbedding", ("timescale",)),
    (".get_timestep_embedding", ("time_steps", "odd_zeros")),
    (".get_1d_sincos_pos_embed_from_grid", ("even_only",)),
    (".ScaledSinusoidalEmbedding", ("learned_factor", "even_only")),
    (".create_sinusoidal_positions", ("rotation",)),
    (".relative_positional_encoding", ("offsets_down",)),
    ("RelPositionalEncoding.forward", ("offsets_both",)),
    ("RelPositionalEmbedding.forward", ("offsets_both",)),
)
# Position of the first token with the padding index of the published dictionaries and configs, 1.
FIRST_TOKEN = 2
PAPER_FIRST = 0
_MODELS = "transformers.models."


class Difference(NamedTuple):
    """The largest absolute difference of two tables, and where it is; in ties the first place."""

    value: float
    position: int
    dimension: int


class Beside(NamedTuple):
    """A library's table beside the paper's.

    `as_it_is` compares column by column, `in_order` once the library's columns stand in the paper's order
    (a column of zeros last). `rates` and `paper_rates` are (m,) in rad per position.
    """

    as_it_is: Difference
    in_order: Difference
    rates: Floats
    paper_rates: Floats

    @property
    def padded_rates(self) -> Floats:
        """The library's rates at the paper's pairs, NaN where it has no such pair, (paper's m,)."""
        return np.append(self.rates, np.full(len(self.paper_rates) - len(self.rates), np.nan))

    @property
    def verdict(self) -> Literal["same", "order", "zeros", "rates"]:
        """Whether it is the paper's table, that in another order or without its last sine, or another."""
        if self.as_it_is.value <= ROUNDING:
            return "same"
        if self.in_order.value <= ROUNDING:
            return "order"
        return "zeros" if np.array_equal(self.rates, self.paper_rates[: len(self.rates)]) else "rates"


def title(name: str) -> str:
    """Return a short name: the library, of transformers the model, then the class or function."""
    library, *parts = name.split(".")
    start = next((at for at, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    model = [parts[1]] if name.startswith(_MODELS) else []
    return " · ".join([library, *model, ".".join(parts[start:])])


def quirks(name: str) -> tuple[Quirk, ...]:
    """Return what a library's function does that `posenc.sinusoidal` does not."""
    return next((found for ending, found in _QUIRKS if name.endswith(ending)), ())


def first_position(name: str) -> int:
    """Return the position of the first token of a sequence without padding, as published."""
    return FIRST_TOKEN if "padding_first" in quirks(name) else PAPER_FIRST


def compared(seq_len: int, d_model: int) -> int:
    """Return of how many positions two tables are compared."""
    return min(seq_len, MOST_CELLS // d_model)


def beside_paper(name: str, n: int, d_model: int, *, base: float = BASE.default) -> Beside:
    """Compare a library's table with the paper's, both at positions 0 … n − 1.

    Parameters
    ----------
    name
        A key of `LIBRARY_SINUSOIDS`.
    n, d_model, base
        As in `posenc.sinusoidal.sinusoidal`; both tables are in memory.

    Raises
    ------
    ValueError
        If there is no such function, or for an argument outside its limits.
    """
    options = LIBRARY_SINUSOIDS[IMPLEMENTATION.check(name)].parameters
    paper = sinusoidal(n, d_model, base=base, dtype=np.float64)
    theirs = sinusoidal(n, d_model, base=base, dtype=np.float64, **options)
    held = columns(d_model, **options)
    order = np.argsort(np.where(held.pair < 0, d_model, 2 * held.pair + held.is_cos))
    return Beside(
        _largest(theirs, paper),
        _largest(theirs[:, order], paper),
        inv_freq(d_model, base=base, freq_shift=options["freq_shift"]),
        inv_freq(d_model, base=base),
    )


def code(name: str, seq_len: int, d_model: int, *, base: float = BASE.default) -> str:
    """Return the line that makes a library's table, below the library's name for it."""
    options = "".join(f", {key}={value!r}" for key, value in LIBRARY_SINUSOIDS[name].parameters.items())
    return f"# {name}\ntable = posenc.sinusoidal({seq_len}, {d_model}, base={base!r}{options})".replace(
        "'", '"'
    )


def _largest(a: NDArray[np.floating], b: NDArray[np.floating]) -> Difference:
    apart = np.abs(a - b)
    position, dimension = np.unravel_index(int(np.argmax(apart)), apart.shape)
    return Difference(float(apart[position, dimension]), int(position), int(dimension))
