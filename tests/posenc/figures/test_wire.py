"""A picture as bytes says what the picture says: the same cells, ends and words, rounded by half a step."""

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.blocks import Blocks, sinusoid_blocks, table_blocks
from posenc.figures import Axis, Line, Picture, cells, pack
from posenc.figures.style import DIVERGING, SEQUENTIAL
from tests.pages.pictures import EMPTY, read

ROWS, COLUMNS = Axis("Position", "position"), Axis("Dimension", "dimension")


def send(blocks, rows=ROWS, columns=COLUMNS, shape=(1000, 1000), **look):
    more = {name: look.pop(name) for name in ("key", "words") if name in look}
    return read(pack(Picture(blocks, rows, columns, "value", **({"limit": 1.0} | look)), shape, **more))


def view_of(table, rows, columns, **most):
    return table_blocks(np.asarray(table), rows, columns, **most)


def test_single_values_are_sent_as_they_are_in_float32():
    table = np.random.default_rng(0).normal(size=(9, 7))
    table[4, 2] = np.nan
    sent = send(view_of(table, (2, 9), (1, 6)))
    np.testing.assert_array_equal(sent.mean, table[2:9, 1:6].astype(np.float32))
    assert sent.arrays.keys() == {"mean"}
    assert sent.arrays["mean"].dtype == np.float32
    assert "scale" not in sent.head
    assert (sent.view, sent.head["cells"], sent.head["each"]) == ((2, 9, 1, 6), [7, 5], [1, 1])


