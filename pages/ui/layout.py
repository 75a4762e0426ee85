"""The shape that all pages share: an opening, sections, code to take away, sources."""

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import controls
from pages.ui.sitemap import Entry
from pages.ui.text import label, prose
from posenc import Choice
from posenc.blocks import Blocks
from posenc.snippets import FRAMEWORKS
from posenc.sources import SOURCES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

FRAMEWORK = Choice("framework", FRAMEWORKS)
LOGO = str(Path(__file__).parent / "logo.svg")
# Korean breaks between words, not inside them, as English does. Formulas have room for their tallest signs
# and fit a phone: a box that scrolls cannot be reached by keyboard.
STYLE = """<style>
h1, h2, h3, p, li, td {word-break: keep-all; overflow-wrap: anywhere}
.katex-display {padding: .6rem .25rem}
@media (max-width: 640px) {.katex-display {font-size: .8em}}
</style>"""
ICON = str(Path(__file__).parent / "icon.svg")


def opening(page: str, *formulas: str, **values: object) -> None:
    """Say what to look at and why, and show the formula."""
    st.title(label(f"page.{page}.title"))
    st.markdown(prose(page, "intro", **values))
    for formula in formulas:
        st.latex(formula)


def section(page: str, name: str, **values: object) -> None:
    """Start a section: a heading from the catalogue, a paragraph from the page's prose."""
    st.subheader(label(f"section.{page}.{name}"), anchor=name.replace("_", "-"))
    st.markdown(prose(page, name, **values))


def cut_notice(view: controls.Settings, notice: str = "notice.cut") -> None:
    """Say so where pictures show less than the whole table."""
    if view.cut:
        sizes = {name: f"{getattr(view, name):,}" for name in ("rows", "seq_len", "columns", "d_model")}
        st.info(label(notice, **sizes), icon=":material/crop:")


def block_notice(blocks: Blocks) -> None:
    """Say what a cell of a picture stands for where it is more than one value."""
    sizes = {"rows": f"{blocks.rows_each:,}", "columns": f"{blocks.columns_each:,}"}
    st.info(label("notice.blocks", **sizes), icon=":material/grid_view:")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Draw a small table of facts; the cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    st.markdown("\n".join(f"| {' | '.join(map(str, line))} |" for line in lines))


def cards(pages: Sequence[Entry]) -> None:
    """Lead to other pages: on each card its title, its icon, and the question it answers."""
    for start in range(0, len(pages), 2):
        for place, entry in zip(st.columns(2), pages[start : start + 2], strict=False):
            with place, st.container(border=True, height="stretch"):
                st.page_link(f"{entry.name}.py", icon=entry.icon, label=label(f"page.{entry.name}.title"))
                st.markdown(label(f"page.{entry.name}.question"))


def beside(*widths: int) -> "list[DeltaGenerator]":
    """Make places side by side, each so many pixels wide; where there is no room the next goes below."""
    with st.container(horizontal=True):
        return [st.container(width=width) for width in widths]


def array_text(array: "NDArray") -> str:
    """Print an array as NumPy does, but only its corners."""
    import numpy as np

    return np.array2string(array, threshold=12, edgeitems=3, max_line_width=100)


@st.fragment
def in_code(
    snippets: Mapping[str, str], array: "NDArray", name: str, given: "Mapping[str, NDArray] | None" = None
) -> None:
    """Show the lines that make what is on screen, and offer the array itself.

    Parameters
    ----------
    snippets
        Framework name → code.
    array
        What the code makes, as the core computed it.
    name
        File name of the downloads, without ending.
    given
        File name → array: what the code reads.
    """
    st.subheader(label("code.title"), anchor="in-code")
    st.markdown(label("code.intro"))
    # One at a time: colouring the code of all three took the browser longer than two charts.
    st.code(snippets[controls.choice(FRAMEWORK)], language="python", wrap_lines=True)
    with st.container(horizontal=True):
        for ending, make in (("npy", _npy), ("csv", _csv)):
            st.download_button(
                label("code.download", ending=ending, shape="×".join(map(str, array.shape))),
                data=lambda make=make: make(array),
                file_name=f"{name}.{ending}",
                key=f"download_{ending}",
                icon=":material/download:",
                on_click="ignore",
            )
        for file, read in (given or {}).items():
            st.download_button(
                label("code.given", file=file, shape="×".join(map(str, read.shape))),
                data=lambda read=read: _npy(read),
                file_name=file,
                key=f"download_{file}",
                icon=":material/download:",
                on_click="ignore",
            )


def sources(*keys: str) -> None:
    """Name what the page leans on."""
    st.subheader(label("code.sources"), anchor="sources")
    st.markdown("\n".join(f"- {SOURCES[key].citation}" for key in keys))


def _npy(array: "NDArray") -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _csv(array: "NDArray") -> bytes:
    import numpy as np

    buffer = io.BytesIO()
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 2 else array
    np.savetxt(buffer, rows, delimiter=",", fmt="%.9g")
    return buffer.getvalue()
