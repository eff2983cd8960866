"""Messages of a browser, or of a stranger who speaks its protocol, and the ones that reach Streamlit."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from streamlit import net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.web.server.server_util import is_url_from_allowed_origins
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.http11 import Request

from viz_app.serving.settings import FRAME_SETTING, SettingError
from viz_app.serving.streamlit_patches import (
    FRAME_BURST,
    MAX_HEAD_BYTES,
    disable_external_ip_lookup,
    limit_heads,
    limit_incoming,
    resize_download_pool,
)
from viz_app.serving.web.middleware import MAX_MESSAGE_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND, Guard

Messages = list[dict[str, Any]]
HANDSHAKE = (
    b"GET /_stcore/stream HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def through(scope: dict[str, Any], incoming: Messages) -> tuple[Messages, Messages]:
    """Messages that the application behind the guard receives of these, and messages that the client is sent."""
    received: Messages = []
    sent: Messages = []
    left = iter(incoming)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": b"page"})
        while not received or received[-1]["type"] != "websocket.disconnect":
            try:
                received.append(await receive())
            except StopAsyncIteration:
                return

    async def receive() -> Any:
        for message in left:
            return message
        raise StopAsyncIteration

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Guard(app)({"headers": [], **scope}, receive, send))
    return received, sent


@pytest.mark.parametrize("kind", ["bytes", "text"])
def test_a_message_of_twenty_megabytes_ends_the_connection(kind: str) -> None:
    large: Any = b"a b " * 5_000_000 if kind == "bytes" else "a b " * 5_000_000
    received, sent = through(
        {"type": "websocket", "path": "/_stcore/stream"}, [{"type": "websocket.receive", kind: large}]
    )
    assert received == [{"type": "websocket.disconnect", "code": 1009}]
    assert sent == [{"type": "websocket.close", "code": 1009, "reason": "the message is too big"}]


def test_messages_of_a_browser_pass() -> None:
    messages: Messages = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": b"\xff" * MAX_MESSAGE_BYTES, "text": None},
        {"type": "websocket.disconnect", "code": 1000},
    ]
    assert through({"type": "websocket", "path": "/_stcore/stream"}, messages) == (messages, [])


def test_who_sends_faster_than_a_person_acts_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    messages: Messages = [{"type": "websocket.receive", "bytes": b"x"} for _ in range(MESSAGE_BURST + 3)]
    received, _ = through({"type": "websocket", "path": "/_stcore/stream"}, messages)
    assert received == messages and len(waits) == 3
    assert waits == pytest.approx([number / MESSAGES_PER_SECOND for number in (1, 2, 3)], abs=0.1)


@pytest.mark.parametrize(
    "path",
    [
        *("/_stcore/upload_file/session/file", "/_stcore/metrics", "/base/_stcore/metrics", "/_stcore/metrics/"),
        *("/_stcore/agent", "/_stcore/agent/interact", "/base/_stcore/agent/openapi.json", "/_stcore/agent/mcp"),
        *("/auth/login", "/base/auth/logout", "/oauth2callback", "/base/oauth2callback/"),
    ],
)
def test_closed_doors(path: str) -> None:
    received, sent = through({"type": "http", "path": path}, [])
    assert sent[0]["status"] == 404 and sent[1]["body"] == b"Not found\n" and not received


def test_every_answer_has_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("/", "/_stcore/metrics"):
        headers = dict(through({"type": "http", "path": path}, [])[1][0]["headers"])
        policy = headers[b"content-security-policy"].decode()
        assert "frame-ancestors 'self'" in policy and "object-src 'none'" in policy and "http:" not in policy
        assert headers[b"x-content-type-options"] == b"nosniff"
    monkeypatch.setenv(FRAME_SETTING, "https://moodle.example https://*.school.example")
    headers = dict(through({"type": "http", "path": "/"}, [])[1][0]["headers"])
    policy = headers[b"content-security-policy"].decode()
    assert policy.endswith("frame-ancestors 'self' https://moodle.example https://*.school.example")


@pytest.mark.parametrize(
    "value",
    ["https://a.example, https://b.example", "https://m\u00fcnchen.example", "a.example", "https://a;script-src"],
)
def test_a_frame_that_a_policy_cannot_name_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comma begins another policy, and without its umlaut the name would be another host."""
    monkeypatch.setenv(FRAME_SETTING, value)
    with pytest.raises(SettingError, match=f"{FRAME_SETTING} has 'https://(a|m)|{FRAME_SETTING} has 'a.example"):
        through({"type": "http", "path": "/"}, [])


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


