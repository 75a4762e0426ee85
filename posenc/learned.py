"""Position tables that models learned, what to compare them with, and ways past their last row."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc.arrays import Floats, check_array, check_finite, check_table
from posenc.interpolation import resize
from posenc.parameters import D_MODEL, SEQ_LEN, Choice, Integer, Real

STD = Real("std", default=0.02, minimum=0.0, maximum=1e6)
SEED = Integer("seed", default=0, minimum=0, maximum=2**63 - 1)
HOW: Choice[str] = Choice("how", ("refuse", "repeat", "interpolate"))
N_PAIRS = Integer("n_pairs", default=5, minimum=1, maximum=64)
RATIO = Real("ratio", default=3.0, minimum=1.0, maximum=100.0)

# The rows of the MiniLM table that are waves: before 129 and after 508 it breaks.
LADDER_ROWS = slice(129, 509)


@dataclass(frozen=True)
class LearnedTable:
    """One bundled table: where it comes from and what it is.

    `rows` and `d_model` are those of the bundled array; `max_len` is the number of rows in the model.
    """

    name: str
    title: str
    model: str
    file: str
    rows: int
    d_model: int
    max_len: int
    dtype: Literal["float16", "float32"]
    licence: str
    source: str
    kind: Literal["learned", "sinusoid"]

    @property
    def parameters(self) -> int:
        """Numbers in the model's table, max_len × d_model."""
        return self.max_len * self.d_model


LEARNED: Mapping[str, LearnedTable] = MappingProxyType(
    {
        table.name: table
        for table in (
            LearnedTable(
                name="minilm_l6",
                title="MiniLM-L6",
                model="sentence-transformers/all-MiniLM-L6-v2",
                file="minilm_l6_position_512x384_f32.npy",
                rows=512,
                d_model=384,
                max_len=512,
                dtype="float32",
                licence="Apache-2.0",
                source="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
                kind="learned",
            ),
            LearnedTable(
                name="me5_small",
                title="multilingual-E5-small",
                model="intfloat/multilingual-e5-small",
                file="me5_small_position_512x384_f16.npy",
                rows=512,
                d_model=384,
                max_len=512,
                dtype="float16",
                licence="MIT",
                source="https://arxiv.org/abs/2402.05672",
                kind="learned",
            ),
            LearnedTable(
                name="whisper_encoder",
                title="Whisper tiny.en encoder",
                model="openai/whisper tiny.en",
                file="whisper_tiny_en_encoder_position_first448_f16.npy",
                rows=448,
                d_model=384,
                max_len=1500,
                dtype="float16",
                licence="MIT",
                source="https://arxiv.org/abs/2212.04356",
                kind="sinusoid",
            ),
            LearnedTable(
                name="whisper_decoder",
                title="Whisper tiny.en decoder",
                model="openai/whisper tiny.en",
                file="whisper_tiny_en_decoder_position_448x384_f16.npy",
                rows=448,
                d_model=384,
                max_len=448,
                dtype="float16",
                licence="MIT",
                source="https://arxiv.org/abs/2212.04356",
                kind="learned",
            ),
            LearnedTable(
                name="rxnmapper",
                title="RXNMapper",
                model="rxnmapper albert_heads_8_uspto_all_1310k",
                file="rxnmapper_albert_position_512x128_f32.npy",
                rows=512,
                d_model=128,
                max_len=512,
                dtype="float32",
                licence="MIT",
                source="https://github.com/rxn4chemistry/rxnmapper",
                kind="learned",
            ),
        )
    }
)


@lru_cache(maxsize=16)  # all there are, 4 MB; two threads that read an array's header at once can also fail
def read_array(file: str) -> NDArray[np.float32]:
    """Read one bundled array as float32 (exact for float16); it is read-only, so that it can be shared."""
    with (files("posenc") / "data" / file).open("rb") as stream:
        array: NDArray[np.float32] = np.load(stream, allow_pickle=False).astype(np.float32)
    array.flags.writeable = False
    return array


def load(name: str) -> NDArray[np.float32]:
    """Return the bundled position table `name`.

    Parameters
    ----------
    name
        A key of `LEARNED`.

    Returns
    -------
    (rows, d_model) float32, read-only; float16 tables are widened without loss.

    Raises
    ------
    ValueError
        If there is no such table.
    """
    return read_array(LEARNED[Choice("name", tuple(LEARNED)).check(name)].file)


def random_init(
    n: int, d_model: int, *, std: float = STD.default, seed: int = SEED.default
) -> NDArray[np.float32]:
    """Draw a table as BERT and GPT-2 start from, before any training: N(0, std²) → (n, d_model) float32.

    Parameters
    ----------
    n, d_model
        Rows (positions) and columns.
    std
        Standard deviation.
    seed
        The same seed gives the same table.
    """
    shape = (SEQ_LEN.check(n), D_MODEL.check(d_model))
    values = np.random.default_rng(SEED.check(seed)).normal(0.0, STD.check(std), shape)
    return values.astype(np.float32)


