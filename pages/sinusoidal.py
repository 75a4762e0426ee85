"""The sinusoidal table: its derivation, the picture, one row, one pair, wavelengths, layouts, mistakes."""

import streamlit as st

import posenc
from pages import sinusoidal_libraries
from pages.ui import chart, controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, prose
from posenc import checks, figures, formulas, motion, shift, similarity, snippets
from posenc.mistakes import INVARIANTS, MISTAKES

BARS = 1024  # more of them than pixels
WIDEST = 512  # dimensions in which a mistake shows
TOLERANCE = 1e-6  # rounding stays far below, every known mistake far above

view = controls.settings()
few = min(view.seq_len, 64)  # enough rows to compare two tables by eye
columns = posenc.columns(view.d_model, layout=view.layout)
rates = posenc.inv_freq(view.d_model, base=view.base)
wavelengths = posenc.wavelengths(view.d_model, base=view.base)


@guard.fragment
def derivation() -> None:
    """Show the intermediate arrays of the formula, one at a time."""
    layout.section("sinusoidal", "derivation")
    st.button(
        label("sinusoidal.article"),
        on_click=controls.choose,
        args=[controls.ARTICLE],
        icon=":material/menu_book:",
    )
    steps = posenc.steps(layout.corners(view.seq_len), view.d_model, base=view.base)._asdict()
    step = controls.choice(posenc.Choice("step", tuple(steps)))
    st.markdown(prose("sinusoidal", f"step_{step}", slowest=number(rates[-1]), **view.sizes))
    st.code(layout.array_text(steps[step]), language=None, wrap_lines=True)


@guard.fragment
def whole() -> None:
    """Show the whole table, and one of its positions, which a click on the table picks."""
    layout.section("sinusoidal", "heatmap")
    heatmap.show(
        "table",
        label("sinusoidal.heatmap_alt", **view.sizes),
        heatmap.of_sinusoid(view.seq_len, **view.arguments),
        marks.positions(),
        marks.dimensions(columns, rates),
        label("axis.value"),
        limit=1.0,
        height=480,
        product=(label("axis.angle"), rates[columns.pair]),
        on_pick=lambda position, _: controls.put(position=position),
    )
    vector()


def vector() -> None:
    """Pick a position: its row, as bars where there is room for them."""
    text = st.container()
    position = controls.index("position", view.seq_len, 10)
    row = posenc.sinusoidal([position], **view.arguments, dtype="float64")
    norm, expected = checks.row_norms(row)[0], checks.expected_norm(view.d_model)
    with text:
        layout.section(
            "sinusoidal", "vector", position=f"{position:,}", norm=number(norm), expected=number(expected)
        )
    groups, names = marks.by_function(row[0], columns), (label("axis.dimension"), label("axis.value"))
    figure = (figures.bars if view.d_model <= BARS else figures.lines)(groups, *names)
    chart.show(figure, "vector", label("sinusoidal.vector_alt", d_model=view.d_model, position=position))


@guard.fragment
def pair() -> None:
    """Pick a pair: its two waves and its clock, at a position that moves in the browser."""
    text = st.container()
    left, right = st.columns(2)
    with left:
        i = controls.index("pair", len(rates), 4)
    with right:
        hand = controls.exact("hand", 0, view.seq_len - 1, 10)
    waves = motion.waves(hand, view.seq_len, i, view.d_model, base=view.base)
    first, last = (f"{end:,}" for end in waves.span)
    with text:
        layout.section(
            "sinusoidal", "pair", pair=i, frequency=number(rates[i]), wavelength=number(wavelengths[i])
        )
    if len(waves.positions) < view.seq_len:
        stops = len(waves.positions)
        st.caption(label("sinusoidal.window", first=first, last=last, stops=stops, **view.sizes))
    figure = figures.turning(
        waves.span,
        {label("axis.sine"): waves.sine, label("axis.cosine"): waves.cosine},
        waves.positions,
        waves.points,
        waves.start,
        (label("axis.position"), label("axis.value")),
        marks.clock(),
        marks.moving(label("axis.position")),
    )
    angle = shift.angle(hand, i, view.d_model, base=view.base)
    values = {"pair": i, "position": f"{hand:,}", "angle": number(angle), "first": first, "last": last}
    chart.show(figure, "turning", label("sinusoidal.turning_alt", **values))


