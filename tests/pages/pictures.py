"""The pictures that a page sends, read as the browser reads them, and what a reader does with them.

Heatmaps come as bytes: see `posenc.figures.wire`, by the letter of which they are read here. The others are
plotly figures.
"""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

EMPTY = 65535


@dataclass(frozen=True)
class Message:
    """What the canvas draws from: the entries of the JSON, and the arrays as they are sent."""

    sent: bytes = field(repr=False)
    head: dict[str, Any] = field(compare=False)
    arrays: dict[str, NDArray[Any]] = field(compare=False, repr=False)

    def plane(self, name: str) -> NDArray[np.float64]:
        """Return ``mean``, ``least`` or ``greatest`` of every cell, NaN where there is none."""
        if name not in self.arrays and name == "mean":  # of at most two values, midway between them
            return (self.plane("least") + self.plane("greatest")) / 2
        sent = self.arrays[name].reshape(self.head["cells"])
        if "scale" not in self.head:
            return sent.astype(np.float64)
        low, step = self.head["scale"]
        return np.where(sent == EMPTY, np.nan, low + step * sent.astype(np.float64))

    @property
    def mean(self) -> NDArray[np.float64]:
        """The value of every cell."""
        return self.plane("mean")

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the colour scale."""
        low, high = self.head["limits"]
        return low, high

    @property
    def view(self) -> tuple[int, int, int, int]:
        """First row, end of the rows, first column, end of the columns."""
        top, bottom, left, right = self.head["view"]
        return top, bottom, left, right

    @property
    def rows(self) -> list[str]:
        """Labels of the rows."""
        return list(self.head["rows"]["labels"])


def read(sent: bytes) -> Message:
    """Read a message; every byte of it must be accounted for."""
    (length,) = struct.unpack_from("<I", sent)
    at = 4 + length
    head, arrays = json.loads(sent[4:at]), {}
    for name, kind, count in head["arrays"]:
        arrays[name] = np.frombuffer(sent, np.dtype(kind).newbyteorder("<"), count, at)
        at += arrays[name].nbytes
    assert at == len(sent)
    return Message(sent, head, arrays)


def pictures(app: AppTest) -> dict[str, Message]:
    """Return the heatmaps on a page by their keys, in their order on the page."""
    messages = [read(element.proto.bytes) for element in app.get("bidi_component")]
    return {message.head["key"]: message for message in messages}


def act(app: AppTest, key: str, *, keep: bool = False, **events: Any) -> AppTest:
    """Do on a heatmap what tells the server of these events, as ``act(app, "table", view=[3, 9, 0, 4])``.

    Our canvas sends events that are heard once. A forged message may also `keep` them as the component's
    state. `AppTest` knows no components: this writes the browser's message.
    """
    (place,) = (
        element.proto.id
        for element in app.get("bidi_component")
        if element.proto.id.endswith(f"-{key}_heatmap")
    )
    states = app._tree.get_widget_states()
    if keep:
        states.widgets.append(WidgetState(id=place, json_value=json.dumps(events)))
    else:
        payloads = [{"event": event, "value": value} for event, value in events.items()]
        place = _make_trigger_id(place, "events")
        states.widgets.append(WidgetState(id=place, json_trigger_value=json.dumps(payloads)))
    return app._run(states)


def charts(app: AppTest) -> dict[str, dict[str, Any]]:
    """Return the plotly figures on a page by their keys."""
    found = app.get("plotly_chart")
    return {chart.proto.id.rsplit("-", 1)[-1]: json.loads(chart.proto.spec) for chart in found}


def array(values: Any) -> NDArray[np.float64]:
    """Read an array as plotly sends it: typed bytes, or a list."""
    if not isinstance(values, dict):
        return np.asarray(values, dtype=float)
    flat = np.frombuffer(base64.b64decode(values["bdata"]), dtype=f"<{values['dtype']}")
    shape = [int(size) for size in str(values.get("shape", flat.size)).split(",")]
    return flat.reshape(shape).astype(float)
