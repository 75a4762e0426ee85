"""Every heatmap of the app: a canvas in the browser draws the blocks in view, and asks for other parts.

plotly would draw the same cells in about four times the time and forget the zoom whenever they change.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from pages.ui import controls, guard, shown, url
from pages.ui.text import label
from posenc import figures
from posenc.blocks import Blocks, Span, Window, sinusoid_blocks, table_blocks
from posenc.offsets import OffsetFunction, offset_blocks, sinusoid_similarity_blocks
from posenc.shift import shift_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "posenc.heatmap"
CANVAS = Path(__file__).parent / "canvas"
# More cells than pixels would cost and not show.
COLUMNS, HALF, COARSE = 800, 400, 32

WORDS = ("in", "out", "whole", "range", "apply", "first", "last", "png", "svg", "keys", "least", "greatest")


class Matrix(NamedTuple):
    """Rows and columns of a matrix, and what makes the blocks of a part of it, at most so many each way.

    What all visitors share may have a name, by which it is kept as it is sent; a visitor's own has none.
    """

    shape: tuple[int, int]
    cut: Callable[[Span, Span, int, int], Blocks]
    name: str = ""

    @property
    def whole(self) -> tuple[Span, Span]:
        """All rows and columns."""
        return (0, self.shape[0]), (0, self.shape[1])


def show(
    key: str,
    alt: str,
    matrix: Matrix,
    rows: figures.Axis,
    columns: figures.Axis,
    value: str,
    *,
    average: str = "mean",
    on_pick: Callable[[int, int], None] | None = None,
    half: bool = False,
    view: str = "",
    **look: Any,
) -> None:
    """Draw the part of a matrix that is in view; the view has a place in the address, ``<key>_view``.

    Parameters
    ----------
    key
        Unique on the page.
    alt
        What the chart shows, in a sentence, for who cannot see it.
    matrix
        What to draw.
    rows, columns, value, look
        As in `figures.Picture`.
    average
        What the value of a block is: ``"mean"`` or ``"rms"`` (root of the mean square).
    on_pick
        Called with the row and the column that the reader clicks.
    half
        Whether the chart shares its line with another.
    view
        The name of the view in the address, where charts of matrices of one shape share it.
    """
    window = Window(view or f"{key}_view", matrix.shape)
    url.seed(window)
    spans = window.spans(url.publish(window))
    most = min(HALF, look.get("height", HALF)), HALF if half else COLUMNS

    def cut() -> figures.Picture[figures.Cells]:
        kept = matrix.name and spans == matrix.whole
        cells = _whole(matrix.name, *most, matrix) if kept else figures.cells(matrix.cut(*spans, *most))
        return figures.Picture(cells, rows, columns, value, **look)

    picture = cut()
    more = {"key": key, "alt": alt, "note": _note(picture, average), "pick": on_pick is not None}
    more["words"] = {name: label(f"heatmap.{name}") for name in WORDS}
    if not picture.blocks.exact:
        more["words"] |= {name: label(f"heatmap.{name}_seen") for name in ("least", "greatest")}
    data = figures.pack(picture, matrix.shape, **more)
    # Cut anew for who takes it away: kept, the bytes of a page would be megabytes for each of its visitors.
    shown.chart(alt, lambda: figures.pack(cut(), matrix.shape, **more))
    _component(get_bidi_component_manager())(
        key=f"{key}_heatmap",
        data=data,
        on_view_change=partial(_turn, key, window),
        on_pick_change=partial(_pick, key, on_pick),
    )


@guard.fragment
def apart(*arguments: Any, **options: Any) -> None:
    """Do what `show` does, as a fragment: a change of its view draws nothing else anew."""
    show(*arguments, **options)


def of_table(table: "NDArray", name: str = "") -> Matrix:
    """Return a table in memory; a `name`, for one that all visitors share, stands for its values."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return table_blocks(table, rows, columns, most_rows=down, most_columns=across)

    return Matrix(table.shape, cut, name)


def of_sinusoid(seq_len: int, d_model: int, **options: Any) -> Matrix:
    """Return the sinusoidal table, which is never made."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return sinusoid_blocks(rows, columns, d_model, most_rows=down, most_columns=across, **options)

    return Matrix((seq_len, d_model), cut)


def of_similarity(measure: str, seq_len: int, d_model: int, **options: Any) -> Matrix:
    """Return the similarity matrix of the sinusoidal table, a function of the offset that is never made."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return sinusoid_similarity_blocks(
            measure, rows, columns, d_model, most_rows=down, most_columns=across, **options
        )

    return Matrix((seq_len, seq_len), cut)