def passed(*messages: bytes) -> list[bytes]:
    """Messages of these that reach Streamlit."""
    incoming: Messages = [{"type": "websocket.receive", "bytes": data} for data in messages]
    received, sent = through({"type": "websocket", "path": "/_stcore/stream"}, incoming)
    assert not sent
    return [message["bytes"] for message in received]


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


class Transport(asyncio.Transport):
    """A network connection that only notes whether it was broken off."""

    aborted = False

    def abort(self) -> None:
        self.aborted = True

    def pause_reading(self) -> None:
        """Bytes come from the test."""


def opened() -> tuple[WebSocketsSansIOProtocol, Transport]:
    """A connection of uvicorn after the handshake, for use in an event loop."""
    config = Config(lambda: None, ws_max_size=80_000_000)
    config.load()
    connection, transport = WebSocketsSansIOProtocol(config, ServerState(), {}), Transport()
    connection.transport = transport
    connection.conn.receive_data(HANDSHAKE)
    (asked,) = connection.conn.events_received()
    assert isinstance(asked, Request)
    connection.conn.send_response(connection.conn.accept(asked))
    return connection, transport


@pytest.fixture
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WebSocketsSansIOProtocol, "__init__", WebSocketsSansIOProtocol.__init__)
    limit_incoming(MAX_MESSAGE_BYTES)


@pytest.mark.usefixtures("limited")
def test_a_message_is_refused_when_it_is_announced() -> None:
    """A frame of RFC 6455 says in its first ten bytes how long it is."""

    async def code(size: int) -> int | None:
        connection = opened()[0].conn
        connection.receive_data(b"\x82\xff" + size.to_bytes(8, "big") + b"mask")
        return connection.close_sent.code if connection.close_sent else None

    assert [asyncio.run(code(MAX_MESSAGE_BYTES + more)) for more in (0, 1)] == [None, 1009]


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("frame", [b"\x89\x80mask", b"\x8a\x80mask", b"\x00\x80mask"], ids=["ping", "pong", "fragment"])
def test_a_flood_of_frames_ends_the_connection(frame: bytes) -> None:
    """None of them is a message, so nothing behind uvicorn sees them; each costs it as much as a small message."""

    async def aborted(count: int) -> bool:
        connection, transport = opened()
        connection.conn.receive_data(b"\x02\x80mask")  # the first fragment of a message
        for _ in range(count):
            connection.conn.receive_data(frame)
        connection.conn.events_received()
        return transport.aborted

    assert [asyncio.run(aborted(count)) for count in (FRAME_BURST - 10, FRAME_BURST + 10)] == [False, True]


HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


@pytest.mark.parametrize(
    "data",
    [HEAD + b"X: ", HEAD, b"GET /", HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;"],
    ids=["header", "headers", "address", "chunk"],
)
def test_an_endless_head_ends_the_connection(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("data_received", "on_headers_complete", "on_body"):
        monkeypatch.setattr(HttpToolsProtocol, name, getattr(HttpToolsProtocol, name))
    limit_heads(MAX_HEAD_BYTES)
    more = b"X: a\r\n" * 1_000 if data == HEAD else b"a" * 6_000

    async def aborted(first: bytes, packet: bytes, count: int) -> bool:
        config = Config(idle)
        config.load()
        protocol, transport = HttpToolsProtocol(config, ServerState(), {}), Transport()
        protocol.connection_made(transport)
        for part in (first, *[packet] * count):
            protocol.data_received(part)
        return transport.aborted

    body = HEAD + b"Content-Length: 99999999\r\n\r\n"
    assert [asyncio.run(aborted(data, more, count)) for count in (8, 12)] == [False, True]
    assert not asyncio.run(aborted(body, more, 12)), "a body has limits of its own"


async def idle(scope: Any, receive: Any, send: Any) -> None:
    """Answer nothing."""
    await asyncio.Event().wait()


def test_a_download_gets_a_thread_while_a_hundred_wait() -> None:
    done = threading.Event()

    async def serve() -> str:
        resize_download_pool()
        waiting = [asyncio.create_task(asyncio.to_thread(done.wait, 30)) for _ in range(100)]
        try:
            return await asyncio.wait_for(asyncio.to_thread(str, "file"), 5)
        finally:
            done.set()
            await asyncio.gather(*waiting)

    assert asyncio.run(serve()) == "file"


def test_no_stranger_makes_the_server_ask_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit looks up its own address there to judge where a connection comes from."""
    asked: list[str] = []
    monkeypatch.setattr(net_util, "_make_blocking_http_get", lambda url, timeout: asked.append(url))
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # put back afterwards
    assert not is_url_from_allowed_origins("https://elsewhere.example")
    assert len(asked) == 2  # as Streamlit has it
    disable_external_ip_lookup()
    assert not is_url_from_allowed_origins("https://elsewhere.example")
    assert len(asked) == 2
