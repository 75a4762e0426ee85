"""The displayed code of grids is run, as it stands, and compared with the core."""

import itertools

import numpy as np
import pytest

from posenc import images, resizing, snippets_images

FRAMEWORKS = [
    "NumPy",
    pytest.param("PyTorch", marks=pytest.mark.framework),
    pytest.param("TensorFlow", marks=pytest.mark.framework),
]
SIZES = [((3, 5), (4, 7)), ((6, 4), (3, 3)), ((1, 1), (2, 3)), ((5, 2), (5, 2))]


def run(code: str, name: str) -> np.ndarray:
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    return np.asarray(names[name])


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("form", images.IMAGE_FORMS)
def test_the_table_is_the_forms(framework, form):
    for height, width, d_model, base, cells in [
        (3, 5, 16, 10_000.0, None),
        (4, 2, 4, 1.0, 3),
        (1, 1, 8, 50.0, 1),
    ]:
        code = snippets_images.grid_table(form, height, width, d_model, base=base, cells=cells)[framework]
        table = images.IMAGE_FORMS[form].table((height, width), d_model, base=base).reshape(-1, d_model)
        made = run(code, "table")
        assert made.dtype == np.float32
        np.testing.assert_allclose(made, table[:cells], rtol=0, atol=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("values", resizing.VALUES.options)
@pytest.mark.parametrize("class_token", [False, True])
def test_the_resized_table_is_the_cores(framework, values, class_token, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for (old, new), method, antialias in itertools.product(SIZES, ("bicubic", "bilinear"), (False, True)):
        task = resizing.Task(values, old, new, 8, 100.0, method, antialias, class_token)
        found = resizing.resized(task)
        np.save(tmp_path / "table.npy", found.given)
        made = run(snippets_images.resized(task)[framework], "resized")
        assert made.shape == (class_token + new[0] * new[1], 8)
        np.testing.assert_allclose(made, found.table, rtol=0, atol=1e-6 if framework == "PyTorch" else 1e-12)
