"""The pieces of a sentence as chips, shown as they are: nothing in them is read as Markdown or HTML."""

import html
from collections.abc import Collection, Sequence

import streamlit as st

from pages.ui.text import label

# Left to right whatever the script, so that position 0 is always the first; a piece keeps its own direction.
# Marks piled on a letter stay inside their chip.
STYLE = """<style>
.pieces.pieces {display: flex; flex-wrap: wrap; gap: .4rem; direction: ltr; margin: 0 !important;
  padding: 0 !important; list-style: none}
.pieces li {border: 1px solid currentColor; border-radius: .5rem; padding: .15rem .6rem; margin: 0;
  text-align: center; max-width: 100%; overflow: hidden; overflow-wrap: anywhere; white-space: pre-wrap}
.pieces li.marked {border-width: 3px; padding: .02rem .48rem}
.pieces bdi {display: block; font-weight: 600; line-height: 1.6; min-height: 1.6em}
.pieces small {display: block; font-variant-numeric: tabular-nums}
</style>"""


def show(pieces: Sequence[str], ids: Sequence[int] = (), marked: Collection[int] = ()) -> None:
    """Show one chip a piece: its position above, its number in the vocabulary below if it has one.

    Parameters
    ----------
    pieces
        Any text.
    ids
        One a piece, or none.
    marked
        Positions of the chips with a thick border.
    """
    below = [f"<small>{label('sentence.id', id=number)}</small>" for number in ids] or [""] * len(pieces)
    chips = [
        f"<li{' class=marked' if position in marked else ''}><small>{position}</small>"
        f"<bdi>{html.escape(piece)}</bdi>{number}</li>"
        for position, (piece, number) in enumerate(zip(pieces, below, strict=True))
    ]
    st.html(
        f'{STYLE}<ol class=pieces aria-label="{html.escape(label("sentence.chips"))}">{"".join(chips)}</ol>'
    )
