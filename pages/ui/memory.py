"""What the C library and Linux hold for this process: as little as can be, where they can be told so.

Each run is a thread of its own, and glibc gives threads up to eight heaps a core. What is free in one of them
is neither used by the others nor given back: after ten minutes of a hundred visitors it was two thirds of all
memory. Two heaps, one for each run that takes its turn, cost no time. And NumPy asks for huge pages where an
array is large; when it is gone, the system fills what is left of them up again, two megabytes at a time.
"""

import ctypes
from typing import Any

HEAPS = 2
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
    """Let all threads share a few heaps, of small pages; to be called before there are many."""
    _call("mallopt", _M_ARENA_MAX, HEAPS)
    _call("prctl", _PR_SET_THP_DISABLE, 1, 0, 0, 0)


def give_back() -> None:
    """Give what is free in the heaps back to the system."""
    _call("malloc_trim", 0)
