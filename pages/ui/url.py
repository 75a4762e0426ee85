"""The view in the address bar: one language-free value a parameter, defaults left out.

Streamlit's own ``bind="query-params"`` writes an option's *translated* label into the address, so a link
copied from a Korean page would not open for an English reader. Here the value itself travels.
"""

import re
from typing import Any, Protocol
from urllib.parse import quote

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.ui.text import label

NUMBER = {
    bool: r"[01]",
    int: r"-?[0-9]{1,19}",
    float: r"-?[0-9]{1,12}(\.[0-9]{1,12})?(e[+-]?[0-9]{1,3})?",
}

# A request line of 8 KB is the most that common proxies take, and the rest of the view needs some of it.
MAX_WRITTEN = 6000


class Parameter(Protocol):
    """What a parameter of the core offers: a name, a default, and a check that raises ValueError."""

    @property
    def name(self) -> str: ...
    @property
    def default(self) -> Any: ...
    def check(self, value: Any) -> Any: ...


def parse(parameter: Parameter, texts: list[str]) -> Any:
    """Return the value that the address gives, or raise ValueError.

    Only ASCII digits count: ``int`` would also take ``6_4`` and full-width digits.
    """
    (text,) = texts  # a repeated parameter is refused here
    kind = type(parameter.default)
    if kind is str:
        return parameter.check(text)
    if kind is list:
        return parameter.check(text.split(".") if text else [])
    if not re.fullmatch(NUMBER[kind], text):
        raise ValueError(f"{parameter.name} is not written as a number in the address")
    return parameter.check(bool(int(text)) if kind is bool else kind(text))


def write(value: Any) -> str:
    """Return the text that stands for a value in the address."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        return ".".join(value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def fits(value: Any) -> bool:
    """Say whether a value, written into the address, leaves a link that servers on the way accept."""
    return len(quote(write(value))) <= MAX_WRITTEN


def seed(parameter: Parameter) -> None:
    """Give the widget called ``parameter.name`` its value before it is drawn.

    The address wins on the first run and when the visitor goes back or forward; otherwise what the visitor
    chose stays, also when the page was left in between. A choice no longer possible (a position past a
    table that became shorter) falls back to the default. A default that nobody changed follows the new
    default, as it does for who opens the link: it does not stand in the address.
    """
    name, kept = parameter.name, st.session_state.setdefault("view", {})
    defaults = st.session_state.setdefault("defaults", {})
    context = get_script_run_ctx()
    if name not in kept or (context is not None and context.is_history_navigation):
        value = _from_address(parameter)
    else:
        value = st.session_state.get(name, kept[name])
        if value == defaults.get(name):
            value = parameter.default
    defaults[name] = parameter.default
    try:
        st.session_state[name] = parameter.check(value)
    except ValueError:
        st.session_state[name] = parameter.default


def publish(parameter: Parameter) -> Any:
    """Remember the value of a drawn widget, put it into the address, and return it."""
    name, value = parameter.name, st.session_state[parameter.name]
    st.session_state["view"][name] = value
    if value == parameter.default or not fits(value):
        st.query_params.pop(name, None)
    elif st.query_params.get_all(name) != [write(value)]:
        st.query_params[name] = write(value)
    return value


def _from_address(parameter: Parameter) -> Any:
    texts = st.query_params.get_all(parameter.name)
    if not texts:
        return parameter.default
    try:
        return parse(parameter, texts)
    except ValueError:
        shown = label("notice.bad_link", name=parameter.name, value=write(parameter.default) or "–")
        st.toast(shown, duration="long")
        return parameter.default
