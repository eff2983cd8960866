"""Tree that a parser has generated for a sentence, as plain values for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.parsing.sequences import Repaired, to_tree
from viz_app.figures import ParserOutput

if TYPE_CHECKING:
    from transformer_core.decoding.beam import Hypothesis
    from transformer_core.translator import Translation, Translator


def parse_tree(best: Translation, branch: int, translation: Translation, translator: Translator) -> dict[str, Any]:
    """Return the tree of a branch of the search for a sentence, and the trees of the other hypotheses.

    Args:
        best: Best translation of the search.
        branch: Number of the branch that is shown; see `viz_app.serving.models.search_tree`.
        translation: That branch.
        translator: The model.

    Returns:
        `words`: the leaves. `spans`: first and last source token of each word, [-1, -1] for one without any. `marks`:
        for each word the index of its XX among the generated tokens, or None. `nodes`: constituents, each before those
        inside it, with `label`, `parent` (index or -1), words [`begin`, `end`), `opening` and `closing` (index of a
        bracket among the generated tokens, or None); TOP only if it does not hold one constituent alone. `repairs`:
        what was repaired; see `transformer_core.parsing.sequences.REPAIRS`. `text`: the tree in brackets. `others`:
        `branch`, `score` and `nodes` ([label, begin, end]) of each other hypothesis. `constrained`: whether the search
        allows only trees. Empty for a model that generates no trees, and for a sentence without words.
    """
    parse = ParserOutput.from_tokens(translation.source, translation.tokens, translation.scores, translator.tokenizer)
    if parse is None:
        return {}
    repaired = parse.repaired()
    others = [
        {
            "branch": number,
            "score": hypothesis.score,
            "nodes": [span[:3] for span, _ in _tree_of(hypothesis, parse.words, translator).spans],
        }
        for number, hypothesis in enumerate(best.hypotheses)
        if number != branch and hypothesis.finished
    ]
    return {
        "words": list(parse.words),
        "spans": [_tokens_of(word, parse.token_words) for word in range(len(parse.words))],
        "marks": list(repaired.marks),
        "nodes": [
            {**span._asdict(), "opening": opening, "closing": closing} for span, (opening, closing) in repaired.spans
        ],
        "repairs": dict(repaired.repairs),
        "text": str(repaired.tree),
        "others": others,
        "constrained": translator.decoding.constrained,
    }


def _tree_of(hypothesis: Hypothesis, words: Sequence[str], translator: Translator) -> Repaired:
    tokens = translator.tokenizer.tokens(hypothesis.ids)
    return to_tree([token.removeprefix(WORD_BOUNDARY) for token in tokens], words)


def _tokens_of(word: int, token_words: Sequence[int]) -> tuple[int, int]:
    """Return the first and last token of a word."""
    tokens = [token for token, each in enumerate(token_words) if each == word]
    return (tokens[0], tokens[-1]) if tokens else (-1, -1)
