"""The displayed code is run, as it stands, and compared with the core."""

import numpy as np
import pytest

import posenc
from posenc import snippets

CASES = [
    (seq_len, d_model, base, layout)
    for layout in posenc.LAYOUT.options
    for seq_len, d_model, base in [(50, 512, 10_000.0), (1, 1, 10_000.0), (3, 7, 500.0), (600, 64, 1.5e6)]
]


def run(code: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    return names


@pytest.mark.parametrize(
    "framework",
    [
        "NumPy",
        pytest.param("PyTorch", marks=pytest.mark.framework),
        pytest.param("TensorFlow", marks=pytest.mark.framework),
    ],
)
@pytest.mark.parametrize(("seq_len", "d_model", "base", "layout"), CASES)
def test_the_sinusoidal_snippet_makes_the_table(framework, seq_len, d_model, base, layout):
    made = np.asarray(
        run(snippets.sinusoidal(seq_len, d_model, base=base, layout=layout)[framework])["table"]
    )
    assert made.dtype == np.float32
    np.testing.assert_allclose(made, posenc.sinusoidal(seq_len, d_model, base=base, layout=layout), atol=1e-6)
