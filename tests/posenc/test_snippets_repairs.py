"""The code of a mistake makes it, the repaired code makes the right table, and little lies between them."""

import difflib

import numpy as np
import pytest

import posenc
from posenc.snippets import FRAMEWORKS as NAMES
from posenc.snippets_repairs import REPAIRS, repair

FRAMEWORKS = [name if name == "NumPy" else pytest.param(name, marks=pytest.mark.framework) for name in NAMES]
SIZES = [(50, 64, 10_000.0), (120, 10, 500.0), (9, 4, 10_000.0)]


def run(code: str) -> np.ndarray:
    names: dict = {}
    exec(compile(code, "snippet", "exec"), names)
    table = names["table"]
    return np.asarray(table.double() if hasattr(table, "double") else table).astype(np.float64)


def wrong(mistake: str, n: int, d: int, base: float) -> np.ndarray | None:
    """Return the wrong table from elsewhere, None where it is drawn at random or rounded."""
    if mistake in posenc.MISTAKES:
        return posenc.MISTAKES[mistake].build(n, d, base)
    right = posenc.sinusoidal(n, d, base=base, dtype="float64")
    return {
        "doubled_exponent": lambda: posenc.sinusoidal(n, d, base=base**2, dtype="float64"),
        "full_width_rates": lambda: posenc.sinusoidal(n, 4 * d, base=base, dtype="float64")[:, :d],
        "position_scaled_twice": lambda: posenc.sinusoidal(np.arange(n) / 16, d, base=base, dtype="float64"),
        "transposed": lambda: right.T,
        "batch_axis": lambda: np.tile(right[1], (n, 1)),
        "half_precision": lambda: None,
        "rows_shuffled": lambda: None,
        "random_init": lambda: None,
    }[mistake]()


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("mistake", REPAIRS)
def test_before_makes_the_mistake_and_after_the_right_table(framework, mistake):
    for n, d, base in SIZES:
        fixed = repair(mistake, n, d, base=base, factor=4.0)
        before, after = run(fixed.before[framework]), run(fixed.after[framework])
        positions = np.arange(n) / 4 if mistake == "position_scaled_twice" else n
        right = posenc.sinusoidal(positions, d, base=base, dtype="float64")
        rounding = 2.0**-11 if mistake == "half_precision" else 1e-9
        np.testing.assert_allclose(after, right, rtol=0, atol=rounding)
        expected = wrong(mistake, n, d, base)
        if expected is not None:
            np.testing.assert_allclose(before, expected, rtol=0, atol=1e-9)
        if mistake != "half_precision":  # which needs more positions than these
            assert before.shape != right.shape or np.abs(before - right).max() > 0.01


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_positions_in_few_digits_become_the_same_number(framework, dtype):
    n = 4_100 if dtype == "float16" else 520
    fixed = repair("half_precision", n, 8, base=10_000.0, dtype=dtype)
    before, after = run(fixed.before[framework]), run(fixed.after[framework])
    np.testing.assert_array_equal(before[-3], before[-4])  # 4,097 and 4,096 or 517 and 516
    assert np.abs(after[-3] - after[-4]).max() > 0.1
    right = posenc.sinusoidal(n, 8, dtype="float64")
    np.testing.assert_allclose(after, right, rtol=0, atol=2.0**-11 if dtype == "float16" else 2.0**-8)
    assert np.abs(before - right).max() > 0.5


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_what_is_drawn_is_drawn_as_it_says(framework):
    table = run(repair("rows_shuffled", 50, 8, base=100.0).before[framework])
    right = posenc.sinusoidal(50, 8, base=100.0, dtype="float64")
    assert sorted(map(tuple, table.round(6))) == sorted(map(tuple, right.round(6)))
    drawn = run(repair("random_init", 500, 64, base=100.0).before[framework])
    assert drawn.std() == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("mistake", REPAIRS)
def test_few_lines_change_and_all_fit_the_page(mistake):
    fixed = repair(mistake, 50, 64, base=10_000.0, dtype="bfloat16")
    for framework in NAMES:
        before, after = (code[framework].splitlines() for code in fixed)
        assert max(map(len, before + after)) <= 110
        changed = [line for line in difflib.ndiff(before, after) if line[0] in "-+"]
        assert 2 <= len(changed) <= 6


def test_every_mistake_that_can_be_named_has_its_repair():
    from posenc.naming.answers import MORE_MISTAKES

    assert set(REPAIRS) == {*posenc.MISTAKES, *MORE_MISTAKES}


@pytest.mark.parametrize(
    "mistake", [name for name in REPAIRS if name not in ("full_width_rates", "rows_shuffled")]
)
def test_the_code_makes_what_is_then_found(mistake):
    # Full-width rates are looked for in rotary caches.
    n, d = (200, 64) if mistake != "half_precision" else (2048, 64)
    fixed = repair(mistake, n, d, base=10_000.0)
    assert posenc.identify(run(fixed.before["NumPy"])).mistake == mistake
    assert posenc.identify(run(fixed.after["NumPy"])).mistake is None
