"""The README in both languages: its code runs, its commands and paths exist, and both say the same."""

from __future__ import annotations

import ast
import contextlib
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pages.ui import sitemap
from pages.ui.headers import FRAME_ANCESTORS_VARIABLE
from pages.ui.text import catalogue
from posenc.hub import OFF_VARIABLE

ROOT = Path(__file__).resolve().parents[1]
FILES = {"en": "README.md", "ko": "README.ko.md"}
TEXTS = {lang: (ROOT / name).read_text(encoding="utf-8") for lang, name in FILES.items()}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


def blocks(lang: str, kind: str) -> list[str]:
    return [body for found, body in BLOCK.findall(TEXTS[lang]) if found == kind]


@pytest.mark.parametrize("lang", FILES)
def test_the_notebook_example_prints_what_it_says_and_shows_a_figure(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,), (printed,) = blocks(lang, "python"), blocks(lang, "text")
    *lines, last = ast.parse(code).body
    assert isinstance(last, ast.Expr)  # what a notebook shows by itself
    names: dict[str, Any] = {}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(ast.Module(lines, []), FILES[lang], "exec"), names)
        shown = eval(compile(ast.Expression(last.value), FILES[lang], "eval"), names)
    assert out.getvalue() == printed
    assert len(code.splitlines()) <= 11
    assert "mean cosine" in shown._repr_html_()
    rows = sinusoidal_rows(50, 128)
    expected = [np.mean([cosine(rows[p], rows[p + k]) for p in range(50 - k)]) for k in range(50)]
    np.testing.assert_allclose(shown.data[0].y, expected, atol=1e-6)


def sinusoidal_rows(n: int, width: int) -> list[list[float]]:
    """Return the rows of the paper, sines first, one number at a time."""
    rates = [10_000 ** (-2 * i / width) for i in range(width // 2)]
    return [[turn(p * rate) for turn in (math.sin, math.cos) for rate in rates] for p in range(n)]


def cosine(a: list[float], b: list[float]) -> float:
    return float(np.dot(a, b) / math.sqrt(np.dot(a, a) * np.dot(b, b)))


@pytest.mark.parametrize("lang", FILES)
def test_there_are_two_commands_and_they_are_these(lang: str) -> None:
    assert blocks(lang, "sh") == [
        "pip install -r requirements.txt && streamlit run app.py\n",
        "pip install -r requirements-dev.txt && python -m tests\n",
    ]


@pytest.mark.parametrize("lang", FILES)
def test_every_path_exists(lang: str) -> None:
    quoted = re.findall(r"`([^`\n]+)`", BLOCK.sub("", TEXTS[lang]))
    named = [word for text in quoted for word in text.split() if re.match(r"[\w.-]+(/|\.\w+$)", word)]
    named += re.findall(r"\]\((?!http)([^)]+)\)", TEXTS[lang])
    # Names of modules have dots, too, and a place to fill in is no path.
    paths = [word for word in named if "<" not in word and not word.startswith(("posenc.", "tests."))]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    modules = re.findall(r"python -m (tests[\w.]*)", TEXTS[lang])
    for module in modules:
        place = ROOT / module.replace(".", "/")
        assert place.with_suffix(".py").exists() or (place / "__main__.py").exists()


@pytest.mark.parametrize("lang", FILES)
def test_every_page_stands_there_with_its_question(lang: str) -> None:
    rows = re.findall(r"^\| `/([\w-]*)` \| (.*) \|$", TEXTS[lang], flags=re.MULTILINE)
    words = catalogue(lang)
    assert rows == [(entry.slug, words[f"page.{entry.name}.question"]) for entry in sitemap.PAGES]


@pytest.mark.parametrize("lang", FILES)
def test_every_package_is_named(lang: str) -> None:
    required = {
        re.split(r"[=<>;\[ ]", line)[0]
        for path in ROOT.glob("requirements*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith(("#", "-r"))
    }
    cells = re.findall(r"^\| ([a-z, -]+) \|", TEXTS[lang], flags=re.MULTILINE)
    listed = {name for cell in cells for name in cell.split(", ")}
    assert {name.removesuffix("-cpu") for name in required} <= listed


@pytest.mark.parametrize("lang", FILES)
def test_names_that_visitors_of_a_server_need_are_right(lang: str) -> None:
    assert f"`{FRAME_ANCESTORS_VARIABLE}`" in TEXTS[lang]
    assert f"`{OFF_VARIABLE}=off`" in TEXTS[lang]
    health = "/_stcore/health"
    assert health in TEXTS[lang]
    assert health in (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_both_languages_have_the_same_shape() -> None:
    def shape(text: str) -> list[object]:
        headings = len(re.findall(r"^#+ ", text, flags=re.MULTILINE))
        rows = len(re.findall(r"^\|", text, flags=re.MULTILINE))
        items = len(re.findall(r"^(?:-|\d\.) ", text, flags=re.MULTILINE))
        quoted = sorted(set(re.findall(r"`([^`\n]+)`", text)))
        numbers = sorted(re.findall(r"\d+\.\d+", text))
        return [headings, rows, items, quoted, numbers, BLOCK.findall(text)]

    assert shape(TEXTS["en"]) == shape(TEXTS["ko"])
    assert all(len(text.splitlines()) <= 190 for text in TEXTS.values())
