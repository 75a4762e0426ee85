"""A server on this machine that answers like the Hugging Face Hub, and fails like it.

A model's file is asked for at /{id}/resolve/{revision}/{file}. The Hub redirects old names of models
(relative) and large files (to another host, whose answer has no header of the Hub's); ranges are answered by
whoever has the bytes. Source: what the code of huggingface_hub expects.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Hub(ThreadingHTTPServer):
    """Models → file → bytes; `faults` says what goes wrong for a model, `renamed` where one is now."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, models: Mapping[str, Mapping[str, bytes]], faults: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.models, self.faults = models, faults
        self.renamed: dict[str, str] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []  # path and headers
        self.sent = 0  # bytes of bodies
        self.closing = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def __enter__(self) -> Hub:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of visitors that leave in the middle, as they should."""


class _Answer(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        if self.path.startswith("/cdn/"):
            model, _, file = unquote(self.path[len("/cdn/") :]).partition("//")
            self._file(model, file, {})
        elif match := re.fullmatch(r"/(.+)/resolve/([^/]+)/(.+)", self.path):
            self._resolve(*map(unquote, match.groups()))
        else:
            self._say(404, {})

    def _resolve(self, model: str, revision: str, file: str) -> None:
        if new := self.server.renamed.get(model):
            self._say(307, {"Location": self.path.replace(f"/{model}/", f"/{new}/", 1)})
        elif fault := _STATUS.get(self.server.faults.get(model, "")):
            self._say(*fault)
        elif self.server.faults.get(model) == "loop":
            self._say(302, {"Location": self.path})
        elif self.server.faults.get(model) == "scheme":
            self._say(302, {"Location": "file:///etc/hostname"})
        elif model not in self.server.models:
            self._say(401, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"})
        elif revision not in ("main", "v1", COMMIT):
            self._say(404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"})
        elif file not in self.server.models[model]:
            self._say(404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})
        elif file.endswith(".safetensors"):
            size = str(len(self.server.models[model][file]))
            place = f"{self.server.url}/cdn/{model}//{file}"
            self._say(302, {"Location": place, "X-Repo-Commit": COMMIT, "X-Linked-Size": size})
        else:
            self._file(model, file, {"X-Repo-Commit": COMMIT})

    def _file(self, model: str, file: str, headers: dict[str, str]) -> None:
        data, fault = self.server.models[model][file], self.server.faults.get(model, "")
        first, last = self._range(len(data))
        if fault == "no_length":
            self._say(200, {"Transfer-Encoding": "chunked"}, length=False)
            self.wfile.write(b"0\r\n\r\n")
            return
        if fault == "no_ranges":
            self._body(200, headers, data)
            return
        if first >= len(data):
            self._say(416, {"Content-Range": f"bytes */{len(data)}"})
            return
        if fault == "wrong_range":
            first, last = first + 1, last + 1
        size = len(data) + (fault == "grows" and first > 0)
        span = {"Content-Range": f"bytes {first}-{min(last, size) - 1}/{size}"}
        if fault == "packed":
            span["Content-Encoding"] = "gzip"
        if fault == "slow":
            self.server.closing.wait(30)
        self._body(206, headers | span, data[first:last], fault)

    def _range(self, size: int) -> tuple[int, int]:
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        return (int(found[1]), min(int(found[2]) + 1, size)) if found else (0, size)

    def _body(self, status: int, headers: dict[str, str], data: bytes, fault: str = "") -> None:
        self._say(status, headers | {"Content-Length": str(len(data))}, length=False)
        if fault == "cut":
            data = data[: len(data) // 2]
        if fault == "drip":
            for byte in data[:100]:
                self.wfile.write(bytes([byte]))
                if self.server.closing.wait(0.02):
                    return
            data = data[100:]
        self.wfile.write(data)
        self.server.sent += len(data)
        if fault == "cut":
            self.close_connection = True

    def _say(self, status: int, headers: dict[str, str], *, length: bool = True) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if length:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


_STATUS: dict[str, tuple[int, dict[str, str]]] = {
    "gated": (401, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to model is restricted"}),
    "forbidden": (403, {}),
    "private": (401, {"X-Error-Message": "Invalid username or password."}),
    "gone": (404, {}),
    "busy": (429, {"Retry-After": "300"}),
    "down": (503, {}),
    "teapot": (418, {}),
}
