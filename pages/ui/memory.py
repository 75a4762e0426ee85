"""What the C library and Linux hold for this process: as little as can be, where they can be told so.

Each run is a thread of its own, and glibc gives threads up to eight heaps a core. What is free in one of them
is neither used by the others nor given back: after ten minutes of a hundred visitors two thirds of what the
heaps held were free. A heap for all of them costs no time, since most threads wait for their turn. And NumPy
asks for huge pages where an array is large; when it is gone, the system fills up again what is left of them.
"""

import ctypes
from typing import Any

HEAPS = 1
_M_ARENA_MAX = -8  # of <malloc.h>
_PR_SET_THP_DISABLE = 41  # of <linux/prctl.h>


def _call(name: str, *arguments: int) -> None:
    """Call a function of the C library, if it is there: those of macOS and musl have other allocators."""
    try:
        function: Any = getattr(ctypes.CDLL(None), name)
    except (AttributeError, TypeError):  # TypeError: Windows has no library without a name
        return
    function(*arguments)


def keep_small() -> None:
    """Let all threads share the heaps that there are, of small pages; to be called when there are few."""
    _call("mallopt", _M_ARENA_MAX, HEAPS)
    _call("prctl", _PR_SET_THP_DISABLE, 1, 0, 0, 0)


def give_back() -> None:
    """Give what is free in the heaps back to the system."""
    _call("malloc_trim", 0)
