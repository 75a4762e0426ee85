"""The waves in MiniLM's rows, part of /fixed-vs-learned: the evidence, and a fit by hand."""

from typing import Any

import streamlit as st

from pages.ui import chart, controls, guard, layout
from pages.ui.text import label, number, prose
from posenc import Integer, Real, comparison, figures, learned

PAGE = "fixed_vs_learned"
ladder_evidence = st.cache_resource(max_entries=1, show_spinner=False)(comparison.ladder)


def word(key: str, **values: object) -> str:
    """Return one of the page's labels."""
    return label(f"fixed_vs_learned.{key}", **values)


def show() -> None:
    """Show the evidence, then let the reader try."""
    ladder()
    ladder_fit()


def ladder() -> None:
    """Show the evidence for the waves in MiniLM's rows."""
    with st.spinner(word("measuring")):
        found = ladder_evidence()
    best = {name: number(curve[learned.N_PAIRS.default - 1], 3) for name, curve in found.r2.items()}
    layout.section(PAGE, "ladder", first=found.positions[0], last=found.positions[-1], **best)
    axes = {word(f"axis_{name}"): curve for name, curve in found.r2.items()}
    one, peak = {word("r2"): found.r2_by_ratio}, {number(learned.RATIO.default): learned.RATIO.default}
    _pair_of_charts(
        ("pairs", figures.series(found.pairs, axes, word("pairs"), word("r2"), points=True)),
        ("ratio", figures.series(found.ratios, one, word("ratio"), word("r2"), points=True, marks_x=peak)),
    )
    ends = {"total": number(found.phase.max(), 3), "most": number(abs(found.deviation).max(), 2)}
    st.markdown(prose(PAGE, "ladder_phase", wavelength=number(found.wavelength, 3), **ends))
    _pair_of_charts(
        *(
            (name, figures.series(found.positions, {name: values}, label("axis.position"), word(name)))
            for name, values in (("phase", found.phase), ("deviation", found.deviation))
        )
    )


def _pair_of_charts(*charts: tuple[str, Any]) -> None:
    for place, (name, figure) in zip(st.columns(2), charts, strict=True):
        with place:
            chart.show(figure, f"ladder_{name}_chart", word(f"{name}_alt"))


@guard.fragment
def ladder_fit() -> None:
    """Fit MiniLM's rows with waves of one's own choice."""
    st.markdown(prose(PAGE, "ladder_try"))
    rows, phase = comparison.ladder_rows(), learned.ladder_phase()
    places = st.columns(3)
    with places[0]:
        n_pairs = controls.integer(Integer("ladder_pairs", learned.N_PAIRS.default, 1, comparison.MOST_PAIRS))
    with places[1]:
        ratio = controls.real(Real("ladder_ratio", learned.RATIO.default, 2.0, 4.0), step=0.05)
    with places[2]:
        column = controls.integer(Integer("ladder_column", 0, 0, rows.shape[1] - 1))
    fit = learned.ladder_fit(rows, phase, n_pairs=n_pairs, ratio=ratio)
    st.markdown(word("fit", r2=number(fit.r2, 3), basis=fit.basis.shape[1]))
    values = {word("trained"): rows[:, column], word("fitted"): fit.fitted[:, column]}
    figure = figures.series(ladder_evidence().positions, values, label("axis.position"), label("axis.value"))
    chart.show(figure, "ladder_fit", word("fit_alt", column=column, n_pairs=n_pairs))
