"""Tests of a small model on a sentence: the exhibits of the lesson "What is wrong with this model?".

Every model undergoes the same tests, the healthy one (`base`) too.

Shape legend: n tokens with `</s>`, H heads, L layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import SmallName, small_model
from viz_app.lessons.small_target import small_source
from viz_app.lessons.word_order import measure_change, token_order, translate_rows, words_of
from viz_app.serving.models.translation_service import BEAM
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.translator import Translator
    from viz_app.lessons.word_order import Word

HEALTHY: SmallName = "base"
SUSPECTS: dict[str, SmallName] = {"a": "no-positions", "b": "unscaled", "c": "no-residual", "d": "no-warmup"}
COPYIST: SmallName = "no-mask"  # of the last scene
MAX_TOKENS = 20  # with </s>, so that a map can be read on a phone

FloatArray = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ModelEvidence:
    """Results of all tests of a model on a sentence.

    Args:
        tokens: That it read, with `</s>`.
        words: Of the sentence, with punctuation and `</s>`.
        attention: (L * H, n, n) of the encoder's heads.
        evenness: (L * H,) mean entropy of a head's rows: 1 where it looks everywhere alike, 0 where at one token only.
        alike: (L + 1,) mean cosine of the vectors of two different tokens, before and after each layer of the encoder.
        moved: (words,) how much the vectors of a word change when the words stand in reverse order, as a share of their
            length.
        wrote: Its translation.
        turned: Its translation of the words in reverse order.
    """

    tokens: tuple[str, ...]
    words: tuple[str, ...]
    attention: FloatArray
    evenness: FloatArray
    alike: FloatArray
    moved: FloatArray
    wrote: str
    turned: str


@dataclass(frozen=True)
class CopyTest:
    """Attention of a model that reads a given translation, and its own translation.

    Args:
        inputs: What the decoder reads: `<s>` and the given translation.
        attention: (T, T) of its self-attention, mean over all layers and heads.
        ahead: Share of it that goes to tokens which come after the reading one.
        wrote: Its own translation, with beam search.
        greedy: The same, one best token after the other.
    """

    inputs: tuple[str, ...]
    attention: FloatArray
    ahead: float
    wrote: str
    greedy: str


def truncate_sentence(text: str, translator: Translator) -> str:
    """Cut a sentence to its first words, at most `MAX_TOKENS` tokens; a longer word to its first letters."""

    def fits(part: str) -> bool:
        return len(translator.tokenizer.source.encode(part).ids) < MAX_TOKENS

    words = text.split()
    while len(words) > 1 and not fits(" ".join(words)):
        words.pop()
    part = " ".join(words)
    while not fits(part):
        part = part[:-1]
    return part


def gather_evidence(name: SmallName, context: LessonContext) -> ModelEvidence:
    """Run all tests on the visitor's sentence, once for all visitors.

    Raises:
        CheckpointError: The model is not there.
        Superseded: A newer request took over.
    """
    translator = small_model(name)
    key = ("broken.statement", name, translator.checkpoint_hash, small_source(context))
    return context.compute_once(
        key, lambda stop: _statement(translator, truncate_sentence(small_source(context), translator), stop)
    )


def run_copy_test(name: SmallName, context: LessonContext) -> CopyTest:
    """Let a model read the healthy model's translation, then translate alone. Raises as `gather_evidence`."""
    translator = small_model(name)
    text = gather_evidence(HEALTHY, context).wrote
    key = ("broken.copying", name, translator.checkpoint_hash, small_source(context))
    return context.compute_once(
        key, lambda stop: _copying(translator, truncate_sentence(small_source(context), translator), text, stop)
    )


def reversed_words(words: Sequence[Word]) -> list[int]:
    """Return the old place of the word at each place after reversing; punctuation and `</s>` stay."""
    plain = [place for place, word in enumerate(words) if word.plain]
    order = list(range(len(words)))
    for place, old in zip(plain, reversed(plain), strict=True):
        order[place] = old
    return order


def evenness(attention: FloatArray) -> FloatArray:
    """(heads, n, n) -> (heads,): entropy of each row over that of an even one, mean over the rows."""
    keys = attention.shape[-1]
    if keys == 1:
        return np.ones(len(attention), dtype=np.float32)
    logs = np.log(attention, out=np.zeros_like(attention), where=attention > 0)
    entropy: FloatArray = (-(attention * logs).sum(axis=-1).mean(axis=-1) / np.log(keys)).astype(np.float32)
    return entropy


def _statement(translator: Translator, text: str, should_stop: ShouldStop) -> ModelEvidence:
    encoding = translator.tokenizer.source.encode(text)
    words = words_of(encoding.tokens)
    order = token_order(words, reversed_words(words))
    rows = [list(encoding.ids), [encoding.ids[old] for old in order[:-1]]]
    wrote, turned = translate_rows(translator, rows, BEAM, positions=True, should_stop=should_stop)
    attention, alike = _encoder(translator, encoding.ids)
    return ModelEvidence(
        tokens=(*encoding.tokens, "</s>"),
        words=tuple(word.text for word in words),
        attention=attention,
        evenness=evenness(attention),
        alike=alike,
        moved=measure_change(translator, encoding.ids, order).by_word(words)[0],
        wrote=wrote,
        turned=turned,
    )


def _encoder(translator: Translator, ids: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """(L * H, n, n) attention, and (L + 1,) how alike the vectors are, layer by layer."""
    import torch

    from transformer_core.data import make_batch
    from transformer_core.hooks.points import capture
    from transformer_core.model.masks import padding_mask

    model, special = translator.model, translator.tokenizer.special
    source = make_batch([list(ids)], [[]], special).source
    mask = padding_mask(source, special.pad)
    with torch.no_grad(), capture(model, "encoder") as captured:
        vectors = [model.embed(source, of_source=True)]
        for layer in model.encoder.layers:
            vectors.append(layer(vectors[-1], mask))
    attention = np.concatenate([captured[address].numpy()[0] for address in captured])
    return attention, np.array([_alike(x[0].double().numpy()) for x in vectors], dtype=np.float32)


def _alike(vectors: npt.NDArray[np.float64]) -> float:
    """Mean cosine of any two of them; 1 where there is one only."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    count = len(units)
    return 1.0 if count == 1 else float(((units @ units.T).sum() - count) / (count * (count - 1)))


def _copying(translator: Translator, text: str, target: str, should_stop: ShouldStop) -> CopyTest:
    forced = translator.teacher_force(text, target)
    maps = forced.attention
    mean = maps.decoder.mean(axis=(0, 1), dtype=np.float64).astype(np.float32)
    return CopyTest(
        inputs=maps.inputs.tokens,
        attention=mean,
        ahead=float(np.triu(mean, k=1).sum(axis=1).mean()),
        wrote=translator.translate(text, beam=BEAM, should_stop=should_stop).text,
        greedy=translator.translate(text, beam=1, should_stop=should_stop).text,
    )
