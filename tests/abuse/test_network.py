"""What reaches Streamlit of what a browser, or something else, sends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from viz_app.serving.web.middleware import FRAME_SETTING, MAX_MESSAGE_BYTES, MESSAGE_BURST, MESSAGES_PER_SECOND, Guard

Messages = list[dict[str, Any]]


def through(scope: dict[str, Any], incoming: Messages) -> tuple[Messages, Messages]:
    """What the application behind the guard receives of these messages, and what the client is sent."""
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

    asyncio.run(Guard(app)(scope, receive, send))
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
    "path", ["/_stcore/upload_file/session/file", "/_stcore/metrics", "/base/_stcore/metrics", "/_stcore/metrics/"]
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
