"""Guard between the network and Streamlit: hosts, origins, limits of messages, closed addresses, a policy for browsers.

A pure ASGI middleware, for `streamlit.App`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import streamlit as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from viz_app.serving.request_origin import host_of, is_name_of_computer, same_origin
from viz_app.serving.scheduling.monitoring import sessions
from viz_app.serving.server_address import is_loopback
from viz_app.serving.settings import frame_ancestors
from viz_app.serving.streamlit_patches import is_named_host, is_offered
from viz_app.serving.token_bucket import TokenBucket

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_MESSAGE_BYTES = 1_000_000  # of a message from a browser; the longest sentence with all settings has a hundredth
# Of one connection: each message is a run of the page, 35 ms of a core, unless the next one replaces it. Nobody types
# faster; a slider that is dragged sends a burst.
MESSAGES_PER_SECOND = 10
MESSAGE_BURST = 20
# Streamlit accepts files here though the app asks for none, publishes its statistics, and has accounts and agents.
CLOSED = ("/_stcore/upload_file", "/_stcore/metrics", "/_stcore/agent", "/auth", "/oauth2callback")
_TOO_BIG = 1009  # code of RFC 6455 for a message that is too big
_FOREIGN = 1008  # likewise for one that a policy forbids
_OTHER_HOST = "This server does not answer at this name. Add it to Streamlit's setting server.allowedHosts.\n"

# Streamlit and BertViz have scripts and styles inside their pages; a page loads nothing from another server and sends
# nothing there, so an image in a foreign model card cannot report its readers.
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; media-src 'self' data: blob:; worker-src 'self' blob:; "
    "connect-src 'self' data: blob:; frame-src 'self' data: blob:; object-src 'none'; base-uri 'self'; "
    "form-action 'self'; frame-ancestors {ancestors}"
)


def headers() -> list[tuple[bytes, bytes]]:
    """Return the headers of every answer. Raises SettingError."""
    ancestors = " ".join(["'self'", *frame_ancestors()])
    return [
        (b"content-security-policy", _POLICY.format(ancestors=ancestors).encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    ]


class Guard:
    """Guard that refuses requests that are too large, or that no page of this server sends, before Streamlit sees them.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = headers()
        self._is_private = is_loopback(st.get_option("server.address") or "")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] == "websocket":
            if self._is_foreign(Headers(scope=scope)):
                await send({"type": "websocket.close", "code": _FOREIGN, "reason": "another origin"})
                return
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

        answer = self._app
        if self._is_for_other_host(Headers(scope=scope)):
            answer = PlainTextResponse(_OTHER_HOST, 403)
        elif any(scope["path"].endswith(path) or f"{path}/" in scope["path"] for path in CLOSED):
            answer = PlainTextResponse("Not found\n", 404)
        await answer(scope, receive, with_headers)

    def _is_for_other_host(self, headers: Headers) -> bool:
        """Return whether a request names a host that is not this server's: a stranger's name, bound to its address."""
        host = host_of(headers)
        is_ours = is_loopback(host) or (is_name_of_computer(host) and not self._is_private)
        return "host" in headers and not is_ours and not is_named_host(headers["host"])

    def _is_foreign(self, headers: Headers) -> bool:
        """Return whether a page of another server opens a connection.

        Streamlit itself takes pages of every port of this computer, to which browsers send the same cookie.
        """
        origin = headers.get("origin")
        is_named = origin in st.get_option("server.corsAllowedOrigins") or not st.get_option("server.enableCORS")
        return self._is_for_other_host(headers) or not (origin is None or is_named or same_origin(headers))


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
            if (balance := bucket.take()) < 0:
                await asyncio.sleep(-balance / MESSAGES_PER_SECOND)
            if not message.get("bytes") or is_offered(message["bytes"]):
                return message

    return limited
