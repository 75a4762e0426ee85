"""Rows of tiles: each column of each table stands where it belongs, and looks as its kind does."""

from posenc.figures import BLUE, ORANGE, Kind, tiles

ROWS = {
    "one": [("x · sine", "0"), ("y · sine", "0"), ("x · cosine", "0")],
    "other": [("y · sine", "1"), ("x · sine", "0")],
}
KINDS = {"x · sine": Kind(0, True), "x · cosine": Kind(0, False), "y · sine": Kind(1, True)}


def test_every_column_is_a_tile_of_its_kind_at_its_place():
    figure = tiles(ROWS, KINDS, "Dimension")
    assert [trace.name for trace in figure.data] == list(KINDS)
    drawn = {
        (row, base + 0.5): (trace.name, text)
        for trace in figure.data
        for row, base, width, text in zip(trace.y, trace.base, trace.x, trace.text, strict=True)
        if width == 1
    }
    assert drawn == {(row, at): tile for row, tiles in ROWS.items() for at, tile in enumerate(tiles)}


def test_sines_are_filled_and_cosines_hollow_in_the_colour_of_their_axis():
    full, hollow, other = (trace.marker for trace in tiles(ROWS, KINDS, "Dimension").data)
    assert (full.color, full.line.color) == (BLUE, BLUE)
    assert (hollow.color, hollow.line.color) == ("rgba(0, 0, 0, 0)", BLUE)
    assert other.color == ORANGE


def test_the_first_table_is_on_top():
    axis = tiles(ROWS, KINDS, "Dimension").layout.yaxis
    assert list(axis.categoryarray) == list(ROWS)
    assert axis.autorange == "reversed"
