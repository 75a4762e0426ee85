"""Every encoding once: what it is, who made it, who uses it, how it is built, and what of it is learned.

Schemes of one kind are built alike, whatever they are made of:

    "absolute"  a table, added to the vectors of the tokens        build(positions, d_model) → (n, d_model)
    "rotary"    a rotation of queries and keys                     build(positions, head_dim) → `Rotation`
    "bias"      a number added to the score of a query and a key   build(positions, n_heads) → (n_heads, n, n)
    "grid"      a table, as above, of the cells of a grid          build(shape, d_model) → (n, d_model)

With `axes` above 1 positions are a shape such as (height, width), and its n cells are row-major. What is
learned is drawn from a seed, as it is before any training. `posenc.implementations` says which scheme a
library's function is.

Letters: i, j position of a query and of a key, p any position, h a head, n positions, m pairs of features.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from posenc import formulas
from posenc.arrays import Floats
from posenc.bias import HIDDEN, fire, fire_network, nope, offset_matrix
from posenc.buckets import bucket_bias
from posenc.grid import GRID_FORMS, fourier_bands, fourier_features, grid_cells, mixed_vectors, split_width
from posenc.learned import SEED, extend, random_init
from posenc.parameters import (
    BUCKET_SIZE,
    LEFT,
    N_HEADS,
    NUM_BUCKETS,
    RIGHT,
    Choice,
    Positions,
    check_positions,
)
from posenc.profiles import offset_bias
from posenc.rotary import angles, axial_angles, multimodal_positions, section_angles, xpos_scale
from posenc.scaling import ROPE_TYPES
from posenc.sinusoidal import inv_freq, sinusoidal
from posenc.sources import SOURCES, Source
from posenc.windows import swin_index, swin_log_coords

Kind = Literal["absolute", "rotary", "bias", "grid"]
# What becomes of positions past those of the training.
Extrapolates = Literal[
    "refused",  # there is no row for them
    "unseen",  # they have a code, of which the model has seen nothing
    "rescaled",  # they are moved into the range that it has seen
    "fading",  # scores fall on with the distance
    "clipped",  # far distances share one value
    "relative_to_length",  # positions are measured by the length of the sequence
    "resized",  # the table is stretched to the new size
    "none",  # there are no positions
]
_UNITS = 512  # of the network of Swin V2
KINDS: tuple[Kind, ...] = ("absolute", "rotary", "bias", "grid")


class Sizes(NamedTuple):
    """What decides how many numbers are learned: those of BERT base, and a window of Swin."""

    max_len: int = 512
    d_model: int = 768
    n_heads: int = 12
    height: int = 7
    width: int = 7


class Rotation(NamedTuple):
    """How queries and keys turn: pair i of position p by `angles`, times the scale of each.

    `angles` (n, m) radians; `query_scale` and `key_scale` (n, m), 1 for plain rotary embedding.
    """

    angles: Floats
    query_scale: Floats
    key_scale: Floats


@dataclass(frozen=True)
class Scheme:
    """One positional encoding.

    Parameters
    ----------
    name
        Its key.
    kind
        What it acts on: see `posenc.registry`.
    formula
        LaTeX, in the letters of the module that computes it.
    source
        Key of `posenc.sources.SOURCES`.
    used_by
        Well-known models.
    functions
        Names in `posenc` of what computes it, the main one first.
    parameters
        Names of the keywords of `build` that shape it.
    n_learned
        How many numbers of it are learned in a model of these `Sizes`, for one layer.
    extrapolates
        What becomes of positions past those of the training.
    relative
        Whether the score of two positions depends on their offset alone.
    build
        Called with positions (a number, an array, or with several axes a shape), and the width or number of
        heads of its kind.
    axes
        Number of coordinates of a position.
    """

    name: str
    kind: Kind
    formula: str
    source: str
    used_by: tuple[str, ...]
    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    n_learned: Callable[[Sizes], int]
    extrapolates: Extrapolates
    relative: bool
    build: Callable[..., Any]
    axes: int = 1

    @property
    def paper(self) -> Source:
        """Who, what, where."""
        return SOURCES[self.source]

    @property
    def year(self) -> int:
        """When it was published."""
        return self.paper.year


def position_scores(scheme: str, positions: Positions | Sequence[int], size: int, **options: Any) -> Floats:
    """Return what positions alone make of every score, the measure on which all schemes can be compared.

    Of a table PE(i)·PE(j); of a rotation the score of a query and a key of ones, ⟨R_i 1, R_j 1⟩; of a bias
    the bias itself.

    Parameters
    ----------
    scheme
        A key of `SCHEMES`.
    positions
        A number n or an array; with several axes a shape, whose cells are row-major.
    size
        `d_model`, `head_dim` or `n_heads`: see `posenc.registry`.
    options
        The scheme's `parameters`, by name.

    Returns
    -------
    (heads, n, n) float64: `n_heads` matrices of a bias, else one

    Raises
    ------
    ValueError
        If there is no such scheme, or for an argument outside its limits.
    """
    built = SCHEMES[SCHEME.check(scheme)].build(positions, size, **options)
    if isinstance(built, Rotation):
        turns = np.exp(1j * built.angles)
        scores = 2 * ((built.query_scale * turns) @ (built.key_scale * turns).conj().T).real
        return np.asarray(scores)[np.newaxis]
    table = np.asarray(built, dtype=np.float64)
    return table if table.ndim == 3 else (table @ table.T)[np.newaxis]


def _nothing(sizes: Sizes) -> int:
    return 0


# How each is built


def _sinusoidal(positions: Positions, d_model: int, **options: Any) -> Floats:
    return sinusoidal(positions, d_model, dtype=np.float64, **options).astype(np.float64, copy=False)


def _learned(positions: Positions, d_model: int, *, max_len: int = 512, seed: int = SEED.default) -> Floats:
    given = check_positions(positions)
    rows = np.arange(given) if isinstance(given, int) else given.astype(np.int64)
    table = extend(random_init(max_len, d_model, seed=seed), int(rows.max()) + 1, how="refuse")
    return np.asarray(table, dtype=np.float64)[rows]


def _rotation(turned: Floats, factor: float = 1.0) -> Rotation:
    scale = np.full_like(turned, factor)
    return Rotation(turned, scale, scale)


def _rotary(method: str, **usual: Any) -> Callable[..., Rotation]:
    """Return the builder of a method of `posenc.scaling`, with published values where it has no defaults."""

    def build(positions: Positions, head_dim: int, **options: Any) -> Rotation:
        rates, factor = ROPE_TYPES[method](head_dim, **(usual | options))
        return _rotation(angles(positions, rates), factor)

    return build


def _longrope(positions: Positions, head_dim: int, *, seq_len: int = 131_072, **options: Any) -> Rotation:
    """LongRoPE with divisors that rise evenly, since those of a model are found by a search."""
    even = np.linspace(1, 32, head_dim // 2).tolist()
    usual = {
        "short_factor": [1.0] * len(even),
        "long_factor": even,
        "original_max_position_embeddings": 4096,
        "max_position_embeddings": 131_072,
    }
    rates, factor = ROPE_TYPES["longrope"](head_dim, seq_len=seq_len, **(usual | options))
    return _rotation(angles(positions, rates), factor)


def _xpos(positions: Positions, head_dim: int, *, base: float = 10_000.0, **options: Any) -> Rotation:
    turned, scale = (
        angles(positions, inv_freq(head_dim, base=base)),
        xpos_scale(positions, head_dim, **options),
    )
    return Rotation(turned, scale, 1 / scale)


def _multimodal(
    shape: Sequence[int],
    head_dim: int,
    *,
    base: float = 10_000.0,
    sections: Sequence[int] | None = None,
    interleaved: bool = False,
) -> Rotation:
    """Qwen2-VL's own sections are 2/8, 3/8 and 3/8 of the pairs."""
    thirds = split_width(head_dim, (2, 3, 3)) if sections is None else [2 * pairs for pairs in sections]
    ids = multimodal_positions([(1,) * (3 - len(shape)) + tuple(shape)])
    pairs = [width // 2 for width in thirds]
    return _rotation(section_angles(ids, inv_freq(head_dim, base=base), pairs, interleaved=interleaved))


def _axial(shape: Sequence[int], head_dim: int, *, base: float = 100.0) -> Rotation:
    rates = [inv_freq(width, base=base) for width in split_width(head_dim, (1,) * len(shape))]
    return _rotation(axial_angles(_cells(shape), rates))


def _mixed(shape: Sequence[int], head_dim: int, *, base: float = 10.0, angle: float = 0.5) -> Rotation:
    return _rotation(_cells(shape) @ mixed_vectors(head_dim, angle, base=base))


def _profile(bias: str) -> Callable[..., Floats]:
    """Return the builder of a bias of the offset: each offset that occurs is asked for once."""

    def build(positions: Positions, n_heads: int, **options: Any) -> Floats:
        offsets = offset_matrix(positions, positions)
        found, place = np.unique(offsets, return_inverse=True)
        return offset_bias(bias, found, n_heads, **options)[:, place.reshape(offsets.shape)]

    return build


def _nope(positions: Positions, n_heads: int) -> Floats:
    return nope(n_heads, positions, positions)


def _fire(positions: Positions, n_heads: int, *, seed: int = SEED.default, **options: Any) -> Floats:
    return fire(positions, positions, fire_network(n_heads, seed=seed).__call__, **options)


def _swin(shape: Sequence[int], n_heads: int, *, seed: int = SEED.default) -> Floats:
    height, width = shape
    table = random_init((2 * height - 1) * (2 * width - 1), N_HEADS.check(n_heads), seed=seed)
    return bucket_bias(table, swin_index(height, width))


def _swin_v2(
    shape: Sequence[int], n_heads: int, *, trained: Sequence[int] | None = None, seed: int = SEED.default
) -> Floats:
    """16·σ(g(Δ)), g a network of one hidden layer, as in the paper's code."""
    height, width = shape
    coordinates = swin_log_coords(height, width, trained=trained).reshape(-1, 2)
    random = np.random.default_rng(SEED.check(seed))
    first, shift = random.uniform(-1, 1, (2, _UNITS)) / np.sqrt(2), random.uniform(-1, 1, _UNITS) / np.sqrt(2)
    second = random.uniform(-1, 1, (_UNITS, N_HEADS.check(n_heads))) / np.sqrt(_UNITS)
    table = 16 / (1 + np.exp(-np.maximum(coordinates @ first + shift, 0) @ second))
    return bucket_bias(table, swin_index(height, width))


def _form(name: str) -> Callable[..., Floats]:
    """Return the builder of a form of `posenc.grid.GRID_FORMS`."""

    def build(shape: Sequence[int], d_model: int, **options: Any) -> Floats:
        table = GRID_FORMS[name].table(shape, d_model, dtype=np.float64, **options)
        return np.asarray(table, dtype=np.float64).reshape(-1, d_model)

    return build


def _fourier(shape: Sequence[int], d_model: int, *, max_res: float = 224.0, spacing: str = "log") -> Floats:
    widths = split_width(d_model, (1,) * len(shape))
    places = grid_cells(shape, first=-1, step=[2 / max(n - 1, 1) for n in shape])
    bands = fourier_bands(widths[0] // 2, max_res, spacing=spacing)
    return np.concatenate(fourier_features(places, bands), axis=-1).reshape(-1, d_model)


def _cells(shape: Sequence[int]) -> Floats:
    return grid_cells(shape).reshape(-1, len(shape))


_ROTARY = (
    r"\begin{aligned}a_i'&=a_i\cos p\omega_i-b_i\sin p\omega_i\\b_i'&=b_i\cos p\omega_i+a_i\sin p\omega_i"
    r"\end{aligned}\qquad\omega_i=\mathrm{base}^{-2i/d}"
)

_ALL = (
    Scheme(
        "sinusoidal",
        "absolute",
        formulas.SINUSOID,
        "vaswani2017",
        ("Transformer", "M2M-100", "Marian", "Pegasus", "Whisper encoder"),
        ("sinusoidal", "inv_freq"),
        ("base", "layout", "freq_shift"),
        _nothing,
        "unseen",
        True,
        _sinusoidal,
    ),
    Scheme(
        "learned",
        "absolute",
        formulas.LEARNED,
        "gehring2017",
        ("BERT", "GPT-2", "RoBERTa", "OPT", "BART", "ViT", "CLIP"),
        ("random_init", "extend", "resize"),
        ("max_len", "seed"),
        lambda s: s.max_len * s.d_model,
        "refused",
        False,
        _learned,
    ),
    Scheme(
        "rotary",
        "rotary",
        _ROTARY,
        "su2021",
        ("RoFormer", "GPT-J", "GPT-NeoX", "PaLM", "Llama", "Mistral", "Qwen2", "Gemma"),
        ("rotate", "turn", "angles", "score"),
        ("base",),
        _nothing,
        "unseen",
        True,
        _rotary("default"),
    ),
    Scheme(
        "xpos",
        "rotary",
        r"\langle q,k\rangle_{i-j}=\sum_l\zeta_l^{\,(i-j)/s}\,|q_l|\,|k_l|\,"
        r"\cos\bigl((i-j)\,\omega_l+\varphi_l\bigr)"
        r",\qquad\zeta_l=\frac{2l/d+\gamma}{1+\gamma}",
        "sun2022",
        ("RetNet",),
        ("xpos_scale", "turn", "score"),
        ("base", "scale_base", "gamma"),
        _nothing,
        "fading",
        True,
        _xpos,
    ),
    Scheme(
        "linear",
        "rotary",
        r"\omega_i'=\omega_i\,/\,s",
        "chen2023",
        ("LongLoRA", "Vicuna 16k", "Gemma 3"),
        ("linear", "rotate"),
        ("base", "factor"),
        _nothing,
        "rescaled",
        True,
        _rotary("linear", factor=4.0),
    ),
    Scheme(
        "ntk",
        "rotary",
        r"\omega_i'=\omega_i\,s^{-2i/(d-2)}",
        "bloc97",
        (),
        ("ntk", "rotate"),
        ("base", "factor"),
        _nothing,
        "rescaled",
        True,
        _rotary("ntk", factor=4.0),
    ),
    Scheme(
        "dynamic",
        "rotary",
        r"\omega_i'=\omega_i\,\Bigl(s\,\frac LM-(s-1)\Bigr)^{-2i/(d-2)}\quad\text{if }L>M",
        "emozilla2023",
        ("InternLM2.5",),
        ("dynamic_ntk", "rotate"),
        ("base", "factor", "max_position_embeddings", "seq_len"),
        _nothing,
        "rescaled",
        True,
        _rotary("dynamic", factor=2.0, max_position_embeddings=32_768, seq_len=131_072),
    ),
    Scheme(
        "yarn",
        "rotary",
        r"\omega_i'=(1-r_i)\,\omega_i+r_i\,\omega_i/s,\qquad f=0.1\ln s+1",
        "peng2023",
        ("Yarn-Llama-2", "Qwen2.5", "DeepSeek-V3", "gpt-oss"),
        ("yarn", "yarn_ramp", "yarn_attention_factor", "rotate"),
        (
            "base",
            "factor",
            "original_max_position_embeddings",
            "beta_fast",
            "beta_slow",
            "truncate",
            "attention_factor",
            "mscale",
            "mscale_all_dim",
        ),
        _nothing,
        "rescaled",
        True,
        _rotary("yarn", factor=4.0, original_max_position_embeddings=32_768),
    ),
    Scheme(
        "longrope",
        "rotary",
        r"\omega_i'=\omega_i\,/\,\lambda_i,\qquad f=\sqrt{1+\ln s\,/\ln O}",
        "ding2024",
        ("Phi-3-mini-128k", "Phi-4-mini"),
        ("longrope", "rotate"),
        (
            "base",
            "short_factor",
            "long_factor",
            "original_max_position_embeddings",
            "max_position_embeddings",
            "factor",
            "attention_factor",
            "seq_len",
        ),
        _nothing,
        "rescaled",
        True,
        _longrope,
    ),
    Scheme(
        "llama3",
        "rotary",
        r"\omega_i'=(1-t_i)\,\frac{\omega_i}{s}+t_i\,\omega_i,\qquad "
        r"t_i=\mathrm{clip}\Bigl(\frac{O\,\omega_i/2\pi-l}{h-l},\,0,\,1\Bigr)",
        "meta2024",
        ("Llama 3.1", "Llama 3.2", "Llama 3.3"),
        ("llama3", "rotate"),
        ("base", "factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
        _nothing,
        "rescaled",
        True,
        _rotary(
            "llama3",
            base=500_000.0,
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=8192,
        ),
    ),
    Scheme(
        "proportional",
        "rotary",
        r"\omega_i'=\begin{cases}\mathrm{base}^{-2i/d}/s&i<\lfloor\rho\,d/2\rfloor\\0&\text{else}\end{cases}",
        "barbero2025",
        ("Gemma 4",),
        ("proportional", "rotate"),
        ("base", "factor", "partial_rotary_factor"),
        _nothing,
        "unseen",
        True,
        _rotary("proportional", base=1_000_000.0, partial_rotary_factor=0.25),
    ),
    Scheme(
        "multimodal_rotary",
        "rotary",
        r"\theta_i=p_{a(i)}\,\omega_i,\qquad a(i)\in\{t,\,h,\,w\}",
        "wang2024qwen",
        ("Qwen2-VL", "Qwen2.5-VL", "Qwen3-VL"),
        ("section_angles", "multimodal_positions", "turn"),
        ("base", "sections", "interleaved"),
        _nothing,
        "unseen",
        True,
        _multimodal,
        axes=2,
    ),
    Scheme(
        "axial_rotary",
        "rotary",
        r"\theta=\bigl[\,y\,\omega\;\big|\;x\,\omega\,\bigr],\qquad\omega_i=\mathrm{base}^{-4i/d}",
        "heo2024",
        ("EVA-02", "Pixtral", "DINOv3"),
        ("axial_angles", "turn"),
        ("base",),
        _nothing,
        "unseen",
        True,
        _axial,
        axes=2,
    ),
    Scheme(
        "mixed_rotary",
        "rotary",
        r"\theta_i=k_i\cdot(y,x),\qquad k_i\in\mathbb R^2",
        "heo2024",
        ("RoPE-ViT",),
        ("mixed_vectors", "turn"),
        ("base", "angle"),
        lambda s: s.d_model,  # (2, head_dim/2) in each head
        "unseen",
        True,
        _mixed,
        axes=2,
    ),
    Scheme(
        "none",
        "bias",
        r"b_h(i,j)=0",
        "kazemnejad2023",
        ("Llama 4 (1 of 4 layers)", "SmolLM3 (1 of 4 layers)"),
        ("nope",),
        (),
        _nothing,
        "none",
        True,
        _nope,
    ),
    Scheme(
        "alibi",
        "bias",
        r"b_h(i,j)=-m_h\,|i-j|,\qquad m_h=2^{-8h/H}",
        "press2022alibi",
        ("BLOOM", "MPT", "Baichuan-13B"),
        ("alibi", "alibi_slopes"),
        ("bias_max", "symmetric"),
        _nothing,
        "fading",
        True,
        _profile("alibi"),
    ),
    Scheme(
        "t5",
        "bias",
        r"b_h(i,j)=T_{\,\mathrm{bucket}(j-i),\,h}",
        "raffel2020",
        ("T5", "mT5", "Flan-T5"),
        ("t5_bucket", "bucket_bias"),
        ("table", "bidirectional", "num_buckets", "max_distance", "seed"),
        lambda s: NUM_BUCKETS.default * s.n_heads,
        "clipped",
        True,
        _profile("t5"),
    ),
    Scheme(
        "shaw",
        "bias",
        r"b_h(i,j)=\frac{q_i\cdot a_{\,\mathrm{clip}(j-i,\,-k,\,k)}}{\sqrt d}",
        "shaw2018",
        ("Music Transformer", "Wav2Vec2-BERT"),
        ("clipped_distance", "relative_key_scores"),
        ("table", "left", "right", "seed"),
        lambda s: (LEFT.default + 1 + RIGHT.default) * (s.d_model // s.n_heads),  # the same in every head
        "clipped",
        True,
        _profile("shaw"),
    ),
    Scheme(
        "deberta",
        "bias",
        r"b_h(i,j)=\frac{q_i\cdot k^r_{\delta(i,j)}+k_j\cdot q^r_{\delta(j,i)}}{\sqrt{3d}}",
        "he2021",
        ("DeBERTa-v2", "DeBERTa-v3"),
        ("deberta_bucket",),
        ("table", "bucket_size", "max_position", "seed"),
        lambda s: 2 * BUCKET_SIZE.default * s.d_model,
        "clipped",
        True,
        _profile("deberta"),
    ),
    Scheme(
        "kerple_log",
        "bias",
        r"b_h(i,j)=-r_1\ln\bigl(1+r_2\,|i-j|\bigr)",
        "chi2022",
        (),
        ("kerple_log",),
        ("r1", "r2"),
        lambda s: 2 * s.n_heads,
        "fading",
        True,
        _profile("kerple_log"),
    ),
    Scheme(
        "kerple_power",
        "bias",
        r"b_h(i,j)=-r_1\,|i-j|^{\,r_2}",
        "chi2022",
        (),
        ("kerple_power",),
        ("r1", "r2"),
        lambda s: 2 * s.n_heads,
        "fading",
        True,
        _profile("kerple_power"),
    ),
    Scheme(
        "sandwich",
        "bias",
        r"b_h(i,j)=\frac{H}{8h}\Bigl(\sum_{l=1}^{d/2}\cos\frac{i-j}{\mathrm{base}^{2l/d}}-\frac d2\Bigr)",
        "chi2023",
        (),
        ("sandwich",),
        ("d_model", "base"),
        _nothing,
        "fading",
        True,
        _profile("sandwich"),
    ),
    Scheme(
        "fire",
        "bias",
        r"b_h(i,j)=f_h\Bigl(\frac{\psi(|i-j|)}{\psi(\max(L,i))}\Bigr),\qquad\psi(x)=\ln(cx+1)",
        "li2024",
        (),
        ("fire", "fire_network"),
        ("c", "threshold", "seed"),
        lambda s: HIDDEN.default * (2 + s.n_heads) + s.n_heads + 2,  # f, c and L
        "relative_to_length",
        False,
        _fire,
    ),
    Scheme(
        "swin",
        "bias",
        r"b_h(i,j)=B_{\,(y_i-y_j,\;x_i-x_j),\,h}",
        "liu2021",
        ("Swin", "BEiT"),
        ("swin_index", "bucket_bias"),
        ("seed",),
        lambda s: (2 * s.height - 1) * (2 * s.width - 1) * s.n_heads,
        "resized",
        True,
        _swin,
        axes=2,
    ),
    Scheme(
        "swin_v2",
        "bias",
        r"b_h(i,j)=16\,\sigma\bigl(g_h(\widehat{\Delta y},\widehat{\Delta x})\bigr),\qquad"
        r"\widehat{\Delta}=\mathrm{sign}(\Delta)\ln\bigl(1+|\Delta|\bigr)",
        "liu2022",
        ("Swin V2",),
        ("swin_log_coords", "swin_index", "bucket_bias"),
        ("trained", "seed"),
        lambda s: _UNITS * (3 + s.n_heads),
        "relative_to_length",
        True,
        _swin_v2,
        axes=2,
    ),
    Scheme(
        "grid",
        "grid",
        r"\mathrm{PE}(y,x)=\bigl[\,\mathrm{PE}(x)\;\big|\;\mathrm{PE}(y)\,\bigr]",
        "he2022",
        ("MAE", "DiT", "MoCo v3"),
        ("grid_sinusoidal", "split_width", "grid_cells"),
        ("base",),
        _nothing,
        "unseen",
        True,
        _form("mae"),
        axes=2,
    ),
    Scheme(
        "detr",
        "grid",
        r"\mathrm{PE}(y,x)=\Bigl[\,\mathrm{PE}\Bigl(2\pi\frac{y+1}{H}\Bigr)\;\Big|\;"
        r"\mathrm{PE}\Bigl(2\pi\frac{x+1}{W}\Bigr)\,\Bigr]",
        "carion2020",
        ("DETR", "Deformable DETR", "MaskFormer"),
        ("grid_sinusoidal", "normalised_cells", "valid_counts"),
        ("base",),
        _nothing,
        "relative_to_length",
        True,
        _form("detr"),
        axes=2,
    ),
    Scheme(
        "video",
        "grid",
        r"\mathrm{PE}(t,y,x)=\bigl[\,\mathrm{PE}(t)\;\big|\;\mathrm{PE}(x)\;\big|\;\mathrm{PE}(y)\,\bigr]",
        "yang2024",
        ("CogVideoX-2B",),
        ("grid_sinusoidal", "split_width", "grid_cells"),
        ("base",),
        _nothing,
        "unseen",
        True,
        _form("cogvideox"),
        axes=3,
    ),
    Scheme(
        "fourier",
        "grid",
        r"\mathrm{PE}(c)=\bigl[\,\sin(c\,f_k)\;\big|\;\cos(c\,f_k)\,\bigr],\qquad c\in[-1,1]",
        "tancik2020",
        ("Perceiver", "Perceiver IO"),
        ("fourier_features", "fourier_bands"),
        ("max_res", "spacing"),
        _nothing,
        "relative_to_length",
        True,
        _fourier,
        axes=2,
    ),
)
SCHEMES: Mapping[str, Scheme] = MappingProxyType({scheme.name: scheme for scheme in _ALL})
SCHEME: Choice[str] = Choice("scheme", tuple(SCHEMES))
