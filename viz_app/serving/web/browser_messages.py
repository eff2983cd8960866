"""What a browser may ask Streamlit for: a run of the page, and what the pages offer.

Streamlit knows further requests, such as to empty the caches of all visitors, and answers them to everybody who speaks
its protocol, though no page shows a button for them. A pure ASGI middleware, for `streamlit.App`, behind `Guard`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamlit.proto.BackMsg_pb2 import BackMsg

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

OFFERED = ("rerun_script", "stop_script", "app_heartbeat", "backend_operation_request")
OFFERED_OPERATIONS = ("deferred_file",)  # a download


class BrowserMessages:
    """Drops the messages that no page of the app sends.

    Args:
        app: The application behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request or connection."""
        await self._app(scope, _offered(receive) if scope["type"] == "websocket" else receive, send)


def _offered(receive: Receive) -> Receive:
    async def offered() -> Message:
        while True:
            message = await receive()
            if message["type"] != "websocket.receive" or not message.get("bytes") or is_offered(message["bytes"]):
                return message

    return offered


def is_offered(data: bytes) -> bool:
    """Whether pages of the app send such a message; of bytes that are none, Streamlit says what is wrong."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # DecodeError, of a package that only Streamlit asks for
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OFFERED_OPERATIONS
    return kind in OFFERED
