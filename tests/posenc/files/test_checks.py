"""Which array is the table, and what a table looks like: names, class tokens, and the way round it is."""

import numpy as np
import pytest

import posenc
from posenc.files.checks import as_table, choose, looks_transposed
from posenc.tables import Candidate
from tests.posenc.files.test_reading import codes

# As they are named in published models.
POSITIONS = (
    "wpe.weight",
    "transformer.wpe.weight",
    "embeddings.position_embeddings.weight",
    "bert.embeddings.position_embeddings.weight",
    "encoder.embed_positions.weight",
    "model.decoder.embed_positions.weight",
    "decoder.positional_embedding",
    "vision_model.embeddings.position_embedding.weight",
    "pos_embed",
    "vit.embeddings.position_embeddings",
    "pos_encoder.pe",
    "pe",
    "PositionalEncoding.pe",
    "posEmbed",
)
OTHERS = (
    "wte.weight",
    "embeddings.word_embeddings.weight",
    "embeddings.token_type_embeddings.weight",
    "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
    "embeddings.position_ids",
    "lm_head.weight",
    "type_embeddings",
    "composition.weight",
    "encoder.layers.0.self_attn.linear_pos.weight",
    "attn.rel_pos_h",
    "pos_proj.weight",
)


def candidates(*keys, shape=(16, 8), dtype="float32"):
    return [Candidate(key, shape, dtype) for key in keys]


@pytest.mark.parametrize("name", POSITIONS)
def test_a_name_of_positions_comes_first(name):
    found, offered, notes = choose(candidates(*OTHERS, name), None, "safetensors")
    assert found.key == name
    assert offered[0].key == name
    assert len(offered) == len(OTHERS) + 1
    assert [note.code for note in notes] == ["chosen"]


def test_other_names_are_a_choice_of_the_owner():
    with pytest.raises(posenc.TableError) as caught:
        choose(candidates(*OTHERS), None, "safetensors")
    assert caught.value.code == "choose"
    assert [found.key for found in caught.value.values["candidates"]] == list(OTHERS)


def test_of_two_the_first_is_taken_and_the_other_named():
    found, _, notes = choose(candidates("pos_embed", "decoder_pos_embed"), None, "safetensors")
    assert found.key == "pos_embed"
    assert "decoder_pos_embed" in str(notes[0])


def test_arrays_of_another_kind_are_not_offered():
    arrays = (
        candidates("wpe", dtype="int64") + candidates("pe", shape=(8,)) + candidates("pos", shape=(2, 3, 4))
    )
    arrays += candidates("h") + candidates("e", shape=(0, 8))
    found, offered, notes = choose(arrays, None, "safetensors")
    assert (found.key, [array.key for array in offered]) == ("h", ["h"])
    assert [note.code for note in notes] == ["only_table"]


@pytest.mark.parametrize("rows", range(1, 300))
def test_a_class_token_is_noted_only_where_the_others_are_a_square(rows):
    squares = {side * side for side in range(3, 20)}
    noted = "class_token" in codes(as_table(np.eye(rows, 4), what="table", dtype="float64"))
    assert noted == (rows - 1 in squares)


SINUSOIDS = [
    (rows, width, layout, base, shift)
    for rows in (8, 16, 64, 200)
    for width in (4, 5, 8, 32, 128)
    for layout in ("interleaved", "sin_cos", "cos_sin")
    for base in (1e2, 1e4, 1e6)
    for shift in (0, 1)
]


def test_no_sinusoid_is_called_transposed_and_most_that_are_so_are():
    seen = 0
    for rows, width, layout, base, shift in SINUSOIDS:
        table = posenc.sinusoidal(rows, width, base=base, layout=layout, freq_shift=shift)
        assert not looks_transposed(table), (rows, width, layout, base, shift)
        seen += looks_transposed(table.T)
    assert seen > 0.9 * len(SINUSOIDS)


@pytest.mark.parametrize("name", posenc.LEARNED)
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e30])
def test_the_bundled_tables_are_told_from_their_transposes(name, scale):
    table = posenc.load(name) * np.float32(scale)
    assert not looks_transposed(table)
    assert looks_transposed(table.T)
    assert not looks_transposed(posenc.shuffle_rows(table).astype("f4"))


def legitimate():
    chance = np.random.default_rng(0)
    for shape in ((8, 8), (16, 64), (64, 16), (512, 128)):
        noise = chance.normal(size=shape)
        yield noise
        yield noise * chance.uniform(0.1, 3, size=(shape[0], 1))
        yield noise * chance.uniform(0.1, 3, size=(1, shape[1]))
        yield np.cumsum(noise, axis=0)
        yield np.linalg.qr(chance.normal(size=(max(shape), max(shape))))[0][: shape[0], : shape[1]]
        yield np.eye(*shape)
        yield np.full(shape, 0.5)
        yield np.zeros(shape)
        yield posenc.sinusoidal(*shape)[chance.permutation(shape[0])]
        for mistake in posenc.MISTAKES.values():
            yield mistake.build(*shape)
    for form in posenc.GRID_FORMS.values():
        for shape in ((4, 4), (7, 9), (14, 14)):
            if len(form.axes) == 2:
                yield form.table(shape, 48).reshape(-1, 48)
    for head_dim in (8, 64):
        angles = np.arange(128.0)[:, np.newaxis] * posenc.inv_freq(head_dim)
        for wave in (np.cos(angles), np.sin(angles)):
            yield np.hstack([wave, wave])
            yield np.repeat(wave, 2, axis=1)


def test_nothing_else_is_called_transposed():
    for number, table in enumerate(legitimate()):
        assert not looks_transposed(np.asarray(table, dtype=np.float64)), number
