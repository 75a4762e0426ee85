"""Two position tables side by side, the edge of the learned ones, the waves in MiniLM, published results."""

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import streamlit as st

from pages import fixed_vs_learned_facts, fixed_vs_learned_ladder
from pages.ui import chart, controls, guard, heatmap, layout, marks, tables
from pages.ui.text import label, number, prose
from posenc import comparison, figures, formulas, picks, snippets
from posenc.published import PUBLISHED
from posenc.sources import SOURCES

PAGE = "fixed_vs_learned"
ENDING = ("learned", "random")  # kinds of tables that end with their last row

# Shared by all visitors: the arrays are read-only, and a pick says everything that they depend on.
portrait = st.cache_resource(max_entries=24, show_spinner=False)(comparison.portrait)
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
    with st.spinner(word("measuring")):
        seen = [
            portrait(picks.pick_beside(name, beside, base=view.base, layout=view.layout))
            for name, beside in zip(names, reversed(names), strict=True)
        ]
    st.caption(prose(PAGE, "shapes", shape_a=seen[0].shape, shape_b=seen[1].shape))
    titles = [word(side, title=tables.title(name)) for side, name in zip("ab", names, strict=True)]
    return dict(zip(titles, seen, strict=True))


def columns() -> Iterator[tuple[str, str, comparison.Portrait]]:
    """Draw the two tables side by side: yield side, title and portrait."""
    for place, side, (title, seen) in zip(st.columns(2), "ab", both.items(), strict=True):
        with place:
            st.markdown(f"**{title}**")
            yield side, title, seen


def curves(section: str, x: str, y: str, x_title: str, y_title: str, **options: Any) -> None:
    """Draw one curve for each table, of two attributes of its portrait, on a logarithmic axis."""
    places, values = ({title: attrgetter(name)(seen) for title, seen in both.items()} for name in (x, y))
    figure = figures.series(places, values, x_title, y_title, log_y=True, **options)
    chart.show(figure, section, word(f"{section}_alt", **dict(zip("ab", both, strict=True))))


def heatmaps() -> None:
    """Show the two tables, and how alike any two of their positions are."""
    layout.section(PAGE, "tables")
    position, dimension = marks.positions(), marks.dimensions()
    for side, title, seen in columns():
        alt, matrix = word("table_alt", title=title, shape=seen.shape), heatmap.of_table(seen.table)
        look = {"limit": figures.common_limit(seen.table), "half": True}
        heatmap.apart(f"picture_{side}", alt, matrix, position, dimension, label("axis.value"), **look)
    layout.section(PAGE, "cosine")
    for side, title, seen in columns():
        alt, matrix = word("cosine_alt", title=title), heatmap.of_table(seen.cosine)
        look = {"limit": 1.0, "square": True, "height": 400, "half": True}
        heatmap.apart(f"cosine_{side}", alt, matrix, position, position, word("cosine"), **look)
        st.caption(prose(PAGE, f"note_{note(seen.pick)}"))
        if seen.undefined:
            st.caption(word("undefined", count=seen.undefined))


def note(pick: picks.Pick) -> str:
    """Say which note is that of a table: a scheme's is that of its kind."""
    return tables.kind(pick) if pick.kind == "scheme" else pick.name


def offset() -> None:
    """Show the cosine by offset."""
    layout.section(PAGE, "offset")
    bands = {
        title: (seen.profile.offset, *comparison.middle_and_band(seen.profile))
        for title, seen in both.items()
    }
    figure = figures.band(bands, word("offset"), word("cosine"), height=380)
    chart.show(figure, "offset", word("offset_alt", **dict(zip("ab", both, strict=True))))


def norms() -> None:
    """Show the length of each row, and name the rows that stand out."""
    layout.section(PAGE, "norms")
    for title, seen in both.items():
        odd = [word("odd_row", row=row, ratio=number(ratio, 3)) for row, ratio in seen.odd_rows.items()]
        st.markdown(
            word("odd_rows", title=title, rows=", ".join(odd)) if odd else word("no_odd_rows", title=title)
        )
    curves("norms", "positions", "norms", label("axis.position"), word("norm"))


def rank() -> None:
    """Show in how many directions the rows vary."""
    ranks = {
        side.upper(): seen.measures.effective_rank for side, seen in zip("ab", both.values(), strict=True)
    }
    layout.section(PAGE, "rank", rank_a=number(ranks["A"], 3), rank_b=number(ranks["B"], 3))
    curves("rank", "directions", "variance", word("direction"), word("share"), marks_x=ranks)


def spectrum() -> None:
    """Show at which frequencies the columns wave."""
    layout.section(PAGE, "spectrum")
    curves("spectrum", "spectrum.frequency", "spectrum.share", word("frequency"), word("power"))


def paths() -> None:
    """Show the walk of the positions through the two main planes."""
    layout.section(PAGE, "path")
    for side, title, seen in columns():
        names = [
            word("component", k=k, share=f"{share:.1%}")
            for k, share in enumerate(seen.path.share[: comparison.AXES], start=1)
        ]
        for x, y in ((0, 1), (2, 3)):
            across, up = seen.path.coordinates[:, x], seen.path.coordinates[:, y]
            figure = figures.path(across, up, names[x], names[y], label("axis.position"))
            chart.show(figure, f"path_{side}{x}", word("path_alt", title=title, x=names[x], y=names[y]))


def measures() -> None:
    """Put the measures beside those of shuffled rows and of noise."""
    layout.section(PAGE, "measures")
    for _, _, seen in columns():
        values = [seen.measures, *seen.baselines.values()]
        header = [word("measure"), word("table"), *map(word, seen.baselines)]
        rows = zip(comparison.Measures._fields, *values, strict=True)
        layout.table(
            header, ([word(f"measure_{name}"), *(number(one, 3) for one in row)] for name, *row in rows)
        )


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
offset()
layout.folds(
    PAGE,
    norms=norms,
    rank=rank,
    spectrum=spectrum,
    path=paths,
    measures=measures,
    edge=edge,
    ladder=fixed_vs_learned_ladder.show,
    published=published,
)
last = list(both.values())[1]
st.markdown(prose(PAGE, "code"))
file = f"{last.pick.name}.npy"
layout.in_code(
    snippets.fixed_vs_learned(file), last.cosine.shape, lambda: last.cosine, "cosine", {file: last.table}
)
layout.sources(
    "vaswani2017", "haviv2022", "press2022", "wang2020", "wang2024", "radford2022", "schwaller2021"
)
