"""Requests to the routes of the class, without a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware

from viz_app.classroom.routes import class_routes
from viz_app.serving.browser_cookie import COOKIE, signed
from viz_app.serving.web.cookie_middleware import BrowserCookie

HOST = "class.test"


def scope_of(path: str, headers: Iterable[tuple[bytes, bytes]], address: str, **more: Any) -> dict[str, Any]:
    """A request by HTTP from an address, unless more says otherwise."""
    plain = {"type": "http", "http_version": "1.1", "scheme": "http", "path": path, "raw_path": path.encode()}
    ends = {"client": (address, 50_000), "server": (HOST, 80)}
    return {**plain, "query_string": b"", "headers": [*headers], **ends, **more}


def exchange(app: Any, scope: dict[str, Any], incoming: Iterable[Any]) -> list[Any]:
    """Messages of an application. Incoming messages are followed by the end of the connection."""
    sent: list[Any] = []
    left = iter(incoming)

    async def receive() -> Any:
        return next(left, {"type": f"{scope['type']}.disconnect", "code": 1000})

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(app({**scope, "headers": [*scope["headers"]]}, receive, send))
    return sent


@dataclass(frozen=True)
class Answer:
    """Answer of the server."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded."""
        return json.loads(self.body)


class Browser:
    """One browser with its cookie.

    Args:
        name: Signed in its cookie; "" for none.
        base: What stands before the paths, as with a proxy.
        address: Where it comes from.
    """

    def __init__(self, name: str = "0" * 32, base: str = "", address: str = "10.0.0.5") -> None:
        self.cookie = signed(name) if name else ""
        self._address = address
        self._app = Starlette(routes=class_routes(base), middleware=[Middleware(BrowserCookie)])

    def get(self, path: str, **headers: str) -> Answer:
        """A page, or what a script asks for."""
        return self._send("GET", path, b"", headers)

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """An answer; bytes as they are, other values as JSON."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self._send("POST", path, data, headers)

    def _send(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> Answer:
        bare, _, query = path.partition("?")
        given = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self.cookie:
            given["cookie"] = f"other=1; {COOKIE}={self.cookie}"
        encoded = [(name.encode(), value.encode()) for name, value in given.items()]
        scope = scope_of(bare, encoded, self._address, method=method, query_string=query.encode())
        parts = [body[start : start + 64] for start in range(0, len(body), 64)] or [b""]
        more = [True] * (len(parts) - 1) + [False]
        messages = [
            {"type": "http.request", "body": part, "more_body": on} for part, on in zip(parts, more, strict=True)
        ]
        start, *rest = exchange(self._app, scope, messages)
        values = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Answer(start["status"], values, b"".join(message.get("body", b"") for message in rest))
