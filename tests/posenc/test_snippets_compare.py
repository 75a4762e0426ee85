"""The displayed code of the comparison is run, as it stands, and compared with the core."""

import numpy as np
import pytest

from posenc.registry import SCHEMES
from posenc.side_by_side import Setting, curves, measure
from posenc.snippets_compare import compare

FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]
SETTING = Setting(10, 32, 2, 1, 64, 500.0, 3)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("scale", ["change", "own"])
def test_the_code_makes_the_curves_on_screen(framework, scale):
    names: dict[str, object] = {}
    exec(compile(compare(list(SCHEMES), SETTING, scale)[framework], "snippet", "exec"), names)
    expected = curves((measure(name, SETTING) for name in SCHEMES), scale)
    assert expected.shape == (len(SCHEMES), 10)
    np.testing.assert_allclose(np.asarray(names["result"]), expected, rtol=1e-9, atol=1e-12)
