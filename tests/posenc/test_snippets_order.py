"""The code that the first page shows: it runs as it stands and leaves the outputs on screen."""

from __future__ import annotations

import numpy as np
import pytest

from posenc import order, snippets

CASES = [(name, "none", 10_000.0, "interleaved") for name in order.PAIRS] + [
    ("mother_baby", "learned", 10_000.0, "interleaved"),
    ("cat_dog", "sinusoidal", 500.0, "cos_sin"),
    ("dog_cat", "sinusoidal", 1.0, "sin_cos"),
]


@pytest.mark.parametrize(
    "framework",
    [
        "NumPy",
        pytest.param("PyTorch", marks=pytest.mark.framework),
        pytest.param("TensorFlow", marks=pytest.mark.framework),
    ],
)
@pytest.mark.parametrize(("name", "kind", "base", "layout"), CASES)
def test_the_code_leaves_the_outputs(framework: str, name: str, kind: str, base: float, layout: str) -> None:
    code = snippets.order(*order.PAIRS[name], kind, base=base, layout=layout)[framework]
    variables: dict[str, object] = {}
    exec(compile(code, framework, "exec"), variables)
    first, second = order.pair(name)
    x, y = (order.inputs(each, kind, base=base, layout=layout) for each in (first, second))
    expected = order.compare(x, y, order.row_order(first.pieces, second.pieces)).outputs
    np.testing.assert_allclose(np.asarray(variables["outputs"]), expected, rtol=1e-9, atol=1e-12)
    other = variables["with_positions" if kind == "none" else "without_positions"]
    assert not np.allclose(np.asarray(other), expected, atol=1e-3)
    assert len(code.splitlines()) < 30
    assert max(map(len, code.splitlines())) <= 110
