"""Where a visitor's table comes from, and what was assumed while it was opened: parts of /your-table."""

import streamlit as st

from pages.ui import controls, own
from pages.ui.own import OWN, Own, Wish
from pages.ui.text import label, number, prose
from posenc import Choice
from posenc.examples import EXAMPLES
from posenc.hub import WELL_KNOWN, hub_is_on
from posenc.tables import MAX_BYTES, MAX_CELLS, TableError

BRING: Choice[str] = Choice("bring", ("example", "file", "paste", "hub"))
LONGEST = 1_000_000  # characters of a text that is pasted; more of them make a browser slow


def word(key: str, **values: object) -> str:
    """Return one of the page's labels."""
    return label(f"your_table.{key}", **values)


def choose() -> None:
    """Offer the ways to bring a table along."""
    ways = {"example": _examples, "file": _file, "paste": _paste, "hub": _hub}
    limits = {"mebibytes": MAX_BYTES >> 20, "cells": f"{MAX_CELLS:,}"}
    way = controls.choice(BRING)
    st.markdown(prose("your_table", f"bring_{way}", **limits))
    ways[way]()
    st.caption(prose("your_table", "private"))


def _examples() -> None:
    with st.container(horizontal=True):
        for name in EXAMPLES:
            words = label(f"option.opened.{name}")
            st.button(words, key=f"open_{name}", on_click=own.ask, args=(Wish(name),))


def _file() -> None:
    st.file_uploader(word("file"), key="own_file", on_change=_take_file)


def _take_file() -> None:
    file = st.session_state["own_file"]
    if file is not None:  # it was not taken away
        own.ask(Wish(OWN, file.name, file.getvalue()))


def _paste() -> None:
    st.text_area(word("paste"), key="own_text", max_chars=LONGEST, height=160)
    st.button(word("open_text"), key="open_text", on_click=_take_text, icon=":material/table:")


def _take_text() -> None:
    text = st.session_state["own_text"]
    own.ask(Wish(OWN, "", text.encode("utf-8", "replace")))  # a lone surrogate is no number anyway


def _hub() -> None:
    if not hub_is_on():
        st.info(word("hub_off"), icon=":material/cloud_off:")
        return
    with st.container(horizontal=True):
        for known in WELL_KNOWN:
            st.button(
                known.title, key=f"open_{known.model_id}", on_click=own.ask, args=(Wish(known.model_id),)
            )
    st.text_input(word("model"), key="own_model", max_chars=200)
    st.button(word("open_model"), key="open_model", on_click=_take_model, icon=":material/cloud_download:")


def _take_model() -> None:
    model = st.session_state["own_model"].strip()
    known = {each.model_id for each in WELL_KNOWN}
    own.ask(Wish(model if model in known else OWN, model))


def refusals() -> None:
    """Say why a table was not opened, and let another of the same file be chosen."""
    refused = own.refused()
    if refused is not None:
        st.error(sentence(refused.error), icon=":material/block:")
        if keys := [each.key for each in refused.error.values.get("candidates") or ()]:
            _choose_key(keys, None)
    if own.lost():
        st.warning(word("lost"), icon=":material/upload_file:")


def sentence(error: TableError) -> str:
    """Say in the reader's language why a table cannot be opened."""
    return label(f"table_error.{error.code}", **_plain(error.values))


def _plain(values: object) -> dict[str, object]:
    return {name: value if name == "convert" else own.plain(value) for name, value in dict(values).items()}


def _choose_key(keys: list[str], chosen: str | None) -> None:
    # The widget shows what is open: it is told so each time, since the table can change without it.
    st.session_state["own_key"] = chosen
    st.selectbox(
        word("key"), keys, key="own_key", index=None, on_change=own.ask_key, placeholder=word("no_key")
    )


def opened(table: Own) -> None:
    """Say what is open and what was assumed, and offer to turn it, cut it, or take another of its file."""
    rows, width = table.table.shape
    st.subheader(word("opened", title=own.title()), anchor="opened")
    st.markdown(
        word("facts", rows=f"{rows:,}", width=f"{width:,}", dtype=table.table.dtype, link=_link(table))
    )
    for note in table.table.notes:
        st.info(label(f"table_note.{note.code}", **_plain(note.values)), icon=":material/info:")
    keys = [each.key for each in table.table.candidates]
    if len(keys) > 1 and own.refused() is None:
        _choose_key(keys, table.table.key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        turned = controls.switch("transposed")
        with st.container(width=220):
            controls.exact("skip", 0, (width if turned else rows) - 1, 0)
    seen = own.inspection()
    if zeros := seen.zero_rows:
        st.info(_zeros(zeros), icon=":material/grid_off:")
    if seen.cut:
        first, columns = (f"{size:,}" for size in seen.values.shape)
        st.info(word("cut", rows=first, width=columns), icon=":material/crop:")


def _zeros(rows: list[int]) -> str:
    named = ", ".join(map(str, rows[:8]))
    key = "zero_rows_padding" if rows[0] == 1 else "zero_rows"
    return word(key, count=number(len(rows)), rows=named if len(rows) <= 8 else f"{named}, …")


def _link(table: Own) -> str:
    return word("link_own" if table.wish.origin == OWN else "link_named")
