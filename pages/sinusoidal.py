"""The sinusoidal table: its derivation, the picture, one row, one pair, wavelengths, layouts, mistakes."""

from typing import TYPE_CHECKING

import streamlit as st

import posenc
from pages.ui import chart, controls, layout, marks
from pages.ui.text import label, number, prose
from posenc import checks, figures, formulas, shift, similarity, snippets
from posenc.mistakes import INVARIANTS, MISTAKES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from plotly.graph_objects import Figure

TOLERANCE = 1e-6  # rounding stays far below, every known mistake far above

view = controls.settings()
few = min(view.rows, 64)  # enough rows to compare two tables by eye
table = posenc.sinusoidal(view.rows, **view.arguments)
columns = posenc.columns(view.d_model, layout=view.layout)
rates = posenc.inv_freq(view.d_model, base=view.base)
wavelengths = posenc.wavelengths(view.d_model, base=view.base)


@st.fragment
def derivation() -> None:
    """Show the intermediate arrays of the formula, one at a time."""
    layout.section("sinusoidal", "derivation")
    st.button(
        label("sinusoidal.article"),
        on_click=controls.choose,
        args=[controls.ARTICLE],
        icon=":material/menu_book:",
    )
    steps = posenc.steps(view.rows, view.d_model, base=view.base)._asdict()
    step = controls.choice(posenc.Choice("step", tuple(steps)))
    shape = f"({', '.join(map(str, steps[step].shape))})"
    st.markdown(prose("sinusoidal", f"step_{step}", shape=shape, slowest=number(rates[-1])))
    st.code(layout.array_text(steps[step]), language=None, wrap_lines=True)


def heatmap() -> None:
    """Show the whole table: value by value, or in blocks where it has more values than the screen."""
    layout.section("sinusoidal", "heatmap")
    title, height = label("axis.value"), 480
    if view.cut:
        blocks = posenc.sinusoid_blocks((0, view.seq_len), (0, view.d_model), **view.arguments)
        layout.block_notice(blocks)
        names = (label("axis.least"), label("axis.greatest"))
        figure = figures.block_map(
            blocks, marks.positions(), marks.dimensions(), title, names, limit=1.0, height=height
        )
    else:
        angles = checks.cell_angles(view.rows, columns, rates)
        figure = figures.heatmap(
            table,
            marks.positions(),
            marks.dimensions(columns, rates),
            title,
            limit=1.0,
            cell=(label("axis.angle"), angles),
            height=height,
        )
    sizes = {"rows": f"{view.seq_len:,}", "columns": f"{view.d_model:,}"}
    chart.show(figure, "table", label("sinusoidal.heatmap_alt", **sizes))


@st.fragment
def vector() -> None:
    """Pick a position: its row as bars."""
    text = st.container()
    position = controls.index("position", view.rows, 10)
    norm, expected = checks.row_norms(table)[position], checks.expected_norm(view.d_model)
    with text:
        layout.section(
            "sinusoidal", "vector", position=position, norm=number(norm), expected=number(expected)
        )
    figure = figures.bars(
        marks.by_function(table[position], columns), label("axis.dimension"), label("axis.value")
    )
    chart.show(figure, "vector", label("sinusoidal.vector_alt", d_model=view.d_model, position=position))


@st.fragment
def pair() -> None:
    """Pick a pair: its two waves over the positions, and its clock hand at one of them."""
    text = st.container()
    left, right = st.columns(2)
    with left:
        i = controls.index("pair", len(rates), 4)
    with right:
        hand = controls.index("hand", view.rows, 10)
    with text:
        layout.section(
            "sinusoidal", "pair", pair=i, frequency=number(rates[i]), wavelength=number(wavelengths[i])
        )
    names = (label("axis.sine"), label("axis.cosine"))
    at, sine, cosine = checks.wave(rates[i], view.rows - 1)
    waves, clock = st.columns([2, 1])
    with waves:
        figure = figures.waves(
            at, sine, cosine, hand, rates[i], names, label("axis.position"), label("axis.value")
        )
        chart.show(figure, "waves", label("sinusoidal.waves_alt", pair=i, position=hand))
    with clock:
        angle = shift.angle(hand, i, view.d_model, base=view.base)
        figure = figures.clock(
            {label("sinusoidal.hand", position=hand): angle},
            label("sinusoidal.clock_cos"),
            label("sinusoidal.clock_sin"),
        )
        chart.show(figure, "clock", label("sinusoidal.clock_alt", pair=i, position=hand, angle=number(angle)))


