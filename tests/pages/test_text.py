"""Both languages say everything that the app asks for, with the same values in it."""

import re
from pathlib import Path

import pytest

from pages.ui import sitemap, text

PAGES = Path(text.__file__).parents[1]
PROSE = [entry.name for entry in sitemap.PAGES]
PLACES = re.compile(r"\{\{(\w+)\}\}")
HANGUL = re.compile(r"[가-힣]")


def placeholders(words: dict[str, str]) -> dict[str, set[str]]:
    return {key: set(PLACES.findall(value)) for key, value in words.items()}


def test_the_two_catalogues_have_the_same_keys_and_placeholders():
    assert placeholders(text.catalogue("en")) == placeholders(text.catalogue("ko"))


@pytest.mark.parametrize("page", PROSE)
def test_the_two_proses_have_the_same_sections_and_placeholders(page):
    assert placeholders(text.sections("en", page)) == placeholders(text.sections("ko", page))


@pytest.mark.parametrize("page", PROSE)
def test_korean_prose_is_korean_and_english_prose_is_not(page):
    for name, body in text.sections("ko", page).items():
        assert HANGUL.search(body) or not re.search(r"[A-Za-z]{4,} [a-z]{3,} [a-z]{3,}", body), name
    quoted = re.sub(r"[“\"(][^”\")]*[”\")]", "", " ".join(text.sections("en", page).values()))
    assert not HANGUL.search(quoted)


def test_every_key_that_the_code_names_exists():
    code = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.rglob("*.py"))
    named = set(re.findall(r'\blabel\(\s*"([\w.]+)"', code))
    assert len(named) > 20
    assert named <= set(text.catalogue("en"))


def test_every_label_is_used():
    """Dead words are dead code; keys made from data end in a part that the code puts together."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in PAGES.rglob("*.py"))
    stems = {match.rstrip(".") for match in re.findall(r'label\(\s*f"([\w.]+)\{', code)}
    quoted = set(re.findall(r'"([\w.]+)"', code))
    for key in text.catalogue("en"):
        made = any(key.startswith(f"{stem}.") or key.startswith(stem) for stem in stems)
        assert key in quoted or made, f"{key} is never shown"


def test_a_missing_key_or_value_is_an_error():
    with pytest.raises(KeyError):
        text.catalogue("en")["label.no_such_parameter"]
    with pytest.raises(KeyError):
        text.fill("{{missing}}", {})


def test_fill_leaves_the_braces_of_latex_alone():
    assert text.fill(r"$d_{model}$ = {{d_model}}", {"d_model": 8}) == r"$d_{model}$ = 8"


@pytest.mark.parametrize(
    ("value", "written"),
    [(60_610.9, "60,611"), (6.283185, "6.283"), (0.0, "0"), (-0.07321, "-0.07321"), (1e-16, "1e-16")],
)
def test_number(value, written):
    assert text.number(value) == written
