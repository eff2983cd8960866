"""The phrase-structure tree that a parser generates as brackets, and where its attention goes."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.head import Head
from transformer_core.parsing.sequences import Brackets, Repaired, to_tree
from transformer_core.parsing.vocabulary import generates_trees
from viz_app.figures.model.constituency import ConstituencyFigure, Constituent
from viz_app.figures.model.slicing import check_index
from viz_app.figures.text import view_captions
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.text.tokenizer import Tokenizer
    from viz_app.figures.build.request import Request


@dataclass(frozen=True)
class ParserOutput:
    """Output of a parser for a sentence.

    Args:
        words: Of the sentence.
        symbols: Generated brackets and XX, without `</s>`.
        log_probabilities: Of each symbol, in nats, and perhaps of `</s>`.
        token_words: For each source token, without `</s>`, the number of its word, from 0.
    """

    words: Sequence[str]
    symbols: Sequence[str]
    log_probabilities: Sequence[float]
    token_words: Sequence[int]

    @classmethod
    def from_tokens(
        cls, source: str, tokens: Sequence[str], scores: Sequence[float], tokenizer: Tokenizer
    ) -> ParserOutput | None:
        """Return the output for `source`, words with blanks between; None without words or for no parser."""
        starts = [match.start() for match in re.finditer(r"\S+", source)]
        if not starts or not generates_trees(tokenizer):
            return None
        symbols = tuple(token.removeprefix(WORD_BOUNDARY) for token in tokens)
        # By their places in the text: a tokenizer may make two words, or none, of what it normalises.
        spans = tokenizer.source.encode(source).spans
        token_words = tuple(max(0, bisect_right(starts, max(begin, end - 1)) - 1) for begin, end in spans)
        return cls(tuple(source.split()), symbols, tuple(scores), token_words)

    def repaired(self) -> Repaired:
        """Return the tree. Raises ValueError without words."""
        return to_tree(self.symbols, self.words)

    def probability(self, brackets: Brackets) -> float | None:
        """Of a constituent: of both its brackets; None when one was never generated."""
        opening, closing = brackets
        if opening is None or closing is None:
            return None
        return min(1.0, math.exp(self.log_probabilities[opening] + self.log_probabilities[closing]))


def tree(r: Request) -> ConstituencyFigure:
    """Draw the tree over the words; with a step, words are tinted by encoder-decoder attention at that token.

    Raises:
        ValueError: The model is no parser, or a layer, head or step does not exist.
    """
    if r.parse is None:
        raise ValueError("this model is no parser: the view tree draws the tree that a parser generates")
    t, repaired = texts(r.language), r.parse.repaired()
    view: dict[str, Any] = {"name": "tree"}
    if r.step is not None:
        view |= {"layer": r.layer, "head": r.head, "step": r.step}
    view |= {"language": r.language} if r.language != "en" else {}
    title, place = t("figures.title_tree"), ""
    if r.step is not None:
        title = t("figures.title_tree_step", head=str(Head("cross", r.layer, r.head)), step=r.step)
        place = f"_{Head('cross', r.layer, r.head)}_step{r.step}"
    figure = ConstituencyFigure(
        nodes=[*_nodes(r.parse, repaired)],
        words=r.parse.words,
        weights=None if r.step is None else _weights(r, r.step),
        confidence=r.confidence,
        text=str(repaired.tree),
        repairs=repaired.repairs,
        weight_title=t("figures.scale"),
        probability_title=t("figures.tree_probability"),
        title=title,
        kind="" if r.step is None else "cross",
        language=r.language,
        theme=r.theme,
        name=f"headlight_tree{place}",
        provenance={**r.provenance, "view": view},
    )
    caption = view_captions.tree_caption(figure, language=r.language)
    if r.step is not None:
        assert figure.weights is not None
        caption = caption + view_captions.tree_attention_caption(
            figure,
            str(Head("cross", r.layer, r.head)),
            r.require_decoding.outputs.tokens[r.step - 1],
            language=r.language,
        )
    return replace(figure, caption=caption.text, alt=f"{t('figures.alt_tree')} {caption.text} {figure.text}")


def _nodes(parse: ParserOutput, repaired: Repaired) -> Iterator[Constituent]:
    for span, (opening, closing) in repaired.spans:
        probability = parse.probability((opening, closing))
        yield Constituent(**span._asdict(), opening=opening, closing=closing, probability=probability)


def _weights(r: Request, step: int) -> tuple[float, ...]:
    """Of each word, the attention that its tokens get while a token is generated."""
    maps = r.require_decoding
    assert r.parse is not None
    check_index("layer", r.layer, maps.layers("cross"))
    check_index("head", r.head, maps.heads("cross"))
    count = len(maps.outputs)
    if not 1 <= step <= count:
        raise ValueError(f"step is {step}, but must be between 1 and {count}, the number of generated tokens")
    row = maps.cross[r.layer, r.head, step - 1][~np.array(maps.source.special)]
    if len(row) != len(r.parse.token_words):
        raise ValueError(f"the maps have {len(row)} source tokens, but the parser read {len(r.parse.token_words)}")
    sums = np.bincount(r.parse.token_words, weights=row.astype(np.float64), minlength=len(r.parse.words))
    return tuple(np.clip(sums, 0.0, 1.0).tolist())
