"""The report of a page: every chart that the page shows, as it shows it, and made only when asked for."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from pages.ui import shown, sitemap
from pages.ui.text import LANGUAGES, catalogue
from posenc import figures
from tests.pages.downloads import listen
from tests.pages.pictures import charts, pictures

PACKED = re.compile(r'<div class="(map|chart)".*?><script type="text/plain">([^<]+)</script>')


@pytest.fixture
def files(monkeypatch):
    return listen(monkeypatch)


def opened(frame, name, **query):
    app = frame(**query).run()
    if name != "home":
        app.switch_page(f"{name}.py").run()
    assert not app.exception
    return app


def html(files, slug):
    return files[f"posenc-{slug or 'home'}.html"]().decode()


def drawn(text):
    """Return the messages of the heatmaps and the data of the figures in a report, each in order."""
    found = {"map": [], "chart": []}
    for kind, packed in PACKED.findall(text):
        found[kind].append(gzip.decompress(base64.b64decode(packed)))
    return found["map"], [json.loads(each)["data"] for each in found["chart"]]


@pytest.mark.parametrize("entry", sitemap.PAGES, ids=lambda entry: entry.name)
def test_every_chart_of_every_page_is_in_its_report_as_it_is_shown(frame, files, entry):
    lang = LANGUAGES[sitemap.PAGES.index(entry) % 2]
    app = opened(frame, entry.name, lang=lang, d_model="64")
    text = html(files, entry.slug)
    maps, lines = drawn(text)
    assert sorted(maps) == sorted(each.sent for each in pictures(app).values())
    assert sorted(map(str, lines)) == sorted(str(each["data"]) for each in charts(app).values())
    assert f"<h1>{catalogue(lang)[f'page.{entry.name}.title']}</h1>" in text
    assert f'lang="{lang}"' in text
    assert f"{catalogue(lang)['label.d_model']}</dt><dd>64</dd>" in text
    assert "d_model=64" in text


@pytest.mark.folded
def test_a_folded_section_is_in_the_report_only_while_it_is_open(frame, files):
    title = catalogue("en")["section.long_context.turns"]
    opened(frame, "long_context", lang="en")
    assert f"<h2>{title}" not in html(files, "long-context")
    opened(frame, "long_context", lang="en", show_turns="1")
    assert f"<h2>{title}</h2>" in html(files, "long-context")


def test_charts_stand_under_the_headings_of_their_sections(frame, files):
    opened(frame, "sinusoidal", lang="en")
    words = catalogue("en")
    text = html(files, "sinusoidal")
    names = ("heatmap", "vector", "pair", "wavelengths", "layouts", "libraries", "mistakes")
    headings = [words["report.settings"], *(words[f"section.sinusoidal.{name}"] for name in names)]
    assert re.findall(r"<h2>([^<]+)</h2>", text) == [*headings, words["code.sources"]]


def test_what_a_visitor_typed_is_text_in_the_report(frame, files):
    typed = "</script><script>alert(1)</script> <b>x</b>"
    app = opened(frame, "sentence", lang="en", source="text", text=typed)
    assert any("alert" in str(each.head["rows"]) for each in pictures(app).values())
    text = html(files, "sentence")
    assert "<script>alert" not in text
    assert "<b>x" not in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text


def test_a_run_computes_and_packs_nothing_for_the_report(frame, files, monkeypatch):
    packed, pack = [], figures.pack

    def counted(*arguments, **more):
        packed.append(more["key"])
        return pack(*arguments, **more)

    monkeypatch.setattr(figures, "pack", counted)
    app = opened(frame, "sinusoidal", lang="en")
    during = len(packed)
    html(files, "sinusoidal")
    assert len(packed) - during == len(pictures(app))
    packed.clear()
    app.run()
    assert sorted(packed) == sorted(pictures(app))


@pytest.fixture
def bare(monkeypatch):
    """A page without Streamlit around it."""
    monkeypatch.setattr(shown.Page, "note_address", lambda page: None)
    shown.begin("Title", "slug")
    return shown.page()


def alts(page):
    return [(heading, chart.alt) for heading, chart in page.charts()]


def chart(alt):
    shown.chart(alt, lambda: b"")


def test_a_part_that_runs_again_replaces_what_it_showed_and_nothing_else(bare):
    shown.heading("One")
    chart("a")
    part = shown.place()
    with shown.within(part):
        shown.heading("Two")
        chart("b")
        inner = shown.place()
        with shown.within(inner):
            chart("c")
        chart("d")
    shown.heading("Three")
    chart("e")
    assert alts(bare) == [("One", "a"), ("Two", "b"), ("Two", "c"), ("Two", "d"), ("Three", "e")]
    with shown.within(inner):
        chart("c1")
        chart("c2")
    assert [alt for _, alt in alts(bare)] == ["a", "b", "c1", "c2", "d", "e"]
    with shown.within(part):
        shown.heading("Two")
    assert alts(bare) == [("One", "a"), ("Three", "e")]
    # What a run that is over still draws is shown nowhere.
    with shown.within(inner):
        chart("late")
    assert [alt for _, alt in alts(bare)] == ["a", "e"]


def test_a_part_that_fails_leaves_the_others_their_place(bare):
    part = shown.place()

    def fails():
        with shown.within(part):
            chart("a")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    chart("b")
    assert alts(bare) == [("", "a"), ("", "b")]


def test_a_new_page_forgets_the_one_before(bare):
    chart("a")
    shown.begin("Other", "other")
    assert alts(shown.page()) == []
    assert shown.page().title == "Other"
