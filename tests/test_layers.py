"""Arrows go one way, pages → posenc.figures → posenc, and each proof of it can fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import layers

ROOT = Path(__file__).resolve().parents[1]
CORE = sorted(p for p in (ROOT / "posenc").rglob("*.py") if "figures" not in p.parts)
FIGURES = sorted((ROOT / "posenc" / "figures").rglob("*.py"))
PAGES = sorted((ROOT / "pages").glob("*.py"))
PAGES_AND_UI = sorted((ROOT / "pages").rglob("*.py"))
SCRIPTS = sorted((ROOT / "pages").rglob("*.js"))
MARKUP = sorted((ROOT / "pages").rglob("*.html"))


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def loaded(statement: str, *packages: str) -> list[str]:
    """Run a statement in a fresh interpreter and return which of the packages it loaded."""
    script = f"{statement}\nimport sys\nprint(*sorted(set({packages!r}) & sys.modules.keys()))"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return run.stdout.split()


def test_core_loads_numpy_and_nothing_else_of_weight() -> None:
    assert loaded("import posenc", "streamlit", "plotly", "pandas", "scipy", "pages") == []


def test_figures_load_plotly_but_neither_streamlit_nor_pandas() -> None:
    heavy = ("plotly", "streamlit", "pandas", "plotly.express", "pages")
    assert loaded("import posenc.figures", *heavy) == ["plotly"]


def test_a_loaded_package_is_noticed() -> None:
    assert loaded("import posenc, plotly", "streamlit", "plotly") == ["plotly"]


@pytest.mark.parametrize("path", CORE, ids=name)
def test_core_imports_no_later_layer(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert layers.forbidden(source, "posenc.figures", "pages", "plotly", "streamlit", "pandas") == []


@pytest.mark.parametrize("path", FIGURES, ids=name)
def test_figures_import_no_page(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert layers.forbidden(source, "pages", "streamlit", "pandas", "plotly.express") == []


@pytest.mark.parametrize("path", PAGES_AND_UI, ids=name)
def test_pages_and_their_tools_leave_plotly_to_the_figures(path: Path) -> None:
    assert layers.forbidden(path.read_text(encoding="utf-8"), "plotly") == []


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_pages_hold_neither_mathematics_nor_prose(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert layers.forbidden(source, "numpy", "math", "scipy") == []
    assert layers.arithmetic(source) == []
    assert layers.prose(source) == []


def test_what_the_browser_draws_takes_all_words_from_the_catalogue() -> None:
    assert SCRIPTS
    assert MARKUP
    assert {name(path): layers.prose_of_script(path.read_text(encoding="utf-8")) for path in SCRIPTS} == {
        name(path): [] for path in SCRIPTS
    }
    assert {name(path): layers.prose_of_markup(path.read_text(encoding="utf-8")) for path in MARKUP} == {
        name(path): [] for path in MARKUP
    }


@pytest.mark.parametrize(
    "source",
    [
        "import pages",
        "import pages.ui.text as words",
        "from pages import frame",
        "from pages.ui import text",
        "def late():\n    from pages.ui.text import label",
    ],
)
def test_a_forbidden_import_is_found(source: str) -> None:
    assert layers.forbidden(source, "pages")


def test_a_subpackage_is_found_by_either_way_of_importing_it() -> None:
    assert layers.forbidden("from posenc import figures", "posenc.figures")
    assert layers.forbidden("import posenc.figures.lines", "posenc.figures")


def test_an_import_for_annotations_only_is_let_pass() -> None:
    assert layers.forbidden("if TYPE_CHECKING:\n    from plotly.graph_objects import Figure", "plotly") == []
    assert layers.forbidden("if DEBUG:\n    from plotly.graph_objects import Figure", "plotly")


def test_a_longer_name_is_not_mistaken_for_the_package() -> None:
    assert layers.forbidden("import pagesize", "pages") == []


@pytest.mark.parametrize("literal", ["Pick a position", "위치", "Row, column", "f'{n} rows of it'"])
def test_prose_is_found(literal: str) -> None:
    source = f"st.write({literal})" if literal.startswith("f'") else f"st.write({literal!r})"
    assert layers.prose(source)


@pytest.mark.parametrize(
    "literal", ["label.d_model", ":material/home:", "d_model", "query-params", " · ", "2px 3px"]
)
def test_a_key_is_not_mistaken_for_prose(literal: str) -> None:
    assert layers.prose(f"st.write({literal!r})") == []


@pytest.mark.parametrize(
    "source",
    [
        """tip.textContent = "Drag a box";""",
        """tip.textContent = 'Drag a box';""",
        """tip.innerHTML = `<b>${value}</b> of all values`;""",
        """say("최솟값");""",
        """const url = "http://a"; say("Drag a box");""",
        """return text.replace(/["]/g, "") + "of all values"; // "x\"""",
        """let a = b / c; say("Row, column"); let d = e / f;""",
    ],
)
def test_prose_of_a_script_is_found(source: str) -> None:
    assert layers.prose_of_script(source)


@pytest.mark.parametrize(
    "source",
    [
        """// Drag a box: "all of it".\nsay(words.keys);""",
        """/* Drag\n a box */ say("ArrowUp");""",
        """const line = `<path d="M${x} ${y}" class="a b"/>`;""",
        """context.font = `${size}px ${family}`;""",
        """f(/[&<>"]/g, "&amp;");""",
    ],
)
def test_code_of_a_script_is_not_mistaken_for_prose(source: str) -> None:
    assert layers.prose_of_script(source) == []


def test_prose_of_markup_is_found_and_tags_are_not_mistaken_for_it() -> None:
    assert layers.prose_of_markup("<p>Drag <b>boxes</b></p>") == ["Drag", "boxes"]
    assert layers.prose_of_markup("<p>더</p>") == ["더"]
    assert layers.prose_of_markup('<!-- in words --><button class="do in" title="">PNG</button> – ') == []


def test_what_authors_and_operators_read_is_not_mistaken_for_prose() -> None:
    assert layers.prose('LOG.exception("page %s failed", slug)') == []
    assert layers.prose('"""What this page shows."""') == []
    assert layers.prose('def draw():\n    """Draw the page."""') == []


@pytest.mark.parametrize(
    "expression", ["a * b", "table @ table.T", "p / base", "2 ** i", "n // 2", "f(x % 2)"]
)
def test_arithmetic_is_found(expression: str) -> None:
    assert layers.arithmetic(f"y = {expression}")


def test_the_next_row_is_not_mistaken_for_arithmetic() -> None:
    assert layers.arithmetic("last = rows - 1") == []
