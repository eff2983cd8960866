"""Prepare a server before its first visitor: classes, the first model, translated examples, measured heads."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st

from viz_app.serving.classes.class_store import start_classes
from viz_app.serving.models.head_roles import measure_roles
from viz_app.serving.models.loader import get_translation_service, request_queue, worker_processes
from viz_app.serving.opening.opened_models import opened_models
from viz_app.serving.scheduling.monitoring import metrics_server
from viz_app.serving.scheduling.request_queue import Superseded, Visitor
from viz_app.serving.settings import METRICS_SETTING, positive_setting, teacher_key
from viz_app.serving.streamlit_patches import resize_download_pool
from viz_app.serving.web.health import health
from viz_app.serving.web.open_files import raise_open_files

_OWNER = "warm-up"  # the session of these requests
_log = logging.getLogger(__name__)


@asynccontextmanager
async def warm_up(_: object) -> AsyncIterator[None]:
    """Run the warm-up in a thread, as `lifespan` of `streamlit.App`, and stop it before the server ends."""
    resize_download_pool()
    raise_open_files()
    teacher_key()  # one that is too short ends the start
    save_classes = start_classes(str(st.get_option("server.port")))
    metrics_port = positive_setting(METRICS_SETTING, 0) or None
    with metrics_server(metrics_port, lambda: request_queue().waiting, lambda: request_queue().working):
        async with _prepared():
            yield
    await asyncio.to_thread(save_classes)


@asynccontextmanager
async def _prepared() -> AsyncIterator[None]:
    stopping = threading.Event()
    thread = threading.Thread(target=_prepare, args=(stopping,), name="warm-up")
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        await asyncio.to_thread(thread.join)
        if (workers := worker_processes()) is not None:
            await asyncio.to_thread(workers.close)
        await asyncio.to_thread(opened_models().close)  # the server runs nothing after this


def _prepare(stopping: threading.Event) -> None:
    try:
        try:
            service = get_translation_service()
        finally:
            health.model_tried = True
        owner = Visitor(is_present=lambda: not stopping.is_set())
        service.decoder.start()
        service.translate_examples(owner)
        measure_roles(service, _OWNER, owner)
    except Superseded:
        pass  # the server ends
    except Exception as error:  # the pages show it, with the way out
        _log.warning("the first model is not ready: %s", error)
