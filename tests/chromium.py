"""Find a Chromium on this machine, or install one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

VARIABLE = "POSENC_CHROMIUM"
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")

# Where Playwright has no build to give (or no way to it), Debian's own package serves.
INSTALLERS = (
    ([sys.executable, "-m", "playwright", "install", "--with-deps", "chromium"],),
    (
        ["apt-get", "update"],
        ["apt-get", "install", "-y", "--no-install-recommends", "chromium", "fonts-noto-cjk"],
    ),
)


def playwrights_own() -> str | None:
    """Ask Playwright where its browser would be, in a process of its own: its event loop stays there."""
    script = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None


def find() -> str | None:
    """Return the browser that the environment names, else the system's, else Playwright's."""
    if named := os.environ.get(VARIABLE):
        return named
    for name in NAMES:
        if path := shutil.which(name):
            return path
    candidates = (str(MAC), playwrights_own())
    return next((path for path in candidates if path and Path(path).exists()), None)


def install() -> str | None:
    """Try each installer until there is a browser; return its path, or None."""
    administrator = [] if os.geteuid() == 0 else ["sudo", "-n"]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for commands in INSTALLERS:
        for command in commands:
            prefix = administrator if command[0] == "apt-get" else []
            if shutil.which(command[0]) is None:
                break
            print("+", *command, flush=True)
            if subprocess.run([*prefix, *command], env=environment, check=False).returncode != 0:
                break
        if path := find():
            return path
    return None
