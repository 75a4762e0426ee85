"""What a browser says to Streamlit's websocket and what it keeps: one tab, without the drawing.

A tab sends ``BackMsg`` (rerun with this address, this page, these widget values) and receives ``ForwardMsg``
(a session's start, elements, an end). Of the elements it keeps what the next move needs: the widgets.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from pages.ui.text import LANGUAGES, catalogue

# A move without an answer by then is an error. Not a wait but a limit.
LIMIT_S = 60.0
# A browser forgets a message that this many full runs did not use (`global.maxCachedMessageAge`).
MESSAGE_AGE = 2

# What is true for one run only: a button, a box drawn on a heatmap.
TRIGGERS = ("trigger_value", "json_trigger_value")

ENDS = {
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    ForwardMsg.FINISHED_WITH_COMPILE_ERROR,
}


class Failure(Exception):
    """What a visitor must not see: a traceback, the notice of a failed page, an unknown page, no answer."""


@dataclass(frozen=True)
class Widget:
    """A widget on the page: its kind, the field of its value in a `WidgetState`, what it can be set to."""

    id: str
    kind: str
    field: str
    value: Any
    options: tuple[str, ...] = ()
    limits: tuple[float, ...] = ()
    fragment: str = ""

    @property
    def key(self) -> str:
        """The name that the page gave it: the third part of ``$$ID-hash-name``."""
        return self.id.split("-", 2)[2]


def read_widget(delta: Delta) -> Widget | None:
    """Read a widget that a person can move from an element; None for all other elements."""
    kind = delta.new_element.WhichOneof("type")
    if kind not in READERS:
        return None
    drawn = getattr(delta.new_element, kind)
    return READERS[kind](drawn, {"id": drawn.id, "kind": kind, "fragment": delta.fragment_id})


def _slider(drawn: Any, known: dict[str, Any]) -> Widget | None:
    if not drawn.options:
        return None  # a slider of plain numbers; the app has none
    value = drawn.raw_value if drawn.set_value else [drawn.options[int(i)] for i in drawn.default]
    return Widget(field="string_array_value", value=[*value], options=(*drawn.options,), **known)


def _button_group(drawn: Any, known: dict[str, Any]) -> Widget:
    options = tuple(option.content for option in drawn.options)
    value = drawn.raw_values if drawn.set_value else [options[i] for i in drawn.default]
    return Widget(field="string_array_value", value=[*value], options=options, **known)


def _selectbox(drawn: Any, known: dict[str, Any]) -> Widget:
    value = drawn.raw_value if drawn.set_value else drawn.options[drawn.default]
    return Widget(field="string_value", value=value, options=(*drawn.options,), **known)


def _number_input(drawn: Any, known: dict[str, Any]) -> Widget:
    value = drawn.value if drawn.set_value else drawn.default
    limits = (drawn.min, drawn.max, drawn.step)
    return Widget(field="double_value", value=value, limits=limits, **known)


def _heatmap(drawn: Any, known: dict[str, Any]) -> Widget | None:
    if drawn.component_name != "posenc.heatmap":
        return None
    (length,) = struct.unpack_from("<I", drawn.bytes)  # see posenc.figures.wire
    rows, columns = json.loads(drawn.bytes[4 : 4 + length])["shape"]
    known["id"] = _make_trigger_id(drawn.id, "events")  # what is heard once has a name of its own
    return Widget(field="json_trigger_value", value=None, limits=(rows, columns), **known)


def _plain(name: str) -> Callable[[Any, dict[str, Any]], Widget]:
    def read(drawn: Any, known: dict[str, Any]) -> Widget:
        return Widget(field=name, value=drawn.value if drawn.set_value else drawn.default, **known)

    return read


def _button(drawn: Any, known: dict[str, Any]) -> Widget:
    return Widget(field="trigger_value", value=False, **known)


READERS: dict[str, Callable[[Any, dict[str, Any]], Widget | None]] = {
    "slider": _slider,
    "button_group": _button_group,
    "selectbox": _selectbox,
    "number_input": _number_input,
    "checkbox": _plain("bool_value"),
    "text_area": _plain("string_value"),
    "text_input": _plain("string_value"),
    "button": _button,
    "bidi_component": _heatmap,
}


def read_failure(delta: Delta) -> str | None:
    """Return what an element says if it tells of a failure: a traceback, or the frame's notice."""
    element = delta.new_element
    if element.WhichOneof("type") == "exception":
        return f"{element.exception.type}: {element.exception.message}"
    if element.WhichOneof("type") == "alert":
        notices = {catalogue(lang)["notice.failure"] for lang in LANGUAGES}
        return element.alert.body if element.alert.body in notices else None
    return None


