"""Similarity between positions: every pair, value against offset, one row, far offsets, the shift matrix."""

import streamlit as st

import posenc
from pages.ui import chart, controls, layout, marks, tables
from pages.ui.text import label, number, prose
from posenc import figures, formulas, learned, shift, similarity, snippets

K = posenc.Integer("k", 5, -64, 64)
WIDTHS = (64, 128, 512)
HALVES = (470, 470)  # pixels: a matrix, and a curve or a clock beside it

view = controls.settings()


def choose() -> tuple[str, str]:
    """Choose the table and the measure, and say which table a learned one is."""
    name, measure = controls.choice(tables.TABLE), controls.choice(similarity.MEASURE)
    if name in learned.LEARNED:
        facts = learned.LEARNED[name]
        st.caption(label("similarity.learned", **vars(facts)))
    return name, measure


@st.fragment
def row() -> None:
    """Pick a position: its row of the matrix as a curve, and the mean at the same offsets."""
    text, last = st.container(), n - 1
    position = controls.integer(posenc.Integer("position", min(10, last), 0, last))
    with text:
        layout.section("similarity", "row", position=position)
        st.markdown(prose("similarity", "row_even" if kind == "even" else "row_other"))
    here, mean = label("similarity.row_of", position=position), label("similarity.mean")
    figure = figures.series(
        range(last + 1),
        {here: found.matrix[position], mean: found.profile.seen_from(position)},
        label("axis.position"),
        unit,
        dashed=(mean,),
        marks_x={"": position},
    )
    chart.show(figure, "row", label("similarity.row_alt", measure=unit, position=position))


def matrix() -> None:
    """Show every pair of positions, and beside it one row."""
    layout.section("similarity", "matrix")
    st.markdown(prose("similarity", f"measure_{measure}"))
    if name == tables.SINUSOID and rows < view.seq_len:
        cut = label("similarity.cut", rows=f"{rows:,}", seq_len=f"{view.seq_len:,}")
        st.info(cut, icon=":material/crop:")
    if empty := similarity.undefined_cells(found.matrix):
        st.info(label("similarity.undefined", cells=f"{empty:,}"), icon=":material/grid_off:")
    left, right = layout.beside(*HALVES)
    with left:
        figure = figures.heatmap(
            found.matrix,
            marks.positions(),
            marks.positions(),
            unit,
            limit=1.0 if measure == "cosine" else None,
            sequential=measure == "distance",
            square=True,
            height=440,
        )
        alt = label("similarity.matrix_alt", measure=unit, table=title, rows=n)
        chart.show(figure, "matrix", alt)
    with right:
        if n > 1:
            row()
        else:
            st.info(label("similarity.single"), icon=":material/looks_one:")


def offset() -> None:
    """Show value against offset, and how much of the matrix the offset explains."""
    layout.section("similarity", "offset", spread=number(found.profile.widest, 2))
    st.markdown(prose("similarity", f"offset_{kind}"))
    turn = similarity.first_turn(found.profile.mean)
    figure = figures.band(
        found.profile.offset,
        {title: found.profile.band, label("similarity.shuffled"): found.shuffled.band},
        label("axis.offset"),
        unit,
        marks_x={label("similarity.turn_mark", turn=turn): turn} if turn else None,
    )
    chart.show(figure, "offset", label("similarity.offset_alt", measure=unit, table=title))
    st.markdown(prose("similarity", "turn" if turn else "no_turn", turn=turn, rows=n))
    st.markdown(prose("similarity", "share"))
    for place, (which, share) in zip(st.columns(3), found.shares.items(), strict=True):
        place.metric(label(f"similarity.share_{which}"), number(share), border=True)


def far() -> None:
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
    if kind == "odd":
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


@st.fragment
def moved() -> None:
    """Slide k: the matrix M_k, the turn of one pair, and a position moved by it."""
    text, (first, second, third) = st.container(), st.columns(3)
    with first:
        k = controls.integer(K)
    with second:
        position = controls.integer(posenc.Integer("hand", min(10, rows - 1), 0, rows - 1))
    with third:
        pairs = shift.complete_pairs(view.d_model)
        pair = controls.integer(posenc.Integer("pair", min(4, pairs - 1), 0, pairs - 1))
    found = shift.shift(k, rows, size=figures.MAX_SIDE, **view.arguments)
    shown = len(found.corner)
    with text:
        layout.section("similarity", "shift", k=k, rows=f"{rows:,}", error=number(found.error, 2))
        if kind == "odd":
            st.markdown(prose("similarity", "shift_odd"))
        if shown < view.d_model:
            st.info(
                label("similarity.corner", shown=shown, d_model=f"{view.d_model:,}"), icon=":material/crop:"
            )
    rates = posenc.inv_freq(view.d_model, base=view.base)
    dimensions = marks.dimensions(posenc.columns(view.d_model, layout=view.layout), rates)
    left, right = layout.beside(*HALVES)
    with left:
        figure = figures.heatmap(
            found.corner, dimensions, dimensions, label("axis.value"), limit=1.0, square=True, height=420
        )
        chart.show(figure, "shift", label("similarity.shift_alt", k=k, shown=shown))
    with right:
        hands = {
            label("sinusoidal.hand", position=p): shift.angle(p, pair, view.d_model, base=view.base)
            for p in (position, position + k)
        }
        figure = figures.clock(hands, label("sinusoidal.clock_cos"), label("sinusoidal.clock_sin"))
        chart.show(figure, "clock", label("similarity.clock_alt", pair=pair, position=position, k=k))
        st.latex(formulas.rotation(pair, k, found.angles[pair]))
    figure = figures.heatmap(
        found.rows(position),
        marks.vectors(formulas.MOVED),
        dimensions,
        label("axis.value"),
        limit=1.0,
        height=240,
    )
    chart.show(figure, "moved", label("similarity.moved_alt", position=position, k=k))


layout.opening("similarity", formulas.DOT, formulas.SHIFT, formulas.SHIFT_MATRIX)
name, measure = choose()
rows = tables.rows(view)
title, unit = controls.option_label("table", name), controls.option_label("measure", measure)
kind = tables.kind(name, view.d_model)
with st.spinner(label("similarity.wait")):
    found = tables.measured(name, measure, rows, **view.arguments)
n = len(found.matrix)
matrix()
if n > 1:
    offset()
if name != tables.SINUSOID:
    st.info(label("similarity.formula_only"), icon=":material/function:")
elif view.d_model == 1:
    st.info(label("similarity.no_pair"), icon=":material/function:")
else:
    far()
    moved()
layout.in_code(snippets.similarity(name, measure, rows, **view.arguments), found.matrix, "similarity")
layout.sources("vaswani2017")
