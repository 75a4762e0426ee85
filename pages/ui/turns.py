"""Runs of pages take turns: threads that all run Python wait for each other anyway, and every switch costs.

With sixty visitors a move took half as long when runs waited in line as when all of them went on at once.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Two: while one waits for a file, or counts in NumPy, another goes on.
_places = threading.BoundedSemaphore(2)
_taken: ContextVar[bool] = ContextVar("_taken", default=False)


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a place, and keep it for as long as this lasts; inside a turn there is nothing to wait for."""
    if _taken.get():
        yield
        return
    with _places:
        token = _taken.set(True)
        try:
            yield
        finally:
            _taken.reset(token)


@contextmanager
def aside() -> Iterator[None]:
    """Let others go on while this run waits for something outside."""
    if not _taken.get():
        yield
        return
    _places.release()
    try:
        yield
    finally:
        _places.acquire()
