"""Nine things that are often said about positional encodings, and what becomes of each when it is computed.

Letters: p position, k offset, ω_i rate of pair i (`posenc.inv_freq`), d = `d_model`, m number of pairs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from posenc.arrays import Floats
from posenc.assembly import sizes
from posenc.checks import largest_difference, row_norms
from posenc.parameters import D_MODEL, LAYOUT
from posenc.published import PUBLISHED
from posenc.rotary import score
from posenc.shift import far, first_rise, offset_cosine
from posenc.similarity import dot
from posenc.sinusoidal import inv_freq, sinusoidal, wavelengths

HEAD_DIM = 64  # of the queries and keys that are rotated
DRAWS = 200  # pairs of a query and a key
FEW = 128  # positions that are enough to see it
WIDTHS = (16, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Words:
    """Vectors from N(0, 1/columns), as long as a unit vector on average; drawn anew by all who read them.

    A kilobyte a column is too much to keep.
    """

    seed: int
    rows: int
    columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Of the array."""
        return self.rows, self.columns

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Draw them."""
        drawn = np.random.default_rng(self.seed).standard_normal(self.shape)
        drawn *= self.columns**-0.5
        return np.asarray(drawn, dtype)


class Evidence(NamedTuple):
    """What there is to see: named numbers, and named curves over `x`, with places marked on it.

    `made` is what the displayed code makes: the first curve, or the numbers where the curves are over widths;
    `given` the arrays that it reads, by name of their file, or how to draw them.
    """

    numbers: Mapping[str, float]
    x: NDArray[np.float64]
    curves: Mapping[str, Floats]
    made: Floats
    marks: Mapping[str, float] = {}
    given: Mapping[str, "Floats | Words"] = {}

    @property
    def points(self) -> int:
        """How many positions or offsets the code goes through."""
        return FEW if self.given else len(self.x)


@dataclass(frozen=True)
class Myth:
    """A sentence that is often said.

    `look` computes the evidence from (d_model, base, seed); `x` and `y` name what the axes of its curves say,
    `log` the axes that are logarithmic, `dashed` the curves that would cover another, `draws` whether it is
    drawn at random; `source` is a key of `posenc.sources.SOURCES`; `page` says more.
    """

    name: str
    look: Callable[[int, float, int], Evidence]
    x: str
    y: str
    source: str
    page: str
    log: str = ""
    dashed: tuple[str, ...] = ()
    draws: bool = False


def fast_end(d_model: int, base: float, seed: int) -> Evidence:
    """Which end of the table is fast: ω_i = base^(−2i/d) falls from 1 radian per position."""
    rates, turns = inv_freq(d_model, base=base), wavelengths(d_model, base=base)
    numbers = {"first": turns[0], "last": turns[-1], "slowest": rates[-1]}
    return Evidence(numbers, np.arange(float(len(rates))), {"rate": rates}, rates)


def repeats(d_model: int, base: float, seed: int) -> Evidence:
    """Whether the table starts again after `base` or 2π·base positions: its cosine would be 1 there."""
    found = far(_paired(d_model), base=base)
    marks = {"base": found.base_offset, "turn": found.turn_offset}
    numbers = {
        name: getattr(found, name) for name in ("at_base", "at_turn", "late", "highest", "highest_offset")
    }
    given = {"offsets.npy": found.offset}
    return Evidence(numbers | marks, found.offset, {"cosine": found.cosine}, found.cosine, marks, given)


def steady(d_model: int, base: float, seed: int) -> Evidence:
    """Whether similarity falls with every step: the offset at which Σ_i cos(k·ω_i)/m first rises."""
    rise = first_rise(_paired(d_model), base=base)
    cosine = offset_cosine(max(FEW, 2 * rise), _paired(d_model), base=base)
    numbers = {"rise": rise, "rises": int((np.diff(cosine) > 0).sum()), "steps": len(cosine) - 1}
    return Evidence(numbers, np.arange(float(len(cosine))), {"cosine": cosine}, cosine, {"rise": rise})


def alternate(d_model: int, base: float, seed: int) -> Evidence:
    """Whether sines and cosines must alternate: E·Eᵀ of the three layouts, of which row 0 is drawn."""
    products = {
        name: dot(sinusoidal(FEW, d_model, base=base, layout=name, dtype=np.float64))
        for name in LAYOUT.options
    }
    numbers = {"difference": largest_difference(*products.values()), "positions": FEW}
    curves = {name: rows[0] for name, rows in products.items()}
    return Evidence(numbers, np.arange(float(FEW)), curves, curves["interleaved"])


def extrapolates(d_model: int, base: float, seed: int) -> Evidence:
    """Whether a model with the sinusoid reads texts longer than it was trained on: published perplexities."""
    (result,) = (result for result in PUBLISHED if result.name == "press_2")
    lengths = np.array(result.columns, dtype=np.float64)
    curves = {name: np.array(cells, dtype=np.float64) for name, cells in result.rows.items()}
    sinusoid = curves["sinusoid"]
    numbers = {"trained": lengths[0], "longest": lengths[-1], "short": sinusoid[0], "long": sinusoid[-1]}
    return Evidence(numbers, lengths, curves, sinusoid)


def rope_decays(d_model: int, base: float, seed: int) -> Evidence:
    """Whether rotary scores fall with distance: of q = k = 1, of one Gaussian q and k, and the mean of many.

    The score of independent q and k from N(0, 1) is 0 in expectation at every distance.
    """
    ones, draws = np.ones(HEAD_DIM), np.random.default_rng(seed).standard_normal((DRAWS, 2, HEAD_DIM))
    scores = np.array([score(q, k, FEW, base=base) for q, k in draws])
    curves = {"ones": score(ones, ones, FEW, base=base), "gaussian": scores[0], "mean": scores.mean(axis=0)}
    peak = int(np.argmax(scores[0]))
    later = float((scores.argmax(axis=1) > 0).mean())
    numbers: dict[str, float] = {"peak": peak, "later": later, "draws": DRAWS}
    numbers["rise"] = first_rise(HEAD_DIM, base=base)
    numbers["largest"] = float(abs(curves["mean"]).max())
    return Evidence(numbers, np.arange(float(FEW)), curves, curves["ones"])


def row_zero(d_model: int, base: float, seed: int) -> Evidence:
    """Whether row 0, half 0 and half 1, is a bug: each row of an even width is √(d/2) long, and so is it."""
    table = sinusoidal(FEW, d_model, base=base, dtype=np.float64)
    norms = row_norms(table)
    numbers = {
        "zeros": int((table[0] == 0).sum()),
        "ones": int((table[0] == 1).sum()),
        "first": norms[0],
        "least": norms.min(),
        "greatest": norms.max(),
    }
    return Evidence(numbers, np.arange(float(FEW)), {"norm": norms}, norms)


def scale(d_model: int, base: float, seed: int) -> Evidence:
    """Why × √d: the rms of vectors from N(0, 1/d) over that of the sinusoid, as it is and scaled."""
    found = [
        sizes(Words(seed, FEW, width), sinusoidal(FEW, width, base=base, dtype=np.float64))
        for width in (*WIDTHS, d_model)
    ]
    here, ratios = found[-1], found[:-1]
    numbers = {"ratio": here.ratio, "scaled": here.scaled_ratio}
    curves = {
        "as_it_is": np.array([each.ratio for each in ratios]),
        "scaled": np.array([each.scaled_ratio for each in ratios]),
    }
    made, given = np.array([here.ratio, here.scaled_ratio]), {"words.npy": Words(seed, FEW, d_model)}
    return Evidence(numbers, np.array(WIDTHS, dtype=np.float64), curves, made, given=given)


def add(d_model: int, base: float, seed: int) -> Evidence:
    """Whether adding loses what concatenating would keep.

    [x; p]·[A; B] = x·A + p·B: a layer that reads both beside each other adds them, too, with two matrices in
    place of one. And position p can be read back from x + PE(p), by the row of the table that it has the
    largest dot product with: the share of p = 0 … n − 1 for which that is right, for x from N(0, 1).
    """
    shares = [_read_back(width, base, seed) for width in (*WIDTHS, d_model)]
    words = Words(seed, FEW, d_model)
    x, p = np.asarray(words), sinusoidal(FEW, d_model, base=base, dtype=np.float64)
    a, b = (np.asarray(Words(seed + each, d_model, 8)) for each in (1, 2))
    halves = (slice(0, FEW // 2), slice(FEW // 2, FEW))  # all rows of [x; p] at once would take twice as much
    beside = np.vstack([np.hstack([x[rows], p[rows]]) @ np.vstack([a, b]) for rows in halves])
    numbers = {"difference": largest_difference(beside, x @ a + p @ b), "share": shares[-1], "positions": FEW}
    curves, made = {"share": np.array(shares[:-1])}, np.array(shares[-1:])
    widths = np.array(WIDTHS, dtype=np.float64)
    return Evidence(numbers, widths, curves, made, given={"words.npy": words})


MYTHS: Mapping[str, Myth] = {
    myth.name: myth
    for myth in (
        Myth("fast_end", fast_end, "pair", "frequency", "vaswani2017", "sinusoidal", "y"),
        Myth("repeats", repeats, "offset", "cosine", "vaswani2017", "similarity", "x"),
        Myth("steady", steady, "offset", "cosine", "vaswani2017", "similarity"),
        Myth(
            "alternate", alternate, "position", "dot", "vaswani2017", "sinusoidal", dashed=LAYOUT.options[1:]
        ),
        Myth("extrapolates", extrapolates, "length", "perplexity", "press2022", "fixed_vs_learned", "y"),
        Myth("rope_decays", rope_decays, "offset", "score", "barbero2025", "relative", draws=True),
        Myth("row_zero", row_zero, "position", "norm", "vaswani2017", "sinusoidal"),
        Myth("scale", scale, "d_model", "ratio", "vaswani2017input", "sentence", "xy", draws=True),
        Myth("add", add, "d_model", "share", "vaswani2017", "sentence", "x", draws=True),
    )
}


@lru_cache(maxsize=32)  # 0.2 MB at most
def evidence(name: str, d_model: int, base: float, seed: int) -> Evidence:
    """Return what there is to see of one of the `MYTHS`, which is kept for who asks next."""
    return MYTHS[name].look(d_model, base, seed)


def _paired(d_model: int) -> int:
    """Return the width, at least 2: width 1 has no pair to compare."""
    return max(D_MODEL.check(d_model), 2)


def _read_back(d_model: int, base: float, seed: int) -> float:
    table = sinusoidal(FEW, d_model, base=base, layout="sin_cos", dtype=np.float64)
    summed = np.asarray(Words(seed, FEW, d_model))
    summed *= np.sqrt(d_model)
    summed += table
    return float(((summed @ table.T).argmax(axis=1) == np.arange(FEW)).mean())
