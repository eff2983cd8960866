"""Limits of the server beneath Streamlit, for which Streamlit has no setting of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from viz_app.serving.middleware import MOST_MESSAGE_BYTES

MOST_DOWNLOADS = 256  # that are made, or wait for their turn, at once; each is a thread

_open = WebSocketsSansIOProtocol.__init__


def limit_incoming() -> None:
    """Let uvicorn read messages of browsers up to `MOST_MESSAGE_BYTES`; it refuses a larger one when it is announced.

    `server.maxMessageSize` is one limit for both directions, and answers are large: each connection could keep as many
    bytes waiting here. `Guard` sees a message when all of it has come.
    """

    def open_limited(self: WebSocketsSansIOProtocol, config: Config, *args: Any, **options: Any) -> None:
        config.ws_max_size = MOST_MESSAGE_BYTES
        _open(self, config, *args, **options)

    WebSocketsSansIOProtocol.__init__ = open_limited  # type: ignore[method-assign]


def let_downloads_wait() -> None:
    """Give downloads threads of their own to wait in; call it in the server's event loop.

    By default six threads on two cores wait for all visitors, first come, first served. Whoever presses six buttons
    would keep everybody else from the queue that shares the turns.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_DOWNLOADS, "download"))
