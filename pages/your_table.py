"""A table that a visitor brings along: opened, seen, told what it is, and laid beside others."""

from contextlib import nullcontext

import streamlit as st

from pages import your_table_away, your_table_source, your_table_verdict
from pages.ui import controls, layout, own, portraits, tables
from pages.ui.text import label, number, prose
from posenc import Choice, picks
from posenc.comparison import Portrait

PAGE = "your_table"
BESIDE: Choice[str] = Choice("beside", picks.NAMES)


def word(key: str, **values: object) -> str:
    """Return one of the page's labels."""
    return label(f"your_table.{key}", **values)


def beside() -> dict[str, Portrait]:
    """Choose another table, and lay the two on each other: title → portrait of both."""
    layout.section(PAGE, "beside")
    name, mine = tables.choose(BESIDE, view.base, with_own=False), picks.pick_own(seen.given)
    tables.elsewhere()
    other = picks.pick_beside(name, mine.name, base=view.base, layout=view.layout, own=mine)
    both, found = own.beside(mine, other)
    shapes = {"shape_a": both[0].shape, "shape_b": both[1].shape, "rows": f"{found.rows:,}"}
    st.markdown(prose(PAGE, "widths_equal" if found.same_width else "widths_differ", **shapes))
    for place, measure in zip(st.columns(3), ("difference", "permuted", "cka"), strict=True):
        place.metric(word(f"together_{measure}"), number(getattr(found, measure), 3), border=True)
    titles = [label("fixed_vs_learned.a", title=title), label("fixed_vs_learned.b", title=tables.title(name))]
    return dict(zip(titles, both, strict=True))


def similarity() -> None:
    """Show how alike any two rows of both are."""
    layout.section(PAGE, "similarity")
    for _ in portraits.cosines(both):
        pass


view = controls.settings()
layout.opening(PAGE)
your_table_source.choose()
table = own.opened()
your_table_source.refusals()
your_table_source.opened(table)
seen, title = own.inspection(), own.title()
# What a table is takes up to a second to tell, and is told once.
with nullcontext() if "identity" in vars(seen) else st.spinner(word("looking")):
    your_table_verdict.show(seen)
your_table_verdict.pictures(seen)
if seen.repair:
    layout.folded(PAGE, "repair", your_table_verdict.repaired, seen)
if seen.cells(0) is not None:
    layout.folded(PAGE, "grid", your_table_verdict.grid, seen)
both = beside()
similarity()
portraits.offset(PAGE, both)
portraits.folded(PAGE, both)
your_table_away.take(table, seen)
layout.sources("vaswani2017", "kornblith2019")
