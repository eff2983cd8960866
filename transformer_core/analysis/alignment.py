"""Alignment error rate of encoder-decoder heads against hand-made links.

A head links each target word to the source word with the largest weight. A row has two possible names: the token that
it generates (`output`, as everywhere in the app), or the token that it reads (`input`, one row later).

Shape legend: L layers, H heads, T target positions, S source positions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.word_weights import blank_words, membership
from transformer_core.data import DataError, read_columns
from transformer_core.head import Head
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import Translator

Links = frozenset[tuple[int, int]]
_LINK = re.compile(r"([0-9]{1,6})([-?])([0-9]{1,6})")


@dataclass(frozen=True)
class GoldAlignment:
    """One sentence pair with hand-made links.

    Args:
        source: Words, counted from 0.
        target: Words, counted from 0.
        sure: (source word, target word) pairs that must be found.
        possible: Pairs that may be found, including the sure ones.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Links
    possible: Links


def read_gold(path: Path | str) -> Iterator[GoldAlignment]:
    """Read a tsv of source, target and links; a link is `i-j` (sure) or `i?j` (possible).

    Raises:
        DataError: A line has fewer than three columns, a side without words, or a link that is invalid or points
            outside its sentence.
    """
    for number, (source, target, links) in enumerate(read_columns(path, (0, 1, 2)), start=1):
        words, target_words = tuple(source.split()), tuple(target.split())
        if not (words and target_words):
            raise DataError(f"{path}, line {number}: needs words on both sides")
        sure, possible = set(), set()
        for link in links.split():
            match = _LINK.fullmatch(link)
            if not (match and int(match[1]) < len(words) and int(match[3]) < len(target_words)):
                raise DataError(f"{path}, line {number}: {link[:40]!r} is not a link between two words of this line")
            possible.add((int(match[1]), int(match[3])))
            if match[2] == "-":
                sure.add((int(match[1]), int(match[3])))
        yield GoldAlignment(words, target_words, frozenset(sure), frozenset(possible))


def alignment_error_rate(linked: Iterable[tuple[Links, GoldAlignment]]) -> float:
    """AER = 1 - (|A & S| + |A & P|) / (|A| + |S|), summed over sentences (Och and Ney 2000); 0 is perfect.

    Raises:
        ValueError: There are no links, found or sure.
    """
    hits = total = 0
    for links, gold in linked:
        hits += len(links & gold.sure) + len(links & gold.possible)
        total += len(links) + len(gold.sure)
    if total == 0:
        raise ValueError("no links to compare")
    return 1.0 - hits / total


def word_of_each_token(encoding: Encoding, words: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the word number of each token of `" ".join(words)`; -1 for a lone space."""
    of_words = membership(encoding, blank_words(" ".join(words)))
    return np.where(of_words.any(axis=1), of_words.argmax(axis=1), -1)


def links_of_head(
    weights: npt.NDArray[np.float32], query_words: npt.NDArray[np.int64], key_words: npt.NDArray[np.int64]
) -> Links:
    """Link each target word to the source word with the largest weight.

    Args:
        weights: (T, S) without rows and columns of special tokens.
        query_words: (T,) target word of each row; rows with -1 are skipped.
        key_words: (S,) source word of each column; columns with -1 are skipped.
    """
    real_keys, real_queries = key_words >= 0, query_words >= 0
    if not real_keys.any():
        return frozenset()
    membership = key_words[real_keys, None] == np.arange(int(key_words.max()) + 1)  # (tokens, words)
    summed = weights[:, real_keys].astype(np.float64) @ membership  # (T, words)
    links = set()
    for word in np.unique(query_words[real_queries]):
        links.add((int(summed[query_words == word].mean(axis=0).argmax()), int(word)))
    return frozenset(links)


def head_alignment_errors(
    translator: Translator,
    gold: Sequence[GoldAlignment],
    progress: Callable[[Sequence[GoldAlignment]], Iterable[GoldAlignment]] = iter,
) -> dict[str, npt.NDArray[np.float64]]:
    """Compute the alignment error rate of every encoder-decoder head.

    Returns:
        `output` and `input` -> (L, H), by the name of a row.
    """
    layers, heads = translator.config.num_layers, translator.config.num_heads
    links_of: dict[str, list[list[list[tuple[Links, GoldAlignment]]]]] = {
        name: [[[] for _ in range(heads)] for _ in range(layers)] for name in ("output", "input")
    }
    for pair in progress(gold):
        source, target = " ".join(pair.source), " ".join(pair.target)
        key_words = word_of_each_token(translator.encode(source), pair.source)
        query_words = word_of_each_token(translator.encode_target(target), pair.target)
        maps = translator.teacher_force(source, target).attention
        cross = maps.cross[:, :, :, : len(key_words)]  # without </s>
        tokens = len(query_words)
        rows = {"output": cross[:, :, :tokens], "input": cross[:, :, 1 : tokens + 1]}
        for name, weights in rows.items():
            for layer in range(layers):
                for head in range(heads):
                    links = links_of_head(weights[layer, head], query_words, key_words)
                    links_of[name][layer][head].append((links, pair))
    return {
        name: np.array([[alignment_error_rate(of_head) for of_head in of_layer] for of_layer in by_layer])
        for name, by_layer in links_of.items()
    }


def alignment_report(errors: dict[str, npt.NDArray[np.float64]]) -> dict[str, Any]:
    """Return the entries of a checkpoint's metrics: the tables, and the best head by each name of rows."""
    return {
        "best_head": best_head(errors["output"]),
        "best_head_by_input": best_head(errors["input"]),
        "aer": {name: [[round(float(v), 4) for v in row] for row in values] for name, values in errors.items()},
    }


def best_head(table: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return the head with the least error, and that error, of (L, H) errors."""
    layer, head = divmod(int(table.argmin()), table.shape[1])
    return {"head": str(Head("cross", layer, head)), "aer": round(float(table[layer, head]), 4)}
