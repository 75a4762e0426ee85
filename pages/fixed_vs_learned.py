"""Two position tables side by side, the edge of the learned ones, the waves in MiniLM, published results."""

import streamlit as st

from pages import fixed_vs_learned_facts, fixed_vs_learned_ladder
from pages.ui import chart, controls, guard, heatmap, layout, marks, own, portraits, tables
from pages.ui.text import label, number, prose
from posenc import comparison, figures, formulas, picks, snippets
from posenc.published import PUBLISHED
from posenc.sources import SOURCES

PAGE = "fixed_vs_learned"
ENDING = ("learned", "random", "own")  # kinds of tables that end with their last row

# Shared by all visitors: the arrays are read-only, and a pick says everything that they depend on.
portrait = st.cache_resource(max_entries=12, show_spinner=False)(comparison.portrait)
view = controls.settings()


def word(key: str, **values: object) -> str:
    """Return one of this page's labels."""
    return label(f"fixed_vs_learned.{key}", **values)


def choose() -> dict[str, comparison.Portrait]:
    """Choose the two tables: title → portrait."""
    parameters, names = (comparison.TABLE_A, comparison.TABLE_B), []
    for place, parameter in zip(st.columns(2), parameters, strict=True):
        with place:
            names.append(tables.choose(parameter, view.base))
    tables.elsewhere()
    brought = own.pick() if picks.OWN in names else None
    measure = portrait if brought is None else own.portrait
    seen = [
        measure(picks.pick_beside(name, beside, base=view.base, layout=view.layout, own=brought))
        for name, beside in zip(names, reversed(names), strict=True)
    ]
    st.caption(prose(PAGE, "shapes", shape_a=seen[0].shape, shape_b=seen[1].shape))
    titles = [word(side, title=tables.title(name)) for side, name in zip("ab", names, strict=True)]
    return dict(zip(titles, seen, strict=True))


def heatmaps() -> None:
    """Show the two tables, and how alike any two of their positions are."""
    layout.section(PAGE, "tables")
    position, dimension = marks.positions(), marks.dimensions()
    for side, title, seen in portraits.columns(both):
        alt, matrix = word("table_alt", title=title, shape=seen.shape), portraits.matrix(seen, "table")
        look = {"limit": figures.common_limit(seen.table), "half": True}
        heatmap.apart(f"picture_{side}", alt, matrix, position, dimension, label("axis.value"), **look)
    layout.section(PAGE, "cosine")
    for seen in portraits.cosines(both):
        st.caption(prose(PAGE, f"note_{note(seen.pick)}"))


def note(pick: picks.Pick) -> str:
    """Say which note is that of a table: a scheme's is that of its kind."""
    return tables.kind(pick) if pick.kind == "scheme" else pick.name


@guard.fragment
def edge() -> None:
    """Ask a learned table for a position past its last row, and show what people do then."""
    text = st.container()
    trained = [(title, seen.table) for title, seen in both.items() if seen.pick.kind in ENDING]
    title, table = trained[0] if trained else (word("none_learned"), None)
    with text:
        layout.section(PAGE, "edge", title=title)
    if table is None:
        return
    position, max_len = controls.integer(comparison.edge_position(len(table))), len(table)
    found = comparison.edge(table, position, base=view.base, layout=view.layout)
    values = {"position": position, "wanted": position + 1, "max_len": max_len, "last": max_len - 1}
    if found.refusal:
        st.error(word("refused", **values), icon=":material/block:")
        st.code(f"ValueError: {found.refusal}", language=None, wrap_lines=True)
    else:
        st.success(word("granted", **values), icon=":material/check:")
    numbers = {
        "kept": number(found.kept, 3),
        "difference": number(found.sinusoid_difference),
        "repeated": found.repeated,
    }
    st.markdown(prose(PAGE, "edge_past" if found.refusal else "edge_inside", **values, **numbers))
    ways = {word(f"way_{way}"): curve for way, curve in found.curves.items()}
    figure = figures.series(
        found.positions,
        ways,
        label("axis.position"),
        word("cosine"),
        marks_x={word("edge_mark"): max_len - 1},
        span_x=(0, found.most - 1),
    )
    chart.show(figure, "edge_curves", word("edge_alt", position=position))
    st.markdown(prose(PAGE, "edge_windows", first=found.first))
    axis = marks.positions(first=found.first)
    for place, (way, window) in zip([*st.columns(2), *st.columns(2)], found.windows.items(), strict=True):
        name = word(f"way_{way}")
        with place:
            st.markdown(f"**{name}**")
            alt, matrix = word("window_alt", way=name), heatmap.of_table(window)
            look = {"limit": 1.0, "square": True, "height": 340, "half": True}
            heatmap.apart(f"window_{way}", alt, matrix, axis, axis, word("cosine"), **look)


def published() -> None:
    """Show what papers report, each number beside its source."""
    layout.section(PAGE, "published")
    for result in PUBLISHED:
        st.markdown(f"**{word(f'result_{result.name}')}** {SOURCES[result.source].citation}")
        rows = ([word(f"encoding_{name}"), *cells] for name, cells in result.rows.items())
        layout.table([word("encoding"), *result.columns], rows)


layout.opening(PAGE, formulas.SINUSOID, formulas.LEARNED)
both = choose()
fixed_vs_learned_facts.show(both)
heatmaps()
portraits.offset(PAGE, both)
portraits.folded(PAGE, both)
layout.folds(PAGE, edge=edge, ladder=fixed_vs_learned_ladder.show, published=published)
last = list(both.values())[1]
st.markdown(prose(PAGE, "code"))
file = f"{last.pick.name}.npy"
layout.in_code(
    snippets.fixed_vs_learned(file), last.cosine.shape, lambda: last.cosine, "cosine", {file: last.table}
)
layout.sources(
    "vaswani2017", "haviv2022", "press2022", "wang2020", "wang2024", "radford2022", "schwaller2021"
)
