"""Rotary embedding and biases: hands that turn, scores over distances, layouts; then biases and weights."""

import streamlit as st

import posenc
from pages import relative_bias
from pages.ui import chart, controls, guard, heatmap, layout, marks
from pages.ui.text import label, number, numbers, prose
from posenc import figures, formulas, motion, scores, shift, weights
from posenc.learned import SEED
from posenc.parameters import SCALE_BASE
from posenc.registry import SCHEMES

PAGE = "relative"

view = controls.settings()


def word(key: str, **values: object) -> str:
    return label(f"relative.{key}", **values)


def choose() -> tuple[scores.Pair, str, str, int, int]:
    """Choose a query and a key, and how they are rotated."""
    first, second, third = st.columns(3)
    with first:
        kind = controls.choice(scores.VECTORS)
    with second:
        pairs = controls.choice(posenc.PAIRS)
    with third:
        head_dim = controls.integer(posenc.HEAD_DIM)
    seed = controls.reseed(SEED)
    return scores.query_and_key(kind, head_dim, seed=seed), kind, pairs, head_dim, seed


@guard.fragment
def by_hand() -> None:
    """Turn a query and a key, and pick both from the matrix of all scores."""
    layout.section(PAGE, "clocks")
    first, second, third = st.columns(3)
    with first:
        query = controls.exact("query_position", 0, view.seq_len - 1, 5)
    with second:
        key = controls.exact("key_position", 0, view.seq_len - 1, 2)
    with third:
        pair = controls.index("pair", shift.complete_pairs(len(vectors.q)), 0)
    moves = controls.choice(motion.MOVES)
    found = motion.rotations(*vectors, query, key, pair, moves=moves, **turning)
    places = {"p": f"{query:,}", "q": f"{key:,}", "pair": pair}
    figure = figures.rotating(
        found.steps,
        (
            figures.Face(word("query_face", **places), found.rest[0], found.q),
            figures.Face(word("key_face", **places), found.rest[1], found.k),
        ),
        {word("all_pairs"): found.scores, word("one_pair", **places): found.own},
        found.bound,
        (word("steps"), word("score")),
        (word("at_rest"), word("rotated"), word("other_hand")),
        marks.moving(word("steps")),
    )
    places |= {"score": number(found.scores[0]), "moves": controls.option_label("moves", moves)}
    chart.show(figure, "rotating", word("rotating_alt", **places))
    st.markdown(prose(PAGE, f"moves_{moves}"))
    matrix(query, key)


def matrix(query: int, key: int) -> None:
    """Show the scores of all positions; a click takes a query and a key from there."""
    layout.section(PAGE, "matrix")
    whole = heatmap.of_offsets(posenc.score_waves(*vectors, **turning), view.seq_len)
    left, right = layout.beside(*relative_bias.HALVES)
    with left:
        heatmap.show(
            "scores",
            word("scores_alt", **view.sizes),
            whole,
            *marks.queries_and_keys(),
            word("score"),
            limit=heatmap.largest(whole),
            square=True,
            height=420,
            half=True,
            on_pick=lambda p, q: controls.put(query_position=p, key_position=q),
        )
    with right:
        st.markdown(prose(PAGE, "together"))
        found = scores.together(vectors, query, key, **turning)
        here, there = (
            word("score_at", p=f"{p:,}", q=f"{q:,}")
            for p, q in ((query, key), (query + scores.FAR, key + scores.FAR))
        )
        st.metric(here, number(found.here, 6), border=True)
        st.metric(there, number(found.moved, 6), border=True)
        st.metric(word("difference"), number(found.change, 2), border=True)


def frequencies() -> None:
    """Show how fast each pair turns, and which do not come round once."""
    rates = posenc.inv_freq(head_dim, base=view.base)
    values = numbers({"fastest": rates[0], "slowest": rates[-1]})
    never = scores.never_round(head_dim, view.seq_len, base=view.base)
    layout.section(
        PAGE, "frequencies", head_dim=head_dim, never=never, pairs=len(rates), **values, **view.sizes
    )
    once = {word("once_round", **view.sizes): scores.once_round(view.seq_len)}
    titles, look = (label("axis.pair"), label("axis.frequency")), {"log_y": True, "points": True}
    figure = figures.series(range(len(rates)), {"": rates}, *titles, marks_y=once, **look)
    chart.show(figure, "frequencies", word("frequencies_alt", **values))


