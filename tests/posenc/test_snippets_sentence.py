"""The code that the sentence page shows makes the array that it shows."""

import numpy as np
import pytest

from posenc import assembly, snippets
from posenc.sentence import drop_out, prepared
from posenc.sinusoidal import sinusoidal

NASTY = "<b> $x$ it's \"so\" \\n {piece} `*` 가 👨‍👩‍👧 שלום it's"


def run(code: str, folder, monkeypatch) -> np.ndarray:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    exec(compile(code, "snippet", "exec"), names)
    return names["x"]


@pytest.mark.parametrize("layout", ["interleaved", "sin_cos", "cos_sin"])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_code_from_a_file(layout, training, scale, tmp_path, monkeypatch):
    sentence = prepared("minilm_l6")[1]
    np.save(tmp_path / "embedding.npy", sentence.vectors)
    options = {"dropout": 0.3, "training": training, "seed": 12}
    code = snippets.sentence(
        sentence.pieces, 384, base=500.0, layout=layout, file="embedding.npy", scale=scale, **options
    )
    table = sinusoidal(len(sentence.pieces), 384, base=500.0, layout=layout)
    steps = assembly.assemble(sentence.vectors, table, scale=scale)
    expected = drop_out(steps.batch, **options).astype(np.float32)
    found = run(code["NumPy"], tmp_path, monkeypatch)
    assert found.shape == expected.shape == (1, 8, 384)
    assert found.dtype == np.float32
    assert np.allclose(found, expected, atol=1e-6)
    assert (found == 0).any() == training


@pytest.mark.parametrize("d_model", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("text", ["a", "to be or not to be", NASTY, "긴 글 " * 300])
def test_code_for_typed_text(d_model, text, tmp_path, monkeypatch):
    sentence, _ = assembly.typed(text, d_model)
    code = snippets.sentence(
        sentence.pieces, d_model, base=10_000.0, layout="interleaved", dropout=0.9, training=True, seed=5
    )
    table = sinusoidal(len(sentence.pieces), d_model)
    expected = drop_out(assembly.assemble(sentence.vectors, table).batch, dropout=0.9, training=True, seed=5)
    found = run(code["NumPy"], tmp_path, monkeypatch)
    assert found.shape == expected.shape
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_frameworks_share_the_vectors_and_the_dice():
    code = snippets.sentence(["a", "b"], 4, base=100.0, layout="sin_cos", dropout=0.5, training=True, seed=3)
    assert list(code) == list(snippets.FRAMEWORKS)
    for text in code.values():
        compile(text, "snippet", "exec")
        assert "default_rng(3).random((1, seq_len, d_model)) >= 0.5" in text
        assert "pieces = ['a', 'b']" in text
        assert text.count("import numpy as np") == 1


@pytest.mark.framework
@pytest.mark.parametrize("framework", ["PyTorch", "TensorFlow"])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("file", [None, "embedding.npy"])
@pytest.mark.parametrize("d_model", [7, 8])
def test_framework_code(framework, training, file, d_model, tmp_path, monkeypatch):
    pytest.importorskip({"PyTorch": "torch", "TensorFlow": "tensorflow"}[framework])
    sentence, _ = assembly.typed("to be or not to be", d_model)
    np.save(tmp_path / "embedding.npy", sentence.vectors)
    options = {"dropout": 0.3, "training": training, "seed": 12}
    code = snippets.sentence(
        sentence.pieces, d_model, base=500.0, layout="interleaved", file=file, scale=True, **options
    )
    table = sinusoidal(len(sentence.pieces), d_model, base=500.0)
    expected = drop_out(assembly.assemble(sentence.vectors, table, scale=True).batch, **options)
    found = run(code[framework], tmp_path, monkeypatch).numpy()
    assert found.dtype == np.float32
    assert np.allclose(found, expected, atol=1e-5)
