"""Similarity between positions: every pair, value against offset, one row, far offsets, the shift matrix."""

import streamlit as st

import posenc
from pages.ui import chart, controls, heatmap, layout, marks, tables
from pages.ui.text import label, number, prose
from posenc import figures, formulas, learned, motion, shift, similarity, snippets

REACH = motion.REACH.maximum  # of k, either way
WIDTHS = (64, 128, 512)
HALVES = (470, 470)  # pixels: a matrix, and a curve or a clock beside it

view = controls.settings()


def choose() -> tuple[str, str]:
    """Choose the table and the measure, and say which table a learned one is."""
    name, measure = controls.choice(tables.TABLE), controls.choice(similarity.MEASURE)
    if name in learned.LEARNED:
        facts = learned.LEARNED[name]
        st.markdown(label("similarity.learned", **vars(facts)))
    return name, measure


@st.fragment
def matrix() -> None:
    """Show every pair of positions, and beside it one row, which a click picks."""
    layout.section("similarity", "matrix")
    st.markdown(prose("similarity", f"measure_{measure}"))
    if empty := similarity.undefined_cells(found.matrix):
        st.info(label("similarity.undefined", cells=f"{empty:,}"), icon=":material/grid_off:")
    left, right = layout.beside(*HALVES)
    with left:
        heatmap.show(
            "matrix",
            label("similarity.matrix_alt", measure=unit, table=title, rows=f"{n:,}"),
            whole,
            marks.positions(),
            marks.positions(),
            unit,
            limit=1.0 if measure == "cosine" else heatmap.largest(whole),
            sequential=measure == "distance",
            square=True,
            height=440,
            half=True,
            average="rms" if fixed and measure == "distance" else "mean",
            on_pick=lambda position, _: controls.put(position=position),
        )
    with right:
        if n > 1:
            row()
        else:
            st.info(label("similarity.single"), icon=":material/looks_one:")


def row() -> None:
    """Pick a position: its row of the matrix as a curve, and the mean at the same offsets."""
    text = st.container()
    position = controls.index("position", n, 10)
    with text:
        layout.section("similarity", "row", position=f"{position:,}")
        st.markdown(
            prose("similarity", "row_far" if n > rows else "row_even" if kind == "even" else "row_other")
        )
    here, mean = label("similarity.row_of", position=f"{position:,}"), label("similarity.mean")
    places, alt = label("axis.position"), label("similarity.row_alt", measure=unit, position=position)
    if n > rows:
        curves = {here: heatmap.one_row(whole, position)}
        figure = figures.band(curves, places, unit, marks_x={"": position})
    else:
        curves = {here: found.matrix[position], mean: found.profile.seen_from(position)}
        figure = figures.series(range(n), curves, places, unit, dashed=(mean,), marks_x={"": position})
    chart.show(figure, "row", alt)


def offset() -> None:
    """Show value against offset, and how much of the matrix the offset explains."""
    layout.section("similarity", "offset", spread=number(found.profile.widest, 2))
    st.markdown(prose("similarity", f"offset_{kind}"))
    turn = similarity.first_turn(found.profile.mean)
    if n > rows:
        st.info(label("similarity.cut", rows=f"{rows:,}", seq_len=f"{n:,}"), icon=":material/crop:")
    curves = {title: found.profile, label("similarity.shuffled"): found.shuffled}
    figure = figures.band(
        {name: (profile.offset, *profile.band) for name, profile in curves.items()},
        label("axis.offset"),
        unit,
        marks_x={label("similarity.turn_mark", turn=turn): turn} if turn else None,
    )
    chart.show(figure, "offset", label("similarity.offset_alt", measure=unit, table=title))
    st.markdown(prose("similarity", "turn" if turn else "no_turn", turn=turn, rows=rows))
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
    """Choose k: the matrix M_k; and a position moved by every k, in the browser."""
    text, (first, second, third) = st.container(), st.columns(3)
    with first:
        k = controls.exact("k", -REACH, REACH, 5)
    with second:
        position = controls.exact("hand", 0, view.seq_len - 1, 10)
    with third:
        pair = controls.index("pair", shift.complete_pairs(view.d_model), 4)
    found = shift.shift(k, rows, **view.arguments)
    with text:
        layout.section("similarity", "shift", k=k, rows=f"{rows:,}", error=number(found.error, 2))
        if kind == "odd":
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


layout.opening("similarity", formulas.DOT, formulas.SHIFT, formulas.SHIFT_MATRIX)
name, measure = choose()
fixed = name == tables.SINUSOID
title, unit = controls.option_label("table", name), controls.option_label("measure", measure)
kind = tables.kind(name, view.d_model)
with st.spinner(label("similarity.wait")):
    found = tables.measured(name, measure, tables.rows(view), **view.arguments)
rows = len(found.matrix)  # of which all pairs are measured
n = view.seq_len if fixed else rows
whole = (
    heatmap.of_similarity(measure, n, view.d_model, base=view.base)
    if fixed
    else heatmap.of_table(found.matrix)
)
matrix()
if n > 1:
    offset()
if not fixed:
    st.info(label("similarity.formula_only"), icon=":material/function:")
elif view.d_model == 1:
    st.info(label("similarity.no_pair"), icon=":material/function:")
else:
    far()
    moved()
layout.in_code(
    snippets.similarity(name, measure, rows, **view.arguments),
    found.matrix.shape,
    lambda: found.matrix,
    "similarity",
    cut=rows < n,
)
layout.sources("vaswani2017")
