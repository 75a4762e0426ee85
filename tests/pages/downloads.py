"""What a page offers to take away: file name → what makes the file, as it is called when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st

Files = dict[str, Callable[[], bytes]]


def listen(monkeypatch: pytest.MonkeyPatch) -> Files:
    """Fill and return the files that are offered from here on; a later run takes the place of an earlier."""
    found: Files = {}
    draw = st.download_button

    def download_button(label: str, data: Callable[[], bytes], file_name: str, **look: Any) -> bool:
        found[file_name] = data
        return bool(draw(label, data, file_name, **look))

    monkeypatch.setattr(st, "download_button", download_button)
    return found
