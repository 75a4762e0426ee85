"""The shape that all pages share: an opening, sections, code to take away, sources."""

import base64
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import controls, guard, heatmap, report, shown, url
from pages.ui.sitemap import Entry
from pages.ui.text import label, prose
from posenc import Choice, exports
from posenc.snippets import FRAMEWORKS
from posenc.sources import SOURCES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from streamlit.delta_generator import DeltaGenerator

FRAMEWORK = Choice("framework", FRAMEWORKS)
FORMAT = Choice("file_format", tuple(exports.WRITERS))
# Read once: Streamlit would open both files at every run, to send the same.
LOGO, ICON = (
    f"data:image/svg+xml;base64,{base64.b64encode((Path(__file__).parent / file).read_bytes()).decode()}"
    for file in ("logo.svg", "icon.svg")
)
# Korean breaks between words, not inside them, as English does. What a run has yet to draw does not fade: the
# browser kept a layer for each of forty elements that were about to, and repainted charts an eighth later.
# Formulas have room for their tallest signs and fit a phone: no keyboard reaches into a box that scrolls.
STYLE = """<style>
[data-stale] {transition: none !important; opacity: 1 !important}
h1, h2, h3, p, li, td {word-break: keep-all; overflow-wrap: anywhere}
[class*="st-key-show_"] summary p {font-size: 1.2rem}
.katex-display {padding: .6rem .25rem}
@media (max-width: 640px) {.katex-display {font-size: .8em}}
@media (max-width: 640px) {
.st-key-facts table {display: block; overflow-x: auto}
.st-key-facts :is(td, th) {min-width: 6.5rem}
}
</style>"""
# Pixels that a control and a picture have at least beside others.
CONTROL, PICTURE = 200, 290
QUICK = 2**19  # values that are computed in less than a tenth of a second
# Whether folded sections are open from the start, as they are in tests of what is in them.
UNFOLDED = False
_headed: ContextVar[str] = ContextVar("_headed", default="")  # the section whose title stands on its fold


def opening(page: str, *formulas: str, **values: object) -> None:
    """Say what to look at and why, and show the formula: where every page begins."""
    shown.note_names(sys._getframe(1).f_globals)
    st.title(label(f"page.{page}.title"))
    st.markdown(prose(page, "intro", **values))
    for formula in formulas:
        st.latex(formula)


def section(page: str, name: str, *below: str, **values: object) -> None:
    """Start a section: a heading from the catalogue, a paragraph of the page's prose, more Markdown below."""
    words = label(f"section.{page}.{name}")
    if _headed.get() == name:
        shown.heading(words)
    else:
        heading(words, name.replace("_", "-"))
    text(prose(page, name, **values), *below)


def text(*parts: str) -> None:
    """Draw pieces of Markdown below each other as one: a message costs more than its words."""
    st.markdown("\n\n".join(parts))


def heading(words: str, anchor: str) -> None:
    """Draw the heading of a section."""
    shown.heading(words)
    st.subheader(words, anchor=anchor)


@guard.fragment
def folded(page: str, name: str, part: Callable[..., None], *arguments: object) -> None:
    """Draw a section only while the reader has it open; its title is always there.

    What is not drawn costs neither the server nor the browser anything: of a page with ten charts nobody
    looks at all at once.
    """
    words, switch = label(f"section.{page}.{name}"), controls.Switch(f"show_{name}", UNFOLDED)
    url.seed(switch)
    panel = st.expander(f"**{words}**", key=switch.name, on_change="rerun")
    if url.publish(switch):
        titled = _headed.set(name)
        try:
            with panel:
                part(*arguments)
        finally:
            _headed.reset(titled)


def folds(page: str, **parts: Callable[[], None]) -> None:
    """Draw several folded sections, each by its name."""
    for name, part in parts.items():
        folded(page, name, part)


def table(header: Sequence[str], lines: Iterable[Sequence[object]]) -> None:
    """Draw a small table of facts; the cells are Markdown."""
    st.markdown(rows(header, lines))