def wave_lengths() -> None:
    """Show every pair's wavelength against the two ends of the series."""
    shortest, longest, limit = wavelengths[0], wavelengths[-1], checks.wavelength_limit(view.base)
    layout.section(
        "sinusoidal",
        "wavelengths",
        shortest=number(shortest),
        longest=number(longest),
        limit=number(limit),
        still=checks.still_columns(table),
        d_model=view.d_model,
        seq_len=view.rows,
    )
    figure = figures.series(
        range(len(wavelengths)),
        {label("axis.wavelength"): wavelengths},
        label("axis.pair"),
        label("axis.wavelength"),
        log_y=True,
        points=True,
        marks_y={label("sinusoidal.shortest"): shortest, label("sinusoidal.longest"): longest},
    )
    chart.show(
        figure,
        "wavelengths",
        label("sinusoidal.wavelengths_alt", shortest=number(shortest), longest=number(longest)),
    )


def layouts() -> None:
    """Show the three layouts side by side, and that E·Eᵀ is the same."""
    tables = {
        name: posenc.sinusoidal(few, **(view.arguments | {"layout": name}), dtype="float64")
        for name in posenc.LAYOUT.options
    }
    difference = checks.largest_difference(*map(similarity.dot, tables.values()))
    layout.section("sinusoidal", "layouts", difference=number(difference, 2))
    for place, (name, shown) in zip(st.columns(3), tables.items(), strict=True):
        with place:
            title = controls.option_label("layout", name)
            st.markdown(f"**{title}**")
            chart.show(small(shown), f"layout_{name}", label("sinusoidal.layout_alt", layout=title))


@st.fragment
def mistakes() -> None:
    """Pick a known wrong formula: its table beside the right one, and what gives it away."""
    rows, width = max(few, 2), checks.even_width(view.columns)
    layout.section("sinusoidal", "mistakes", rows=rows, width=width)
    mistake = MISTAKES[controls.choice(posenc.Choice("mistake", tuple(MISTAKES)))]
    st.latex(mistake.formula_latex)
    thread = label("sinusoidal.thread", url=mistake.source)
    st.markdown(f"{prose('sinusoidal', f'mistake_{mistake.name}')} {thread}")
    right, wrong = posenc.steps(rows, width, base=view.base).table, mistake.build(rows, width, view.base)
    for place, (name, shown) in zip(st.columns(2), {"right": right, "wrong": wrong}.items(), strict=True):
        with place:
            st.markdown(f"**{label(f'sinusoidal.{name}')}**")
            chart.show(
                small(shown), f"mistake_{name}", label(f"sinusoidal.{name}_alt", rows=rows, width=width)
            )
    found, expected = checks.deviations(wrong, view.base), checks.deviations(right, view.base)
    layout.table(
        [label(f"sinusoidal.{name}") for name in ("property", "right", "wrong", "verdict")],
        [
            (
                prose("sinusoidal", f"invariant_{name}"),
                number(expected[name], 2),
                number(found[name], 2),
                label("sinusoidal.broken" if found[name] > TOLERANCE else "sinusoidal.kept"),
            )
            for name in INVARIANTS
        ],
    )


def small(shown: "NDArray") -> "Figure":
    """Draw a table small, to stand beside another."""
    return figures.heatmap(
        shown, marks.positions(), marks.dimensions(), label("axis.value"), limit=1.0, height=300
    )


layout.opening("sinusoidal", formulas.SINUSOID)
derivation()
heatmap()
vector()
pair()
wave_lengths()
layouts()
mistakes()
layout.cut_notice(view)
layout.in_code(
    snippets.sinusoidal(view.rows, view.d_model, base=view.base, layout=view.layout), table, "sinusoidal"
)
layout.sources("vaswani2017")
