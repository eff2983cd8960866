"""Load models once for all sessions, keep few in memory, and serve them through one request queue.

torch takes seconds to import, so functions import it, and the page appears earlier.
"""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from viz_app.serving.cluster.remote_decoder import RemoteDecoder
from viz_app.serving.decoding.batching import Batcher
from viz_app.serving.decoding.decoder import Decoder
from viz_app.serving.decoding.decoding_limits import MAX_MAP_BYTES
from viz_app.serving.decoding.worker_processes import WorkerProcesses
from viz_app.serving.models.registry import available_models, default_model
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.serving.scheduling.visitor import current_visitor
from viz_app.serving.settings import model_server, positive_setting
from viz_app.serving.streamlit_patches import stop_if_superseded

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MAX_ASKED = 64  # concurrent requests to a model server; more wait here, in fair turns
_MAX_OTHER_MODELS = 2  # models in memory beside the default one
_CACHE_BYTES = 512 * 2**20  # attention cache of the default model
_OTHER_CACHE_BYTES = 128 * 2**20  # attention cache of each other model

_log = logging.getLogger(__name__)


class UnknownModel(ValueError):
    """There is no model of this name."""


def get_translation_service(name: str | None = None) -> TranslationService:
    """Return the service of a model; load it on first use, and again when its checkpoint was replaced.

    Args:
        name: Name of the model; None for the default one.

    Raises:
        CheckpointError: when the checkpoint is missing or damaged; tried again at the next call.
        UnknownModel: when there is none of this name.
        SettingError: when an environment variable is unusable.
    """
    name = default_model() if name is None else name
    folder = available_models().get(name)
    if folder is None:
        raise UnknownModel(f"there is no model {name!r}")
    loaded: TranslationService = (_load_default if name == default_model() else _load_other)(str(folder), name)
    return loaded


def _is_current(loaded: TranslationService) -> bool:
    """Return whether the folder still holds the loaded model, or nothing at all."""
    from transformer_core.checkpoint import files_hash

    checkpoint = loaded.translator.checkpoint
    assert checkpoint is not None, "a model that was loaded from a folder"
    try:
        return files_hash(checkpoint.folder) == checkpoint.files_hash
    except OSError:
        return True


def forget_model(name: str) -> None:
    """Drop a model from memory; sessions that still work with it keep it until they are done."""
    folder = available_models().get(name)
    if folder is not None and name != default_model():
        _load_other.clear(str(folder), name)


@st.cache_resource(show_spinner=False, max_entries=1, validate=_is_current)
def _load_default(folder: str, name: str) -> TranslationService:
    return _load(folder, name, _CACHE_BYTES)


@st.cache_resource(show_spinner=False, max_entries=_MAX_OTHER_MODELS, validate=_is_current)
def _load_other(folder: str, name: str) -> TranslationService:
    return _load(folder, name, _OTHER_CACHE_BYTES)


def _load(folder: str, name: str, max_bytes: int) -> TranslationService:
    import torch

    from transformer_core.translator import Translator

    queue: RequestQueue = request_queue()
    torch.set_num_threads(_threads())
    translator = Translator.load(folder, device="cpu")
    translator.most_map_bytes = MAX_MAP_BYTES
    _log.info("serving %s with %d slot(s) of %d thread(s)", folder, queue.slots, _threads())
    return TranslationService(translator, queue, max_bytes=max_bytes, name=name, decoder=_decoder(translator, queue))


def _decoder(translator: Translator, queue: RequestQueue) -> Decoder:
    server = model_server()
    if server is not None:
        return RemoteDecoder(server, translator, queue)
    return Batcher(translator, queue, worker_processes())


def _threads() -> int:
    # More threads are no faster for a model of this size, and far slower when several sessions compete for the cores.
    return positive_setting("HEADLIGHT_THREADS", 1)


@st.cache_resource(show_spinner=False, max_entries=1)
def request_queue() -> RequestQueue:
    """Return the queue in front of all models, which share the cores."""
    slots = positive_setting("HEADLIGHT_SLOTS", max(1, (os.cpu_count() or 1) // (2 * _threads())))
    batches = MAX_ASKED if model_server() else _number_of_workers() or slots
    return RequestQueue(slots, stop_if_superseded, current_visitor, batches=batches)


@st.cache_resource(show_spinner=False, max_entries=1)
def worker_processes() -> WorkerProcesses | None:
    """Return the decoding processes, not started yet; None if this process or a model server decodes."""
    number = 0 if model_server() else _number_of_workers()
    return WorkerProcesses(number, _threads(), device()) if number else None


def _number_of_workers() -> int:
    if os.environ.get("HEADLIGHT_WORKERS", "").strip() == "0":
        return 0
    default = max(1, (os.cpu_count() or 1) // _threads()) if device() == "cpu" else 1  # one serves a whole GPU
    return positive_setting("HEADLIGHT_WORKERS", default)


@lru_cache(maxsize=1)
def device() -> str:
    """Return the device of decoding: HEADLIGHT_DEVICE, by default a GPU; the CPU if it cannot be used."""
    import torch

    from transformer_core.devices import best_device

    name = os.environ.get("HEADLIGHT_DEVICE", "").strip() or "auto"
    if name == "auto":
        name = best_device()
    try:
        torch.empty(1, device=name)
    except (RuntimeError, AssertionError) as error:
        _log.warning("HEADLIGHT_DEVICE is %r, which cannot be used (%s); decoding on the CPU", name, error)
        return "cpu"
    return name
