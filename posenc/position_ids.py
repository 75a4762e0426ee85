"""Which row of its position table a model reads for each token of a padded batch.

Two rules are in use. Some models number the columns, and padding takes numbers like any token; others number
the tokens, and padding has a row of its own. Both start where the model says.

Letters: b sequences in a batch, n columns (places for tokens).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.parameters import SEQ_LEN, Choice, Integer

Int64 = NDArray[np.int64]

BATCH = Integer("batch", default=1, minimum=1, maximum=1_000_000)
FIRST = Integer("first", default=0, minimum=-SEQ_LEN.maximum, maximum=2 * SEQ_LEN.maximum)
PADDED = Integer("padded", default=0, minimum=0, maximum=2 * SEQ_LEN.maximum)


def column_ids(batch: int, seq_len: int, *, first: int = FIRST.default) -> Int64:
    """Return first + column, the same for every sequence: padding is numbered as if it were a token.

    Parameters
    ----------
    batch, seq_len
        b and n.
    first
        Row of the first column; the number of earlier columns is added to it where they are in a cache.

    Returns
    -------
    (batch, seq_len) int64

    Raises
    ------
    ValueError
        For an argument outside its limits.
    """
    rows = FIRST.check(first) + np.arange(SEQ_LEN.check(seq_len))
    return np.tile(rows, (BATCH.check(batch), 1))


def token_ids(mask: ArrayLike, *, first: int = FIRST.default, padded: int = PADDED.default) -> Int64:
    """Return first + (number of tokens before this one in its row), and `padded` where there is no token.

    Parameters
    ----------
    mask
        (b, n), 1 or true where a token stands, 0 or false for padding: the attention mask, or
        ``input_ids != padding_idx``.
    first
        Row of the first token of a sequence.
    padded
        Row that padding reads.

    Returns
    -------
    (b, n) int64

    Raises
    ------
    ValueError
        For a mask of anything but 0 and 1 in rows and columns, or an argument outside its limits.
    """
    tokens = check_mask(mask)
    counted = FIRST.check(first) + np.cumsum(tokens, axis=1) - 1
    return np.where(tokens, counted, PADDED.check(padded))


@dataclass(frozen=True)
class IdRule:
    """How one model numbers a batch: `token_ids` or `column_ids`, and from where.

    Parameters
    ----------
    name
        Its key in `ID_RULES`.
    model
        Who does it.
    counts
        ``"columns"`` or ``"tokens"``.
    first
        Row that the first column or token reads; the table has as many rows more than positions.
    padded
        Row that padding reads; None where it is numbered as a token.
    source
        The function of the library.
    """

    name: str
    model: str
    counts: Literal["columns", "tokens"]
    first: int
    padded: int | None
    source: str


ID_RULES: Mapping[str, IdRule] = MappingProxyType(
    {
        rule.name: rule
        for rule in (
            IdRule("bert", "BERT", "columns", 0, None, "transformers BertEmbeddings"),
            IdRule("gpt2", "GPT-2, called directly", "columns", 0, None, "transformers GPT2Model.forward"),
            IdRule(
                "generate",
                "GPT-2 and others, called by generate",
                "tokens",
                0,
                0,  # 1 before transformers 5
                "transformers GenerationMixin._prepare_position_ids_for_generation",
            ),
            # One past the padding index, which is 1 in the dictionaries of fairseq.
            IdRule(
                "roberta", "RoBERTa, fairseq, M2M-100", "tokens", 2, 1, "fairseq LearnedPositionalEmbedding"
            ),
            IdRule("opt", "OPT", "tokens", 2, 1, "transformers OPTLearnedPositionalEmbedding"),
            IdRule("bart", "BART", "columns", 2, None, "transformers BartLearnedPositionalEmbedding"),
        )
    }
)
ID_RULE: Choice[str] = Choice("id_rule", tuple(ID_RULES))


def model_ids(id_rule: str, mask: ArrayLike) -> Int64:
    """Return the rows that a model reads for a batch without a cache.

    Parameters
    ----------
    id_rule
        A key of `ID_RULES`.
    mask
        (b, n) of 0 and 1, as in `token_ids`.

    Returns
    -------
    (b, n) int64

    Raises
    ------
    ValueError
        If there is no such rule, or for a mask of anything else.
    """
    rule, tokens = ID_RULES[ID_RULE.check(id_rule)], check_mask(mask)
    if rule.padded is None:
        return column_ids(*tokens.shape, first=rule.first)
    return token_ids(tokens, first=rule.first, padded=rule.padded)


def check_mask(mask: ArrayLike) -> NDArray[np.bool_]:
    """Return a mask as (b, n) booleans."""
    try:
        given = np.asarray(mask)
    except ValueError:  # rows of different lengths
        given = np.empty(0, dtype=object)
    if (
        given.dtype.kind not in "biuf"
        or given.ndim != 2
        or not given.size
        or not np.isin(given, (0, 1)).all()
    ):
        found = given.shape if given.dtype.kind in "biuf" else f"dtype {given.dtype}"
        raise ValueError(f"mask must be rows of 0 and 1, all of one length, got an array of {found}")
    return given.astype(np.bool_)
