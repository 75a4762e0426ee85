"""What a run has left is free as soon as the next has drawn everything anew, without the collector."""

import gc
import weakref

import pytest

from pages.ui import sitemap
from pages.ui.text import catalogue


@pytest.fixture
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def left(at):
    """Refer to the functions of the last run, which see all that it made, and to those that draw again."""
    ((page, names),) = at.session_state["runs"]
    drawn = [chart.drawn for _, chart in page.charts()]
    own = [each for each in names.values() if getattr(each, "__module__", "") == "__main__"]
    return [weakref.ref(each) for each in own + drawn]


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("name", [entry.name for entry in sitemap.PAGES])
def test_what_a_run_left_is_free_after_the_next(frame, name):
    at = frame().run()
    if name != "home":
        at.switch_page(f"{name}.py").run()
    before = left(at)
    assert before
    at.run()
    assert catalogue("en")["notice.failure"] not in [each.value for each in at.error]
    assert [each() for each in before if each() is not None] == []


def test_a_part_that_runs_again_still_has_its_names(frame):
    at = frame().run().switch_page("sinusoidal.py").run().run()
    at.select_slider(key="position").set_value(3).run()
    assert not at.error
    assert at.select_slider(key="position").value == 3
