"""Two orders through one attention step, against scalar loops and the laws of permutations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc import order
from posenc.attention import causal_mask
from posenc.learned import load
from posenc.rnn import rnn
from posenc.sentence import prepared

PIECES = st.lists(st.sampled_from("abc가나"), min_size=1, max_size=8)


def scalar_attention(x: list[list[float]]) -> list[list[float]]:
    outputs = []
    for query in x:
        raised = [
            math.exp(sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(len(query))) for key in x
        ]
        weights = [value / sum(raised) for value in raised]
        outputs.append(
            [sum(w * row[j] for w, row in zip(weights, x, strict=True)) for j in range(len(query))]
        )
    return outputs


@given(PIECES.flatmap(lambda pieces: st.tuples(st.just(pieces), st.permutations(pieces))))
def test_the_row_order_is_a_permutation_that_leads_back(pair: tuple[list[str], list[str]]) -> None:
    first, second = pair
    rows = order.row_order(first, second)
    assert sorted(rows) == list(range(len(first)))
    assert [first[row] for row in rows] == second
    for piece in set(first):  # equal pieces do not overtake each other
        kept = [int(row) for row, shown in zip(rows, second, strict=True) if shown == piece]
        assert kept == sorted(kept)


def test_the_row_order_of_a_pair_is_the_one_read_off_the_sentences() -> None:
    expected = {
        "mother_baby": [0, 3, 2, 1, 4, 5, 6, 7],
        "student_teacher": [0, 3, 2, 1, 4, 5, 6, 7],
        "cat_dog": [0, 3, 4, 1, 2, 5, 6, 7, 8],
        "dog_cat": [0, 1, 6, 3, 4, 5, 2, 7],
    }
    found = {
        name: order.row_order(*(each.pieces for each in order.pair(name))).tolist() for name in order.PAIRS
    }
    assert found == expected


def test_moves_name_where_a_row_came_from_and_went() -> None:
    assert order.moves([0, 2, 3, 1]) == [(1, 3), (2, 1), (3, 2)]
    assert order.moves([0, 1]) == []


def test_other_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="second must hold the pieces of first"):
        order.row_order(["a", "b"], ["a", "a"])


@given(st.integers(1, 7), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_attention_is_equivariant_and_its_mean_invariant(n: int, d: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    x, rows = random.standard_normal((n, d)), random.permutation(n)
    seen = order.compare(x, x[rows], rows)
    np.testing.assert_allclose(seen.first.output, scalar_attention(x.tolist()), atol=1e-12)
    np.testing.assert_allclose(seen.second.output, seen.first.output[rows], atol=1e-12)
    np.testing.assert_allclose(seen.restored, seen.first.output, atol=1e-12)
    for one, other in ((x, 3 * x), (3 * x, x)):  # longer rows attend more sharply
        both = order.compare(one, other, range(n))
        assert both.largest_weight == max(both.first.weights.max(), both.second.weights.max())
    assert seen.outputs_differ < 1e-12
    assert seen.means_differ < 1e-12


@pytest.mark.parametrize("name", order.PAIRS)
@pytest.mark.parametrize("kind", order.POSITIONS.options)
def test_the_numbers_of_a_pair_are_those_of_scalar_loops(name: str, kind: str) -> None:
    first, second = order.pair(name)
    rows = order.row_order(first.pieces, second.pieces)
    x, y = order.inputs(first, kind), order.inputs(second, kind)
    a, b = scalar_attention(x.tolist()), scalar_attention(y.tolist())
    changes = [abs(b[t][j] - a[int(rows[t])][j]) for t in range(len(rows)) for j in range(384)]
    means = [abs(sum(row[j] for row in b) - sum(row[j] for row in a)) / len(rows) for j in range(384)]
    seen = order.compare(x, y, rows)
    assert seen.outputs_differ == pytest.approx(max(changes), abs=1e-12)
    assert seen.means_differ == pytest.approx(max(means), abs=1e-12)
    if kind == "none":
        assert seen.outputs_differ < 1e-14
    else:
        assert seen.outputs_differ > 0.1
        assert seen.means_differ > 1e-4


def test_a_causal_mask_breaks_equivariance_and_a_mean_that_nothing_else_breaks() -> None:
    first, second = order.pair("mother_baby")
    rows = order.row_order(first.pieces, second.pieces)
    x, y = order.inputs(first, "none"), order.inputs(second, "none")
    seen = order.compare(x, y, rows, mask=causal_mask(len(rows)))
    assert seen.outputs_differ > 0.1
    assert seen.means_differ > 0.01
    back = np.argsort(rows)
    np.testing.assert_array_equal(seen.change, seen.second.output[back] - seen.first.output)
    # Position 0 sees itself alone.
    np.testing.assert_allclose(seen.first.output[0], x[0], atol=1e-12)


def test_the_positions_are_the_models_own_or_the_sinusoid() -> None:
    first = order.pair("dog_cat")[0]
    # The same pieces but at other places: words alone, words + learned rows, words + sines.
    words = order.inputs(first, "none")
    shown = {kind: order.inputs(first, kind) for kind in ("learned", "sinusoidal")}
    assert not np.allclose(words, shown["learned"])
    assert not np.allclose(shown["learned"], shown["sinusoidal"])
    other = order.inputs(first, "sinusoidal", base=3.0, layout="cos_sin")
    assert not np.allclose(shown["sinusoidal"], other)
    # A LayerNorm undone: normalised (word + type + position) has mean 0 and variance 1.
    files = "me5_small_token_type_2x384_f32.npy", "me5_small_layernorm_2x384_f32.npy"
    from posenc.learned import read_array

    token_type, (gain, shift) = read_array(files[0])[0], read_array(files[1])
    for kind, rows in (("learned", load("me5_small")[:8].astype(float)), ("none", np.zeros((8, 384)))):
        summed = first.vectors + rows + token_type
        centred = summed - summed.mean(axis=1, keepdims=True)
        expected = centred / centred.std(axis=1, keepdims=True) * gain + shift
        np.testing.assert_allclose(order.inputs(first, kind), expected, rtol=1e-5, atol=1e-6)


def test_what_is_kept_of_a_pair_is_what_is_computed_of_all_that_it_depends_on() -> None:
    for name in order.PAIRS:
        first, second = order.pair(name)
        rows = order.row_order(first.pieces, second.pieces)
        for kind in order.POSITIONS.options:
            for causal, base, layout in ((False, 1e4, "interleaved"), (True, 3.0, "cos_sin")):
                options = {"base": base, "layout": layout}
                one, two = (order.inputs(each, kind, **options) for each in (first, second))
                expected = order.compare(one, two, rows, mask=causal_mask(len(rows)) if causal else None)
                for _ in range(2):
                    seen = order.compared(name, kind, causal=causal, **options)
                    np.testing.assert_array_equal(seen.change, expected.change)
                    np.testing.assert_array_equal(seen.second.weights, expected.second.weights)
                    assert seen[-2:] == expected[-2:]
        for states, words in zip(order.states(name), (first, second), strict=True):
            np.testing.assert_array_equal(states, rnn(order.inputs(words, "none")))
    # Without a sinusoid neither its base nor its layout counts: nothing is kept twice.
    assert order.compared("cat_dog", "none", base=7.0) is order.compared("cat_dog", "none", layout="cos_sin")
    for layout in ("sin_cos", "cos_sin"):
        seen = order.compared("cat_dog", "sinusoidal", base=7.0, layout=layout)
        expected = order.inputs(order.pair("cat_dog")[0], "sinusoidal", base=7.0, layout=layout)
        np.testing.assert_array_equal(
            seen.first.output, order.compare(expected, expected, range(9)).first.output
        )


def test_what_is_kept_of_a_pair_cannot_be_written_to() -> None:
    seen = order.compared("dog_cat", "learned")
    arrays = *seen.first, *seen.second, seen.restored, seen.change, *order.states("dog_cat")
    assert not any(array.flags.writeable for array in arrays)


def test_every_pair_is_prepared_and_its_pieces_are_the_same() -> None:
    texts = {sentence.text for sentence in prepared("me5_small")}
    for first, second in order.PAIRS.values():
        assert {first, second} <= texts
    for name in order.PAIRS:
        one, two = order.pair(name)
        assert one.text != two.text
        assert sorted(one.pieces) == sorted(two.pieces)
