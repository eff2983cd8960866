"""Ablation of each head alone, for the scenes on causes and on predictions."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from transformer_core.analysis.ablation import all_heads
from viz_app.lessons.context import LessonContext
from viz_app.lessons.heads import head_measures
from viz_app.lessons.heads.weight_and_effect import dispensable_head, rank_correlation, strongest_weights

MAX_TOKENS = 40  # of a sentence in which every head is switched off alone; a longer one would take too long


def text_to_ablate(context: LessonContext) -> str:
    """Return the sentence, or the first example where switching off every head would take too long."""
    service = context.service
    return context.source if len(context.tokens) <= MAX_TOKENS else service.source_text(service.first_example)


def cause_values(
    context: LessonContext, alone: head_measures.SingleHeadAblations
) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Return each head's largest weight on the greedy translation, and the dispensable head."""
    translator, text = context.service.translator, text_to_ablate(context)
    maps = context.compute_once(("heads.greedy_maps", text), lambda _: translator.translate(text, beam=1).attention)
    strongest = strongest_weights(maps)
    heads = all_heads(translator)
    values = {
        "text": alone.text,
        "source": list(maps.source.tokens),
        "inputs": list(maps.inputs.tokens),
        "queries": [
            maps.queries(head[0]).tokens[at] for head, at in zip(heads, strongest.queries.tolist(), strict=True)
        ],
        "keys": [maps.keys(head[0]).tokens[at] for head, at in zip(heads, strongest.keys.tolist(), strict=True)],
        "dispensable": dispensable_head(strongest, alone),
        "correlation": rank_correlation(strongest.weights, alone.changes),
    }
    return values, {"strongest": strongest.weights, "rows": strongest.rows, "at_query": strongest.queries}


def one_by_one(context: LessonContext) -> head_measures.SingleHeadAblations | None:
    """Switch off each head, for the scene that shows it; the first example replaces a very long sentence."""
    if context.state.scene not in ("cause", "predict"):
        return None
    text = text_to_ablate(context)
    translator = context.service.translator
    return context.compute_once(
        ("heads.one_by_one", text), lambda stop: head_measures.ablate_each_head(translator, text, stop)
    )
