"""One row a parameter: the widget, its label in the reader's language, its place in the address."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import streamlit as st

from pages.ui import url
from pages.ui.text import LANGUAGES, browser_language, label, speak
from posenc import BASE, D_MODEL, LAYOUT, SEQ_LEN, Choice, Integer, Real
from posenc.tokens import Text


@dataclass(frozen=True)
class Switch:
    """A parameter that is on or off."""

    name: str
    default: bool

    def check(self, value: object) -> bool:
        """Return the value if it is a boolean."""
        if not isinstance(value, bool):
            raise ValueError(f"{self.name} must be on or off, got {value!r}")
        return value


@dataclass(frozen=True)
class Several:
    """Any number of named options, in the order in which they were chosen; in the address joined by dots."""

    name: str
    options: tuple[str, ...]
    usual: tuple[str, ...]

    @property
    def default(self) -> list[str]:
        """The options taken when none are given."""
        return list(self.usual)

    def check(self, value: object) -> list[str]:
        """Return the options if each is one, and none is given twice."""
        if not isinstance(value, list) or len(set(map(str, value))) < len(value):
            raise ValueError(f"{self.name} must be a list of different options, got {value!r}")
        return [Choice(self.name, self.options).check(option) for option in value]


@dataclass(frozen=True)
class Settings:
    """The shared parameters, as the sidebar shows them."""

    seq_len: int
    d_model: int
    base: float
    layout: str

    @property
    def kept(self) -> int:
        """How many positions the offered array has: all, or as many as make a file of reasonable size."""
        return min(self.seq_len, max(1, MOST_CELLS // self.d_model))

    @property
    def sizes(self) -> dict[str, str]:
        """The sizes, in words."""
        return {"seq_len": f"{self.seq_len:,}", "d_model": f"{self.d_model:,}"}

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `posenc.sinusoidal` besides the positions."""
        return {"d_model": self.d_model, "base": self.base, "layout": self.layout}


MOST_PILLS = 16  # more of them fill a phone's screen: a list that opens takes their place
MOST_CELLS = 2**20  # of an array that is offered: 4 MiB of float32
# The table that the founding article derives and prints.
ARTICLE = Settings(seq_len=50, d_model=512, base=10_000.0, layout="interleaved")


