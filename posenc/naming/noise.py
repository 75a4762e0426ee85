"""Tables without a formula: learned, random or constant, told by what is left of order in them.

Independent random numbers have singular values that are known in advance (Marchenko & Pastur 1967), whatever
their distribution: Σs⁴/(Σs²)² = (n + d)/(n·d), so that the variance is spread over n·d/(n + d) directions. A
learned table has far fewer; neighbours in it are alike as well, unless its rows were shuffled.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROWS, _COLUMNS = 1024, 768


class Order(NamedTuple):
    """What is left of order in a table.

    `directions`: over how many directions the variance is spread, as a share of what random numbers of this
    shape have (1 for noise), and the standard deviation of that for noise. `neighbours`: mean cosine of a row
    and the next, in standard deviations of what it is for rows in random order. `waving`: what is left of the
    columns where each is taken for one wave about a mean, x[p + 1] + x[p − 1] = a·x[p] + b, as a share of
    their deviation. `offset_share` and `nearest_row_share` as in `posenc.measures`, of the first rows.
    """

    directions: float
    directions_error: float
    neighbours: float
    waving: float
    offset_share: float
    nearest_row_share: float


def order_of(rows: Floats) -> Order:
    """Measure a table of at least two rows (n, d), all of them alive and of magnitudes around 1."""
    rows = rows[:_ROWS, :_COLUMNS]
    rest = rows - rows.mean(axis=0)
    n, d = len(rest) - 1, rest.shape[1]
    gram = rest @ rest.T if n <= d else rest.T @ rest
    power = float(np.trace(gram))
    spread = power**2 / float((gram**2).sum()) if power > 0 else 1.0
    length = np.linalg.norm(rest, axis=1)
    unit = rest / np.where(length > 0, length, 1)[:, None]
    cosine = unit @ unit.T
    beside = cosine.diagonal(1)
    off = cosine[~np.eye(len(cosine), dtype=bool)]
    deviation = float(off.std()) if off.size > 1 else 0.0
    neighbours = float(beside.mean() - off.mean()) / (deviation / math.sqrt(len(beside)) + 1e-12)
    return Order(
        spread * (n + d) / (n * d),
        2.0 / math.sqrt(n * d) + 1.0 / min(n, d),
        neighbours,
        _waving(rest),
        _offset_share(cosine),
        _nearest_share(cosine),
    )


def _waving(rest: Floats) -> float:
    if len(rest) < 6:
        return math.nan
    middle, both = rest[1:-1], rest[2:] + rest[:-2]
    middle, both = middle - middle.mean(axis=0), both - both.mean(axis=0)
    power = (middle**2).sum(axis=0)
    factor = (middle * both).sum(axis=0) / np.maximum(power, 1e-300)
    left = (both - factor * middle) ** 2
    return float(np.sqrt(left.sum() / max(float((both**2).sum()), 1e-300)))


def _offset_share(cosine: Floats) -> float:
    n = len(cosine)
    upper = [cosine.diagonal(k) for k in range(1, n)]
    count = np.array([len(each) for each in upper], dtype=np.float64)
    means = np.array([each.mean() for each in upper])
    squares = sum(float((each**2).sum()) for each in upper)
    mean = float(count @ means) / float(count.sum())
    total = squares - float(count.sum()) * mean**2
    return float((count @ (means - mean) ** 2) / total) if total > 1e-20 else math.nan


def _nearest_share(cosine: Floats) -> float:
    other = cosine - 3 * np.eye(len(cosine))
    return float(np.mean(np.abs(other.argmax(axis=1) - np.arange(len(cosine))) == 1))
