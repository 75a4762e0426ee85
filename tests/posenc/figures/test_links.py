"""The picture of two orders: each line joins a piece to itself, and what moved stands out."""

from __future__ import annotations

from posenc.figures import links
from posenc.figures.style import GREY, ORANGE

FIRST, SECOND, ORDER = ["<s>", "a", "b&", "</s>"], ["<s>", "b&", "a", "</s>"], [0, 2, 1, 3]


def test_each_line_goes_from_a_piece_to_the_same_piece() -> None:
    figure = links(FIRST, SECOND, ORDER, ("one", "two"), "Position")
    ends = [(FIRST[line.y[0]], SECOND[line.y[1]]) for line in figure.data]
    assert ends == [(piece, piece) for piece in SECOND]
    assert all(tuple(line.x) == (0, 1) for line in figure.data)
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # position 0 on top


def test_what_moved_is_drawn_in_orange() -> None:
    figure = links(FIRST, SECOND, ORDER, ("one", "two"), "Position")
    assert [line.line.color for line in figure.data] == [GREY, ORANGE, ORANGE, GREY]


def test_a_piece_that_looks_like_a_tag_is_shown() -> None:
    figure = links(FIRST, SECOND, ORDER, ("one", "two"), "Position")
    assert tuple(figure.data[0].text) == ("&lt;s&gt;", "&lt;s&gt;")
    assert tuple(figure.data[1].text) == ("b&amp;", "b&amp;")
