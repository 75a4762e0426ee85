"""Tables of models, from a server that answers and fails like the Hub."""

import json

import numpy as np
import pytest
from huggingface_hub import HfApi
from safetensors.numpy import save

import posenc
from posenc import hub
from posenc.tables import TableError
from tests.hub_server import COMMIT, Hub

TABLE = posenc.sinusoidal(32, 16)
WORDS = np.zeros((40_000, 16), np.float32)  # 2.5 MB that nobody wants
GPT2 = {"h.0.ln_1.weight": np.ones(16, np.float32), "wpe.weight": TABLE, "wte.weight": WORDS}
LLAMA = {
    "model.embed_tokens.weight": WORDS,
    "model.layers.0.self_attn.q_proj.weight": np.ones((16, 16), np.float32),
    "model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(8, np.float32),
}
WHISPER = {
    "model.decoder.embed_positions.weight": TABLE[:7] + 1,
    "model.encoder.embed_positions.weight": TABLE,
    "model.decoder.embed_tokens.weight": WORDS[:9],
}


def sharded(*shards: dict) -> dict[str, bytes]:
    files = {f"model-{i + 1:05}-of-{len(shards):05}.safetensors": shard for i, shard in enumerate(shards)}
    weight_map = {name: file for file, shard in files.items() for name in shard}
    index = json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}).encode()
    return {name: save(shard) for name, shard in files.items()} | {"model.safetensors.index.json": index}


def single(tensors: dict) -> dict[str, bytes]:
    return {"model.safetensors": save(tensors), "config.json": b"{}"}


