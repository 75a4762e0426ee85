"""Which function of this package, with which parameters, a function or class of a library is.

What a library does beyond that (a row blanked for padding, one bias row for all queries, zeros before the
cells for a class token) is its own habit; the tests compose it, array by array, in `tests/conformance`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

_HF = "transformers.models."
_M2M_100 = _HF + "m2m_100.modeling_m2m_100.M2M100SinusoidalPositionalEmbedding."
_HF_ROPE = "transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS"
_DIFFUSERS = "diffusers.models.embeddings."
_FAIRSEQ = "fairseq.modules."
_TIMM = "timm.layers."
_X = "x_transformers.x_transformers."
_LUCID = "rotary_embedding_torch.RotaryEmbedding."
_POSENC = "positional_encodings.torch_encodings."


@dataclass(frozen=True)
class Implementation:
    """A function or class of a library.

    Parameters
    ----------
    name
        Its dotted name; the library is what stands before the first dot.
    function
        Module and name of ours, such as ``"sinusoidal.sinusoidal"``.
    parameters
        Keywords that the library has fixed, or its own defaults where they are not ours.
    scheme
        Key of `posenc.registry.SCHEMES`; None for position ids and for resizing, which are no encodings.
    """

    name: str
    function: str
    scheme: str | None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def library(self) -> str:
        """Import name of the library."""
        return self.name.partition(".")[0]


def _sinusoid(name: str, layout: str, freq_shift: int = 0) -> Implementation:
    return Implementation(
        name, "sinusoidal.sinusoidal", "sinusoidal", {"layout": layout, "freq_shift": freq_shift}
    )


def _is(name: str, function: str, scheme: str | None, **parameters: Any) -> Implementation:
    return Implementation(name, function, scheme, parameters)


_SINUSOIDS = (
    _sinusoid("keras_hub.layers.SinePositionEncoding", "interleaved"),
    _sinusoid(_POSENC + "PositionalEncoding1D", "interleaved"),
    _sinusoid(_DIFFUSERS + "SinusoidalPositionalEmbedding", "interleaved"),
    _sinusoid(_HF + "videomae.modeling_videomae.get_sinusoid_encoding_table", "interleaved"),
    _sinusoid(_HF + "xlm.modeling_xlm.create_sinusoidal_embeddings", "interleaved"),
    _sinusoid(_HF + "marian.modeling_marian.MarianSinusoidalPositionalEmbedding.create_weight", "sin_cos"),
    _sinusoid(_HF + "pegasus.modeling_pegasus.PegasusSinusoidalPositionalEmbedding.create_weight", "sin_cos"),
    _sinusoid(
        _HF + "roformer.modeling_roformer.RoFormerSinusoidalPositionalEmbedding.create_weight", "sin_cos"
    ),
    _sinusoid(_HF + "ctrl.modeling_ctrl.positional_encoding", "sin_cos"),
    *(
        _sinusoid(where + method, "sin_cos", 1)
        for where in (
            _FAIRSEQ + "sinusoidal_positional_embedding.SinusoidalPositionalEmbedding.",
            _HF + "fsmt.modeling_fsmt.SinusoidalPositionalEmbedding.",
            _M2M_100,
        )
        for method in ("get_embedding", "forward")
    ),
    _sinusoid(_HF + "whisper.modeling_whisper.sinusoids", "sin_cos", 1),
    _sinusoid(_HF + "timesfm.modeling_timesfm.TimesFmPositionalEmbedding", "sin_cos", 1),
    _sinusoid(_DIFFUSERS + "get_timestep_embedding", "sin_cos", 1),
    _sinusoid(_DIFFUSERS + "get_1d_sincos_pos_embed_from_grid", "sin_cos"),
    _sinusoid(_X + "ScaledSinusoidalEmbedding", "sin_cos"),
    _sinusoid(_HF + "gptj.modeling_gptj.create_sinusoidal_positions", "sin_cos"),
    _sinusoid(_HF + "xlnet.modeling_xlnet.XLNetModel.relative_positional_encoding", "sin_cos"),
    _sinusoid(_FAIRSEQ + "positional_encoding.RelPositionalEncoding.forward", "interleaved"),
    _sinusoid(
        _HF
        + "wav2vec2_conformer.modeling_wav2vec2_conformer.Wav2Vec2ConformerRelPositionalEmbedding.forward",
        "interleaved",
    ),
)
_GRIDS = (
    _is(
        _HF + "vit_mae.modeling_vit_mae.build_2d_sinusoidal_position_embedding",
        "grid.grid_sinusoidal",
        "grid",
        axes=(0, 1),
        grid_layout="sin_cos",
    ),
    _is(
        _HF + "vit_mae.modeling_vit_mae.ViTMAEEmbeddings.initialize_weights",
        "grid.grid_sinusoidal",
        "grid",
        axes=(1, 0),
        grid_layout="sin_cos",
    ),
    _is(
        _DIFFUSERS + "get_2d_sincos_pos_embed",
        "grid.grid_sinusoidal",
        "grid",
        axes=(1, 0),
        grid_layout="sin_cos",
    ),
    _is(
        _DIFFUSERS + "get_3d_sincos_pos_embed",
        "grid.grid_sinusoidal",
        "video",
        axes=(0, 2, 1),
        grid_layout="sin_cos",
    ),
    _is(
        _HF + "detr.modeling_detr.DetrSinePositionEmbedding",
        "grid.grid_sinusoidal",
        "detr",
        axes=(0, 1),
        grid_layout="interleaved",
    ),
    _is(
        _TIMM + "pos_embed_sincos.build_sincos2d_pos_embed",
        "grid.grid_sinusoidal",
        "grid",
        axes=(0, 1),
        grid_layout="sines_first",
    ),
    _is(_TIMM + "pos_embed_sincos.build_fourier_pos_embed", "grid.fourier_bands", "fourier", spacing="log"),
    _is(
        _POSENC + "PositionalEncoding2D",
        "grid.grid_sinusoidal",
        "grid",
        axes=(0, 1),
        grid_layout="interleaved",
    ),
    _is(
        _POSENC + "PositionalEncoding3D",
        "grid.grid_sinusoidal",
        "grid",
        axes=(0, 1, 2),
        grid_layout="interleaved",
    ),
)
_ROTARIES = (
    _is(
        _HF + "llama.modeling_llama.LlamaRotaryEmbedding.compute_default_rope_parameters",
        "scaling.unscaled",
        "rotary",
    ),
    *(
        _is(f"{_HF_ROPE}['{name}']", f"scaling.{function}", name)
        for name, function in (
            ("linear", "linear"),
            ("dynamic", "dynamic_ntk"),
            ("yarn", "yarn"),
            ("longrope", "longrope"),
            ("llama3", "llama3"),
            ("proportional", "proportional"),
        )
    ),
    _is(_HF + "llama.modeling_llama.LlamaRotaryEmbedding.forward", "rotary.angles", "rotary"),
    _is(_HF + "llama.modeling_llama.apply_rotary_pos_emb", "rotary.rotate", "rotary", pairs="half_split"),
    _is(_HF + "gptj.modeling_gptj.apply_rotary_pos_emb", "rotary.rotate", "rotary", pairs="adjacent"),
    _is(
        _HF + "gpt_neox.modeling_gpt_neox.apply_rotary_pos_emb", "rotary.rotate", "rotary", pairs="half_split"
    ),
    _is(
        _HF + "roformer.modeling_roformer.RoFormerSelfAttention.apply_rotary_position_embeddings",
        "rotary.rotate",
        "rotary",
        pairs="adjacent",
    ),
    _is(_LUCID + "forward", "rotary.angles", "rotary"),
    _is(_LUCID + "rotate_queries_or_keys", "rotary.rotate", "rotary", pairs="adjacent"),
    _is(_LUCID + "rotate_queries_and_keys", "rotary.xpos_scale", "xpos", scale_base=512),
    _is(_LUCID + "get_axial_freqs", "rotary.axial_angles", "axial_rotary"),
    _is(_X + "RotaryEmbedding.forward + apply_rotary_pos_emb", "rotary.turn", "rotary", pairs="adjacent"),
    _is("keras_hub.layers.RotaryEmbedding", "rotary.rotate", "rotary", pairs="half_split"),
    _is(
        "keras_hub.src.models.phi3.phi3_rotary_embedding.Phi3SuScaledRotaryEmbedding",
        "scaling.longrope",
        "longrope",
    ),
    _is(
        "torchtune.modules.position_embeddings.RotaryPositionalEmbeddings",
        "rotary.rotate",
        "rotary",
        pairs="adjacent",
    ),
    _is(
        "torchtune.models.llama3_1._position_embeddings.Llama3ScaledRoPE",
        "scaling.llama3",
        "llama3",
        base=500_000,
        factor=8,
        low_freq_factor=1,
        high_freq_factor=4,
        original_max_position_embeddings=8192,
    ),
    _is(_DIFFUSERS + "get_1d_rotary_pos_embed", "rotary.angles", "rotary"),
    _is(_DIFFUSERS + "apply_rotary_emb", "rotary.rotate", "rotary", pairs="adjacent"),
    _is(_DIFFUSERS + "get_2d_rotary_pos_embed", "rotary.axial_angles", "axial_rotary"),
    _is(_DIFFUSERS + "get_3d_rotary_pos_embed", "rotary.axial_angles", "axial_rotary"),
    _is(
        _HF + "qwen2_vl.modeling_qwen2_vl.Qwen2VLRotaryEmbedding.forward",
        "rotary.section_angles",
        "multimodal_rotary",
        interleaved=False,
    ),
    _is(
        _HF + "qwen3_vl.modeling_qwen3_vl.Qwen3VLTextRotaryEmbedding.forward",
        "rotary.section_angles",
        "multimodal_rotary",
        interleaved=True,
    ),
    _is(
        _HF + "qwen2_vl.modeling_qwen2_vl.Qwen2VLModel.get_rope_index",
        "rotary.multimodal_positions",
        "multimodal_rotary",
    ),
    _is(_TIMM + "pos_embed_sincos.build_rotary_pos_embed", "rotary.axial_angles", "axial_rotary"),
    _is(_TIMM + "pos_embed_sincos.RotaryEmbeddingDinoV3.get_embed", "rotary.axial_angles", "axial_rotary"),
)
_BIASES = (
    _is(_HF + "bloom.modeling_bloom.build_alibi_tensor", "bias.alibi", "alibi", symmetric=False),
    _is(_HF + "falcon.modeling_falcon.build_alibi_tensor", "bias.alibi", "alibi", symmetric=False),
    _is(_HF + "mpt.modeling_mpt.build_mpt_alibi_tensor", "bias.alibi", "alibi", symmetric=False),
    _is(_X + "AlibiPositionalBias.slopes", "bias.alibi_slopes", "alibi"),
    _is(_X + "AlibiPositionalBias.forward", "bias.alibi", "alibi", symmetric=True),
    _is("keras_hub.layers.AlibiBias", "bias.alibi", "alibi", symmetric=False),
    _is(_HF + "t5.modeling_t5.T5Attention._relative_position_bucket", "buckets.t5_bucket", "t5"),
    _is(_X + "RelativePositionBias._relative_position_bucket", "buckets.t5_bucket", "t5"),
    _is(
        "keras_hub.src.models.t5.t5_multi_head_attention.T5MultiHeadAttention._relative_position_bucket",
        "buckets.t5_bucket",
        "t5",
    ),
    _is(_HF + "t5.modeling_t5.T5Attention.compute_bias", "buckets.bucket_bias", "t5"),
    _is(_HF + "deberta_v2.modeling_deberta_v2.make_log_bucket_position", "buckets.deberta_bucket", "deberta"),
    _is(_HF + "deberta_v2.modeling_deberta_v2.build_relative_position", "buckets.deberta_bucket", "deberta"),
    _is(
        _HF + "wav2vec2_bert.modeling_wav2vec2_bert._apply_relative_key_position_encoding",
        "buckets.relative_key_scores",
        "shaw",
    ),
    _is(_TIMM + "pos_embed_rel.gen_relative_position_index", "windows.swin_index", "swin"),
    _is(
        _HF + "swin.modeling_swin.SwinRelativePositionBias.relative_position_index",
        "windows.swin_index",
        "swin",
        class_token=False,
    ),
    _is(_TIMM + "pos_embed_rel.gen_relative_log_coords", "windows.swin_log_coords", "swin_v2"),
)
_OTHERS = (
    _is(_HF + "bert.modeling_bert.BertEmbeddings", "position_ids.model_ids", None, id_rule="bert"),
    _is(_HF + "gpt2.modeling_gpt2.GPT2Model.forward", "position_ids.model_ids", None, id_rule="gpt2"),
    _is(
        "transformers.generation.GenerationMixin._prepare_position_ids_for_generation",
        "position_ids.model_ids",
        None,
        id_rule="generate",
    ),
    *(
        _is(name, "position_ids.model_ids", None, id_rule="roberta")
        for name in (
            _FAIRSEQ + "learned_positional_embedding.LearnedPositionalEmbedding.forward",
            _M2M_100 + "create_position_ids_from_input_ids",
            _HF + "roberta.modeling_roberta.RobertaEmbeddings.forward",
        )
    ),
    _is(
        _HF + "roberta.modeling_roberta.RobertaEmbeddings (inputs_embeds)",
        "position_ids.column_ids",
        None,
        first=2,
    ),
    _is(
        _HF + "opt.modeling_opt.OPTLearnedPositionalEmbedding", "position_ids.model_ids", None, id_rule="opt"
    ),
    _is(
        _HF + "bart.modeling_bart.BartLearnedPositionalEmbedding",
        "position_ids.model_ids",
        None,
        id_rule="bart",
    ),
    *(
        _is(name, "interpolation.resize_grid", None, prefix=1, method="bicubic", antialias=False)
        for name in (
            _HF + "dinov2.modeling_dinov2.Dinov2Embeddings.interpolate_pos_encoding",
            _HF + "vit.modeling_vit.ViTEmbeddings.interpolate_pos_encoding",
        )
    ),
    _is(
        _TIMM + "pos_embed.resample_abs_pos_embed",
        "interpolation.resize_grid",
        None,
        prefix=1,
        method="bicubic",
        antialias=True,
    ),
    _is(
        _TIMM + "pos_embed_rel.resize_rel_pos_bias_table_simple",
        "interpolation.resize_grid",
        None,
        method="bicubic",
        antialias=False,
    ),
)
_ALL = (*_SINUSOIDS, *_GRIDS, *_ROTARIES, *_BIASES, *_OTHERS)
IMPLEMENTATIONS: Mapping[str, Implementation] = MappingProxyType({each.name: each for each in _ALL})
