"""The displayed code of a similarity matrix is run, as it stands, and compared with the core."""

import numpy as np
import pytest

import posenc
from posenc import learned, similarity, snippets
from posenc.picks import SCHEME_NAMES, pick

SHAPES = [(50, 128, 10_000.0), (1, 2, 10_000.0), (9, 7, 500.0), (70, 6, 1.0)]
FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]


def run(code: str) -> np.ndarray:
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    return np.asarray(names["matrix"])


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("measure", similarity.MEASURE.options)
@pytest.mark.parametrize("layout", posenc.LAYOUT.options)
def test_the_sinusoids_matrix_is_the_cores(framework, measure, layout):
    for seq_len, d_model, base in SHAPES:
        code = snippets.similarity(pick("sinusoid", seq_len, d_model, base=base, layout=layout), measure)
        table = posenc.sinusoidal(seq_len, d_model, base=base, layout=layout, dtype="float64")
        made = run(code[framework])
        assert made.dtype == np.float64
        # A distance of 0 leaves the square root of rounding where a rate is repeated (base 1).
        np.testing.assert_allclose(made, similarity.MEASURES[measure](table, None), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("measure", similarity.MEASURE.options)
@pytest.mark.parametrize("name", learned.LEARNED)
def test_a_learned_tables_matrix_is_the_cores(framework, measure, name):
    code = snippets.similarity(pick(name, 50, 128), measure)[framework]
    expected = similarity.MEASURES[measure](learned.load(name), None)
    np.testing.assert_allclose(run(code), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("measure", similarity.MEASURE.options)
@pytest.mark.parametrize("name", [*SCHEME_NAMES, "random"])
def test_the_matrix_of_a_schemes_rows_is_the_cores(framework, measure, name):
    for shape in ((1, 2), (20, 48)):
        chosen = pick(name, *shape, base=500.0)
        made = run(snippets.similarity(chosen, measure)[framework])
        assert made.dtype == np.float64
        assert made.shape == (chosen.rows, chosen.rows)
        expected = similarity.MEASURES[measure](chosen.exact(), None)
        np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-7)


def test_a_row_of_zeros_has_no_direction_in_the_code_either():
    code = snippets.similarity(pick("sinusoid", 4, 1), "cosine")["NumPy"]
    with pytest.warns(RuntimeWarning, match="invalid value"):
        made = run(code)
    expected = similarity.cosine(posenc.sinusoidal(4, 1, dtype="float64"))
    np.testing.assert_allclose(made, expected, rtol=1e-9)
    assert np.isnan(made[0]).all()
