"""Nine sentences that are often said about positional encodings: one click each, and the evidence."""

import streamlit as st

import posenc
from pages.ui import chart, controls, guard, layout, sitemap
from pages.ui.text import label, number, prose
from posenc import figures, snippets_myths
from posenc.learned import SEED
from posenc.myths import FEW, MYTHS, WIDTHS, Evidence, evidence

MYTH = posenc.Choice("myth", tuple(MYTHS))
view = controls.settings()


@guard.fragment
def myth() -> None:
    """Pick a sentence: what is wrong with it, the numbers, and the curve."""
    chosen = MYTHS[controls.choice(MYTH)]
    text = st.container()
    seed = controls.reseed(SEED) if chosen.draws else SEED.default
    with layout.waiting(label("myths.wait"), FEW, view.d_model):
        found = evidence(chosen.name, view.d_model, view.base, seed)
    values = {name: number(value, 5) for name, value in found.numbers.items()} | view.sizes
    with text:
        layout.heading(prose("myths", f"said_{chosen.name}"), chosen.name)
        st.markdown(prose("myths", chosen.name, **(values | {"base": number(view.base)})))
    show(chosen.name, found)
    page = next(entry for entry in sitemap.PAGES if entry.name == chosen.page)
    st.page_link(
        f"{page.name}.py", icon=page.icon, label=label("myths.more", page=label(f"page.{page.name}.title"))
    )
    code = snippets_myths.myth(
        chosen.name, view.d_model, base=view.base, count=found.points, published=found.made
    )
    layout.in_code(code, found.made.shape, lambda: found.made, chosen.name, found.given)
    layout.sources(chosen.source)


def show(name: str, found: Evidence) -> None:
    """Draw the curves of the evidence."""
    chosen = MYTHS[name]
    figure = figures.series(
        found.x,
        {label(f"myths.curve_{curve}"): values for curve, values in found.curves.items()},
        label(f"myths.axis_{chosen.x}"),
        label(f"myths.axis_{chosen.y}"),
        log_x="x" in chosen.log,
        log_y="y" in chosen.log,
        points=len(found.x) <= len(WIDTHS),
        dashed=[label(f"myths.curve_{curve}") for curve in chosen.dashed],
        marks_x={label(f"myths.mark_{mark}"): place for mark, place in found.marks.items()},
    )
    chart.show(figure, f"myth_{name}", label("myths.alt", said=prose("myths", f"said_{name}")))


layout.opening("myths")
myth()
