"""The tables that can be looked at, each by its name: formulas, learned ones, noise, and every scheme.

A `Pick` says which table and how large, is the key of what is kept of it, and builds it.
"""

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from posenc import learned, side_by_side
from posenc.learned import LEARNED, SEED
from posenc.offsets import Waves
from posenc.parameters import BASE, LAYOUT, Choice
from posenc.registry import SCHEMES, Scheme
from posenc.scheme_tables import TABLED, WAVED, scheme_table, scheme_waves
from posenc.sinusoidal import sinusoidal

# The schemes that are one of the other names here: the sinusoid, and a table before it has learned.
_OTHERWISE = ("sinusoidal", "learned")
SCHEME_NAMES = tuple(name for name in TABLED.options if name not in _OTHERWISE)
NAMES = ("sinusoid", *LEARNED, "random", *SCHEME_NAMES)

OWN = "own"  # the name of a table that somebody brought along

Kind = Literal["fixed", "learned", "random", "scheme", "own"]


@dataclass(frozen=True)
class Given:
    """A table that somebody brought along, (n, d), known by a digest of it."""

    digest: str
    values: NDArray[np.floating] = field(compare=False, repr=False)


class Pick(NamedTuple):
    """One chosen table; equal picks give equal arrays, so that a pick can be the key of a cache."""

    name: str
    rows: int
    d_model: int
    base: float
    layout: str
    given: Given | None = None

    @property
    def kind(self) -> Kind:
        """From a formula, trained, drawn at random, another scheme's, or brought along."""
        if self.given is not None:
            return "own"
        if self.name in SCHEME_NAMES:
            return "scheme"
        if self.name == "random":
            return "random"
        is_formula = self.name == "sinusoid" or LEARNED[self.name].kind == "sinusoid"
        return "fixed" if is_formula else "learned"

    @property
    def scheme(self) -> Scheme:
        """What the registry says of it: a bundled table is a learned one, or the sinusoid stored."""
        if self.kind == "scheme":
            return SCHEMES[self.name]
        return SCHEMES["sinusoidal" if self.kind == "fixed" else "learned"]

    @property
    def setting(self) -> side_by_side.Setting:
        """What it is measured in beside other schemes: one head as wide as the table."""
        return side_by_side.Setting(self.rows, self.d_model, 1, 0, self.rows, self.base, SEED.default)

    @property
    def arguments(self) -> side_by_side.Arguments:
        """How its scheme is built."""
        return side_by_side.arguments(self.scheme.name, self.setting)

    @property
    def grid(self) -> tuple[int, ...] | None:
        """The shape of the grid whose cells the rows are, None if they are positions one after another."""
        places = self.arguments.places
        return None if isinstance(places, int) else places

    @property
    def waves(self) -> Waves | None:
        """The dot product of rows as a function of their offset, where a rotation has one."""
        _, _, size, options = self.arguments
        return scheme_waves(self.name, size, **options) if self.name in WAVED.options else None

    @property
    def max_len(self) -> int:
        """Rows in the model; a bundled table may hold only the first of them."""
        return LEARNED[self.name].max_len if self.name in LEARNED else self.rows

    @property
    def parameters(self) -> int:
        """Numbers to be trained: max_len × d_model, none for a formula; of a scheme those of one layer."""
        if self.kind == "scheme":
            return self.scheme.n_learned(self.setting.sizes)
        return 0 if self.kind == "fixed" else self.max_len * self.d_model

    @property
    def stored_kib(self) -> float:
        """Size of the table as float32, in KiB; nothing has to be stored of a formula."""
        return self.parameters * 4 / 1024

    def exact(self) -> NDArray[np.floating]:
        """Return the table (rows, d_model): float64 where it is computed, float32 where it is stored."""
        if self.given is not None:
            return self.given.values
        if self.name == "sinusoid":
            return sinusoidal(self.rows, self.d_model, base=self.base, layout=self.layout, dtype=np.float64)
        if self.kind == "scheme":
            places, _, size, options = self.arguments
            return scheme_table(self.name, places, size, **options)
        return (
            learned.random_init(self.rows, self.d_model) if self.name == "random" else learned.load(self.name)
        )

    def build(self) -> NDArray[np.float32]:
        """Return the table (rows, d_model), rounded."""
        return self.exact().astype(np.float32, copy=False)


def pick(
    name: str, rows: int, d_model: int, *, base: float = BASE.default, layout: str = LAYOUT.default
) -> Pick:
    """Choose a table of so many rows and columns.

    Parameters
    ----------
    name
        One of `NAMES`. A bundled table has the shape it has. Of a scheme the shape is the nearest one below
        that it has (`posenc.side_by_side`): a grid is whole, its width has pairs for each axis, and a head of
        rotary embedding has at most 1,024 features.
    rows, d_model
        The shape wanted.
    base, layout
        Of the sinusoid; `base` also of a scheme that takes one and is not published with its own.

    Raises
    ------
    ValueError
        If an argument is not allowed.
    """
    if Choice("table", NAMES).check(name) in LEARNED:
        rows, d_model = LEARNED[name].rows, LEARNED[name].d_model
    wanted = Pick(name, rows, d_model, BASE.check(base), LAYOUT.check(layout))
    if wanted.kind == "scheme":
        places, _, size, options = wanted.arguments
        wanted = wanted._replace(
            rows=places if isinstance(places, int) else math.prod(places),
            d_model=size,
            base=options.get("base", BASE.default),
        )
    elif name != "sinusoid":
        wanted = wanted._replace(base=BASE.default)
    return wanted if name == "sinusoid" else wanted._replace(layout=LAYOUT.default)


def pick_own(given: Given) -> Pick:
    """Choose a table that somebody brought along."""
    rows, d_model = given.values.shape
    return Pick(OWN, rows, d_model, BASE.default, LAYOUT.default, given)


def first_rows(own: Pick, rows: int) -> Pick:
    """Return such a table, cut to its first rows if it has more."""
    if own.given is None or own.rows <= rows:
        return own
    return pick_own(Given(f"{own.given.digest}:{rows}", own.given.values[:rows]))


def pick_beside(
    name: str,
    beside: str,
    *,
    base: float = BASE.default,
    layout: str = LAYOUT.default,
    own: Pick | None = None,
) -> Pick:
    """Choose the table `name` to stand beside the table `beside`.

    What has no shape of its own takes that of the table beside it that has one, as far as `pick` can, and
    beside each other that of MiniLM.

    Parameters
    ----------
    name, beside
        Two of `NAMES`, the same one twice included; and `OWN`, where there is one.
    base, layout
        As in `pick`.
    own
        The table that somebody brought along.

    Raises
    ------
    ValueError
        If an argument is not allowed.
    """
    options = NAMES if own is None else (*NAMES, OWN)
    asked = [Choice("table", options).check(one) for one in (name, beside)]
    if own is not None and name == OWN:
        return own
    if own is not None and beside == OWN:
        return pick(name, own.rows, own.d_model, base=base, layout=layout)
    like = LEARNED[next((one for one in asked if one in LEARNED), "minilm_l6")]
    return pick(name, like.rows, like.d_model, base=base, layout=layout)


def undefined(base: float) -> list[str]:
    """Return the names of the tables that this base does not define."""
    return side_by_side.undefined(list(SCHEME_NAMES), base)
