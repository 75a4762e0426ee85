"""Biases on attention scores, and the rows of learned tables that relative positions read."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc

Arguments = Mapping[str, Any]
Array = NDArray[Any]


def slopes(a: Arguments) -> Array:
    table = np.full((len(a["heads"]), max(a["heads"])), np.nan)
    for row, n_heads in zip(table, a["heads"], strict=True):
        row[:n_heads] = posenc.alibi_slopes(n_heads, **_bias_max(a))
    return table


def bloom_bias(a: Arguments) -> Array:
    # Quirk: keys are counted among the valid ones, and the bias is that of a query at position 0: it rises
    # with the key and is the same for every query; a masked key counts as the first.
    mask = np.array(a["attention_mask"])
    place = (mask.cumsum(axis=1) - 1) * mask
    return np.stack([posenc.alibi(a["heads"], 1, keys)[:, 0] for keys in place])


def last_row(a: Arguments) -> Array:
    # Quirk: every query gets the row of the last one.
    return posenc.alibi(a["heads"], [a["length"] - 1], a["length"], **_bias_max(a))[:, 0]


def symmetric(a: Arguments) -> Array:
    queries = np.arange(a["j"] - a["i"], a["j"])
    bias = posenc.alibi(a["heads"], queries, a["j"], symmetric=True)
    # Quirk: some heads may go without a bias.
    return np.pad(bias, ((0, a.get("total_heads", a["heads"]) - a["heads"]), (0, 0), (0, 0)))


def keras_bias(a: Arguments) -> Array:
    row = last_row({**a, "length": a["key_length"]})  # Quirk: as there.
    return np.repeat(row[:, np.newaxis], a["query_length"], axis=1)


def t5_bucket(a: Arguments) -> Array:
    return posenc.t5_bucket(_range(a), **_t5(a, a.get("bidirectional", True)))


def t5_bias(a: Arguments, table: Array) -> Array:
    queries = a.get("past", 0) + np.arange(a["query_length"])
    relative = -posenc.offset_matrix(queries, a["key_length"])
    return posenc.bucket_bias(table, posenc.t5_bucket(relative, **_t5(a, not a.get("is_decoder", False))))


def deberta_bucket(a: Arguments) -> Array:
    return posenc.deberta_bucket(_range(a), bucket_size=a["bucket_size"], max_position=a["max_position"])


def deberta_matrix(a: Arguments) -> Array:
    offsets = posenc.offset_matrix(a["query_length"], a["key_length"])
    # Quirk: a number that is not positive stands for no buckets.
    if a["bucket_size"] <= 0 or a["max_position"] <= 0:
        return offsets
    return posenc.deberta_bucket(offsets, bucket_size=a["bucket_size"], max_position=a["max_position"])


def shaw(a: Arguments, table: Array, q: Array) -> Mapping[str, Array]:
    relative = -posenc.offset_matrix(a["query_length"], a["key_length"])
    index = posenc.clipped_distance(relative, a["left"], a["right"])
    return {"": posenc.relative_key_scores(q, table, index), "index": index}


def swin_index(a: Arguments) -> Array:
    return posenc.swin_index(*a["window"], class_token=a.get("class_token", False))


def swin_log_coords(a: Arguments) -> Array:
    if a.get("mode") == "cr":
        return posenc.log_distance(posenc.window_distances(*a["window"]))
    # Quirk: a window of 0 stands for none.
    pretrained = zip(a.get("pretrained_window", (0, 0)), a["window"], strict=True)
    return posenc.swin_log_coords(*a["window"], trained=[before or now for before, now in pretrained])


def _bias_max(a: Arguments) -> dict[str, float]:
    return {"bias_max": a["alibi_bias_max"]} if "alibi_bias_max" in a else {}


def _range(a: Arguments) -> Array:
    return np.arange(a["rel_min"], a["rel_max"] + 1)


def _t5(a: Arguments, bidirectional: bool) -> dict[str, Any]:
    return {
        "bidirectional": bidirectional,
        "num_buckets": a.get("num_buckets", 32),
        "max_distance": a.get("max_distance", 128),
    }


ADAPTERS: dict[str, Callable[..., Array | Mapping[str, Array]]] = {
    "alibi.slopes": slopes,
    "alibi.keras_slopes": slopes,
    "alibi.bloom_bias": bloom_bias,
    "alibi.mpt_bias": last_row,
    "alibi.x_transformers_bias": symmetric,
    "alibi.keras_bias": keras_bias,
    "rel.t5_bucket": t5_bucket,
    "rel.t5_bucket_keras": t5_bucket,
    "rel.t5_bias": t5_bias,
    "rel.deberta_bucket": deberta_bucket,
    "rel.deberta_matrix": deberta_matrix,
    "rel.shaw": shaw,
    "rel.swin_index": swin_index,
    "rel.swinv2_log_coords": swin_log_coords,
}
