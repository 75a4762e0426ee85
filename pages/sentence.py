"""From a sentence to the input of the first layer: pieces, vectors, positions, scale, dropout, batch."""

from dataclasses import replace

import streamlit as st

import posenc
from pages.ui import chips, controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, numbers, prose
from posenc import assembly, figures, formulas, snippets
from posenc.arrays import Floats
from posenc.learned import SEED
from posenc.sentence import DROPOUT, Prepared, drop_out, prepared
from posenc.tokens import MAX_PIECE_LENGTH, TEXT

view = controls.settings()


def choose() -> Prepared:
    """Take a prepared sentence, or type one; show its pieces."""
    layout.section("sentence", "pieces")
    source = controls.choice(assembly.SOURCE)
    if source == assembly.TYPED:
        chosen, total = assembly.typed(controls.text(TEXT), view.d_model)
        kept = len(chosen.pieces)
        if total > kept:
            sizes = {"kept": kept, "total": f"{total:,}", "d_model": view.d_model}
            st.info(label("sentence.cut", **sizes), icon=":material/content_cut:")
    else:
        sentences = prepared(source)
        texts = [sentence.text for sentence in sentences]
        chosen = sentences[controls.pick(posenc.Integer("sentence", 0, 0, len(texts) - 1), texts)]
    chips.show(chosen.pieces, chosen.ids, assembly.repeated(chosen.pieces))
    sizes = {"d_model": view.d_model, "width": chosen.vectors.shape[1], "longest": MAX_PIECE_LENGTH}
    st.markdown(prose("sentence", f"source_{source}", **sizes))
    return chosen


def shapes() -> None:
    """Name the shape at every step."""
    steps = assembly.assemble(words.vectors, table)._asdict()
    found = {name: array.shape for name, array in steps.items()}
    layout.section("sentence", "shapes", pieces=(len(words.pieces),), **found)


def batch() -> None:
    """Show what goes wrong where batch and sequence change places."""
    case = assembly.batch_axes_case(base=view.base, layout=view.layout)
    layout.section("sentence", "batch", refusal=case.refusal)
    for place, name in zip(st.columns(2), ("right", "wrong"), strict=True):
        place.markdown(prose("sentence", f"batch_{name}"))
        place.code(layout.array_text(getattr(case, name)[-1]), language=None, wrap_lines=True)


@guard.fragment
def assemble() -> None:
    """Add positions to the words, then follow the sums to the first layer."""
    text = st.container()
    scale = controls.switch("scale")
    steps = assembly.assemble(words.vectors, table, scale=scale)
    limit = figures.common_limit(steps.embedding, steps.positions, steps.summed)
    with text:
        layout.section("sentence", "sum", limit=number(limit))
    columns = posenc.columns(shape.d_model, layout=view.layout)
    waves = marks.dimensions(columns, posenc.inv_freq(shape.d_model, base=view.base))
    matrix("scaled" if scale else "embedding", steps.embedding, limit)
    matrix("positions", steps.positions, limit, waves)
    matrix("summed", steps.summed, limit)
    repeat(scale)
    measured = numbers(assembly.sizes(words.vectors, table)._asdict(), "own_")
    layout.section("sentence", "sizes", width=shape.d_model, **measured, **seeded)
    dropout(scale, steps, limit)


def matrix(name: str, array: Floats, limit: float, columns: figures.Axis | None = None) -> None:
    """Show one of the matrices, its rows labelled with the pieces."""
    title = label(f"sentence.{name}")
    st.markdown(f"**{title}**")
    rows, height = marks.positions(words.pieces), figures.rows_height(len(words.pieces))
    columns = columns or marks.dimensions()
    alt = label("sentence.matrix_alt", matrix=title, limit=number(limit), **shape.sizes)
    look = {"limit": limit, "height": height}
    heatmap.apart(name, alt, heatmap.of_table(array), rows, columns, label("axis.value"), **look)


def repeat(scale: bool) -> None:
    """Compare two rows of the same piece, or offer sentences that have one."""
    found = assembly.repeats(words.pieces)
    if not found:
        layout.section("sentence", "no_repeat")
        offer()
        return
    text = st.container()
    names = [label("sentence.repeat", **pair._asdict()) for pair in found]
    _, p, q = found[controls.pick(posenc.Integer("repeat", 0, 0, len(found) - 1), names)]
    pair = assembly.compare_rows(words.vectors, table, p, q, scale=scale)
    gaps = {name: number(getattr(pair, name), 3) for name in ("embedding_gap", "input_gap", "residual")}
    with text:
        layout.section("sentence", "repeat", p=p, q=q, **gaps)
    rows = figures.Axis(label("sentence.row"), label("sentence.row"), labels=assembly.row_names(p, q))
    limit, height = figures.common_limit(pair.rows), figures.rows_height(len(pair.rows))
    alt, matrix = label("sentence.repeat_alt", p=p, q=q, **gaps), heatmap.of_table(pair.rows)
    look = {"limit": limit, "height": height}
    heatmap.apart("repeat_rows", alt, matrix, rows, marks.dimensions(), label("axis.value"), **look)


def offer() -> None:
    """Offer sentences in which a word stands twice."""
    with st.container(horizontal=True):
        for source, at in assembly.REPEATING:
            chosen, key = {"source": source, "sentence": at}, f"offer_{source}_{at}"
            if st.button(prepared(source)[at].text, key=key, on_click=controls.put, kwargs=chosen):
                st.rerun()  # all of the page: the sentence is chosen above this fragment


def dropout(scale: bool, steps: assembly.Assembly, limit: float) -> None:
    """Let dropout act, in training, or not; end with the code that does all of it."""
    text = st.container()
    with layout.columns(3, vertical_alignment="bottom"):
        rate = controls.real(replace(DROPOUT, default=0.1, maximum=0.9), step=0.05)
        training = controls.switch("training")
        options = {"dropout": rate, "training": training, "seed": controls.reseed(SEED)}
    after = drop_out(steps.batch, **options)
    effect = numbers(assembly.dropout_effect(steps.batch, after)._asdict())
    state = "dropout_training" if training else "dropout_evaluation"
    with text:
        layout.section("sentence", "dropout", prose("sentence", state, rate=number(rate), **effect))
    matrix("dropped", after[0], limit)
    given = {} if words.model == assembly.TYPED else {"embedding.npy": words.vectors}
    options |= {"base": view.base, "layout": view.layout, "scale": scale, "file": next(iter(given), None)}
    code = snippets.sentence(words.pieces, shape.d_model, **options)
    layout.in_code(code, after.shape, lambda: after.astype("float32"), "input", given)


layout.opening("sentence", formulas.INPUT)
words = choose()
shape = replace(view, seq_len=len(words.pieces), d_model=words.vectors.shape[1])
if words.pieces:
    with layout.waiting(label("sentence.wait"), shape.seq_len, shape.d_model):
        table = posenc.sinusoidal(shape.seq_len, **shape.arguments)
        seeded = numbers(assembly.seeded_sizes()._asdict(), "seeded_")
        shapes()
        layout.folded("sentence", "batch", batch)
        assemble()
else:
    st.info(label("sentence.nothing"), icon=":material/visibility_off:")
layout.sources("vaswani2017input", "srivastava2014", "wang2020", "wang2024")
