"""Guard between the network and Streamlit: limits of messages, closed addresses, and a policy for browsers.

A pure ASGI middleware, for `streamlit.App`.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from viz_app.serving.scheduling.monitoring import sessions
from viz_app.serving.streamlit_patches import is_offered
from viz_app.serving.token_bucket import TokenBucket

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_MESSAGE_BYTES = 1_000_000  # of a message from a browser; the longest sentence with all settings has a hundredth
# Of one connection: each message is a run of the page, 35 ms of a core. A slider that is dragged sends a burst.
MESSAGES_PER_SECOND = 5
MESSAGE_BURST = 20
# Streamlit accepts files here though the app asks for none, and publishes its statistics.
CLOSED = ("/_stcore/upload_file", "/_stcore/metrics")
FRAME_SETTING = "HEADLIGHT_FRAME_ANCESTORS"
_TOO_BIG = 1009  # code of RFC 6455 for a message that is too big

# Streamlit and BertViz have scripts and styles inside their pages; a page loads nothing from another server and sends
# nothing there, so an image in a foreign model card cannot report its readers.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {ancestors}"
)


def headers() -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer. HEADLIGHT_FRAME_ANCESTORS names other sites that may frame the app."""
    ancestors = " ".join(["'self'", *os.environ.get(FRAME_SETTING, "").replace(";", " ").split()])
    return [
        (b"content-security-policy", _POLICY.format(ancestors=ancestors).encode("ascii", "ignore")),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]


class Guard:
    """Guard that refuses requests that are too large or that no page sends, before Streamlit sees them.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "websocket":
            with sessions.track_inprogress():  # each session has one connection
                await self._app(scope, _limited(receive, send), send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        if any(scope["path"].endswith(path) or f"{path}/" in scope["path"] for path in CLOSED):
            plain = [(b"content-type", b"text/plain; charset=utf-8")]
            await with_headers({"type": "http.response.start", "status": 404, "headers": plain})
            await send({"type": "http.response.body", "body": b"Not found\n"})
        else:
            await self._app(scope, receive, with_headers)


def _limited(receive: Receive, send: Send) -> Receive:
    """Limit messages to the size, rate and kinds that the pages need.

    A larger message ends the connection. An early one waits, and with it the network connection. An unknown kind is
    dropped.
    """
    bucket = TokenBucket(MESSAGES_PER_SECOND, MESSAGE_BURST)

    async def limited() -> Message:
        while True:
            message = await receive()
            if len(message.get("bytes") or message.get("text") or b"") > MAX_MESSAGE_BYTES:
                await send({"type": "websocket.close", "code": _TOO_BIG, "reason": "the message is too big"})
                return {"type": "websocket.disconnect", "code": _TOO_BIG}
            if (left := bucket.take()) < 0:
                await asyncio.sleep(-left / MESSAGES_PER_SECOND)
            if not message.get("bytes") or is_offered(message["bytes"]):
                return message

    return limited
