"""What a page shows, in its order, so that it can be taken away.

A fragment that runs again replaces what it showed itself, and nothing else. Only references are kept, and
only for as long as Streamlit keeps the run: by its fragments and by the button that makes the report.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import streamlit as st

from posenc import BASE, D_MODEL, LAYOUT, SEQ_LEN

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SHARED = tuple(parameter.name for parameter in (SEQ_LEN, D_MODEL, BASE, LAYOUT))
Drawn = Union["Figure", bytes]


class Heading(NamedTuple):
    """The title of a section."""

    words: str


class Chart(NamedTuple):
    """A chart: what it shows, in a sentence, and what gives it, a figure or the message of a heatmap."""

    alt: str
    drawn: Callable[[], Drawn]


@dataclass
class Page:
    """What a run of a page shows, and the settings that it stands for."""

    title: str = ""
    slug: str = ""
    query: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    whole: "Part" = field(init=False)

    def __post_init__(self) -> None:
        self.whole = Part(self)

    def charts(self) -> list[tuple[str, Chart]]:
        """Return every chart with the heading that it stands under, in the order of the page."""
        found, words = [], ""
        for each in self.whole.walk():
            if isinstance(each, Heading):
                words = each.words
            else:
                found.append((words, each))
        return found

    def note_address(self) -> None:
        """Take the settings as they are now: those that all pages share, and those in the address."""
        view = st.session_state.get("view", {})
        self.query = {name: text for name, text in st.query_params.to_dict().items() if name in view}
        self.settings = {name: view[name] for name in (*SHARED, *self.query) if name in view}


@dataclass
class Part:
    """What a part of a page shows: headings, charts, and the parts in it that run again by themselves."""

    page: Page
    shown: "list[Heading | Chart | Part]" = field(default_factory=list)
    drawn: bool = False

    def walk(self) -> "Iterator[Heading | Chart]":
        """Yield what it shows, parts opened."""
        for each in [*self.shown]:  # a copy: a fragment may run again meanwhile
            if isinstance(each, Part):
                yield from each.walk()
            else:
                yield each


_open: ContextVar[Part] = ContextVar("_open")  # the part that is being drawn


def begin(title: str, slug: str) -> None:
    """Start a page; what was shown before is forgotten."""
    _open.set(Page(title, slug).whole)
    st.session_state.setdefault("runs", []).append((page(), {}))


def note_names(names: dict[str, object]) -> None:
    """Note what the running page calls its functions and values."""
    runs = st.session_state.setdefault("runs", [(page(), {})])
    runs[-1] = (page(), names)


def undo_earlier_runs() -> None:
    """Undo what the runs before this one have left, now that everything is drawn anew.

    A page's functions and its names hold each other, as its parts do, and all arrays with them. Undone, they
    are free at once; for what ten visitors left, the collector stopped all others for a tenth of a second.
    """
    runs = st.session_state["runs"]
    for earlier, names in runs[:-1]:
        names.clear()
        earlier.whole.shown.clear()
    del runs[:-1]


def page() -> Page:
    """Return the page that is being drawn."""
    return _part().page


def place() -> Part:
    """Return a new part of what is being drawn."""
    inside = Part(page())
    _part().shown.append(inside)
    return inside


@contextmanager
def within(part: Part) -> Iterator[None]:
    """Draw a part, in place of what it showed before."""
    part.shown.clear()
    before = _open.set(part)
    try:
        yield
    finally:
        _open.reset(before)
        if part.drawn:  # by itself: the first time, the page goes on
            part.page.note_address()
        part.drawn = True


def heading(words: str) -> None:
    """Note the title of a section."""
    _part().shown.append(Heading(words))


def chart(alt: str, drawn: Callable[[], Drawn]) -> None:
    """Note a chart; `drawn` is called when somebody takes it away."""
    _part().shown.append(Chart(alt, drawn))


def _part() -> Part:
    """Return what is being drawn, which is a page of its own where the frame started none."""
    return _open.get(None) or Page().whole
