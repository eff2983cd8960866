"""Ablation of each head alone, for the scene on predictions."""

from __future__ import annotations

from viz_app.lessons.context import LessonContext
from viz_app.lessons.heads import head_measures

MAX_TOKENS = 40  # of a sentence in which every head is switched off alone; a longer one would take too long


def text_to_ablate(context: LessonContext) -> str:
    """Return the sentence, or the first example where switching off every head would take too long."""
    service = context.service
    return context.source if len(context.tokens) <= MAX_TOKENS else service.source_text(service.first_example)


def one_by_one(context: LessonContext) -> head_measures.SingleHeadAblations | None:
    """Switch off each head, for the scene that shows it; the first example replaces a very long sentence."""
    if context.state.scene != "predict":
        return None
    text = text_to_ablate(context)
    translator = context.service.translator
    return context.compute_once(
        ("heads.one_by_one", text), lambda stop: head_measures.ablate_each_head(translator, text, stop)
    )
