"""The shape of a page: what is drawn as one, and what is waited for."""

from __future__ import annotations

from contextlib import nullcontext

from streamlit.testing.v1 import AppTest

from pages.ui import layout


def app() -> None:
    from pages.ui import layout

    layout.text("one", layout.rows(["a", "b"], [(1, "**2**")]), "three")
    with layout.columns(2):
        for words in ("left", "right"):
            layout.text(words)


def test_words_and_tables_below_each_other_are_one_message() -> None:
    drawn = AppTest.from_function(app).run()
    assert [each.value for each in drawn.markdown] == [
        "one\n\n| a | b |\n| --- | --- |\n| 1 | **2** |\n\nthree",
        "left",
        "right",
    ]


def test_only_a_long_computation_is_waited_for_in_words() -> None:
    assert isinstance(layout.waiting("…", layout.QUICK), nullcontext)
    assert not isinstance(layout.waiting("…", 2, layout.QUICK), nullcontext)
