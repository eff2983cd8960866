"""What the small models of a lesson are given to read.

All of them write German. They read what the visitor's model wrote, if that is German too; else it would be noise to
them, and they read what the healthy one of them writes itself.
"""

from __future__ import annotations

import contextlib

from transformer_core.files import CheckpointError
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model

_HEALTHY: SmallName = "base"
_TARGET = "de"


def writes_other_language(context: LessonContext) -> bool:
    """Whether the visitor's model is known to write another language than the small ones."""
    languages = context.service.card.languages
    return languages is not None and languages.target.split("-")[0].lower() != _TARGET


def small_target(context: LessonContext) -> str:
    """A German translation of the visitor's sentence; what his model wrote where there is none.

    Raises:
        Superseded: A newer request took over.
    """
    from transformer_core.translator import SourceTooLong  # with torch, which takes seconds to import

    if writes_other_language(context):
        with contextlib.suppress(CheckpointError, SourceTooLong):
            healthy, text = small_model(_HEALTHY), context.text
            return context.compute_once(
                ("small_target", healthy.checkpoint_hash, text),
                lambda stop: healthy.translate(text, should_stop=stop).text,
            )
    return context.result.translation.text
