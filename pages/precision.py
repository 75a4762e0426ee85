"""What rounding does: how far off, what falls together, one pair, the scores, and real accidents."""

import streamlit as st

import posenc
from pages.ui import chart, controls, guard, heatmap, layout, marks, rounding, tables
from pages.ui.text import label, number, prose
from posenc import figures, formulas, precision, snippets_precision
from posenc import precision_ranges as ranges
from posenc import precision_scores as scores
from posenc.blocks import Blocks, Span
from posenc.parameters import PRECISION, SEQ_LEN, STAGE

LAST = SEQ_LEN.maximum - 1
POINTS = 240  # positions at which two are moved together
BLOCKS = 200  # pixels that axes and colours leave of a third of the page

view = controls.settings()
n = view.seq_len


def choose() -> tuple[str, str, str, int, int]:
    """Choose whose angles, in which format, what is rounded to it, and where to look."""
    columns = st.columns(3)
    with columns[0]:
        which = controls.choice(ranges.ANGLES_OF)
    with columns[1]:
        form = controls.choice(PRECISION)
    with columns[2]:
        stage = controls.choice(STAGE)
    columns = st.columns(3)
    with columns[0]:
        position = controls.exact("position", 0, LAST, 1024)
    with columns[1]:
        width = controls.integer(posenc.HEAD_DIM) if which == "rotary" else view.d_model
    st.latex(formulas.ROUNDED[stage])
    st.markdown(prose("precision", f"stage_{stage}"))
    with st.expander(label("precision.stages"), icon=":material/table:"):
        st.markdown(prose("precision", "stages"))
    if which == tables.SINUSOID and tables.odd(view.d_model):
        st.info(label("precision.odd"), icon=":material/function:")
    return which, form, stage, width, position


def error() -> None:
    """Show the worst error of each range of positions: every format, and every thing that is rounded."""
    layout.section("precision", "error")
    if len(rates) > ranges.PAIRS:
        st.caption(label("precision.few", few=ranges.PAIRS, pairs=f"{len(rates):,}"))
    worst = rounding.errors(width, view.base, form, stage)
    formats = {label(f"option.precision.{name}"): (name, stage) for name in PRECISION.options}
    stages = {label(f"option.stage.{name}"): (form, name) for name in STAGE.options}
    for place, (key, cases) in zip(st.columns(2), {"formats": formats, "steps": stages}.items(), strict=True):
        found = {name: worst[case] for name, case in cases.items()}
        with place:
            st.markdown(f"**{label(f'precision.{key}', format=title, stage=rounded)}**")
            figure = figures.series(
                {name: each.first for name, each in found.items()},
                {name: each.worst for name, each in found.items()},
                label("precision.from"),
                label("precision.error"),
                log_x=True,
                log_y=True,
                powers_y=True,
                marks_x={"": position} if position else None,
            )
            chart.show(figure, f"error_{key}", label(f"precision.{key}_alt", format=title, stage=rounded))


@guard.fragment
def near() -> None:
    """Pick a pair: its sine and its clock near the position, with and without rounding."""
    apart = number(precision.spacing([position], form)[0])
    layout.section("precision", "near", gap=apart, position=f"{position:,}", format=title)
    pair = controls.index("pair", len(rates), 8)
    found = ranges.near(position, pair, width, form, stage=stage, base=view.base)
    figure = figures.stepping(
        found.span,
        found.exact,
        found.positions,
        (found.right, found.made),
        found.start,
        (label("precision.exact"), title),
        (label("axis.position"), label("axis.sine")),
        marks.clock(),
        marks.moving(label("axis.position")),
    )
    values = {"pair": pair, "position": f"{position:,}", "format": title}
    chart.show(figure, "near", label("precision.near_alt", **values))


def phase() -> None:
    """Show how far off each pair's angle is, at worst, in each range of positions."""
    layout.section("precision", "phase")
    some = ranges.picked(len(rates))
    found = ranges.phases(rates[some], form, stage=stage)
    names = [label("precision.decade", first=f"{first:,}") for first in found.first]
    figure = figures.series(
        some,
        dict(zip(names, found.worst, strict=True)),
        label("axis.pair"),
        label("precision.phase"),
        log_y=True,
        powers_y=True,
        marks_y={"π": ranges.HALF_TURN},
    )
    chart.show(figure, "phase", label("precision.phase_alt", format=title, stage=rounded))


@guard.fragment
def matrix() -> None:
    """Show the scores of all positions around one: exact, rounded, and what is between them."""
    layout.section("precision", "matrix", first=f"{first:,}", last=f"{first + n - 1:,}")
    with st.spinner(label("precision.wait")):
        grid = layout.columns(3, layout.PICTURE)
        for name in ("exact", "made", "between"):
            whole, words = picture(name), label(f"precision.{name}", format=title)
            with grid.cell():
                st.markdown(f"**{words}**")
                heatmap.show(
                    f"scores_{name}",
                    label("precision.scores_alt", which=words, first=f"{first:,}", **view.sizes),
                    whole,
                    marks.positions(first=first),
                    marks.positions(first=first),
                    label("precision.score"),
                    limit=rounding.largest(n, *chosen) if name == "between" else 1.0,
                    square=True,
                    height=340,
                    half=True,
                    average="mean" if name == "exact" else "estimated",
                    view="scores_view",
                )


def picture(name: str) -> heatmap.Matrix:
    """Return one of the three matrices, in no more blocks than there are pixels for."""
    exact = heatmap.of_offsets(scores.exact_scores(rates), n)

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        most = min(down, across, BLOCKS)
        if name == "exact":
            return exact.cut(rows, columns, most, most)
        found = rounding.scored((rows, columns), most, *chosen)
        return found.made if name == "made" else found.difference

    return heatmap.Matrix((n, n), cut)


@guard.fragment
def along() -> None:
    """Pick an offset: the score of two positions so far apart, wherever they stand."""
    text = st.container()
    offset = controls.exact("offset", 0, 4096, 3)
    places = precision.log_positions(SEQ_LEN.maximum, POINTS)
    found = scores.score_along(places, offset, rates, form, stage=stage)
    (exact,) = scores.score_along([0], offset, rates, "float64", stage="table")
    with text:
        layout.section("precision", "along", offset=f"{offset:,}", exact=number(exact))
    figure = figures.series(
        places,
        {title: found},
        label("precision.place"),
        label("precision.score"),
        log_x=True,
        marks_y={label("precision.exact"): exact},
    )
    chart.show(figure, "along", label("precision.along_alt", offset=offset, format=title))


layout.opening("precision", formulas.ROUNDING)
which, form, stage, width, position = choose()
title, rounded = controls.option_label("precision", form), controls.option_label("stage", stage)
rates, first = posenc.inv_freq(width, base=view.base), scores.first_position(position, n)
chosen = width, view.base, form, stage, first
error()
rounding.together(n)
near()
matrix()
layout.folds("precision", phase=phase, along=along, accidents=rounding.accidents)
layout.folded("precision", "float32", rounding.float32, rates)
shown, name = min(n, tables.MOST_ROWS), "head_dim" if which == "rotary" else "d_model"
layout.in_code(
    snippets_precision.precision(first, shown, width, form, stage, base=view.base, name=name),
    (shown, shown),
    lambda: scores.matrix(first, shown, rates, form, stage=stage),
    "scores",
    cut=shown < n,
)
layout.sources(
    "su2021", "wang2024precision", "cbcase2023", "fecet2023", "hanchen2024", "toddwbucy2026", "dxqb2026"
)
