"""Lesson "Beam search and BLEU" (Section 6.1): how a translation is found, and how it is scored."""

from __future__ import annotations

from typing import Any

import numpy as np

from transformer_core.analysis.bleu import BleuParts, bleu_parts
from viz_app.figures import CurvesFigure, Dots, DotsFigure, Request, Search, Series, beam_tree
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.serving.models.search_tree import search_tree
from viz_app.serving.models.translation_service import BEAM

MAX_ALPHA = 2.0
_DECIDED = {  # examples in which the shipped models choose another translation where alpha is 0, by languages
    ("en", "de"): "Usually I go to bed after midnight.",
    ("en", "fr"): "I have been waiting for a year for this.",
}


def data(context: LessonContext) -> StageData:
    """Return the beam search as a tree, and BLEU of the reader's translation; None where the model generates trees."""
    translation = context.result.translation
    translator = context.service.translator
    tree = search_tree(translation, translator.tokenizer, translator.decoding.replace(beam=BEAM), 0)
    hypothesis = reader_translation(context)
    return StageData(
        values={
            "tree": tree,
            "decided": _decided(context) if context.state.scene == "alpha" else None,
            "most_alpha": MAX_ALPHA,
            "reference": translation.text,
            "other": _other(context),
            "bleu": None if context.service.parses else bleu_values(bleu_parts(hypothesis, translation.text)),
        },
        answers={"text": hypothesis},
    )


def _decided(context: LessonContext) -> dict[str, Any] | None:
    """Search an English example in which alpha decides; None where no such example is known."""
    languages, translator = context.service.card.languages, context.service.translator
    text = _DECIDED.get((languages.source, languages.target)) if languages else None
    if text is None:
        return None
    key = ("decoding.decided", text)
    found = context.compute_once(key, lambda stop: translator.translate(text, beam=BEAM, should_stop=stop))
    return {"text": text, "tree": search_tree(found, translator.tokenizer, translator.decoding.replace(beam=BEAM), 0)}


def _other(context: LessonContext) -> str:
    """Return the second hypothesis, so that the reader starts with a text other than the reference."""
    translation = context.result.translation
    others = [context.service.translator.tokenizer.decode(each.ids) for each in translation.hypotheses[1:]]
    return next((text for text in others if text != translation.text), translation.text)


def reader_translation(context: LessonContext) -> str:
    """Return the reader's translation; at first the second hypothesis."""
    typed = context.state.settings.get("text")
    return " ".join(typed.split()) if isinstance(typed, str) and typed.strip() else _other(context)


def bleu_values(parts: BleuParts) -> dict[str, Any]:
    """Return BLEU and its parts as plain values."""
    return {
        "hypothesis": list(parts.hypothesis),
        "reference": list(parts.reference),
        "orders": [
            {
                "matches": precision.matches,
                "total": precision.total,
                "value": precision.value,
                "smoothed": precision.smoothed,
                "counts": [
                    {"ngram": list(count.ngram), "found": count.found, "allowed": count.allowed, "starts": count.starts}
                    for count in precision.counts
                ],
            }
            for precision in parts.precisions
        ],
        "brevity_penalty": parts.brevity_penalty,
        "mean": parts.geometric_mean,
        "score": parts.score,
    }


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Return the tree of the search, the scores over alpha, or the parts of BLEU."""
    if scene == "bleu":
        return None if context.service.parses else _bleu(context)
    from transformer_core.decoding.beam import length_penalty  # with torch, which takes seconds to import

    translation, tokenizer = context.result.translation, context.service.translator.tokenizer
    if scene == "tree":
        return (
            beam_tree(Request(search=Search.from_translation(translation, tokenizer), language=context.t.language))
            if translation.history
            else None
        )
    if scene not in ("alpha", "predict"):
        return None
    alphas = np.linspace(0, MAX_ALPHA, 41)
    kind = context.service.translator.decoding.length_penalty
    series = [
        Series(
            x=alphas,
            y=[each.log_probability / length_penalty(len(each.log_probabilities), alpha, kind) for alpha in alphas],
            label=tokenizer.decode(each.ids),
        )
        for each in translation.hypotheses
    ]
    t = context.t
    return CurvesFigure(series=series, x_title=t("lesson_decoding.alpha"), y_title=t("lesson_decoding.score"))


def _bleu(context: LessonContext) -> DotsFigure:
    """Plot the precisions of the reader's translation, the brevity penalty, and BLEU."""
    t, parts = context.t, bleu_parts(reader_translation(context), context.result.translation.text)
    orders = {f"n = {each.order} ({each.matches} / {each.total})": each.value for each in parts.precisions}
    rows = {**orders, "BP": parts.brevity_penalty, "BLEU / 100": parts.score / 100}
    mean, penalty = f"{parts.geometric_mean:.3f}", f"{parts.brevity_penalty:.3f}"
    return DotsFigure(
        row_labels=list(rows),
        columns=[
            Dots(
                values=list(rows.values()), title=" ".join(parts.hypothesis), axis=t("lesson_decoding.score"), digits=3
            )
        ],
        row_title=t("lesson_decoding.ngram"),
        notes=[t("lesson_decoding.bleu_say", mean=mean, penalty=penalty, bleu=f"{parts.score:.1f}")],
    )
