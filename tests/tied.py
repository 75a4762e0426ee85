"""``python -m MODULE …``, ended with its parent.

The parent holds the other end of standard input: when the parent ends, however it ends, this ends too.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading


def end_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):  # not by sys.stdin, whose lock would stop an orderly end
        pass
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
