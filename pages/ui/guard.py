"""What a visitor sees when a part of a page fails: one sentence, with everything else in place."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from pages.ui import shown, turns
from pages.ui.text import label

LOG = logging.getLogger("posenc")
Arguments = ParamSpec("Arguments")


def guarded(part: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Return a part of a page that says so when it fails, and leaves the traceback to the log."""

    @wraps(part)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            part(*args, **kwargs)
        except Exception:
            LOG.exception("%s failed", part.__qualname__)
            st.error(label("notice.failure"), icon=":material/error:")

    return run


def fragment(part: Callable[Arguments, None]) -> Callable[Arguments, None]:
    """Return a part of a page that is redrawn by itself when one of its widgets changes.

    Streamlit catches what fails in its fragments before the frame could, and shows its own words. It knows a
    fragment by its name and runs it again with its first arguments: so each finds its place in what is shown.
    """
    safe = guarded(part)

    @st.fragment
    @wraps(part)
    def again(place: shown.Part, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        with turns.turn(), shown.within(place):
            safe(*args, **kwargs)

    @wraps(part)
    def run(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        again(shown.place(), *args, **kwargs)

    return run
