"""A second process of the same app: Python runs one page at a time, so two cores need two processes.

The first process owns the port. It hands the connection of every second visitor's websocket to its twin,
which talks to that browser from then on: no message passes through two processes. What such a visitor asks
for over HTTP (a download, an upload) comes to the first process, which fetches it from the twin. All else
each can answer. Only Linux hands connections over so; elsewhere, and behind TLS of our own, one process
serves all.

``python -m pages.ui.twin SOCKET SETTINGS``, run by the first process, is the twin; it ends with the first.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.config_option import ConfigOption
from streamlit.runtime import get_instance
from streamlit.web import bootstrap
from streamlit.web.server.starlette.starlette_server import _get_uvicorn_config_kwargs

ROOT = Path(__file__).resolve().parents[2]
PROCESSES_VARIABLE = "POSENC_PROCESSES"
STREAM, UPLOAD, MEDIA = "/_stcore/stream", "/_stcore/upload_file/", "/media/"
# The first byte of what the first process sends; the request of a websocket follows.
WEBSOCKET, PLAIN = b"w", b"p"
READY = b"r"
MOST_REQUEST = 65_536  # bytes of a request without its body: what uvicorn takes, too
PATIENCE_S = 10.0  # for an answer, and for an orderly end

Headers = list[tuple[bytes, bytes]]


class Twin:
    """The twin, as the first process sees it."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self._control: socket.socket | None = None
        self._next_is_ours = True

    def start(self) -> None:
        """Start the twin; visitors are handed over from when it is ready."""
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "pages.ui.twin", str(theirs.fileno()), json.dumps(_settings())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=os.environ
                | {
                    PROCESSES_VARIABLE: "1",
                    "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
                    # What one has signed, the other must know.
                    "STREAMLIT_SERVER_COOKIE_SECRET": config.get_option("server.cookieSecret"),
                },
            )
        asyncio.get_running_loop().add_reader(self._control, self._hear, self._control)

    async def stop(self) -> None:
        """End the twin, and wait for it."""
        self._lose()
        if self.process is not None:
            try:
                await asyncio.to_thread(self.process.wait, PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def takes(self, scope: Scope) -> bool:
        """Say whether a websocket is for the twin: who comes back finds the process that knows them."""
        if not self.ready or not scope["path"].endswith(STREAM):
            return False
        # The browser names streamlit, a token and, when it comes back, its session.
        _, _, session = [*scope["subprotocols"], "", "", ""][:3]
        if session:
            return not _known(session)
        self._next_is_ours = not self._next_is_ours
        return self._next_is_ours

    def adopt(self, scope: Scope, send: Send) -> bool:
        """Hand a websocket's connection over before anything is answered; say whether that could be done."""
        transport = getattr(getattr(send, "__self__", None), "transport", None)
        if transport is None or transport.get_extra_info("ssl_object") is not None:
            return False
        lines = [
            b"GET " + _target(scope) + b" HTTP/1.1",
            *(b": ".join(header) for header in scope["headers"]),
        ]
        request = b"\r\n".join([*lines, b"", b""])
        if not self._pass(transport.get_extra_info("socket").fileno(), WEBSOCKET + request):
            return False
        transport.abort()  # this process's hold of the connection, which lives on in the twin
        return True

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the twin answer a request."""
        most = 2**20 * (config.get_option("server.maxUploadSize") + 1)
        body, more = bytearray(), True
        while more and len(body) <= most:
            message = await receive()
            if message["type"] == "http.disconnect":
                return  # half of an upload is none
            body += message.get("body", b"")
            more = message.get("more_body", False)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            passed = len(body) <= most and self._pass(theirs.fileno(), PLAIN)
            theirs.close()
            status, content = 413 if more else 503, b""
            headers: Headers = []
            if passed:
                with suppress(OSError, HTTPException):  # it ended meanwhile
                    status, headers, content = await asyncio.to_thread(_ask, ours, scope, bytes(body))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": content})

    def _pass(self, descriptor: int, words: bytes) -> bool:
        if self._control is None or len(words) > MOST_REQUEST:
            return False
        try:
            socket.send_fds(self._control, [words], [descriptor])
        except BlockingIOError:
            return False
        except OSError:
            self._lose()
            return False
        return True

    def _hear(self, control: socket.socket) -> None:
        heard = b""
        with suppress(OSError):
            heard = control.recv(1)
        if heard == READY:
            self.ready = True
        else:
            self._lose()

    def _lose(self) -> None:
        """Serve everybody here from now on; the twin ends when it hears nothing more."""
        self.ready = False
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None


class Shared:
    """ASGI middleware that shares visitors with the twin."""

    def __init__(self, app: ASGIApp, *, twin: Twin) -> None:
        self.app, self.twin = app, twin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and self.twin.takes(scope) and self.twin.adopt(scope, send):
            while (await receive())["type"] != "websocket.disconnect":
                pass  # uvicorn says so when it has let go
        elif scope["type"] == "http" and self.twin.ready and self._is_of_the_twin(scope["path"]):
            await self.twin.answer(scope, receive, send)
        elif scope["type"] == "http" and self.twin.ready and MEDIA in scope["path"]:
            await self._found_by_either(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    @staticmethod
    def _is_of_the_twin(path: str) -> bool:
        _, upload, session = path.partition(UPLOAD)
        return bool(upload) and not _known(session.partition("/")[0])

    async def _found_by_either(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that has no body; what is not here, the twin has, or nobody."""
        missing = False

        async def unless_missing(message: Message) -> None:
            nonlocal missing
            missing = missing or message.get("status") == 404
            if not missing:
                await send(message)

        await self.app(scope, receive, unless_missing)
        if missing:
            await self.twin.answer(scope, receive, send)


def processes() -> int:
    """Return how many processes are to serve, 1 or 2, as the environment says or the machine allows."""
    asked = os.environ.get(PROCESSES_VARIABLE, "2")
    if asked not in ("1", "2"):
        raise ValueError(f"{PROCESSES_VARIABLE} must be 1 or 2, got {asked!r}")
    return min(int(asked), len(os.sched_getaffinity(0))) if sys.platform == "linux" else 1


def _settings() -> dict[str, Any]:
    """Return what was set on the command line or found out at the start, which the twin cannot know."""
    given = (config._DEFINED_BY_FLAG, ConfigOption.STREAMLIT_DEFINITION)
    options = config.get_config_options().values()
    return {option.key.replace(".", "_"): option.value for option in options if option.where_defined in given}


def _known(session: str) -> bool:
    """Say whether a session is of this process, its visitor there or gone for a moment."""
    manager: Any = get_instance()._session_mgr
    return bool(manager.is_active_session(session) or manager._session_storage.get(session))


def _target(scope: Scope) -> bytes:
    return bytes(scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b""))


