"""Tables side by side: how alike their rows are, how long, in which directions, at which frequencies.

What two pages show. `both` holds the two tables: title → portrait; `page` is the page whose words introduce
a section.
"""

from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Any

import streamlit as st

from pages.ui import chart, heatmap, layout, marks
from pages.ui.text import label, number
from posenc import comparison, figures
from posenc.comparison import Portrait

Both = Mapping[str, Portrait]


def word(key: str, **values: object) -> str:
    """Return one of the words that the pages share."""
    return label(f"fixed_vs_learned.{key}", **values)


def columns(both: Both) -> Iterator[tuple[str, str, Portrait]]:
    """Draw the two tables side by side: yield side, title and portrait."""
    for place, side, (title, seen) in zip(st.columns(2), "ab", both.items(), strict=True):
        with place:
            st.markdown(f"**{title}**")
            yield side, title, seen


def matrix(seen: Portrait, part: str) -> heatmap.Matrix:
    """Return the ``"table"`` of a portrait or its ``"cosine"``; what a visitor brought along has no name."""
    name = "" if seen.pick.given else f"{part} of {tuple(seen.pick)}"  # equal picks give equal arrays
    return heatmap.of_table(getattr(seen, part), name)


def cosines(both: Both) -> Iterator[Portrait]:
    """Draw how alike any two rows are, of each table: yield the portraits, for a note below the picture."""
    axis, look = marks.positions(), {"limit": 1.0, "square": True, "height": 400, "half": True}
    for side, title, seen in columns(both):
        alt = word("cosine_alt", title=title)
        heatmap.apart(f"cosine_{side}", alt, matrix(seen, "cosine"), axis, axis, word("cosine"), **look)
        if seen.undefined:
            st.caption(word("undefined", count=seen.undefined))
        yield seen


def curves(both: Both, section: str, x: str, y: str, x_title: str, y_title: str, **options: Any) -> None:
    """Draw one curve for each table, of two attributes of its portrait, on a logarithmic axis."""
    places, values = ({title: attrgetter(name)(seen) for title, seen in both.items()} for name in (x, y))
    figure = figures.series(places, values, x_title, y_title, log_y=True, **options)
    chart.show(figure, section, word(f"{section}_alt", **dict(zip("ab", both, strict=True))))


def offset(page: str, both: Both) -> None:
    """Show the cosine by offset."""
    layout.section(page, "offset")
    bands = {
        title: (seen.profile.offset, *comparison.middle_and_band(seen.profile))
        for title, seen in both.items()
    }
    figure = figures.band(bands, word("offset"), word("cosine"), height=380)
    chart.show(figure, "offset", word("offset_alt", **dict(zip("ab", both, strict=True))))


def norms(page: str, both: Both) -> None:
    """Show the length of each row, and name the rows that stand out."""
    layout.section(page, "norms")
    for title, seen in both.items():
        odd = [word("odd_row", row=row, ratio=number(ratio, 3)) for row, ratio in seen.odd_rows.items()]
        st.markdown(
            word("odd_rows", title=title, rows=", ".join(odd)) if odd else word("no_odd_rows", title=title)
        )
    curves(both, "norms", "positions", "norms", label("axis.position"), word("norm"))


def rank(page: str, both: Both) -> None:
    """Show in how many directions the rows vary."""
    with st.spinner(word("measuring")):
        ranks = {
            side.upper(): seen.measures.effective_rank for side, seen in zip("ab", both.values(), strict=True)
        }
    layout.section(page, "rank", rank_a=number(ranks["A"], 3), rank_b=number(ranks["B"], 3))
    curves(both, "rank", "directions", "variance", word("direction"), word("share"), marks_x=ranks)


def spectrum(page: str, both: Both) -> None:
    """Show at which frequencies the columns wave."""
    layout.section(page, "spectrum")
    curves(both, "spectrum", "spectrum.frequency", "spectrum.share", word("frequency"), word("power"))


def paths(page: str, both: Both) -> None:
    """Show the walk of the positions through the two main planes."""
    layout.section(page, "path")
    for side, title, seen in columns(both):
        names = [
            word("component", k=k, share=f"{share:.1%}")
            for k, share in enumerate(seen.path.share[: comparison.AXES], start=1)
        ]
        for x, y in ((0, 1), (2, 3)):
            across, up = seen.path.coordinates[:, x], seen.path.coordinates[:, y]
            figure = figures.path(across, up, names[x], names[y], label("axis.position"))
            chart.show(figure, f"path_{side}{x}", word("path_alt", title=title, x=names[x], y=names[y]))


def measures(page: str, both: Both) -> None:
    """Put the measures beside those of shuffled rows and of noise."""
    layout.section(page, "measures")
    for _, _, seen in columns(both):
        with st.spinner(word("measuring")):
            values = [seen.measures, *seen.baselines.values()]
        header = [word("measure"), word("table"), *map(word, seen.baselines)]
        rows = zip(comparison.Measures._fields, *values, strict=True)
        layout.table(
            header, ([word(f"measure_{name}"), *(number(one, 3) for one in row)] for name, *row in rows)
        )


def folded(page: str, both: Both) -> None:
    """Draw all but the cosine by offset, each section folded."""
    parts = {"norms": norms, "rank": rank, "spectrum": spectrum, "path": paths, "measures": measures}
    for name, part in parts.items():
        layout.folded(page, name, part, page, both)
