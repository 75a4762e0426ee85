"""What a person does on the pages: open a link, move a parameter, follow a link, come back another day."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException

from pages.ui import sitemap
from posenc import BASE, D_MODEL, LAYOUT, SEQ_LEN
from tests.load.protocol import Answer, Failure, Tab, Widget

# Out of ten moves eight are parameters. A person who comes by a link opens a new tab.
ACTIONS = {"parameter": 0.8, "page": 0.15, "link": 0.05}
WORDS = ("the", "cat", "sat", "on", "a", "mat", "고양이가", "쥐를", "쫓았다", "🙂")

# Values in the address that no widget could have written.
JUNK = (
    "",
    "abc",
    "-1",
    "0",
    "1e999",
    "nan",
    "９９",
    "6_4",
    "99999999999999999999",
    "10000001",
    "💥",
    "\x00",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "{{label}}",
    "%",
    "' OR 1=1 --",
)
NAMES = (
    *("seq_len", "d_model", "base", "layout", "lang", "position", "pair", "hand", "k", "table", "measure"),
    *("source", "sentence", "text", "scale", "dropout", "training", "seed", "table_a", "table_b", "step"),
    *("edge_position", "ladder_pairs", "ladder_ratio", "framework", "mistake", "positions", "unknown"),
)
HUGE = 300_000  # characters: far more than any server on the way would let pass

ARRIVAL = "arrival"

# Kind of a move, its answer or what went wrong.
Record = Callable[[str, Answer], None]


class Visitor:
    """One person with a mind of their own (`seed`), in front of one tab.

    Parameters
    ----------
    url
        Of the app.
    seed
        Equal seeds do equal things.
    garbage
        Whether the links this person comes by are junk.
    """

    def __init__(self, url: str, seed: int, *, garbage: bool = False) -> None:
        self.url, self.garbage = url, garbage
        self.random = random.Random(seed)
        self.tab: Tab | None = None

    async def arrive(self, wait: float, record: Record) -> None:
        """Come by a link after so many seconds."""
        await asyncio.sleep(wait)
        record(ARRIVAL, (await self._act())[1])

    async def stay(self, until: float, think: float, record: Record) -> None:
        """Make a move every `think` seconds on average."""
        while True:
            pause = self.random.expovariate(1 / think)
            if time.monotonic() + pause >= until:
                break
            await asyncio.sleep(pause)
            record(*await self._act())

    async def leave(self) -> None:
        """Close the tab."""
        if self.tab is not None:
            await self.tab.close()

    async def _act(self) -> tuple[str, Answer]:
        """Do one thing; what a person would see as broken comes back as a failure, and they start again."""
        kind = "link"
        try:
            if self.tab is None:
                return kind, await self._open()
            (kind,) = self.random.choices([*ACTIONS], [*ACTIONS.values()])
            if kind == "page":
                return kind, await self.tab.visit(self.random.choice([*self.tab.pages]))
            if kind == "link":
                if self.garbage and self.random.random() < 0.5:
                    return kind, await self.tab.go_to(self.junk())
                await self.tab.close()
                return kind, await self._open()
            moved = self.random.choice([*self.tab.widgets.values()])
            kind = "fragment" if moved.fragment else "parameter"
            return kind, await self.tab.move(moved, self.other(moved))
        except (Failure, WebSocketException, OSError) as error:
            if self.tab is not None:
                await self.tab.close()
            self.tab = None
            return kind, Answer(failures=[f"{type(error).__name__}: {error}"])

    async def _open(self) -> Answer:
        slug = self.random.choice([entry.slug for entry in sitemap.PAGES])
        self.tab = Tab(self.url, slug, self.junk() if self.garbage else self.link())
        return await self.tab.open()

    def link(self) -> str:
        """Return the query of a link as people share it: some of the shared parameters."""
        values = {
            SEQ_LEN.name: self.random.choice((1, 12, 50, 128, 512, 4096, 131_072, SEQ_LEN.maximum)),
            D_MODEL.name: self.random.choice((2, 7, 64, 128, 512, 768, 4096, D_MODEL.maximum)),
            BASE.name: self.random.choice((100, 10_000, 500_000)),
            LAYOUT.name: self.random.choice(LAYOUT.options),
            "lang": self.random.choice(("en", "ko")),
        }
        return urlencode({name: value for name, value in values.items() if self.random.random() < 0.4})

    def junk(self) -> str:
        """Return a query that no page ever wrote: wrong values, repeated names, or far too much of it."""
        chosen = [(name, self.random.choice(JUNK)) for name in self.random.choices(NAMES, k=6)]
        if self.random.random() < 0.1:
            chosen.append((self.random.choice(NAMES), self.random.choice(WORDS) * (HUGE // 4)))
        return urlencode(chosen) if self.random.random() < 0.8 else "&".join(map("=".join, chosen))

    def other(self, moved: Widget) -> object:
        """Return a value that a person would set this widget to: near for a slider, mostly."""
        if moved.kind == "slider":
            at, last = moved.options.index(moved.value[0]), len(moved.options) - 1
            far = self.random.random() < 0.2
            steps = self.random.randint(-last, last) if far else self.random.choice((-3, -2, -1, 1, 2, 3))
            return [moved.options[min(max(at + steps, 0), last)]]
        if moved.kind == "button_group":
            return [self.random.choice(moved.options)]
        if moved.kind == "selectbox":
            return self.random.choice(moved.options)
        if moved.kind == "number_input":
            least, most, step = moved.limits
            return min(max(moved.value + step * self.random.choice((-2, -1, 1, 2)), least), most)
        if moved.kind == "bidi_component":  # a box drawn on a heatmap
            ends = [sorted(self.random.sample(range(int(size) + 1), k=2)) for size in moved.limits]
            return json.dumps([{"event": "view", "value": [end for pair in ends for end in pair]}])
        if moved.kind in ("text_area", "text_input"):
            return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 12)))
        return not moved.value  # a switch, or a button, which is off until it is pressed
