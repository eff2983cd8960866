"""Origin of a page, which is written into it: model, command and licences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viz_app.export.command import command_for_page
from viz_app.export.provenance import checkpoint_record
from viz_app.model_card.card import prose
from viz_app.text import Texts

if TYPE_CHECKING:
    from viz_app.serving.models.translation_service import TranslationService

# A section of a model card: its table, or else the whole.
_LICENCE = re.compile(
    r"^## [^\n]{0,200}licen[cs]e[^\n]{0,200}\n+(\|.*?(?=\n\n|\Z)|.*?(?=\n## |\Z))", re.M | re.S | re.I
)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Origin of a page, which is written into it.

    Args:
        record: Checkpoint, hash and command, as in a figure's file.
        licences: Texts of licences by what they are for.
    """

    record: Mapping[str, Any] = field(default_factory=dict)
    licences: Mapping[str, str] = field(default_factory=dict)


def page_origin(service: TranslationService, t: Texts, options: Iterable[tuple[str, object]]) -> Origin:
    """Return the origin of a page of a model.

    Args:
        service: The model.
        t: Labels in the language of the page.
        options: Options of the command `page` besides checkpoint, language and file.

    Raises:
        CheckpointError: The model card is damaged.
    """
    record: dict[str, Any] = checkpoint_record(service.translator)
    record["command"] = command_for_page(record["checkpoint"], options, language=t.language)
    return Origin(record=record, licences=model_licences(service, t))


def model_licences(service: TranslationService, t: Texts) -> dict[str, str]:
    """Return the part of the model card about licences, by its heading; empty where there is none.

    Raises:
        CheckpointError: The card is damaged.
    """
    checkpoint = service.translator.checkpoint
    licence = _LICENCE.search(prose(Path(checkpoint.folder))) if checkpoint is not None else None
    if licence is None:
        return {}
    lines = [line for line in licence[1].strip().splitlines() if not line.startswith("|--")]
    return {t("page.data"): "\n".join(line.strip("| ").replace(" | ", " · ") for line in lines)}
