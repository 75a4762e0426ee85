"""The sinusoid as libraries build it, part of /sinusoidal: a library's table beside the paper's."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

import posenc
from pages.ui import chart, controls, guard, heatmap, layout, marks
from pages.ui.controls import Settings
from pages.ui.text import label, number, prose
from posenc import figures, library_sinusoids

PAGE = "sinusoidal"
NAMES = {name: library_sinusoids.title(name) for name in library_sinusoids.IMPLEMENTATION.options}
PAPER = {"layout": posenc.LAYOUT.default, "freq_shift": posenc.FREQ_SHIFT.default}


def word(key: str, **values: object) -> str:
    """Return one of the section's labels."""
    return label(f"libraries.{key}", **values)


@guard.fragment
def show(view: Settings) -> None:
    """Choose a function of a library: its parameters, its table and rates beside the paper's, its line."""
    layout.section(PAGE, "libraries", base=number(view.base))
    name = controls.choice(library_sinusoids.IMPLEMENTATION, NAMES)
    options = library_sinusoids.LIBRARY_SINUSOIDS[name].parameters
    facts(name, options)
    rows = library_sinusoids.compared(view.seq_len, view.d_model)
    with st.spinner(word("wait")):
        found = library_sinusoids.beside_paper(name, rows, view.d_model, base=view.base)
        st.markdown(prose(PAGE, f"libraries_{found.verdict}"))
        pictures(view, options)
    differences(found)
    if rows < view.seq_len:
        st.caption(word("kept", rows=f"{rows:,}"))
    figure = figures.series(
        range(len(found.paper_rates)),
        {word("library"): found.padded_rates, word("paper"): found.paper_rates},
        label("axis.pair"),
        word("rate"),
        log_y=True,
        dashed=(word("paper"),),
    )
    chart.show(figure, "library_rates", word("rates_alt", library=NAMES[name]))
    st.code(
        library_sinusoids.code(name, view.kept, view.d_model, base=view.base),
        language="python",
        wrap_lines=True,
    )
    for quirk in library_sinusoids.quirks(name):
        st.markdown(prose(PAGE, f"quirk_{quirk}"))
    st.markdown(prose(PAGE, "libraries_rounding"))


def facts(name: str, options: Mapping[str, Any]) -> None:
    """Put the parameters of the library and of the paper side by side."""
    first = library_sinusoids.first_position(name)
    layout.table(
        ["", word("library"), word("paper")],
        [
            *((f"`{key}`", *(f"`{chosen[key]}`" for chosen in (options, PAPER))) for key in PAPER),
            (word("first_position"), first, library_sinusoids.PAPER_FIRST),
        ],
    )


def pictures(view: Settings, options: Mapping[str, Any]) -> None:
    """Draw both tables whole, in views that move together."""
    for place, (key, chosen) in zip(st.columns(2), {"library": options, "paper": PAPER}.items(), strict=True):
        with place:
            st.markdown(f"**{word(key)}**")
            heatmap.show(
                f"{key}_table",
                word(f"{key}_alt", **view.sizes),
                heatmap.of_sinusoid(view.seq_len, view.d_model, base=view.base, **chosen),
                marks.positions(),
                marks.dimensions(),
                label("axis.value"),
                limit=1.0,
                height=300,
                half=True,
                view="libraries_view",
            )


def differences(found: library_sinusoids.Beside) -> None:
    """Say where the two tables differ most, as they are and with the columns in the same order."""
    header = [word(name) for name in ("compared", "difference", "where")]
    rows = [
        (
            word(order),
            number(each.value),
            word("at", position=f"{each.position:,}", dimension=f"{each.dimension:,}") if each.value else "–",
        )
        for order, each in (("as_it_is", found.as_it_is), ("in_order", found.in_order))
    ]
    layout.table(header, rows)
