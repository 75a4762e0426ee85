"""``streamlit run app.py``, ended with its parent.

The parent holds the other end of standard input: when the parent ends, however it ends, this ends too.
"""

from __future__ import annotations

import os
import sys
import threading

from streamlit.web import cli


def end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    sys.argv = ["streamlit", "run", *sys.argv[1:]]
    cli.main()
