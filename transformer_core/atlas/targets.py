"""Attention targets of heads, compared with the best fixed offset and equal weights.

Shape legend: N sentences, P rules, O offsets, L layers, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import entropy, query_rows
from transformer_core.atlas.patterns import NAMED_OFFSETS, OFFSETS, PATTERNS, pattern_keys, word_key
from transformer_core.atlas.record import Estimate, FloatArray, KindLooks, Looks, Pattern, Spread
from transformer_core.atlas.resumable_map import Results, ResumableMap, cut, joined
from transformer_core.atlas.statistics import Bootstrap, corrected, sign_test
from transformer_core.attention_maps import KINDS, AttentionMaps, Axis, Kind, MapsTooLarge
from transformer_core.data import DataError
from transformer_core.text.tokenizer import axis
from transformer_core.translator import SourceTooLong, Translator

CHUNK = 25  # sentences of an item

Pair = Sequence[str]  # source and target


def measure_targets(
    runner: ResumableMap, translator: Translator, pairs: Sequence[Pair], bootstrap: Mapping[str, int]
) -> Looks:
    """Measure the attention targets of all heads on given translations.

    Args:
        runner: Runs the stages.
        translator: The same model, for its vocabulary.
        pairs: Sentences and translations, which also define how rare a word is.
        bootstrap: `draws` and `seed`.

    Raises:
        DataError: No sentence can be read.
    """
    counts = _word_counts(translator, pairs)
    items = [[pairs_here, _counts_of(translator, pairs_here, counts)] for pairs_here in cut(pairs, CHUNK)]
    results = runner.run(chunk_targets, items, "sentences x 25")
    read = int(joined(results, "read").sum())
    if not read:
        raise DataError("no sentence can be read: all are empty or too long")
    drawing = Bootstrap(read, **bootstrap)
    kinds = {kind: _kind(kind, results, drawing) for kind in KINDS}
    return Looks(sentences=read, skipped=len(pairs) - read, offsets=OFFSETS, kinds=_with_q(kinds, results))


def _word_counts(translator: Translator, pairs: Sequence[Pair]) -> list[Counter[str]]:
    """Count each word on both sides."""
    counts: list[Counter[str]] = [Counter(), Counter()]
    for pair in pairs:
        for side, words in enumerate(_words(translator, pair)):
            counts[side].update(words)
    return counts


def _words(translator: Translator, pair: Pair) -> tuple[list[str], list[str]]:
    source, target = translator.tokenizer.source.encode(pair[0]), translator.tokenizer.encode(pair[1])
    blanks = translator.tokenizer.closed
    sides = (axis(each.tokens, at_blanks=blanks) for each in (source, target))
    ours, theirs = ([word_key(word) for word in side.word_texts if _is_word(word)] for side in sides)
    return ours, theirs


def _is_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _counts_of(translator: Translator, pairs: Sequence[Pair], counts: list[Counter[str]]) -> list[dict[str, int]]:
    kept_counts: list[dict[str, int]] = [{}, {}]
    for pair in pairs:
        for side, words in enumerate(_words(translator, pair)):
            kept_counts[side] |= {word: counts[side][word] for word in words}
    return kept_counts


def chunk_targets(translator: Translator, item: Any) -> Results:
    """Sum over some sentences, see `_sums`; `read` marks the sentences that were read."""
    pairs, counts = item
    arrays: dict[str, list[npt.NDArray[Any]]] = {}
    read = []
    for source, target in pairs:
        maps = read_maps(translator, source, target)
        read.append(maps is not None)
        if maps is None:
            continue
        for kind in KINDS:
            side = counts[0] if kind != "decoder" else counts[1]
            for name, value in _sums(maps, kind, rarest_words(maps.keys(kind), side)).items():
                arrays.setdefault(f"{kind}.{name}", []).append(value)
    empty = _empty(translator) if not arrays else {}
    return {"read": np.array(read), **empty, **{name: np.stack(values) for name, values in arrays.items()}}


def read_maps(translator: Translator, source: str, target: str) -> AttentionMaps | None:
    """Return the maps of a sentence pair; None if it is empty or too long."""
    if not (source.strip() and target.strip()):
        return None
    try:
        return translator.teacher_force(source, target).attention
    except (SourceTooLong, MapsTooLarge):
        return None


def _empty(translator: Translator) -> Results:
    """Return arrays of the right shapes for no sentence."""
    maps = translator.teacher_force("a", "a").attention
    return {f"{kind}.{name}": np.stack([each])[:0] for kind in KINDS for name, each in _sums(maps, kind, set()).items()}


def rarest_words(keys: Axis, counts: Mapping[str, int]) -> set[str]:
    """Return the rarest words of an axis, as `word_key`."""
    words = {word_key(word) for word in keys.merged().tokens if word_key(word) in counts}
    smallest = min((counts[word] for word in words), default=0)
    return {word for word in words if counts[word] == smallest}


def _sums(maps: AttentionMaps, kind: Kind, rarest: set[str]) -> dict[str, npt.NDArray[Any]]:
    """Sum over the queries of one sentence.

    hits (P, L, H), weight (P, L, H), places (P,), uniform (P,), fixed (P, O); offsets (L, H, O), rows (); entropy and
    distance (L, H); even_entropy and even_distance () of equal weights.
    """
    weights = maps.weights(kind).astype(np.float64)  # (L, H, Q, K)
    queries, keys = weights.shape[2:]
    strongest = weights.argmax(axis=3)  # (L, H, Q)
    seen = np.tri(queries, keys, dtype=bool) if kind == "decoder" else np.ones((queries, keys), dtype=bool)
    rows = query_rows(maps, kind)
    away = np.arange(keys) - np.arange(queries)[:, None]  # (Q, K)
    hits, mass, places, uniform, fixed = [], [], [], [], []
    for pattern in pattern_keys(maps, kind, rarest).values():
        here = np.flatnonzero(pattern.any(axis=1))
        hits.append(pattern[here, strongest[:, :, here]].sum(axis=2))
        mass.append((weights[:, :, here] * pattern[here]).sum(axis=(2, 3)))
        places.append(len(here))
        uniform.append((pattern[here].sum(axis=1) / seen[here].sum(axis=1)).sum())
        fixed.append([(pattern & (away == offset)).any(axis=1).sum() for offset in OFFSETS])
    at = strongest[:, :, rows] - rows  # (L, H, rows)
    even = seen[rows] / seen[rows].sum(axis=1, keepdims=True)
    far = np.abs(away[rows])
    return {
        "hits": np.array(hits),
        "weight": np.array(mass),
        "places": np.array(places),
        "uniform": np.array(uniform, dtype=np.float64),
        "fixed": np.array(fixed),
        "offsets": np.stack([(at == offset).sum(axis=2) for offset in OFFSETS], axis=2),
        "rows": np.array(len(rows)),
        "entropy": entropy(weights[:, :, rows]).sum(axis=2),
        "distance": (weights[:, :, rows] * far).sum(axis=(2, 3)),
        "even_entropy": np.array(entropy(even).sum()),
        "even_distance": np.array((even * far).sum()),
    }


def _kind(kind: Kind, results: Sequence[Results], bootstrap: Bootstrap) -> KindLooks:
    def of(name: str) -> FloatArray:
        return joined(results, f"{kind}.{name}").astype(np.float64)

    hits, mass, places, uniform, fixed = (of(name) for name in ("hits", "weight", "places", "uniform", "fixed"))
    patterns = {}
    for number, name in enumerate(PATTERNS[kind]):
        best = int(fixed[:, number].sum(axis=0).argmax())
        total = places[:, number].sum()
        is_offset = name in NAMED_OFFSETS
        patterns[name] = Pattern(
            share=bootstrap.ratio(hits[:, number], places[:, number]),
            weight=bootstrap.ratio(mass[:, number], places[:, number]),
            places=int(total),
            uniform=float(uniform[:, number].sum() / total) if total else 0.0,
            offset=None if is_offset else OFFSETS[best],
            fixed=None if is_offset else float(fixed[:, number, best].sum() / total) if total else 0.0,
            q=np.empty(0),
        )
    rows = of("rows")
    return KindLooks(
        patterns=patterns,
        offsets=of("offsets").sum(axis=0) / max(rows.sum(), 1.0),
        entropy=_spread(bootstrap.ratio(of("entropy"), rows), of("even_entropy"), rows),
        distance=_spread(bootstrap.ratio(of("distance"), rows), of("even_distance"), rows),
    )


def _spread(heads: Estimate, even: FloatArray, rows: FloatArray) -> Spread:
    return Spread(heads=heads, uniform=float(even.sum() / max(rows.sum(), 1.0)), places=int(rows.sum()))


def _with_q(kinds: Mapping[Kind, KindLooks], results: Sequence[Results]) -> dict[Kind, KindLooks]:
    """Add the p-values of all rules and heads, corrected as one family."""
    from msgspec.structs import replace

    tests: dict[tuple[Kind, str], FloatArray] = {}
    for kind, looks in kinds.items():
        hits, uniform, fixed = (joined(results, f"{kind}.{name}") for name in ("hits", "uniform", "fixed"))
        for number, (name, pattern) in enumerate(looks.patterns.items()):
            expected = uniform[:, number].astype(np.float64)
            if pattern.fixed is not None and pattern.offset is not None and pattern.fixed > pattern.uniform:
                expected = fixed[:, number, OFFSETS.index(pattern.offset)].astype(np.float64)
            tests[kind, name] = sign_test(hits[:, number] - expected[:, None, None])
    q = corrected(np.stack(list(tests.values())))
    by_test = dict(zip(tests, q, strict=True))
    return {
        kind: replace(
            looks,
            patterns={name: replace(each, q=by_test[kind, name]) for name, each in looks.patterns.items()},
        )
        for kind, looks in kinds.items()
    }
