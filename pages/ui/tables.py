"""The position tables a visitor can choose, and what is measured on them, kept for the next rerun."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

import posenc
from posenc import learned, measures, similarity

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pages.ui.controls import Settings

SINUSOID = "sinusoid"
TABLE = posenc.Choice("table", (SINUSOID, *learned.LEARNED))
# The work on a matrix grows with rows² × columns: of so many rows, and numbers, it takes less than a second.
MOST_ROWS, CELLS = 512, 2**20


@dataclass(frozen=True)
class Measured:
    """A matrix of all pairs of positions and what it says about offsets.

    `shares` holds how much the offset alone explains of the cosines of the table, of the same rows shuffled,
    and of Gaussian noise of the same shape.
    """

    matrix: "NDArray"
    profile: similarity.OffsetProfile
    shuffled: similarity.OffsetProfile
    shares: dict[str, float]


def rows(view: "Settings") -> int:
    """Return how many positions of the sinusoid are compared with each other."""
    return min(view.seq_len, MOST_ROWS, CELLS // view.d_model)


def kind(name: str, d_model: int) -> str:
    """Say what to expect of a table: a sinusoid of even or odd width, a stored sinusoid, or learned rows."""
    if name == SINUSOID:
        return "odd" if d_model % 2 else "even"
    return "stored" if learned.LEARNED[name].kind == "sinusoid" else "learned"


def table(name: str, n: int, d_model: int, base: float, layout: str) -> "NDArray":
    """Return one table; all but the name say which sinusoid."""
    if name == SINUSOID:
        return posenc.sinusoidal(n, d_model, base=base, layout=layout, dtype="float64")
    return learned.load(name)


@st.cache_data(max_entries=16, show_spinner=False)
def measured(name: str, measure: str, n: int, d_model: int, base: float, layout: str) -> Measured:
    """Compare all positions of one table; the arguments are the whole key."""
    chosen = table(name, n, d_model, base, layout)
    shuffled = learned.shuffle_rows(chosen)
    compare = similarity.MEASURES[measure]
    matrix = compare(chosen, None)
    return Measured(
        matrix,
        similarity.by_offset(matrix),
        similarity.by_offset(compare(shuffled, None)),
        {
            "table": measures.offset_share(chosen),
            "shuffled": measures.offset_share(shuffled),
            "noise": measures.offset_share(learned.random_init(*chosen.shape)),
        },
    )
