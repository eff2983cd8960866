"""Ambiguous sentences: attachment of the last phrase, and log-probabilities of both trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from transformer_core.parsing.sequences import to_symbols
from transformer_core.parsing.treebank import parse_trees
from transformer_core.parsing.trees import Tree, constituent_spans, rooted
from viz_app.figures.model.constituency import ConstituencyFigure, Constituent, place_tree
from viz_app.serving.models.registry import available_models, is_parser

if TYPE_CHECKING:
    from transformer_core.translator import Translator

BEAM = 4
_LETTER = 0.56  # width of a letter over the font size, on average

Reading = str  # "verb" or "noun": what the phrase attaches to


@dataclass(frozen=True)
class Ambiguous:
    """Sentence whose last phrase may attach to the verb or to the noun before it.

    Args:
        start: Subject and verb, in brackets.
        verb: The verb in brackets.
        noun: The object in brackets.
        phrase: The phrase in brackets.
    """

    start: str
    verb: str
    noun: str
    phrase: str

    @cached_property
    def trees(self) -> dict[Reading, Tree]:
        """Both readings."""
        noun = f"(NP {self.noun} {self.phrase})"
        objects = {"verb": f"{self.noun} {self.phrase}", "noun": noun}
        texts = (f"(S {self.start} (VP {self.verb} {each}) (. .))" for each in objects.values())
        return dict(zip(objects, map(rooted, ([tree] for tree in parse_trees(texts))), strict=True))

    @property
    def text(self) -> str:
        """The words with blanks between."""
        return " ".join(self.trees["verb"].words)


SENTENCES = {
    "telescope": Ambiguous(
        "(NP (PRP I))",
        "(VBD saw)",
        "(NP (DT the) (NN man))",
        "(PP (IN with) (NP (DT the) (NN telescope)))",
    ),
    "fork": Ambiguous(
        "(NP (PRP He))",
        "(VBD ate)",
        "(NP (DT the) (NN fish))",
        "(PP (IN with) (NP (DT a) (NN fork)))",
    ),
    "bones": Ambiguous(
        "(NP (PRP He))",
        "(VBD ate)",
        "(NP (DT the) (NN fish))",
        "(PP (IN with) (NP (DT the) (NNS bones)))",
    ),
    "garden": Ambiguous(
        "(NP (PRP She))",
        "(VBD painted)",
        "(NP (DT the) (NN house))",
        "(PP (IN in) (NP (DT the) (NN garden)))",
    ),
    "letter": Ambiguous(
        "(NP (PRP We))",
        "(VBP read)",
        "(NP (DT the) (NN letter))",
        "(PP (IN of) (NP (PRP$ your) (NN mother)))",
    ),
}


def _placed(tree: Tree) -> dict[str, Any]:
    """Return the constituents of a tree and their places, in font sizes."""
    spans = constituent_spans(tree)
    nodes = [Constituent(label=label, begin=begin, end=end, parent=parent) for label, begin, end, parent in spans]
    places = place_tree(
        ConstituencyFigure(nodes=nodes, words=tree.words), lambda text, size: _LETTER * size * len(text)
    )
    return {"nodes": spans, "places": dataclasses.asdict(places)}


def find_parser() -> str | None:
    """Find the first model that generates trees; None if there is none."""
    return next(filter(is_parser, available_models()), None)


def readings(translator: Translator, names: Iterable[str] = tuple(SENTENCES)) -> dict[str, Any]:
    """Score both readings of the sentences with a parser.

    Returns:
        For each by its name the `words`; for each reading its `nodes`, [label, first word, after the last word, index
        of the parent or -1], parents first, their `places`, and its `log_probability` in nats, all tokens and `</s>`
        included; and `best`, the reading that the beam search finds, or None if it finds another tree.
    """
    answer: dict[str, Any] = {}
    for name in names:
        sentence = SENTENCES[name]
        symbols = {reading: " ".join(to_symbols(tree)) for reading, tree in sentence.trees.items()}
        scores = translator.score([(sentence.text, each) for each in symbols.values()])
        best = translator.translate(sentence.text, beam=BEAM).text
        answer[name] = {
            "words": list(sentence.trees["verb"].words),
            "best": next((reading for reading, text in symbols.items() if text == best), None),
            "readings": {
                reading: _placed(sentence.trees[reading]) | {"log_probability": score}
                for reading, score in zip(symbols, scores, strict=True)
            },
        }
    return answer
