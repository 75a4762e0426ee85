"""The second half of /similarity, of the sinusoid alone: far offsets, and the matrix that moves a row."""

import streamlit as st

import posenc
from pages.ui import chart, controls, guard, heatmap, layout, marks, tables
from pages.ui.controls import Settings
from pages.ui.text import label, number, prose
from posenc import figures, formulas, motion, shift

REACH = motion.REACH.maximum  # of k, either way
WIDTHS = (64, 128, 512)
HALVES = (470, 470)  # pixels: a matrix, and a clock beside it


def far(view: Settings) -> None:
    """Show that the sinusoid does not start again, and that its similarity does not fall steadily."""
    distant = shift.far(view.d_model, base=view.base)
    rises = {f"rise_{width}": shift.first_rise(width, base=view.base) for width in WIDTHS}
    values = {
        key: number(value) for key, value in distant._asdict().items() if key not in ("offset", "cosine")
    }
    rise = shift.first_rise(view.d_model, base=view.base)
    layout.section(
        "similarity", "far", base=number(view.base), d_model=view.d_model, rise=rise, **rises, **values
    )
    if tables.odd(view.d_model):
        st.markdown(prose("similarity", "far_odd"))
    figure = figures.series(
        distant.offset,
        {label("option.measure.cosine"): distant.cosine},
        label("axis.offset_log"),
        label("option.measure.cosine"),
        log_x=True,
        marks_x={
            label("similarity.base_mark"): distant.base_offset,
            label("similarity.turn_length"): distant.turn_offset,
        },
    )
    chart.show(figure, "far", label("similarity.far_alt", **values))


@guard.fragment
def moved(view: Settings) -> None:
    """Choose k: the matrix M_k; and a position moved by every k, in the browser."""
    text, (first, second, third) = st.container(), st.columns(3)
    with first:
        k = controls.exact("k", -REACH, REACH, 5)
    with second:
        position = controls.exact("hand", 0, view.seq_len - 1, 10)
    with third:
        pair = controls.index("pair", shift.complete_pairs(view.d_model), 4)
    rows = tables.rows(view)
    found = shift.shift(k, rows, **view.arguments)
    with text:
        layout.section("similarity", "shift", k=k, rows=f"{rows:,}", error=number(found.error, 2))
        if tables.odd(view.d_model):
            st.markdown(prose("similarity", "shift_odd"))
    rates = posenc.inv_freq(view.d_model, base=view.base)
    dimensions = marks.dimensions(posenc.columns(view.d_model, layout=view.layout), rates)
    left, right = layout.beside(*HALVES)
    with left:
        alt, moving = label("similarity.shift_alt", k=k, **view.sizes), heatmap.of_shift(k, **view.arguments)
        look = {"limit": 1.0, "square": True, "height": 420, "half": True}
        heatmap.apart("shift", alt, moving, dimensions, dimensions, label("axis.value"), **look)
    with right:
        st.latex(formulas.rotation(pair, k, found.angles[pair]))
        st.markdown(prose("similarity", "shift_moving"))
    every = motion.shifts(position, pair, reach=REACH, **view.arguments)
    shown = len(every.before)
    if shown < view.d_model:
        st.caption(label("similarity.first_dimensions", shown=shown, **view.sizes))
    figure = figures.shifting(
        every.offsets,
        dict(zip(formulas.MOVED, (every.before, every.moved, every.after), strict=True)),
        (every.here, every.there),
        k + REACH,
        (label("axis.dimension"), label("axis.value")),
        marks.clock(),
        marks.moving(label("label.k")),
    )
    values = {"pair": pair, "position": f"{position:,}", "k": k, "reach": REACH}
    chart.show(figure, "shifting", label("similarity.shifting_alt", **values))