MODELS = {
    "openai-community/gpt2": single(GPT2),
    "org/llama": single(LLAMA),
    "org/whisper": single(WHISPER),
    "org/sharded": sharded({"wte.weight": WORDS}, GPT2 | {"wte.weight": WORDS[:1]}, LLAMA),
    "org/sharded-llama": sharded({"lm_head.weight": WORDS}, LLAMA),
    "org/pickled": {"pytorch_model.bin": b"\x80\x02", "config.json": b"{}"},
    "org/long-header": single({f"layer.{i}.weight": np.zeros(1, np.float16) for i in range(3000)} | GPT2),
    "org/empty": {"model.safetensors": b""},
    "org/web": {"model.safetensors": b"<!doctype html>" + b" " * 99},
    "org/bad-index": {"model.safetensors.index.json": b'{"weight_map": ["wpe.weight"]}'},
    "org/no-shard": {"model.safetensors.index.json": b'{"weight_map": {"wpe.weight": "a.safetensors"}}'},
    "org/outside": {"model.safetensors.index.json": b'{"weight_map": {"wpe.weight": "../../../api/whoami"}}'},
    "org/no-index": {"model.safetensors.index.json": b"\xff\xfe{"},
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def serve(monkeypatch):
    servers = []

    def start(faults=(), models=MODELS):
        server = Hub(models, dict(faults)).__enter__()
        servers.append(server)
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.delenv("POSENC_HUB", raising=False)
        return server

    yield start
    for server in servers:
        server.__exit__()


def refused(model_id: str, **options) -> TableError:
    with pytest.raises(TableError) as raised:
        hub.read_from_hub(model_id, **options)
    assert "\n" not in str(raised.value)
    return raised.value


def test_only_the_header_and_the_table_are_fetched(serve):
    server = serve()
    table = hub.read_from_hub("openai-community/gpt2")
    np.testing.assert_array_equal(table.values, TABLE)
    assert (table.name, table.key, table.dtype) == ("openai-community/gpt2", "wpe.weight", "float32")
    assert [each.key for each in table.candidates] == ["wpe.weight", "wte.weight"]
    assert server.sent <= hub.HEAD + TABLE.nbytes


def test_the_server_answers_like_the_hub_to_its_own_client(serve):
    found = HfApi(endpoint=serve().url, token=False).parse_safetensors_file_metadata(
        "openai-community/gpt2", "model.safetensors"
    )
    assert found.tensors["wpe.weight"].shape == [32, 16]


def test_nothing_is_sent_but_the_name_and_nothing_is_kept(serve, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    server = serve()
    hub.read_from_hub("openai-community/gpt2")
    paths = [path for path, _ in server.requests]
    assert (
        paths
        == [
            "/openai-community/gpt2/resolve/main/model.safetensors",
            "/cdn/openai-community/gpt2//model.safetensors",
            # What comes after is of the same commit.
            f"/openai-community/gpt2/resolve/{COMMIT}/model.safetensors",
            "/cdn/openai-community/gpt2//model.safetensors",
        ][: len(paths)]
    )
    assert all("hf_secret" not in str(headers) for _, headers in server.requests)
    assert all(headers["User-Agent"] == "posenc" for _, headers in server.requests)
    assert not list(tmp_path.iterdir())


def test_a_table_past_the_first_bytes_is_of_the_commit_that_the_header_was_of(serve):
    server = serve()
    table = hub.read_from_hub("openai-community/gpt2", key="wte.weight")
    np.testing.assert_array_equal(table.values, WORDS)
    assert [note.code for note in table.notes] == ["asked"]
    assert server.requests[2][0] == f"/openai-community/gpt2/resolve/{COMMIT}/model.safetensors"


def test_a_header_longer_than_the_first_bytes_is_read(serve):
    server = serve()
    table = hub.read_from_hub("org/long-header")
    np.testing.assert_array_equal(table.values, TABLE)
    header = int.from_bytes(MODELS["org/long-header"]["model.safetensors"][:8], "little")
    assert header > hub.HEAD
    assert server.sent <= hub.HEAD + header + TABLE.nbytes


def test_an_old_name_leads_to_the_model_and_a_revision_is_asked_for(serve):
    server = serve()
    server.renamed["gpt2"] = "openai-community/gpt2"
    np.testing.assert_array_equal(hub.read_from_hub(" gpt2 ", revision="v1").values, TABLE)
    assert server.requests[0][0] == "/gpt2/resolve/v1/model.safetensors"


def test_of_several_position_tables_one_is_taken_and_the_others_are_named(serve):
    serve()
    table = hub.read_from_hub("org/whisper")
    assert table.shape == (7, 16)
    assert [note.code for note in table.notes] == ["chosen"]
    assert [each.key for each in table.candidates][:2] == [
        "model.decoder.embed_positions.weight",
        "model.encoder.embed_positions.weight",
    ]
    chosen = hub.read_from_hub("org/whisper", key="model.encoder.embed_positions.weight")
    np.testing.assert_array_equal(chosen.values, TABLE)


def test_of_a_model_in_several_files_only_the_one_with_the_table_is_opened(serve):
    server = serve()
    table = hub.read_from_hub("org/sharded")
    np.testing.assert_array_equal(table.values, TABLE)
    assert table.key == "wpe.weight"
    opened = {path.rpartition("/")[2] for path, _ in server.requests}
    assert opened == {
        "model.safetensors",
        "model.safetensors.index.json",
        "model-00002-of-00003.safetensors",
    }
    asked = hub.read_from_hub("org/sharded", key="model.embed_tokens.weight")
    np.testing.assert_array_equal(asked.values, WORDS)
    assert refused("org/sharded", key="wpe").code == "unknown_key"


@pytest.mark.parametrize("model_id", ["org/llama", "org/sharded-llama"])
def test_a_model_without_a_position_table_is_told_of_what_it_has(serve, model_id):
    serve()
    error = refused(model_id)
    assert error.code == "hub_no_position_table"
    assert "embed_tokens" in str(error)
    assert "rotary" in str(error)


def test_what_could_be_chosen_instead_is_kept_for_the_page(serve):
    serve()
    assert [each.key for each in refused("org/llama").values["candidates"]] == [
        "model.embed_tokens.weight",
        "model.layers.0.self_attn.q_proj.weight",
    ]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("gated", "hub_gated"),
        ("forbidden", "hub_gated"),
        ("private", "hub_missing"),
        ("gone", "hub_missing"),
        ("busy", "hub_busy"),
        ("down", "hub_unreachable"),
        ("teapot", "hub_cut"),
        ("loop", "hub_unreachable"),
        ("scheme", "hub_unreachable"),
        ("cut", "hub_cut"),
        ("wrong_range", "hub_cut"),
        ("packed", "hub_cut"),
        ("no_length", "hub_cut"),
        ("grows", "hub_cut"),
        ("slow", "hub_slow"),
        ("drip", "hub_slow"),
    ],
)
def test_each_failure_is_a_sentence(serve, monkeypatch, fault, code):
    for name in ("PART", "WHOLE"):
        monkeypatch.setattr(hub, name, 0.3 if fault in ("slow", "drip") else 5.0)
    serve({"openai-community/gpt2": fault})
    error = refused("openai-community/gpt2", key="wte.weight")  # its bytes come in a later answer
    assert error.code == code
    assert "{" not in str(error)


