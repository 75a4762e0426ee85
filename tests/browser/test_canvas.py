"""The canvas by itself, without the app: it draws what it is sent, says what is there, and asks for views."""

from __future__ import annotations

import base64
import itertools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from pages.ui.heatmap import CANVAS, WORDS
from posenc import figures
from posenc.blocks import table_blocks
from posenc.figures.style import DIVERGING, SEQUENTIAL
from tests.browser.canvas import Canvas

pytestmark = pytest.mark.browser

PAGE = """<!doctype html><meta charset="utf-8"><style>{css}</style>
<style>:root {{--st-background-color: #fff; --st-text-color: #222; --st-font: sans-serif}}</style>
<div id="place" style="width: {width}px">{html}</div>"""
LOAD = """async (code) => {
  window.heard = [];
  window.draw = (await import(URL.createObjectURL(new Blob([code], {type: 'text/javascript'})))).default;
}"""
DRAW = """(text) => void (window.end = window.draw({
  data: Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)),
  parentElement: document.querySelector('#place'),
  setTriggerValue: (name, value) => window.heard.push([name, value]),
}))"""
# In one go: between two presses from here a busy machine may pause for longer than the canvas waits.
THREE_KEYS = """(surface) => {
  for (let k = 0; k < 3; k++) surface.dispatchEvent(new KeyboardEvent('keydown', {key: '+'}));
}"""
PAUSE_MS = 400  # longer than the canvas waits before it asks
POSITION = figures.Axis("Position (title)", "position")
DIMENSION = figures.Axis("Dimension (title)", "dimension")
DEFAULTS = {
    "key": "any",
    "alt": "All of it",
    "note": "",
    "pick": True,
    "words": {name: f"~{name}" for name in WORDS},
}


class Alone(Canvas):
    """A heatmap alone on a page."""

    def __init__(self, page: Page, width: int) -> None:
        parts = {
            name: (CANVAS / f"heatmap.{name}").read_text(encoding="utf-8") for name in ("html", "css", "js")
        }
        page.set_content(PAGE.format(width=width, **parts))
        page.evaluate(LOAD, parts["js"])
        super().__init__(page.locator(".heatmap"))

    def send(
        self,
        matrix: Any,
        view: tuple[int, int, int, int] | None = None,
        *,
        rows: figures.Axis = POSITION,
        columns: figures.Axis = DIMENSION,
        most: tuple[int, int] = (400, 800),
        **more: Any,
    ) -> Alone:
        """Send a part of a matrix as the server does."""
        table = np.asarray(matrix, dtype=float)
        top, bottom, left, right = view or (0, table.shape[0], 0, table.shape[1])
        blocks = table_blocks(table, (top, bottom), (left, right), most_rows=most[0], most_columns=most[1])
        names = ("limit", "sequential", "square", "height", "product")
        look = {"limit": 1.0, "height": 254} | {name: more.pop(name) for name in names if name in more}
        picture = figures.Picture(blocks, rows, columns, "value", **look)
        sent = figures.pack(picture, table.shape, **(DEFAULTS | more))
        self.page.evaluate(DRAW, base64.b64encode(sent).decode())
        return self

    @property
    def heard(self) -> list[Any]:
        """What the server was told, now that the canvas has had time to say it."""
        self.page.wait_for_timeout(PAUSE_MS)
        return list(self.page.evaluate("() => window.heard.splice(0)"))


@pytest.fixture(scope="module")
def alone(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 900, "height": 700}, reduced_motion="reduce")
    yield context
    context.close()


@pytest.fixture
def canvas(alone: BrowserContext) -> Iterator[Callable[..., Alone]]:
    page = alone.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield lambda width=700: Alone(page, width)
    page.close()
    assert errors == []


def scale(share: float, stops: list[list[Any]]) -> np.ndarray:
    """The colour between two stops of a scale."""
    (low, dark), (high, light) = next(pair for pair in itertools.pairwise(stops) if pair[1][0] >= share)
    ends = [np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) for colour in (dark, light)]
    return ends[0] + (share - low) / (high - low) * (ends[1] - ends[0])


# What is drawn


