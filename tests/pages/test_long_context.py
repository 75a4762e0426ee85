"""The page of longer contexts: what is read and refused, and that its numbers are those of the config."""

import json

import pytest

from pages.ui.text import catalogue
from posenc.rope_models import ROPE_MODELS


@pytest.fixture(params=["en", "ko"])
def page(frame, request):
    def opened(**query):
        at = frame(lang=request.param, **query).run().switch_page("long_context.py").run()
        assert not at.exception
        return at, catalogue(request.param)

    return opened


def text(at):
    return "\n".join(element.value for element in at.markdown)


def codes(at):
    return [element.value for element in at.code]


@pytest.mark.parametrize("name", ["llama_3_1_8b", "phi_3_5_mini", "gpt_neox_20b", "gemma_3_12b"])
def test_a_published_model_is_read(page, name):
    at, _ = page(model=name)
    assert not at.error
    read = ROPE_MODELS[name].read()
    assert f"| `rope_type` | {read.rope_type} |" in text(at)
    assert f"| `rotary_dim` | {read.rotary_dim} |" in text(at)
    assert "{{" not in text(at)


def test_the_lengths_are_those_of_the_config_and_can_be_chosen(page):
    at, _ = page(model="llama_3_1_8b")
    assert "8,192" in text(at)
    assert "131,072" in text(at)
    at, _ = page(model="llama_3_1_8b", wanted_len="16384")
    assert "16,384" in text(at)
    assert "131,072" not in at.markdown[1].value


@pytest.mark.parametrize(
    "config",
    [
        {"rope_scaling": {"type": "linear", "factor": 4.0}, "head_dim": 64},
        {"hidden_size": 4096, "num_attention_heads": 32, "rope_theta": 10000.0},
    ],
)
def test_a_pasted_config_is_read_and_stays_in_the_link(page, config):
    at, _ = page(model="pasted", config=json.dumps(config))
    assert not at.error
    assert f"| `head_dim` | {config.get('head_dim', 128)} |" in text(at)
    assert at.text_area(key="config").value == json.dumps(config)


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ('{"rope_scaling": {"type": "linear", "factor": -4}, "head_dim": 64}', "factor"),
        ('{"rope_scaling": {"rope_type": "nonsense"}}', "rope_type"),
        ("not a config", ""),
        ('{"head_dim": "many"}', "head_dim"),
    ],
)
def test_a_wrong_config_gets_a_sentence_that_names_the_key_and_nothing_is_lost(page, config, key):
    at, words = page(model="pasted", config=config)
    (error,) = at.error
    usual = ROPE_MODELS["llama_3_1_8b"].title
    assert error.value == words["long_context.unread"].replace("{{usual}}", usual)
    assert key in codes(at)[0]
    assert at.text_area(key="config").value == config
    assert "| `rope_type` | llama3 |" in text(at)


@pytest.mark.parametrize(
    "query", [{"model": "x"}, {"wanted_len": "-5"}, {"wanted_len": "2"}, {"wanted_len": "10000000"}]
)
def test_junk_and_edges_give_a_page(page, query):
    at, _ = page(**query)
    assert not at.error


def test_pasting_nothing_asks_for_something(page):
    at, words = page(model="pasted", config="   ")
    assert not at.error
    assert words["long_context.paste"].split("{{")[0] in at.info[0].value
