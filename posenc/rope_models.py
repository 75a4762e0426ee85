"""What well-known models publish of their rotary embedding: the keys of each `config.json` that say it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from posenc.rope_config import RopeConfig, read_config


@dataclass(frozen=True)
class RopeModel:
    """One model: its name, where it publishes its config, and what that says of rotary embedding."""

    title: str
    url: str
    config: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The config as it would be pasted."""
        return json.dumps(dict(self.config), indent=2)

    def read(self) -> RopeConfig:
        """Read the config as any other one."""
        return read_config(self.config)


def _published(
    title: str, repository: str, file: str = "blob/main/config.json", /, **config: Any
) -> RopeModel:
    url = f"https://huggingface.co/{repository}/{file}".removesuffix("/")
    return RopeModel(title, url, MappingProxyType(config))


# Each of 48 pairs was given its own divisor by a search (LongRoPE); float32 numbers, hence the digits.
_PHI_LONG = (
    1.0800000429153442, 1.1100000143051147, 1.1399999856948853, 1.340000033378601,
    1.5899999141693115, 1.600000023841858, 1.6200000047683716, 2.620000123977661,
    3.2300000190734863, 3.2300000190734863, 4.789999961853027, 7.400000095367432,
    7.700000286102295, 9.09000015258789, 12.199999809265137, 17.670000076293945,
    24.46000099182129, 28.57000160217285, 30.420001983642578, 30.840002059936523,
    32.590003967285156, 32.93000411987305, 42.320003509521484, 44.96000289916992,
    50.340003967285156, 50.45000457763672, 57.55000305175781, 57.93000411987305,
    58.21000289916992, 60.1400032043457, 62.61000442504883, 62.62000274658203,
    62.71000289916992, 63.1400032043457, 63.1400032043457, 63.77000427246094,
    63.93000411987305, 63.96000289916992, 63.970001220703125, 64.02999877929688,
    64.06999969482422, 64.08000183105469, 64.12000274658203, 64.41000366210938,
    64.4800033569336, 64.51000213623047, 64.52999877929688, 64.83999633789062,
)  # fmt: skip
_PHI_SHORT = (
    1.0, 1.0199999809265137, 1.0299999713897705, 1.0299999713897705,
    1.0499999523162842, 1.0499999523162842, 1.0499999523162842, 1.0499999523162842,
    1.0499999523162842, 1.0699999332427979, 1.0999999046325684, 1.1099998950958252,
    1.1599998474121094, 1.1599998474121094, 1.1699998378753662, 1.2899998426437378,
    1.339999794960022, 1.679999828338623, 1.7899998426437378, 1.8199998140335083,
    1.8499997854232788, 1.8799997568130493, 1.9099997282028198, 1.9399996995925903,
    1.9899996519088745, 2.0199997425079346, 2.0199997425079346, 2.0199997425079346,
    2.0199997425079346, 2.0199997425079346, 2.0199997425079346, 2.0299997329711914,
    2.0299997329711914, 2.0299997329711914, 2.0299997329711914, 2.0299997329711914,
    2.0299997329711914, 2.0299997329711914, 2.0299997329711914, 2.0299997329711914,
    2.0799996852874756, 2.0899996757507324, 2.189999580383301, 2.2199995517730713,
    2.5899994373321533, 2.729999542236328, 2.749999523162842, 2.8399994373321533,
)  # fmt: skip

_QWEN = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "max_position_embeddings": 32_768,
    "rope_theta": 1_000_000.0,
}