@given(
    st.integers(2, 30),
    st.integers(1, 12),
    st.sampled_from([2, 3, 4]),
    st.sampled_from([1e-9, 1.0, 1e12]),
    st.sampled_from([-3.0, 0.0, 100.0]),
    st.integers(0, 2**32 - 1),
)
def test_blocks_are_sent_in_16_bit_steps_rounded_to_the_nearest(n, d, each, size, middle, seed):
    rng = np.random.default_rng(seed)
    table = size * (middle + rng.normal(size=(n, d)))
    table[rng.random(table.shape) < 0.3] = np.nan
    table[0, 0] = size
    blocks = view_of(table, (0, n), (0, d), most_rows=-(-n // each))
    sent = send(blocks)
    wanted = {"mean": blocks.mean, "least": blocks.minimum, "greatest": blocks.maximum}
    assert sent.arrays.keys() == wanted.keys() - ({"mean"} if blocks.rows_each <= 2 else {})
    spread = np.nanmax(blocks.maximum) - np.nanmin(blocks.minimum)
    assert all(array.dtype == np.uint16 for array in sent.arrays.values())
    for name, plane in wanted.items():
        np.testing.assert_array_equal(np.isnan(sent.plane(name)), np.isnan(plane))
        error = 0.5 * spread / 65534 * (1 + 1e-6)
        np.testing.assert_allclose(sent.plane(name), plane, rtol=1e-14, atol=error)
    # The two ends of the scale are values, and exact.
    assert np.nanmin(sent.plane("least")) == np.nanmin(blocks.minimum)
    assert np.nanmax(sent.plane("greatest")) == pytest.approx(np.nanmax(blocks.maximum), rel=1e-14)


@pytest.mark.parametrize(("most", "size"), [(4, 6), (5, 4), (9, 4)])
def test_cells_are_small_and_sent_as_their_blocks_are(most, size):
    table = np.random.default_rng(0).normal(size=(9, 7))
    table[4, 2] = np.nan
    blocks = view_of(table, (0, 9), (0, 7), most_rows=most)
    kept = cells(blocks)
    sent = [pack(Picture(each, ROWS, COLUMNS, "v", 1.0), (9, 7)) for each in (blocks, kept)]
    assert sent[0] == sent[1]
    assert (kept.shape, kept.single, kept.exact) == (blocks.mean.shape, blocks.single, blocks.exact)
    assert sum(plane.nbytes for plane in kept.planes.values()) == size * blocks.mean.size


def test_a_mean_that_is_not_midway_is_sent():
    table = np.array([[1.0, 5.0], [2.0, 5.0], [7.0, 5.0], [9.0, 5.0]])
    blocks = view_of(table, (0, 4), (0, 2), most_rows=2)
    squares = dataclasses.replace(blocks, mean=np.sqrt((blocks.minimum**2 + blocks.maximum**2) / 2))
    sent = send(squares)
    np.testing.assert_allclose(sent.mean, squares.mean, rtol=0, atol=0.5 * 8 / 65534 * (1 + 1e-6))
    assert "mean" in sent.arrays
    assert "mean" not in send(blocks).arrays


def test_a_step_of_the_sinusoid_is_fine_enough_for_its_colours_and_its_hover():
    low, step = send(sinusoid_blocks((0, 10**7), (0, 512), 512)).head["scale"]
    assert low == -1
    assert step == pytest.approx(2 / 65534)


def test_equal_values_keep_their_value():
    sent = send(view_of(np.full((4, 2), 0.3), (0, 4), (0, 2), most_rows=2))
    assert all((sent.plane(name) == 0.3).all() for name in ("mean", "least", "greatest"))


def test_blocks_without_a_number_are_empty_and_the_json_holds_none_of_them():
    table = np.full((4, 3), np.nan)
    sent = send(view_of(table, (0, 4), (0, 3), most_rows=2))
    assert all((plane == EMPTY).all() for plane in sent.arrays.values())
    assert all(math.isfinite(number) for number in sent.head["scale"])
    single = send(view_of(table, (0, 4), (0, 3)))
    assert np.isnan(single.mean).all()


def test_an_axis_says_its_words_and_what_its_lines_are_at_both_ends_of_every_block():
    rows = Axis("Row", "row", "rows", first=464, labels=["<a>", "나", "c"] * 10)
    lines = (
        Line("rate", 0.5 ** np.arange(30)),
        Line("kind", np.arange(30) % 2 == 1, ("sine", "cosine")),
    )
    columns = Axis("Column", "column", "columns", lines=lines)
    sent = send(view_of(np.zeros((30, 30)), (5, 12), (3, 13), most_rows=4, most_columns=3), rows, columns)
    assert sent.head["each"] == [2, 4]
    assert sent.head["rows"] == {
        "title": "Row",
        "name": "row",
        "first": 464,
        "labels": ["<a>", "나", "c"] * 10,
        "lines": [],
    }
    assert sent.head["columns"] == {
        "title": "Column",
        "name": "column",
        "first": 0,
        "lines": [{"name": "rate"}, {"name": "kind", "words": ["sine", "cosine"]}],
    }
    # Columns 3–6, 7–10 and the shorter 11–12.
    ends = [(3, 6), (7, 10), (11, 12)]
    rates = [0.5**end for pair in ends for end in pair]
    assert sent.arrays["columns0"].tolist() == rates
    assert sent.arrays["columns1"].tolist() == [end % 2 for pair in ends for end in pair]
    assert "rows0" not in sent.arrays


def test_a_single_cell_has_the_factor_of_its_own_column():
    table = np.zeros((6, 5))
    factors = np.array([1, 0.1, 0.01, 0.001, 0.0001])
    sent = send(view_of(table, (1, 6), (2, 5)), product=("angle", factors))
    assert sent.head["product"] == "angle"
    assert sent.arrays["factors"].tolist() == [0.01, 0.001, 0.0001]
    assert "product" not in send(view_of(table, (1, 6), (2, 5))).head


@pytest.mark.parametrize(
    ("sequential", "limit", "limits", "scale"),
    [(False, 3.0, [-3, 3], DIVERGING), (True, 3.0, [0, 3], SEQUENTIAL), (False, 0.0, [-1, 1], DIVERGING)],
)
def test_the_message_says_how_to_draw(sequential, limit, limits, scale):
    look = {"sequential": sequential, "limit": limit, "square": True, "height": 333}
    sent = send(
        view_of(np.zeros((2, 3)), (0, 2), (0, 3)), shape=(20, 30), key="k", words={"in": "더"}, **look
    )
    head = {name: sent.head[name] for name in ("limits", "colours", "square", "height", "shape", "value")}
    assert head == {
        "limits": limits,
        "colours": scale,
        "square": True,
        "height": 333,
        "shape": [20, 30],
        "value": "value",
    }
    assert (sent.head["key"], sent.head["words"]) == ("k", {"in": "더"})


def test_the_size_of_a_message_depends_on_the_cells_alone():
    def size(rows, d_model):
        picture = Picture(sinusoid_blocks((0, rows), (0, d_model), d_model), ROWS, COLUMNS, "v", 1.0)
        return len(pack(picture, (rows, d_model)))

    cells = 400 * 800
    assert size(10_000_000, 16_384) < 2 * 3 * cells + 2000  # three planes of two bytes
    assert abs(size(4000, 1600) - size(10_000_000, 1600)) < 100
    assert size(400, 800) < 4 * cells + 2000


def test_a_view_of_a_square_kilo_costs_at_most_a_quarter_of_sending_it_whole():
    blocks = sinusoid_blocks((0, 1024), (0, 1024), 1024)
    sent = pack(Picture(blocks, ROWS, COLUMNS, "v", 1.0), (1024, 1024))
    assert len(sent) <= 1024 * 1024 * 8 / 4


def test_the_json_is_text_that_every_parser_takes():
    def refuse(name):
        raise AssertionError(name)

    blocks = Blocks(np.array([0, 2]), np.array([0, 1]), *np.full((3, 1, 1), np.nan))
    sent = pack(Picture(blocks, ROWS, COLUMNS, "v", 1.0), (2, 1))
    length = int.from_bytes(sent[:4], "little")
    json.loads(sent[4 : 4 + length], parse_constant=refuse)
