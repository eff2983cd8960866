"""Health of a front end for its supervisor or load balancer: whether it is up, and whether it can translate."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse
from starlette.routing import Route

from viz_app.serving.models.loader import get_translation_service

if TYPE_CHECKING:
    from starlette.requests import Request

LIVE, READY = "/healthz/live", "/healthz/ready"

_SECONDS = 1.0  # lifetime of an answer
_log = logging.getLogger(__name__)


class Health:
    """Health of the process."""

    def __init__(self) -> None:
        self.model_tried = False  # whether the start has tried to load the first model
        self._lock = asyncio.Lock()
        self._ready, self._until = False, 0.0

    def routes(self) -> list[Route]:
        """Return the routes for the server."""
        return [Route(LIVE, self.live), Route(READY, self.ready)]

    async def live(self, _: Request) -> PlainTextResponse:
        """Answer that the process is alive."""
        return PlainTextResponse("ok")

    async def ready(self, _: Request) -> PlainTextResponse:
        """Answer 200 if a sentence would be translated now, else 503."""
        async with self._lock:
            if self.model_tried and time.monotonic() > self._until:
                self._ready = await asyncio.to_thread(_can_translate)
                self._until = time.monotonic() + _SECONDS
        return PlainTextResponse("ok" if self._ready else "not ready", 200 if self._ready else 503)


def _can_translate() -> bool:
    try:
        return get_translation_service().decoder.is_ready()
    except Exception as error:
        _log.warning("not ready: %s", error)
        return False


health = Health()
