"""Longer contexts: what a config makes of the rates of its pairs, beside what other methods would."""

import streamlit as st

import posenc
from pages.ui import chart, controls, heatmap, layout
from pages.ui.text import label, number, prose
from posenc import figures, formulas, snippets_long_context
from posenc.contexts import contexts, wanted_len
from posenc.published import LONG_CONTEXT
from posenc.rope_config import RopeConfig, read_config
from posenc.rope_models import ROPE_MODELS
from posenc.sources import SOURCES
from posenc.tokens import Text

PAGE, PASTED, USUAL = "long_context", "pasted", "llama_3_1_8b"
MODEL = posenc.Choice("model", (USUAL, *(name for name in ROPE_MODELS if name != USUAL), PASTED))
CONFIG = Text("config", "", 20_000)
SOURCE = {
    "linear": "chen2023",
    "ntk": "bloc97",
    "dynamic": "emozilla2023",
    "yarn": "peng2023",
    "llama3": "meta2024",
}


def word(key: str, **values: object) -> str:
    """Return one of this page's labels."""
    return label(f"long_context.{key}", **values)


def choose() -> RopeConfig:
    """Choose a well-known model, or paste a config; one that cannot be read leaves the usual model."""
    name = controls.choice(MODEL, {key: model.title for key, model in ROPE_MODELS.items()})
    if name != PASTED:
        st.markdown(word("source", url=ROPE_MODELS[name].url))
        with st.expander(word("config_of", title=ROPE_MODELS[name].title)):
            st.code(ROPE_MODELS[name].text, language="json")
        return ROPE_MODELS[name].read()
    text = controls.text(CONFIG)
    if text.strip():
        try:
            return read_config(text)
        except ValueError as error:
            st.error(word("unread", usual=ROPE_MODELS[USUAL].title), icon=":material/data_object:")
            st.code(str(error), language=None, wrap_lines=True)
    else:
        st.info(word("paste", usual=ROPE_MODELS[USUAL].title), icon=":material/content_paste:")
    return ROPE_MODELS[USUAL].read()


def facts() -> None:
    """Say what was read, what was assumed, and what follows."""
    layout.section(
        PAGE, "facts", trained=f"{seen.trained:,}", wanted=f"{seen.wanted:,}", factor=number(seen.factor)
    )
    rows = [(f"`{name}`", "–" if value is None else fact(value)) for name, value in seen.facts().items()]
    layout.table([word("key"), word("value")], rows)
    for name, value in seen.config.assumed.items():
        st.caption(word("assumed", name=name, value=number(value)))


def fact(value: object) -> str:
    """Write a value of the config."""
    return (
        number(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    )


def wavelengths() -> None:
    """Show how long each pair's turn is, before and after, against both contexts."""
    pairs, never = len(seen.never), seen.first_never
    state = "all_turn" if never == pairs else "never"
    layout.section(PAGE, "wavelengths", pairs=pairs)
    st.markdown(
        prose(PAGE, state, first=never, last=pairs - 1, count=pairs - never, trained=f"{seen.trained:,}")
    )
    figure = figures.series(
        range(pairs),
        {word(name): values for name, values in seen.wavelengths().items()},
        label("axis.pair"),
        label("axis.wavelength"),
        log_y=True,
        points=True,
        marks_x={} if never == pairs else {word("first_never"): never},
        marks_y={word("trained"): seen.trained, word("wanted"): seen.wanted},
        height=420,
    )
    chart.show(figure, "wavelengths", word("wavelengths_alt", trained=seen.trained, wanted=seen.wanted))


def methods() -> None:
    """Show what each method divides each pair's rate by, and what it does to attention."""
    layout.section(PAGE, "methods", factor=number(seen.factor))
    curves = {word(f"method_{name}"): values for name, values in seen.ratios().items()}
    hidden = [word("method_dynamic")]
    figure = figures.series(
        range(len(seen.never)),
        curves,
        label("axis.pair"),
        word("ratio"),
        log_y=True,
        dashed=hidden,
        height=420,
    )
    chart.show(figure, "methods", word("methods_alt", factor=number(seen.factor)))
    rows = [
        (word(f"method_{name}"), number(made.attention_factor, 5), SOURCES[SOURCE[name]].citation)
        for name, made in seen.methods.items()
    ]
    here = (
        word("method_config"),
        number(seen.after.attention_factor, 5),
        word(f"type_{seen.config.rope_type}"),
    )
    layout.table([word("method"), word("attention_factor"), word("paper")], [here, *rows])
    if "yarn" in seen.methods:
        st.markdown(prose(PAGE, "ramp"))
        figure = figures.series(
            range(len(seen.never)), {word("ramp"): seen.ramp()}, label("axis.pair"), word("ramp"), points=True
        )
        chart.show(figure, "ramp", word("ramp_alt"))


def turns() -> None:
    """Show how many turns each pair makes."""
    layout.section(PAGE, "turns")
    figure = figures.series(
        range(len(seen.never)),
        {word(f"turns_{name}"): values for name, values in seen.turns().items()},
        label("axis.pair"),
        word("turns"),
        log_y=True,
        marks_y={word("one_turn"): 1},
        height=400,
    )
    chart.show(figure, "turns", word("turns_alt"))


def scores() -> None:
    """Show the score of q = k = 1 against the offset, before and after."""
    layout.section(PAGE, "scores", wanted=f"{seen.wanted:,}")
    curves = {
        word(name): heatmap.one_row(heatmap.of_offsets(waves, seen.wanted), 0)
        for name, waves in seen.scores().items()
    }
    figure = figures.band(
        curves, label("axis.offset"), word("score"), marks_x={word("trained"): seen.trained}
    )
    chart.show(figure, "scores", word("scores_alt"))


def published() -> None:
    """Show what papers report, each number beside its source."""
    layout.section(PAGE, "published")
    for result in LONG_CONTEXT:
        st.markdown(f"**{word(f'result_{result.name}')}** {SOURCES[result.source].citation}")
        rows = ([word(f"method_{name}"), *cells] for name, cells in result.rows.items())
        layout.table([word("method"), *result.columns], rows)


layout.opening(PAGE, formulas.ROTARY_RATE)
config = choose()
seen = contexts(config, controls.integer(wanted_len(config)))
for show in (facts, wavelengths, methods):
    show()
layout.folds(PAGE, turns=turns, scores=scores, published=published)
layout.in_code(
    snippets_long_context.long_context(config, seen.wanted),
    seen.after.inv_freq.shape,
    lambda: seen.after.inv_freq,
    "inv_freq",
)
layout.sources("su2021", "chen2023", "peng2023", "ding2024", "barbero2025")
