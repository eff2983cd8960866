"""Training histories of heads that ship, read when the page asks for one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.storage.files import CheckpointError
from viz_app.lessons.small_models import HISTORIES, KEPT_HISTORIES, SMALL_NAMES

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History

FROM_ZERO = SHIPPED / "en-fr-small"  # of the shipped translators the one that was trained here from its first step

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HistorySource:
    """A model that has a training history.

    Args:
        name: Of the checkpoint's folder.
        folder: With `history.json`.
        served: Whether it is the visitor's model.
    """

    name: str
    folder: Path
    served: bool


def available_histories(checkpoint: Path | None) -> tuple[HistorySource, ...]:
    """Return the models with a history; the first was trained from its first step, and is the visitor's if that was."""
    from transformer_core.history.snapshots import history_folder

    sources = [
        HistorySource(folder.resolve().name, history, served=folder == checkpoint)
        for folder in dict.fromkeys((checkpoint, FROM_ZERO))
        if folder and (history := history_folder(folder))
    ]
    if len(sources) > 1 and _continues(sources[0]):
        sources.reverse()
    folders = (HISTORIES / name for name in (*SMALL_NAMES, *KEPT_HISTORIES))
    sources += [
        HistorySource(folder.name, folder, served=False) for folder in folders if (folder / "history.json").is_file()
    ]
    return tuple(sources)


def _continues(source: HistorySource) -> bool:
    try:
        return load_history(source).continues
    except CheckpointError:
        return False  # it says so when it is drawn


def load_history(model: HistorySource) -> History:
    """Read and check a history; shared by all sessions. Raises CheckpointError; tried again at the next call."""
    # A file that was written anew is another one.
    loaded: History = _load(str(model.folder), (model.folder / "history.json").stat().st_mtime_ns)
    return loaded


@st.cache_resource(show_spinner=False, max_entries=len(SMALL_NAMES) + 3)
def _load(folder: str, written: int) -> History:
    from transformer_core.history.snapshots import History

    history = History.load(Path(folder))
    _log.info("read the history in %s (of %d)", folder, written)
    return history
