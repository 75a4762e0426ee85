import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posenc.attention import attention
from posenc.sentence import (
    embed,
    first_layer_input,
    layer_norm,
    prepared,
    to_input,
)
from posenc.sinusoidal import sinusoidal

ROOT = Path(__file__).parents[2]


def test_embed_gives_a_piece_the_same_vector_everywhere():
    vectors = embed(("the", "cat", "the"), 8)
    assert (vectors.shape, vectors.dtype) == ((3, 8), np.float32)
    np.testing.assert_array_equal(vectors[0], vectors[2])
    np.testing.assert_array_equal(vectors[1], embed(("cat",), 8)[0])
    assert (vectors[0] != vectors[1]).all()
    assert (embed(("the",), 8, seed=1) != vectors[0]).all()
    assert embed((), 8).shape == (0, 8)
    assert (embed(("\ud800",), 4) != embed(("\ufffd",), 4)).all()


def test_embed_is_the_same_in_every_process():
    code = "from posenc.sentence import embed; print(embed(('고양이', '🙂'), 3, seed=5).tolist())"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {f"{embed(('고양이', '🙂'), 3, seed=5).tolist()}\n"}


def test_embed_has_the_size_of_trained_embeddings():
    vectors = embed([str(i) for i in range(400)], 512).astype(np.float64)
    assert math.sqrt((vectors**2).mean()) == pytest.approx(1 / math.sqrt(512), rel=0.01)
    assert abs(vectors.mean()) < 0.001
    gram = vectors @ vectors.T
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 0.3  # unrelated pieces are nearly orthogonal


def test_to_input_adds_row_t_to_row_t_of_every_sequence():
    table = sinusoidal(10, 4, dtype=np.float64)
    vectors = np.random.default_rng(0).normal(size=(3, 5, 4))
    found = to_input(vectors, table)
    for b in range(3):
        for t in range(5):
            assert found[b, t].tolist() == (vectors[b, t] + table[t]).tolist()
    np.testing.assert_array_equal(to_input(np.zeros((3, 5, 4)), table)[2], table[:5])
    assert to_input(np.zeros((2, 3, 5, 4)), table).shape == (2, 3, 5, 4)
    np.testing.assert_array_equal(to_input(vectors[0], table), found[0])


def test_only_the_embedding_is_scaled():
    table = sinusoidal(3, 512, dtype=np.float64)
    vectors = np.ones((3, 512))
    difference = to_input(vectors, table, scale=True) - table
    np.testing.assert_allclose(difference, 22.6274, atol=5e-5)
    np.testing.assert_allclose(to_input(vectors, table) - table, 1)


def test_dropout_acts_in_training_only_and_keeps_the_mean():
    vectors, table = np.ones((200, 50)), np.zeros((200, 50))
    np.testing.assert_array_equal(to_input(vectors, table, dropout=0.5), vectors)
    np.testing.assert_array_equal(to_input(vectors, table, training=True), vectors)
    dropped = to_input(vectors, table, dropout=0.2, training=True)
    assert set(dropped.ravel().tolist()) == {0.0, 1 / 0.8}
    assert (dropped == 0).mean() == pytest.approx(0.2, abs=0.02)
    assert dropped.mean() == pytest.approx(1, abs=0.02)
    np.testing.assert_array_equal(dropped, to_input(vectors, table, dropout=0.2, training=True))
    assert (dropped != to_input(vectors, table, dropout=0.2, training=True, seed=1)).any()
    assert not to_input(vectors, table, dropout=1, training=True).any()


def test_dropout_falls_on_the_sum():
    dropped = to_input(np.ones((20, 8)), np.full((20, 8), 2.0), dropout=0.5, training=True)
    assert set(dropped.ravel().tolist()) == {0.0, 6.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: to_input(np.ones((5, 4)), np.ones((4, 4))),
            r"5 positions > 4 rows \(max_len\) of the table",
        ),
        (
            lambda: to_input(np.ones((5, 4)), np.ones((5, 3))),
            "vectors and table must have the same width, got 4 and 3",
        ),
        (lambda: to_input(np.ones(4), np.ones((5, 4))), r"vectors must have shape .* got \(4,\)"),
        (lambda: to_input(np.ones((0, 4)), np.ones((5, 4))), r"vectors must have shape .* got \(0, 4\)"),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((1, 5, 4))),
            r"table must be a 2-D array .* got shape \(1, 5, 4\)",
        ),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((5, 4)), dropout=1.5),
            "dropout must be a number from 0 to 1, got",
        ),
        (
            lambda: to_input(np.ones((2, 4)), np.ones((5, 4)), dropout=math.nan),
            "dropout must be a number from 0 to 1",
        ),
        (lambda: to_input(np.ones(4), np.ones((5, 4))), "vectors must have shape"),
        (lambda: embed(("a",), 0), "d_model must be an integer from 1"),
        (lambda: embed(("a",), 4, seed=-1), "seed must be an integer from 0"),
        (lambda: prepared("bert"), "model must be 'me5_small' or 'minilm_l6', got 'bert'"),
        (
            lambda: layer_norm(np.ones((2, 4)), np.ones(3), np.ones(4)),
            r"weight and bias must have one value for each",
        ),
        (
            lambda: layer_norm(np.ones((2, 4)), np.ones(4), np.ones(1)),
            r"weight and bias must have one value for each",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=rf"^{message}"):
        call()


