"""Tables of every kind at random parameters, made without the package, with what is to be found in them.

Each is made as libraries make it, in float32 from the logarithm or in float64 and rounded once; some are
spoilt afterwards. `python -m tests.posenc.naming.drawn_tables [SEED]` prints how many are named right.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import posenc

Array = NDArray[np.floating]
Rng = np.random.Generator


@dataclass(frozen=True)
class Drawn:
    """A table, what kind it is, and the fields that must be found; `spoilt` loosens the base."""

    kind: str
    table: Array
    wanted: dict[str, Any] = field(default_factory=dict)
    spoilt: bool = False


def rates(m: int, base: float, divisor: float, exact: bool) -> Array:
    """base^(−i/divisor) as NumPy code has it, or as float32 code with exp and log."""
    if exact:
        return base ** (-np.arange(m) / divisor)
    step = np.float32(math.log(base) / divisor)
    return np.exp(np.arange(m, dtype=np.float32) * -step)


def waves(positions: Array, d_model: int, base: float, layout: str, shift: int, exact: bool = True) -> Array:
    """The sinusoidal table of an even width."""
    h = d_model // 2
    divisor = max(h - 1, 1) if shift else h
    omega = rates(h, base, divisor, exact)
    angle = np.multiply.outer(positions.astype(np.float64 if exact else np.float32), omega)
    sine, cosine = np.sin(angle), np.cos(angle)
    if layout == "interleaved":
        table = np.stack([sine, cosine], axis=-1).reshape(len(positions), d_model)
    else:
        table = np.concatenate([sine, cosine] if layout == "sin_cos" else [cosine, sine], axis=1)
    return table.astype(np.float32)


def some_base(rng: Rng, d_model: int) -> float:
    """Mostly what code has; sometimes any whole number, which few columns would not tell apart."""
    if d_model < 12 or rng.random() < 0.6:
        return 10_000.0
    if rng.random() < 0.6:
        return float(rng.choice([500_000, 1_000_000, 100, 1000]))
    return float(rng.integers(100, 90_000))


def clean(rng: Rng) -> Drawn:
    d_model = 2 * int(np.exp(rng.uniform(math.log(2), math.log(300))))
    n = int(np.exp(rng.uniform(math.log(8), math.log(500))))
    layout = str(rng.choice(["interleaved", "sin_cos", "cos_sin"]))
    shift = int(rng.integers(2)) if layout != "interleaved" else int(rng.random() < 0.2)
    base = 10_000.0 if shift and layout == "interleaved" else some_base(rng, d_model)
    first = int(rng.choice([0, 0, 0, 1, 2, 5, 100]))
    exact = bool(rng.integers(2))
    table = waves(first + np.arange(n), d_model, base, layout, shift, exact)
    wanted = {
        "scheme": "sinusoidal", "layout": layout, "freq_shift": shift, "base": base, "first_position": first,
        "scale": 1.0, "sign": 1, "step": 1.0, "dtype": "float32",
    }  # fmt: skip
    return Drawn(f"clean {n}x{d_model} {layout} {shift} b{base:g} p{first} {exact}", table, wanted)


def spoilt(rng: Rng) -> Drawn:
    made = clean(rng)
    # Of a base of any digits, a spoilt table does not tell which of the two shifts makes it.
    while len(made.table) < 16 or made.wanted["base"] not in (1e2, 1e3, 1e4, 5e5, 1e6):
        made = clean(rng)
    table, wanted = made.table.astype(np.float64), dict(made.wanted)
    del wanted["dtype"]
    n = len(table)
    ways = rng.choice(
        ["float16", "bfloat16", "noise", "missing", "zeroed", "rescaled", "scaled"], 2, replace=False
    )
    few = max(1, n // 20)
    for way in ways:
        rows = rng.choice(np.arange(1, len(table)), min(few, 5), replace=False)
        if way == "noise":
            table = table + rng.normal(0, rng.uniform(0.001, 0.01), table.shape)
        elif way == "missing":
            table = np.delete(table, rows[:3], axis=0)
        elif way == "zeroed":
            table[rows] = 0
        elif way == "rescaled":
            table[rows] *= rng.uniform(0.2, 3.0, (len(rows), 1))
        elif way == "scaled":
            scale = float(rng.choice([math.sqrt(table.shape[1]), 0.5, 3.0]))
            table, wanted["scale"] = table * scale, scale
    if "float16" in ways:
        table = table.astype(np.float16)
    elif "bfloat16" in ways:
        table = posenc.rounded(table, "bfloat16")
    return Drawn(f"{'+'.join(ways)} of {made.kind}", table, wanted, spoilt=True)


def library(rng: Rng) -> Drawn:
    """What some libraries do beside the formula."""
    n, d_model = int(rng.integers(10, 300)), 2 * int(rng.integers(4, 200))
    way = str(
        rng.choice(["fairseq", "lookup", "scaled", "odd", "odd_next", "descending", "timestep", "step"])
    )
    wanted: dict[str, Any] = {"scheme": "sinusoidal", "base": 10_000.0, "mistake": None}
    p = np.arange(n)
    if way == "fairseq":
        table = waves(p, d_model, 1e4, "sin_cos", 1, False)
        table[int(rng.integers(2))] = 0
        wanted |= {"first_position": 0, "implementation": "get_embedding", "freq_shift": 1}
    elif way == "lookup":
        table = waves(p + 2, d_model, 1e4, "sin_cos", 1, False)
        wanted |= {"first_position": 2, "implementation": "SinusoidalPositionalEmbedding.forward"}
    elif way == "scaled":
        table = waves(p + 3, d_model, 1e4, "sin_cos", 0, False) * np.float32(d_model**-0.5)
        wanted |= {"first_position": 3, "implementation": "ScaledSinusoidalEmbedding"}
    elif way in ("odd", "odd_next"):
        d_model += 1
        divisor = d_model + (way == "odd_next")
        j = np.arange(d_model)
        angle = p[:, None] / 10_000 ** (2 * (j // 2) / divisor)
        table = np.where(j % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32)
        name = "PositionalEncoding1D" if way == "odd_next" else "SinePositionEncoding"
        wanted |= {"layout": "interleaved", "freq_shift": 0, "implementation": name}
    elif way == "descending":
        table = waves(np.arange(n, -n, -1), d_model, 1e4, "sin_cos", 0, False)
        wanted |= {"first_position": n, "sign": -1, "implementation": "relative_positional_encoding"}
    elif way == "timestep":
        steps = np.sort(rng.choice(1000, min(n, 40), replace=False))
        table = waves(steps, d_model, 1e4, "cos_sin", 0, False)
        wanted |= {"layout": "cos_sin", "freq_shift": 0}
        if d_model < 16:
            wanted = {"scheme": "sinusoidal"}
    else:
        step = float(rng.choice([0.5, 2.0]))
        table = waves(p * step, d_model, 1e4, "interleaved", 0)
        wanted |= {"step": step}
    return Drawn(f"{way} {n}x{d_model}", table, wanted)


def mistaken(rng: Rng) -> Drawn:
    n, d_model = int(rng.integers(16, 300)), 2 * int(rng.integers(4, 200))
    way = str(
        rng.choice(
            [*posenc.MISTAKES, "doubled_exponent", "transposed", "batch_axis", "half_precision",
             "rows_shuffled", "position_scaled_twice"]
        )
    )  # fmt: skip
    p = np.arange(float(n))
    wanted: dict[str, Any] = {"scheme": "sinusoidal", "mistake": way}
    if way in posenc.MISTAKES:
        table = posenc.MISTAKES[way].build(n, d_model).astype(np.float32)
    elif way == "doubled_exponent":
        table = waves(p, d_model, 1e8, "interleaved", 0)
    elif way == "transposed":
        table = waves(p, d_model, 1e4, "interleaved", 0).T
    elif way == "batch_axis":
        table = np.repeat(waves(p, d_model, 1e4, "interleaved", 0), 4, axis=0)
        if rng.integers(2):
            table = np.tile(waves(p, d_model, 1e4, "interleaved", 0), (4, 1))
    elif way == "half_precision":
        precision = str(rng.choice(["bfloat16", "float16"]))
        stage = str(rng.choice(["chain", "angle"]))
        n = 200 + int(rng.integers(400))
        table = posenc.sinusoid_in(n, d_model, precision, stage=stage)
        wanted["dtype"] = precision
    elif way == "rows_shuffled":
        d_model += 16
        table = rng.permutation(waves(p, d_model, 1e4, "sin_cos", 0))
    else:
        table = waves(p / 16, d_model, 1e4, "interleaved", 0)
    return Drawn(f"{way} {table.shape}", table, wanted)


def cells(rng: Rng) -> Drawn:
    names = [name for name, form in posenc.GRID_FORMS.items() if len(form.axes) == 2]
    name = str(rng.choice(names))
    form = posenc.GRID_FORMS[name]
    height, width, d_model = int(rng.integers(3, 17)), int(rng.integers(3, 17)), 4 * int(rng.integers(4, 100))
    table = form.table((height, width), d_model).reshape(height * width, d_model)
    if rng.integers(2):
        table = np.concatenate([np.zeros((1, d_model), dtype=np.float32), table])
    wanted = {
        "scheme": "grid", "grid": (height, width), "base": 10_000.0, "freq_shift": form.freq_shift,
        "layout": form.grid_layout,
    }  # fmt: skip
    return Drawn(f"{name} {height}x{width} {table.shape}", table, wanted)


def cache(rng: Rng) -> Drawn:
    m, n = int(rng.choice([16, 32, 48, 64])), int(rng.integers(16, 400))
    base = float(rng.choice([10_000, 500_000, 1_000_000]))
    factor = float(rng.choice([1, 1, 4]))
    angle = np.multiply.outer(
        np.arange(n, dtype=np.float32), rates(m, base, m, bool(rng.integers(2))) / factor
    )
    wave = np.cos(angle) if rng.integers(2) else np.sin(angle)
    halves = bool(rng.integers(2))
    table = np.concatenate([wave, wave], axis=1) if halves else np.repeat(wave, 2, axis=1)
    wanted = {"scheme": "rotary_cache", "base": base, "layout": "half_split" if halves else "adjacent"}
    return Drawn(f"rope {table.shape} b{base:g} f{factor:g}", table.astype(np.float32), wanted)


def learned(rng: Rng) -> Drawn:
    name = str(rng.choice([name for name, table in posenc.LEARNED.items() if table.kind == "learned"]))
    table = posenc.load(name) * float(rng.choice([1, 0.1, 30]))
    if rng.integers(2):
        table = rng.permutation(table)
    if rng.integers(2):
        table = table[: int(rng.integers(64, 400))]
    return Drawn(f"{name} {table.shape}", table, {"scheme": "learned"})


def noise(rng: Rng) -> Drawn:
    shape = int(rng.integers(8, 512)), int(rng.integers(4, 512))
    how = str(rng.choice(["normal", "uniform", "xavier", "truncated"]))
    values = rng.normal(0, float(rng.choice([0.02, 1.0])), shape)
    if how == "uniform":
        values = rng.uniform(-1, 1, shape)
    elif how == "xavier":
        values = rng.uniform(-1, 1, shape) * math.sqrt(6 / sum(shape))
    elif how == "truncated":
        values = values.clip(-2 * values.std(), 2 * values.std())
    return Drawn(f"{how} {shape}", values.astype(np.float32), {"scheme": "random"})


SHARES: tuple[tuple[Callable[[Rng], Drawn], int], ...] = (
    (clean, 80), (spoilt, 80), (library, 40), (mistaken, 50),
    (cells, 25), (cache, 20), (learned, 15), (noise, 25),
)  # fmt: skip


def drawn(seed: int) -> Iterator[Drawn]:
    """Some three hundred tables, the same for the same seed."""
    rng = np.random.default_rng(seed)
    for make, count in SHARES:
        for _ in range(count):
            yield make(rng)


def faults(made: Drawn, found: posenc.Identity) -> list[str]:
    """What was not found as it must be."""
    wrong = []
    for name, value in made.wanted.items():
        if name == "implementation":
            if not any(each.endswith(value) for each in found.implementations):
                wrong.append(f"no {value} among {found.implementations}")
            continue
        got = getattr(found, name)
        if name == "base" and got is not None:
            error = 3 * (found.base_error or 0.0) if made.spoilt else 0.0
            right = abs(got - value) <= max(error, 1e-3 * value)
        elif name == "scale" and got is not None:
            right = abs(got / value - 1) < 0.01
        else:
            right = got == value
        if not right:
            wrong.append(f"{name} {got!r} for {value!r}")
    return wrong


def main(seed: int) -> None:
    count = right = sure = 0
    for made in drawn(seed):
        found = posenc.identify(made.table)
        wrong = faults(made, found)
        count, right = count + 1, right + (not wrong)
        if wrong:
            sure += found.confidence > 0.8
            print(f"{made.kind}: {'; '.join(wrong)} (confidence {found.confidence:.2f}, {found.next_best})")
    print(f"{right} of {count} right, {sure} wrong with a confidence above 0.8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
