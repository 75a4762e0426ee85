"""The table that a visitor brings along: one a visit, kept in this session and nowhere else.

What opens a table (a click, a dropped file) only says so in a callback; the page then reads it, so that who
waits sees what for. A table that cannot be opened leaves the one before in place.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from pages.ui import controls, turns, url
from pages.ui.text import label
from posenc import Choice, comparison, picks
from posenc.comparison import Portrait, Together
from posenc.examples import EXAMPLES, example
from posenc.files.reading import read_table
from posenc.hub import WELL_KNOWN, read_from_hub
from posenc.inspection import Inspection, inspect_table
from posenc.tables import TableError

if TYPE_CHECKING:
    from posenc.tables import Table

OWN = "own"  # in the address: a table that the address cannot hold
OPENED: Choice[str] = Choice("opened", (*EXAMPLES, *(known.model_id for known in WELL_KNOWN), OWN))
# What would be markup in a name → the same sign as wide as a Hangul syllable, which is none.
LOOKALIKES = str.maketrans("`*[]<>$~|\\#!:&", "｀＊［］＜＞＄～｜＼＃！：＆")


class Wish(NamedTuple):
    """A table that somebody wants to see: where it is from, its name there, and which of several it is."""

    origin: str  # an option of OPENED
    name: str = ""
    data: bytes | None = None
    key: str | None = None


class Own(NamedTuple):
    """The table that is open; the bytes of its file are kept only as long as others in it can be chosen."""

    wish: Wish
    table: "Table"


class Refused(NamedTuple):
    """A table that could not be opened, and why."""

    wish: Wish
    error: TableError


def ask(wish: Wish) -> None:
    """Want a table (a callback)."""
    st.session_state["own_wish"] = wish


def ask_key() -> None:
    """Want another table of the same file (the callback of its choice)."""
    asked: Refused | Own = st.session_state.get("own_refused") or st.session_state["own"]
    ask(asked.wish._replace(key=st.session_state["own_key"]))


def opened() -> Own:
    """Return the table that is open, after what is wanted has been read."""
    url.seed(OPENED)
    wish, kept = st.session_state.pop("own_wish", None), st.session_state.get("own")
    wanted = st.session_state[OPENED.name]
    if wish is None and (kept is None or kept.wish.origin != wanted):
        st.session_state["own_lost"] = wanted == OWN  # a visit that ended, or the link of another visitor
        wish = Wish(OPENED.default if wanted == OWN else wanted)
    if wish is not None:
        _open(wish)
    url.publish(OPENED)
    return st.session_state["own"]


def _open(wish: Wish) -> None:
    try:
        with st.spinner(label("your_table.opening")):
            table = _read(wish)
    except TableError as error:
        st.session_state["own_refused"] = Refused(wish, error)
        if "own" not in st.session_state:
            wish, table = Wish(OPENED.default), example(OPENED.default)
            st.session_state["own"] = Own(wish, table)
        controls.put(opened=st.session_state["own"].wish.origin)
        return
    others = len(table.candidates) > 1
    st.session_state["own"] = Own(wish if others else wish._replace(data=None), table)
    st.session_state.pop("own_refused", None)
    if wish.data is not None:
        st.session_state["own_lost"] = False
    # What was asked of another table does not hold for this one; on the first run the address may ask it.
    if "own_seen" in st.session_state:
        controls.put(transposed=False, skip=0, own_view="", own_key=table.key)
    st.session_state["own_seen"] = None
    controls.put(opened=wish.origin)


def _read(wish: Wish) -> "Table":
    if wish.data is not None:
        return read_table(wish.data, wish.name, key=wish.key)
    if wish.origin in EXAMPLES:
        return example(wish.origin)
    model = wish.name or wish.origin
    keys = {known.model_id: known.key for known in WELL_KNOWN}
    with turns.aside():
        return read_from_hub(model, key=wish.key or keys.get(model))


def refused() -> Refused | None:
    """Return the last table that could not be opened, until another is."""
    return st.session_state.get("own_refused")


def lost() -> bool:
    """Say whether the address speaks of a table that this visit does not have."""
    return bool(st.session_state.get("own_lost"))


# What is seen of an example is the same for all visitors, at most 8 MB each: nothing that somebody brought.
@st.cache_resource(max_entries=8, show_spinner=False)
def _seen_of_example(name: str, transpose: bool, skip: int) -> Inspection:
    return inspect_table(example(name), transpose=transpose, skip=skip)


@st.cache_resource(max_entries=8, show_spinner=False)
def _portrait_of_example(named: picks.Pick, digest: str, _chosen: picks.Pick) -> Portrait:
    return comparison.portrait(_chosen)


def inspection() -> Inspection:
    """Return what is seen of the open table, measured once for each way to turn and cut it."""
    table = st.session_state["own"].table
    transpose = bool(st.session_state["view"].get("transposed", False))
    rows = table.shape[1 if transpose else 0]
    skip = min(int(st.session_state["view"].get("skip", 0)), rows - 1)
    if st.session_state["own"].wish.origin in EXAMPLES:
        return _seen_of_example(st.session_state["own"].wish.origin, transpose, skip)
    kept = st.session_state.get("own_seen")
    if kept is None or kept[0] is not table or kept[1:3] != (transpose, skip):
        kept = (table, transpose, skip, inspect_table(table, transpose=transpose, skip=skip))
        st.session_state["own_seen"] = kept
    return kept[3]


def pick() -> picks.Pick | None:
    """Return the open table as one of those that other pages offer; None if none was opened in this visit."""
    return picks.pick_own(inspection().given) if "own" in st.session_state else None


def portrait(chosen: picks.Pick) -> Portrait:
    """Return what a table is like: this visitor's, or one of its shape, which no other visit shares."""
    if st.session_state["own"].wish.origin in EXAMPLES:
        named = chosen._replace(given=None)
        return _portrait_of_example(named, chosen.given.digest if chosen.given else "", chosen)
    kept: list[Portrait] = st.session_state.setdefault("own_portraits", [])
    found = next((each for each in kept if each.pick == chosen), None) or comparison.portrait(chosen)
    # The two that stand beside each other are kept.
    st.session_state["own_portraits"] = [found, *(each for each in kept if each is not found)][:2]
    return found


def beside(mine: picks.Pick, other: picks.Pick) -> tuple[list[Portrait], Together]:
    """Return the portraits of two tables, and what laying them on each other says."""
    both, kept = [portrait(mine), portrait(other)], st.session_state.get("own_beside")
    if kept is None or kept[0] != (mine, other):
        with st.spinner(label("fixed_vs_learned.measuring")):
            found = comparison.together(*(each.table for each in both))
        kept = st.session_state["own_beside"] = ((mine, other), found)
    return both, kept[1]


def title() -> str:
    """Name the open table as its owner does, in signs that neither Markdown nor a chart takes for its own."""
    wish, table = st.session_state["own"]
    if wish.origin in EXAMPLES:
        return label(f"option.opened.{wish.origin}")
    return (table.name or label("your_table.pasted")).translate(LOOKALIKES)


def plain(text: object) -> str:
    """Return text from outside so that Markdown shows it as it is."""
    return re.sub(r"([\\`*_\[\]<>#.!|~$:])", r"\\\1", str(text))
