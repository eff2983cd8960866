"""Constituency parser (Section 6.3): always one phrase-structure tree over exactly the words of each sentence."""

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
    """Parse of a sentence.

    Args:
        tree: Over all words, in order and in the spelling of the input.
        repairs: Count of each repair of the generated symbols, see `sequences.REPAIRS`.
        translation: Symbols, scores, search and attention maps; None if the sentence was not parsed.
        problem: The reason; then the tree has no constituents.
    """

    tree: Tree
    repairs: Mapping[str, int] = field(default_factory=dict)
    translation: Translation | None = None
    problem: str = ""

    @property
    def is_well_formed(self) -> bool:
        """Whether the model generated this tree without repairs."""
        return not self.problem and not self.repairs


def count_repairs(parses: Iterable[Parse]) -> Counter[str]:
    """Count the repairs of all parses."""
    total: Counter[str] = Counter()
    for parse in parses:
        total.update(parse.repairs)
    return total


def score_parses(gold: Sequence[Tree], parses: Sequence[Parse]) -> dict[str, Any]:
    """Return the entries of a report or of a checkpoint's metrics: labelled bracketing in percent, and repairs."""
    scores = score_bracketing(gold, [parse.tree for parse in parses])
    return {
        "f1": scores.f1,
        "f1_95": list(scores.f1_interval),
        "precision": scores.precision,
        "recall": scores.recall,
        "exact_match": scores.exact_match,
        "sentences": scores.sentences,
        "length_errors": scores.errors,
        "well_formed": 100.0 * sum(parse.is_well_formed for parse in parses) / len(parses),
        "repairs": dict(count_repairs(parses).most_common()),
    }


class ConstituencyParser:
    """Translator from words to brackets.

    Args:
        translator: A model trained on trees.

    Raises:
        NotAParser: Its vocabulary is not a parser's.
    """

    def __init__(self, translator: Translator) -> None:
        self.translator = translator
        self.symbols = SymbolTable.from_tokenizer(translator.tokenizer)

    def parse(
        self, sentence: str, *, beam: int | None = None, alpha: float | None = None, constrained: bool | None = None
    ) -> Parse:
        """Parse one sentence of words separated by blanks; see `parse_all`."""
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
        """Parse sentences in batches of similar lengths; return the parses in order.

        Args:
            sentences: Words of each, at least one, tokenised as in a treebank: `does n't`. -LRB- means a bracket.
            beam: Hypotheses kept; None takes the checkpoint's default.
            alpha: Strength of the length penalty; None takes the checkpoint's default.
            constrained: Whether the search generates only trees; None takes the checkpoint's default.
            batch: Largest number of sentences in a batch.
            on_progress: Called with the number of sentences just done.

        Raises:
            ValueError: A sentence has no words.
        """
        words = [tuple(map(unescaped, sentence)) for sentence in sentences]
        encodings: dict[int, Encoding] = {}
        parses: dict[int, Parse] = {}
        for number, each in enumerate(words):
            try:
                encodings[number] = self._encode(each)
            except SourceTooLong as error:
                tree = flat_tree(each).respelled(sentences[number])
                parses[number] = Parse(tree, problem=f"not parsed: {error}")
        on_progress(len(parses))
        for numbers in batches_by_length({number: len(each) for number, each in encodings.items()}, batch):
            sources = [encodings[i].ids for i in numbers]
            results = self.translator.search(sources, beam=beam, alpha=alpha, constrained=constrained)
            for number, result in zip(numbers, results, strict=True):
                translation = self.translator.translation(" ".join(words[number]), encodings[number], result)
                repaired = to_tree(translation.text.split(), words[number])
                tree = repaired.tree.respelled(sentences[number])
                parses[number] = Parse(tree, repaired.repairs, translation)
            on_progress(len(numbers))
        return [parses[number] for number in range(len(words))]

    def _encode(self, words: Sequence[str]) -> Encoding:
        """Encode a sentence. Raises SourceTooLong if it or the smallest tree over it exceeds a limit."""
        if len(words) > MAX_WORDS:
            raise SourceTooLong(len(words), MAX_WORDS)
        encoding = self.translator.encode(" ".join(words))
        room = len(encoding) + self.translator.decoding.extra_length
        longest = self.translator.config.max_length
        room = room if longest is None else min(room, longest)
        if encoding.ids and room < least_symbols(len(words)):
            raise SourceTooLong(len(words), room - least_symbols(0))
        return encoding
