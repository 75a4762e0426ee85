"""Why order matters: two orders of the same words, through attention and through an RNN; a map of the app."""

from typing import Any

import streamlit as st

from pages.ui import chart, controls, heatmap, layout, marks, sitemap
from pages.ui.text import label, number, prose
from posenc import assembly, checks, figures, formulas, order, sentence, sinusoidal, snippets

view = controls.settings()
SIDES = ("first", "second")


def words() -> str:
    """Choose the two sentences, and see which row went where."""
    layout.section("home", "pair")
    name = controls.choice(order.SENTENCE_PAIR)
    text, picture = st.columns([2, 3], gap="medium")
    with text:
        st.markdown(prose("home", f"pair_{name}"))
    first, second = (each.pieces for each in order.pair(name))
    rows = order.row_order(first, second)
    moved = label("home.comma").join(label("home.move", start=a, to=b) for a, b in order.moves(rows))
    with picture:
        figure = figures.links(first, second, rows, titles(), label("axis.position"))
        chart.show(figure, "links", label("home.links_alt", moved=moved))
    return name


def step(name: str) -> order.Orders:
    """Send both orders through one attention step, with or without positions."""
    layout.section("home", "attention")
    kind = controls.choice(order.POSITIONS)
    seen = compared(name, kind)
    values = {"outputs": number(seen.outputs_differ, 2), "means": number(seen.means_differ, 2)}
    if kind == "sinusoidal":
        vectors = order.pair(name)[0].vectors
        sinusoid = sinusoidal(*vectors.shape, base=view.base, layout=view.layout)
        values["ratio"] = number(assembly.sizes(vectors, sinusoid).ratio, 2)
    layout.text(prose("home", f"attention_{kind}", **values), prose("home", "weights"))
    return seen


def weights(name: str, seen: order.Orders) -> None:
    """Show who attends to whom in both orders."""
    for title, side, words, result in sides(name, (seen.first, seen.second)):
        rows, columns = (pieces(label(f"axis.{end}"), words) for end in ("query", "key"))
        layout.titled(
            title,
            f"weights_{side}",
            label("home.weights_alt", text=words.text),
            heatmap.of_table(result.weights),
            rows,
            columns,
            label("axis.weight"),
            limit=seen.largest_weight,
            sequential=True,
            half=True,
        )


def outputs(name: str, seen: order.Orders) -> None:
    """Show the outputs of both orders, and what is left when every row is put back to its piece's place."""
    st.markdown(prose("home", "outputs"))
    first, second = order.pair(name)
    pictures = {
        "first": (seen.first.output, first),
        "second": (seen.second.output, second),
        "change": (seen.change, first),
    }
    for side, (matrix, words) in pictures.items():
        title = label(f"home.{side}")
        st.markdown(f"**{title}**")
        heatmap.apart(
            f"outputs_{side}",
            label("home.outputs_alt", title=title, rows=len(matrix)),
            heatmap.of_table(matrix),
            pieces(label("axis.position"), words),
            marks.dimensions(),
            label("axis.value"),
            limit=1.0,
            height=290,
        )


def settled(name: str) -> None:
    """Put every setting beside the others: what is equivariant, what is not."""
    options = order.POSITIONS.options
    cases = {controls.option_label("positions", kind): compared(name, kind) for kind in options}
    cases[label("home.causal")] = compared(name, "none", causal=True)
    rows = layout.rows(
        [label(key) for key in ("label.positions", "home.outputs_differ", "home.means_differ")],
        [
            (case, number(seen.outputs_differ, 2), number(seen.means_differ, 2))
            for case, seen in cases.items()
        ],
    )
    layout.section("home", "settled", rows, prose("home", "causal"))


def recurrent(name: str) -> None:
    """Read both orders with an RNN, which needs no positions."""
    states = order.states(name)
    difference = checks.largest_difference(*(each[-1] for each in states))
    layout.section("home", "rnn", difference=number(difference, 2))
    for title, side, words, result in sides(name, states):
        rows, columns = pieces(label("home.read"), words), marks.dimensions()
        alt, matrix = label("home.rnn_alt", text=words.text), heatmap.of_table(result)
        look = {"limit": 1.0, "height": 340, "half": True}
        layout.titled(title, f"rnn_{side}", alt, matrix, rows, columns, label("home.state"), **look)


def site() -> None:
    """Lead on: what each page answers."""
    layout.section("home", "map")
    layout.cards(sitemap.PAGES[1:])


def titles() -> list[str]:
    return [label(f"home.{side}") for side in SIDES]


def pieces(title: str, words: sentence.Prepared) -> figures.Axis:
    return figures.Axis(title, label("axis.position"), labels=words.pieces)


def sides(name: str, results: Any) -> Any:
    """Walk over both sentences with what became of them, side by side: title, side, sentence, result."""
    with layout.columns(2, layout.PICTURE):
        for words, result, side in zip(order.pair(name), results, SIDES, strict=True):
            yield f"**{label(f'home.{side}')}** · {words.text}", side, words, result


def compared(name: str, kind: str, *, causal: bool = False) -> order.Orders:
    return order.compared(name, kind, causal=causal, base=view.base, layout=view.layout)


layout.opening("home", formulas.ATTENTION, formulas.EQUIVARIANCE)
chosen = words()
seen = step(chosen)
weights(chosen, seen)
outputs(chosen, seen)
settled(chosen)
recurrent(chosen)
site()
code = snippets.order(
    *order.PAIRS[chosen], st.session_state[order.POSITIONS.name], base=view.base, layout=view.layout
)
layout.in_code(code, seen.outputs.shape, lambda: seen.outputs, "attention_outputs")
layout.sources("vaswani2017", "lee2019", "haviv2022", "elman1990", "wang2024")
