"""What choosing a table means in words and sizes, part of /fixed-vs-learned."""

from collections.abc import Mapping

import streamlit as st

from pages.ui import layout, tables
from pages.ui.text import label, number
from posenc import comparison, learned, side_by_side
from posenc.picks import Pick

PAGE = "fixed_vs_learned"
FACTS = ("parameters", "past", "cost", "used")


def word(key: str, **values: object) -> str:
    """Return one of the page's labels."""
    return label(f"fixed_vs_learned.{key}", **values)


def show(both: Mapping[str, comparison.Portrait]) -> None:
    """Put the facts of both tables side by side."""
    layout.section(PAGE, "facts")
    picks = [seen.pick for seen in both.values()]
    columns = [(_scheme if pick.kind == "scheme" else _table)(pick) for pick in picks]
    rows = [(word("fact_model"), *map(_source, picks))]
    rows += [(word(f"fact_{fact}"), *(column[fact] for column in columns)) for fact in FACTS]
    with st.container(key="facts"):  # on a phone it is scrolled, not squeezed
        layout.table(["", *both], rows)


def _table(pick: Pick) -> dict[str, str]:
    """Say everything about a table that is computed, learned, or not learned yet: fact → words."""
    values = {
        "max_len": pick.max_len,
        "last": pick.max_len - 1,
        "d_model": pick.d_model,
        "parameters": f"{pick.parameters:,}",
        "kib": number(pick.stored_kib),
    }
    return {fact: word(f"{fact}_{pick.kind}", **values) for fact in FACTS}


def _scheme(pick: Pick) -> dict[str, str]:
    """Say everything about another scheme, as its registry has it: fact → words."""
    scheme, spent = pick.scheme, side_by_side.cost(pick.name, pick.setting)
    sums = {"multiplications": f"{spent.multiplications:,}", "additions": f"{spent.additions:,}"}
    return {
        "parameters": word("parameters_scheme", parameters=f"{pick.parameters:,}"),
        "past": label(f"compare.past_{scheme.extrapolates}"),
        "cost": label(f"compare.cost_{spent.where}", n=pick.rows, **sums),
        "used": label("compare.comma").join(scheme.used_by) or label("compare.nobody"),
    }


def _source(pick: Pick) -> str:
    if pick.kind == "scheme":
        paper = pick.scheme.paper
        source = label("tables.paper", authors=paper.authors, year=paper.year, url=paper.url)
        grid = label("compare.by").join(map(str, pick.grid or ()))
        return word(f"model_{tables.family(pick.name)}", source=source, grid=grid)
    if pick.name not in learned.LEARNED:
        return word(f"model_{pick.name}")
    table = learned.LEARNED[pick.name]
    return word("model", title=table.title, model=table.model, url=table.source, licence=table.licence)
