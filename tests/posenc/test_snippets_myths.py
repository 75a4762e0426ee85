"""The displayed code of each myth is run, as it stands, and compared with the evidence of the core."""

import numpy as np
import pytest

from posenc.myths import MYTHS
from posenc.snippets_myths import myth

FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(("d_model", "base"), [(128, 10_000.0), (7, 500.0), (1, 10_000.0)])
@pytest.mark.parametrize("name", MYTHS)
def test_the_code_makes_what_is_on_screen(name, d_model, base, framework, tmp_path, monkeypatch):
    evidence = MYTHS[name].look(d_model, base, 3)
    for file, array in evidence.given.items():
        np.save(tmp_path / file, array)
    monkeypatch.chdir(tmp_path)
    code = myth(name, d_model, base=base, count=evidence.points, published=evidence.made)[framework]
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    np.testing.assert_allclose(np.asarray(names["curve"]), evidence.made, rtol=1e-9, atol=1e-9)
