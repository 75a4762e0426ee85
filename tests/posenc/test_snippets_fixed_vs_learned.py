from __future__ import annotations

import numpy as np
import pytest

from posenc.learned import LEARNED, load
from posenc.similarity import by_offset, cosine
from posenc.snippets import FRAMEWORKS, fixed_vs_learned

RUN = [name if name == "NumPy" else pytest.param(name, marks=pytest.mark.framework) for name in FRAMEWORKS]


@pytest.mark.parametrize("framework", RUN)
@pytest.mark.parametrize("name", LEARNED)
def test_the_code_reads_the_file_and_leaves_what_is_on_screen(framework, name, tmp_path, monkeypatch):
    np.save(tmp_path / f"{name}.npy", load(name))
    monkeypatch.chdir(tmp_path)
    variables: dict[str, object] = {}
    exec(compile(fixed_vs_learned(f"{name}.npy")[framework], framework, "exec"), variables)
    expected = cosine(load(name))
    np.testing.assert_allclose(np.asarray(variables["cosine"]), expected, atol=1e-6)
    np.testing.assert_allclose(np.asarray(variables["by_offset"]), by_offset(expected).mean, atol=1e-6)


def test_every_framework_names_the_file_and_compiles():
    for name, code in fixed_vs_learned("some.npy").items():
        compile(code, name, "exec")
        assert '"some.npy"' in code
        assert max(map(len, code.splitlines())) <= 110
