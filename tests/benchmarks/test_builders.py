"""The benchmark compares like with like, and its table stands in both READMEs."""

from __future__ import annotations

import re

import mpmath
import numpy as np
import pytest

from tests.benchmarks import bench_builders
from tests.benchmarks.measure import markdown, medians, peak_bytes

SMALL = bench_builders.entries(shrink=8)


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.name)
def test_a_builder_makes_what_its_formula_makes(entry):
    built, plain = entry.build(), entry.plain()
    assert len(built) == len(plain)
    for found, expected in zip(built, plain, strict=True):
        assert found.shape == expected.shape
        # Angles up to 1e7 are rounded to 2e-9; the two round them differently.
        np.testing.assert_allclose(found, expected, atol=2e-6 if found.dtype == np.float32 else 1e-8)


@pytest.mark.parametrize("entry", SMALL, ids=lambda entry: entry.name)
def test_the_worst_error_is_that_of_the_builder(entry):
    (first, *_) = entry.build()
    limit = 1e-7 if first.dtype == np.float32 else 5e-9
    assert entry.worst_error(first) <= limit
    # ... and sees what is wrong, in a corner and anywhere.
    wrong = first + np.where(np.arange(first.shape[1]) % 2, 1e-3, 0).astype(first.dtype)
    assert entry.worst_error(wrong) == pytest.approx(1e-3, rel=1e-2)


def test_the_exact_cells_are_those_of_the_printed_table():
    with mpmath.workdps(20):
        assert float(bench_builders.cell(1, 0, 4)) == pytest.approx(0.8414709848)
        assert float(bench_builders.cell(1, 3, 4)) == pytest.approx(0.9999500004)
        assert float(bench_builders.cell(1, 1, 4, "sin_cos")) == pytest.approx(0.0099998333)
        assert float(bench_builders.cell(1, 0, 4, "cos_sin")) == pytest.approx(0.5403023059)


@pytest.mark.parametrize("readme", bench_builders.READMES, ids=lambda path: path.name)
def test_the_readme_holds_a_row_for_each_builder(readme):
    (table,) = bench_builders.MARKED.findall(readme.read_text(encoding="utf-8"))
    header, _, *rows = [re.split(r" \| ", line.strip("| ")) for line in table.splitlines()]
    assert tuple(header) == bench_builders.HEADER
    names = [row[0] for row in rows]
    assert names == [entry.name for entry in bench_builders.entries()]
    for _, _, faster, fill, peak, error in rows:
        assert float(faster) > 0
        assert re.fullmatch(r"\d+%", fill)
        assert float(peak) >= 1
        assert 0 <= float(error) < 1e-6


def test_what_is_measured_in_turns_is_run_once_more_than_counted():
    order = []
    medians({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeats=3)
    assert order == ["a", "b"] * 4


def test_the_peak_counts_arrays():
    assert peak_bytes(lambda: np.zeros(10**6)) == pytest.approx(8e6, rel=1e-2)


def test_a_table_is_markdown():
    assert markdown(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"
