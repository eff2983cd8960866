"""The model behind the app: found, loaded once for all sessions, served through one gate.

torch takes seconds to import, so it is imported where it is used: the page stands on the screen before.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import streamlit as st

from viz_app.services import session
from viz_app.services.gate import ModelGate
from viz_app.services.translation import TranslationService

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_CHECKPOINT = ROOT / "checkpoints" / "en-de"

_log = logging.getLogger(__name__)


class SettingError(ValueError):
    """An environment variable holds something that the app cannot use."""


def checkpoint_folder() -> Path:
    """The checkpoint that the app serves: HEADLIGHT_CHECKPOINT, or the one that comes with the repository."""
    return Path(os.environ.get("HEADLIGHT_CHECKPOINT") or DEFAULT_CHECKPOINT)


def positive_setting(name: str, default: int) -> int:
    """A whole number from the environment. Raises SettingError for anything but 1, 2, 3, ..."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise SettingError(f"{name} is {text!r}, but must be a whole number from 1 on")
    return int(text)


def service() -> TranslationService:
    """The service of this process, made on first use.

    Raises:
        CheckpointError: when the checkpoint is missing or damaged; tried again at the next call.
        SettingError: when an environment variable is unusable.
    """
    loaded: TranslationService = _service(str(checkpoint_folder()))
    return loaded


@st.cache_resource(show_spinner=False, max_entries=1)
def _service(folder: str) -> TranslationService:
    import torch

    from transformer_core.translator import Translator

    # More threads are no faster for a model of this size, and far slower when several sessions compete for the cores.
    threads = positive_setting("HEADLIGHT_THREADS", 1)
    slots = positive_setting("HEADLIGHT_SLOTS", max(1, (os.cpu_count() or 1) // (2 * threads)))
    torch.set_num_threads(threads)
    translator = Translator.load(folder, device="cpu")
    _log.info("serving %s with %d slot(s) of %d thread(s)", folder, slots, threads)
    return TranslationService(translator, ModelGate(slots, session.still_wanted))
