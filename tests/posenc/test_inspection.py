"""What is seen of a table that somebody brought along."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import sinusoidal
from posenc.examples import EXAMPLES, example
from posenc.inspection import MOST_CELLS, MOST_ROWS, SURENESS, Inspection, around, inspect_table
from posenc.mistakes import MISTAKES
from posenc.tables import Table

# What each example is, whoever looks at it: scheme, mistake.
ANSWERS = {
    "raw_column": ("sinusoidal", "raw_column"),
    "fairseq": ("sinusoidal", None),
    "half_precision": ("sinusoidal", "half_precision"),
    "transposed": ("sinusoidal", "transposed"),
    "grid": ("grid", None),
    "learned": ("learned", None),
    "random_init": ("random", "random_init"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_told_to_be_what_it_is(name):
    seen = inspect_table(example(name))
    assert (seen.identity.scheme, seen.wrong) == ANSWERS[name]
    assert seen.sureness in ("certain", "likely")
    assert not seen.cut


def test_fairseq_begins_at_two_and_the_grid_behind_its_class_token():
    assert inspect_table(example("fairseq")).facts["first_position"] == pytest.approx(2)
    seen = inspect_table(example("grid"))
    assert seen.zero_rows == [0]
    cells = seen.cells(0)
    assert cells.shape == (14, 14)
    np.testing.assert_allclose(cells, np.sin(np.arange(14)) * np.ones((14, 1)), atol=1e-6)  # x comes first
    assert inspect_table(example("learned")).cells(0) is None


def test_turning_and_cutting():
    table = Table(np.arange(12.0).reshape(3, 4))
    np.testing.assert_array_equal(inspect_table(table, transpose=True, skip=1).whole, table.values.T[1:])
    for skip in (-1, 3):
        with pytest.raises(ValueError, match="skip must leave one of the 3 rows"):
            inspect_table(table, skip=skip)


@pytest.mark.parametrize("shape", [(5000, 8), (3, 20_000), (4000, 1300), (1, 1)])
def test_of_a_large_table_the_first_rows_are_measured(shape):
    seen = Inspection(np.ones(shape, dtype=np.float32))
    rows, columns = seen.values.shape
    assert rows <= MOST_ROWS
    assert rows * columns <= MOST_CELLS
    assert seen.cut == (seen.values.shape != shape)


@pytest.mark.parametrize("power", [-300, -200, 0, 200, 307])
def test_huge_and_tiny_values_are_drawn_in_a_unit_of_their_own(power):
    values = sinusoidal(20, 8, dtype=np.float64) * 10.0**power
    seen = Inspection(values)
    assert seen.power == power
    np.testing.assert_allclose(seen.drawn(values), sinusoidal(20, 8, dtype=np.float64), atol=1e-12)
    assert seen.given.values.astype(np.float32).max() == pytest.approx(1)


def test_equal_tables_have_one_digest_and_others_another():
    one, same = (Inspection(np.arange(6.0).reshape(2, 3)).given for _ in range(2))
    assert one == same
    assert hash(one) == hash(same)
    assert one != Inspection(np.arange(6.0).reshape(3, 2)).given
    assert one != Inspection(np.arange(6.0).reshape(2, 3) + 1e-12).given


def test_the_words_say_no_more_than_the_confidence():
    leasts = [least for _, least in SURENESS]
    assert leasts == sorted(leasts, reverse=True)
    assert leasts[-1] == 0
    noise = Inspection(np.random.default_rng(0).standard_normal((3, 2)))
    assert noise.identity.confidence < 0.6
    assert noise.sureness in ("possible", "unclear")


@pytest.mark.parametrize("name", [*MISTAKES, "transposed"])
def test_the_repair_of_a_mistake_has_the_table_s_own_size(name):
    values = sinusoidal(40, 32).T if name == "transposed" else MISTAKES[name].build(40, 32)
    seen = Inspection(values)
    assert seen.identity.mistake == name
    if seen.wrong is None:  # a library makes it on purpose
        assert seen.libraries
        return
    namespace: dict[str, np.ndarray] = {}
    exec(compile(seen.repair.before["NumPy"], name, "exec"), namespace)
    np.testing.assert_allclose(namespace["table"], values, atol=1e-5)
    exec(compile(seen.repair.after["NumPy"], name, "exec"), namespace)
    np.testing.assert_allclose(namespace["table"], sinusoidal(40, 32), atol=1e-6)


def test_a_right_table_has_nothing_to_repair_and_can_be_made():
    seen = Inspection(sinusoidal(40, 32))
    assert seen.repair is None
    assert seen.makeable
    assert seen.largest_difference < 1e-6
    assert not Inspection(3 * sinusoidal(40, 32)).makeable


def test_the_second_answer_is_said_by_a_code():
    seen = inspect_table(example("fairseq"))
    code, values = seen.next_best
    assert code == "next_base"
    assert values["freq_shift"] == "0"
    for name in EXAMPLES:
        seen = inspect_table(example(name))
        assert (seen.next_best is None) == (seen.identity.next_best is None), seen.identity.next_best


def test_around_a_cell_stays_within_the_table():
    assert around((0, 0), (100, 100)) == ((0, 7), (0, 13))
    assert around((50, 99), (100, 100)) == ((44, 57), (87, 100))
    assert around((0, 0), (1, 1)) == ((0, 1), (0, 1))
