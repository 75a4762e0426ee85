"""Fixed and learned tables side by side: what can be chosen, what each is like, what happens past its end."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc import learned, measures, similarity
from posenc.arrays import Floats
from posenc.checks import largest_difference
from posenc.parameters import Choice, Integer
from posenc.picks import NAMES, Pick
from posenc.sinusoidal import sinusoidal

TABLE_A: Choice[str] = Choice("table_a", NAMES)
TABLE_B: Choice[str] = Choice("table_b", NAMES[1:] + NAMES[:1])  # the first option is the default

AXES = 4  # two planes of principal components
EDGE_WINDOW = 48  # rows shown before and after the last row
RATIOS = np.linspace(2.5, 3.5, 21)
MOST_PAIRS = 7
MATCHED_ROWS = 32  # by so many rows the columns of two tables are told apart
MATCHED_COLUMNS = 2048  # the work grows with their square: a second
SMALLEST_SHARE = 1e-8  # smaller shares of a float32 table's variance are its rounding


class Measures(NamedTuple):
    """The numbers that two tables are compared by; see `posenc.measures` for each.

    sinusoid_fit and cka compare with the sinusoid of the same shape and base 10,000.
    """

    offset_share: float
    nearest_row_share: float
    effective_rank: float
    sinusoid_fit: float
    cka: float


def measure(table: NDArray[np.floating]) -> Measures:
    """Measure a table (n, d)."""
    n, d_model = table.shape
    return Measures(
        measures.offset_share(table),
        measures.nearest_row_share(table),
        measures.effective_rank(table),
        measures.sinusoid_fit(table),
        measures.linear_cka(table, sinusoidal(n, d_model, dtype=np.float64)),
    )


@dataclass(frozen=True)
class Portrait:
    """What a table is like, each part measured when it is first asked for.

    All arrays are read-only, so that a portrait can be shared.
    """

    pick: Pick
    table: NDArray[np.floating]

    @cached_property
    def cosine(self) -> NDArray[np.float32]:
        """Of every two rows, (n, n)."""
        return _shared(similarity.cosine(self.table).astype(np.float32))

    @cached_property
    def profile(self) -> similarity.OffsetProfile:
        """The cosine by offset."""
        found = similarity.by_offset(similarity.cosine(self.table))
        for values in vars(found).values():
            _shared(values)
        return found

    @cached_property
    def norms(self) -> Floats:
        """Of the rows, (n,)."""
        return _shared(similarity.norms(self.table))

    @cached_property
    def path(self) -> measures.PcaPath:
        """The rows on `AXES` principal axes; the share of the variance on each of all axes, (min(n, d),)."""
        found = measures.pca_path(self.table, min(self.table.shape))
        return measures.PcaPath(_shared(found.coordinates[:, :AXES].copy()), _shared(found.share))

    @cached_property
    def variance(self) -> Floats:
        """The share on each singular direction, (min(n, d),)."""
        return _shared(_above_rounding(self.path.share))

    @cached_property
    def spectrum(self) -> measures.Spectrum:
        """Of the whole table: one curve is shown, not one a column."""
        found = measures.column_spectrum(self.table)
        return found._replace(share=_above_rounding(found.share), columns=np.empty((0, 0)))

    @cached_property
    def measures(self) -> Measures:
        """The numbers that two tables are compared by."""
        return measure(self.table)

    @cached_property
    def baselines(self) -> Mapping[str, Measures]:
        """The same measures of the rows in a random order, and of noise of the same shape."""
        return {
            "shuffled": measure(learned.shuffle_rows(self.table)),
            "gaussian": measure(learned.random_init(*self.table.shape)),
        }

    @property
    def shape(self) -> str:
        """The shape of the table as text."""
        return " × ".join(map(str, self.table.shape))

    @property
    def positions(self) -> NDArray[np.int64]:
        """The number of each row, (n,)."""
        return np.arange(len(self.table))

    @property
    def directions(self) -> NDArray[np.int64]:
        """The number of each singular direction from 1, (min(n, d),)."""
        return np.arange(1, len(self.variance) + 1)

    @property
    def odd_rows(self) -> dict[int, float]:
        """Rows whose norm stands out (`posenc.measures.norm_outliers`): row → norm over the median norm."""
        middle = np.median(self.norms)
        return {int(row): float(self.norms[row] / middle) for row in measures.norm_outliers(self.table)}

    @property
    def undefined(self) -> int:
        """How many rows are zero, so that their cosines are undefined."""
        return int(np.isnan(np.diagonal(self.cosine)).sum())


def portrait(chosen: Pick) -> Portrait:
    """Build a chosen table, to be measured."""
    return Portrait(chosen, _shared(chosen.build()))


def _shared(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def _above_rounding(share: Floats) -> Floats:
    """Leave out what is too small to be anything but rounding, for a logarithmic axis: NaN there."""
    return np.where(share > SMALLEST_SHARE, share, np.nan)


class Together(NamedTuple):
    """Two tables laid on each other, row by row.

    rows: how many both have. difference: the largest of a cell, NaN where the widths differ; permuted: the
    same with the columns of the second brought into the order of the first, NaN also for widths above
    `MATCHED_COLUMNS`; cka as in `posenc.measures.linear_cka`, NaN where it is undefined.
    """

    rows: int
    difference: float
    permuted: float
    cka: float

    @property
    def same_width(self) -> bool:
        """Whether there are cells to be compared."""
        return not math.isnan(self.difference)


def together(a: NDArray[np.floating], b: NDArray[np.floating]) -> Together:
    """Lay two tables on each other, (n, d) and (m, e), as far as both have rows.

    Libraries order the same columns differently, which no similarity between rows shows: so the largest
    difference is said as it is, and with the columns in the same order.
    """
    rows = min(len(a), len(b))
    left, right = a[:rows].astype(np.float64), b[:rows].astype(np.float64)
    cka = measures.linear_cka(left, right)
    if left.shape[1] != right.shape[1]:
        return Together(rows, math.nan, math.nan, cka)
    difference, permuted = largest_difference(left, right), math.nan
    if left.shape[1] <= MATCHED_COLUMNS:  # of tables with other columns the order as it is may be the better
        permuted = min(difference, largest_difference(left, right[:, match_columns(left, right)]))
    return Together(rows, difference, permuted, cka)


def match_columns(a: Floats, b: Floats) -> NDArray[np.intp]:
    """Return which column of b (n, d) to take for each of a (n, d), each column once, so that they agree.

    Column by column the nearest that is left is taken, by rows from all over the tables. Where the tables
    have the same columns, up to their rounding, that finds them; where they have not, no order does.
    """
    some = np.unique(np.linspace(0, len(a) - 1, MATCHED_ROWS).round().astype(int))
    left, right = a[some].T, b[some].T
    free = np.ones(len(right), dtype=bool)
    order = np.empty(len(left), dtype=np.intp)
    for column, values in enumerate(left):
        off = np.abs(right - values).max(axis=1)
        order[column] = np.argmin(np.where(free, off, np.inf))
        free[order[column]] = False
    return order


def middle_and_band(profile: similarity.OffsetProfile) -> tuple[Floats, Floats, Floats]:
    """Return the mean at each offset, and one standard deviation below and above it."""
    return profile.mean, profile.mean - profile.std, profile.mean + profile.std


@dataclass(frozen=True)
class Edge:
    """What a model finds at a position that may lie past the last row of its table.

    most
        How many positions can be asked for at all.
    refusal
        The error of a table that has no such row, else empty.
    repeated
        The row that repeating takes instead.
    curves
        Way → cosine of the row at the position with the rows 0 … n − 1.
    windows
        Way → cosine matrix of the rows around the last one, `EDGE_WINDOW` on each side; undefined where a row
        does not exist. The table is extended by a quarter.
    positions
        The rows that the curves run over, (n,).
    first
        The number of the first row in the windows.
    kept
        Mean cosine of each trained row with the row that interpolation puts in its place.
    sinusoid_difference
        Largest difference between the sinusoid of n rows and that of max_len rows, on the rows they share.
    """

    most: int
    refusal: str
    repeated: int
    positions: NDArray[np.int64]
    curves: Mapping[str, Floats]
    windows: Mapping[str, Floats]
    first: int
    kept: float
    sinusoid_difference: float


def edge_position(max_len: int) -> Integer:
    """Return the positions that can be asked for: up to a quarter past the end; default the first past it."""
    return Integer("edge_position", max_len, 0, max_len + max_len // 4 - 1)


def edge(table: NDArray[np.floating], position: int, *, base: float, layout: str) -> Edge:
    """Ask a learned table (max_len, d_model) for a position, and the sinusoid of the same width as well.

    Parameters
    ----------
    table
        (max_len, d_model).
    position
        See `edge_position`.
    base, layout
        Of the sinusoid.

    Raises
    ------
    ValueError
        If an argument is not allowed. A position past the last row is not an error here: it is in `refusal`.
    """
    max_len, d_model = table.shape
    wanted = max(edge_position(max_len).check(position) + 1, max_len)
    most = max_len + max_len // 4
    sines = sinusoidal(most, d_model, base=base, layout=layout, dtype=np.float64)
    try:
        learned.extend(table, wanted, how="refuse")
        refusal, ways = "", {"table": learned.extend(table, wanted, how="refuse")}
    except ValueError as error:
        refusal = str(error)
        ways = {how: learned.extend(table, wanted, how=how) for how in ("repeat", "interpolate")}
    curves = {how: similarity.cosine(rows[position : position + 1], rows)[0] for how, rows in ways.items()}
    curves["sinusoid"] = similarity.cosine(sines[position : position + 1], sines[:wanted])[0]

    missing = np.full((most - max_len, d_model), np.nan)
    extended = {"refuse": np.vstack([table.astype(np.float64), missing])}
    extended |= {how: learned.extend(table, most, how=how) for how in ("repeat", "interpolate")}
    extended["sinusoid"] = sines
    first, last = max(max_len - EDGE_WINDOW, 0), max_len + EDGE_WINDOW
    stretched = ways.get("interpolate", table)[:max_len]
    return Edge(
        most=most,
        refusal=refusal,
        repeated=position % max_len,
        positions=np.arange(wanted),
        curves=curves,
        windows={how: similarity.cosine(rows[first:last]) for how, rows in extended.items()},
        first=first,
        kept=float(np.nanmean(np.diagonal(similarity.cosine(table, stretched)))),
        sinusoid_difference=largest_difference(
            sines[:max_len], sinusoidal(max_len, d_model, base=base, layout=layout, dtype=np.float64)
        ),
    )


class Ladder(NamedTuple):
    """The evidence for the waves in MiniLM's rows, as R² of `posenc.learned.ladder_fit`.

    pairs (k,) and r2 by axis ("warped": the measured phase; "straight": its straight line; "shuffled": the
    measured phase, the rows in a random order), each (k,); ratios (m,) and r2_by_ratio (m,) with five pairs
    on the warped axis; positions, phase (rad) and its deviation from the straight line (rad), each (n,);
    wavelength of the fastest wave, positions per turn on average.
    """

    pairs: NDArray[np.int64]
    r2: Mapping[str, Floats]
    ratios: Floats
    r2_by_ratio: Floats
    positions: NDArray[np.int64]
    phase: Floats
    deviation: Floats
    wavelength: float


def ladder_rows() -> NDArray[np.float32]:
    """Return the rows of MiniLM that are waves, (380, 384)."""
    return learned.load("minilm_l6")[learned.LADDER_ROWS]


def ladder() -> Ladder:
    """Fit MiniLM's rows 129 … 508 with more and more pairs, on three axes, and with other ratios."""
    rows, phase = ladder_rows(), learned.ladder_phase()
    straight = learned.straight_phase(phase)
    pairs = np.arange(1, MOST_PAIRS + 1)
    axes: dict[str, tuple[NDArray[np.floating], Floats]] = {
        "warped": (rows, phase),
        "straight": (rows, straight),
        "shuffled": (learned.shuffle_rows(rows), phase),
    }
    return Ladder(
        pairs=pairs,
        r2={
            name: np.array([learned.ladder_fit(table, axis, n_pairs=int(k)).r2 for k in pairs])
            for name, (table, axis) in axes.items()
        },
        ratios=RATIOS,
        r2_by_ratio=np.array([learned.ladder_fit(rows, phase, ratio=float(ratio)).r2 for ratio in RATIOS]),
        positions=np.arange(learned.LADDER_ROWS.start, learned.LADDER_ROWS.stop),
        phase=phase,
        deviation=phase - straight,
        wavelength=float(2 * np.pi / (straight[1] - straight[0])),
    )
