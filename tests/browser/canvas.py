"""One heatmap in Chromium, and a reader's hand on it."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Locator

# Pixels of the picture at shares of its height and width.
PIXELS = """(canvas, places) => places.map(([y, x]) => [...canvas.getContext('2d').getImageData(
  Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data])"""


class Canvas:
    """A heatmap. Places on it are rows and columns: (2.5, 0.5) is the middle of row 2, column 0."""

    def __init__(self, root: Locator) -> None:
        self.root = root
        self.page = root.page

    def part(self, name: str) -> Locator:
        return self.root.locator(f".{name}")

    @property
    def view(self) -> str | None:
        return self.root.get_attribute("data-view")

    def colours(self, *places: tuple[float, float]) -> np.ndarray:
        """Red, green, blue and alpha at places in the view."""
        shares = [self.share(*place) for place in places]
        return np.array(self.part("cells").evaluate(PIXELS, shares))

    def share(self, row: float, column: float) -> tuple[float, float]:
        """A place in the view as shares of its height and width."""
        (r0, r1), (c0, c1) = ([int(end) for end in part.split("-")] for part in (self.view or "").split("x"))
        return (row - r0) / (r1 - r0), (column - c0) / (c1 - c0)

    def point(self, row: float, column: float) -> tuple[float, float]:
        """Where that place is on the screen: x and y."""
        box = self.part("cells").bounding_box()
        assert box
        y, x = self.share(row, column)
        return box["x"] + x * box["width"], box["y"] + y * box["height"]

    def hover(self, row: float, column: float) -> list[str]:
        """Move over a place, and return the lines of the hover."""
        self.page.mouse.move(*self.point(row, column))
        return self.part("tip").inner_text().split("\n")

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Drag from one place to another."""
        places = self.point(*start), self.point(*end)
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        self.page.mouse.move(*places[1], steps=3)
        self.page.mouse.up()

    def press(self, *keys: str) -> None:
        """Press keys on the canvas."""
        for key in keys:
            self.part("surface").press(key)
