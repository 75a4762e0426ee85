"""The real app in a process of its own: for the browser tests, the headers and the load test."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Not a wait but a limit, wide enough for a machine that has other work too.
LIMIT_S = 120.0


@dataclass(frozen=True)
class Server:
    """A running app."""

    url: str
    log: Path
    pid: int


def streamlit_run(port: int) -> list[str]:
    """Return the README's command, as arguments of ``python -m``."""
    options = [f"--server.port={port}", "--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    return ["streamlit", "run", str(ROOT / "app.py"), *options]


def uvicorn(port: int) -> list[str]:
    """Return the same for another ASGI server."""
    return ["uvicorn", "--app-dir", str(ROOT), "--port", str(port), "app:app"]


def children(pid: int) -> list[int]:
    """Return the processes that a process has started, from /proc, so on Linux only."""
    found: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended meanwhile
            found += map(int, each.read_text().split())
    return found


@contextmanager
def serve(
    folder: Path, command: Callable[[int], list[str]] = streamlit_run, **environment: str
) -> Iterator[Server]:
    """Start the app on a free port of this machine, away from the code and the visitor's own settings."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = folder / "server.log"
    with path.open("w") as log:
        process = subprocess.Popen(
            # -P keeps this folder, which has a `pages` and a `posenc` too, off the server's import path.
            [sys.executable, "-P", str(Path(__file__).with_name("tied.py")), *command(port)],
            cwd=folder,
            env=os.environ | {"HOME": str(folder)} | environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    server = Server(f"http://127.0.0.1:{port}", path, process.pid)
    try:
        wait_until_healthy(server, process)
        yield server
    finally:
        process.terminate()
        try:
            process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def wait_until_healthy(server: Server, process: subprocess.Popen[bytes], seconds: float = LIMIT_S) -> None:
    """Return when the server answers; fail with its log if it ends or is silent for too long."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"the app did not start:\n{server.log.read_text()}")


def wait_until(true: Callable[[], bool], seconds: float = LIMIT_S) -> None:
    """Return when something has become true; fail where it does not."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise TimeoutError(f"still not so after {seconds:g} s")
        time.sleep(0.05)
