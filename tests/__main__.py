"""``python -m tests``: everything that must hold, on a fresh machine.

Finds a Chromium or installs one, then runs ruff, mypy and pytest. Arguments go to pytest.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests import chromium

ROOT = Path(__file__).resolve().parents[1]


def run(*module: str) -> bool:
    """Run a module of this Python in the project's folder, and say whether it found nothing wrong."""
    print("+ python -m", *module, flush=True)
    return subprocess.run([sys.executable, "-m", *module], cwd=ROOT, check=False).returncode == 0


def main(arguments: list[str]) -> int:
    """Return 0 if all of it passes."""
    browser = chromium.find() or chromium.install()
    if browser is None:
        print(f"No Chromium here and none could be installed; name one in {chromium.VARIABLE}.")
        return 1
    os.environ[chromium.VARIABLE] = browser
    # pytest comes last, so that its summary is the last line; a finding of the others shows above it.
    passed = [run("ruff", "check", "."), run("mypy"), run("pytest", "-n", "auto", *arguments)]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