def rows(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Write a small table of facts as Markdown, which its cells are."""
    every = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in every)


def cards(pages: Sequence[Entry]) -> None:
    """Lead to other pages: on each card its title, its icon, and the question it answers."""
    grid = st.grid(2, border=True, min_column_width=PICTURE)
    for entry in pages:
        with grid.cell():
            st.page_link(f"{entry.name}.py", icon=entry.icon, label=label(f"page.{entry.name}.title"))
            st.markdown(label(f"page.{entry.name}.question"))


def columns(count: int, width: int = CONTROL, **look: Any) -> "DeltaGenerator":
    """Make a grid of so many columns; where they would be narrower than so many pixels the next goes below.

    What is drawn in it by itself is a cell, which takes no message, as a place for it would. `look` is that
    of `st.grid`.
    """
    return st.grid(count, min_column_width=width, **look)


def waiting(words: str, *sizes: int) -> "AbstractContextManager[None]":
    """Say what is waited for while values are computed, where their sizes make that more than a moment."""
    # Streamlit shows a spinner after half a second, but starts a thread for it at once.
    return st.spinner(words) if math.prod(sizes) > QUICK else nullcontext()


@guard.fragment
def titled(title: str, *arguments: Any, **options: Any) -> None:
    """Draw a heatmap as `heatmap.apart` does, under a title: as one, they are a cell of a grid."""
    st.markdown(title)
    heatmap.show(*arguments, **options)


def beside(*widths: int) -> "list[DeltaGenerator]":
    """Make places side by side, each so many pixels wide; where there is no room the next goes below."""
    with st.container(horizontal=True):
        return [st.container(width=width) for width in widths]


def corners(size: int) -> "int | NDArray":
    """Return numbers below `size` of which `array_text` prints the same as of all of them."""
    import numpy as np

    shown = np.arange(13)  # as few as `array_text` leaves out some of
    return size if size <= len(shown) else np.where(shown < 6, shown, shown + size - len(shown))


def array_text(array: "NDArray") -> str:
    """Print an array as NumPy does, but only its corners."""
    import numpy as np

    return np.array2string(array, threshold=12, edgeitems=3, max_line_width=100)


@guard.fragment
def in_code(
    snippets: Mapping[str, str],
    shape: tuple[int, ...],
    make: "Callable[[], NDArray]",
    name: str,
    given: "Mapping[str, NDArray] | None" = None,
    *,
    cut: bool = False,
) -> None:
    """Show the lines that make what is on screen, and offer the array itself.

    Parameters
    ----------
    snippets
        Framework name → code.
    shape, make
        Of the array that the code makes, and how the core makes it when somebody wants it.
    name
        File name of the downloads, without ending.
    given
        File name → array: what the code reads.
    cut
        Whether the array holds only the first positions of what is on screen.
    """
    st.subheader(label("code.title"), anchor="in-code")
    st.markdown(label("code.intro"))
    if cut:
        st.info(label("code.cut", rows=f"{shape[-2]:,}"), icon=":material/crop:")
    # One at a time: colouring the code of all three took the browser longer than two charts.
    st.code(snippets[controls.choice(FRAMEWORK)], language="python", wrap_lines=True)
    # One button and a choice: a button a format would fill the screen of a phone.
    ending = controls.choice(FORMAT, {name: f".{name}" for name in FORMAT.options})
    with st.container(horizontal=True) if given else nullcontext():
        words = label("code.download", ending=ending, shape=_by(shape))
        _download(words, lambda: exports.WRITERS[ending](make()), f"{name}.{ending}")
        for file, array in (given or {}).items():
            words = label("code.given", file=file, shape=_by(array.shape))
            _download(words, lambda array=array: exports.to_npy(array), file)
    if ending == "csv" and len(shape) > 2:
        st.caption(label("code.csv_rows", columns=shape[-1]))


def _by(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _download(words: str, data: "Callable[[], bytes]", file: str) -> None:
    """Offer a file that is made when it is asked for."""
    key, icon = f"download_{file}", ":material/download:"
    st.download_button(words, data, file, key=key, icon=icon, on_click="ignore")


def sources(*keys: str) -> None:
    """Name what the page leans on, and offer the report of all that it shows."""
    st.subheader(label("code.sources"), anchor="sources")
    st.markdown("\n".join(f"- {SOURCES[key].citation}" for key in keys))
    report.offer(keys)
