"""Tables of sines and cosines over one axis of positions."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc

Arguments = Mapping[str, Any]
Table = NDArray[np.floating]


def keras_hub(a: Arguments) -> Table:
    positions = a.get("positions")
    if positions is None:
        positions = a.get("start_index", 0) + np.arange(a["length"])
    return _sinusoid(positions, a["d_model"], base=a["max_wavelength"], dtype=a.get("dtype"))


def positional_encodings_1d(a: Arguments) -> Table:
    # Quirk: an odd width is cut from the table of the next even width, so its divisor is d + 1.
    d_model = a["d_model"]
    return _sinusoid(a["length"], d_model + d_model % 2)[:, :d_model]


def interleaved(a: Arguments) -> Table:
    return _sinusoid(a["length"], a["d_model"])


def half_split(a: Arguments) -> Table:
    return _sinusoid(a["length"], a["d_model"], layout="sin_cos", dtype=a.get("dtype"))


def fairseq_table(a: Arguments) -> Table:
    table = _sinusoid(a["length"], a["d_model"], layout="sin_cos", freq_shift=1)
    # Quirk: the row of the padding index is blanked, though the position of that number has a code.
    if a["padding_idx"] is not None:
        table[a["padding_idx"] : a["padding_idx"] + 1] = 0
    return table


def fairseq_lookup(a: Arguments) -> Table:
    pad, cache = a["padding_idx"], a["cache_length"]
    real = np.array(a["input_ids"]) != pad
    count = real.cumsum(axis=1)
    # Quirk: three ports of one function treat the tokens already cached in three ways.
    shift = {"fairseq": 0, "fsmt": cache, "m2m_100": cache * real}[a["impl"]]
    index = pad + real * count + shift  # (batch, sequence)
    rows = _sinusoid(index.ravel(), a["d_model"], layout="sin_cos", freq_shift=1)
    rows[index.ravel() == pad] = 0
    return rows.reshape(*index.shape, a["d_model"])


def whisper(a: Arguments) -> Table:
    return _sinusoid(a["length"], a["channels"], base=a["max_timescale"], layout="sin_cos", freq_shift=1)


def timesfm(a: Arguments) -> Table:
    positions = a.get("positions")
    if positions is None:
        positions = np.arange(a["length"])
    # Quirk: min_timescale multiplies every rate, so it is a largest rate and not a wavelength.
    shortest, longest = a["min_timescale"], a["max_timescale"]
    scaled = np.asarray(positions, dtype=np.float64) * shortest
    return _sinusoid(scaled, a["d_model"], base=longest / shortest, layout="sin_cos", freq_shift=1)


def diffusers_timestep(a: Arguments) -> Table:
    half, odd = divmod(a["embedding_dim"], 2)
    layout = "cos_sin" if a["flip_sin_to_cos"] else "sin_cos"
    base, shift = a["max_period"], a["downscale_freq_shift"]
    if half in (0, shift):
        # Quirk: the exponent is 0/0, where tensor2tensor divides by at least 1.
        waves = np.full((len(a["timesteps"]), 2 * half), np.nan)
    else:
        if shift not in posenc.FREQ_SHIFT.options:
            # Quirk: any shift is taken; base^(−i/(h − shift)) is a rate of the paper with another base.
            base, shift = base ** (half / (half - shift)), 0
        scaled = a["scale"] * np.asarray(a["timesteps"], dtype=np.float64)
        waves = _sinusoid(scaled, 2 * half, base=base, layout=layout, freq_shift=shift)
    # Quirk: an odd width ends in zeros for either shift.
    return np.pad(waves, ((0, 0), (0, odd)))


def diffusers_1d(a: Arguments) -> Table:
    return _sinusoid(a["positions"], a["embed_dim"], layout="cos_sin" if a["flip_sin_to_cos"] else "sin_cos")


def x_transformers_scaled(a: Arguments) -> Table:
    positions = a["offset"] + np.arange(a["length"])
    # Quirk: a learned factor stands before the table, d^(−1/2) at the start.
    return _sinusoid(positions, a["d_model"], base=a["theta"], layout="sin_cos") * a["d_model"] ** -0.5


def gptj_table(a: Arguments) -> Table:
    return _sinusoid(a["length"], a["dim"], layout="sin_cos")


def xlnet_relative(a: Arguments) -> Table:
    last = -a["qlen"] if a["attn_type"] == "bi" else -1
    positions = np.arange(a["klen"], last, -1)
    if a["clamp_len"] > 0:
        positions = positions.clip(-a["clamp_len"], a["clamp_len"])
    return _sinusoid(positions, a["d_model"], layout="sin_cos")


def conformer_relative(a: Arguments) -> Table:
    return _sinusoid(np.arange(a["length"] - 1, -a["length"], -1), a["d_model"])


def _sinusoid(positions: Any, d_model: int, *, dtype: str | None = None, **options: Any) -> Table:
    """The core's table in the dtype that is named, in float64 where none is or the core has no such dtype."""
    known = dtype if dtype in ("float16", "float32", "float64") else np.float64
    return posenc.sinusoidal(positions, d_model, dtype=known, **options)


ADAPTERS: dict[str, Callable[[Arguments], Table]] = {
    "sin.keras_hub": keras_hub,
    "sin.positional_encodings_1d": positional_encodings_1d,
    "sin.diffusers_tutorial": interleaved,
    "sin.videomae": interleaved,
    "sin.xlm": interleaved,
    "sin.marian": half_split,
    "sin.ctrl": half_split,
    "sin.fairseq_table": fairseq_table,
    "sin.fairseq_lookup": fairseq_lookup,
    "sin.whisper": whisper,
    "sin.timesfm": timesfm,
    "sin.diffusers_timestep": diffusers_timestep,
    "sin.diffusers_1d": diffusers_1d,
    "sin.x_transformers_scaled": x_transformers_scaled,
    "sin.gptj_table": gptj_table,
    "sin.xlnet_relative": xlnet_relative,
    "sin.conformer_relative": conformer_relative,
}
