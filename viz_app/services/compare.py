"""What a translation is compared with: another sentence, another branch of its search, or another checkpoint."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from viz_app.components.explorer import Selection
from viz_app.services.gate import ModelGate, OnPosition
from viz_app.services.model import ROOT, checkpoint_folder
from viz_app.services.sentence import MAX_PIECES, examine
from viz_app.services.translation import Result, TranslationService

_MOST_OTHERS = 2  # further checkpoints in memory
_CACHE_BYTES = 64 * 2**20  # of attention that each of them keeps

_log = logging.getLogger(__name__)


class NotComparable(Exception):
    """The sentence, or the checkpoint, that is asked for cannot be had."""


def checkpoints() -> dict[str, Path]:
    """The checkpoints beside the one that is served, by name: what HEADLIGHT_CHECKPOINTS lists, or checkpoints/*/.

    Only these can be asked for; a name from an address is looked up here and never taken for a path.
    """
    listed = os.environ.get("HEADLIGHT_CHECKPOINTS", "")
    folders = [Path(part) for part in listed.split(os.pathsep) if part.strip()]
    if not folders:
        folders = sorted(path.parent for path in (ROOT / "checkpoints").glob("*/config.json"))
    served = checkpoint_folder().resolve()
    found: dict[str, Path] = {}
    for folder in folders:
        if folder.resolve() == served or not (folder / "config.json").is_file():
            continue
        name, number = folder.name, 2
        while name in found:
            name, number = f"{folder.name} ({number})", number + 1
        found[name] = folder
    return found


def model_name() -> str:
    """Name of the checkpoint that is served."""
    return checkpoint_folder().name


@st.cache_resource(show_spinner=False, max_entries=_MOST_OTHERS)
def _load(folder: str, _gate: ModelGate) -> TranslationService:
    from transformer_core.translator import Translator  # with torch, which takes seconds to import

    _log.info("loading %s to compare with", folder)
    return TranslationService(Translator.load(folder, device="cpu"), _gate, max_bytes=_CACHE_BYTES)


def _other(folder: Path, gate: ModelGate) -> TranslationService:
    from transformer_core.checkpoint import CheckpointError

    try:
        loaded: TranslationService = _load(str(folder), gate)
    except CheckpointError as error:
        _log.warning("cannot compare with %s: %s", folder, error)
        raise NotComparable(str(error)) from error
    return loaded


@dataclass(frozen=True)
class Compared:
    """A translation to compare with, computed.

    Args:
        service: Of the checkpoint that it comes from.
        model: Name of the checkpoint.
        text: The sentence.
        branch: Branch of its search.
        result: The maps of that branch.
        best: The best translation of the search.
    """

    service: TranslationService
    model: str
    text: str
    branch: int
    result: Result
    best: Result


def compared_with(
    served: TranslationService, session: str, text: str, selection: Selection, on_position: OnPosition | None = None
) -> Compared | None:
    """What the selection compares with; None when that is in what the page shows anyway.

    Args:
        served: The service of the page.
        session: Who asks.
        text: The sentence of the page.
        selection: Its `against`, `vs`, `vsmodel` and `vsbranch` say what is wanted.
        on_position: As for `TranslationService.request`.

    Raises:
        Superseded: when a newer request of the session took over.
        NotComparable: no such checkpoint, or one that is damaged; or a sentence that it does not translate.
    """
    if selection.against is None:
        return None
    sentence = " ".join((selection.vs or text).split())
    service, model = served, model_name()
    if selection.vsmodel is not None and selection.vsmodel != model:
        folder = checkpoints().get(selection.vsmodel)
        if folder is None:
            raise NotComparable(f"no checkpoint of this name: {selection.vsmodel!r}")
        service, model = _other(folder, served.gate), selection.vsmodel
    elif sentence == text and selection.vsbranch == selection.branch:
        return None
    limit = min(MAX_PIECES, service.translator.max_pieces)
    if examine(sentence, service.translator.tokenizer.source, limit).verdict != "good":
        raise NotComparable("a sentence that is not translated")
    best = service.request(session, sentence, on_position=on_position)
    result = service.branch(session, best, selection.vsbranch, on_position=on_position)
    branch = selection.vsbranch if result is not best else 0
    return Compared(service, model, sentence, branch, result, best)
