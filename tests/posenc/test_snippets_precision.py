"""The displayed code of the page on rounding is run, as it stands, and compared with the core."""

import numpy as np
import pytest

import posenc
from posenc import precision_scores
from posenc.parameters import PRECISION, STAGE
from posenc.precision import FORMATS, angles_in, rounded
from posenc.snippets_precision import precision

# Shapes with an odd width, a single pair, one position, and places far out.
CASES = [(999, 50, 128, 10_000.0), (0, 1, 1, 10_000.0), (20_000, 9, 7, 500.0), (3, 30, 64, 1.0)]
FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]


def run(code):
    names = {}
    exec(compile(code, "snippet", "exec"), names)
    return np.asarray(names["matrix"])


def scores(first, n, rates, dtype, stage):
    """The scores of the core; bfloat16 angles by way of float32, as the frameworks round them."""
    if (dtype, stage) != ("bfloat16", "angle"):
        return precision_scores.score_blocks((0, n), (0, n), rates, dtype, stage=stage, first=first).made.mean
    angles = rounded(angles_in(np.arange(first, first + n), rates, "float32", stage=stage), dtype)
    return (np.cos(angles) @ np.cos(angles).T + np.sin(angles) @ np.sin(angles).T) / len(rates)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("stage", STAGE.options)
@pytest.mark.parametrize("dtype", PRECISION.options)
def test_the_code_makes_the_scores_of_the_core(framework, dtype, stage):
    for first, n, width, base in CASES:
        code = precision(first, n, width, dtype, stage, base=base)[framework]
        rates = posenc.inv_freq(width, base=base)
        made, right = run(code), scores(first, n, rates, dtype, stage)
        assert made.dtype == np.float64
        # A framework's own sine may be off by the last digit, and two of them meet in each product.
        last = 4 * 2.0 ** -FORMATS[dtype].digits if stage in ("chain", "table") else 1e-9
        np.testing.assert_allclose(made, right, rtol=0, atol=max(last, 1e-9))


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_code_calls_the_width_by_its_name(framework):
    code = precision(0, 3, 8, "float32", "chain", base=10_000.0, name="head_dim")[framework]
    assert "first, n, head_dim, base = 0, 3, 8, 10000.0" in code
    assert "d_model" not in code
    assert run(code).shape == (3, 3)


def test_a_position_that_float16_does_not_have_has_no_score_in_the_code_either():
    with np.errstate(all="ignore"):
        made = run(precision(65_519, 2, 8, "float16", "chain", base=10_000.0)["NumPy"])
    assert np.isfinite(made[0, 0])
    assert np.isnan(made[1]).all()


def test_one_bfloat16_angle_in_131072_is_rounded_twice():
    angles = np.multiply.outer(np.arange(100_000, 102_000), posenc.inv_freq(128))
    twice = rounded(rounded(angles, "float32"), "bfloat16") != rounded(angles, "bfloat16")
    assert twice.sum() == pytest.approx(angles.size / 131_072, abs=2)
