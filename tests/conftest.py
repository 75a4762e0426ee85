"""What all tests share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[1]

# The same examples on every run, and no clock: a slow machine is no fault of the code.
settings.register_profile("ci", derandomize=True, deadline=None)
# For a hunt: HYPOTHESIS_PROFILE=hunt pytest tests/posenc
settings.register_profile("hunt", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(autouse=True)
def unfolded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open all sections of a page, unless a test is marked ``folded``."""
    from pages.ui import layout

    if "frame" in request.fixturenames and not request.node.get_closest_marker("folded"):
        monkeypatch.setattr(layout, "UNFOLDED", True)


@pytest.fixture
def frame() -> Callable[..., AppTest]:
    """Open the frame as a visitor with this query would: ``frame(lang="ko", d_model="64").run()``."""
    from streamlit.testing.v1 import AppTest

    def open_frame(**query: str | list[str]) -> AppTest:
        app = AppTest.from_file(str(ROOT / "pages" / "frame.py"), default_timeout=60)
        for name, value in query.items():
            app.query_params[name] = value
        return app

    return open_frame
