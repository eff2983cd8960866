"""Sentences in, phrase-structure trees out (Section 6.3): one tree over exactly the words of each sentence, always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from transformer_core.evaluation.evaluate import batches_by_length
from transformer_core.parsing.automaton import least_symbols
from transformer_core.parsing.bracketing import score_bracketing
from transformer_core.parsing.sequences import to_tree
from transformer_core.parsing.treebank import MAX_WORDS
from transformer_core.parsing.trees import Tree, flat_tree, unescaped
from transformer_core.parsing.vocabulary import SymbolTable
from transformer_core.text.tokenizer import Encoding
from transformer_core.translator import SourceTooLong, Translation, Translator


@dataclass(frozen=True)
class Parse:
    """The tree of a sentence.

    Args:
        tree: Over all words, in order.
        repairs: Changes to the symbols that the model generated, by name: see `sequences.REPAIRS`.
        translation: Symbols, scores, the search and the attention maps; None when the model did not read the sentence.
        problem: Why it did not; the tree has no constituents then.
    """

    tree: Tree
    repairs: Mapping[str, int] = field(default_factory=dict)
    translation: Translation | None = None
    problem: str = ""

    @property
    def is_well_formed(self) -> bool:
        """Whether the model generated this tree without any repair."""
        return not self.problem and not self.repairs


def count_repairs(parses: Iterable[Parse]) -> Counter[str]:
    """Count each repair over all parses."""
    total: Counter[str] = Counter()
    for parse in parses:
        total.update(parse.repairs)
    return total


def score_parses(gold: Sequence[Tree], parses: Sequence[Parse]) -> dict[str, Any]:
    """Return the scores for a report or a checkpoint's metrics: labelled bracketing, in percent, and repairs."""
    found = score_bracketing(gold, [parse.tree for parse in parses])
    return {
        "f1": found.f1,
        "f1_95": list(found.f1_interval),
        "precision": found.precision,
        "recall": found.recall,
        "exact_match": found.exact_match,
        "sentences": found.sentences,
        "length_errors": found.errors,
        "well_formed": 100.0 * sum(parse.is_well_formed for parse in parses) / len(parses),
        "repairs": dict(count_repairs(parses).most_common()),
    }


class ConstituencyParser:
    """A translator from words to brackets.

    Args:
        translator: A model that was trained on trees.

    Raises:
        NotAParser: It was trained on something else.
    """

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.symbols = SymbolTable.from_tokenizer(translator.tokenizer)

    def parse(
        self, sentence: str, *, beam: int | None = None, alpha: float | None = None, constrained: bool | None = None
    ) -> Parse:
        """Parse one sentence, its words with blanks between; see `parse_all`."""
        return self.parse_all([sentence.split()], beam=beam, alpha=alpha, constrained=constrained)[0]

    def parse_all(
        self,
        sentences: Sequence[Sequence[str]],
        *,
        beam: int | None = None,
        alpha: float | None = None,
        constrained: bool | None = None,
        batch: int = 8,
        on_progress: Callable[[int], object] = lambda sentences: None,
    ) -> list[Parse]:
        """Parse sentences, similar lengths together; the trees come back in order.

        Args:
            sentences: The words of each, one at least, split as in a treebank: `does n't`. -LRB- means a bracket.
            beam: Hypotheses kept; None takes the checkpoint's default.
            alpha: Strength of the length penalty; None takes the checkpoint's default.
            constrained: Whether the search generates only trees; None takes the checkpoint's default.
            batch: Sentences that are parsed together at most.
            on_progress: Called with the number of sentences just done.

        Raises:
            ValueError: A sentence has no words.
        """
        words = [tuple(map(unescaped, sentence)) for sentence in sentences]
        encodings: dict[int, Encoding] = {}
        found: dict[int, Parse] = {}
        for number, each in enumerate(words):
            try:
                encodings[number] = self._encode(each)
            except SourceTooLong as error:
                found[number] = Parse(flat_tree(each), problem=f"not parsed: {error}")
        on_progress(len(found))
        for numbers in batches_by_length({number: len(each) for number, each in encodings.items()}, batch):
            sources = [encodings[i].ids for i in numbers]
            results = self.translator.search(sources, beam=beam, alpha=alpha, constrained=constrained)
            for number, result in zip(numbers, results, strict=True):
                translation = self.translator.translation(" ".join(words[number]), encodings[number], result)
                repaired = to_tree(translation.text.split(), words[number])
                found[number] = Parse(repaired.tree, repaired.repairs, translation)
            on_progress(len(numbers))
        return [found[number] for number in range(len(words))]

    def _encode(self, words: Sequence[str]) -> Encoding:
        """Return the tokens of a sentence, if it and the smallest tree over it are within their limits."""
        if len(words) > MAX_WORDS:
            raise SourceTooLong(len(words), MAX_WORDS)
        encoding = self.translator.encode(" ".join(words))
        room = len(encoding) + self.translator.decoding.extra_length
        longest = self.translator.config.max_length
        room = room if longest is None else min(room, longest)
        if encoding.ids and room < least_symbols(len(words)):
            raise SourceTooLong(len(words), room - least_symbols(0))
        return encoding
