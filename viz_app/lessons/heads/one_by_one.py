"""Ablation of each head alone, for the scenes on causes and on predictions, also in print."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.ablation import all_heads
from viz_app.figures import Dots, DotsFigure
from viz_app.figures.model.figure import display_label
from viz_app.lessons.context import LessonContext
from viz_app.lessons.heads import head_measures
from viz_app.lessons.heads.weight_and_effect import dispensable_head, rank_correlation, strongest_weights

MAX_TOKENS = 40  # of a sentence in which every head is switched off alone; a longer one would take too long
_MAX_ROWS = 16  # heads of a printed figure


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


def weights_and_effects(context: LessonContext) -> DotsFigure | None:
    """Plot the heads with the largest weights on another word, and the loss of the translation without each."""
    t, alone = context.t, one_by_one(context)
    if alone is None:
        return None
    values, arrays = cause_values(context, alone)
    strongest = arrays["strongest"]
    shown = np.argsort(-strongest, kind="stable")[:_MAX_ROWS]
    heads = all_heads(context.service.translator)
    words = [f"{display_label(values['queries'][at])} \u2192 {display_label(values['keys'][at])}" for at in shown]
    names = [f"{t(f'lesson_heads.{kind}')} {layer + 1}.{head + 1}" for kind, layer, head in (heads[at] for at in shown)]
    notes = [t("lesson_heads.cause_hollow"), t("lesson_heads.cause_shown", shown=len(shown), heads=len(heads))]
    return DotsFigure(
        row_labels=[f"{name}: {pair}" for name, pair in zip(names, words, strict=True)],
        columns=[
            Dots(
                values=strongest[shown], title=t("lesson_heads.cause_weight"), axis=t("lesson_heads.weight"), base=0.0
            ),
            Dots(
                values=alone.changes[shown],
                title=t("lesson_heads.change"),
                axis="nat",
                base=0.0,
                hollow=[bool(same) for same in alone.same[shown]],
            ),
        ],
        row_title=t("lesson_heads.head"),
        notes=notes,
    )
