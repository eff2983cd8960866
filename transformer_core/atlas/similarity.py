"""Similarity of heads: the mean Jensen-Shannon distance of the rows of two heads, between words.

Words are separated by blanks, so that models with other vocabularies can be compared. `</s>` and `<s>` are keys like
words. Heads of other models are compared in the encoder only, where both models read the same text.

Shape legend: N sentences, A and B heads (L * H), Q query words, K key words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import entropy
from transformer_core.analysis.word_weights import BoolArray, blank_words, by_words, membership
from transformer_core.atlas.links import encoder_weights
from transformer_core.atlas.record import Estimate, Family, FloatArray, OtherModel, Resemblance, Sibling
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined, model_of
from transformer_core.atlas.statistics import Bootstrap
from transformer_core.atlas.targets import read_maps
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.data import DataError
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator

CHUNK = 10  # sentences of an item
NEAREST = 3  # heads of each model


def measure_similarity(
    runner: ResumableMap,
    pairs: Sequence[Sequence[str]],
    other_models: Mapping[str, tuple[str, Path]],
    bootstrap: Mapping[str, int],
) -> Resemblance:
    """Compare all heads of a kind with one another, and encoder heads with other models'.

    Args:
        runner: Runs the stages.
        pairs: Sentences and translations.
        other_models: weights_hash -> name and folder.
        bootstrap: `draws` and `seed`.

    Raises:
        DataError: No sentence can be read.
    """
    folders = [[identity, str(folder)] for identity, (_, folder) in other_models.items()]
    results = runner.run(chunk_similarity, [[group, folders] for group in cut(pairs, CHUNK)], "sentences x 10")
    rows = joined(results, "rows")
    if not rows.any():
        raise DataError("no sentence can be read: all are empty or too long")
    drawing = Bootstrap(len(rows), **bootstrap)
    kinds: dict[Kind, Family] = {}
    for number, kind in enumerate(KINDS):
        distances = joined(results, f"{kind}.own")  # (N, A, A)
        layers, heads = results[0]["shape"].tolist()
        others = {each: joined(results, f"{kind}.{each}") for each in other_models} if kind == "encoder" else {}
        kinds[kind] = _family(
            drawing, distances, others, rows[:, number], joined(results, f"{kind}.uniform"), (layers, heads)
        )
    models = {}
    for identity, (name, _) in other_models.items():
        layers, heads = results[0][f"shape.{identity}"].tolist()
        models[identity] = OtherModel(name=name, layers=layers, heads=heads)
    return Resemblance(kinds=kinds, models=models)


def _family(
    drawing: Bootstrap,
    own: FloatArray,
    others: Mapping[str, FloatArray],
    rows: FloatArray,
    uniform: FloatArray,
    shape: tuple[int, int],
) -> Family:
    estimates = drawing.ratio(own, rows)
    count = len(estimates.value)
    apart = estimates.value + np.where(np.eye(count, dtype=bool), np.inf, 0.0)
    between = {"": (apart, estimates)}
    for identity, sums in others.items():
        each = drawing.ratio(sums, rows)
        between[identity] = each.value, each
    nearest = [
        tuple(sibling for model, (ranked, all_) in between.items() for sibling in _nearest(model, head, ranked, all_))
        for head in range(count)
    ]
    pairs = estimates.value[np.triu_indices(count, 1)]
    return Family(
        sentences=int((rows > 0).sum()),
        rows=int(rows.sum()),
        nearest=tuple(tuple(nearest[layer * shape[1] : (layer + 1) * shape[1]]) for layer in range(shape[0])),
        distances=estimates.value,
        typical=float(np.median(pairs)) if pairs.size else 0.0,
        uniform=drawing.ratio(uniform, rows).value.reshape(shape),
    )


def _nearest(model: str, head: int, ranked: FloatArray, distances: Estimate) -> list[Sibling]:
    """Return the nearest heads of one model."""
    order = np.argsort(ranked[head], kind="stable")[:NEAREST]
    return [
        Sibling(
            model=model,
            number=int(other),
            distance=float(distances.value[head, other]),
            low=float(distances.low[head, other]),
            high=float(distances.high[head, other]),
        )
        for other in order.tolist()
        if np.isfinite(ranked[head, other])
    ]


def chunk_similarity(translator: Translator, item: Any) -> Results:
    """Sum distances over the rows of each sentence: `KIND.own` (N, A, A), `encoder.HASH` (N, A, B), rows, shapes."""
    pairs, folders = item
    device = str(translator.model.embedding.weight.device)
    others = {identity: model_of(Path(folder), device) for identity, folder in folders}
    count = translator.config.num_layers * translator.config.num_heads
    chunk: dict[str, list[FloatArray]] = {}
    for source, target in pairs:
        rows = _rows(translator, source, target)
        other_rows = {identity: _encoder_rows(other, source) for identity, other in others.items()}
        usable = rows is not None and all(each is not None for each in other_rows.values())
        chunk.setdefault("rows", []).append(np.array([rows[kind].shape[1] if rows and usable else 0 for kind in KINDS]))
        for kind in KINDS:
            heads_here = rows[kind] if rows and usable else np.full((count, 0, 1), 1.0)
            even = np.full((1, *heads_here.shape[1:]), 1 / heads_here.shape[2])
            chunk.setdefault(f"{kind}.own", []).append(row_distances(heads_here, heads_here))
            chunk.setdefault(f"{kind}.uniform", []).append(row_distances(heads_here, even)[:, 0])
            for identity, other in other_rows.items() if kind == "encoder" else ():
                shape = others[identity].config.num_layers * others[identity].config.num_heads
                theirs = other if other is not None and usable else np.full((shape, 0, 1), 1.0)
                chunk.setdefault(f"encoder.{identity}", []).append(row_distances(heads_here, theirs))
    shapes = {"shape": _shape(translator)} | {f"shape.{identity}": _shape(other) for identity, other in others.items()}
    return {**shapes, **{name: np.stack(values) for name, values in chunk.items()}}


def _shape(translator: Translator) -> npt.NDArray[np.int64]:
    return np.array([translator.config.num_layers, translator.config.num_heads])


def row_distances(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    """Sum Jensen-Shannon distances, 0 to 1, over the rows: (A, Q, K) and (B, Q, K) -> (A, B)."""
    between = np.stack([entropy((each + theirs) / 2) for each in ours])  # (A, B, Q)
    divergence = between - (entropy(ours)[:, None] + entropy(theirs)) / 2
    return np.asarray(np.sqrt(np.clip(divergence / np.log(2), 0.0, 1.0)).sum(axis=2))


def _rows(translator: Translator, source: str, target: str) -> dict[Kind, FloatArray] | None:
    """Return (A, Q, K) of each kind, queries that are words; None for a sentence that is empty or too long."""
    maps = read_maps(translator, source, target)
    if maps is None:
        return None
    of_source = _members(translator.encode(source), source)
    of_target = _members(translator.encode_target(target), target)
    source_keys, inputs = _with_special(of_source, start=False), _with_special(of_target, start=True)
    # Row t of cross-attention is named after the generated token, row t of the decoder after the token read.
    queries = {
        "encoder": np.pad(of_source, ((0, 1), (0, 0))),
        "decoder": np.pad(of_target, ((1, 0), (0, 0))),
        "cross": np.pad(of_target, ((0, 1), (0, 0))),
    }
    keys = {"encoder": source_keys, "decoder": inputs, "cross": source_keys}
    return {kind: _flat(by_words(maps.weights(kind), queries[kind], keys[kind])) for kind in KINDS}


def _encoder_rows(translator: Translator, source: str) -> FloatArray | None:
    encoded = encoder_weights(translator, source)
    if encoded is None:
        return None
    encoding, weights = encoded
    members = _members(encoding, source)
    return _flat(by_words(weights, np.pad(members, ((0, 1), (0, 0))), _with_special(members, start=False)))


def _members(encoding: Encoding, text: str) -> BoolArray:
    return membership(encoding, blank_words(text))


def _with_special(members: BoolArray, *, start: bool) -> BoolArray:
    """Add a word for `<s>` before, or for `</s>` after; lone spaces belong to it."""
    rows = np.pad(members, ((1, 0), (0, 0)) if start else ((0, 1), (0, 0)))
    return np.asarray(np.concatenate([rows, ~rows.any(axis=1, keepdims=True)], axis=1))


def _flat(weights: FloatArray) -> FloatArray:
    """Flatten (L, H, Q, K) -> (A, Q, K); a word without tokens has equal weights in every model."""
    flat = weights.reshape(-1, *weights.shape[2:])
    return np.where(np.isnan(flat), 1 / flat.shape[2], flat)
