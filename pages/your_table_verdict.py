"""What a visitor's table is, in one sentence, with the evidence: part of /your-table."""

import streamlit as st

from pages.ui import controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, prose
from posenc import Choice, figures
from posenc.blocks import Window
from posenc.inspection import Inspection, around
from posenc.snippets import FRAMEWORKS

PAGE, VIEW = "your_table", "own_view"
REPAIR: Choice[str] = Choice("repair_in", FRAMEWORKS)
MOST_NAMES = 3
MEASURES = ("directions", "neighbours", "offset_share", "nearest_row_share")  # of what has no formula


def word(key: str, **values: object) -> str:
    """Return one of the page's labels."""
    return label(f"your_table.{key}", **values)


def show(seen: Inspection) -> None:
    """Say what the table is and how sure that is, and list what was found."""
    layout.section(PAGE, "verdict")
    with st.container(border=True):
        st.markdown(f"#### {word(seen.sureness, what=_what(seen))}")
        if seen.wrong:
            st.markdown(prose(PAGE, f"mistake_{seen.wrong}"))
        elif seen.libraries:
            st.markdown(prose(PAGE, "known"))
        else:
            st.markdown(prose(PAGE, f"about_{seen.identity.scheme}"))
        if facts := _facts(seen):
            with st.container(key="facts"):  # on a phone it is scrolled, not squeezed
                layout.table([word("found"), ""], facts)


def _what(seen: Inspection) -> str:
    """Name what the table is."""
    if seen.wrong == "random_init":  # which is a mistake only where something else was meant
        return word("what_random_init")
    what = word(f"what_{seen.identity.scheme}")
    if seen.wrong:
        return word("with_mistake", what=what, mistake=label(f"option.mistake.{seen.wrong}"))
    if seen.libraries:
        names = label("compare.comma").join(seen.libraries[:MOST_NAMES])
        return word("as_built", what=what, names=names)
    return what


def _facts(seen: Inspection) -> list[tuple[str, str]]:
    found = seen.identity
    rows = [(word(f"fact_{name}"), _value(name, value)) for name, value in seen.facts.items()]
    if found.base is not None and found.base_error:
        named = [name for name, _ in rows].index(word("fact_base"))
        error = word("base_error", base=number(found.base, 6), error=number(found.base_error, 2))
        rows[named] = (word("fact_base"), error)
    if found.implementations:
        rows.append(
            (
                word("fact_functions"),
                label("compare.comma").join(f"`{name}`" for name in found.implementations),
            )
        )
    if found.odd_rows:
        shown = ", ".join(map(str, found.odd_rows[:12]))
        rows.append((word("fact_odd_rows"), shown if len(found.odd_rows) <= 12 else f"{shown}, …"))
    if found.residual is not None:
        rows.append((word("fact_residual"), number(found.residual, 2)))
    rows += [
        (word(f"fact_{name}"), word(f"noise_{name}", value=number(found.measures[name], 3)))
        for name in MEASURES
        if name in found.measures
    ]
    if seen.next_best:
        code, values = seen.next_best
        rows.append((word("fact_next"), word(code, **values)))
    return rows


def _value(name: str, value: object) -> str:
    if name == "grid":
        return label("compare.by").join(map(str, value))
    return number(value, 6) if isinstance(value, float) else f"`{value}`"


def pictures(seen: Inspection) -> None:
    """Show the table, the nearest known one and their difference; the three move together."""
    layout.section(PAGE, "pictures")
    found, values = seen.identity, seen.drawn(seen.values)
    if seen.power:
        st.info(word("power", power=seen.power), icon=":material/straighten:")
    limit = figures.common_limit(values)
    if seen.difference is None:
        _picture("yours", seen.drawn(seen.whole), limit)
        return
    _first_difference(seen)
    _picture("yours", values, limit)
    left, right = st.columns(2)
    with left:
        _picture("nearest", seen.drawn(found.nearest), limit, half=True)
    with right:
        difference = seen.drawn(seen.difference)
        _picture("difference", difference, figures.common_limit(difference, share=1.0), half=True)


def _picture(name: str, values: object, limit: float, *, half: bool = False) -> None:
    st.markdown(f"**{word(name)}**")
    heatmap.show(
        name,
        word(f"{name}_alt", rows=f"{len(values):,}", width=f"{values.shape[1]:,}"),
        heatmap.of_table(values),
        marks.positions(),
        marks.dimensions(),
        label("axis.value"),
        limit=limit,
        half=half,
        view=VIEW,
        height=340 if half else 420,
    )


def _first_difference(seen: Inspection) -> None:
    cell, largest = seen.identity.first_difference, number(seen.largest_difference, 3)
    if cell is None:
        st.success(word("no_difference", largest=largest), icon=":material/check:")
        return
    row, column = cell
    where = {"row": f"{row:,}", "column": f"{column:,}"}
    values = {
        "yours": number(float(seen.values[cell]), 6),
        "nearest": number(float(seen.identity.nearest[cell]), 6),
    }
    st.warning(word("first_difference", **where, **values, largest=largest), icon=":material/my_location:")
    window = Window(VIEW, seen.values.shape).write(*around(cell, seen.values.shape))
    st.button(
        word("go", **where), key="go", on_click=controls.put, kwargs={VIEW: window}, icon=":material/zoom_in:"
    )


@guard.fragment
def repaired(seen: Inspection) -> None:
    """Show what to change in code that makes the mistake."""
    layout.section(PAGE, "repair")
    framework = controls.choice(REPAIR, {name: name for name in FRAMEWORKS})
    for place, side, code in zip(st.columns(2), ("before", "after"), seen.repair, strict=True):
        with place:
            st.markdown(f"**{word(side)}**")
            st.code(code[framework], language="python", wrap_lines=True)


@guard.fragment
def grid(seen: Inspection) -> None:
    """Show a column of the table as a picture of the grid."""
    layout.section(PAGE, "grid")
    column = controls.index("own_column", seen.values.shape[1], 0)
    cells = seen.cells(column)
    height, width = cells.shape
    axes = (
        figures.Axis(label(f"axis.image_{axis}"), label(f"axis.image_{axis}"), label("axis.cells"))
        for axis in "yx"
    )
    alt = word("grid_alt", column=column, height=height, width=width)
    heatmap.show(
        "own_grid", alt, heatmap.of_table(cells), *axes, label("axis.value"),
        limit=figures.common_limit(cells), square=True, height=360,
    )  # fmt: skip
