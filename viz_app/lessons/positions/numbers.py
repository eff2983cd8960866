"""Lesson "Positional encoding" (Section 3.5): the numbers behind its pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.positions.first_layer import read_first_layer
from viz_app.lessons.small_models import small_model
from viz_app.lessons.stage.state import Setting
from viz_app.lessons.word_order import (
    FloatArray,
    default_swap,
    measure_change,
    swapped_order,
    token_order,
    translate_rows,
    words_of,
)
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.translator import Translator

MIN_POSITIONS = 16  # shown at least, also of a short sentence
MAX_SWAPPED = 16  # words whose pairs a page without Python holds
LEARNED_SHOWN = 64  # positions of the learned table


def data(context: LessonContext) -> StageData:
    """Return the width, the tokens, and the effect of two swapped words; the stage computes the waves itself."""
    tokens = context.tokens
    values = {
        "d_model": context.service.translator.config.d_model,
        "positions": max(MIN_POSITIONS, len(tokens)),
        "tokens": list(tokens),
        "backwards": _backwards(context) if context.state.scene == "predict" else None,
    }
    swap, learned = _swap(context), _learned()
    first = context.compute_once(
        ("positions.first_layer", context.source),
        lambda _: read_first_layer(context.service.translator, context.source),
    )
    table = {"table": learned[0]} if learned else {}
    return StageData(
        values=values | dict(swap.values) | {"head": first.head, "trained": learned[1] if learned else 0},
        arrays={**swap.arrays, **first.arrays, **table},
        answers=swap.answers,
    )


def _swap(context: LessonContext) -> StageData:
    """Measure the effect of two swapped words on the encoder."""
    words = words_of(context.tokens[:-1])
    plain = [place for place, word in enumerate(words) if word.plain]
    if len(plain) < 2:
        return StageData(values={"words": []})
    start = default_swap([words[place] for place in plain])
    first, second = (
        round(context.state.number(name, default, 0, len(plain) - 1))
        for name, default in zip(("first", "second"), start, strict=True)
    )
    order = swapped_order(len(words), plain[first], plain[second])
    changes = context.compute_once(
        ("positions.swap", context.source, first, second),
        lambda _: _changes(context.source, context.service.translator, order),
    )
    values = {
        "words": [word.text for word in words],
        "plain": plain,
        "start": list(start),
        "order": order,
        "groups": list(changes),
    }
    answers = {"first": first, "second": second}
    return StageData(values=values, arrays={"changes": np.stack(list(changes.values()))}, answers=answers)


def prepared(scene: str, context: LessonContext) -> Iterator[Mapping[str, Setting]]:
    """List the pairs of words that can be swapped, of a sentence that has not too many."""
    places = range(sum(word.plain for word in words_of(context.tokens[:-1])))
    if scene == "swap" and len(places) <= MAX_SWAPPED:
        yield from ({"first": first, "second": second} for first in places for second in places)


def _changes(text: str, translator: Translator, order: Sequence[int]) -> dict[str, FloatArray]:
    """Measure (2, words) for each way of reading: with positions, without them, and trained without them."""
    changes = {}
    for name, model, positions in (("with", translator, True), ("off", translator, False), ("trained", _small(), True)):
        if model is None:
            continue
        encoding = model.tokenizer.source.encode(text)
        words = words_of(encoding.tokens)
        if len(words) == len(order):  # another vocabulary may cut punctuation off elsewhere
            moved = measure_change(model, encoding.ids, token_order(words, order), positions=positions)
            changes[name] = moved.by_word(words)
    return changes


def _learned() -> tuple[FloatArray, int] | None:
    """Return the encoder's learned table, (P, d), and how many of its rows training has seen; None if it is missing."""
    from transformer_core.model.positions import LearnedPositions

    try:
        translator = small_model("learned-positions")
    except CheckpointError:
        return None
    table = translator.model.source_positions or translator.model.positions
    assert isinstance(table, LearnedPositions)
    trained = int(translator.metrics["training"]["max_tokens"]) + 1  # and </s>
    return table.weight[:LEARNED_SHOWN].detach().numpy(), trained


def _small() -> Translator | None:
    """Load the small model trained without positions; None while it is missing."""
    try:
        return small_model("no-positions")
    except CheckpointError:
        return None


def _backwards(context: LessonContext) -> dict[str, Any]:
    """Translate the sentence and its tokens in reverse order, with positions in the encoder and without."""
    translator = context.service.translator

    def compute(stop: ShouldStop) -> dict[str, Any]:
        ids = translator.tokenizer.source.encode(context.source).ids
        rows = [list(ids), list(ids[::-1])]
        return {
            "with": translate_rows(translator, rows, BEAM, positions=True, should_stop=stop),
            "off": translate_rows(translator, rows, BEAM, positions=False, should_stop=stop),
        }

    return context.compute_once(("positions.backwards", context.source), compute)
