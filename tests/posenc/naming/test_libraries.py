"""What the real libraries returned, under its own name: the arrays bundled for the conformance tests."""

import json
from collections import Counter

import numpy as np
import pytest

import posenc
from tests.conformance.check import SHIPPED

ENTRIES = [
    entry
    for entry in json.loads((SHIPPED / "manifest.json").read_text())["arrays"]
    if entry["role"] == "output"
]


def arrays(file, prefix):
    """The arrays of two axes of a file, of at least eight rows and four columns."""
    with np.load(SHIPPED / file) as stored:
        for entry in ENTRIES:
            if entry["file"] == file and entry["semantics"].startswith(prefix):
                table = stored[entry["name"]]
                if table.ndim == 2 and len(table) >= 8 and table.shape[1] >= 4:
                    yield entry, table


SINUSOIDS = list(arrays("absolute_1d.npz", "sin."))
# Where rows are at 0, 1, 2, …, the function that made them must be among those that are named.
NAMES = {
    "sin.keras_hub": "keras_hub.layers.SinePositionEncoding",
    "sin.positional_encodings_1d": "positional_encodings.torch_encodings.PositionalEncoding1D",
    "sin.diffusers_tutorial": "diffusers.models.embeddings.SinusoidalPositionalEmbedding",
    "sin.videomae": "transformers.models.videomae.modeling_videomae.get_sinusoid_encoding_table",
    "sin.xlm": "transformers.models.xlm.modeling_xlm.create_sinusoidal_embeddings",
    "sin.ctrl": "transformers.models.ctrl.modeling_ctrl.positional_encoding",
    "sin.fairseq_table": (
        "fairseq.modules.sinusoidal_positional_embedding.SinusoidalPositionalEmbedding.get_embedding"
    ),
    "sin.whisper": "transformers.models.whisper.modeling_whisper.sinusoids",
    "sin.timesfm": "transformers.models.timesfm.modeling_timesfm.TimesFmPositionalEmbedding",
    "sin.x_transformers_scaled": "x_transformers.x_transformers.ScaledSinusoidalEmbedding",
    "sin.gptj_table": "transformers.models.gptj.modeling_gptj.create_sinusoidal_positions",
    "sin.conformer_relative": "fairseq.modules.positional_encoding.RelPositionalEncoding.forward",
}


@pytest.mark.parametrize(("entry", "table"), SINUSOIDS, ids=[entry["name"] for entry, _ in SINUSOIDS])
def test_a_table_of_a_library_is_a_sinusoid_of_its_base(entry, table):
    found = posenc.identify(table)
    a = entry["args"]
    base = (
        a.get("max_wavelength") or a.get("max_timescale") or a.get("theta") or a.get("max_period") or 10_000
    )
    base /= a.get("min_timescale", 1)
    assert (found.scheme, found.mistake) == ("sinusoidal", None)
    assert found.base == pytest.approx(base, rel=1e-3)
    assert found.freq_shift == a.get("downscale_freq_shift", int(found.freq_shift))
    assert found.dtype == entry["dtype"]
    if "rows" in entry:
        assert found.step is None
    elif entry["semantics"] in NAMES:
        assert NAMES[entry["semantics"]] in found.implementations


def test_enough_arrays_were_looked_at():
    assert len(SINUSOIDS) > 40
    assert set(NAMES) <= {entry["semantics"] for entry, _ in SINUSOIDS}


GRIDS = [
    pair for prefix in ("grid.mae", "grid.vitmae", "grid.timm_sincos", "grid.diffusers_3d")
    for pair in arrays("grid_nd.npz", prefix)
]  # fmt: skip


@pytest.mark.parametrize(("entry", "table"), GRIDS, ids=[entry["name"] for entry, _ in GRIDS])
def test_the_cells_of_an_image_are_a_grid_of_its_height_and_width(entry, table):
    a = entry["args"]
    shape = (a["height"], a["width"]) if "height" in a else a.get("feat_shape", [a.get("grid")] * 2)
    if a.get("reverse_coord"):
        shape = shape[::-1]
    found = posenc.identify(table)
    assert (found.scheme, found.grid) == ("grid", tuple(shape))
    assert found.base == pytest.approx(a.get("temperature", 10_000), rel=1e-3)
    assert found.implementations


CACHES = list(arrays("rope.npz", "rope.llama"))


@pytest.mark.parametrize(("entry", "table"), CACHES, ids=[entry["name"] for entry, _ in CACHES])
def test_cosines_and_sines_of_llama_are_rotary_caches(entry, table):
    if entry["name"].endswith(("__cos", "__sin")):
        found = posenc.identify(table)
        assert (found.scheme, found.layout) == ("rotary_cache", "half_split")
        assert found.base in (None, entry["args"].get("rope_theta", 10_000))


def test_arrays_of_every_kind_were_looked_at():
    assert Counter(bool(some) for some in (SINUSOIDS, GRIDS, CACHES)) == {True: 3}
