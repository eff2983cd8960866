"""Examples of each head: its ten clearest probe sentences, and the places in them.

Probe sentences are our own (`probes.en.txt`, CC0), so that no corpus ships; the model translates them. If the head's
role is a rule of `patterns.py`, its clearest place has the largest weight among the places that fit the rule. Otherwise
it has the largest weight between words.

Shape legend: N sentences, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from typing import Any

import numpy as np

from transformer_core.analysis.ablation import Head
from transformer_core.analysis.attention_sinks import query_rows, separators
from transformer_core.atlas.naming import Role
from transformer_core.atlas.patterns import PATTERNS, pattern_keys
from transformer_core.atlas.record import Example, Examples
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined
from transformer_core.attention_maps import KINDS, AttentionMaps, Kind, MapsTooLarge
from transformer_core.data import DataError
from transformer_core.translator import SourceTooLong, Translator

CHUNK = 20  # sentences of an item
SHOWN = 10
_RULES = {name for names in PATTERNS.values() for name in names} - {"rarest"}  # rarity needs a corpus


def probe_sentences() -> list[str]:
    """Return the English probe sentences."""
    text = files("transformer_core.atlas").joinpath("probes.en.txt").read_text(encoding="utf-8")
    return text.splitlines()


def measure_examples(
    runner: ResumableMap, translator: Translator, roles: Mapping[Head, Sequence[Role]], sentences: Sequence[str]
) -> Examples:
    """Find the clearest places of every head.

    Args:
        runner: Runs the stages.
        translator: The same model.
        roles: Result of `head_roles`.
        sentences: In the language that the model reads.

    Raises:
        DataError: No sentence can be read.
    """
    config = translator.config
    layers, heads = range(config.num_layers), range(config.num_heads)
    rules = {kind: [[_rule(roles[Head(kind, layer, head)]) for head in heads] for layer in layers] for kind in KINDS}
    results = runner.run(chunk_examples, [[group, rules] for group in cut(sentences, CHUNK)], "sentences x 20")
    texts = joined(results, "texts").tolist()
    kinds: dict[Kind, tuple[tuple[tuple[Example, ...], ...], ...]] = {}
    for kind in KINDS:
        places = joined(results, kind)  # (N, L, H, 4)
        kinds[kind] = tuple(tuple(_clearest(places[:, layer, head]) for head in heads) for layer in layers)
    named = sorted({each.sentence for table in kinds.values() for layer in table for head in layer for each in head})
    if not named:
        raise DataError("no sentence can be read: all are empty or too long")
    return Examples(
        sentences={number: sentences[number] for number in named},
        targets={number: texts[number] for number in named},
        kinds=kinds,
    )


def _rule(roles: Sequence[Role]) -> str:
    return next((role.name for role in roles[:1] if role.name in _RULES), "")


def _clearest(places: np.ndarray[Any, Any]) -> tuple[Example, ...]:
    """Turn the places of one head, (N, 4), into examples."""
    fitting = [number for number in range(len(places)) if places[number, 2] > 0]
    order = sorted(fitting, key=lambda number: (-places[number, 3], -places[number, 2], number))[:SHOWN]
    return tuple(
        Example(
            sentence=number,
            query=int(places[number, 0]),
            key=int(places[number, 1]),
            weight=round(float(places[number, 2]), 4),
            fits=bool(places[number, 3]),
        )
        for number in order
    )


def chunk_examples(translator: Translator, item: Any) -> Results:
    """Return the translation of each sentence, and for each kind its `clearest_places`, (N, L, H, 4).

    The weight is 0 if there is no place.
    """
    sentences, rules = item
    config = translator.config
    texts, clearest = [], {kind: [] for kind in KINDS}  # type: ignore[var-annotated]
    for maps, text in _read(translator, sentences):
        texts.append(text)
        for kind in KINDS:
            empty = np.zeros((config.num_layers, config.num_heads, 4))
            clearest[kind].append(empty if maps is None else clearest_places(maps, kind, rules[kind]))
    return {"texts": np.array(texts, dtype=np.str_), **{kind: np.stack(places) for kind, places in clearest.items()}}


def _read(translator: Translator, sentences: Sequence[str]) -> Iterator[tuple[AttentionMaps | None, str]]:
    """Translate all sentences; yield maps and translation, or None and "" for a sentence that cannot be read."""
    readable = []
    for sentence in sentences:
        with suppress(SourceTooLong):
            if translator.encode(sentence).ids:
                readable.append(sentence)
    translations = dict(zip(readable, translator.translate_batch(readable), strict=True))
    for sentence in sentences:
        sentence_maps: tuple[AttentionMaps | None, str] = None, ""
        if sentence in translations:
            with suppress(MapsTooLarge):
                sentence_maps = translations[sentence].attention_of(0), translations[sentence].text
        yield sentence_maps


def clearest_places(maps: AttentionMaps, kind: Kind, rules: Sequence[Sequence[str]]) -> np.ndarray[Any, Any]:
    """Find the clearest place of each head: (L, H, 4) query, key, weight, and whether it fits the rule.

    Args:
        maps: Maps of one sentence.
        kind: Kind of attention.
        rules: (L, H) names of `patterns.py`; empty for a head without a rule.
    """
    weights = maps.weights(kind).astype(np.float64)  # (L, H, Q, K)
    patterns = pattern_keys(maps, kind, ())
    words = np.zeros(weights.shape[2:], dtype=bool)
    words[np.ix_(query_rows(maps, kind), np.flatnonzero(~separators(maps.keys(kind))))] = True
    strongest = weights.argmax(axis=3)[..., None] == np.arange(weights.shape[3])  # (L, H, Q, K)
    places = np.zeros((*weights.shape[:2], 4))
    for layer, names in enumerate(rules):
        for head, name in enumerate(names):
            strength = weights[layer, head] * strongest[layer, head]
            fitting = strength * patterns[name] if name else np.zeros_like(strength)
            fits = bool(fitting.max(initial=0.0) > 0)
            scores = fitting if fits else strength * words
            if scores.max(initial=0.0) > 0:
                query, key = divmod(int(scores.argmax()), scores.shape[1])
                places[layer, head] = query, key, scores[query, key], fits
    return places
