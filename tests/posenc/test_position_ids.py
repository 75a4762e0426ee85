"""Rows that models read for padded batches, against what their issues report and counting by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posenc.position_ids import ID_RULES, check_mask, column_ids, model_ids, token_ids

masks = st.integers(1, 7).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 1), min_size=n, max_size=n), min_size=1, max_size=4)
)


def test_the_first_token_of_fairseq_does_not_sit_at_0():
    # padding_idx 1: numbering starts one past it, and padding keeps it, on whichever side it stands.
    tokens = np.array([[5, 3, 6, 7, 1, 1, 1], [1, 1, 5, 3, 6, 7, 9]])
    expected = [[2, 3, 4, 5, 1, 1, 1], [1, 1, 2, 3, 4, 5, 6]]
    assert token_ids(tokens != 1, first=2, padded=1).tolist() == expected
    assert model_ids("roberta", tokens != 1).tolist() == expected


LEFT, RIGHT = [0, 0, 1, 1, 1], [1, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("model", "left", "right"),
    [
        ("bert", [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ("gpt2", [0, 1, 2, 3, 4], [0, 1, 2, 3, 4]),
        ("generate", [0, 0, 0, 1, 2], [0, 1, 2, 0, 0]),
        ("roberta", [1, 1, 2, 3, 4], [2, 3, 4, 1, 1]),
        ("opt", [1, 1, 2, 3, 4], [2, 3, 4, 1, 1]),
        ("bart", [2, 3, 4, 5, 6], [2, 3, 4, 5, 6]),
    ],
)
def test_left_and_right_padding(model, left, right):
    assert model_ids(model, [LEFT, RIGHT]).tolist() == [left, right]


@given(masks, st.integers(-5, 50), st.integers(0, 50))
def test_tokens_are_counted_one_by_one(mask, first, padded):
    expected = []
    for row in mask:
        count, ids = 0, []
        for token in row:
            ids.append(first + count if token else padded)
            count += token
        expected.append(ids)
    found = token_ids(mask, first=first, padded=padded)
    assert found.tolist() == expected
    assert found.dtype == np.int64
    assert token_ids(np.array(mask, dtype=bool), first=first, padded=padded).tolist() == expected
    assert token_ids(np.array(mask, dtype=np.float32), first=first, padded=padded).tolist() == expected


@given(st.integers(1, 4), st.integers(1, 20), st.integers(-5, 50))
def test_columns_are_counted_whatever_stands_in_them(batch, seq_len, first):
    assert column_ids(batch, seq_len, first=first).tolist() == [list(range(first, first + seq_len))] * batch


@given(masks, st.sampled_from(list(ID_RULES)))
def test_without_padding_all_models_count_from_where_they_start(mask, model):
    full = np.ones_like(mask)
    expected = column_ids(*full.shape, first=ID_RULES[model].first)
    np.testing.assert_array_equal(model_ids(model, full), expected)


@given(masks, st.integers(1, 5))
def test_padding_on_the_left_moves_no_token_where_tokens_are_counted(mask, more):
    padded = np.pad(mask, ((0, 0), (more, 0)))
    np.testing.assert_array_equal(token_ids(padded)[:, more:], token_ids(mask))


def test_every_rule_says_what_it_is():
    for name, rule in ID_RULES.items():
        assert rule.name == name
        assert rule.source
        assert rule.model
        assert (rule.padded is None) == (rule.counts == "columns")


@pytest.mark.parametrize(
    "mask",
    [
        [1, 0],
        [[2, 0]],
        [[0.5]],
        [[]],
        [[1], [1, 0]],
        [["1"]],
        [[None]],
        [[np.nan]],
        1,
        None,
        np.zeros((1, 0)),
    ],
    ids=repr,
)
def test_what_is_no_mask_is_refused(mask):
    with pytest.raises(
        ValueError, match=r"^mask must be rows of 0 and 1, all of one length, got an array of "
    ):
        check_mask(mask)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: column_ids(0, 3), "batch must be an integer from 1"),
        (lambda: column_ids(1, 0), "seq_len must be an integer from 1"),
        (lambda: column_ids(1, 3, first=0.5), "first must be an integer"),
        (lambda: token_ids([[1]], padded=-1), "padded must be an integer from 0"),
        (lambda: model_ids("gpt3", [[1]]), "id_rule must be 'bert' or 'gpt2' or "),
    ],
)
def test_other_refusals(call, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        call()
