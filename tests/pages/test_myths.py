"""The page of myths: one click each, in both languages, with the numbers of the core and a code that fits."""

import pytest

from posenc.myths import MYTHS


@pytest.fixture(params=["en", "ko"])
def page(frame, request):
    return frame(lang=request.param).switch_page("myths.py").run()


def text(at):
    return "\n".join(element.value for element in at.markdown)


@pytest.mark.parametrize("name", MYTHS)
def test_each_myth_is_one_click_away(page, name):
    page.session_state["myth"] = name
    page.run()
    assert not page.exception
    assert not page.error
    assert page.subheader[0].value.startswith("“")
    assert "{{" not in text(page)
    assert page.query_params.get("myth", next(iter(MYTHS))) in (name, [name])
    assert len(page.get("plotly_chart")) == 1


def test_the_numbers_follow_the_sidebar(page):
    page.session_state["myth"] = "steady"
    for d_model, rise in ((512, "44"), (64, "6")):
        page.session_state["d_model"] = d_model
        page.run()
        assert f" {rise}" in text(page)


def test_another_draw_is_another_link(page):
    page.session_state["myth"] = "rope_decays"
    page.run()
    before = text(page)
    page.button(key="next_seed").click().run()
    assert page.query_params["seed"] in ("1", ["1"])
    assert text(page) != before


@pytest.mark.parametrize("query", [{"myth": "nonsense"}, {"myth": "add", "seed": "-1"}, {"d_model": "1"}])
def test_junk_and_edges_give_a_page(frame, query):
    at = frame(lang="en", **query).switch_page("myths.py").run()
    assert not at.exception
    assert not at.error
    assert at.subheader[0].value.startswith("“")
