"""Every formula is one that KaTeX, with which Streamlit shows them, can set."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import Browser

from posenc import formulas
from posenc.mistakes import MISTAKES
from posenc.registry import SCHEMES

pytestmark = pytest.mark.browser

STATIC = Path(streamlit.__file__).parent / "static" / "static" / "js"
FORMULAS = (
    {
        f"formulas.{name} {part}": formula
        for name, value in vars(formulas).items()
        if name.isupper() and name != "MOVED"
        for part, formula in (value if isinstance(value, dict) else {"": value}).items()
    }
    | {f"scheme {name}": scheme.formula for name, scheme in SCHEMES.items()}
    | {f"mistake {name}": mistake.formula_latex for name, mistake in MISTAKES.items()}
    | {"a broken one": r"\begin{aligned}x", "an unknown word": r"x,\qquadt"}
)
REFUSED = """async ([source, formulas]) => {
    const { default: katex } = await import(source);
    return Object.keys(formulas).filter((name) => {
        try {
            katex.renderToString(formulas[name], { displayMode: true, throwOnError: true, strict: "error" });
            return false;
        } catch (error) {
            return true;
        }
    });
}"""


def test_katex_sets_every_formula_and_refuses_broken_ones(browser: Browser) -> None:
    (script,) = STATIC.glob("katex.*.js")
    source = "data:text/javascript;base64," + base64.b64encode(script.read_bytes()).decode()
    page = browser.new_page()
    try:
        assert page.evaluate(REFUSED, [source, FORMULAS]) == ["a broken one", "an unknown word"]
    finally:
        page.close()
