"""Never more than two runs at once, and none that waits for itself or for another's errand."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial

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
    others = []

    def run() -> None:
        with turns.turn():
            others.append("done")

    def read(model: str, key: str | None) -> str:
        start(run).join(LIMIT_S)
        return model

    monkeypatch.setattr(own, "read_from_hub", read)
    monkeypatch.setattr(turns, "_places", turns.Line(1))
    with turns.turn():
        assert own._read(own.Wish("org/model")) == "org/model"
        assert others == ["done"]


def test_who_has_waited_longest_goes_first_and_who_just_left_goes_last() -> None:
    line, went = turns.Line(1), []

    def run(name: int) -> None:
        line.wait()
        went.append(name)
        line.leave()

    line.wait()
    runs = []
    for name in range(5):
        runs.append(start(partial(run, name)))
        deadline = time.monotonic() + LIMIT_S
        while len(line._waiting) <= name and time.monotonic() < deadline:
            time.sleep(0.001)
    line.leave()
    run(5)  # at once, before any of the others had time to wake
    assert went == [0, 1, 2, 3, 4, 5]
    for each in runs:
        each.join(LIMIT_S)
        assert not each.is_alive()
