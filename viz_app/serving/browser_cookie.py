"""Cookie that names a browser: a random name, which says nothing about its user.

The cookie lasts until the browser is closed. No script can read it, and no address contains it, so a photograph of the
screen gives no access.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "headlight_browser"

_VALUE = re.compile(r"[0-9a-f]{32}")


def browser_name(cookies: Mapping[str, str]) -> str | None:
    """Return the name of a browser for this server, from its cookies; None if it keeps none.

    It is a hash: the cookie cannot be made from the server's memory or its answers.
    """
    value = cookies.get(COOKIE)
    if not isinstance(value, str) or not _VALUE.fullmatch(value):
        return None
    return hashlib.sha256(value.encode()).hexdigest()[:32]


class BrowserCookie:
    """ASGI middleware that gives every browser its cookie with the first page.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if (
            scope["type"] != "http"
            or not _asks_for_page(scope)
            or browser_name(HTTPConnection(scope).cookies) is not None
        ):
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), (b"set-cookie", _new_cookie(scope))]}
            await send(message)

        await self._app(scope, receive, with_cookie)


def _asks_for_page(scope: Scope) -> bool:
    """Return whether the browser asks for a page, even one that it has and that has not changed."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])


def _new_cookie(scope: Scope) -> bytes:
    secure = "; Secure" if scope.get("scheme") == "https" else ""
    return f"{COOKIE}={secrets.token_hex(16)}; Path=/; HttpOnly; SameSite=Lax{secure}".encode()
