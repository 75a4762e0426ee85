"""The displayed code that puts a table into a model is run, as it stands, and compared with the core."""

import itertools

import numpy as np
import pytest

import posenc
from posenc import exports, snippets_tables

REAL = ["PyTorch", "TensorFlow", "JAX"]
FRAMEWORKS = ["NumPy", *(pytest.param(name, marks=pytest.mark.framework) for name in REAL)]
SIZES = [(50, 64), (7, 5), (600, 6), (3, 2), (4, 1), (1, 7)]
FORMS = list(itertools.product(posenc.LAYOUT.options, posenc.FREQ_SHIFT.options))


def run(code: str) -> dict:
    names: dict = {}
    exec(compile(code, "snippet", "exec"), names)
    return names


def encode(framework: str, n: int, d: int, *, layout="interleaved", freq_shift=0, **options) -> dict:
    code = snippets_tables.encoding(n, d, base=500.0, layout=layout, freq_shift=freq_shift, **options)
    assert list(code) == ["NumPy", *REAL]
    assert max(map(len, code[framework].splitlines())) <= 110
    return run(code[framework])


def added(framework: str, names: dict, x: np.ndarray) -> np.ndarray:
    """Call what the code defines on an input, in evaluation."""
    if framework == "PyTorch":
        import torch

        return names["encode"].eval()(torch.from_numpy(x)).numpy()
    call = (
        names["encode"] if framework == "TensorFlow" else lambda x: names["add_positions"](x, names["table"])
    )
    return np.asarray(call(x))


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(("layout", "freq_shift"), FORMS)
def test_the_table_is_the_cores_at_any_width(framework, layout, freq_shift):
    for n, d in SIZES:
        table = np.asarray(encode(framework, n, d, layout=layout, freq_shift=freq_shift)["table"])
        right = posenc.sinusoidal(n, d, base=500.0, layout=layout, freq_shift=freq_shift)
        assert table.dtype == np.float32
        np.testing.assert_allclose(table, right, rtol=0, atol=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("first", [2, -3, np.float64(0.5), 9_000_001.0])
def test_row_0_may_be_of_any_position(framework, first):
    table = np.asarray(encode(framework, 20, 6, first_position=first)["table"])
    right = posenc.sinusoidal(first + np.arange(20), 6, base=500.0)
    np.testing.assert_allclose(table, right, rtol=0, atol=1e-6)


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("scale", [False, True])
def test_each_sentence_of_a_batch_gets_the_row_of_each_position(framework, scale):
    names = encode(framework, 9, 6, scale=scale, dropout=0.5)
    x = np.random.default_rng(0).standard_normal((3, 5, 6)).astype(np.float32)
    right = np.stack([posenc.to_input(each, posenc.sinusoidal(5, 6, base=500.0), scale=scale) for each in x])
    np.testing.assert_allclose(added(framework, names, x), right, rtol=0, atol=1e-6)
    if framework != "TensorFlow":  # a Keras layer casts its input to its own dtype, by Keras's rules
        assert added(framework, names, x.astype(np.float16)).dtype == np.float16


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("max_len", [1, 4])
def test_a_text_longer_than_the_table_is_refused(framework, max_len):
    # One row would be added to every position, without a word.
    names = encode(framework, max_len, 6)
    x = np.zeros((2, max_len + 1, 6), np.float32)
    with pytest.raises(ValueError, match=f"{max_len + 1} positions, but max_len is {max_len}"):
        added(framework, names, x)
    assert added(framework, names, x[:, :max_len]).shape == (2, max_len, 6)


@pytest.mark.framework
def test_the_module_takes_either_order_of_axes_and_saves_no_table():
    import torch

    module = encode("PyTorch", 9, 5)["SinusoidalPositions"]
    x = torch.zeros(3, 4, 5)
    first, second = module(5, max_len=9), module(5, max_len=9, batch_first=False)
    table = torch.from_numpy(posenc.sinusoidal(9, 5, base=500.0))
    for batch in range(3):
        torch.testing.assert_close(first(x)[batch], table[:4], rtol=0, atol=1e-6)
    for batch in range(4):
        torch.testing.assert_close(second(x)[:, batch], table[:3], rtol=0, atol=1e-6)
    assert not first.state_dict()
    assert not list(first.parameters())
    assert first.to(torch.bfloat16)(x.to(torch.bfloat16)).dtype == torch.bfloat16


@pytest.mark.framework
def test_dropout_is_the_frameworks_own_and_for_training_only():
    import jax
    import jax.numpy as jnp
    import torch

    x = np.ones((4, 50, 64), np.float32)
    right = 1 + posenc.sinusoidal(50, 64, base=500.0)
    outputs = {}
    encoder = encode("PyTorch", 50, 64, dropout=0.25)["encode"]
    torch.manual_seed(0)
    outputs["PyTorch"] = encoder.train()(torch.from_numpy(x)).numpy()
    outputs["TensorFlow"] = np.asarray(encode("TensorFlow", 50, 64, dropout=0.25)["encode"](x, training=True))
    names = encode("JAX", 50, 64, dropout=0.25)
    add = jax.jit(names["add_positions"])
    outputs["JAX"] = np.asarray(add(jnp.asarray(x), names["table"], jax.random.key(0)))
    for framework, output in outputs.items():
        kept = output != 0
        assert kept.mean() == pytest.approx(0.75, abs=0.02), framework
        np.testing.assert_allclose(output[kept], (np.broadcast_to(right, x.shape) / 0.75)[kept], atol=1e-5)


@pytest.mark.framework
def test_the_keras_layer_is_saved_and_loaded_within_a_model(tmp_path):
    import keras

    names = encode("TensorFlow", 9, 5, scale=True, dropout=0.1)
    inputs = keras.Input((None, 5))
    model = keras.Model(inputs, names["encode"](inputs))
    assert not model.weights
    model.save(tmp_path / "model.keras")
    x = np.random.default_rng(0).standard_normal((2, 4, 5)).astype(np.float32)
    again = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(np.asarray(again(x)), np.asarray(names["encode"](x)))


WRITERS = {
    "npy": lambda table, name: exports.to_npy(table),
    "npz": exports.to_npz,
    "csv": lambda table, name: exports.to_csv(table),
    "safetensors": exports.to_safetensors,
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("shape", [(12, 5), (1, 4)])
def test_an_exported_file_is_read_and_its_rows_looked_up(framework, ending, shape, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = posenc.sinusoidal(*shape)
    (tmp_path / f"it's 표.{ending}").write_bytes(WRITERS[ending](table, "wpe"))
    names = run(snippets_tables.loading(f"it's 표.{ending}", "wpe")[framework])
    np.testing.assert_array_equal(np.asarray(names["table"]), table)
    np.testing.assert_array_equal(np.asarray(names["rows"]), table[:8])
    if framework == "PyTorch":
        assert not names["encode"].state_dict()
        assert not names["embedding"].weight.requires_grad