@lru_cache(maxsize=256)
def ladder(minimum: int, maximum: int, *, even: bool = False) -> tuple[int, ...]:
    """Return the stops of a slider: every number up to 64, then 16 to each doubling; or only the even ones.

    A slider is 250 pixels long: it cannot have a pixel for each of ten thousand values, and small sizes are
    where a step of one shows. Any other number can be had through the address.
    """
    stops, step = [], 1
    number = minimum
    while number < maximum:
        stops.append(number)
        step = 1 if number < 64 else 1 << (number.bit_length() - 5)
        number = (number // step + 1) * step
    return tuple(stop for stop in (*stops, maximum) if not (even and stop % 2))


def integer(parameter: Integer) -> int:
    """Draw a slider for a whole number."""
    url.seed(parameter)
    if parameter.minimum < parameter.maximum:  # a slider needs two stops
        chosen = st.session_state[parameter.name]
        stops = ladder(parameter.minimum, parameter.maximum, even=parameter.even)
        options = stops if chosen in stops else sorted({chosen, *stops})
        st.select_slider(_label(parameter.name), options, key=parameter.name, help=_help(parameter.name))
    return int(url.publish(parameter))


def index(name: str, count: int, default: int) -> int:
    """Draw a slider for one of `count` things numbered from 0; the last one if there is no such default."""
    return integer(Integer(name, min(default, count - 1), 0, count - 1))


def exact(name: str, minimum: int, maximum: int, default: int) -> int:
    """Draw a number field for a whole number, of which a slider could not show every one."""
    parameter = Integer(name, min(default, maximum), minimum, maximum)
    url.seed(parameter)
    st.number_input(_label(name), minimum, maximum, step=1, key=name, help=_help(name))
    return int(url.publish(parameter))


def real(parameter: Real, step: float) -> float:
    """Draw a number field."""
    url.seed(parameter)
    st.number_input(
        _label(parameter.name),
        parameter.minimum,
        parameter.maximum,
        step=step,
        format="%.6g",
        key=parameter.name,
        help=_help(parameter.name),
    )
    return float(url.publish(parameter))


def choice(parameter: Choice[str], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """Draw a choice of which one is always taken; `names` are words of the caller's, in place of ours."""
    url.seed(parameter)
    words = {
        option: names.get(option) or option_label(parameter.name, option) for option in parameter.options
    }
    look = {"key": parameter.name, "format_func": words.__getitem__, "help": _help(parameter.name)}
    if len(parameter.options) > MOST_PILLS:
        st.selectbox(_label(parameter.name), parameter.options, **look)
    else:
        draw = st.segmented_control if len(parameter.options) <= 4 else st.pills
        # Without `wrap` what does not fit is out of sight.
        draw(_label(parameter.name), parameter.options, required=True, wrap=True, **look)
    return str(url.publish(parameter))


def several(parameter: Several) -> list[str]:
    """Draw a choice of any number, none included."""
    url.seed(parameter)
    words = {option: option_label(parameter.name, option) for option in parameter.options}
    st.pills(
        _label(parameter.name),
        parameter.options,
        key=parameter.name,
        selection_mode="multi",
        format_func=words.__getitem__,
        help=_help(parameter.name),
        wrap=True,
    )
    return list(url.publish(parameter))


def pick(parameter: Integer, names: Sequence[str]) -> int:
    """Draw a list of words of which one is taken by its number; the words are shown as they are."""
    url.seed(parameter)
    st.selectbox(
        _label(parameter.name),
        range(parameter.minimum, parameter.maximum + 1),
        key=parameter.name,
        format_func=names.__getitem__,
        help=_help(parameter.name),
    )
    return int(url.publish(parameter))


def text(parameter: Text) -> str:
    """Draw a field for free text; say so where the text is longer than a link can carry."""
    url.seed(parameter)
    st.text_area(
        _label(parameter.name),
        key=parameter.name,
        max_chars=parameter.maximum,
        height=100,
        help=_help(parameter.name),
    )
    written = str(url.publish(parameter))
    if not url.fits(written):
        st.info(label("notice.long_link"), icon=":material/link_off:")
    return written


def reseed(parameter: Integer) -> int:
    """Draw a button that moves on to the next seed, and return the seed."""
    url.seed(parameter)
    seed = int(url.publish(parameter))
    after = {parameter.name: seed + 1 if seed < parameter.maximum else parameter.minimum}
    words = label("label.next_seed", seed=seed)
    st.button(
        words, key="next_seed", on_click=put, kwargs=after, icon=":material/casino:", help=_help("seed")
    )
    return seed


def put(**values: object) -> None:
    """Set parameters, drawn or not (a button's callback: it runs before the widgets are drawn)."""
    st.session_state.update(values)
    st.session_state["view"].update(values)


def switch(name: str, *, default: bool = False) -> bool:
    """Draw a switch that is on or off."""
    parameter = Switch(name, default)
    url.seed(parameter)
    st.toggle(_label(name), key=name, help=_help(name))
    return bool(url.publish(parameter))


def language() -> str:
    """Draw the choice of language; the reader's own is the default and stays out of the address."""
    own = browser_language()
    parameter = Choice("lang", (own, *(lang for lang in LANGUAGES if lang != own)))
    # Words are needed before the choice is drawn: for the notice of a bad link, then for the choice itself.
    speak(st.session_state.setdefault("lang", own))
    url.seed(parameter)
    speak(url.publish(parameter))
    return choice(parameter)


def shared() -> Settings:
    """Draw what every page shares."""
    return Settings(integer(SEQ_LEN), integer(D_MODEL), real(BASE, step=1000.0), choice(LAYOUT))


def choose(chosen: Settings) -> None:
    """Set the shared parameters (a button's callback: it runs before the widgets are drawn)."""
    st.session_state.update(asdict(chosen))


def settings() -> Settings:
    """Return the shared parameters of this run, as drawn by the frame."""
    return Settings(**{name: st.session_state[name] for name in ("seq_len", "d_model", "base", "layout")})


def option_label(name: str, option: str) -> str:
    """Return the words for one option."""
    return label(f"option.{name}.{option}")


def _label(name: str) -> str:
    return label(f"label.{name}")


def _help(name: str) -> str:
    return label(f"help.{name}")
