"""A short run against the real app meets no error; what a visitor must not see is counted as one."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.load import budget
from tests.load.measure import Report, Usage, measure
from tests.load.protocol import Answer, Tab, Widget
from tests.load.visitor import Visitor
from tests.serving import Server, children, serve

# Fails in as many ways as a page can; the address says how.
STUB = """
import os
import streamlit as st
from pages.ui.text import catalogue

st.slider("plain", 0, 9)
how = st.query_params.get("how")
if how == "notice":
    st.error(catalogue("ko")["notice.failure"])
elif how == "exception":
    st.exception(ValueError("shown"))
elif how == "raise":
    raise ValueError("raised")
elif how == "end":
    os._exit(3)
elif how == "nested":

    @st.fragment
    def inner():
        st.checkbox("inner", key="inner")

    @st.fragment
    def outer():
        st.download_button("outer", lambda: b"it")
        if st.checkbox("outer", True, key="outer"):
            st.container().checkbox("own", key="own")
            inner()

    @st.fragment
    def other():
        kind = st.checkbox("other", key="other")
        st.download_button(f"other {kind}", lambda: b"it")

    outer()
    other()
else:
    st.error("what the page is about")
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("app"), **budget.ALONE) as server:
        yield server


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("stub")
    script = folder / "stub.py"
    script.write_text(STUB)
    options = ["--server.address=127.0.0.1", "--server.fileWatcherType=none", "--server.headless=true"]
    root = str(Path(__file__).resolve().parents[2])

    def run(port: int) -> list[str]:
        return ["streamlit", "run", str(script), f"--server.port={port}", *options]

    with serve(folder, run, PYTHONPATH=root) as server:
        yield server


def test_two_visitors_meet_no_error(app: Server) -> None:
    report = asyncio.run(measure(app, 2, seconds=1.5, think=0.2, garbage=0.5))
    assert not report.failures, app.log.read_text()[-3000:]
    assert len(report.answers) > 2
    assert all(answer.received > 0 for answer in report.answers)
    assert 0 < report.idle <= report.warm
    assert "errors: 0" in "\n".join(report.lines())


def test_what_a_fragment_no_longer_draws_is_not_moved(stub: Server) -> None:
    async def left() -> list[set[str]]:
        tab = Tab(stub.url, query="how=nested")
        await tab.open()
        shown = [{*tab.widgets}]
        for moved, value in (("own", True), ("outer", False), ("outer", True)):
            await tab.move(tab.widgets[moved], value)
            shown.append({*tab.widgets})
        await tab.close()
        return shown

    everything = {"outer", "own", "inner", "other"}
    assert asyncio.run(left()) == [everything, everything, {"outer", "other"}, everything]


def test_a_file_that_a_fragment_no_longer_offers_is_not_taken(stub: Server) -> None:
    async def offered() -> list[set[str]]:
        tab = Tab(stub.url, query="how=nested")
        await tab.open()
        shown = [{*tab.files}]
        await tab.move(tab.widgets["other"], True)
        for file in tab.files:
            assert await tab.take(file)
        await tab.close()
        return [*shown, {*tab.files}]

    assert asyncio.run(offered()) == [{"outer", "other False"}, {"outer", "other True"}]


def test_what_a_visitor_must_not_see_is_counted(stub: Server) -> None:
    async def failures(query: str) -> list[str]:
        tab = Tab(stub.url, query=query)
        answer = await tab.open()
        await tab.close()
        return answer.failures

    assert asyncio.run(failures("")) == []
    for how, words in {"notice": "페이지", "exception": "shown", "raise": "raised"}.items():
        (found,) = asyncio.run(failures(f"how={how}"))
        assert words in found

    # A socket that closes is counted, too, and the visitor comes again.
    visitor = Visitor(stub.url, seed=0)
    visitor.link = lambda: "how=end"  # type: ignore[method-assign]  # this visitor only
    answers: list[Answer] = []

    async def visit() -> None:
        await visitor.arrive(0.0, lambda _, answer: answers.append(answer))
        await visitor.stay(time.monotonic() + 1, 0.05, lambda _, answer: answers.append(answer))

    asyncio.run(visit())
    first, *others = [answer.failures[0] for answer in answers]
    assert "ConnectionClosed" in first
    assert others
    assert all("Connect" in found for found in others)  # nobody is there any more


def test_a_report_says_what_was_measured() -> None:
    slow = [Answer(seconds=i / 100, received=2000) for i in range(1, 101)]
    report = Report(4, idle=80.0, warm=100.0, moves={"page": slow, "link": [Answer(failures=["no answer"])]})
    report.memory = [(float(second), 100.0 + second) for second in range(0, 601, 5)]
    text = "\n".join(report.lines())
    assert "moves:   100 times, p50    510 ms, p95    960 ms, max   1000 ms,      2 kB a move" in text
    assert "errors: 1\n            1 × no answer" in text
    assert "100 after one visitor, 160 after 60 s, 690 at the end (4.31 ×)" in text
    assert "147.50 MiB a session" in text


def test_memory_is_what_most_of_the_time_was_so() -> None:
    report = Report(1, idle=1.0, warm=1.0)
    report.memory = [(float(second), 900.0 if second in (60, 599) else 300.0) for second in range(600)]
    assert (report.mark, report.end) == ((60.0, 300.0), 300.0)


def test_a_thread_that_has_ended_is_no_reason_not_to_count_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed, gone = Path.glob, Path("/proc/self/task/0/children")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        monkeypatch.setattr(Path, "glob", lambda *asked: [gone, *listed(*asked), gone])
        assert child.pid in children(os.getpid())
        child.communicate()


def test_what_stops_the_watch_of_the_memory_is_an_error(app: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    read, reads = Usage.of, itertools.count()

    def fails_later(pid: int) -> Usage:
        if next(reads) == 4:  # idle, warm, when all are there, and once by the watch
            raise ZeroDivisionError
        return read(pid)

    monkeypatch.setattr(Usage, "of", fails_later)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(measure(app, 1, seconds=2.5, think=0.5))


def test_a_box_and_a_step_stay_on_what_they_are_drawn_on() -> None:
    visitor = Visitor("", seed=1)
    heatmap = Widget("$$ID-0-table_heatmap", "bidi_component", "json_trigger_value", None, limits=(1, 16_384))
    slider = Widget("$$ID-0-k", "slider", "string_array_value", ["b"], options=("a", "b", "c"))
    number = Widget("$$ID-0-base", "number_input", "double_value", 1.0, limits=(1.0, 1e9, 1000.0))
    for _ in range(200):
        ((top, bottom, left, right),) = [e["value"] for e in json.loads(str(visitor.other(heatmap)))]
        assert 0 <= top < bottom <= 1
        assert 0 <= left < right <= 16_384
        assert visitor.other(slider) in (["a"], ["b"], ["c"])
        assert 1.0 <= float(str(visitor.other(number))) <= 2001.0


def test_what_a_move_takes_and_keeps_is_seen(app: Server) -> None:
    async def opened() -> tuple[float, float, Answer]:
        tab = Tab(app.url, "similarity", "seq_len=10000000&d_model=16384")
        spent = await budget.cost(app.pid, tab.open)
        await tab.close()
        return spent

    peak, kept, answer = asyncio.run(opened())
    assert not answer.failures
    assert 1 < peak < 1000
    assert kept <= peak
