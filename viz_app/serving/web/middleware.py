"""What stands between the network and Streamlit: a size for messages, closed doors, and a policy for browsers.

A pure ASGI middleware, for `streamlit.App`.
"""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from viz_app.serving.scheduling.monitoring import sessions
from viz_app.serving.scheduling.token_bucket import TokenBucket

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_MESSAGE_BYTES = 1_000_000  # of a message from a browser; the longest sentence with all settings has a hundredth
# Of one connection: each message is a run of the page, 35 ms of a core. A slider that is dragged sends a burst.
MESSAGES_PER_SECOND = 5
MESSAGE_BURST = 20
# Streamlit takes files here though the app asks for none, and tells its statistics to everybody.
CLOSED = ("/_stcore/upload_file", "/_stcore/metrics")
FRAME_SETTING = "HEADLIGHT_FRAME_ANCESTORS"
_TOO_BIG = 1009  # code of RFC 6455 for a message that is too big

# Streamlit and BertViz have scripts and styles inside their pages; nothing is loaded from anywhere else, and nothing is
# sent there, so that a picture in a stranger's model card cannot tell who reads it.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {ancestors}"
)


def headers() -> list[tuple[bytes, bytes]]:
    """Of every answer. HEADLIGHT_FRAME_ANCESTORS names the other sites that may show the app in a frame."""
    ancestors = " ".join(["'self'", *os.environ.get(FRAME_SETTING, "").replace(";", " ").split()])
    return [
        (b"content-security-policy", _POLICY.format(ancestors=ancestors).encode("ascii", "ignore")),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]


class Guard:
    """Refuses what is too large or not offered, before Streamlit sees it.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = headers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or connection."""
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
    """Messages up to the size that a browser needs, and no faster than a person acts.

    A larger one ends the connection; one that comes too soon waits, and with it the network connection behind it.
    """
    bucket = TokenBucket(MESSAGES_PER_SECOND, MESSAGE_BURST)

    async def limited() -> Message:
        message = await receive()
        if len(message.get("bytes") or message.get("text") or b"") > MAX_MESSAGE_BYTES:
            await send({"type": "websocket.close", "code": _TOO_BIG, "reason": "the message is too big"})
            return {"type": "websocket.disconnect", "code": _TOO_BIG}
        if (left := bucket.take()) < 0:
            await asyncio.sleep(-left / MESSAGES_PER_SECOND)
        return message

    return limited
