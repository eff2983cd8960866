"""Decode sentences together: one batched beam search, then one pass for the attention of all that did not keep it.

Every worker process imports this module, so it must not import Streamlit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

import torch

from transformer_core.attention_maps import AttentionMaps, MapsTooLarge
from transformer_core.decoding.beam import SearchResult
from transformer_core.decoding.draft import Draft, OnStep
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import TeacherForcedInput, Translator

DRAFT_SECONDS = 0.1  # between two drafts of a sentence: each has all rows so far


class Decoded(NamedTuple):
    """Result of decoding a sentence.

    Args:
        result: The search.
        maps: Attention of the best hypothesis.
    """

    result: SearchResult
    maps: AttentionMaps


class DraftBytes(NamedTuple):
    """The best hypothesis of a search that goes on.

    Args:
        ids: Its tokens, without `</s>`.
        finished: Whether `</s>` follows.
        rows: A byte for each attention weight: of each position of the decoder in turn self-attention, then
            encoder-decoder attention.
    """

    ids: tuple[int, ...]
    finished: bool
    rows: bytes


OnDraft = Callable[[int, DraftBytes], None]


def decode_together(
    translator: Translator,
    sentences: Sequence[Encoding],
    beam: int,
    should_stop: Callable[[], bool],
    is_given_up: Callable[[int], bool],
    drafts: Collection[int] = (),
    on_draft: OnDraft | None = None,
) -> list[Decoded | MapsTooLarge | None]:
    """Decode sentences in one batch.

    Args:
        translator: The model.
        sentences: Sentences to translate.
        beam: Hypotheses kept at each step.
        should_stop: Called before every step.
        is_given_up: Called after every step with the number of a sentence: whether every session has given it up.
        drafts: Numbers of the sentences of which drafts are wanted.
        on_draft: Called with these, from the first step on, at most once in `DRAFT_SECONDS` for each sentence.

    Returns:
        The result of each sentence; None if it was given up, an error if its maps are too large.

    Raises:
        DecodingStopped: `should_stop` returned True.
    """
    ids = [each.ids for each in sentences]
    on_step = _in_time(drafts, on_draft) if on_draft and drafts else None
    results = translator.search(
        ids, beam=beam, should_stop=should_stop, is_given_up=is_given_up, on_step=on_step, keep_maps=True
    )
    decoded: list[Decoded | MapsTooLarge | None] = [None] * len(sentences)
    pairs: dict[int, TeacherForcedInput] = {}
    for number, (encoding, result) in enumerate(zip(sentences, results, strict=True)):
        if not result.hypotheses:
            continue
        best = result.hypotheses[0]
        reading = TeacherForcedInput(encoding, best.ids, best.finished)
        try:
            if result.maps:
                maps = translator.attention(encoding, best.ids, best.finished, result.maps)
                decoded[number] = Decoded(replace(result, maps={}), maps)
            else:
                translator.check_maps(reading)
                pairs[number] = reading
        except MapsTooLarge as error:
            decoded[number] = error
    for number, each in zip(pairs, translator.attention_batch(list(pairs.values())), strict=True):
        decoded[number] = Decoded(results[number], each)
    return decoded


def _in_time(drafts: Collection[int], on_draft: OnDraft) -> OnStep:
    """Return what hands over the drafts of these sentences when they are due."""
    due = dict.fromkeys(drafts, 0.0)

    def on_step(number: int, draft: Draft) -> None:
        if time.monotonic() >= due.get(number, math.inf):
            on_draft(number, DraftBytes(draft.ids, draft.finished, _as_bytes(draft)))
            due[number] = time.monotonic() + DRAFT_SECONDS

    return on_step


def _as_bytes(draft: Draft) -> bytes:
    rows = [part.flatten() for row in draft.rows() for part in row]
    return bytes((255 * torch.cat(rows)).round().byte().cpu().numpy()) if rows else b""
