"""Decode sentences together: one batched beam search, then one pass for the attention of all.

Every worker process imports this module, so it must not import Streamlit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from transformer_core.attention_maps import AttentionMaps, MapsTooLarge
from transformer_core.decoding.beam import SearchResult
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import TeacherForcedInput, Translator


class Decoded(NamedTuple):
    """Result of decoding a sentence.

    Args:
        result: The search.
        maps: Attention of the best hypothesis.
    """

    result: SearchResult
    maps: AttentionMaps


def decode_together(
    translator: Translator,
    sentences: Sequence[Encoding],
    beam: int,
    should_stop: Callable[[], bool],
    is_given_up: Callable[[int], bool],
) -> list[Decoded | MapsTooLarge | None]:
    """Decode sentences in one batch.

    Args:
        translator: The model.
        sentences: Sentences to translate.
        beam: Hypotheses kept at each step.
        should_stop: Called before every step.
        is_given_up: Called after every step with the number of a sentence: whether every session has given it up.

    Returns:
        The result of each sentence; None if it was given up, an error if its maps are too large.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """
    ids = [each.ids for each in sentences]
    results = translator.search(ids, beam=beam, should_stop=should_stop, is_given_up=is_given_up)
    decoded: list[Decoded | MapsTooLarge | None] = [None] * len(sentences)
    pairs: dict[int, TeacherForcedInput] = {}
    for number, (encoding, result) in enumerate(zip(sentences, results, strict=True)):
        if not result.hypotheses:
            continue
        best = result.hypotheses[0]
        reading = TeacherForcedInput(encoding, best.ids, best.finished)
        try:
            translator.check_maps(reading)
            pairs[number] = reading
        except MapsTooLarge as error:
            decoded[number] = error
    maps = translator.attention_batch(list(pairs.values()))
    for number, each in zip(pairs, maps, strict=True):
        decoded[number] = Decoded(results[number], each)
    return decoded