def of_offsets(function: OffsetFunction, seq_len: int) -> Matrix:
    """Return a matrix whose cells depend on the offset p − q alone, over so many positions."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return offset_blocks(function, rows, columns, most_rows=down, most_columns=across)

    return Matrix((seq_len, seq_len), cut)


def of_blocks(shape: tuple[int, int], blocks: Callable[..., Blocks]) -> Matrix:
    """Return a matrix of which a function of the core makes the blocks of a view."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return blocks(rows, columns, most_rows=down, most_columns=across)

    return Matrix(shape, cut)


def of_shift(k: float, d_model: int, **options: Any) -> Matrix:
    """Return the matrix M_k, of which only the cells of its rotations are made."""

    def cut(rows: Span, columns: Span, down: int, across: int) -> Blocks:
        return shift_blocks(k, rows, columns, d_model, most_rows=down, most_columns=across, **options)

    return Matrix((d_model, d_model), cut)


def largest(matrix: Matrix) -> float:
    """Return a limit of the colours that fits all of a matrix, whatever part of it is in view."""
    return matrix.cut(*matrix.whole, COARSE, COARSE).largest


def one_row(matrix: Matrix, index: int) -> "tuple[NDArray, NDArray, NDArray, NDArray]":
    """Return one row, block by block: middles of the columns, mean, least and greatest value."""
    blocks = matrix.cut((index, index + 1), (0, matrix.shape[1]), 1, COLUMNS)
    return blocks.middles, blocks.mean[0], blocks.minimum[0], blocks.maximum[0]


# At most a megabyte each, HALF × HALF blocks of 6 bytes: a picture of the width of the page has no name.
@st.cache_resource(max_entries=24, show_spinner=False)
def _whole(name: str, most_rows: int, most_columns: int, _matrix: Matrix) -> figures.Cells:
    """Return all of a matrix as it is sent; its name and the number of blocks are the whole key."""
    return figures.cells(_matrix.cut(*_matrix.whole, most_rows, most_columns))


def _note(picture: figures.Picture[figures.Cells], average: str) -> str:
    """Say what a cell stands for where it is more than one value."""
    blocks = picture.blocks
    if blocks.single:
        return ""
    counts = {"rows": blocks.rows_each, "columns": blocks.columns_each}
    names = {
        f"{name}_name": axis.name.lower() if counts[name] == 1 else axis.many or axis.name
        for name, axis in (("rows", picture.rows), ("columns", picture.columns))
    }
    sizes = {name: f"{count:,}" for name, count in counts.items()}
    return label("heatmap.cell", **sizes, **names, average=label(f"heatmap.{average}"))


def _turn(key: str, window: Window) -> None:
    """Take the view that the reader turned to; a view outside the matrix is not taken."""
    ends = _heard(key, "view")
    if isinstance(ends, list) and len(ends) == 4 and all(isinstance(end, int) for end in ends):
        controls.put(**{window.name: window.write((ends[0], ends[1]), (ends[2], ends[3]))})


def _heard(key: str, event: str) -> Any:
    """Return what a heatmap said; it may be gone by the time that it is heard."""
    return st.session_state.get(f"{key}_heatmap", {}).get(event)


def _pick(key: str, on_pick: Callable[[int, int], None] | None) -> None:
    cell = _heard(key, "pick")
    if on_pick and isinstance(cell, list) and len(cell) == 2 and all(isinstance(at, int) for at in cell):
        on_pick(*cell)


@lru_cache(maxsize=1)  # finding its files took as long as drawing a heatmap
def _component(manager: BidiComponentManager) -> Callable[..., Any]:
    """Return the component, made known to this server, with its files served from their folder.

    Sent inline they would come with every chart, and our Content-Security-Policy would have to allow that.
    """
    if manager.get_component_asset_root(NAME) is None:
        parts = ComponentManifest("posenc", "", [ComponentConfig("heatmap", CANVAS.name)])
        manager.register_from_manifest(parts, CANVAS.parent)
    html = (CANVAS / "heatmap.html").read_text(encoding="utf-8")
    return st.components.v2.component(
        NAME, html=html, css="heatmap.css", js="heatmap.js", isolate_styles=False
    )
