"""Schemes side by side: any number of them, the same facts and measures, curves, matrices, formulas, code."""

import streamlit as st

from pages.ui import chart, controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, prose
from posenc import Integer, figures, formulas, side_by_side, snippets_compare
from posenc.learned import SEED
from posenc.registry import KINDS, SCHEMES

PAGE = "compare"
CHOSEN = controls.Several("schemes", tuple(SCHEMES), side_by_side.USUAL)
BESIDE = 5  # schemes in one table

view = controls.settings()


def word(key: str, **values: object) -> str:
    return label(f"compare.{key}", **values)


def title(name: str) -> str:
    return controls.option_label(CHOSEN.name, name)


def choose() -> tuple[list[str], side_by_side.Setting]:
    """Choose schemes, one by one or all of a kind, and the model that they are part of."""
    with st.container(horizontal=True):
        for kind in KINDS:
            every = {CHOSEN.name: side_by_side.of_kind(kind)}
            st.button(word(f"all_{kind}"), key=f"all_{kind}", on_click=controls.put, kwargs=every)
    chosen = controls.several(CHOSEN)
    with layout.columns(3):
        max_len = controls.integer(side_by_side.MAX_LEN)
        n_heads = controls.integer(side_by_side.COMPARED_HEADS)
        head = controls.integer(Integer("head", 1, 1, n_heads))
    seed = controls.reseed(SEED)
    n = side_by_side.drawn(view.seq_len, max_len)
    return chosen, side_by_side.Setting(n, view.d_model, n_heads, head - 1, max_len, view.base, seed)


def facts() -> None:
    """Put all schemes into one table, a column each, with the labels again where there are many."""
    layout.section(PAGE, "facts", n=setting.n, base=number(view.base), **sizes)
    with st.container(key="facts"):
        for start in range(0, len(names), BESIDE):
            some = names[start : start + BESIDE]
            columns = [column(name) for name in some]
            layout.table(
                ["", *(title(name) for name in some)],
                [(word(f"fact_{fact}"), *(each[fact] for each in columns)) for fact in columns[0]],
            )
    st.markdown(prose(PAGE, "measures", n=setting.n))


def column(name: str) -> dict[str, str]:
    """Say everything about one scheme: fact → words."""
    scheme, found = SCHEMES[name], measured[name]
    spent, places = side_by_side.cost(name, setting), side_by_side.arguments(name, setting)
    return {
        "kind": word(f"kind_{scheme.kind}"),
        "relative": depends(scheme.relative, found.spread),
        "size": word(f"size_{scheme.kind}", size=f"{places.size:,}"),
        "places": cells(places.places),
        "learned": f"**{scheme.n_learned(setting.sizes):,}**",
        "cost": word(
            f"cost_{spent.where}",
            multiplications=f"{spent.multiplications:,}",
            additions=f"{spent.additions:,}",
            n=setting.n,
        ),
        "range": word("range", least=number(found.least, 3), greatest=number(found.greatest, 3)),
        "spread": word("exact") if found.spread == 0 else number(found.spread, 2),
        "decay": decay(found),
        "past": word(f"past_{scheme.extrapolates}"),
        "used_by": word("comma").join(scheme.used_by) or word("nobody"),
        "paper": f"[{scheme.paper.authors} {scheme.year}]({scheme.paper.url})",
    }


def depends(relative: bool, spread: float) -> str:
    """Say what the score depends on; FIRE looks at positions only past a threshold."""
    if relative:
        return word("relative")
    return word("absolute_farther" if spread == 0 else "absolute")


def cells(places: int | tuple[int, ...]) -> str:
    return word("by").join(map(str, places)) if isinstance(places, tuple) else str(places)


def decay(found: side_by_side.Measured) -> str:
    """Say whether the score falls with the distance."""
    if setting.n == 1:
        return "–"
    if found.level:
        return word("level")
    if not found.rises:
        return word("falls")
    return word("rises", first=found.rises[0], count=len(found.rises), steps=setting.n - 1)


@guard.fragment
def pictures() -> None:
    """Draw the score against the offset on one chart, and every score of each scheme."""
    layout.section(PAGE, "curves")
    scale = controls.choice(side_by_side.SCORE_SCALE)
    st.markdown(prose(PAGE, f"scale_{scale}"))
    value = word(f"value_{scale}")
    curves = {
        title(name): side_by_side.scaled(found.curve, found.curve[0], scale)
        for name, found in measured.items()
    }
    figure = figures.series(range(setting.n), curves, label("axis.offset"), value, height=420)
    chart.show(figure, "curves", word("curves_alt", schemes=word("comma").join(curves), n=setting.n))
    layout.section(PAGE, "matrices")
    with layout.columns(4, layout.PICTURE):
        for name, found in measured.items():
            matrix = heatmap.of_table(side_by_side.scaled(found.scores, found.curve[0], scale))
            layout.titled(
                f"**{title(name)}**",
                f"scores_{name}",
                word("scores_alt", scheme=title(name), n=len(found.scores)),
                matrix,
                *marks.queries_and_keys(),
                value,
                limit=1.0 if scale == "change" else heatmap.largest(matrix),
                square=True,
                height=300,
                half=True,
            )
    layout.in_code(
        snippets_compare.compare(names, setting, scale),
        (len(names), setting.n),
        lambda: side_by_side.curves(measured.values(), scale),
        "compare",
    )


def formulas_and_libraries() -> None:
    """Show the formula of each, what it was built with here, and what it is called in libraries."""
    layout.section(PAGE, "formulas")
    for name in names:
        scheme, options = SCHEMES[name], side_by_side.arguments(name, setting).options
        st.markdown(f"**{title(name)}**")
        st.latex(scheme.formula)
        st.markdown(word("parameters", names=code(scheme.parameters), given=code(pairs(options))))
    layout.section(PAGE, "libraries")
    for name in names:
        built = side_by_side.implementations(name)
        with st.expander(word("implementations", scheme=title(name), count=len(built))):
            if built:
                layout.table(
                    [word("library_name"), word("our_function"), word("with")],
                    [
                        (f"`{each.name}`", f"`{each.function}`", code(pairs(each.parameters)))
                        for each in built
                    ],
                )
            else:
                st.markdown(word("no_library"))


def pairs(options: dict) -> list[str]:
    return [f"{key}={value!r}" for key, value in options.items()]


def code(names: tuple[str, ...] | list[str]) -> str:
    """Write names as code, or a dash where there are none."""
    return word("comma").join(map(quoted, names)) or "–"


def quoted(name: str) -> str:
    return f"`{name}`"


layout.opening(PAGE, formulas.COMPARED)
chosen, setting = choose()
left_out = side_by_side.undefined(chosen, view.base)
names = [name for name in chosen if name not in left_out]
sizes = {"d_model": f"{view.d_model:,}", "max_len": f"{setting.max_len:,}", "n_heads": setting.n_heads}
if setting.n < view.seq_len:
    st.info(word("cut", n=setting.n, **view.sizes), icon=":material/crop:")
if left_out:
    st.info(word("undefined"), icon=":material/function:")
if names:
    with layout.waiting(word("wait"), len(names), setting.n_heads, setting.n, setting.n):
        measured = {name: side_by_side.measure(name, setting) for name in names}
    facts()
    pictures()
    layout.folded(PAGE, "formulas", formulas_and_libraries)
    layout.sources(*dict.fromkeys(SCHEMES[name].source for name in names))
else:
    st.info(word("none_chosen"), icon=":material/touch_app:")
