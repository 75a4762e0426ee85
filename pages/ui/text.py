"""Words in the reader's language: short labels from one catalogue, prose from one Markdown file a page.

A missing key is an error, never a silent fallback to the other language.
"""

import math
import re
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

import streamlit as st

LANGUAGES = ("en", "ko")
FOLDER = Path(__file__).parents[1] / "text"
# Of the run in this thread. The session knows it as well, but takes its time: a page has hundreds of words.
_spoken: ContextVar[str] = ContextVar("_spoken")


# A bound that holds all there is: about 50 kB of labels a language, 10 kB of prose a page and language.
@lru_cache(maxsize=2)
def catalogue(lang: str) -> dict[str, str]:
    """Return the short labels of one language, with dotted keys: ``label.d_model``."""
    return dict(_flatten(tomllib.loads((FOLDER / f"{lang}.toml").read_text(encoding="utf-8"))))


@lru_cache(maxsize=64)
def sections(lang: str, page: str) -> dict[str, str]:
    """Return the prose of one page by section; a section starts at ``## name``."""
    text = (FOLDER / lang / f"{page}.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## +(\w+) *$", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


def fill(template: str, values: dict[str, object]) -> str:
    """Put values where ``{{name}}`` stands (single braces belong to LaTeX)."""
    if "{{" not in template:  # most are plain words
        return template
    return re.sub(r"\{\{(\w+)\}\}", lambda match: str(values[match[1]]), template)


def speak(lang: str) -> None:
    """Choose the language of all words from here on in this run."""
    _spoken.set(lang)


def language() -> str:
    """Return the language of this visit."""
    # The run of a fragment has not chosen one.
    return _spoken.get("") or str(st.session_state["lang"])


def browser_language() -> str:
    """Return the reader's own language as far as we speak it."""
    return "ko" if (st.context.locale or "").lower().startswith("ko") else "en"


def label(key: str, /, **values: object) -> str:
    """Return one short label."""
    return fill(catalogue(language())[key], values)


def prose(page: str, section: str, /, **values: object) -> str:
    """Return one section of a page's prose as Markdown."""
    return fill(sections(language(), page)[section], values)


def number(value: float, digits: int = 4) -> str:
    """Write a number as both languages do: thousands separated, a few significant digits."""
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.{digits}g}"


def numbers(values: Mapping[str, float], prefix: str = "") -> dict[str, str]:
    """Write several numbers: name → number, the names with a prefix."""
    return {f"{prefix}{name}": number(value) for name, value in values.items()}


def _flatten(tree: dict[str, object], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in tree.items():
        rows += (
            _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, str(value))]
        )
    return rows
