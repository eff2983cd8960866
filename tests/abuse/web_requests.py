"""Requests that a stranger sends to the server: headers, cookies and bodies, and websockets."""

from __future__ import annotations

from functools import cache
from itertools import count
from typing import Any, cast
from unittest import mock
from urllib.parse import unquote

from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import net_util
from streamlit.web.server.server_util import is_url_from_allowed_origins
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from tests.abuse.damage import damaged_json, damages
from tests.abuse.target import Target
from tests.app.classroom.asgi import exchange, scope_of
from viz_app.classroom.routes import class_routes
from viz_app.serving.browser_cookie import COOKIE, browser_name
from viz_app.serving.classes.class_store import class_store
from viz_app.serving.classes.polls import OwnQuestion
from viz_app.serving.web.cookie_middleware import BrowserCookie
from viz_app.serving.web.health import READY, health
from viz_app.serving.web.middleware import Guard

HOST = "localhost:8501"

# Text stands for its bytes in latin-1; uvicorn lets all bytes of a header pass but these.
_BYTES = st.text(st.characters(max_codepoint=255, exclude_characters="\r\n\0"), max_size=30)
_ASCII = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#"), max_size=30)  # an address
_PLACES = (
    *("http://[", "http://[::1", "//[", "[", "[::1]", "[::1]:x", "http://localhost:99999", "null", f"http://{HOST}"),
    *("::1%eth0", "::ffff:1.2.3.4", "fe80::1%\xff", "1.2.3.4:99999", "2001:db8::1, 127.0.0.1", "unknown", "0x7f.1"),
)
_COOKIES = (
    *("a@b=1", 'a="\\', "{cookie}", f"{COOKIE}=", f'{COOKIE}="\\377"', "{cookie}; {cookie}", "; =; ==;", "$Path=1"),
    *("{cookie}; a/b=1", f"{COOKIE}={'0' * 32}", "a=1;" * 5_000),
)
_OTHERS = (
    *("ko-KR,ko;q=0.9", "q=;,,", "text/html", "multipart/form-data", "text/html; charset=utf-99", "bytes=0-"),
    *("same-origin", "cross-site", "websocket", "-1", "\xb2", "1_0", "x" * 70_000, "0" * 5_000),
)
_NAMES = {
    **dict.fromkeys(("origin", "host", "referer", "x-forwarded-for", "x-real-ip", "forwarded"), _PLACES),
    "cookie": _COOKIES,
    **dict.fromkeys(("accept", "accept-language", "content-type", "content-length", "if-none-match", "range"), _OTHERS),
    **dict.fromkeys(("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "x-forwarded-proto", "via"), _OTHERS),
}
_HEADERS = st.lists(
    st.one_of(*(st.tuples(st.just(name), _BYTES | st.sampled_from(odd)) for name, odd in _NAMES.items())), max_size=5
)
_numbers = count()


def _scope(kind: str, path: str, headers: list[tuple[str, str]], cookie: str, **more: Any) -> Scope:
    """A request through a proxy if it says so; each case comes from an address of its own."""
    given = {"host": HOST, "origin": f"http://{HOST}", "cookie": cookie, "accept": "text/html"}
    own = [(name, value) for name, value in given.items() if name not in dict(headers)]
    n = next(_numbers)
    proxied = any(name == "x-forwarded-for" for name, _ in headers)
    encoded = [
        (name.encode(), value.replace("{cookie}", cookie).encode("latin-1", "replace"))
        for name, value in [*own, *headers]
    ]
    address = "127.0.0.1" if proxied else f"10.{n >> 16 & 255}.{n >> 8 & 255}.{n & 255}"
    more |= {"type": kind, "scheme": "http" if kind == "http" else "ws", "server": ("localhost", 8501)}
    return scope_of(unquote(path), encoded, address, raw_path=path.encode(), **more)


def _answer(app: ASGIApp, scope: Scope, incoming: list[Message]) -> list[Message]:
    return exchange(ProxyHeadersMiddleware(cast(Any, app), "127.0.0.1"), dict(scope), incoming)


# Requests to the routes of the app.


@cache
def _app() -> Starlette:
    routes = [*class_routes(), *health.routes()]
    return Starlette(routes=routes, middleware=[Middleware(Guard), Middleware(BrowserCookie)])


def _cookie() -> str:
    """The cookie that the server gives a new browser."""
    sent = _answer(_app(), _scope("http", "/", [], "", method="GET"), [])
    return str(dict(sent[0]["headers"])[b"set-cookie"].decode().partition(";")[0])


@cache
def _teacher() -> tuple[str, str]:
    """The cookie of a teacher, and the code of the class."""
    cookie = _cookie()
    owner = browser_name({COOKIE: cookie.partition("=")[2]}) or ""
    code = class_store().open(owner)
    class_store().ask(code, owner, OwnQuestion(text="Why?", choices=("a", "b")))
    return cookie, code


def _check_request(case: dict[str, Any]) -> None:
    cookie, code = _teacher()
    document: dict[str, object] = {"state": "revealed"}
    if case["body"]["answer"]:
        cookie, document = _cookie(), {"poll": 1, "option": 0}  # a student answers only so often
    body = damaged_json(document, case["body"])
    headers = [("content-length", str(len(body))), *case["headers"]]
    path = case["path"].replace("{code}", code)
    scope = _scope("http", path, headers, cookie, method=case["method"], query_string=case["query"].encode())
    parts = [body[start : start + case["part"]] for start in range(0, len(body), case["part"])]
    incoming: list[Message] = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    if case["whole"]:
        incoming.append({"type": "http.request", "body": b"", "more_body": False})
    start, *rest = _answer(_app(), scope, incoming)
    assert start["status"] < 500 or path == READY, start
    assert all(b"\n" not in value and b"\r" not in value for _, value in start["headers"])
    given = dict(start["headers"])
    assert b"content-security-policy" in given
    assert int(given.get(b"content-length", -1)) in (-1, sum(len(part.get("body", b"")) for part in rest))


_PATHS = st.sampled_from(
    (
        *("/join/{code}", "/join/{code}/state", "/join/{code}/answer", "/join/{code}/control", "/join/app.js"),
        *("/join/app.css/", "/join/%3Cscript%3E", "/join/%00/state", "/join/%ff/answer", "/join/\u0131"),
        *("/", "/healthz/live", READY, "/_stcore/metrics", "//[/join", "/join/{code}/", "/join/{code}/../state"),
    )
).map(lambda path: path.encode("ascii", "replace").decode())
_REQUESTS = st.fixed_dictionaries(
    {
        "method": st.sampled_from(("GET", "POST", "PUT", "HEAD", "OPTIONS", "\xff")),
        "path": _PATHS,
        "query": st.sampled_from(
            ("", "lang=ko", "lang=%ff", "lang=" + "x" * 5_000, "name=&source=%00", "name=a&name=b")
        )
        | _ASCII,
        "headers": _HEADERS,
        "body": st.builds(lambda damage, answer: {**damage, "answer": answer}, damages, st.booleans()),
        "part": st.sampled_from((1, 7, 300)),
        "whole": st.booleans(),
    }
)


# Websockets.


async def _streamlit(scope: Scope, receive: Receive, send: Send) -> None:
    """Ask of a connection what Streamlit asks before it opens a session."""
    origin = Headers(scope=scope).get("origin")
    if origin is not None and not is_url_from_allowed_origins(origin):
        await send({"type": "websocket.close", "code": 1000})
        return
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


def _check_socket(case: dict[str, Any]) -> None:
    scope = _scope("websocket", "/_stcore/stream", case["headers"], _teacher()[0], subprotocols=["streamlit"])
    incoming: list[Message] = [{"type": "websocket.connect"}]
    for text in case["messages"]:
        given: dict[str, Any] = {"text": text} if case["text"] else {"bytes": text.encode("utf-8", "replace")}
        incoming.append({"type": "websocket.receive", **given})
    with mock.patch.object(net_util, "get_external_ip", lambda: None):  # as the app has it
        sent = _answer(BrowserCookie(Guard(_streamlit)), scope, incoming)
    assert sent


_SOCKETS = st.fixed_dictionaries(
    {"headers": _HEADERS, "messages": st.lists(st.text(max_size=30), max_size=5), "text": st.booleans()}
)


TARGETS = (Target("requests", _REQUESTS, _check_request), Target("sockets", _SOCKETS, _check_socket))
