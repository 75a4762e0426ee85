"""A real file, dropped by a visitor in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from pages.ui.text import catalogue
from posenc import sinusoidal
from tests.browser import harness

pytestmark = pytest.mark.browser

INPUT = "[data-testid=stFileUploader] input[type=file]"


@pytest.mark.parametrize(("lang", "width"), [("en", 1280), ("ko", 390)])
def test_a_file_is_opened_seen_and_asked_for_again_after_a_reload(
    visit: Callable[..., harness.View], tmp_path: Path, lang: str, width: int
) -> None:
    words = catalogue(lang)
    table = sinusoidal(120, 64)
    table[80, 33] += 0.5
    file = tmp_path / "위치표.npy"
    np.save(file, table)

    view = visit("your-table", lang=lang, width=width, bring="file")
    view.page.locator(INPUT).set_input_files(file)
    view.page.wait_for_url("**opened=own**", wait_until="commit")
    view.settle()
    assert words["your_table.certain"].partition("{{")[0] in view.text
    assert "위치표" in view.text
    whole = view.charts
    view.page.locator(".st-key-go button").click()
    view.page.wait_for_url("**own_view=**", wait_until="commit")
    near = view.settle().charts
    assert sum(one != other for one, other in zip(whole, near, strict=True)) == 3  # these move together
    assert view.overflow == 0
    assert view.exceptions == []

    view.page.reload(wait_until="commit")
    view.settle()
    assert words["your_table.lost"][:40] in view.text
    view.page.locator(INPUT).set_input_files(file)
    view.page.get_by_text(words["your_table.lost"][:40]).wait_for(state="detached")
    assert view.settle().charts == whole
    assert view.errors + view.external == []
