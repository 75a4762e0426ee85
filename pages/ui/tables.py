"""The position tables a visitor can choose, and what is measured on them, kept for the next rerun."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import controls, heatmap, own
from pages.ui.text import label
from posenc import Choice, learned, measures, picks, similarity
from posenc.offsets import similarity_waves
from posenc.registry import SCHEMES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pages.ui.controls import Settings

SINUSOID = "sinusoid"
TABLE = Choice("table", picks.NAMES)
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


@dataclass(frozen=True)
class Wanted:
    """What is wanted of a table, and found when it is first asked for."""

    pick: picks.Pick
    measure: str

    @cached_property
    def found(self) -> Measured:
        """All positions compared; the matrix is read-only, since others share it."""
        table = self.pick.exact()
        shuffled = learned.shuffle_rows(table)
        compare = similarity.MEASURES[self.measure]
        matrix = compare(table, None)
        matrix.flags.writeable = False
        return Measured(
            matrix,
            similarity.by_offset(matrix),
            similarity.by_offset(compare(shuffled, None)),
            {
                "table": measures.offset_share(table),
                "shuffled": measures.offset_share(shuffled),
                "noise": measures.offset_share(learned.random_init(*table.shape)),
            },
        )


def choose(parameter: Choice[str], base: float, *, with_own: bool = True) -> str:
    """Draw the choice of a table, of all that this base defines; every page that has one asks here.

    The visitor's own table is offered as long as there is one.
    """
    left_out = picks.undefined(base)
    names = tuple(name for name in parameter.options if name not in left_out)
    if with_own and own.pick() is not None:
        names = (*names, picks.OWN)
    return controls.choice(Choice(parameter.name, names), {name: title(name) for name in names})


def title(name: str) -> str:
    """Name a table; a scheme says first what its rows are."""
    if name == picks.OWN:
        return label("tables.own", title=own.title())
    if name not in picks.SCHEME_NAMES:
        return label(f"option.table.{name}")
    return label(f"tables.{family(name)}", scheme=label(f"option.schemes.{name}"))


def family(name: str) -> str:
    """Say what the rows of a table are: those of a ``"table"`` by its own name, or of a scheme's kind."""
    if name == picks.OWN:
        return name
    if name not in picks.SCHEME_NAMES:
        return "table"
    scheme = SCHEMES[name]
    return f"{scheme.kind}_cells" if scheme.kind == "rotary" and scheme.axes > 1 else scheme.kind


def elsewhere() -> None:
    """Say which schemes have no rows to compare, and lead to where they are."""
    st.caption(label("tables.elsewhere"))
    with st.container(horizontal=True):
        for page in ("relative", "compare"):
            lead(page)


def lead(page: str) -> None:
    """Lead to another page."""
    st.page_link(f"{page}.py", label=label(f"page.{page}.title"), icon=":material/arrow_forward:")


def most(view: "Settings") -> int:
    """Return how many positions can be compared with each other."""
    return min(MOST_ROWS, CELLS // view.d_model)


def rows(view: "Settings") -> int:
    """Return how many positions of a table without an end are compared with each other."""
    return min(view.seq_len, most(view))


def chosen(name: str, view: "Settings") -> picks.Pick:
    """Return the pick of a table of the sidebar's settings, with as many rows as are compared."""
    if name == picks.OWN and (brought := own.pick()) is not None:
        return picks.first_rows(brought, min(MOST_ROWS, max(1, CELLS // brought.d_model)))
    return picks.pick(name, rows(view), view.d_model, base=view.base, layout=view.layout)


def kind(pick: picks.Pick) -> str:
    """Say what to expect of the similarity of a table's rows: the ending of the keys of the page's words."""
    if pick.name == SINUSOID:
        return "odd" if odd(pick.d_model) else "even"
    if pick.kind != "scheme":
        return "stored" if pick.kind == "fixed" else pick.kind
    if pick.grid is None:
        return "rotary"
    return "grid" if sum(side > 1 for side in pick.grid) > 1 else "line"


def odd(d_model: int) -> bool:
    """Say whether the last sine of a sinusoid has no cosine."""
    return d_model % 2 == 1


def endless(pick: picks.Pick) -> bool:
    """Say whether the similarity of a table's rows has a closed form, for any number of positions."""
    return pick.name == SINUSOID or pick.waves is not None


def matrix(pick: picks.Pick, measure: str, seq_len: int, pairs: "NDArray") -> heatmap.Matrix:
    """Return the similarity of all positions if it has a closed form, else that of all `pairs` of rows."""
    if pick.name == SINUSOID:
        return heatmap.of_similarity(measure, seq_len, pick.d_model, base=pick.base)
    if pick.waves is not None:
        return heatmap.of_offsets(similarity_waves(measure, pick.waves), seq_len)
    return heatmap.of_table(pairs, "" if pick.given else f"similarity: {measure} of {tuple(pick)}")


def measured(pick: picks.Pick, measure: str) -> Measured:
    """Compare all positions of one table; what a visitor brought along is kept for that visit alone."""
    if pick.kind != "own":
        wanted = _shared(pick, measure)
    else:
        kept = st.session_state.get("own_measured")
        wanted = kept if kept and (kept.pick, kept.measure) == (pick, measure) else Wanted(pick, measure)
        st.session_state["own_measured"] = wanted
    if "found" in vars(wanted):
        return wanted.found
    with st.spinner(label("similarity.wait")):
        return wanted.found


# All visitors share what is found, 8 times at most 2 MB; the arguments are the whole key.
@st.cache_resource(max_entries=8, show_spinner=False)
def _shared(pick: picks.Pick, measure: str) -> Wanted:
    return Wanted(pick, measure)