def _ask(connection: socket.socket, scope: Scope, body: bytes) -> tuple[int, Headers, bytes]:
    """Send a request over a connection, and wait for the answer."""
    http = HTTPConnection("twin")
    connection.settimeout(PATIENCE_S)
    http.sock = connection
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    for name in ("transfer-encoding", "content-length"):
        headers.pop(name, None)  # the body is here in one piece, however it came
    with suppress(BrokenPipeError):  # who refuses a request need not hear all of it
        http.request(scope["method"], _target(scope).decode("latin-1"), body or None, headers)
    answer = http.getresponse()
    lines = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.getheaders()]
    return answer.status, lines, answer.read()


class Server(uvicorn.Server):
    """A server without a port: its connections are handed to it."""

    def __init__(self, settings: uvicorn.Config, control: socket.socket) -> None:
        super().__init__(settings)
        self.control = control
        self.kept: set[Awaitable[Any]] = set()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        asyncio.get_running_loop().add_reader(self.control, self.hear)
        self.control.send(READY)

    def hear(self) -> None:
        """Take a connection; end with the first process."""
        words, descriptors = b"", []
        with suppress(OSError):
            words, descriptors, _, _ = socket.recv_fds(self.control, MOST_REQUEST, 1)
        if not descriptors:
            asyncio.get_running_loop().remove_reader(self.control)
            self.should_exit = True
            return
        task = asyncio.ensure_future(self.take(socket.socket(fileno=descriptors[0]), words))
        self.kept.add(task)  # the loop itself keeps no task
        task.add_done_callback(self.kept.discard)

    async def take(self, connection: socket.socket, words: bytes) -> None:
        """Go on with a connection from where the first process was."""
        kind = self.config.ws_protocol_class if words[:1] == WEBSOCKET else self.config.http_protocol_class
        protocol = kind(self.config, self.server_state, self.lifespan.state)  # type: ignore[misc, call-arg, operator]  # typed as a class or its name
        connection.setblocking(False)
        await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, connection)
        if len(words) > 1:
            protocol.data_received(words[1:])


def main(descriptor: str, settings: str) -> None:
    """Serve what the first process hands over."""
    config._main_script_path = str(ROOT / "app.py")
    bootstrap.load_config_options(json.loads(settings))
    uvicorn_settings = uvicorn.Config("app:app", log_level="warning", **_get_uvicorn_config_kwargs())
    Server(uvicorn_settings, socket.socket(fileno=int(descriptor))).run(sockets=[])


if __name__ == "__main__":
    main(*sys.argv[1:])
