"""Similarity between positions: every pair, value against offset, one row, far offsets, the shift matrix."""

import streamlit as st

from pages import similarity_shift
from pages.ui import chart, controls, guard, heatmap, layout, marks, tables
from pages.ui.text import label, number, prose
from posenc import figures, formulas, learned, snippets
from posenc.picks import Pick
from posenc.similarity import MEASURE, first_turn, undefined_cells

HALVES = (470, 470)  # pixels: a matrix, and a curve beside it
ROWS = {"even": "row_even", "rotary": "row_even", "line": "row_even", "grid": "row_grid"}

view = controls.settings()


def choose() -> tuple[Pick, str]:
    """Choose the table and the measure, and say what the rows of the table are."""
    name, measure = tables.choose(tables.TABLE, view.base), controls.choice(MEASURE)
    chosen = tables.chosen(name, view)
    if name in learned.LEARNED:
        facts = learned.LEARNED[name]
        st.markdown(label("similarity.learned", **vars(facts)))
    elif name != tables.SINUSOID:
        st.markdown(prose("similarity", f"about_{tables.family(name)}", **about(chosen)))
    tables.elsewhere()
    return chosen, measure


def about(chosen: Pick) -> dict[str, object]:
    """Return the sizes of a scheme's table, in words."""
    grid = label("compare.by").join(map(str, chosen.grid or ()))
    paper = chosen.scheme.paper
    source = label("tables.paper", authors=paper.authors, year=paper.year, url=paper.url)
    sizes = {"rows": f"{chosen.rows:,}", "d_model": f"{chosen.d_model:,}", "most": tables.most(view)}
    return sizes | {"grid": grid, "source": source}


@guard.fragment
def matrix() -> None:
    """Show every pair of positions, and beside it one row, which a click picks."""
    layout.section("similarity", "matrix")
    st.markdown(prose("similarity", f"measure_{measure}"))
    if empty := undefined_cells(found.matrix):
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
            average="rms" if endless and measure == "distance" else "mean",
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
        st.markdown(prose("similarity", "row_far" if n > rows else ROWS.get(kind, "row_other")))
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
    if kind == "grid":
        tables.lead("images")
    turn = first_turn(found.profile.mean)
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


layout.opening("similarity", formulas.DOT, formulas.SHIFT, formulas.SHIFT_MATRIX)
pick, measure = choose()
title, unit = tables.title(pick.name), controls.option_label("measure", measure)
kind, endless = tables.kind(pick), tables.endless(pick)
found = tables.measured(pick, measure)
rows = pick.rows  # of which all pairs are measured
n = view.seq_len if endless else rows
whole = tables.matrix(pick, measure, n, found.matrix)
matrix()
if n > 1:
    offset()
if pick.name != tables.SINUSOID:
    st.info(label("similarity.formula_only"), icon=":material/function:")
elif view.d_model == 1:
    st.info(label("similarity.no_pair"), icon=":material/function:")
else:
    layout.folded("similarity", "far", similarity_shift.far, view)
    layout.folded("similarity", "shift", similarity_shift.moved, view)
layout.in_code(
    snippets.similarity(pick, measure),
    found.matrix.shape,
    lambda: found.matrix,
    "similarity",
    {f"{pick.name}.npy": pick.exact()} if pick.kind == "own" else None,
    cut=rows < n,
)
layout.sources(*dict.fromkeys(("vaswani2017", pick.scheme.source)))
