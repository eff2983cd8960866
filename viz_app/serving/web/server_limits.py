"""Limits of the server beneath Streamlit, for which Streamlit has no setting: what comes in, and what goes out."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from streamlit import net_util
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from viz_app.serving.scheduling.token_bucket import TokenBucket
from viz_app.serving.web.middleware import MAX_MESSAGE_BYTES

# Of one connection. A browser sends a frame for each message and one for each ping of the server, every 30 seconds.
FRAMES_PER_SECOND = 10
FRAME_BURST = 200
MAX_DOWNLOADS = 256  # that are made, or wait for their turn, at once; each is a thread

_open = WebSocketsSansIOProtocol.__init__


def limit_incoming() -> None:
    """Let uvicorn read no larger messages of browsers than `MAX_MESSAGE_BYTES`, and not too many frames.

    `server.maxMessageSize` is one limit for both directions, and answers are large: each connection could keep as many
    bytes waiting here. `Guard` sees a message when all of it has come, and pings or empty fragments not at all, of
    which one connection sends so many that nobody else is served.
    """

    def open_limited(self: WebSocketsSansIOProtocol, config: Config, *args: Any, **options: Any) -> None:
        config.ws_max_size = MAX_MESSAGE_BYTES
        _open(self, config, *args, **options)
        events, bucket = self.conn.events_received, TokenBucket(FRAMES_PER_SECOND, FRAME_BURST)

        def counted() -> list[Any]:
            found = events()
            if bucket.take(len(found)) >= 0:
                return found
            self.transport.abort()
            return []

        self.conn.events_received = counted  # type: ignore[method-assign]

    WebSocketsSansIOProtocol.__init__ = open_limited  # type: ignore[method-assign]


def resize_download_pool() -> None:
    """Give downloads threads of their own to wait in; call it in the server's event loop.

    By default six threads on two cores wait for all visitors, first come, first served. Whoever presses six buttons
    would keep everybody else from the queue that shares the turns.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_DOWNLOADS, "download"))


def disable_external_ip_lookup() -> None:
    """Let Streamlit ask no server on the internet for this machine's address.

    It does so at the start of a server that is open to all addresses, and whenever a page of another site connects.
    """
    net_util.get_external_ip = lambda: None