def shuffle_rows(table: ArrayLike, seed: int = SEED.default) -> Floats:
    """Put the rows of a (n, d) table in a seeded random order: the same vectors, their order lost."""
    rows = check_table("table", table)
    return rows[np.random.default_rng(SEED.check(seed)).permutation(len(rows))]


def extend(table: ArrayLike, n: int, *, how: str) -> Floats:
    """Ask a table of max_len rows for `n` positions, as people do when a sequence is too long.

    Parameters
    ----------
    table
        (max_len, d).
    n
        Number of positions wanted. Up to max_len the first `n` rows are returned, whatever `how` says.
    how
        ``"refuse"``: there is no row past the last one, and this is an error.
        ``"repeat"``: position p takes row p mod max_len.
        ``"interpolate"``: the rows are stretched linearly over `n` positions, the first and the last kept;
        every position in between gets another vector than the model was trained with.

    Returns
    -------
    (n, d) float64.

    Raises
    ------
    ValueError
        If `how` is ``"refuse"`` and `n` is past max_len, or an argument is not allowed.
    """
    rows = check_table("table", table)
    wanted, way, max_len = SEQ_LEN.check(n), HOW.check(how), len(rows)
    if wanted <= max_len:
        return rows[:wanted]
    if way == "refuse":
        raise ValueError(
            f"{wanted} positions > {max_len} rows (max_len): a learned table has no row past its last"
        )
    if way == "repeat":
        return rows[np.arange(wanted) % max_len]
    return resize(rows, wanted, align_corners=True)


class LadderFit(NamedTuple):
    """r2: share of variance explained; fitted (n, d): rows made of the waves; basis (n, 1 + 2 n_pairs)."""

    r2: float
    fitted: Floats
    basis: Floats


def ladder_fit(
    rows: ArrayLike, phase: ArrayLike, *, n_pairs: int = N_PAIRS.default, ratio: float = RATIO.default
) -> LadderFit:
    """Fit rows by sinusoid pairs on one common axis, each `ratio` times slower than the one before.

    rows ≈ [1, cos φ, sin φ, cos φ/ratio, sin φ/ratio, …, cos φ/ratioᴷ⁻¹, sin φ/ratioᴷ⁻¹] · weights, by least
    squares.

    Parameters
    ----------
    rows
        (n, d): for MiniLM ``load("minilm_l6")[LADDER_ROWS]``.
    phase
        (n,) rad, the phase φ of the fastest pair at each row: `ladder_phase`, or `straight_phase` of it.
    n_pairs
        K, the number of pairs.
    ratio
        Frequency ratio from pair to pair.

    Returns
    -------
    LadderFit
        `r2` is the share of the variance about the mean row; NaN if the rows are constant.

    Raises
    ------
    ValueError
        If `rows` and `phase` differ in length or an argument is not allowed.
    """
    values = check_finite("rows", check_table("rows", rows))
    axis = check_finite("phase", check_array("phase", phase))
    if axis.shape != (len(values),):
        raise ValueError(
            f"phase must have one value for each of the {len(values)} rows, got shape {axis.shape}"
        )
    speeds = RATIO.check(ratio) ** -np.arange(N_PAIRS.check(n_pairs), dtype=np.float64)
    angles = axis[:, None] * speeds  # (n, n_pairs)
    waves = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(values), -1)
    basis = np.hstack([np.ones((len(values), 1)), waves])
    fitted = basis @ np.linalg.lstsq(basis, values)[0]
    # By the first row, since a mean is rounded and would leave some variance to equal rows.
    constant = bool((values == values[0]).all())
    total = np.sum((values - values.mean(axis=0)) ** 2)
    return LadderFit(np.nan if constant else float(1 - np.sum((values - fitted) ** 2) / total), fitted, basis)


def ladder_phase() -> Floats:
    """Measured phase (rad) of the fastest wave in MiniLM's rows `LADDER_ROWS` → (380,): a warped axis."""
    return read_array("minilm_l6_phase_rows129_508_f32.npy").astype(np.float64)


def straight_phase(phase: ArrayLike) -> Floats:
    """Straight line through a (n,) phase by least squares: the axis without its warp."""
    axis = check_array("phase", phase)
    if axis.ndim != 1 or axis.size < 2:
        raise ValueError(f"phase must be a 1-D array of at least two values, got shape {axis.shape}")
    position = np.arange(axis.size) - (axis.size - 1) / 2
    line: Floats = axis.mean() + position * (position @ axis) / (position @ position)
    return line
