"""BLEU and chrF of greedy translations without heads.

Shape legend: K kinds of attention, L layers, H heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from transformer_core.analysis.ablation import Head, ablated, all_heads
from transformer_core.atlas.record import Decoded, FloatArray, Score
from transformer_core.atlas.resumable_map import Results, ResumableMap
from transformer_core.atlas.statistics import corrected
from transformer_core.attention_maps import KINDS
from transformer_core.data import DataError, make_batch
from transformer_core.decoding.greedy import greedy_search
from transformer_core.evaluation.metrics import bleu, chrf, paired_bootstrap
from transformer_core.translator import SourceTooLong, Translator

_BATCH = 50  # sentences of about equal length
_COLUMNS = ("bleu", "chrf", "bleu_half", "chrf_half", "bleu_p", "chrf_p")


def measure_decoding(runner: ResumableMap, translator: Translator, pairs: Sequence[Sequence[str]]) -> Decoded:
    """Measure greedy translations without each single head.

    Args:
        runner: Runs the stages.
        translator: The same model.
        pairs: Sentences and references.

    Raises:
        DataError: No sentence can be read.
    """
    heads = all_heads(translator)
    whole, scores, read = decode_without(runner, pairs, [[], *([head] for head in heads)])
    shape = len(KINDS), translator.config.num_layers, translator.config.num_heads
    by_head = np.array(scores[1:], dtype=object).reshape(shape)
    q = corrected(np.array([each.bleu_p for each in scores[1:]]).reshape(shape))
    texts = [target for _, target in pairs]
    return Decoded(
        sentences=read,
        signatures={"bleu": bleu(texts, [texts]).signature, "chrf": chrf(texts, [texts]).signature},
        whole=whole,
        heads={kind: tuple(tuple(layer) for layer in by_head[number].tolist()) for number, kind in enumerate(KINDS)},
        q=dict(zip(KINDS, q, strict=True)),
    )


def decode_without(
    runner: ResumableMap, pairs: Sequence[Sequence[str]], sets: Sequence[Sequence[Head]]
) -> tuple[Score, list[Score], int]:
    """Score greedy translations: of the whole model, without each set of heads; and count the sentences.

    Raises:
        DataError: No sentence can be read.
    """
    (base,) = runner.run(translate_set, [[list(pairs), [], []]], "set of heads")
    if not base["read"].any():
        raise DataError("no sentence can be read: all are empty or too long")
    base_texts = base["texts"].tolist()
    items = [[list(pairs), [list(head) for head in heads], base_texts] for heads in sets]
    results = runner.run(translate_set, items, "set of heads")
    scores = [_score(each["scores"]) for each in results]
    return _score(base["scores"]), scores, int(base["read"].sum())


def _score(row: FloatArray) -> Score:
    values = row.tolist()
    first = dict(zip(_COLUMNS, values[: len(_COLUMNS)], strict=True))
    return Score(**first, bleu_change=tuple(values[-4:-2]), chrf_change=tuple(values[-2:]))


def translate_set(translator: Translator, item: Any) -> Results:
    """Translate without a set of heads: texts, a mask of translated sentences, and scores as in `Score`.

    The item holds pairs, heads, and the translations of the whole model for comparison, empty for the whole model.
    """
    pairs, heads, base_texts = item
    off = [cast(Head, tuple(head)) for head in heads]
    encoded = [_ids(translator, source) for source, _ in pairs]
    read = np.array([bool(ids and target.strip()) for ids, (_, target) in zip(encoded, pairs, strict=True)])
    with ablated(translator, off):
        texts = _translated(translator, [ids for ids, is_read in zip(encoded, read, strict=True) if is_read])
    references = [target for (_, target), is_read in zip(pairs, read, strict=True) if is_read]
    if not references:
        return {"texts": np.array([], dtype=np.str_), "read": read, "scores": np.zeros(len(_COLUMNS) + 4)}
    comparison = paired_bootstrap(base_texts or texts, texts, [references])
    score, other = comparison["bleu"], comparison["chrf"]
    row = [score.value, other.value, score.interval, other.interval, score.p_value, other.p_value]
    row += [*score.change, *other.change]
    return {"texts": np.array(texts, dtype=np.str_), "read": read, "scores": np.array(row)}


def _ids(translator: Translator, source: str) -> tuple[int, ...]:
    try:
        return translator.encode(source).ids
    except SourceTooLong:
        return ()


def _translated(translator: Translator, sources: Sequence[Sequence[int]]) -> list[str]:
    """Translate greedily, in batches of similar lengths."""
    tokenizer, device = translator.tokenizer, translator.model.embedding.weight.device
    order = sorted(range(len(sources)), key=lambda number: len(sources[number]))
    texts = [""] * len(sources)
    for start in range(0, len(order), _BATCH):
        group = order[start : start + _BATCH]
        batch = make_batch([sources[number] for number in group], [[] for _ in group], tokenizer.special)
        outputs = greedy_search(
            translator.model,
            batch.source.to(device),
            tokenizer.special,
            translator.decoding.extra_length,
            translator.constraint([sources[number] for number in group]),
        )
        for number, ids in zip(group, outputs, strict=True):
            texts[number] = tokenizer.decode(ids)
    return texts
