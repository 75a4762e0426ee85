"""Never more than two runs at once, and none that waits for itself or for another's errand."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from pages.ui import own, turns

LIMIT_S = 10.0


def start(part: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=part, daemon=True)
    thread.start()
    return thread


def test_a_third_waits_until_one_has_done() -> None:
    within, leave = threading.Semaphore(0), threading.Semaphore(0)

    def run() -> None:
        with turns.turn():
            within.release()
            leave.acquire()

    runs = [start(run) for _ in range(3)]
    assert within.acquire(timeout=LIMIT_S)
    assert within.acquire(timeout=LIMIT_S)
    assert not within.acquire(timeout=0.1)
    leave.release()
    assert within.acquire(timeout=LIMIT_S)
    leave.release(2)
    for each in runs:
        each.join(LIMIT_S)
        assert not each.is_alive()


def test_a_part_within_a_turn_has_it_already() -> None:
    def run() -> None:
        with turns.turn(), turns.turn(), turns.turn():
            pass

    running = start(run)
    running.join(LIMIT_S)
    assert not running.is_alive()


def test_who_fails_gives_the_turn_back() -> None:
    for _ in range(3):
        with pytest.raises(ValueError, match="failed"), turns.turn():
            raise ValueError("failed")


def test_who_waits_outside_lets_others_go_on() -> None:
    done = threading.Event()

    def run() -> None:
        with turns.turn():
            done.set()

    with turns.aside():  # without a turn there is none to give
        pass
    with turns.turn(), turns.turn():
        holding, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with turns.turn():
                holding.set()
                leave.wait(LIMIT_S)

        other = start(hold)
        assert holding.wait(LIMIT_S)
        third = start(run)
        assert not done.wait(0.1)
        with turns.aside():
            assert done.wait(LIMIT_S)
        leave.set()
        for each in (other, third):
            each.join(LIMIT_S)
            assert not each.is_alive()


def test_who_waits_for_the_hub_lets_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    free = []

    def read(model: str, key: str | None) -> str:
        free.append(turns._places.acquire(timeout=0.1))
        turns._places.release()
        return model

    monkeypatch.setattr(own, "read_from_hub", read)
    with turns._places, turns.turn():  # both are taken
        assert own._read(own.Wish("org/model")) == "org/model"
    assert free == [True]
