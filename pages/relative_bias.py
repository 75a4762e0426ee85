"""The second half of /relative: biases, before and after the softmax, and the code of both halves."""

from functools import lru_cache, partial
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

import posenc
from pages.ui import chart, controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, prose
from posenc import figures, snippets_relative, weights
from posenc.blocks import Blocks, Span
from posenc.registry import SCHEMES

if TYPE_CHECKING:
    from pages.ui.controls import Settings
    from posenc.scores import Pair

PAGE = "relative"
HALVES = (470, 470)  # pixels
MPT = "https://github.com/mosaicml/llm-foundry/blob/main/llmfoundry/models/layers/attention.py"
KEPT = 512  # positions of the array that is offered


def word(key: str, **values: object) -> str:
    return label(f"relative.{key}", **values)


@guard.fragment
def show(view: "Settings", vectors: "Pair", kind: str, pairs: str, seed: int) -> None:
    """Choose a bias, see what it does, and take the code of all that is on screen."""
    layout.section(PAGE, "biases")
    bias = controls.choice(weights.BIAS)
    first, second, third = st.columns(3)
    with first:
        n_heads = controls.integer(posenc.N_HEADS)
    with second:
        head = controls.integer(posenc.Integer("head", 1, 1, n_heads))
    with third:
        causal = controls.choice(weights.MASK) == "causal"
    scheme = SCHEMES[bias]
    st.latex(scheme.formula)
    st.markdown(prose(PAGE, f"bias_{bias}"))
    if scheme.used_by:
        st.caption(word("used_by", models=", ".join(scheme.used_by)))
    if bias in weights.DRAWN:
        st.info(word("drawn", seed=seed), icon=":material/casino:")
    some = [head - 1] if bias in weights.LOOKED_UP else weights.some_heads(n_heads, head - 1)
    heads = weights.heads_of(bias, n_heads, some, causal=causal, base=view.base, seed=seed)
    chosen = Chosen(bias, n_heads, head - 1, causal, view.base, seed)
    matrices(view, chosen, heads[head - 1])
    curves(view, bias, heads, causal)
    if bias in weights.LOOKED_UP:
        rows_read(bias)
    if bias == "alibi":
        slopes(n_heads)
    rows = min(view.seq_len, KEPT)
    layout.in_code(
        snippets_relative.relative(
            kind,
            len(vectors.q),
            pairs,
            bias,
            n_heads,
            head - 1,
            rows,
            causal=causal,
            base=view.base,
            seed=seed,
        ),
        (3, rows, rows),
        lambda: weights.pictured(vectors, heads[head - 1], rows, causal=causal, base=view.base, pairs=pairs),
        "relative",
        given=weights.drawn_values(bias, n_heads, head - 1, seed=seed),
        cut=rows < view.seq_len,
    )


class Chosen(NamedTuple):
    """One head of a bias."""

    bias: str
    n_heads: int
    head: int
    causal: bool
    base: float
    seed: int

    def made(self) -> weights.Head:
        """Return what has its biases."""
        options = {"causal": self.causal, "base": self.base, "seed": self.seed}
        return weights.heads_of(self.bias, self.n_heads, [self.head], **options)[self.head]


@lru_cache(maxsize=1)  # for the second of two pictures of the same blocks: 400 × 400 × 3 numbers, 4 MB
def biases(chosen: Chosen, rows: Span, columns: Span, **most: int) -> Blocks:
    """Return the blocks of the biases of a head."""
    return weights.bias_blocks(chosen.made(), rows, columns, causal=chosen.causal, **most)


def matrices(view: "Settings", chosen: Chosen, one: weights.Head) -> None:
    """Show the biases of one head, and what the softmax makes of them."""
    n, bias, head, causal = view.seq_len, chosen.bias, chosen.head + 1, chosen.causal
    names = {"bias": controls.option_label("bias", bias), "head": head, **view.sizes}
    shape, look = (n, n), {"square": True, "height": 420, "half": True, "average": "looked"}
    before = partial(biases, chosen)

    def after(*spans: Span, **most: int) -> Blocks:
        return weights.share_blocks(one, n, before(*spans, **most), causal=causal)

    left, right = layout.beside(*HALVES)
    with left:
        st.markdown(prose(PAGE, "before", head=head))
        average = {"average": "looked" if bias == "fire" else "mean"}
        limit = weights.largest_bias(one, n, causal=causal)
        axes = marks.queries_and_keys()
        heatmap.apart(
            "bias",
            word("bias_alt", **names),
            heatmap.of_blocks(shape, before),
            *axes,
            word("bias"),
            limit=limit,
            **look | average,
        )
    with right:
        st.markdown(prose(PAGE, "after_causal" if causal else "after_none", head=head))
        limit = weights.SHARE
        heatmap.apart(
            "share",
            word("share_alt", **names),
            heatmap.of_blocks(shape, after),
            *axes,
            word("share"),
            limit=limit,
            **look,
        )
    if causal and n > heatmap.HALF:
        st.caption(word("cut_blocks"))


def curves(view: "Settings", bias: str, heads: dict[int, weights.Head], causal: bool) -> None:
    """Follow biases and weights of some heads over the distance."""
    seen = weights.seen(heads, view.seq_len, causal=causal)
    places, logarithmic = seen.offsets
    values = {"p": f"{seen.query:,}", "equal": number(seen.equal, 3)}
    section = "curves" if len(heads) > 1 else "curve"
    st.markdown(prose(PAGE, section, head=min(heads) + 1, **values))
    offset = marks.offsets(logarithmic)
    equal = {word("equal"): seen.equal}
    parts = {
        "biases": (seen.biases, word("bias"), {}),
        "weights": (seen.weights, label("axis.weight"), equal),
    }
    for place, (key, (lines, title, marked)) in zip(st.columns(2), parts.items(), strict=True):
        with place:
            named = {word("head", head=index + 1): line for index, line in lines.items()}
            figure = figures.series(places, named, offset, title, log_x=logarithmic, marks_y=marked)
            chart.show(figure, key, word(f"{key}_alt", bias=controls.option_label("bias", bias), **values))


def rows_read(bias: str) -> None:
    """Show which row of its table a bias reads at each offset."""
    offsets, rows = weights.rows_read(bias)
    layout.section(PAGE, f"rows_{bias}")
    named = {word(f"rows_{form}"): read for form, read in rows.items()}
    figure = figures.series(offsets, named, word("offset_signed"), word("row"))
    chart.show(figure, "rows", word("rows_alt", bias=controls.option_label("bias", bias)))


def slopes(n_heads: int) -> None:
    """Show ALiBi's slopes, and that MPT's code comes to the same ones."""
    own, mpt = posenc.alibi_slopes(n_heads), weights.mpt_slopes(n_heads)
    twelve = ", ".join(map(number, posenc.alibi_slopes(12)))
    layout.section(PAGE, "slopes", n_heads=n_heads, twelve=twelve, mpt=MPT)
    figure = figures.series(
        range(1, n_heads + 1),
        {word("slopes"): own, word("mpt"): mpt},
        word("head_number"),
        word("slope"),
        log_y=True,
        points=True,
        dashed=(word("mpt"),),
    )
    chart.show(figure, "slopes", word("slopes_alt", n_heads=n_heads))
