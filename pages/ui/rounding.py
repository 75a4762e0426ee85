"""What the page on rounding shows in tables: what falls together, accidents, float32."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import streamlit as st

import posenc
from pages.ui import chart, heatmap, layout
from pages.ui.text import label, number, prose
from posenc import figures, precision
from posenc import precision_ranges as ranges
from posenc import precision_scores as scores
from posenc.blocks import Span
from posenc.parameters import PRECISION, SEQ_LEN, STAGE
from posenc.sources import SOURCES

if TYPE_CHECKING:
    from numpy.typing import NDArray

COARSE = ("bfloat16", "float16")  # the others have every whole number up to 10,000,000
LENGTHS = (512, 4096)  # whose distinct positions were published
POSITIONS = (257, 4095, 15_962, 65_535, 1_000_000)
NEOX = {"position": 1857, "pair": 1}  # the angle that the thread prints
IMAGE = 65_536  # where the positions of an image begin
TENS = {"10³": 1e3, "10⁴": 1e4, "10⁵": 1e5, "10⁶": 1e6, "10⁷": 1e7}
HALVES = (470, 470)  # pixels: a chart, and a table beside it


# The same for all visitors, and small: some numbers an entry, or two arrays of 200.
_together = lru_cache(maxsize=64)(ranges.together)
_left = lru_cache(maxsize=len(PRECISION.options))(ranges.left)


@lru_cache(maxsize=64)  # of each case two arrays of 46 numbers
def errors(width: int, base: float, precision: str, stage: str) -> "dict[tuple[str, str], ranges.Ranges]":
    """Return the worst errors of every format with this stage, and of every stage with this format."""
    rates = posenc.inv_freq(width, base=base)
    cases = [*((name, stage) for name in PRECISION.options), *((precision, name) for name in STAGE.options)]
    return ranges.errors(rates[ranges.picked(len(rates))], cases)


def _scored(
    view: tuple[Span, Span], most: int, width: int, base: float, precision: str, stage: str, first: int
) -> scores.Pictured:
    """Return the scores with rounding in a view, and what it does to them."""
    rates, sizes = posenc.inv_freq(width, base=base), {"most_rows": most, "most_columns": most}
    return scores.score_blocks(*view, rates, precision, stage=stage, first=first, **sizes)


# Two pictures share the work. Each has three numbers for each of 200 × 200 blocks at most: 2 MB an entry.
scored = lru_cache(maxsize=4)(_scored)


@lru_cache(maxsize=256)  # one number each
def largest(seq_len: int, *chosen: Any) -> float:
    """Return what `heatmap.largest` would of the scores that rounding changes."""
    whole = (0, seq_len), (0, seq_len)
    return _scored(whole, heatmap.COARSE, *chosen).difference.largest


def together(seq_len: int) -> None:
    """Say which positions fall together as numbers of each format."""
    layout.section("precision", "together")
    lengths = sorted({*LENGTHS, seq_len, SEQ_LEN.maximum})
    found = [[_together(n, name) for n in lengths] for name in COARSE]
    titles = {name: label(f"option.precision.{name}") for name in PRECISION.options}
    header = [label("precision.quantity"), *(titles[name] for name in COARSE)]
    rows = [
        (label("precision.first"), [each[-1].first for each in found]),
        *(
            (label("precision.left_of", n=f"{n:,}"), [each[at].distinct for each in found])
            for at, n in enumerate(lengths)
        ),
        (label("precision.largest"), [each[-1].largest for each in found]),
    ]
    layout.table(header, [(name, *(f"{value:,}" for value in values)) for name, values in rows])
    left, right = layout.beside(*HALVES)
    with left:
        shares = {titles[name]: _left(name) for name in PRECISION.options}
        figure = figures.series(
            {name: lengths for name, (lengths, _) in shares.items()},
            {name: share for name, (_, share) in shares.items()},
            label("precision.length"),
            label("precision.share"),
            log_x=True,
            log_y=True,
        )
        chart.show(figure, "distinct", label("precision.distinct_alt"))
    with right:
        st.markdown(prose("precision", "nearest"))
        header[0] = label("axis.position")
        layout.table(header, [(f"{p:,}", *(_nearest(p, name) for name in COARSE)) for p in POSITIONS])


def accidents() -> None:
    """Compute published accidents again, beside what their threads say."""
    neox = ranges.replay(precision.ACCIDENTS["gpt_neox"], **NEOX)
    header = [label(f"precision.{name}") for name in ("quantity", "thread", "here")]
    layout.section("precision", "accidents")
    st.markdown(prose("precision", "neox"))
    layout.table(
        header,
        [
            (label("precision.neox_exact"), _says("1044.2678", "cbcase2023"), f"{neox.exact:.4f}"),
            (label("precision.neox_made"), _says("1045", "cbcase2023"), f"{neox.made:.0f}"),
            (label("precision.neox_largest"), _says("0.7819", "cbcase2023"), f"**{neox.largest:.4f}**"),
        ],
    )
    st.markdown(
        prose(
            "precision",
            "neox_after",
            position=neox.position,
            pair=neox.pair,
            here=number(neox.here),
            alone=f"{neox.alone:.0f}",
        )
    )
    st.markdown(prose("precision", "positions"))
    layout.table(
        header,
        [
            (label("precision.at", p="257"), _says("256", "fecet2023"), _nearest(257)),
            (label("precision.at", p="15,962"), _says("15,936", "toddwbucy2026"), _nearest(15_962)),
            (label("precision.gap_at", p="15,962"), _says("16", "toddwbucy2026"), _gap(15_962)),
            (label("precision.gap_at", p=f"{IMAGE:,}"), _says("512", "dxqb2026"), _gap(IMAGE)),
            (label("precision.grid", side=256), _says("1", "dxqb2026"), _distinct(256)),
            (label("precision.grid", side=512), _says("1", "dxqb2026"), _distinct(512)),
        ],
    )
    st.markdown(prose("precision", "positions_after"))


def float32(rates: "NDArray") -> None:
    """Show why float32 angles fail far out, and what frameworks do about it."""
    places = list(TENS.values())
    found = ranges.parts(places, rates, "float32")
    errors = dict(zip(TENS, precision.worst_error(places, rates, "float32", stage="chain"), strict=True))
    layout.section("precision", "float32", worst=number(errors["10⁶"], 2))
    layout.table(
        [
            label("axis.position"),
            label("precision.by_rate"),
            label("precision.by_product"),
            label("precision.worst"),
        ],
        [
            (p, *(number(value, 2) for value in row))
            for p, *row in zip(TENS, found.rates, found.products, errors.values(), strict=True)
        ],
    )
    st.markdown(prose("precision", "frameworks"))


def _says(value: str, key: str) -> str:
    """Return a number as a link to the thread that says it."""
    return f"[{value}]({SOURCES[key].url})"


def _nearest(position: int, form: str = "bfloat16") -> str:
    return number(precision.rounded([position], form)[0])


def _gap(position: int) -> str:
    return number(precision.spacing([position], "bfloat16")[0])


def _distinct(side: int) -> int:
    return precision.collisions(range(IMAGE, IMAGE + side), "bfloat16").distinct
