"""Lesson "Masked against unmasked" (Section 3.2.3): the numbers behind its pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.masks.exam import exam_values
from viz_app.text.examples import EXAMPLES

if TYPE_CHECKING:
    from viz_app.lessons.masks.mask_scores import PaddedBatch

POSITIONS = 16  # shown; of longer sentences the first ones
SHOWS_SMALL_TRANSLATIONS = True
PAD_TOKEN = "<pad>"
# What shares a batch with the sentence: the long one where the sentence is short itself.
SHORT, LONG = "We are here.", EXAMPLES["relative"]

FloatArray = npt.NDArray[np.float32]


def data(context: LessonContext) -> StageData:
    """Return scores before the mask: of decoder heads for the sentence, of encoder heads for a padded batch."""
    target, padding = _target(context), _padding(context)
    exam, weights = exam_values(context)
    return StageData(
        values={key: target[key] for key in ("inputs", "outputs", "heads", "head", "whole")}
        | {"padding": padding[0], "exam": exam},
        arrays={"scores": target["scores"], "padded": padding[1], **weights},
    )


def _target(context: LessonContext) -> dict[str, Any]:
    maps, best = context.result.maps, context.result.translation.hypotheses[0]
    inputs, outputs = maps.inputs.tokens[:POSITIONS], maps.outputs.tokens[:POSITIONS]
    written = best.ids[: len(inputs) - 1]
    source = context.result.translation.source_encoding.ids
    scores = _decoder_scores(context, source, written)
    layers, heads, count = scores.shape[:3]
    flat = scores.reshape(layers * heads, count, count)
    freed = future_mass(flat).mean(axis=1)
    return {
        "inputs": list(inputs),
        "outputs": list(outputs),
        "heads": heads,
        "head": int(freed.argmax()),
        "whole": len(maps.inputs) <= POSITIONS,
        "scores": flat,
    }


def _padding(context: LessonContext) -> tuple[dict[str, Any], FloatArray]:
    """Batch the sentence with a shorter or longer one, and find the encoder layer that padding disturbs most."""
    tokenizer = context.service.translator.tokenizer
    sentence = tokenizer.source.encode(context.text)
    short, long = map(tokenizer.source.encode, _short_and_long(context))
    other = short if len(short) + 2 < len(sentence) else long
    sequences = [(each.ids[: POSITIONS - 1], each.tokens[: POSITIONS - 1]) for each in (sentence, other)]
    batch = _encoder_scores(context, tuple(ids for ids, _ in sequences))
    longest, shorter = max(batch.lengths), int(batch.lengths[1] < batch.lengths[0])
    length = batch.lengths[shorter]
    # (L, H, rows that stand for a token): attention that would go to padding.
    lost = softmax(batch.scores[:, :, shorter, :length])[..., length:].sum(axis=-1).mean(axis=-1)
    layer = int(lost.mean(axis=1).argmax())
    padded = [[*tokens, "</s>", *[PAD_TOKEN] * (longest - len(tokens) - 1)] for _, tokens in sequences]
    values = {
        "tokens": padded,
        "lengths": list(batch.lengths),
        "layer": layer,
        "head": int(lost[layer].argmax()),
        "shift_masked": batch.shift_masked,
        "shift_open": batch.shift_open,
    }
    return values, batch.scores[layer]


def _short_and_long(context: LessonContext) -> tuple[str, str]:
    examples = context.service.examples
    if LONG in examples.values():
        return SHORT, LONG
    return examples.get("negation", SHORT), examples.get("relative", LONG)


def _decoder_scores(context: LessonContext, source: tuple[int, ...], written: tuple[int, ...]) -> FloatArray:
    from viz_app.lessons.masks.mask_scores import decoder_scores

    key = ("masks.decoder", source, written)
    return context.compute_once(key, lambda _: decoder_scores(context.service.translator, source, written))


def _encoder_scores(context: LessonContext, sentences: tuple[tuple[int, ...], ...]) -> PaddedBatch:
    from viz_app.lessons.masks.mask_scores import encoder_scores

    key = ("masks.encoder", sentences)
    return context.compute_once(key, lambda _: encoder_scores(context.service.translator, sentences))


def softmax(scores: FloatArray, hidden: npt.NDArray[np.bool_] | None = None) -> FloatArray:
    """Compute softmax over the last axis; `hidden` is True where scores become minus infinity."""
    masked = scores if hidden is None else np.where(hidden, -np.inf, scores)
    raised = np.exp(masked - masked.max(axis=-1, keepdims=True))
    weights: FloatArray = raised / raised.sum(axis=-1, keepdims=True)
    return weights


def future(count: int) -> npt.NDArray[np.bool_]:
    """Return (T, T), True where a key comes after its query."""
    return np.triu(np.ones((count, count), dtype=bool), k=1)


def future_mass(scores: FloatArray) -> FloatArray:
    """(..., T, T) scores before the mask -> (..., T) share of each row's attention on future positions."""
    mass: FloatArray = np.where(future(scores.shape[-1]), softmax(scores), 0).sum(axis=-1)
    return mass
