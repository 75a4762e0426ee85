"""The way of a sentence's rows to the first layer, against scalar loops and printed values."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import assembly
from posenc.sentence import drop_out, embed, prepared, to_input
from posenc.sinusoidal import sinusoidal
from posenc.tokens import MAX_PIECES, MAX_TEXT, TEXT


def test_a_text_is_taken_as_it_is_up_to_its_limit():
    assert TEXT.check("") == ""
    assert TEXT.check("<b>$x$ `a` \u200f‏אב") == "<b>$x$ `a` \u200f‏אב"
    assert TEXT.check("각" * MAX_TEXT) == "각" * MAX_TEXT
    assert TEXT.check(TEXT.default) == TEXT.default


def test_halves_of_surrogate_pairs_are_replaced_and_whole_pairs_meet():
    assert TEXT.check("a\ud83d") == "a\ufffd"
    assert TEXT.check("\ud83d\ude00") == "😀"


@pytest.mark.parametrize("value", ["x" * (MAX_TEXT + 1), 3, None, b"x"])
def test_no_other_text_is_taken(value):
    with pytest.raises(ValueError, match="text must be a text of at most 10000 characters"):
        TEXT.check(value)


@given(st.text(st.characters(), max_size=50))
def test_checking_a_text_twice_changes_nothing_more(text):
    once = TEXT.check(text)
    assert TEXT.check(once) == once
    once.encode()


def test_prepared_sentences_name_their_pieces_in_the_vocabulary():
    cat = prepared("minilm_l6")[0]
    # The ids of bert-base-uncased, whose vocabulary MiniLM uses: [CLS] the cat sat on the mat . [SEP]
    assert cat.pieces == ("[CLS]", "the", "cat", "sat", "on", "the", "mat", ".", "[SEP]")
    assert cat.ids == (101, 1996, 4937, 2938, 2006, 1996, 13523, 1012, 102)
    for model in ("minilm_l6", "me5_small"):
        for sentence in prepared(model):
            named = dict(zip(sentence.ids, sentence.pieces, strict=True))
            assert len(named) == len(set(sentence.pieces))


def test_repeats_name_each_piece_and_the_next_of_its_kind():
    assert assembly.repeats("abcab") == (("a", 0, 3), ("b", 1, 4))
    assert assembly.repeats("xaxx") == (("x", 0, 2), ("x", 2, 3))
    assert assembly.repeats("abc") == assembly.repeats("") == ()
    assert assembly.repeated("xaxxb") == {0, 2, 3}


@given(st.lists(st.sampled_from("abcd"), max_size=20))
def test_repeats_against_a_double_loop(pieces):
    expected = [
        (pieces[p], p, q)
        for p in range(len(pieces))
        for q in range(p + 1, len(pieces))
        if pieces[p] == pieces[q] and pieces[p] not in pieces[p + 1 : q]
    ]
    assert list(assembly.repeats(pieces)) == expected


def test_the_sentences_offered_for_a_repeat_have_one():
    texts = [prepared(source)[at].text for source, at in assembly.REPEATING]
    assert texts == ["the cat sat on the mat .", "to be or not to be", "봄이 가고 여름이 온다"]
    assert all(assembly.repeats(prepared(source)[at].pieces) for source, at in assembly.REPEATING)


def test_typed_text_gets_the_same_vector_for_the_same_piece_and_is_cut():
    sentence, total = assembly.typed("가 b 가", 16)
    assert total == 3
    assert sentence.pieces == ("가", "b", "가")
    assert np.array_equal(sentence.vectors[0], sentence.vectors[2])
    assert np.array_equal(sentence.vectors, embed(["가", "b", "가"], 16))
    sentence, total = assembly.typed("a " * 300, 4)
    assert (len(sentence.pieces), total) == (MAX_PIECES, 300)
    assert assembly.typed(" \u200b\ufeff\u3000", 4)[0].pieces == ()


@pytest.mark.parametrize(("d_model", "kept"), [(1, 256), (2048, 256), (2049, 255), (4096, 128), (16_384, 32)])
def test_a_wide_sentence_keeps_fewer_pieces(d_model, kept):
    sentence, total = assembly.typed("a " * 300, d_model)
    assert (len(sentence.pieces), sentence.vectors.shape, total) == (kept, (kept, d_model), 300)


@pytest.mark.parametrize("scale", [False, True])
def test_every_array_on_the_way(scale):
    vectors, table = [[1.0, 2.0], [3.0, 4.0]], [[0.1, 0.2], [0.3, 0.4], [9.0, 9.0]]
    steps = assembly.assemble(vectors, table, scale=scale)
    factor = math.sqrt(2) if scale else 1
    for t in range(2):
        for j in range(2):
            assert steps.embedding[t, j] == pytest.approx(factor * vectors[t][j])
            assert steps.positions[t, j] == table[t][j]
            assert steps.summed[t, j] == pytest.approx(factor * vectors[t][j] + table[t][j])
            assert steps.batch[0, t, j] == steps.summed[t, j]
    assert steps.batch.shape == (1, 2, 2)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize(("source", "at"), assembly.REPEATING)
def test_the_same_word_differs_by_its_positions_alone(source, at, scale):
    sentence = prepared(source)[at]
    table = sinusoidal(len(sentence.pieces), 384)
    _, p, q = assembly.repeats(sentence.pieces)[0]
    pair = assembly.compare_rows(sentence.vectors, table, p, q, scale=scale)
    assert pair.embedding_gap == 0
    assert pair.residual < 1e-14
    expected = max(abs(float(table[p, j]) - float(table[q, j])) for j in range(384))
    assert pair.input_gap == pytest.approx(expected, abs=1e-14)
    assert pair.rows.shape == (8, 384)
    assert np.array_equal(pair.rows[7], table[p].astype(float) - table[q])
    assert np.allclose(pair.rows[4], to_input(sentence.vectors, table, scale=scale)[p])
    assert np.allclose(pair.rows[5] - pair.rows[3], pair.rows[1])


def test_two_different_words_have_a_gap():
    cat = prepared("minilm_l6")[0]
    pair = assembly.compare_rows(cat.vectors, sinusoidal(9, 384), 1, 2)
    assert pair.embedding_gap > 0.1
    assert pair.residual > 0.1


def test_rows_are_named_in_the_order_they_stand():
    assert assembly.row_names(1, 5) == (
        *("e(1)", "e(5)", "PE(1)", "PE(5)", "x(1)", "x(5)"),
        *("x(1) − x(5)", "PE(1) − PE(5)"),
    )


def test_sizes_at_initialisation():
    sizes = assembly.seeded_sizes()
    assert sizes.embedding == pytest.approx(1 / math.sqrt(512), rel=0.01)
    assert sizes.positions == pytest.approx(math.sqrt(0.5), rel=1e-6)
    assert sizes.ratio == pytest.approx(0.0625, rel=0.01)
    assert sizes.scaled_ratio == pytest.approx(math.sqrt(2), rel=0.01)


def test_sizes_against_a_loop_over_the_rows_that_count():
    sizes = assembly.sizes([[3.0, 4.0]], [[1.0, 7.0], [100.0, 100.0]])
    assert sizes == pytest.approx((math.sqrt(12.5), 5.0, math.sqrt(0.5), 1.0))


def test_a_table_of_zeros_leaves_no_ratio():
    assert assembly.sizes([[1.0]], [[0.0]]).ratio == math.inf
    assert math.isnan(assembly.sizes([[0.0]], [[0.0]]).scaled_ratio)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_dropout_scales_what_it_keeps_and_keeps_the_mean(rate):
    x = np.full((200, 200), 3.0)
    effect = assembly.dropout_effect(x, drop_out(x, dropout=rate, training=True, seed=4))
    assert effect.share == effect.dropped / 40_000 == pytest.approx(rate, abs=0.01)
    assert effect.least == effect.most == pytest.approx(1 / (1 - rate))
    assert effect.mean_before == 3
    assert effect.mean_after == pytest.approx(3, rel=0.03)
    assert effect.difference == pytest.approx(max(3, 3 / (1 - rate) - 3))


def test_dropout_in_evaluation_and_at_rate_0_does_nothing():
    x = np.random.default_rng(1).normal(size=(4, 5))
    for options in ({"dropout": 0.5, "training": False}, {"dropout": 0.0, "training": True}):
        effect = assembly.dropout_effect(x, drop_out(x, **options))
        assert (effect.dropped, effect.least, effect.most, effect.difference) == (0, 1, 1, 0)


def test_another_seed_drops_other_values_and_a_batch_of_one_the_same():
    x = np.ones((20, 20))
    one, other = (drop_out(x, dropout=0.5, training=True, seed=seed) for seed in (1, 2))
    assert not np.array_equal(one, other)
    assert np.array_equal(one, drop_out(x[np.newaxis], dropout=0.5, training=True, seed=1)[0])
    assert np.array_equal(one, to_input(x, np.zeros_like(x), dropout=0.5, training=True, seed=1))


def test_dropping_everything_leaves_no_factor():
    effect = assembly.dropout_effect([[1.0, 2.0]], [[0.0, 0.0]])
    assert effect.dropped == 2
    assert math.isnan(effect.least)
    assert math.isnan(effect.most)


@pytest.mark.parametrize("after", [np.zeros((2, 3)), np.zeros((3, 2, 1))])
def test_dropout_compares_one_shape(after):
    with pytest.raises(ValueError, match="before and after must have the same shape"):
        assembly.dropout_effect(np.zeros((3, 2)), after)


def test_the_wrong_batch_axis_gives_a_sentence_one_vector():
    """Published code for (seq_len, batch, d_model) that was given (batch, seq_len, d_model)."""
    case = assembly.batch_axes_case()
    assert case.wrong.shape == case.right.shape == (3, 5, 4)
    for t in range(5):
        assert np.round(case.wrong[2, t], 4).tolist() == [0.9093, -0.4161, 0.02, 0.9998]
        angles = (t, t, t / 100, t / 100)
        expected = [f(angle) for f, angle in zip([math.sin, math.cos] * 2, angles, strict=True)]
        assert case.right[2, t] == pytest.approx(expected, abs=1e-7)
    assert case.refusal == "operands could not be broadcast together with shapes (3,5,4) (10,1,4)"


def test_the_case_follows_base_and_layout():
    assert assembly.batch_axes_case(base=100, layout="sin_cos").right[0, 1] == pytest.approx(
        [math.sin(1), math.sin(0.1), math.cos(1), math.cos(0.1)], abs=1e-7
    )


def test_a_case_that_numpy_does_not_refuse_is_no_case():
    with pytest.raises(ValueError, match="can be added"):
        assembly.batch_axes(np.zeros((5, 5, 4)), np.zeros((5, 4)))


def test_scaling_lifts_the_words_above_the_positions():
    vectors, table = embed([str(i) for i in range(50)], 512), sinusoidal(80, 512)
    found = assembly.sizes(vectors, table)
    assert found.ratio == pytest.approx(0.0625, rel=0.02)
    assert found.scaled_ratio == pytest.approx(1.414, rel=0.02)


def test_sizes_count_only_the_rows_that_are_added():
    batch = np.full((1, 2, 4), 3.0)
    assert assembly.sizes(batch, [[1.0] * 4, [1.0] * 4, [99.0] * 4]).ratio == pytest.approx(3)
    assert assembly.sizes([[1.0]], [[0.0]]).ratio == math.inf
    assert math.isnan(assembly.sizes([[0.0]], [[0.0]]).ratio)
    with pytest.raises(ValueError, match="vectors must have shape"):
        assembly.sizes(np.ones(4), np.ones((5, 4)))
