"""What a visitor takes away of a table: a file of it, and the code that loads or makes it."""

from pathlib import PurePath

import streamlit as st

from pages.ui import controls, guard, layout
from pages.ui.own import Own
from pages.ui.text import label, prose
from posenc import Choice, exports, snippets_tables
from posenc.inspection import Inspection
from posenc.snippets import Snippets

PAGE = "your_table"
FRAMEWORK: Choice[str] = Choice("framework", ("NumPy", "PyTorch", "TensorFlow", "JAX"))
MADE: Choice[str] = Choice("own_code", ("load", "make"))


@guard.fragment
def take(table: Own, seen: Inspection) -> None:
    """Offer the table as it is opened, turned and cut, in a file, and the code that has it."""
    st.subheader(label("code.title"), anchor="in-code")
    st.markdown(prose(PAGE, "take"))
    ending = controls.choice(layout.FORMAT, {name: f".{name}" for name in layout.FORMAT.options})
    file, shape = f"table.{ending}", label("compare.by").join(f"{size:,}" for size in seen.whole.shape)
    st.download_button(
        label("code.download", ending=ending, shape=shape),
        lambda: exports.WRITERS[ending](seen.whole),
        _name(table, ending),
        key="take",
        icon=":material/download:",
        on_click="ignore",
    )
    made = seen.makeable and controls.choice(MADE) == "make"
    st.markdown(prose(PAGE, "make" if made else "load", file=file))
    code = _making(seen) if made else snippets_tables.loading(file)
    st.code(code[controls.choice(FRAMEWORK)], language="python", wrap_lines=True)


def _name(table: Own, ending: str) -> str:
    """Name the file as the one that was opened."""
    return f"{PurePath(table.table.name or 'table').stem}.{ending}"


def _making(seen: Inspection) -> Snippets:
    found = seen.identity
    rows, width = seen.whole.shape
    return snippets_tables.encoding(
        rows,
        width,
        base=found.base,
        layout=found.layout,
        freq_shift=found.freq_shift,
        first_position=found.first_position,
    )
