"""Rows of learned position tables that models read for padded batches."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc

Arguments = Mapping[str, Any]
Ids = NDArray[np.int64]


def bert(a: Arguments) -> Ids:
    return posenc.column_ids(*np.shape(a["input_ids"]), first=a.get("cache_length", 0))


def gpt2(a: Arguments) -> Mapping[str, Ids]:
    batch, seq_len = np.shape(a["attention_mask"])
    # The second output is a call with two more tokens after those in the cache.
    return {
        "": posenc.column_ids(batch, seq_len),
        "continued": posenc.column_ids(batch, 2, first=seq_len),
    }


def generate(a: Arguments) -> Ids:
    return posenc.token_ids(a["attention_mask"])


def roberta(a: Arguments) -> Ids:
    pad = a.get("padding_idx", 1)
    first = pad + 1 + a.get("cache_length", 0)
    return posenc.token_ids(np.array(a["input_ids"]) != pad, first=first, padded=pad)


def roberta_inputs_embeds(a: Arguments) -> Ids:
    # Quirk: vectors do not say which of them are padding, so the columns are numbered, not the tokens.
    return posenc.column_ids(a["batch"], a["length"], first=a.get("padding_idx", 1) + 1)


def opt(a: Arguments) -> Ids:
    rule = posenc.ID_RULES["opt"]
    rows = posenc.token_ids(a["attention_mask"], first=rule.first, padded=rule.padded)
    return rows[:, a.get("cache_length", 0) :]


def bart(a: Arguments) -> Ids:
    first = posenc.ID_RULES["bart"].first + a.get("cache_length", 0)
    return posenc.column_ids(*np.shape(a["input_ids"]), first=first)


ADAPTERS: dict[str, Callable[[Arguments], Ids | Mapping[str, Ids]]] = {
    "ids.bert": bert,
    "ids.gpt2": gpt2,
    "ids.generate": generate,
    "ids.roberta": roberta,
    "ids.roberta_inputs_embeds": roberta_inputs_embeds,
    "ids.opt": opt,
    "ids.bart": bart,
}