ROPE_MODELS: Mapping[str, RopeModel] = MappingProxyType(
    {
        "gpt_j_6b": _published(
            "GPT-J 6B",
            "EleutherAI/gpt-j-6b",
            model_type="gptj",
            n_embd=4096,
            n_head=16,
            n_positions=2048,
            rotary_dim=64,
        ),
        "gpt_neox_20b": _published(
            "GPT-NeoX 20B",
            "EleutherAI/gpt-neox-20b",
            model_type="gpt_neox",
            hidden_size=6144,
            num_attention_heads=64,
            max_position_embeddings=2048,
            rotary_emb_base=10_000,
            rotary_pct=0.25,
        ),
        "llama_2_7b": _published(
            "Llama 2 7B",
            "meta-llama/Llama-2-7b-hf",
            model_type="llama",
            hidden_size=4096,
            num_attention_heads=32,
            max_position_embeddings=4096,
            rope_scaling=None,
        ),
        "mistral_7b": _published(
            "Mistral 7B v0.1",
            "mistralai/Mistral-7B-v0.1",
            model_type="mistral",
            hidden_size=4096,
            num_attention_heads=32,
            max_position_embeddings=32_768,
            rope_theta=10_000.0,
        ),
        "llama_3_1_8b": _published(
            "Llama 3.1 8B",
            "meta-llama/Llama-3.1-8B",
            model_type="llama",
            hidden_size=4096,
            num_attention_heads=32,
            max_position_embeddings=131_072,
            rope_theta=500_000.0,
            rope_scaling={
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
                "rope_type": "llama3",
            },
        ),
        "llama_3_2_1b": _published(
            "Llama 3.2 1B",
            "meta-llama/Llama-3.2-1B",
            model_type="llama",
            hidden_size=2048,
            num_attention_heads=32,
            head_dim=64,
            max_position_embeddings=131_072,
            rope_theta=500_000.0,
            rope_scaling={
                "factor": 32.0,
                "high_freq_factor": 4.0,
                "low_freq_factor": 1.0,
                "original_max_position_embeddings": 8192,
                "rope_type": "llama3",
            },
        ),
        "qwen2_5_7b": _published("Qwen2.5 7B Instruct", "Qwen/Qwen2.5-7B-Instruct", **_QWEN),
        "qwen2_5_7b_yarn": _published(
            "Qwen2.5 7B Instruct, for long texts",
            "Qwen/Qwen2.5-7B-Instruct",
            "",
            **_QWEN,
            rope_scaling={"factor": 4.0, "original_max_position_embeddings": 32_768, "type": "yarn"},
        ),
        "qwen3_0_6b": _published(
            "Qwen3 0.6B",
            "Qwen/Qwen3-0.6B",
            model_type="qwen3",
            hidden_size=1024,
            num_attention_heads=16,
            head_dim=128,
            max_position_embeddings=40_960,
            rope_scaling=None,
            rope_theta=1_000_000,
        ),
        "deepseek_v2_lite": _published(
            "DeepSeek-V2-Lite",
            "deepseek-ai/DeepSeek-V2-Lite",
            model_type="deepseek_v2",
            hidden_size=2048,
            num_attention_heads=16,
            qk_rope_head_dim=64,
            max_position_embeddings=163_840,
            rope_theta=10_000,
            rope_scaling={
                "beta_fast": 32,
                "beta_slow": 1,
                "factor": 40,
                "mscale": 0.707,
                "mscale_all_dim": 0.707,
                "original_max_position_embeddings": 4096,
                "type": "yarn",
            },
        ),
        "deepseek_v3": _published(
            "DeepSeek-V3",
            "deepseek-ai/DeepSeek-V3",
            model_type="deepseek_v3",
            hidden_size=7168,
            num_attention_heads=128,
            qk_rope_head_dim=64,
            max_position_embeddings=163_840,
            rope_theta=10_000,
            rope_scaling={
                "beta_fast": 32,
                "beta_slow": 1,
                "factor": 40,
                "mscale": 1.0,
                "mscale_all_dim": 1.0,
                "original_max_position_embeddings": 4096,
                "type": "yarn",
            },
        ),
        "phi_3_5_mini": _published(
            "Phi-3.5-mini",
            "microsoft/Phi-3.5-mini-instruct",
            model_type="phi3",
            hidden_size=3072,
            num_attention_heads=32,
            max_position_embeddings=131_072,
            original_max_position_embeddings=4096,
            rope_theta=10_000.0,
            rope_scaling={"long_factor": _PHI_LONG, "short_factor": _PHI_SHORT, "type": "longrope"},
        ),
        "gemma_2_9b": _published(
            "Gemma 2 9B",
            "google/gemma-2-9b",
            model_type="gemma2",
            hidden_size=3584,
            num_attention_heads=16,
            head_dim=256,
            max_position_embeddings=8192,
            rope_theta=10_000.0,
        ),
        "gemma_3_12b": _published(
            "Gemma 3 12B, layers with full attention",
            "google/gemma-3-12b-it",
            model_type="gemma3",
            text_config={
                "model_type": "gemma3_text",
                "hidden_size": 3840,
                "num_attention_heads": 16,
                "head_dim": 256,
                "max_position_embeddings": 131_072,
                "rope_theta": 1_000_000,
                "rope_local_base_freq": 10_000,
                "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
            },
        ),
        "gpt_oss_20b": _published(
            "gpt-oss 20B",
            "openai/gpt-oss-20b",
            model_type="gpt_oss",
            hidden_size=2880,
            num_attention_heads=64,
            head_dim=64,
            max_position_embeddings=131_072,
            rope_theta=150_000,
            rope_scaling={
                "beta_fast": 32.0,
                "beta_slow": 1.0,
                "factor": 32.0,
                "original_max_position_embeddings": 4096,
                "rope_type": "yarn",
                "truncate": False,
            },
        ),
    }
)