def test_layer_norm_is_that_of_torch():
    # torch 2.13, float64: layer_norm([1, 2, 4, 8], (4,), [1, 2, 3, 4], [0, 1, 0, −1], 1e-12)
    found = layer_norm([[1.0, 2, 4, 8]], [1.0, 2, 3, 4], [0.0, 1, 0, -1], 1e-12)
    expected = [[-1.025755289064, -0.305506731536, 0.279751442472, 5.341032696034]]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert layer_norm([3.0, 3.0], [1.0, 1], [0.5, 0]).tolist() == [0.5, 0]
    assert layer_norm([0.0, 2.0], [1.0, 1], [0.0, 0], 1.0)[1] == pytest.approx(1 / math.sqrt(2))


def test_prepared_sentences():
    e5, mini = prepared("me5_small"), prepared("minilm_l6")
    assert (len(e5), len(mini)) == (18, 14)
    assert e5[0].pieces == ("<s>", "▁엄마", "가", "▁아기", "를", "▁본", "다", "</s>")
    assert mini[0].pieces == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]")
    assert {p.model for p in e5} == {"me5_small"}
    assert all(p.lossy for p in e5)
    assert not any(p.lossy for p in mini)
    for sentence in (*e5, *mini):
        assert sentence.vectors.shape == (len(sentence.pieces), 384)
        assert not sentence.vectors.flags.writeable
    # A piece has one vector, wherever it stands.
    np.testing.assert_array_equal(mini[0].vectors[1], mini[0].vectors[5])
    for sentence in e5:
        spelled = "".join(sentence.pieces[1:-1]).replace("▁", " ").split()
        assert spelled == sentence.text.split()


@pytest.mark.parametrize(
    ("first", "second"),
    [("엄마가 아기를 본다", "아기가 엄마를 본다"), ("The dog chases the cat", "The cat chases the dog")],
)
def test_the_same_pieces_in_another_order(first, second):
    by_text = {sentence.text: sentence for sentence in prepared("me5_small")}
    a, b = by_text[first], by_text[second]
    assert a.pieces != b.pieces
    assert sorted(a.pieces) == sorted(b.pieces)
    order = [a.pieces.index(piece) for piece in b.pieces]
    x, y = (first_layer_input("me5_small", sentence.vectors, positions=False) for sentence in (a, b))
    np.testing.assert_allclose(attention(y, y, y).output, attention(x, x, x).output[order], atol=1e-12)
    x, y = (first_layer_input("me5_small", sentence.vectors) for sentence in (a, b))
    assert np.abs(attention(y, y, y).output - attention(x, x, x).output[order]).max() > 0.01


def loaded(name: str) -> np.ndarray:
    return np.load(ROOT / "posenc" / "data" / name).astype(np.float64)


@pytest.mark.parametrize(
    ("model", "position"),
    [("me5_small", "me5_small_position_512x384_f16"), ("minilm_l6", "minilm_l6_position_512x384_f32")],
)
@pytest.mark.parametrize("positions", [True, False])
def test_first_layer_input_is_the_sum_that_the_model_normalises(model, position, positions):
    sentence = prepared(model)[1]
    table = loaded(f"{position}.npy")
    kind = loaded(f"{model}_token_type_2x384_f32.npy")[0]
    weight, bias = loaded(f"{model}_layernorm_2x384_f32.npy")
    batch = np.stack([sentence.vectors, sentence.vectors[::-1]])
    found = first_layer_input(model, batch, positions=positions)
    for row in range(len(sentence.pieces)):
        total = sentence.vectors[row].astype(np.float64) + kind + (table[row] if positions else 0)
        normal = (total - total.mean()) / math.sqrt(total.var() + 1e-12)
        np.testing.assert_allclose(found[0, row], normal * weight + bias, atol=1e-10)
    assert found.shape == (2, len(sentence.pieces), 384)


def test_first_layer_input_ends_with_the_table():
    with pytest.raises(ValueError, match=r"^513 positions > 512 rows \(max_len\) of the table$"):
        first_layer_input("me5_small", np.ones((513, 384)))
