"""The heatmaps that a page sends, read by the letter of what `posenc.figures.wire` says about a message."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

EMPTY = 65535


@dataclass(frozen=True)
class Message:
    """What the canvas draws from: the entries of the JSON, and the arrays as they are sent."""

    head: dict[str, Any]
    arrays: dict[str, NDArray[Any]] = field(repr=False)

    def plane(self, name: str) -> NDArray[np.float64]:
        """Return ``mean``, ``least`` or ``greatest`` of every cell, NaN where there is none."""
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
    return Message(head, arrays)


def pictures(app: AppTest) -> dict[str, Message]:
    """Return the heatmaps on a page by their keys, in their order on the page."""
    protos = [element.proto for element in app.get("bidi_component")]
    messages = [read(proto.bytes) for proto in protos if proto.component_name == "posenc.heatmap"]
    return {message.head["key"]: message for message in messages}
