"""Rotary embedding: rates, tables of cosines and sines, and rotated queries and keys."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc
from posenc import grid

Arguments = Mapping[str, Any]
Table = NDArray[np.floating]
Tables = dict[str, Table]


def inv_freq(a: Arguments) -> Tables:
    scaled = _of_config(a, a.get("seq_len"))
    return {"": scaled.inv_freq, "attention_scaling": np.array(scaled.attention_factor)}


def llama_cos_sin(a: Arguments) -> Tables:
    scaled = _of_config(a, _length(a["positions"]))
    return _cos_sin(posenc.angles(a["positions"], scaled.inv_freq), factor=scaled.attention_factor)


def llama_apply(a: Arguments, x: Table) -> Table:
    scaled = _of_config(a, _length(a["positions"]))
    return posenc.rotate(x, a["positions"], **scaled._asdict())


def gptj_apply(a: Arguments, x: Table) -> Table:
    return _by_length(x, a["positions"], rotary_dim=a["rotary_dim"], pairs="adjacent")


def neox_partial(a: Arguments, x: Table) -> Table:
    width = int(a["head_dim"] * a.get("partial_rotary_factor", 0.25))
    rates = posenc.unscaled(width, base=a.get("rope_theta", 10_000)).inv_freq
    return posenc.rotate(x, a["positions"], inv_freq=rates)


def roformer_apply(a: Arguments, x: Table) -> Table:
    return posenc.rotate(x, a["length"], pairs="adjacent")


def lucid_freqs(a: Arguments) -> Table:
    return posenc.per_feature(posenc.angles(a["positions"], _lucid_rates(a)), pairs="adjacent")


def lucid_rotate(a: Arguments, x: Table) -> Table:
    positions = (a.get("offset", 0) + np.arange(a["length"])) / a.get("interpolate_factor", 1)
    return posenc.rotate(x, positions, inv_freq=_lucid_rates(a), pairs="adjacent")


def lucid_xpos(a: Arguments, q: Table, k: Table) -> Tables:
    dim, length = a["dim"], a["length"]
    angles = posenc.angles(length, _lucid_rates(a))
    # Quirk: the scale is 1 in the middle of the sequence.
    middle = np.arange(length) - length // 2
    scale_base = a.get("xpos_scale_base", 512)
    return {
        name: posenc.turn(x, angles, pairs="adjacent", scale=posenc.xpos_scale(p, dim, scale_base=scale_base))
        for name, x, p in (("q_out", q, middle), ("k_out", k, -middle))
    }


def lucid_axial(a: Arguments) -> Table:
    dims = a["dims"]
    pixel = a.get("freqs_for", "lang") == "pixel"
    places = _mesh([np.linspace(-1, 1, n) if pixel else np.arange(n) for n in dims])
    angles = posenc.axial_angles(places, [_lucid_rates(a)] * len(dims))
    return posenc.per_feature(angles, pairs="adjacent")


def x_transformers(a: Arguments, x: Table) -> Tables:
    dim, length = a["dim"], a["length"]
    rates = posenc.ntk(dim, factor=a.get("base_rescale_factor", 1), base=a.get("base", 10_000)).inv_freq
    angles = posenc.angles(np.arange(length) / a.get("interpolation_factor", 1), rates)
    scale = np.ones_like(angles)
    if a.get("use_xpos", False):
        # Quirk: the scale is 1 in the middle of the sequence.
        middle = np.arange(length) - length // 2
        scale = posenc.xpos_scale(middle, dim, scale_base=a.get("scale_base", 512))
    return {
        "": posenc.turn(x, angles, pairs="adjacent", scale=scale),
        "freqs": posenc.per_feature(angles, pairs="adjacent"),
        "scale": posenc.per_feature(scale, pairs="adjacent"),
    }


def keras_hub(a: Arguments, x: Table) -> Tables:
    dim, kind, factor = a["d"], a.get("rope_type", "linear"), a.get("scaling_factor", 1)
    base, attention_factor = a.get("max_wavelength", 10_000), 1.0
    if kind == "dynamic":
        # Quirk: not the rates of another base; all pairs slow down alike, by factor^(d/(d − 2)).
        rates = posenc.linear(dim, factor=factor ** (dim / max(dim - 2, 1)), base=base).inv_freq
    elif kind == "yarn":
        rates, attention_factor = posenc.yarn(
            dim,
            factor=factor,
            original_max_position_embeddings=a.get("original_max_position_embeddings", 4096),
            base=base,
            beta_fast=a.get("beta_fast", 32),
            beta_slow=a.get("beta_slow", 1),
            truncate=a.get("truncate", True),
        )
    else:
        rates = posenc.linear(dim, factor=factor, base=base).inv_freq
    turned = _by_length(x, _places(a), inv_freq=rates, attention_factor=attention_factor)
    return {"": turned, "inv_freq": rates}


def keras_hub_longrope(a: Arguments, x: Table) -> Table:
    positions = _places(a)
    scaled = posenc.longrope(
        a["d"],
        short_factor=a["short_factor"],
        long_factor=a["long_factor"],
        original_max_position_embeddings=a["pretraining_sequence_length"],
        max_position_embeddings=a["max_sequence_length"],
        seq_len=_length(positions),
        base=a.get("max_wavelength", 10_000),
    )
    return _by_length(x, positions, **scaled._asdict())


def torchtune(a: Arguments, x: Table) -> Tables:
    rates = posenc.unscaled(a["dim"], base=a.get("base", 10_000)).inv_freq
    angles = posenc.angles(min(8, a.get("max_seq_len", 4096)), rates)  # the stored cache has eight positions
    return {
        "": _by_length(x, _places(a), inv_freq=rates, pairs="adjacent"),
        "cache": np.stack([np.cos(angles), np.sin(angles)], axis=-1),
    }


def torchtune_llama3(a: Arguments, x: Table) -> Tables:
    rates = posenc.llama3(
        a["dim"],
        factor=a.get("scale_factor", 8),
        low_freq_factor=a.get("low_freq_factor", 1),
        high_freq_factor=a.get("high_freq_factor", 4),
        original_max_position_embeddings=a.get("old_context_len", 8192),
        base=a.get("base", 500_000),
    ).inv_freq
    return {"": _by_length(x, _places(a), inv_freq=rates, pairs="adjacent"), "theta": rates}


def diffusers_1d(a: Arguments) -> Tables:
    # Quirk: the NTK factor multiplies the base as it is, without the power d/(d − 2).
    base = a.get("theta", 10_000) * a.get("ntk_factor", 1)
    rates = posenc.linear(a["dim"], factor=a.get("linear_factor", 1), base=base).inv_freq
    angles = posenc.angles(a["positions"], rates)
    layout = a["layout"]
    if layout == "complex":
        return {"cos": np.cos(angles), "sin": np.sin(angles)}
    return _cos_sin(angles, pairs="half_split" if layout == "halves" else "adjacent")


def diffusers_apply(a: Arguments, x: Table) -> Table:
    pairs = "adjacent" if a["unbind_dim"] == -1 else "half_split"
    return posenc.rotate(x, a["positions"], base=a.get("theta", 10_000), pairs=pairs)


def diffusers_2d(a: Arguments) -> Tables:
    rates = posenc.unscaled(a["embed_dim"] // 2).inv_freq
    # Quirk: the columns of x stand before those of y.
    angles = posenc.axial_angles(_mesh(_cropped(a))[..., ::-1], [rates, rates])
    return _cos_sin(angles.reshape(-1, angles.shape[-1]), pairs="adjacent")


def diffusers_3d(a: Arguments) -> Tables:
    theta, width = a.get("theta", 10_000), a["embed_dim"]
    # Quirk: a quarter of the width for time, three eighths for each of y and x.
    rates = [
        posenc.unscaled(share, base=theta).inv_freq for share in (width // 4, width // 8 * 3, width // 8 * 3)
    ]
    angles = posenc.axial_angles(_mesh([np.arange(a["temporal_size"]), *_cropped(a)]), rates)
    return _cos_sin(angles.reshape(-1, angles.shape[-1]), pairs="adjacent")


def qwen_mrope(a: Arguments) -> Tables:
    rates = posenc.unscaled(a["head_dim"], base=a["rope_theta"]).inv_freq
    interleaved = a["model"] == "qwen3_vl"
    return _cos_sin(
        posenc.section_angles(a["position_ids"], rates, a["mrope_section"], interleaved=interleaved)
    )


def qwen_index(a: Arguments) -> NDArray[np.int64]:
    merge, types, grids = a.get("spatial_merge_size", 2), list(a["token_types"]), iter(a["image_grid_thw"])
    found, place, start = [], 0, 0
    while place < len(types):
        if types[place]:
            t, height, width = next(grids)
            segment, step = (t, height // merge, width // merge), max(height, width) // merge
        else:
            segment, step = 1, 1
        ids = posenc.multimodal_positions([segment])
        # Quirk: the counter moves on by the height or the width, though a video may have more frames.
        found.append(start + ids)
        place, start = place + ids.shape[1], start + step
    return np.concatenate(found, axis=1)


def timm_axial(a: Arguments) -> Tables:
    shape, dim, in_pixels = a["feat_shape"], a.get("dim", 64), a.get("in_pixels", True)
    if in_pixels:
        spacing = "linear" if a.get("linear_bands", False) else "log"
        rates = grid.fourier_bands(dim // 4, a.get("max_res", 224), spacing=spacing)
        places = [np.linspace(-1, 1, n) for n in shape]
    else:
        rates = posenc.unscaled(dim // 2, base=a.get("temperature", 10_000)).inv_freq
        places = [np.arange(n) + a.get("grid_offset", 0.0) for n in shape]
    wanted = a.get("ref_feat_shape") or shape
    scaled = [place * new / old for place, new, old in zip(places, wanted, shape, strict=True)]
    angles = posenc.axial_angles(_mesh(scaled), [rates] * len(shape))
    pairs = "half_split" if a.get("rotate_half", False) else "adjacent"
    return _cos_sin(angles.reshape(-1, angles.shape[-1]), pairs=pairs)


def timm_dinov3(a: Arguments) -> Table:
    shape = a["feat_shape"]
    divisors = {"separate": shape, "max": [max(shape)] * 2, "min": [min(shape)] * 2}[
        a.get("normalize_coords", "separate")
    ]
    places = [2 * (np.arange(n) + 0.5) / by - 1 for n, by in zip(shape, divisors, strict=True)]
    # A whole turn over a period: 2π times the rates of half the width.
    rates = 2 * np.pi * posenc.unscaled(a["dim"] // 2, base=a.get("temperature", 100)).inv_freq
    angles = posenc.axial_angles(_mesh(places), [rates, rates])
    tables = _cos_sin(angles.reshape(-1, angles.shape[-1]))
    return np.concatenate([tables["sin"], tables["cos"]], axis=-1)


def _of_config(a: Arguments, seq_len: int | None) -> posenc.Scaled:
    """Read the arguments as what they are, a config."""
    keys = ("head_dim", "max_position_embeddings", "rope_parameters")
    return posenc.from_config({key: a[key] for key in keys}, seq_len=seq_len)


def _lucid_rates(a: Arguments) -> Table:
    if a.get("freqs_for", "lang") == "pixel":
        return grid.fourier_bands(a["dim"] // 2, a.get("max_freq", 10), spacing="linear")
    return posenc.ntk(a["dim"], factor=a.get("theta_rescale_factor", 1), base=a.get("theta", 10_000)).inv_freq


def _places(a: Arguments) -> NDArray[np.float64]:
    """Positions that are listed, or counted from a first one."""
    if a.get("positions") is not None:
        return np.asarray(a["positions"], dtype=np.float64)
    return a.get("start_index", 0) + np.arange(float(a["length"]))


def _length(positions: Any) -> int:
    return int(np.max(positions)) + 1


def _by_length(x: Table, positions: Any, **options: Any) -> Table:
    """Rotate what is stored as (length, heads, features)."""
    return posenc.rotate(np.swapaxes(x, 0, 1), positions, **options).swapaxes(0, 1)


def _cos_sin(angles: Table, *, pairs: str = "half_split", factor: float = 1.0) -> Tables:
    return {
        "cos": factor * posenc.per_feature(np.cos(angles), pairs=pairs),
        "sin": factor * posenc.per_feature(np.sin(angles), pairs=pairs),
    }


def _mesh(places: Sequence[Table]) -> Table:
    """Every combination of the places on each axis, the last fastest: (…, axes)."""
    return np.stack(np.meshgrid(*places, indexing="ij"), axis=-1)


def _cropped(a: Arguments) -> list[Table]:
    """The rows and columns of a grid laid over a crop, whose end it does not reach."""
    starts, stops = a["crops_coords"]
    return [
        np.linspace(start, stop * (n - 1) / n, n)
        for start, stop, n in zip(starts, stops, a["grid_size"], strict=True)
    ]


ADAPTERS: dict[str, Callable[..., Table | Tables | NDArray[np.int64]]] = {
    "rope.inv_freq": inv_freq,
    "rope.llama_cos_sin": llama_cos_sin,
    "rope.llama_apply": llama_apply,
    "rope.gptj_apply": gptj_apply,
    "rope.neox_partial": neox_partial,
    "rope.roformer_apply": roformer_apply,
    "rope.lucid_freqs": lucid_freqs,
    "rope.lucid_rotate": lucid_rotate,
    "rope.lucid_xpos": lucid_xpos,
    "rope.lucid_axial": lucid_axial,
    "rope.x_transformers": x_transformers,
    "rope.keras_hub": keras_hub,
    "rope.keras_hub_longrope": keras_hub_longrope,
    "rope.torchtune": torchtune,
    "rope.torchtune_llama3": torchtune_llama3,
    "rope.diffusers_1d": diffusers_1d,
    "rope.diffusers_apply": diffusers_apply,
    "rope.diffusers_2d": diffusers_2d,
    "rope.diffusers_3d": diffusers_3d,
    "rope.qwen_mrope": qwen_mrope,
    "rope.qwen_index": qwen_index,
    "rope.timm_axial": timm_axial,
    "rope.timm_dinov3": timm_dinov3,
}