def wave_lengths() -> None:
    """Show every pair's wavelength against the two ends of the series."""
    shortest, longest, limit = wavelengths[0], wavelengths[-1], checks.wavelength_limit(view.base)
    layout.section(
        "sinusoidal",
        "wavelengths",
        shortest=number(shortest),
        longest=number(longest),
        limit=number(limit),
        still=f"{checks.still_columns(view.seq_len, view.d_model, base=view.base):,}",
        **view.sizes,
    )
    figure = figures.series(
        range(len(wavelengths)),
        {label("axis.wavelength"): wavelengths},
        label("axis.pair"),
        label("axis.wavelength"),
        log_y=True,
        points=len(wavelengths) <= BARS,
        marks_y={label("sinusoidal.shortest"): shortest, label("sinusoidal.longest"): longest},
    )
    chart.show(
        figure,
        "wavelengths",
        label("sinusoidal.wavelengths_alt", shortest=number(shortest), longest=number(longest)),
    )


def layouts() -> None:
    """Show the three layouts side by side, and that E·Eᵀ is the same."""
    options = [view.arguments | {"layout": name} for name in posenc.LAYOUT.options]
    products = (similarity.dot(posenc.sinusoidal(few, **chosen, dtype="float64")) for chosen in options)
    layout.section("sinusoidal", "layouts", difference=number(checks.largest_difference(*products), 2))
    for place, chosen in zip(st.columns(3), options, strict=True):
        with place:
            title = controls.option_label("layout", chosen["layout"])
            st.markdown(f"**{title}**")
            alt = label("sinusoidal.layout_alt", layout=title)
            small(f"layout_{chosen['layout']}", alt, heatmap.of_sinusoid(few, **chosen))


@guard.fragment
def mistakes() -> None:
    """Pick a known wrong formula: its table beside the right one, and what gives it away."""
    rows, width = max(few, 2), checks.even_width(min(view.d_model, WIDEST))
    layout.section("sinusoidal", "mistakes", rows=rows, width=width)
    mistake = MISTAKES[controls.choice(posenc.Choice("mistake", tuple(MISTAKES)))]
    st.latex(mistake.formula_latex)
    thread = label("sinusoidal.thread", url=mistake.source)
    st.markdown(f"{prose('sinusoidal', f'mistake_{mistake.name}')} {thread}")
    right, wrong = posenc.steps(rows, width, base=view.base).table, mistake.build(rows, width, view.base)
    for place, (name, shown) in zip(st.columns(2), {"right": right, "wrong": wrong}.items(), strict=True):
        with place:
            st.markdown(f"**{label(f'sinusoidal.{name}')}**")
            alt = label(f"sinusoidal.{name}_alt", rows=rows, width=width)
            small(f"mistake_{name}", alt, heatmap.of_table(shown))
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


def small(key: str, alt: str, matrix: heatmap.Matrix) -> None:
    """Draw a table small, to stand beside another."""
    axes = marks.positions(), marks.dimensions()
    heatmap.apart(key, alt, matrix, *axes, label("axis.value"), limit=1.0, height=300, half=True)


layout.opening("sinusoidal", formulas.SINUSOID)
derivation()
whole()
pair()
wave_lengths()
layout.folded("sinusoidal", "layouts", layouts)
layout.folded("sinusoidal", "libraries", sinusoidal_libraries.show, view)
layout.folded("sinusoidal", "mistakes", mistakes)
layout.in_code(
    snippets.sinusoidal(view.kept, view.d_model, base=view.base, layout=view.layout),
    (view.kept, view.d_model),
    lambda: posenc.sinusoidal(view.kept, **view.arguments),
    "sinusoidal",
    cut=view.kept < view.seq_len,
)
layout.sources("vaswani2017")
