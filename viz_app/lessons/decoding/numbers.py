"""Lesson "Beam search and BLEU" (Section 6.1): how a translation is found, and how it is scored."""

from __future__ import annotations

from typing import Any

from viz_app.lessons.context import LessonContext, StageData
from viz_app.serving.models.search_tree import search_tree
from viz_app.serving.models.translation_service import BEAM

MAX_ALPHA = 2.0
_SIZES = (1, 2, 8)  # of the beam, beside the usual one
_DECIDED = {  # examples in which the shipped models choose another translation where alpha is 0, by languages
    ("en", "de"): "Usually I go to bed after midnight.",
    ("en", "fr"): "I have been waiting for a year for this.",
}


def data(context: LessonContext) -> StageData:
    """Return the beam search as a tree, and two translations for BLEU; no reference where the model generates trees."""
    translation = context.result.translation
    translator = context.service.translator
    tree = search_tree(translation, translator.tokenizer, translator.decoding.replace(beam=BEAM), 0)
    here = bool(tree) and context.state.scene == "tree"
    return StageData(
        values={
            "tree": tree,
            "trees": {BEAM: tree} | {size: _search(context, context.source, size) for size in _SIZES if here},
            "decided": _decided(context) if context.state.scene == "alpha" else None,
            "most_alpha": MAX_ALPHA,
            "reference": None if context.service.parses else translation.text,
            "other": _other(context),
        },
    )


def _decided(context: LessonContext) -> dict[str, Any] | None:
    """Search an English example in which alpha decides; None where no such example is known."""
    languages = context.service.card.languages
    text = _DECIDED.get((languages.source, languages.target)) if languages else None
    return None if text is None else {"text": text, "tree": _search(context, text, BEAM)}


def _search(context: LessonContext, text: str, size: int) -> dict[str, Any]:
    """Translate a text with a beam of this size, and return the search as a tree."""
    translator, key = context.service.translator, ("decoding.search", text, size)
    result = context.compute_once(key, lambda stop: translator.translate(text, beam=size, should_stop=stop))
    return search_tree(result, translator.tokenizer, translator.decoding.replace(beam=size), 0)


def _other(context: LessonContext) -> str:
    """Return the second hypothesis, so that the reader starts with a text other than the reference."""
    translation = context.result.translation
    others = [context.service.translator.tokenizer.decode(each.ids) for each in translation.hypotheses[1:]]
    return next((text for text in others if text != translation.text), translation.text)
