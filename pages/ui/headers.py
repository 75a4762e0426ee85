"""The security headers of every HTTP answer, as plain ASGI middleware.

Plain, because a wrapper that reads answers whole would break the websocket and hold back downloads.
"""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FRAME_ANCESTORS_VARIABLE = "POSENC_FRAME_ANCESTORS"

# One source of a frame-ancestors list (Content Security Policy Level 3): no `;` and no `,` can pass.
_ANCESTOR = re.compile(
    r"'self'|https?:|(?:https?://)?(?:\*\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*(?::(?:\d{1,5}|\*))?"
)


def frame_ancestors(value: str) -> str:
    """Check who may show the app in a frame, and give the list back with single spaces.

    Parameters
    ----------
    value
        ``'none'``, ``*``, or sources between spaces: ``'self'``, ``https:``, ``https://*.example.org:8443``.

    Raises
    ------
    ValueError
        If a source is none of these, so that the value cannot smuggle in another directive or header.
    """
    sources = value.split()
    alone = sources in (["'none'"], ["*"])
    if not alone and not (sources and all(_ANCESTOR.fullmatch(source) for source in sources)):
        raise ValueError(
            f"{FRAME_ANCESTORS_VARIABLE} must be 'none', * or a list of 'self', https: and origins"
            f" such as https://example.org, got {value!r}"
        )
    return " ".join(sources)


def inline_script_hashes(html: str) -> list[str]:
    """Name each inline script of a page by its SHA-256, in the form a Content-Security-Policy takes."""
    scripts = re.findall(r"<script>(.*?)</script>", html, flags=re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def content_security_policy(index_html: Path, ancestors: str) -> str:
    """Write the tightest policy that Streamlit and plotly live with.

    Nothing leaves the own origin, and no script runs but the bundled files and the one inline script of
    Streamlit's page, known by its hash. Styles are inline because emotion, KaTeX and plotly write them
    that way; images may be ``data:`` and ``blob:`` because plotly draws heatmaps and saves pictures so.
    """
    scripts = " ".join(["'self'", *inline_script_hashes(index_html.read_text(encoding="utf-8"))])
    return "; ".join(
        [
            "default-src 'self'",
            f"script-src {scripts}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {frame_ancestors(ancestors)}",
        ]
    )


class SecurityHeaders:
    """Add the headers as each answer starts; websockets and lifespan pass untouched."""

    def __init__(self, app: ASGIApp, *, policy: str) -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            # The query holds a whole view, a typed sentence included: other sites need not learn it.
            "Referrer-Policy": "same-origin",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)
