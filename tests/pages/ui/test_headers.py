"""The headers' values, and the app behind them under both ways of starting it."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit

from pages.ui import headers
from tests import serving

ROOT = Path(__file__).resolve().parents[3]
INDEX = Path(streamlit.__file__).parent / "static" / "index.html"


@pytest.mark.parametrize(
    "value",
    [
        "'self'",
        "'none'",
        "*",
        "https:",
        "https://example.org",
        "https://*.example.org:8443",
        "'self' http://localhost:*",
        "  'self'   example.org ",
    ],
)
def test_sources_pass(value: str) -> None:
    assert headers.frame_ancestors(value).split() == value.split()


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "'unsafe-inline'",
        "'self'; script-src *",
        "'self', default-src *",
        "https://a.org;script-src",
        "https://a.org\r\nSet-Cookie: x=1",
        "'none' https://a.org",
        "* 'self'",
        "javascript:",
        "data:",
        "https://a.org/path",
        "https://예.org",
        "a.org:99999999",
    ],
)
def test_what_is_no_source_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="POSENC_FRAME_ANCESTORS must be"):
        headers.frame_ancestors(value)


def test_policy_names_the_one_inline_script_of_streamlits_page() -> None:
    policy = headers.content_security_policy(INDEX, "'self'")
    inline = re.findall(r"<script>([^<]*)</script>", INDEX.read_text(encoding="utf-8"))
    expected = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in inline]
    assert re.findall(r"'sha256-([^']+)'", policy) == expected
    assert len(expected) == 1


def test_policy_opens_nothing_to_other_hosts_or_to_eval() -> None:
    policy = headers.content_security_policy(INDEX, "'self'")
    assert "unsafe-eval" not in policy
    assert "http" not in policy
    assert "*" not in policy
    (scripts,) = re.findall(r"script-src ([^;]*)", policy)
    assert "unsafe-inline" not in scripts


@pytest.fixture(scope="module", params=[serving.streamlit_run, serving.uvicorn], ids=lambda way: way.__name__)
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the app either way, from a folder that has nothing to do with it."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with serving.serve(folder, request.param, POSENC_FRAME_ANCESTORS="'self' https://example.org") as server:
        yield server.url


@pytest.mark.parametrize(
    "path", ["/", "/sinusoidal", "/_stcore/health", "/_stcore/host-config", "/favicon.png"]
)
def test_every_answer_carries_the_headers(url: str, path: str) -> None:
    with urllib.request.urlopen(url + path, timeout=10) as answer:
        found = answer.headers
    assert found["Content-Security-Policy"].endswith("; frame-ancestors 'self' https://example.org")
    assert found["X-Content-Type-Options"] == "nosniff"
    assert found["Referrer-Policy"] == "same-origin"
    assert found["Permissions-Policy"]


def test_settings_are_found_by_any_server_from_anywhere(tmp_path: Path) -> None:
    """`streamlit run` says where the app is; another ASGI server only imports it, as here."""
    options = [
        "client.showErrorDetails",
        "browser.gatherUsageStats",
        "server.maxUploadSize",
        "runner.postScriptGC",
    ]
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import app; from streamlit import config\n"
        f"print(*map(config.get_option, {options!r}))"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.split() == ["none", "False", "20", "False"]