@guard.fragment
def distances() -> None:
    """Follow the score over distances: of ones, of a key that peaks elsewhere, and of Gaussian vectors."""
    layout.section(PAGE, "distances")
    first, second = st.columns(2)
    with first:
        peak = controls.integer(scores.peaks(view.seq_len))
    with second:
        draws = controls.integer(scores.DRAWS)
    with st.spinner(word("wait")):
        found = scores.falls(view.seq_len, head_dim, base=view.base, seed=seed, draws=draws, peak=peak)
    places, logarithmic = found.offsets
    axes = marks.offsets(logarithmic), word("score")
    left, right = st.columns(2)
    with left:
        st.markdown(prose(PAGE, "ones", rise=found.first_rise, lowest=number(found.lowest)))
        curves = {word("ones"): found.ones, word("peaked", peak=f"{peak:,}"): found.peaked}
        rise = {word("rise", rise=found.first_rise): found.first_rise}
        figure = figures.series(places, curves, *axes, log_x=logarithmic, dashed=[*curves][1:], marks_x=rise)
        chart.show(figure, "ones", word("ones_alt", rise=found.first_rise, peak=f"{peak:,}"))
    with right:
        largest = number(found.largest_mean, 2)
        st.markdown(prose(PAGE, "gaussian", draws=draws, head_dim=head_dim, largest=largest))
        curves = {
            word("mean", draws=draws): (places, *found.band),
            word("own", seed=seed): (places, found.own, found.own, found.own),
        }
        figure = figures.band(curves, *axes, log_x=logarithmic)
        chart.show(figure, "gaussian", word("gaussian_alt", draws=draws, seed=seed))
    st.markdown(prose(PAGE, "not_always"))


def layouts() -> None:
    """Rotate in both layouts, and reorder the features so that one becomes the other."""
    layout.section(PAGE, "layouts")
    layout.table(
        [word("layout"), word("members"), word("rotated_example"), word("score_at", p=5, q=2)],
        [
            (
                controls.option_label("pairs", name),
                word(f"members_{name}"),
                ", ".join(f"{value:.6f}" for value in rotated),
                f"{score:.6f}",
            )
            for name, (rotated, score) in scores.worked_example().items()
        ],
    )
    found = scores.layouts(vectors, 5, 2, base=view.base)
    order = scores.shown_order(len(vectors.q))
    left, right = st.columns(2)
    with left:
        features = [*map(str, range(len(order)))], [*map(str, order)]
        names = controls.option_label("pairs", "adjacent"), controls.option_label("pairs", "half_split")
        figure = figures.links(*features, order, names, word("place"), row_height=24)
        chart.show(figure, "order", word("order_alt", order=", ".join(map(str, order))))
    with right:
        every = {**found.scores, "permuted": found.permuted_score}
        values = {name: number(score.here, 6) for name, score in every.items()}
        st.markdown(prose(PAGE, "order", difference=number(found.difference, 2), **values))
        st.code(layout.array_text(found.order), language=None, wrap_lines=True)


@guard.fragment
def variants() -> None:
    """Turn only some of the features, or let the score fade as xPos does."""
    layout.section(PAGE, "variants")
    first, second = st.columns(2)
    with first:
        turned = controls.integer(scores.rotary_dim(len(vectors.q)))
    with second:
        scale_base = controls.real(SCALE_BASE, step=64.0)
    st.latex(SCHEMES["xpos"].formula)
    found = scores.variants(vectors, view.seq_len, turned, scale_base=scale_base, **turning)
    places, logarithmic = found.offsets
    curves = {
        word("plain"): found.plain,
        word("partial", turned=turned): found.partial,
        word("xpos", scale_base=number(scale_base)): found.xpos,
    }
    axes = marks.offsets(logarithmic), word("score")
    figure = figures.series(places, curves, *axes, log_x=logarithmic)
    chart.show(figure, "variants", word("variants_alt", turned=turned, scale_base=number(scale_base)))


layout.opening(PAGE, SCHEMES["rotary"].formula, formulas.ROTARY_SCORE, formulas.BIASED)
vectors, kind, pairs, head_dim, seed = choose()
turning = {"base": view.base, "pairs": pairs}
by_hand()
layout.folds(PAGE, frequencies=frequencies, distances=distances, layouts=layouts, variants=variants)
relative_bias.show(view, vectors, kind, pairs, seed)
schemes = ("rotary", "xpos", *weights.BIAS.options)
layout.sources("barbero2025", *dict.fromkeys(SCHEMES[name].source for name in schemes), "haviv2022")