@pytest.mark.parametrize(
    ("model_id", "options", "code"),
    [
        ("org/unknown", {}, "hub_missing"),
        ("openai-community/gpt2", {"revision": "v9"}, "hub_missing"),
        ("openai-community/gpt2", {"revision": "../../api"}, "hub_missing"),
        ("openai-community/gpt2", {"revision": ""}, "hub_missing"),
        ("openai-community/gpt2", {"key": "h.0.ln_1.weight"}, "one_axis"),
        ("org/pickled", {}, "hub_no_safetensors"),
        ("org/empty", {}, "hub_cut"),
        ("org/web", {}, "st_header"),
        ("org/bad-index", {}, "hub_cut"),
        ("org/no-index", {}, "hub_cut"),
        ("org/no-shard", {}, "hub_cut"),
        ("org/outside", {}, "hub_cut"),
    ],
)
def test_what_the_hub_does_not_have_is_a_sentence(serve, model_id, options, code):
    server = serve()
    error = refused(model_id, **options)
    assert error.code == code
    assert options.get("revision", "") in str(error)
    assert all(path.startswith((f"/{model_id}/", f"/cdn/{model_id}/")) for path, _ in server.requests)


@pytest.mark.parametrize(
    "model_id",
    [
        "https://huggingface.co/openai-community/gpt2",
        "http://127.0.0.1:80/a",
        "//host/a",
        "a/b/c",
        "../gpt2",
        "org/..",
        "org/gpt2?x=1",
        "org/gpt2#x",
        "org/gpt2@main",
        "user:password@host/a",
        "한국어/모델",
        "org/\ud800",
        "org\n/a",
        "",
        "   ",
        "/",
        "a" * 5000,
    ],
)
def test_only_ids_are_taken(serve, model_id):
    server = serve()
    error = refused(model_id)
    assert error.code == "hub_id"
    assert len(str(error)) < 300
    assert not server.requests


def test_a_server_that_knows_no_ranges_is_read_up_to_the_table_and_no_further(serve):
    large = {"wpe.weight": TABLE, "wte.weight": np.zeros((2_000_000, 16), np.float32)}  # 128 MB
    server = serve({"org/large": "no_ranges"}, {"org/large": single(large)})
    np.testing.assert_array_equal(hub.read_from_hub("org/large").values, TABLE)
    assert server.sent == 0  # never to the end


def test_a_server_that_knows_no_ranges_is_not_read_to_the_end_of_a_large_file(serve, monkeypatch):
    monkeypatch.setattr(hub, "MAX_BYTES", hub.HEAD)
    serve({"openai-community/gpt2": "no_ranges"})
    assert refused("openai-community/gpt2", key="wte.weight").code == "hub_cut"


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:1",
        "127.0.0.1:1",
        "ftp://127.0.0.1",
        "http://[::",
        "http://",
        "http://me:secret@127.0.0.1:1",
    ],
)
def test_no_server_is_a_sentence(monkeypatch, endpoint):
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    error = refused("openai-community/gpt2")
    assert error.code == "hub_unreachable"
    assert endpoint.replace("me:secret@", "").rstrip("/") in str(error)


def test_a_strange_endpoint_stays_on_its_line(monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://a\nb")
    assert refused("openai-community/gpt2").code == "hub_unreachable"


@pytest.mark.parametrize("word", ["off", "OFF", " Off "])
def test_it_can_be_switched_off(serve, monkeypatch, word):
    server = serve()
    assert hub.hub_is_on()
    monkeypatch.setenv("POSENC_HUB", word)
    assert not hub.hub_is_on()
    assert refused("openai-community/gpt2").code == "hub_off"
    assert not server.requests


def test_the_switch_of_huggingface_hub_works_too(serve, monkeypatch):
    server = serve()
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert refused("openai-community/gpt2").code == "hub_off"
    assert not server.requests


def test_well_known_models_have_ids_that_are_taken(serve):
    server = serve()
    for model in hub.WELL_KNOWN:
        server.models = {model.model_id: single({model.key or "wpe.weight": TABLE, "a": TABLE[:1]})}
        assert hub.read_from_hub(model.model_id, key=model.key).shape == TABLE.shape
    assert len({model.model_id for model in hub.WELL_KNOWN}) == len(hub.WELL_KNOWN)


def test_import_posenc_loads_nothing_of_the_hub():
    import subprocess
    import sys

    script = "import posenc, sys; print(sys.modules.keys() & {'huggingface_hub', 'httpx2', 'safetensors'})"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
