"""Branches of one beam search: numbered, turned into translations, and packed as a tree.

A branch is a leaf of the search's history. Branches count from 0: first the hypotheses that the search returned, best
first, then all other leaves by step and, within a step, in the order in which the search considered them: pruned
candidates, hypotheses whose every continuation was pruned, finished ones that better ones pushed out. A search is
deterministic, so a branch keeps its number for the same sentence, beam and model.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.text.tokenizer import EOS_TOKEN, Tokenizer

if TYPE_CHECKING:
    from transformer_core.config import DecodingConfig
    from transformer_core.decoding.beam import Hypothesis, Node
    from transformer_core.translator import Translation, Translator

_DIGITS = 6  # of log-probabilities handed to the browser, which shows three of them
_STATUS = {"kept": "k", "finished": "f", "pruned": "p"}


def branch_ends(translation: Translation) -> tuple[int, ...]:
    """Return the last node in the history of each branch. Empty for a translation that needed no search."""
    first = tuple(hypothesis.node for hypothesis in translation.hypotheses if hypothesis.node >= 0)
    inner = {node.parent for node in translation.history}
    others = (number for number in range(len(translation.history)) if number not in inner and number not in first)
    # Sorting is stable: within a step the order of the history stays.
    return (*first, *sorted(others, key=lambda number: translation.history[number].step))


def branch_translation(translation: Translation, number: int, translator: Translator) -> Translation:
    """Return a branch as a translation with one hypothesis; its attention is one forced pass away.

    Args:
        translation: The best one, as the search gave it.
        number: Number of the branch, from 0. For the best, or an unknown number, the result is `translation`.
        translator: The model that searched.
    """
    ends = branch_ends(translation)
    if not 0 < number < len(ends):
        return translation
    if number < len(translation.hypotheses):
        hypothesis = translation.hypotheses[number]
    else:
        hypothesis = _hypothesis(translation.history, ends[number], translator)
    return dataclasses.replace(
        translation,
        text=translator.tokenizer.decode(hypothesis.ids),
        tokens=translator.tokenizer.tokens(hypothesis.ids),
        scores=hypothesis.log_probabilities,
        finished=hypothesis.finished,
        hypotheses=(hypothesis,),
    )


def _hypothesis(history: Sequence[Node], end: int, translator: Translator) -> Hypothesis:
    """Return the hypothesis that ends at a node."""
    from transformer_core.decoding.beam import Hypothesis, length_penalty  # with torch, which takes seconds to import

    path = path_to(history, end)
    finished = path[-1].token == translator.tokenizer.special.eos
    config = translator.decoding
    return Hypothesis(
        ids=tuple(node.token for node in (path[:-1] if finished else path)),
        log_probabilities=tuple(node.token_log_probability for node in path),
        alternatives=tuple(node.alternatives for node in path),
        score=path[-1].log_probability / length_penalty(len(path), config.alpha, config.length_penalty),
        finished=finished,
        node=end,
    )


def path_to(history: Sequence[Node], end: int) -> list[Node]:
    """Return the nodes from the first token to this one."""
    path: list[Node] = []
    while end >= 0:
        path.append(history[end])
        end = history[end].parent
    return path[::-1]


def search_tree(translation: Translation, tokenizer: Tokenizer, config: DecodingConfig, shown: int) -> dict[str, Any]:
    """Return the whole search as plain values in compact columns, for `pack`.

    Args:
        translation: The best one, as the search gave it.
        tokenizer: Names the tokens.
        config: The settings that the search had, its beam included.
        shown: Number of the branch whose maps go with it.

    Returns:
        `size`, `alpha`, `penalty`: the settings. `tokens`: every token that occurs, once; `end`: which of them is
        `</s>`, or -1. One entry for each node: `parent`, `step`, `token`, `total` and `own` (log-probabilities in
        nats), `status` (a letter each: kept, finished, pruned). `leaves`: the last node of each branch, of which the
        first `hypotheses` are those that the search returned. `id`: a hash of all these; equal for all branches of one
        search. `shown`: see above. Empty when there was no search.
    """
    history = translation.history
    if not history:
        return {}
    numbers: dict[int, int] = {}
    for node in history:
        numbers.setdefault(node.token, len(numbers))
    ends = branch_ends(translation)
    tree: dict[str, Any] = {
        "size": config.beam,
        "alpha": config.alpha,
        "penalty": config.length_penalty,
        "tokens": [EOS_TOKEN if token == tokenizer.special.eos else tokenizer.token(token) for token in numbers],
        "end": numbers.get(tokenizer.special.eos, -1),
        "parent": [node.parent for node in history],
        "step": [node.step for node in history],
        "token": [numbers[node.token] for node in history],
        "total": [round(node.log_probability, _DIGITS) for node in history],
        "own": [round(node.token_log_probability, _DIGITS) for node in history],
        "status": "".join(_STATUS[node.status] for node in history),
        "leaves": list(ends),
        "hypotheses": len(translation.hypotheses),
    }
    identity = json.dumps([translation.source, tree], separators=(",", ":")).encode()
    tree["id"] = hashlib.blake2b(identity, digest_size=9).hexdigest()
    tree["shown"] = shown if 0 <= shown < len(ends) else 0
    return tree