def test_every_cell_has_the_colour_of_its_value_at_its_place(canvas: Callable[..., Alone]) -> None:
    matrix = np.array([[-1, -0.5, 0, 0.25], [0.75, 1, -0.25, 0.6], [0.1, -0.9, np.nan, 3]])
    places = [(row + 0.5, column + 0.5) for row in range(3) for column in range(4)]
    found = canvas().send(matrix).colours(*places)
    for value, (*colour, alpha) in zip(matrix.ravel(), found, strict=True):
        assert alpha == (0 if np.isnan(value) else 255)
        if alpha:
            np.testing.assert_allclose(colour, scale(min(1, (value + 1) / 2), DIVERGING), atol=3)


def test_a_sequential_scale_starts_at_zero(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send([[0.0, 1.0, 2.0, 4.0]], sequential=True, limit=4.0)
    found = shown.colours(*((0.5, column + 0.5) for column in range(4)))
    wanted = [scale(share, SEQUENTIAL) for share in (0, 0.25, 0.5, 1)]
    np.testing.assert_allclose(found[:, :3], wanted, atol=3)


def test_the_last_block_of_an_axis_is_as_short_as_it_is(canvas: Callable[..., Alone]) -> None:
    # Rows 0–1, 2–3 and 4; columns 0–2, 3–5 and 6.
    matrix = np.kron(np.array([[-1, 0, 1], [0, 1, -1], [1, -1, 0]]), np.ones((2, 3)))[:5, :7]
    shown = canvas().send(matrix, most=(3, 3))
    places = [(row + at, column + at) for row in range(5) for column in range(7) for at in (0.1, 0.9)]
    wanted = [scale((matrix[int(row), int(column)] + 1) / 2, DIVERGING) for row, column in places]
    np.testing.assert_allclose(shown.colours(*places)[:, :3], wanted, atol=3)


def test_blocks_without_a_number_stay_empty(canvas: Callable[..., Alone]) -> None:
    matrix = np.full((6, 6), np.nan)
    matrix[:3] = 0.5
    shown = canvas().send(matrix, most=(2, 2))
    assert shown.colours((1, 1), (5, 1))[:, 3].tolist() == [255, 0]
    assert shown.hover(5, 1)[2] == "value: —"
    nothing = canvas().send(np.full((6, 6), np.nan), most=(2, 2))
    assert not nothing.colours((1, 1), (5, 5)).any()


def test_of_two_values_the_canvas_finds_the_mean(canvas: Callable[..., Alone]) -> None:
    matrix = np.array([[-1, 1, np.nan], [0, 0.5, np.nan], [0.25, -1, 1]])  # rows 0–1, and 2 alone
    shown = canvas().send(matrix, most=(2, 3))
    wanted = [scale((mean + 1) / 2, DIVERGING) for mean in (-0.5, 0.75, 0.25, -1, 1)]
    places = [(1, 0.5), (1, 1.5), (2.5, 0.5), (2.5, 1.5), (2.5, 2.5)]
    np.testing.assert_allclose(shown.colours(*places)[:, :3], wanted, atol=3)
    assert shown.hover(1, 0.5)[2:] == ["value: −0.5000", "~least: −1.0000", "~greatest: 0.0000"]
    assert shown.hover(2.5, 2.5)[2:] == ["value: 1.0000"]
    assert shown.colours((1, 2.5))[0, 3] == 0
    assert shown.hover(1, 2.5)[2] == "value: —"


def test_where_the_screen_has_fewer_pixels_than_there_are_blocks_they_share_their_mean(
    canvas: Callable[..., Alone],
) -> None:
    # Every second column is 1, the others −1 or, in the right half, 0: no stripe survives, no moiré appears.
    row = np.where(np.arange(800) % 2, 1.0, -1.0)
    row[400::2] = 0
    shown = canvas(width=300).send(np.tile(row, (4, 1)))
    # Some five columns to a pixel: means of ±1 are within a fifth of 0.
    for columns, ends in ((range(20, 380, 7), (0.38, 0.62)), (range(420, 780, 7), (0.65, 0.85))):
        allowed = np.array([scale(share, DIVERGING) for share in np.linspace(*ends, 50)])
        for colour in shown.colours(*((1, column) for column in columns)):
            assert np.abs(allowed - colour[:3]).max(axis=1).min() <= 4


def test_a_new_view_is_shown_at_once_from_the_cells_that_are_here(canvas: Callable[..., Alone]) -> None:
    matrix = np.where(np.add.outer(np.arange(20), np.arange(30)) % 2, 0.8, -0.8)
    shown = canvas().send(matrix)
    shown.part("do-in").click()
    assert shown.view == "5-15x8-23"
    cells = ((5, 8), (14, 22), (10, 15), (10, 16))
    found = shown.colours(*((row + 0.5, column + 0.5) for row, column in cells))
    wanted = [scale((matrix[cell] + 1) / 2, DIVERGING) for cell in cells]
    np.testing.assert_allclose(found[:, :3], wanted, atol=3)


def test_outside_of_the_cells_that_are_here_nothing_is_drawn(canvas: Callable[..., Alone]) -> None:
    # Five of the eleven rows in view make a block, the last of which holds one row.
    shown = canvas().send(np.ones((40, 40)), view=(10, 21, 10, 30), most=(3, 20))
    shown.part("do-out").click()
    assert shown.view == "5-27x0-40"
    inside, outside = ((10.3, 10.5), (20.7, 29.5)), ((9.5, 15), (21.5, 15), (23, 15), (15, 9.5), (15, 30.5))
    assert shown.colours(*inside)[:, 3].tolist() == [255, 255]
    assert shown.colours(*outside)[:, 3].tolist() == [0] * 5


def test_the_axes_say_where_the_view_is(canvas: Callable[..., Alone]) -> None:
    rows = figures.Axis("Position", "position", first=464)
    shown = canvas().send(np.zeros((5000, 300)), rows=rows)
    words = shown.part("axes").locator("text").all_text_contents()
    assert {"1,000", "5,000", "0", "200", "Position", "Dimension (title)", "value", "−1", "0.5"} <= set(words)
    shown.send(np.zeros((5000, 300)), view=(10, 13, 0, 4), rows=rows)
    places = {text.text_content(): text.bounding_box() for text in shown.part("axes").locator("text").all()}
    assert {"474", "475", "476", "3"} <= places.keys()
    assert "477" not in places
    # A number stands at the middle of its row and of its column.
    row, column = places["476"], places["3"]
    assert row
    assert column
    assert row["y"] + row["height"] / 2 == pytest.approx(shown.point(12.5, 0)[1], abs=4)
    assert column["x"] + column["width"] / 2 == pytest.approx(shown.point(0, 3.5)[0], abs=4)


def test_labels_are_text_and_are_cut_where_they_are_long(canvas: Callable[..., Alone]) -> None:
    labels = ["<b>x</b>", "&amp;", "가" * 40, 'a"b', "<script>"]
    rows = figures.Axis("<i>Row</i>", "<u>row</u>", labels=labels)
    shown = canvas().send(np.zeros((5, 3)), rows=rows, alt='"<b>', note="<i>each</i>")
    words = shown.part("axes").locator("text").all_text_contents()
    assert {"<b>x</b>", "&amp;", "가" * 15 + "…", 'a"b', "<script>", "<i>Row</i>"} <= set(words)
    assert shown.hover(0.5, 0.5)[:2] == ["<u>row</u> 0", "<b>x</b>"]
    assert shown.part("surface").get_attribute("aria-label") == '"<b>'
    assert shown.part("note").inner_text() == "<i>each</i>"
    assert shown.root.locator("b, i, u, script").count() == 1  # the number in the hover is bold


def test_square_cells_are_square(canvas: Callable[..., Alone]) -> None:
    box = canvas().send(np.zeros((8, 8)), square=True).part("cells").bounding_box()
    assert box["width"] == pytest.approx(box["height"], abs=1)


def test_an_image_keeps_its_shape_unless_that_is_nearly_a_line(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((9, 16)), square=True)
    box = shown.part("cells").bounding_box()
    assert box["width"] * 9 == pytest.approx(box["height"] * 16, rel=0.02)
    line = canvas().send(np.zeros((1, 100)), square=True).part("cells").bounding_box()
    assert line["height"] > 50


def test_buttons_and_fields_have_names_and_the_whole_cannot_be_zoomed_out_of(
    canvas: Callable[..., Alone],
) -> None:
    shown = canvas().send(np.zeros((8, 9)))
    for name in ("in", "out", "whole", "png", "svg"):
        assert shown.part(f"do-{name}").get_attribute("aria-label") == f"~{name}"
    disabled = {name: shown.part(f"do-{name}").is_disabled() for name in ("in", "out", "whole")}
    assert disabled == {"in": False, "out": True, "whole": True}
    shown.send(np.zeros((8, 9)), view=(3, 4, 5, 6))
    disabled = {name: shown.part(f"do-{name}").is_disabled() for name in ("in", "out", "whole")}
    assert disabled == {"in": True, "out": False, "whole": False}
    assert shown.part("surface").get_attribute("aria-label") == "All of it"
    described = shown.part("surface").get_attribute("aria-describedby")
    assert shown.root.locator(f"#{described}").text_content() == "~keys"


# What the hover says


def test_a_single_cell_says_its_value_and_what_is_known_of_its_row_and_column(
    canvas: Callable[..., Alone],
) -> None:
    lines = (
        figures.Line("rate", np.array([1, 0.5, 1 / 3])),
        figures.Line("kind", np.array([0, 1, 0]), ("sine", "cosine")),
    )
    columns = figures.Axis("D", "dimension", lines=lines)
    rows = figures.Axis("P", "position", first=999_999)
    matrix = [[0.1, -0.25, 1e-7], [12345.678, 0, -1]]
    look = {"product": ("angle", np.array([1.0, 2.0, 0.5])), "rows": rows, "columns": columns}
    shown = canvas().send(matrix, **look)
    assert shown.hover(0.5, 1.5) == [
        "position 999,999",
        "dimension 1",
        "rate: 0.5",
        "kind: cosine",
        "angle: 2000000",
        "value: −0.25",
    ]
    assert shown.hover(1.5, 2.5)[1:] == [
        "dimension 2",
        "rate: 0.333333",
        "kind: sine",
        "angle: 500000",
        "value: −1",
    ]
    assert shown.hover(1.5, 0.5)[-1] == "value: 12345.7"


def test_a_block_says_its_ends_its_mean_and_its_extremes(canvas: Callable[..., Alone]) -> None:
    lines = (
        figures.Line("pair", np.arange(7) // 2),
        figures.Line("kind", np.arange(7) % 2, ("sine", "cosine")),
    )
    columns = figures.Axis("D", "dimension", lines=lines)
    matrix = np.linspace(-1, 1, 35).reshape(5, 7)
    shown = canvas().send(matrix, columns=columns, most=(3, 3), product=("angle", np.ones(7)))
    block = matrix[2:4, 3:6]
    assert shown.hover(2.1, 5.9) == [
        "position 2 – 3",
        "dimension 3 – 5",
        "pair: 1 – 2",
        "kind: cosine",
        *(
            f"{name}: {number:.4f}".replace("-", "−")
            for name, number in (("value", block.mean()), ("~least", block.min()), ("~greatest", block.max()))
        ),
    ]
    # The last block of both axes is one value.
    assert shown.hover(4.5, 6.5) == [
        "position 4",
        "dimension 6",
        "pair: 3",
        "kind: sine",
        "angle: 4",
        "value: 1.0000",
    ]


def test_the_hover_goes_with_the_pointer(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((4, 4)))
    shown.hover(0.5, 0.5)
    assert shown.part("tip").is_visible()
    shown.page.mouse.move(5, 5)
    assert shown.part("tip").is_hidden()


# What the reader's hand does


def test_a_box_that_is_dragged_becomes_the_view(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((20, 30)))
    shown.drag((3.5, 4.5), (8.5, 19.5))
    assert shown.view == "3-9x4-20"
    assert shown.heard == [["view", [3, 9, 4, 20]]]
    shown.send(np.zeros((20, 30)), view=(3, 9, 4, 20))
    shown.drag((8.5, 10.5), (8.5, 6.2))  # to the left, along one axis: all of the other stays
    assert shown.heard == [["view", [3, 9, 6, 11]]]


def test_a_click_picks_a_cell_and_no_view(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((20, 30)), view=(10, 20, 0, 30))
    shown.page.mouse.click(*shown.point(13.5, 7.5))
    assert shown.heard == [["pick", [13, 7]]]
    shown.send(np.zeros((20, 30)), pick=False)
    shown.page.mouse.click(*shown.point(13.5, 7.5))
    assert shown.heard == []


def test_with_shift_a_drag_moves_the_view_and_the_edge_stops_it(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((200, 300)), view=(100, 120, 100, 130))
    shown.page.keyboard.down("Shift")
    shown.drag((105, 115), (110, 105))
    shown.page.keyboard.up("Shift")
    assert shown.view == "95-115x110-140"
    assert shown.heard[-1] == ["view", [95, 115, 110, 140]]
    shown.send(np.zeros((200, 300)), view=(95, 115, 110, 140))
    shown.send(np.zeros((200, 300)), view=(0, 20, 270, 300))
    shown.press("Shift+ArrowUp", "Shift+ArrowRight")
    assert shown.view == "0-20x270-300"
    assert shown.heard == []
    shown.press("Shift+ArrowDown", "Shift+ArrowLeft")
    assert shown.view == "10-30x255-285"


def test_a_view_of_one_row_moves_by_one(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((20, 30)), view=(5, 6, 0, 30))
    shown.press("Shift+ArrowUp")
    assert shown.view == "4-5x0-30"
    shown.press("Shift+ArrowDown", "Shift+ArrowDown")
    assert shown.view == "6-7x0-30"


def test_a_double_click_the_key_and_the_button_show_all(canvas: Callable[..., Alone]) -> None:
    shown = canvas()
    for act in (
        lambda: shown.page.mouse.dblclick(*shown.point(12.5, 7.5)),
        lambda: shown.press("0"),
        lambda: shown.part("do-whole").click(),
    ):
        shown.send(np.zeros((20, 30)), view=(10, 20, 0, 10), pick=False)
        act()
        assert shown.view == "0-20x0-30"
        assert shown.heard == [["view", [0, 20, 0, 30]]]
        shown.send(np.zeros((20, 30)), pick=False)


def test_the_wheel_zooms_about_the_pointer_with_ctrl_and_scrolls_without(
    canvas: Callable[..., Alone],
) -> None:
    shown = canvas().send(np.zeros((1000, 1000)))
    shown.hover(200, 800)
    shown.page.mouse.wheel(0, -100)
    assert shown.view == "0-1000x0-1000"
    shown.page.keyboard.down("Control")
    for _ in range(4):
        shown.page.mouse.wheel(0, -100)
    shown.page.keyboard.up("Control")
    shown.page.wait_for_function("document.querySelector('.heatmap').dataset.view !== '0-1000x0-1000'")
    *_, (_, (top, bottom, left, right)) = shown.heard
    assert bottom - top == pytest.approx(1000 * 0.8**4, abs=4)
    assert (200 - top) / (bottom - top) == pytest.approx(0.2, abs=0.01)
    assert (800 - left) / (right - left) == pytest.approx(0.8, abs=0.01)


def test_the_keys_zoom_about_the_cell_that_was_read(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((100, 100)))
    shown.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "+")
    assert shown.view == "1-51x1-51"  # about row 2, column 1
    shown.press("-", "-")
    assert shown.view == "0-100x0-100"


@pytest.mark.parametrize(
    ("typed", "view"),
    [
        ((473, 482, 3, 5), "10-20x3-6"),
        ((473, 473, 3, 3), "10-11x3-4"),
        ((0, 10**9, -5, 10**6), "0-50x0-128"),
        ((482, 473, 3, 5), "19-20x3-6"),
        (("", 482, 3, 5), "0-50x0-128"),
        ((473, "", "", ""), "0-50x0-128"),
    ],
)
def test_a_range_can_be_typed_in_the_axis_s_own_numbers(
    canvas: Callable[..., Alone], typed: tuple[Any, ...], view: str
) -> None:
    rows = figures.Axis("P", "position", first=463)
    shown = canvas().send(np.zeros((50, 128)), rows=rows)
    shown.part("range").locator("summary").click()
    fields = shown.root.locator("form input")
    assert [fields.nth(k).input_value() for k in range(4)] == ["463", "512", "0", "127"]
    assert fields.nth(1).get_attribute("aria-label") == "position: ~last"
    for k, value in enumerate(typed):
        fields.nth(k).fill(str(value))
    fields.nth(3).press("Enter")
    assert shown.view == view
    whole = view == "0-50x0-128"
    assert [event for event, _ in shown.heard] == ([] if whole else ["view"])


def test_the_arrows_read_the_cells_aloud_and_enter_picks_one(canvas: Callable[..., Alone]) -> None:
    matrix = np.arange(24).reshape(4, 6) / 100
    shown = canvas().send(matrix, view=(1, 4, 2, 6))
    said = shown.part("said")
    assert said.get_attribute("aria-live") == "polite"
    shown.press("ArrowRight")
    assert said.text_content() == "position 1, dimension 2, value, 0.08"
    shown.press("ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    assert said.text_content() == "position 3, dimension 3, value, 0.21"
    shown.press("ArrowUp", "ArrowLeft", "ArrowLeft")
    assert said.text_content() == "position 2, dimension 2, value, 0.14"
    assert shown.part("tip").is_visible()
    shown.press("Enter")
    assert shown.heard == [["pick", [2, 2]]]
    shown.press("Escape")
    assert shown.part("tip").is_hidden()
    shown.press("Enter", "a", "Tab")
    assert shown.heard == []


# What the server answers


def test_only_the_last_of_several_moves_is_asked_for(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((100, 100)))
    shown.part("surface").evaluate(THREE_KEYS)
    assert shown.heard == [["view", [44, 57, 44, 57]]]


def test_the_same_view_is_asked_for_again_when_the_server_shows_another(
    canvas: Callable[..., Alone],
) -> None:
    shown = canvas().send(np.zeros((20, 30)))
    for _ in range(2):
        shown.drag((3.5, 4.5), (8.5, 19.5))
        assert shown.heard == [["view", [3, 9, 4, 20]]]
        shown.send(np.zeros((20, 30)), view=(3, 9, 4, 20))
        shown.send(np.zeros((20, 30)))  # the reader went back in the browser's history
        assert shown.view == "0-20x0-30"


def test_a_late_answer_does_not_turn_the_reader_back(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((100, 100)))
    shown.drag((10.5, 10.5), (29.5, 29.5))
    shown.page.wait_for_timeout(PAUSE_MS)
    shown.drag((15.5, 15.5), (19.5, 19.5))
    shown.send(np.ones((100, 100)), view=(10, 30, 10, 30))
    assert shown.view == "15-20x15-20"
    np.testing.assert_allclose(
        shown.colours((17.5, 17.5))[0, :3], scale(1, DIVERGING), atol=3
    )  # its cells are better
    shown.send(np.full((100, 100), -1.0), view=(15, 20, 15, 20))
    np.testing.assert_allclose(shown.colours((17.5, 17.5))[0, :3], scale(0, DIVERGING), atol=3)
    shown.send(np.zeros((100, 100)), view=(0, 50, 0, 50))  # now nothing is awaited: the server decides
    assert shown.view == "0-50x0-50"


def test_another_matrix_comes_with_its_own_view(canvas: Callable[..., Alone]) -> None:
    shown = canvas().send(np.zeros((100, 100)))
    shown.drag((10.5, 10.5), (29.5, 29.5))
    shown.send(np.zeros((50, 100)))
    assert shown.view == "0-50x0-100"
    assert int(shown.root.get_attribute("data-painted") or 0) >= 3


def test_new_data_while_the_old_was_still_on_its_way_leave_one_canvas_that_listens(
    canvas: Callable[..., Alone],
) -> None:
    shown = canvas().send(np.zeros((20, 30)))
    shown.page.evaluate("window.end()")  # Streamlit ends a run that newer data overtook: the element stays
    shown.send(np.zeros((20, 30)))
    shown.page.mouse.click(*shown.point(13.5, 7.5))
    assert shown.heard == [["pick", [13, 7]]]


# What can be taken away


def test_the_picture_can_be_saved(canvas: Callable[..., Alone], tmp_path: Path) -> None:
    shown = canvas().send(np.zeros((8, 9)), key="table")
    for kind in ("svg", "png"):
        with shown.page.expect_download() as download:
            shown.part(f"do-{kind}").click()
        assert download.value.suggested_filename == f"table.{kind}"
        download.value.save_as(tmp_path / f"table.{kind}")
    tree = ET.parse(tmp_path / "table.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert tree.find(f"{space}image").get("href").startswith("data:image/png;base64,")
    assert "Position (title)" in [text.text for text in tree.iter(f"{space}text")]
    assert (tmp_path / "table.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
