"""Every cache is bounded, in entries where it stands and in bytes by the server, and the proof can fail."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests import caches

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted(path for folder in ("pages", "posenc") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_cache_names_its_bound(path: Path) -> None:
    assert caches.unbounded(path.read_text(encoding="utf-8")) == []


def test_there_are_caches_to_look_at() -> None:
    assert len([name for path in SOURCES for name, _ in caches.caches(path.read_text(encoding="utf-8"))]) > 2


def test_all_cached_data_together_is_bounded_in_bytes() -> None:
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert settings["server"]["maxCacheDataSize"] == "64mb"


@pytest.mark.parametrize(
    "source",
    [
        "@st.cache_data\ndef f(): ...",
        "@st.cache_data()\ndef f(): ...",
        "@st.cache_data(ttl=60)\ndef f(): ...",
        "@st.cache_resource(max_entries=None)\ndef f(): ...",
        "f = st.cache_resource(show_spinner=False)(g)",
        "f = st.cache_resource(g)",
        "@cache_data\ndef f(): ...",
        "@functools.cache\ndef f(): ...",
        "@cache\ndef f(): ...",
        "@lru_cache\ndef f(): ...",
        "@lru_cache(maxsize=None)\ndef f(): ...",
        "@functools.lru_cache(typed=True)\ndef f(): ...",
        "def f():\n    @cache\n    def g(): ...",
        "many = map(functools.cache, functions)",
    ],
)
def test_a_cache_without_a_bound_is_found(source: str) -> None:
    assert len(caches.unbounded(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "@st.cache_data(max_entries=16, show_spinner=False)\ndef f(): ...",
        "f = st.cache_resource(max_entries=SOME)(g)",
        "@lru_cache(maxsize=2)\ndef f(): ...",
        "from functools import cache, lru_cache",
        "st.cache_data.clear()",
        "cache_size = 3",
    ],
)
def test_what_is_bounded_or_no_cache_is_let_pass(source: str) -> None:
    assert caches.unbounded(source) == []
