"""The pictures in the README, taken from the running app.

``POSENC_SCREENSHOT=1 python -m pytest tests/browser/test_screenshot.py`` writes them; otherwise they go to a
temporary folder, so that the way they are made stays tried.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from pages.ui.text import LANGUAGES
from tests.browser import harness

pytestmark = pytest.mark.browser

VARIABLE = "POSENC_SCREENSHOT"
HERE = Path(__file__).parent
SIZE = (1280, 860)
MAX_BYTES = 250_000


def png_size(path: Path) -> tuple[int, int]:
    header = path.read_bytes()[:24]
    assert header.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", header[16:24])
    return width, height


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_readmes_picture(visit: Callable[..., harness.View], tmp_path: Path, lang: str) -> None:
    picture = (HERE if os.environ.get(VARIABLE) else tmp_path) / f"screenshot.{lang}.png"
    view = visit("sinusoidal", lang=lang).resize(*SIZE)
    view.page.locator("#heatmap").evaluate("heading => heading.scrollIntoView()")
    view.settle()
    view.page.screenshot(path=picture)
    for shown in (picture, HERE / picture.name):  # the one taken now, and the one in the README
        assert png_size(shown) == SIZE
        assert 20_000 < shown.stat().st_size < MAX_BYTES
