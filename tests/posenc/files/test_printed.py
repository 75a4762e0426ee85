"""Arrays as the libraries print them."""

import json

import numpy as np
import pytest

import posenc

WANT = [[0.0, 1.0], [0.5, -0.25]]


def refusal(text):
    with pytest.raises(posenc.TableError) as caught:
        posenc.read_table(text.encode())
    return caught.value


@pytest.mark.parametrize(
    ("text", "library"),
    [
        (str(np.array(WANT)), "NumPy"),
        (repr(np.array(WANT)), "NumPy"),
        (repr(np.array(WANT, "f4")), "NumPy"),
        (repr(np.array([WANT])), "NumPy"),
        (">>> print(pe)\n" + str(np.array(WANT)) + "\n>>> ", "NumPy"),
        ("pe = np.array([[0., 1.],\n  [.5, -.25]])", "NumPy"),
        ("tensor([[ 0.0000,  1.0000],\n        [ 0.5000, -0.2500]])", "PyTorch"),
        ("tensor([[0., 1.], [0.5, -2.5e-01]], device='cuda:0', dtype=torch.float16)", "PyTorch"),
        ("Parameter containing:\ntensor([[0., 1.],\n [0.5, -0.25]], requires_grad=True)", "PyTorch"),
        ("tensor([[0., 1.], [0.5, -0.25]], grad_fn=<AddBackward0>)", "PyTorch"),
        ("tf.Tensor(\n[[ 0.    1.  ]\n [ 0.5  -0.25]], shape=(2, 2), dtype=float32)", "TensorFlow"),
        (
            "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[0., 1.],\n [0.5, -0.25]], dtype='f')>",
            "TensorFlow",
        ),
        ("Array([[0., 1.], [0.5, -0.25]], dtype=float32)", "JAX"),
        (str([[np.float64(v) for v in row] for row in WANT]), ""),
        (json.dumps(WANT), ""),
        (json.dumps({"wpe": WANT}), ""),
        (json.dumps(WANT, indent=1), ""),
        ("[0, 1]\n[0.5, -0.25]\n", ""),
        ("[array([0., 1.]), array([0.5, -0.25], dtype=float32)]", ""),
    ],
)
def test_it_is_read_and_named(text, library):
    table = posenc.read_table(text.encode())
    np.testing.assert_array_equal(table.values, WANT)
    note = table.notes[0]
    assert note.values.get("library", "") == library
    assert note.code == ("printed" if library else "brackets")


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (40, 3), (3, 40), (1, 12, 5), (12, 1, 5)])
@pytest.mark.parametrize("show", [str, repr])
def test_numpy_printing_all_of_it_in_full_is_read_back_exactly(shape, show):
    table = np.random.default_rng(0).normal(size=shape) * 10.0 ** np.arange(shape[-1])
    with np.printoptions(threshold=10**6, floatmode="unique"):
        text = show(table)
    np.testing.assert_array_equal(posenc.read_table(text.encode()).values, table.reshape(-1, shape[-1]))


def test_what_was_not_printed_is_asked_for():
    text = str(posenc.sinusoidal(2000, 64))
    error = refusal(text)
    assert error.code == "elided"
    assert error.values["line"] == next(n for n, line in enumerate(text.splitlines(), 1) if "..." in line)


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        ("[[1, 2], [3]]", "ragged", {"row": 1, "got": 1, "expected": 2}),
        ("[[1, 2],\n [3, x]]", "cell", {"row": 1, "column": 1, "line": 2}),
        ("[[1, 2],\n [3, 4]", "brackets", {"line": 2}),
        ("[[1, 2], [3, 4]]]", "brackets", {"line": 1}),
        ("[[1, 2], 3, [4, 5]]", "brackets", {"line": 1}),
        ("[[1, 2], [[3, 4]]]", "brackets", {"line": 1}),
        ("[0.5 1]", "one_axis", {"shape": (2,)}),
        ("[]", "no_cells", {"shape": (0,)}),
        ("[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]", "many_axes", {"shape": (2, 2, 2)}),
        ("[[1, 2], [3, 4]]\n[[1, 2], [3, 4]]", "many_axes", {"shape": (2, 2, 2)}),
        ("[[nan, 1.], [2., inf]]", "not_finite", {"count": 2}),
    ],
)
def test_what_is_wrong_is_named(text, code, values):
    error = refusal(text)
    assert error.code == code
    assert {key: error.values[key] for key in values} == values
