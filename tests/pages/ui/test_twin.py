"""Two processes serve like one: whoever has a visitor, their files and their way back are the same."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from pages.ui import twin
from tests.load.protocol import Tab
from tests.serving import Server, children, serve, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere one process serves all")


@contextmanager
def two(folder: Path) -> Iterator[Server]:
    with serve(folder, POSENC_PROCESSES="2") as running:
        wait_until(lambda: bool(children(running.pid)) and listens(running))
        yield running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with two(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def ending(tmp_path: Path) -> Iterator[Server]:
    """Start a server that its test may end."""
    with two(tmp_path) as running:
        yield running


def twin_of(server: Server) -> int:
    (pid,) = children(server.pid)
    return pid


def connections(pid: int) -> int:
    """Count the open TCP connections of a process."""
    table = Path("/proc/net/tcp").read_text().splitlines()[1:]
    open_ones = {f"socket:[{line.split()[9]}]" for line in table}
    found = 0
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found += os.readlink(each) in open_ones
    return found


def listens(server: Server) -> bool:
    """Say whether the twin takes visitors, of which it has none before and none after."""

    async def come() -> bool:
        async with pair(server):
            taken = connections(twin_of(server)) == 1
        wait_until(lambda: connections(twin_of(server)) == 0)
        return taken

    return asyncio.run(come())


@asynccontextmanager
async def pair(server: Server, slug: str = "myths") -> AsyncIterator[list[Tab]]:
    """Open a page twice, so that each process has one visitor, and leave."""
    tabs = [Tab(server.url, slug), Tab(server.url, slug)]
    try:
        for tab in tabs:
            assert not (await tab.open()).failures
        yield tabs
    finally:
        for tab in tabs:
            await tab.close()


def both(server: Server, slug: str, act: Callable[[Tab], Awaitable[None]]) -> None:
    """Do the same as a visitor of either process."""

    async def do() -> None:
        async with pair(server, slug) as tabs:
            assert connections(twin_of(server)) == 1
            for tab in tabs:
                await act(tab)

    asyncio.run(do())


def fetch(url: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes, Message]:
    request = urllib.request.Request(url, body, headers, method="PUT" if body else "GET")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read(), refused.headers


def test_a_visitor_of_either_moves_visits_and_takes_files(server: Server) -> None:
    taken: list[bytes] = []

    async def act(tab: Tab) -> None:
        assert not (await tab.move(tab.widgets["pair"], [tab.widgets["pair"].options[-1]])).failures
        file = next(iter(tab.files))
        path = await tab.take(file)
        status, content, headers = await asyncio.to_thread(fetch, tab.url + path)
        assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="sinusoidal.npy"')
        assert headers["X-Content-Type-Options"] == "nosniff"
        taken.append(content)
        assert not (await tab.visit("similarity")).failures

    both(server, "sinusoidal", act)
    assert taken[0] == taken[1]
    assert taken[0].startswith(b"\x93NUMPY")


def test_what_nobody_has_is_not_found(server: Server) -> None:
    assert fetch(f"{server.url}/media/{'0' * 40}.npy")[0] == 404


def test_a_visitor_of_either_brings_a_file(server: Server) -> None:
    async def act(tab: Tab) -> None:
        def put(session: str, body: bytes) -> int:
            _, _, first = fetch(f"{tab.url}/_stcore/health")
            cookie = first.get("Set-Cookie", "").partition(";")[0]
            token = cookie.partition("=")[2]
            edge = "edge"
            form = f'--{edge}\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\n'.encode()
            form += body + f"\r\n--{edge}--\r\n".encode()
            kind = {"Content-Type": f"multipart/form-data; boundary={edge}", "Cookie": cookie}
            url = f"{tab.url}/_stcore/upload_file/{session}/one"
            return fetch(url, form, **kind, **{"X-Xsrftoken": token})[0]

        assert await asyncio.to_thread(put, tab.session, b"1,2\n3,4\n") == 204
        assert await asyncio.to_thread(put, "nobody", b"1,2\n") == 400

    both(server, "your-table", act)


@pytest.mark.parametrize(("pieces", "status"), [(2, 503), (300, 413)])
def test_a_request_that_cannot_be_passed_on_is_refused(pieces: int, status: int) -> None:
    sent: list[Any] = []
    left = [bytes(2**20)] * pieces

    async def receive() -> Any:
        return {"type": "http.request", "body": left.pop(), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(twin.Twin().answer({"type": "http", "path": "/_stcore/upload_file/a/b"}, receive, send))
    assert sent[0]["status"] == status
    assert len(left) in (0, 300 - 22)  # of a body that is too long the rest is not read


def test_half_of_a_request_is_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first, sent = twin.Twin(), []
    monkeypatch.setattr(first, "_pass", lambda *_: sent.append("passed"))
    said = [{"type": "http.request", "body": b"half", "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return said.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(first.answer({"type": "http", "path": "/_stcore/upload_file/a/b"}, receive, send))
    assert sent == []


def test_who_comes_back_finds_their_session(server: Server) -> None:
    async def act(tab: Tab) -> None:
        await tab.close()
        for _ in range(2):  # whoever's turn it is
            again = Tab(server.url, "myths", session=tab.session)
            await again.open()
            assert again.session == tab.session
            await again.close()

    both(server, "myths", act)


def test_without_its_twin_the_first_serves_everybody(ending: Server) -> None:
    os.kill(twin_of(ending), signal.SIGKILL)
    wait_until(lambda: not living(ending))

    async def come() -> None:
        async with pair(ending):
            pass

    asyncio.run(come())


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_the_twin_ends_with_the_first(ending: Server, sent: signal.Signals) -> None:
    pid = twin_of(ending)

    async def end() -> None:
        async with pair(ending):
            os.kill(ending.pid, sent)
            wait_until(lambda: not Path(f"/proc/{pid}").exists())

    asyncio.run(end())


def living(server: Server) -> list[int]:
    """Return the processes that a server has started and that still run."""
    return [pid for pid in children(server.pid) if ") Z " not in Path(f"/proc/{pid}/stat").read_text()]


def test_one_process_serves_all_where_that_is_asked_for(tmp_path: Path) -> None:
    with serve(tmp_path, POSENC_PROCESSES="1") as server:

        async def come() -> None:
            async with pair(server):
                assert children(server.pid) == []

        asyncio.run(come())


@pytest.mark.parametrize("asked", ["0", "3", "", "two"])
def test_another_number_of_processes_is_refused(monkeypatch: pytest.MonkeyPatch, asked: str) -> None:
    monkeypatch.setenv(twin.PROCESSES_VARIABLE, asked)
    with pytest.raises(ValueError, match="POSENC_PROCESSES must be 1 or 2"):
        twin.processes()
