"""Folded sections: closed they cost nothing, and the address says which are open."""

import pytest

from pages.ui import sitemap
from pages.ui.text import catalogue


@pytest.fixture(params=["en", "ko"])
def page(frame, request):
    def opened(**query):
        app = frame(lang=request.param, **query).run().switch_page("long_context.py").run()
        assert not app.exception
        return app, catalogue(request.param)["section.long_context.turns"]

    return opened


def panel(app, title):
    (found,) = (each for each in app.expander if each.label == f"**{title}**")
    return found


def charts(app):
    return len(app.get("plotly_chart"))


@pytest.mark.folded
def test_a_folded_section_is_only_its_title_until_somebody_opens_it(page):
    app, title = page()
    assert not panel(app, title).children
    assert "show_turns" not in app.query_params
    other, _ = page(show_turns="1")
    assert charts(other) == charts(app) + 1
    assert other.query_params["show_turns"] == "1"
    # The title stands on the fold, and not once more inside.
    assert title not in [heading.value for heading in other.subheader]


@pytest.mark.folded
def test_an_open_section_stays_open_on_other_pages_and_can_be_closed(page):
    app, title = page(show_turns="1")
    app.switch_page("myths.py").run().switch_page("long_context.py").run()
    assert panel(app, title).children
    app.session_state["show_turns"] = False
    app.run()
    assert not panel(app, title).children
    assert "show_turns" not in app.query_params


@pytest.mark.folded
@pytest.mark.parametrize("junk", ["yes", "2", ""])
def test_junk_leaves_a_section_folded(page, junk):
    app, title = page(show_turns=junk)
    assert not panel(app, title).children
    assert app.toast


@pytest.mark.folded
@pytest.mark.parametrize("entry", sitemap.PAGES, ids=lambda entry: entry.name)
def test_every_page_shows_something_before_anything_is_opened(frame, entry):
    app = frame(lang="en").run().switch_page(f"{entry.name}.py").run()
    assert not app.exception
    assert app.get("plotly_chart") or app.get("bidi_component")
