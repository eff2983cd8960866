"""Training histories of heads that ship, read when the page asks for one."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from viz_app.lessons.small_models import HISTORIES, KEPT_HISTORIES, SMALL_NAMES

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History

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
    """Return the models with a history: the visitor's first, if its checkpoint has one, then those that are kept."""
    from transformer_core.history.snapshots import history_folder

    sources = []
    if checkpoint and (history := history_folder(checkpoint)):
        sources.append(HistorySource(checkpoint.resolve().name, history, served=True))
    folders = (HISTORIES / name for name in (*SMALL_NAMES, *KEPT_HISTORIES))
    sources += [
        HistorySource(folder.name, folder, served=False) for folder in folders if (folder / "history.json").is_file()
    ]
    return tuple(sources)


def load_history(model: HistorySource) -> History:
    """Read and check a history; shared by all sessions. Raises CheckpointError; tried again at the next call."""
    # A file that was written anew is another one.
    loaded: History = _load(str(model.folder), (model.folder / "history.json").stat().st_mtime_ns)
    return loaded


@st.cache_resource(show_spinner=False, max_entries=len(SMALL_NAMES) + 2)
def _load(folder: str, written: int) -> History:
    from transformer_core.history.snapshots import History

    history = History.load(Path(folder))
    _log.info("read the history in %s (of %d)", folder, written)
    return history
