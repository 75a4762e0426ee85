"""A config in the context of its training and in a longer one, against the papers' formulas by hand."""

import math

import numpy as np
import pytest

from posenc.contexts import LONGEST, contexts, trained_len, wanted_len
from posenc.rope_config import read_config
from posenc.rope_models import ROPE_MODELS


def seen(name, wanted=None):
    config = ROPE_MODELS[name].read()
    return contexts(config, wanted or wanted_len(config).default)


def test_llama_3_1_was_trained_on_8192_positions_and_stretches_16_times():
    found = seen("llama_3_1_8b")
    assert (found.trained, found.wanted, found.factor) == (8192, 131_072, 16)
    rates = [500_000 ** (-2 * i / 128) for i in range(64)]
    assert found.first_never == next(i for i, rate in enumerate(rates) if 8192 * rate < 2 * math.pi)
    # Meta's config divides the slow pairs by 8, whatever is wanted here.
    assert found.ratios()["config"][-1] == pytest.approx(1 / 8)
    assert found.ratios()["llama3"][-1] == pytest.approx(1 / 16)


def test_yarns_attention_factor_is_the_papers():
    assert seen("qwen2_5_7b_yarn").after.attention_factor == pytest.approx(0.1 * math.log(4) + 1)
    assert seen("llama_2_7b", 4096 * 32).methods["yarn"].attention_factor == pytest.approx(1.3466, abs=5e-5)


def test_each_method_changes_what_its_paper_says():
    found = seen("llama_2_7b", 16_384)
    ratios = found.ratios()
    np.testing.assert_allclose(ratios["config"], 1)
    np.testing.assert_allclose(ratios["linear"], 1 / 4)
    np.testing.assert_allclose(ratios["ntk"], [4 ** (-2 * i / 126) for i in range(64)])
    np.testing.assert_allclose(ratios["dynamic"], ratios["ntk"])  # L/M = 4
    for ramp in ("yarn", "llama3"):
        assert ratios[ramp][0] == 1
        assert ratios[ramp][-1] == pytest.approx(1 / 4)
        assert (np.diff(ratios[ramp]) <= 1e-12).all()


def test_turns_and_wavelengths_say_the_same():
    found = seen("llama_2_7b")
    np.testing.assert_allclose(found.turns()["trained"] * found.wavelengths()["before"], 4096)
    np.testing.assert_allclose(found.turns()["wanted"] * found.wavelengths()["before"], 16_384)
    assert (found.never == (found.wavelengths()["before"] > 4096)).all()


def test_pairs_that_do_not_turn_have_no_wavelength():
    found = contexts(
        read_config({"head_dim": 8, "rope_type": "proportional", "partial_rotary_factor": 0.5}), 4096
    )
    assert np.isnan(found.wavelengths()["after"]).tolist() == [False, False, True, True]
    assert found.ratios()["config"].tolist() == [1, 1, 0, 0]


def test_the_score_of_ones_is_a_sum_of_cosines_times_the_square_of_the_factor():
    found = seen("qwen2_5_7b_yarn")
    at = 1000.0
    for name, scaled in (("before", found.before), ("after", found.after)):
        waves = found.scores()[name]
        value = float((waves.weights * np.cos(waves.rates * at + waves.phases)).sum())
        by_hand = 2 * sum(math.cos(at * rate) for rate in scaled.inv_freq) * scaled.attention_factor**2
        assert value == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("config", "trained", "wanted"),
    [
        ({"head_dim": 8}, 2048, 8192),
        ({"head_dim": 8, "max_position_embeddings": 100}, 100, 400),
        ({"head_dim": 8, "max_position_embeddings": 9 * 10**8}, LONGEST, 9 * 10**8),
    ],
)
def test_lengths_that_the_config_does_not_say(config, trained, wanted):
    read = read_config(config)
    assert trained_len(read) == trained
    assert wanted_len(read).default == min(wanted, LONGEST)


def test_base_1_has_no_ramp():
    found = contexts(read_config({"head_dim": 8, "rope_theta": 1.0}), 100)
    assert "yarn" not in found.methods
    assert found.factor == 1  # shorter than the training


@pytest.mark.parametrize("wanted", [0, 1, LONGEST + 1, 4096.0, "4096"])
def test_a_length_outside_its_limits_is_refused(wanted):
    with pytest.raises(ValueError, match="wanted_len must be an integer from 2 to 10000000"):
        contexts(read_config({"head_dim": 8}), wanted)


@pytest.mark.parametrize("name", ROPE_MODELS)
def test_facts_name_the_keys_of_a_config(name):
    facts = seen(name).facts()
    assert facts["rotary_dim"] == 2 * len(seen(name).before.inv_freq)
    assert not any(isinstance(value, (tuple, list)) for value in facts.values())
