"""All use of internals of Streamlit and of the server beneath it, uvicorn.

Streamlit has no public setting or function for any of these (tested with 1.60 to 1.67).
`tests/app/serving/test_streamlit_patches.py` lists and checks every internal: an upgrade fails there with its name.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit import net_util, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.web.server.starlette import starlette_websocket
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed
from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from viz_app.serving.token_bucket import TokenBucket

# --- the server -------------------------------------------------------------------------------------------------------

# Of one connection. A browser sends a frame for each message and one for each ping of the server, every 30 seconds.
FRAMES_PER_SECOND = 20
FRAME_BURST = 200
MAX_HEAD_BYTES = 65_536  # of a request: its address and its headers
MAX_DOWNLOADS = 256  # files that are made, or wait, at once; each is a thread
KEPT_SECONDS = 10.0  # of a downloaded file, at least; with a longer time old files would fill the memory
OFFERED = ("rerun_script", "stop_script", "app_heartbeat", "backend_operation_request")
OFFERED_OPERATIONS = ("deferred_file",)  # a download

_open = WebSocketsSansIOProtocol.__init__


def limit_incoming(max_bytes: int) -> None:
    """Limit the size of a browser's message and the rate of its frames in uvicorn.

    `server.maxMessageSize` is one limit for both directions, and answers are large: each connection could keep as many
    bytes waiting here. A middleware sees a message when all of it has arrived. It sees no pings or empty fragments, and
    one connection can send enough of them to block all others.
    """

    def open_limited(self: WebSocketsSansIOProtocol, config: Config, *args: Any, **options: Any) -> None:
        config.ws_max_size = max_bytes
        _open(self, config, *args, **options)
        events, bucket = self.conn.events_received, TokenBucket(FRAMES_PER_SECOND, FRAME_BURST)

        def counted() -> list[Any]:
            received = events()
            if bucket.take(len(received)) >= 0:
                return received
            self.transport.abort()
            return []

        self.conn.events_received = counted  # type: ignore[method-assign]

    WebSocketsSansIOProtocol.__init__ = open_limited  # type: ignore[method-assign]


def limit_heads(max_bytes: int = MAX_HEAD_BYTES) -> None:
    """End a connection that sends more than this of a request before its body.

    httptools has no limit, and joins a header anew at each packet: an endless one kept all visitors waiting. h11,
    which uvicorn takes without httptools, has this limit.
    """
    try:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Protocol
    except ImportError:
        return
    receive, complete, take = Protocol.data_received, Protocol.on_headers_complete, Protocol.on_body
    heads: WeakKeyDictionary[Protocol, int] = WeakKeyDictionary()  # bytes since the last head or part of a body

    def data_received(self: Protocol, data: bytes) -> None:
        heads[self] = heads.get(self, 0) + len(data)
        receive(self, data)
        if heads[self] > max_bytes:
            self.transport.abort()

    def on_headers_complete(self: Protocol) -> None:
        heads[self] = 0
        complete(self)

    def on_body(self: Protocol, body: bytes) -> None:
        heads[self] = 0
        take(self, body)

    for limited in (data_received, on_headers_complete, on_body):
        setattr(Protocol, limited.__name__, limited)


def resize_download_pool() -> None:
    """Give downloads their own waiting threads. Call it in the server's event loop.

    By default six threads on two cores serve all visitors in order of arrival. One visitor who presses six buttons
    would keep all others from the fair queue.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MAX_DOWNLOADS, "download"))


def disable_external_ip_lookup() -> None:
    """Keep Streamlit from asking a server on the internet for this machine's address.

    It asks at the start of a server that is open to all addresses, and whenever a page of another site connects.
    """
    net_util.get_external_ip = lambda: None


def is_named_host(host: str | None) -> bool:
    """Return whether the setting `server.allowedHosts` names a host."""
    return bool(st.get_option("server.allowedHosts")) and is_host_allowed(host)


def leave_hosts_to_the_guard() -> None:
    """Keep Streamlit from comparing hosts: for websockets alone, it refuses this computer's own names beside others."""
    starlette_websocket.is_host_allowed = lambda host: True


def is_offered(data: bytes) -> bool:
    """Return whether the app's pages send such a message. Bytes that are no message pass: Streamlit reports the error.

    Streamlit knows further requests, such as to empty the caches of all visitors. It answers them to every client of
    its protocol, though no page has a button for them.
    """
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # DecodeError, of a package that only Streamlit depends on
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OFFERED_OPERATIONS
    return kind in OFFERED


class Throttled:
    """Function that does nothing when called again too soon.

    Args:
        action: The function.
        seconds: Least time between two calls of it.
        clock: Returns the time in seconds.
    """

    def __init__(
        self, action: Callable[[], None], seconds: float = KEPT_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._action, self._seconds, self._clock = action, seconds, clock
        self._next = clock()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Call the function, unless its last call was less than `seconds` ago."""
        with self._lock:
            if self._clock() < self._next:
                return
            self._next = self._clock() + self._seconds
        self._action()


def retain_media() -> None:
    """Keep a file of a download button for at least `KEPT_SECONDS`. Call it in a run; further calls do nothing.

    Streamlit makes the file when the button is pressed, and sends the browser its address. Whenever a run of any
    visitor ends, it removes files that no session refers to: it marks them at one end, and removes them at the next. No
    session refers to such a file. In a class that types, it may be gone before a slow browser asks for it.
    """
    if not runtime.exists():  # the page is tried without a server
        return
    manager = runtime.get_instance().media_file_mgr
    if not isinstance(manager.remove_orphaned_files, Throttled):
        manager.remove_orphaned_files = Throttled(manager.remove_orphaned_files)  # type: ignore[method-assign]


# --- the current run --------------------------------------------------------------------------------------------------


def run_session() -> str | None:
    """Return Streamlit's id of the session of this run; None outside a run."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context else None


def client_address(session: str) -> str:
    """Return the address of a session's browser; "" if it has none.

    `st.context.ip_address` is None on the server's own computer, as it is without a browser.
    """
    client = runtime.get_instance().get_client(session)
    context = client.client_context if client is not None else None
    return (context.remote_ip if context is not None else None) or ""


def is_connected(session: str) -> bool:
    """Return whether the browser of a session is connected. May be called from any thread."""
    return runtime.exists() and runtime.get_instance().is_active_session(session)


def stop_if_superseded() -> None:
    """End the current run if a newer one of the same session has replaced it."""
    if run_session() is not None:
        st.session_state.get("text")  # reading the state ends such a run


def reported_text(key: str) -> str | None:
    """Return the text that the browser reports for a field that this run has not drawn; None if it has no such field.

    A page that continues in a new session reports its fields before the run begins.
    """
    context = get_script_run_ctx(suppress_warning=True)
    widgets = context.session_state.get_widget_states() if context is not None else []
    return next((each.string_value for each in widgets if user_key_from_element_id(each.id) == key), None)


@contextmanager
def shared_across_pages() -> Iterator[None]:
    """Share the widgets of the block between all pages: they keep their value when the page changes.

    On a change of page, the browser sends only the values of the frame's widgets. If the run before was still busy,
    that message replaces an earlier one, and a choice made right before leaving would be lost. Streamlit counts as the
    frame the widgets that the entry point itself draws. The containers around a shared widget must be shared, too.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        yield
        return
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield
