"""Cookies for new browsers: with their first page, and few for each address, so that one cannot fill a poll."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from viz_app.serving.browser_cookie import COOKIE, browser_name, new_cookie
from viz_app.serving.scheduling.rate_limit import RateLimit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Of one address: a class of thirty comes at once, a lecture hall of 200 within a minute and a half.
NEW_BROWSERS_PER_MINUTE = 90
NEW_BROWSER_BURST = 60

_limit = RateLimit(NEW_BROWSERS_PER_MINUTE / 60, NEW_BROWSER_BURST)


class BrowserCookie:
    """ASGI middleware that gives every browser its cookie with the first page.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        header = None
        if scope["type"] == "http" and _asks_for_page(scope):
            request = HTTPConnection(scope)
            header = cookie_header(request) if browser_name(request.cookies) is None else None
        if header is None:
            await self._app(scope, receive, send)
            return

        async def with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), (b"set-cookie", header.encode())]}
            await send(message)

        await self._app(scope, receive, with_cookie)


def cookie_header(request: HTTPConnection) -> str | None:
    """Return the header that gives a browser its cookie; None if its address has had too many."""
    if not _limit.allows(request.client.host if request.client else ""):
        return None
    secure = "; Secure" if request.scope.get("scheme") == "https" else ""
    return f"{COOKIE}={new_cookie()}; Path=/; HttpOnly; SameSite=Lax{secure}"


def _asks_for_page(scope: Scope) -> bool:
    """Return whether the browser asks for a page, even one that it has and that has not changed."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
