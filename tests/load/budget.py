"""``python -m tests.load.budget [page …]``: the most that one visitor can make the server allocate.

Opens every page by links with the largest and the smallest values that are allowed, then sets every widget on
it to every option or to both its ends, draws a box on every heatmap, types the longest text, and takes every
download when it first appears and at the end. Prints by how much the server's resident memory rose above what
it was, at most, in each of the dearest moves, and what it kept of that; 1 is returned if a move took more
than 64 MB or failed. Linux only (/proc), and some minutes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
import urllib.request
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from websockets.exceptions import WebSocketException

from pages.ui import sitemap
from posenc import BASE, D_MODEL, SEQ_LEN
from posenc.tokens import TEXT
from tests.load.measure import see_every_page
from tests.load.protocol import LIMIT_S, Answer, Failure, Tab, Widget
from tests.serving import Server, serve, streamlit_run

MOST = 64.0
MEGABYTE = 10**6
SHOWN = 12
ALONE = {"POSENC_PROCESSES": "1"}  # the process that is measured is the one that serves
# Big arrays are given back at once, so that each move is seen with all that it takes.
MALLOC = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536", "MALLOC_ARENA_MAX": "1"}

LINKS = [
    {SEQ_LEN.name: seq_len, D_MODEL.name: d_model, BASE.name: base}
    for seq_len, d_model, base in (
        (SEQ_LEN.maximum, D_MODEL.maximum, BASE.default),
        (SEQ_LEN.maximum, D_MODEL.default, BASE.maximum),
        (SEQ_LEN.maximum, D_MODEL.maximum - 1, BASE.minimum),
        (1024, 1024, BASE.default),
        (1, 1, BASE.default),
    )
]


@dataclass(frozen=True)
class Move:
    """What one move took at its peak and what it kept, in megabytes above what was resident before it."""

    peak: float
    kept: float
    page: str
    query: str
    what: str
    failures: tuple[str, ...]

    def line(self) -> str:
        """Write it for people."""
        taken = f"{self.peak:8.1f} MB, {self.kept:6.1f} kept"
        return f"{taken}  /{self.page}?{self.query[:120]}  {self.what[:80]}"


async def cost(pid: int, move: Callable[[], Awaitable[Answer]]) -> tuple[float, float, Answer]:
    """Make a move; return it with the growth of resident memory at its peak and after it, in megabytes."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")  # the high-water mark falls to what is resident now
    before = memory(pid, "VmHWM")
    answer = await move()
    return (memory(pid, "VmHWM") - before) / MEGABYTE, (memory(pid, "VmRSS") - before) / MEGABYTE, answer


def memory(pid: int, name: str) -> int:
    """Return what a process has resident (VmRSS), or had at most since the mark was set (VmHWM), in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith(name))


def extremes(widget: Widget) -> Iterator[object]:
    """Yield what a widget can be set to at the most: every option, both ends, both states, a long text."""
    if widget.kind == "slider":
        yield from ([widget.options[0]], [widget.options[-1]])
    elif widget.kind == "button_group":
        yield from ([option] for option in widget.options)
    elif widget.kind == "selectbox":
        yield from widget.options
    elif widget.kind == "number_input":
        yield from widget.limits[:2]
    elif widget.kind in ("text_area", "text_input"):
        letters = random.Random(0).choices(range(0xAC00, 0xD7A3), k=TEXT.maximum)
        yield from ("a " * (TEXT.maximum // 2), "".join(map(chr, letters)), "👩‍🚀" * (TEXT.maximum // 3))
    elif widget.kind == "bidi_component":
        rows, columns = map(int, widget.limits)
        thirds = [0, max(1, rows // 3), columns // 3, columns]
        for view in ([0, rows, 0, columns], thirds, [0, 1, 0, 1]):
            yield json.dumps([{"event": "view", "value": view}])
    else:
        yield from (True, False)


async def download(server: Server, tab: Tab, file: str) -> Answer:
    """Take a file as the browser does: ask for it to be made, then fetch it."""
    path = await tab.take(file)
    sent = await asyncio.to_thread(urllib.request.urlopen, server.url + path, timeout=LIMIT_S)
    with sent:
        return Answer(received=len(sent.read()))


async def spend(server: Server, slug: str) -> list[Move]:
    """Make the dearest moves on one page."""
    moves: list[Move] = []
    for link in LINKS:
        tab = Tab(server.url, slug, urlencode(link))

        async def spent(
            what: str, move: Callable[..., Awaitable[Answer]], *values: Any, tab: Tab = tab
        ) -> None:
            query = tab.query
            try:
                peak, kept, answer = await cost(server.pid, lambda: move(*values))
            except (Failure, WebSocketException, OSError) as error:
                peak, kept, answer = 0.0, 0.0, Answer(failures=[str(error)])
            moves.append(Move(peak, kept, slug, query, what, tuple(answer.failures)))

        await spent("open", tab.open)
        # What the links set is not moved; the rest may come and go with what was moved before it.
        done, taken = {*link, "lang"}, set[str]()
        while new := [key for key in tab.widgets if key not in done]:
            done.add(new[0])
            for value in [*extremes(tab.widgets[new[0]])]:
                if new[0] in tab.widgets:
                    await spent(f"{new[0]} = {value}", tab.move, tab.widgets[new[0]], value)
                for file in {*tab.files} - taken:
                    taken.add(file)
                    await spent(file, download, server, tab, file)
        # Again, now that everything is as large as it can be.
        for file in [*tab.files]:
            await spent(file, download, server, tab, file)
        await tab.close()
    return moves


async def measure(server: Server, slugs: Sequence[str]) -> list[Move]:
    """Make the dearest moves on some pages and print them; each was seen before, so that all is loaded."""
    await see_every_page(server.url)
    moves: list[Move] = []
    for slug in slugs:
        own = await spend(server, slug)
        print(f"/{slug}: {len(own)} moves, the dearest:")
        print(*(move.line() for move in sorted(own, key=lambda move: -move.peak)[:SHOWN]), sep="\n")
        print(
            *(f"FAILED {move.line()} {move.failures}" for move in own if move.failures), sep="\n", flush=True
        )
        moves += own
    return moves


def main(arguments: list[str]) -> int:
    """Return 0 if no move took more than it may, and none failed."""
    known = [entry.slug for entry in sitemap.PAGES]
    parser = argparse.ArgumentParser(prog="python -m tests.load.budget")
    parser.add_argument("page", nargs="*", help=f"some of {known}; all without one")
    pages = parser.parse_args(arguments).page or known
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder), streamlit_run, **ALONE, **MALLOC) as server,
    ):
        moves = asyncio.run(measure(server, pages))
        dear = sum(move.peak > MOST for move in moves)
        failed = sum(bool(move.failures) for move in moves)
        print(f"{len(moves)} moves: {dear} took more than {MOST:g} MB, {failed} failed")
        if failed:
            print("the server's log ends with:", server.log.read_text()[-3000:], sep="\n")
    return int(bool(dear or failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
