"""Other sentences for mean and resample ablation: the examples and their translations."""

from __future__ import annotations

from viz_app.lessons.context import LessonContext


def example_pairs(context: LessonContext) -> tuple[tuple[str, str], ...]:
    """Pair the example sentences with the model's translations, without the visitor's; once for all visitors."""
    translator, texts = context.service.translator, context.service.example_texts
    translations = context.compute_once(
        ("lab.examples",),
        lambda stop: tuple(each.text for each in translator.translate_batch(list(texts), beam=1, should_stop=stop)),
    )
    return tuple(pair for pair in zip(texts, translations, strict=True) if pair[0] != context.source)
