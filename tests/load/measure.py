"""N visitors at once, and what the server needs for them."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median

from pages.ui import sitemap
from tests.load.protocol import Answer, Tab
from tests.load.visitor import ARRIVAL, Visitor
from tests.serving import Server, children

MEBI = 2**20
ARRIVALS = 4.0  # a second: nobody measures a crowd that comes at once
TIDIED_S = 20.0  # the app gives back as often what is free, so memory is a median over as long


@dataclass(frozen=True)
class Usage:
    """What a server and its twin have taken so far: resident memory in MiB, seconds of processor time."""

    memory: float
    processor: float

    @classmethod
    def of(cls, pid: int) -> Usage:
        """Read it from /proc, so on Linux only."""
        pages, ticks = 0, 0
        for each in (pid, *children(pid)):
            pages += int(Path(f"/proc/{each}/statm").read_text().split()[1])
            after_name = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(map(int, after_name[11:13]))
        return cls(pages * os.sysconf("SC_PAGE_SIZE") / MEBI, ticks / os.sysconf("SC_CLK_TCK"))


@dataclass
class Report:
    """Everything that was measured with one number of visitors.

    moves holds the answers by kind: arrival (before the clock runs), link, page, parameter (the whole page
    runs), fragment (a part of it). Memory in MiB: idle before anyone came, warm after one visitor saw every
    page once, then by the second.
    """

    sessions: int
    idle: float
    warm: float
    moves: dict[str, list[Answer]] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)
    gone: float = 0.0
    processor: float = 0.0
    client: float = 0.0
    load: tuple[float, float] = (0.0, 0.0)

    @property
    def answers(self) -> list[Answer]:
        """All of them."""
        return [answer for answers in self.moves.values() for answer in answers]

    @property
    def failures(self) -> Counter[str]:
        """What went wrong: text → how often."""
        return Counter(text for answer in self.answers for text in answer.failures)

    @property
    def end(self) -> float:
        """Memory at the end, all visitors still there."""
        return self._memory(self.memory[-1][0] - TIDIED_S, math.inf)

    @property
    def mark(self) -> tuple[float, float]:
        """Seconds and memory after one minute, or at half time of a run that is shorter than two."""
        at = min(60.0, self.memory[-1][0] / 2)
        return at, self._memory(at - TIDIED_S / 2, at + TIDIED_S / 2)

    def _memory(self, first: float, last: float) -> float:
        return median(memory for second, memory in self.memory if first <= second <= last)

    def lines(self) -> list[str]:
        """Write it for people, one fact a line."""
        good = {kind: [one for one in some if not one.failures] for kind, some in self.moves.items()}
        moved = [answer for kind, some in good.items() if kind != ARRIVAL for answer in some]
        at, then = self.mark
        return [
            *(_times(kind, some) for kind, some in {"moves": moved, **good}.items() if some),
            f"    errors: {sum(self.failures.values())}",
            *(f"            {count} × {text}" for text, count in self.failures.most_common(10)),
            f"    server: {1000 * self.processor / max(1, len(moved)):.0f} ms of a processor a move",
            f"    memory: {self.idle:.0f} MiB idle, {self.warm:.0f} after one visitor, "
            f"{then:.0f} after {at:.0f} s, {self.end:.0f} at the end ({self.end / then:.2f} ×), "
            f"{self.gone:.0f} when all had left",
            f"            {(self.end - self.warm) / self.sessions:.2f} MiB a session",
            f"   machine: load average {self.load[0]:.1f} at the start, {self.load[1]:.1f} at the end; "
            f"{100 * self.client:.0f} % of a core for the visitors themselves",
        ]


def _times(kind: str, answers: list[Answer]) -> str:
    seconds = sorted(answer.seconds for answer in answers)
    p50, p95 = (1000 * seconds[int(share * len(seconds))] for share in (0.5, 0.95))
    received = mean(answer.received for answer in answers) / 1000
    return (
        f"{kind:>10}: {len(answers):5} times, p50 {p50:6.0f} ms, p95 {p95:6.0f} ms, "
        f"max {1000 * seconds[-1]:6.0f} ms, {received:6.0f} kB a move"
    )


async def measure(
    server: Server, sessions: int, seconds: float, think: float, *, garbage: float = 0.0, seed: int = 0
) -> Report:
    """Let so many visitors in, then measure for so long, with a move every `think` seconds each.

    Parameters
    ----------
    garbage
        Share of the visitors whose links are junk.
    seed
        Equal seeds give equal visitors.
    """
    idle = Usage.of(server.pid)
    await see_every_page(server.url)
    warm = Usage.of(server.pid)
    report = Report(sessions, idle.memory, warm.memory, load=(os.getloadavg()[0], 0.0))
    visitors = [
        Visitor(server.url, seed * 100_000 + i, garbage=i < garbage * sessions) for i in range(sessions)
    ]

    def record(kind: str, answer: Answer) -> None:
        report.moves.setdefault(kind, []).append(answer)

    async def watch(start: float) -> None:
        while True:
            report.memory.append((time.monotonic() - start, Usage.of(server.pid).memory))
            await asyncio.sleep(1)

    await asyncio.gather(*(visitor.arrive(i / ARRIVALS, record) for i, visitor in enumerate(visitors)))
    there, own, start = Usage.of(server.pid), time.process_time(), time.monotonic()
    watching = asyncio.create_task(watch(start))
    try:
        await asyncio.gather(*(visitor.stay(start + seconds, think, record) for visitor in visitors))
        watching.cancel()
        with suppress(asyncio.CancelledError):  # what else it ended by is an error
            await watching
        took, end = time.monotonic() - start, Usage.of(server.pid)
        report.memory.append((took, end.memory))
        report.processor = end.processor - there.processor
        report.client = (time.process_time() - own) / took
    finally:
        await asyncio.gather(*(visitor.leave() for visitor in visitors))
    report.gone = Usage.of(server.pid).memory
    report.load = (report.load[0], os.getloadavg()[0])
    return report


async def see_every_page(url: str) -> None:
    """Visit each page once, so that what is loaded on the first visit is loaded."""
    tab = Tab(url)
    await tab.open()
    for entry in sitemap.PAGES:
        await tab.visit(entry.slug)
    await tab.close()
