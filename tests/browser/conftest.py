"""One app and one Chromium for all browser tests; they end before the other tests start."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from tests import chromium, serving
from tests.browser import harness

# Package scope, because Playwright's event loop must not stay open under tests that run their own.


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[serving.Server]:
    with serving.serve(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = chromium.find()
    if executable is None:
        pytest.fail(f"no Chromium found; `python -m tests` installs one, {chromium.VARIABLE} names one")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=harness.FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="package")
def contexts(browser: Browser) -> Iterator[Callable[[str, str], BrowserContext]]:
    """One context a theme and locale, so that the bundles are fetched and compiled once."""
    made: dict[tuple[str, str], BrowserContext] = {}

    def context(theme: str, locale: str) -> BrowserContext:
        if (theme, locale) not in made:
            made[theme, locale] = browser.new_context(
                color_scheme=theme,
                locale=locale,
                viewport={"width": 1280, "height": harness.HEIGHT},
                reduced_motion="reduce",
            )
        return made[theme, locale]

    yield context
    for one in made.values():
        one.close()


@pytest.fixture
def visit(
    contexts: Callable[[str, str], BrowserContext], server: serving.Server
) -> Iterator[Callable[..., harness.View]]:
    """Open a page: ``visit("sinusoidal", lang="ko", theme="dark", width=390, d_model=64)``."""
    views: list[harness.View] = []

    def open_page(
        path: str = "", *, theme: str = "light", width: int = 1280, locale: str = "en-US", **query: object
    ) -> harness.View:
        view = harness.new_view(contexts(theme, locale), server)
        views.append(view)
        view.page.set_viewport_size({"width": width, "height": harness.HEIGHT})
        return view.open(path, **query)

    yield open_page
    for view in views:
        view.page.close()
