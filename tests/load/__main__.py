"""``python -m tests.load --sessions 10 100 --seconds 120 --think 5``: the app under many visitors.

Starts the real app on this machine, for each number of sessions anew, and lets so many visitors in over real
websockets. Each has a mind of their own: comes by a link, moves parameters in the sidebar and on the page,
visits other pages, comes back in a new tab, and pauses ``--think`` seconds on average between two moves.
``--garbage 0.2`` gives a fifth of them links full of junk.

They come four a second, and the clock runs from when all are there. Prints the time from a move to the end of
the script's run (p50, p95, the longest; arrivals by themselves), what went wrong, the bytes of an answer, the
server's processor time and memory. Ends with 1 if anything went wrong. Visitors and server share the machine:
the load average and the visitors' own share of it are printed, too. Linux only (/proc).

Settings of the server are taken from the environment: ``OPENBLAS_NUM_THREADS=2 python -m tests.load …``,
``STREAMLIT_RUNNER_POST_SCRIPT_GC=true python -m tests.load …``.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.load.measure import measure
from tests.serving import serve


def main(arguments: list[str]) -> int:
    """Return 0 if no visitor met an error."""
    parser = argparse.ArgumentParser(prog="python -m tests.load")
    add = parser.add_argument
    add("--sessions", type=int, nargs="+", default=[10], metavar="N", help="visitors at once")
    add("--seconds", type=float, default=60.0, metavar="S", help="how long they stay")
    add("--think", type=float, default=5.0, metavar="T", help="mean pause between two moves, in seconds")
    add("--garbage", type=float, default=0.0, metavar="SHARE", help="visitors whose links are junk, 0 to 1")
    add("--seed", type=int, default=0, help="equal seeds, equal visitors")
    asked = parser.parse_args(arguments)
    failed = False
    for sessions in asked.sessions:
        with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as server:
            run = measure(
                server, sessions, asked.seconds, asked.think, garbage=asked.garbage, seed=asked.seed
            )
            report = asyncio.run(run)
            print(f"{sessions} sessions, {asked.seconds:g} s, a move every {asked.think:g} s each")
            print(*report.lines(), sep="\n", flush=True)
            if report.failures:
                failed = True
                print("the server's log ends with:", server.log.read_text()[-3000:], sep="\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
