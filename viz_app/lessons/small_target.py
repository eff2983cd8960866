"""Sentences for the small models of a lesson.

All of them read English and write German. They read the visitor's sentence, if it is English, else an example; and what
the visitor's model wrote, if that is German, else what the healthy one of them writes itself. All else would be noise.
"""

from __future__ import annotations

import contextlib

from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model
from viz_app.text.examples import EXAMPLES, FIRST_EXAMPLE

_HEALTHY: SmallName = "base"
_SOURCE, _TARGET = "en", "de"


def reads_other_language(context: LessonContext) -> bool:
    """Return whether the visitor's model is known to read another language than the small ones."""
    return context.service.source_language.split("-")[0].lower() not in ("", _SOURCE)


def writes_other_language(context: LessonContext) -> bool:
    """Return whether the visitor's model is known to generate another language, or reads another sentence."""
    languages = context.service.card.languages
    target = languages.target.split("-")[0].lower() if languages else ""
    return reads_other_language(context) or target not in ("", _TARGET)


def small_source(context: LessonContext) -> str:
    """Return the visitor's sentence where the small models can read it, else their first example."""
    return EXAMPLES[FIRST_EXAMPLE] if reads_other_language(context) else context.text


def small_target(context: LessonContext) -> str:
    """Return a German translation of the visitor's sentence, else the output of the visitor's model.

    Raises:
        Superseded: A newer request took over.
    """
    from transformer_core.translator import SourceTooLong  # with torch, which takes seconds to import

    if writes_other_language(context):
        with contextlib.suppress(CheckpointError, SourceTooLong):
            healthy, text = small_model(_HEALTHY), small_source(context)
            return context.compute_once(
                ("small_target", healthy.checkpoint_hash, text),
                lambda stop: healthy.translate(text, should_stop=stop).text,
            )
    return context.result.translation.text
