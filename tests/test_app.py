"""What must be in place before the first page is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("server", ["streamlit.web.bootstrap", "uvicorn"])
@pytest.mark.parametrize(("given", "taken"), [(None, "1"), ("2", "2")])
def test_linear_algebra_is_told_its_threads_before_it_is_loaded(
    tmp_path: Path, server: str, given: str | None, taken: str
) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {server}, app, os\n"
        "print('numpy' in sys.modules, os.environ['OPENBLAS_NUM_THREADS'])"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=environment | ({"OPENBLAS_NUM_THREADS": given} if given else {}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert run.stdout.split() == ["False", taken]


def test_what_a_visitor_left_is_given_back_while_the_server_runs(tmp_path: Path) -> None:
    script = f"""
import asyncio, gc, sys, weakref
sys.path.insert(0, {str(ROOT)!r})
from pages.ui import memory

done = []
memory.keep_small = lambda: done.append("streamlit" in sys.modules)
memory.give_back = lambda: done.append("given")
import app

class Page: ...

async def main():
    async with app.lifespan(app.app):
        page = Page()
        page.itself, left = page, weakref.ref(page)
        gc.disable()
        del page
        for _ in range(200):
            await asyncio.sleep(0.05)
            if left() is None and "given" in done:
                break
        print(left() is None, *done[:2])
    await asyncio.sleep(0)
    print(len(asyncio.all_tasks()))

app.PAUSE_S = 0.05
asyncio.run(main())
"""
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["True", "False", "given", "1"]