@dataclass
class Answer:
    """What came back for one move, and how long it took until the script had finished."""

    seconds: float = 0.0
    received: int = 0
    failures: list[str] = field(default_factory=list)


@dataclass
class _Kept:
    """What a message held, for when the server refers to it instead of sending it again."""

    widget: Widget | None
    failure: str | None
    run: int


class Tab:
    """One tab: a websocket, the address, the widgets on the page and their values.

    `session` names the one that the tab had before its connection was lost.
    """

    def __init__(self, url: str, slug: str = "", query: str = "", session: str = "") -> None:
        self.url, self.slug, self.query, self.session = url, slug, query, session
        self.widgets: dict[str, Widget] = {}
        self.values: dict[str, WidgetState] = {}
        self.pages: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self._page = ""
        self._paths: dict[str, tuple[int, ...]] = {}
        self._kept: dict[str, _Kept] = {}
        self._runs = 0
        self._socket: ClientConnection | None = None

    async def open(self) -> Answer:
        """Connect and run the page for the first time, by its address."""
        host = urlsplit(self.url).netloc
        start = time.perf_counter()
        self._socket = await connect(
            f"ws://{host}/_stcore/stream",
            # The second is a token of who is logged in.
            subprotocols=["streamlit", *(["none", self.session] if self.session else [])],  # type: ignore[list-item]  # its stubs want a NewType
            compression=None,
            max_size=None,
            open_timeout=LIMIT_S,
            proxy=None,
        )
        answer = await self._run(page_name=self.slug)
        answer.seconds = time.perf_counter() - start
        return answer

    async def close(self) -> None:
        """Leave."""
        if self._socket is not None:
            await self._socket.close()

    async def visit(self, slug: str) -> Answer:
        """Follow a link to another page; the address starts anew, and values on the page before are gone."""
        self.slug, self.query, self._page = slug, "", self.pages[slug]
        return await self._run()

    async def go_to(self, query: str) -> Answer:
        """Go to another address of the same page, as the back button does."""
        self.query = query
        return await self._run(is_history_navigation=True)

    async def move(self, moved: Widget, value: Any) -> Answer:
        """Set a widget; only its fragment runs if it stands in one."""
        self.values[moved.id] = _state(moved, value)
        try:
            return await self._run(fragment_id=moved.fragment)
        finally:
            if moved.field in TRIGGERS:
                self.values.pop(moved.id, None)  # gone already if the run did not draw it

    async def take(self, file: str) -> str:
        """Ask for the file of a download button to be made; return its path on the server."""
        assert self._socket is not None
        message = BackMsg()
        wanted = message.backend_operation_request
        wanted.request_id, wanted.session_id = file, self.session
        wanted.deferred_file.file_id = self.files[file]
        await self._socket.send(message.SerializeToString())
        async with asyncio.timeout(LIMIT_S):
            while True:
                answer = ForwardMsg.FromString(await self._socket.recv()).backend_operation_response
                if answer.request_id == file:
                    break
        if answer.error_msg:
            raise Failure(answer.error_msg)
        return str(answer.deferred_file.url)

    async def _run(self, **request: Any) -> Answer:
        assert self._socket is not None
        message = BackMsg(rerun_script=ClientState(query_string=self.query, **request))
        asked = message.rerun_script
        if self._page and not request.get("page_name"):
            asked.page_script_hash = self._page
        asked.widget_states.widgets.extend(self.values.values())
        asked.cached_message_hashes.extend(self._kept)
        asked.context_info.url, asked.context_info.locale = f"{self.url}/{self.slug}", "en-US"
        answer, start = Answer(), time.perf_counter()
        await self._socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(LIMIT_S):
                await self._receive(self._socket, answer)
        except TimeoutError:
            raise Failure(f"no answer within {LIMIT_S:g} s") from None
        answer.seconds = time.perf_counter() - start
        return answer

    async def _receive(self, socket: ClientConnection, answer: Answer) -> None:
        """Take messages until the script has finished."""
        run, fragment, seen, first = "", False, set(), ()
        while True:
            raw = await socket.recv()
            answer.received += len(raw)
            message = ForwardMsg.FromString(raw)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                run = message.metadata.run.script_run_id
                fragment = bool(message.metadata.run.fragment_ids)
                self._page = message.new_session.page_script_hash or self._page
                self.session = message.new_session.initialize.session_id or self.session
                if not fragment:
                    self.widgets.clear()
                    self.files.clear()
            elif kind == "navigation":
                self._page = message.navigation.page_script_hash
                self.pages = {p.url_pathname: p.page_script_hash for p in message.navigation.app_pages}
            elif kind == "page_info_changed":
                self.query = message.page_info_changed.query_string
            elif kind == "page_not_found":
                answer.failures.append(f"page not found: {self.slug!r}")
            elif kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
                answer.failures.append(message.session_event.script_compilation_exception.message)
            elif kind in ("delta", "ref_hash"):
                kept, path = self._element(message), tuple(message.metadata.delta_path)
                first = first or path
                button = message.delta.new_element.download_button
                if button.deferred_file_id:
                    self.files[button.label] = button.deferred_file_id
                    self._paths[button.label] = path
                    seen.add(button.deferred_file_id)
                if kept.widget is not None:
                    self._learn(kept.widget)
                    self._paths[kept.widget.key] = path
                    seen.add(kept.widget.id)
                answer.failures += [kept.failure] if kept.failure else []
            # The end of an earlier run may come late.
            elif (
                kind == "script_finished"
                and message.script_finished in ENDS
                and message.metadata.run.script_run_id in ("", run)
            ):
                break
        # As in a browser, what the run did not draw or use is gone. A fragment draws what holds it first.
        if fragment:
            drawn = {key: widget.id for key, widget in self.widgets.items()} | self.files
            for key, place in drawn.items():
                if place not in seen and self._paths[key][: len(first)] == first:
                    self.widgets.pop(key, None)
                    self.files.pop(key, None)
        else:
            self.values = {name: value for name, value in self.values.items() if name in seen}
            self._runs += 1
            self._kept = {h: k for h, k in self._kept.items() if self._runs - k.run <= MESSAGE_AGE}

    def _element(self, message: ForwardMsg) -> _Kept:
        if message.WhichOneof("type") == "ref_hash":
            kept = self._kept[message.ref_hash]
            kept.run = self._runs
            return kept
        kept = _Kept(read_widget(message.delta), read_failure(message.delta), self._runs)
        if message.metadata.cacheable:
            self._kept[message.hash] = kept
        return kept

    def _learn(self, drawn: Widget) -> None:
        self.widgets[drawn.key] = drawn
        if drawn.field not in TRIGGERS:
            self.values[drawn.id] = _state(drawn, drawn.value)


def _state(of: Widget, value: Any) -> WidgetState:
    state = WidgetState(id=of.id)
    if of.field == "string_array_value":
        state.string_array_value.data.extend(value)
    else:
        setattr(state, of.field, value)
    return state
