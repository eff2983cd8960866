"""The tree that a parser has generated for a sentence, as plain values for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.parsing.sequences import Repaired, to_tree
from transformer_core.parsing.trees import ROOT, Tree
from transformer_core.parsing.vocabulary import NotAParser, SymbolTable

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator

Span = tuple[int, int]


def parse_tree(best: Translation, branch: int, shown: Translation, translator: Translator) -> dict[str, Any]:
    """The tree of a branch of the search for a sentence, and those of the other hypotheses.

    Args:
        best: What the search for the sentence returned.
        branch: Number of the branch that is shown; see `viz_app.serving.search_tree`.
        shown: That branch.
        translator: The model.

    Returns:
        `words`: the leaves. `spans`: first and last source token of each word, [-1, -1] for one without any. `marks`:
        for each word the index of its XX among the generated tokens, or None. `nodes`: constituents, each before those
        inside it, with `label`, `parent` (index or -1), words [`begin`, `end`), `opening` and `closing` (index of a
        bracket among the generated tokens, or None); TOP only if it does not hold one constituent alone. `repairs`:
        what was repaired; see `transformer_core.parsing.sequences.REPAIRS`. `text`: the tree in brackets. `others`:
        `branch`, `score` and `nodes` ([label, begin, end]) of each other hypothesis. Empty for a model that
        generates no trees, and for a sentence without words.
    """
    words = shown.source.split()
    try:
        SymbolTable.from_tokenizer(translator.tokenizer)
    except NotAParser:
        return {}
    if not words:
        return {}
    found = to_tree(_symbols(shown.pieces), words)
    others = [
        {
            "branch": number,
            "score": hypothesis.score,
            "nodes": [
                [node["label"], node["begin"], node["end"]]
                for node in _nodes(to_tree(_symbols(translator.tokenizer.pieces(hypothesis.ids)), words))
            ],
        }
        for number, hypothesis in enumerate(best.hypotheses)
        if number != branch and hypothesis.finished
    ]
    return {
        "words": words,
        "spans": _spans(words, shown.source, shown.source_encoding.spans),
        "marks": list(found.marks),
        "nodes": _nodes(found),
        "repairs": dict(found.repairs),
        "text": str(found.tree),
        "others": others,
    }


def _symbols(pieces: Sequence[str]) -> list[str]:
    return [piece.removeprefix(WORD_BOUNDARY) for piece in pieces]


def _nodes(found: Repaired) -> list[dict[str, Any]]:
    """The constituents of a tree with their places."""
    brackets = iter(found.brackets)
    nodes: list[dict[str, Any]] = []

    def add(tree: Tree, begin: int, parent: int) -> None:
        opening, closing = next(brackets)
        number = parent
        if tree.label != ROOT or parent >= 0 or len(tree.children) > 1 or not isinstance(tree.children[0], Tree):
            number = len(nodes)
            place = {"begin": begin, "end": begin + len(tree.words)}
            nodes.append({"label": tree.label, "parent": parent, **place, "opening": opening, "closing": closing})
        for child in tree.children:
            if isinstance(child, Tree):
                add(child, begin, number)
            begin += len(child.words) if isinstance(child, Tree) else 1

    add(found.tree, 0, -1)
    return nodes


def _spans(words: Sequence[str], text: str, tokens: Sequence[Span]) -> list[list[int]]:
    """First and last token of each word: those that cover characters of it."""
    spans = []
    end = 0
    for word in words:
        begin = text.index(word, end)
        end = begin + len(word)
        own = [i for i, (first, last) in enumerate(tokens) if first < end and last > begin]
        spans.append([own[0], own[-1]] if own else [-1, -1])
    return spans
