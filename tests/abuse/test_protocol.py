"""What a stranger sends who speaks Streamlit's protocol, but is no browser."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.http11 import Request

from viz_app.serving.browser_messages import BrowserMessages
from viz_app.serving.middleware import MOST_MESSAGE_BYTES
from viz_app.serving.server_limits import let_downloads_wait, limit_incoming

HANDSHAKE = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def request(kind: str) -> bytes:
    """A request that Streamlit knows."""
    message = BackMsg()
    if kind == "rerun_script":
        message.rerun_script.query_string = "lang=en"
    elif kind in ("deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"):
        getattr(message.backend_operation_request, kind).SetInParent()
    elif kind == "file_urls_request":
        message.file_urls_request.file_names.append("a")
    else:
        setattr(message, kind, True)
    return bytes(message.SerializeToString())


def passed(*messages: bytes) -> list[Any]:
    """Which of these messages reach Streamlit."""
    found: list[Any] = []
    left = iter([{"type": "websocket.receive", "bytes": data} for data in messages])

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (message := await receive())["type"] != "websocket.disconnect":
            found.append(message["bytes"])

    async def receive() -> Any:
        return next(left, {"type": "websocket.disconnect"})

    async def send(message: Any) -> None:
        raise AssertionError(message)

    asyncio.run(BrowserMessages(app)({"type": "websocket"}, receive, send))
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "clear_cache",  # of all visitors, and with it the models and the queue in front of them
        "load_git_info",
        "set_run_on_save",
        "debug_shutdown_runtime",
        "debug_disconnect_websocket",
        "file_urls_request",
        "install_skills",
        "dismiss_skills_nudge",
        "dataframe_chunk",
    ],
)
def test_what_no_page_asks_for_does_not_reach_streamlit(kind: str) -> None:
    run = request("rerun_script")
    assert passed(run, request(kind), run) == [run, run]


@pytest.mark.parametrize("kind", ["rerun_script", "stop_script", "app_heartbeat", "deferred_file"])
def test_what_pages_ask_for_does(kind: str) -> None:
    assert passed(request(kind)) == [request(kind)]


def test_bytes_that_are_no_message_are_left_to_streamlit() -> None:
    assert passed(b"\xff" * 9) == [b"\xff" * 9]


def test_a_message_is_refused_when_it_is_announced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of RFC 6455 says in its first ten bytes how long it is."""
    monkeypatch.setattr(WebSocketsSansIOProtocol, "__init__", WebSocketsSansIOProtocol.__init__)
    limit_incoming()

    async def code(size: int) -> int | None:
        config = Config(lambda: None, ws_max_size=80_000_000)
        config.load()
        connection = WebSocketsSansIOProtocol(config, ServerState(), {}).conn
        connection.receive_data(HANDSHAKE)
        (asked,) = connection.events_received()
        assert isinstance(asked, Request)
        connection.send_response(connection.accept(asked))
        connection.receive_data(b"\x82\xff" + size.to_bytes(8, "big") + b"mask")
        return connection.close_sent.code if connection.close_sent else None

    assert [asyncio.run(code(MOST_MESSAGE_BYTES + more)) for more in (0, 1)] == [None, 1009]


def test_a_download_gets_a_thread_while_a_hundred_wait() -> None:
    done = threading.Event()

    async def serve() -> str:
        let_downloads_wait()
        waiting = [asyncio.create_task(asyncio.to_thread(done.wait, 30)) for _ in range(100)]
        try:
            return await asyncio.wait_for(asyncio.to_thread(str, "file"), 5)
        finally:
            done.set()
            await asyncio.gather(*waiting)

    assert asyncio.run(serve()) == "file"
