"""The ASGI app: Streamlit runs ``pages/frame.py`` inside it, behind security headers.

``streamlit run app.py`` and ``uvicorn app:app`` both start it, from any working directory.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path

# Read when NumPy is loaded, so set before that. A second thread waits for the first in a busy loop: where
# visitors share the cores, one decomposition took twenty times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# `posenc` and `pages` stand beside this file, which need not be the working directory.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pages.ui import memory

memory.keep_small()  # before there are threads, each with a heap of its own

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config

from pages.ui import twin
from pages.ui.headers import FRAME_ANCESTORS_VARIABLE, SecurityHeaders, content_security_policy

ROOT = Path(__file__).resolve().parent
PAUSE_S = 20.0
# By every page: our figures, and what Streamlit loads when it first draws an icon.
NEEDED = ("posenc.figures", "streamlit.emojis", "streamlit.material_icon_names", "PIL.Image")
MOST_NEW = 20_000  # objects made before Python looks for cycles: a run makes several thousand

# `streamlit run` reads .streamlit/config.toml beside this file. Under another ASGI server Streamlit
# would look beside pages/frame.py, find nothing, and show visitors tracebacks.
if config._main_script_path is None:
    config._main_script_path = str(ROOT / "app.py")


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Import what every page needs before a visitor waits, and spare it from garbage collection."""
    for name in NEEDED:
        importlib.import_module(name)
    # Streamlit looks its settings up anew for every message. None changes while the app serves.
    config.get_option = cache(config.get_option)
    config.get_options_for_section = cache(config.get_options_for_section)
    gc.set_threshold(MOST_NEW)
    gc.collect()
    gc.freeze()
    if twin.processes() > 1:
        second.start()
    tidying = asyncio.create_task(tidy())
    yield
    tidying.cancel()
    await second.stop()


async def tidy() -> None:
    """Give back what runs and visitors have left.

    Each run leaves a few hundred objects of Streamlit's that hold each other. Python's own collector counts
    objects, not bytes, and comes late. All wait for a collection, which takes one to three milliseconds a
    visitor (imports are frozen).
    """
    while True:
        await asyncio.sleep(PAUSE_S)
        gc.collect()
        memory.give_back()


policy = content_security_policy(
    Path(st.__file__).parent / "static" / "index.html",
    os.environ.get(FRAME_ANCESTORS_VARIABLE, "'self'"),
)

second = twin.Twin()
app = st.App(
    ROOT / "pages" / "frame.py",
    lifespan=lifespan,
    middleware=[Middleware(SecurityHeaders, policy=policy), Middleware(twin.Shared, twin=second)],
)
