"""Address for the upload of a model archive: straight to disk, never as a whole in memory.

    PUT models/upload?name=opus-mt-ko-en&source=ko&target=en

Streamlit's own uploads, which it keeps in memory, stay closed (`viz_app.serving.web.middleware`). Refusals name labels
`open_model.problem_...` and their values.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
import streamlit as st
from msgspec import Meta
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from viz_app.serving.browser_cookie import browser_name
from viz_app.serving.opening.model_archive import OpenError
from viz_app.serving.opening.model_folders import allowed_root
from viz_app.serving.opening.opened_models import opened_models
from viz_app.serving.request_origin import same_origin
from viz_app.serving.scheduling.rate_limit import RateLimit

PATH = "models/upload"
MAX_LANGUAGE = 20  # characters of the name of a language
MIN_BYTES_PER_MINUTE = 6_000_000  # of an upload: only one is received at a time
_MINUTE = 60.0  # seconds
_PART = 2**20  # bytes that are written at once


class _Asked(msgspec.Struct):
    """Parameters of an upload."""

    name: Annotated[str, Meta(max_length=200)] = ""
    source: Annotated[str, Meta(max_length=MAX_LANGUAGE)] = ""
    target: Annotated[str, Meta(max_length=MAX_LANGUAGE)] = ""


_limit = RateLimit(per_second=0.2, burst=10)  # of one address


def upload_routes(base: str = "") -> list[Route]:
    """Return the routes for `streamlit.App`; `base` is the prefix of every path, as in `server.baseUrlPath`."""
    prefix = f"/{base.strip('/')}" if base.strip("/") else ""
    return [Route(f"{prefix}/{PATH}", _upload, methods=["PUT"])]


async def _upload(request: Request) -> Response:
    if not _limit.allows(request.client.host if request.client else ""):
        return _refusal(429, OpenError("busy"))
    if allowed_root(st.get_option("server.address"), request.headers) is None:
        return _refusal(403, OpenError("not_allowed"))
    # A page of another site can have the browser send something, but neither its cookie nor with our origin.
    browser = browser_name(request.cookies)
    if not same_origin(request.headers) or browser is None:
        return _refusal(403, OpenError("not_allowed"))
    size = request.headers.get("content-length", "")
    if not (size.isascii() and size.isdigit() and len(size) < 16):
        return _refusal(411, OpenError("interrupted"))
    try:
        asked = msgspec.convert(dict(request.query_params), _Asked)
        with opened_models().upload(asked.name, int(size), asked.source, asked.target, browser) as upload:
            async for part in _parts(request):
                await run_in_threadpool(upload.write, part)
    except OpenError as error:
        return _refusal(409, error)
    except (msgspec.ValidationError, ClientDisconnect, TimeoutError, OSError):
        return _refusal(400, OpenError("interrupted"))
    return JSONResponse({}, status_code=202)


async def _parts(request: Request) -> AsyncIterator[bytes]:
    """Yield the body in parts that are worth a write. Raises TimeoutError for one that comes too slowly."""
    waiting, stream, clock = bytearray(), request.stream().__aiter__(), asyncio.get_running_loop().time
    until, missing = clock() + _MINUTE, MIN_BYTES_PER_MINUTE
    while True:
        try:
            async with asyncio.timeout_at(until):
                chunk = await anext(stream)
        except StopAsyncIteration:
            break
        waiting += chunk
        missing -= len(chunk)
        if missing <= 0:
            until, missing = clock() + _MINUTE, MIN_BYTES_PER_MINUTE
        if len(waiting) >= _PART:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)


def _refusal(status: int, error: OpenError) -> Response:
    return JSONResponse({"problem": error.problem, "values": dict(error.values)}, status_code=status)
