"""Translation of many lines, exactly one for each, and the scores of a test set.

Lines of similar lengths share a batch, and the results come back in the order of the input.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from transformer_core.data import DataError, read_lines, read_pairs
from transformer_core.decoding.beam import Hypothesis
from transformer_core.evaluation.metrics import Score, bleu, chrf
from transformer_core.translator import SourceTooLong, Translator

_MAX_UNKNOWN = 20  # characters that are listed
_TOKENS_PER_LINE = 128  # a batch of n lines has at most n times as many padded tokens, or a single line


@dataclass(frozen=True)
class Candidate:
    """One of several translations of a line.

    Args:
        text: Without line breaks.
        score: Log-probability divided by the length penalty.
        log_probability: In nats, `</s>` included when finished.
        finished: False when it was cut off at the length limit.
    """

    text: str
    score: float
    log_probability: float
    finished: bool


@dataclass(frozen=True)
class TranslatedLine:
    """Result of one line.

    Args:
        text: Its translation, without line breaks; empty when there is none.
        problem: Why there is none, or what was wrong with the line; empty when all is well.
        candidates: The best translations, best first, as many as were asked for; the first one is `text`.
    """

    text: str
    problem: str = ""
    candidates: tuple[Candidate, ...] = ()


def translate_lines(
    translator: Translator,
    lines: Sequence[str],
    *,
    beam: int | None = None,
    alpha: float | None = None,
    batch: int = 32,
    nbest: int = 0,
    on_progress: Callable[[int], object] = lambda lines: None,
) -> list[TranslatedLine]:
    """Translate lines of any content; one result for each, in order.

    Args:
        translator: Model and vocabulary.
        lines: An empty one gives an empty translation, and so does one that is too long, with its problem.
        beam: Hypotheses kept; None takes the checkpoint's default.
        alpha: Strength of the length penalty; None takes the checkpoint's default.
        batch: Lines that are translated together at most.
        nbest: Candidates to return with each line, at most `beam`.
        on_progress: Called with the number of lines just done.
    """
    results = [TranslatedLine("")] * len(lines)
    texts: dict[int, str] = {}
    lengths: dict[int, int] = {}
    for number, line in enumerate(lines):
        text = _clean(line)
        problem = "" if text == line else "lone surrogates are not characters and became question marks"
        try:
            encoding = translator.encode(text)
            lengths[number], texts[number] = len(encoding), text
            if unknown := "".join(encoding.unknown_characters(text)[:_MAX_UNKNOWN]):
                problem = problem or f"not in the vocabulary, read as <unk>: {unknown!r}"
        except SourceTooLong as error:
            problem = f"not translated: {error}"
        results[number] = TranslatedLine("", problem)
    on_progress(len(lines) - len(texts))
    for numbers in batches_by_length(lengths, batch):
        translations = translator.translate_batch([texts[number] for number in numbers], beam=beam, alpha=alpha)
        for number, translation in zip(numbers, translations, strict=True):
            candidates = tuple(_candidate(translator, hypothesis) for hypothesis in translation.hypotheses[:nbest])
            results[number] = TranslatedLine(_one_line(translation.text), results[number].problem, candidates)
        on_progress(len(numbers))
    return results


def _clean(text: str) -> str:
    """Replace lone surrogates, which SentencePiece cannot read."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _one_line(text: str) -> str:
    return " ".join(text.splitlines())


def _candidate(translator: Translator, hypothesis: Hypothesis) -> Candidate:
    text = _one_line(translator.tokenizer.decode(hypothesis.ids))
    return Candidate(text, hypothesis.score, hypothesis.log_probability, hypothesis.finished)


def batches_by_length(lengths: dict[int, int], batch: int) -> list[list[int]]:
    """Group numbers of lines into batches, the longest lines first, so that memory runs out at the start or never.

    Args:
        lengths: Tokens of each line by its number.
        batch: Lines of a batch at most.
    """
    batches: list[list[int]] = []
    room = 0
    for number in sorted(lengths, key=lambda number: -lengths[number]):
        if not batches or len(batches[-1]) == room:
            batches.append([])
            room = min(batch, max(1, batch * _TOKENS_PER_LINE // (lengths[number] + 1)))
        batches[-1].append(number)
    return batches


@dataclass(frozen=True)
class TestSet:
    """Sentences with reference translations.

    Args:
        sources: Sentences.
        references: For each sentence its references, one at least.
    """

    __test__ = False  # pytest takes every class whose name starts with Test for tests

    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @classmethod
    def read(cls, spec: str | Path, *, target_column: int = 1, references: int | None = 1) -> TestSet:
        """Read a test set.

        Args:
            spec: File, as for `read_pairs`: `.tsv`, `.tsv.xz`, `.tsv.gz`, or two plain files `test.en,test.de`.
            target_column: Column of a tsv that holds the first reference, counted from 0; the source is column 0.
            references: Columns that hold references, from `target_column` on; None takes all that a line has. A line
                may have fewer, but one at least.

        Raises:
            DataError: A file cannot be read, a line has too few columns, or there are no lines.
        """
        if references == 1:
            pairs: list[tuple[str, tuple[str, ...]]] = [
                (source, (target,)) for source, target in read_pairs(spec, target_column)
            ]
        else:
            last = None if references is None else target_column + references
            pairs = []
            for number, line in enumerate(read_lines(Path(spec)), start=1):
                columns = line.split("\t")
                row_references = tuple(column for column in columns[target_column:last] if column)
                if not row_references:
                    raise DataError(f"{spec}, line {number}: no reference from column {target_column} on")
                pairs.append((columns[0], row_references))
        if not pairs:
            raise DataError(f"{spec} has no sentences")
        sources, targets = zip(*pairs, strict=True)
        return cls(sources, targets)

    def unseen(self, training: Iterable[str | Path]) -> TestSet:
        """Return the set without lines whose reference occurs verbatim among the targets of training text.

        Such lines favour models that memorise sentences, even if the sources are new.

        Args:
            training: File, as for `read_pairs`.

        Raises:
            DataError: A file cannot be read, or no line is left.
        """
        seen = {target for spec in training for _, target in read_pairs(spec)}
        pairs = zip(self.sources, self.references, strict=True)
        unseen_pairs = [(source, references) for source, references in pairs if seen.isdisjoint(references)]
        if not unseen_pairs:
            raise DataError("all references of the test set occur in the training text")
        sources, targets = zip(*unseen_pairs, strict=True)
        return TestSet(sources, targets)


@dataclass(frozen=True)
class Perplexity:
    """Perplexity of a model on given translations.

    Args:
        value: exp(negative log-likelihood / tokens); NaN when there is nothing to read.
        tokens: Tokens of all translations, `</s>` included, but without the token of a language, which is given.
        left_out: Pairs that were too long.
        nats_per_character: The same negative log-likelihood, in nats for each character of the translations, by which
            models of different vocabularies compare; NaN when there is no character to read.
    """

    value: float
    tokens: int
    left_out: int
    nats_per_character: float


@dataclass(frozen=True)
class Evaluation:
    """Translations and scores of a test set.

    Args:
        lines: The translation of each sentence.
        bleu: Corpus BLEU.
        chrf: Corpus chrF2.
        perplexity: Of the first references.
        seconds: Time of the translation.
    """

    lines: tuple[TranslatedLine, ...]
    bleu: Score
    chrf: Score
    perplexity: Perplexity
    seconds: float

    @property
    def texts(self) -> list[str]:
        """The translations alone."""
        return [line.text for line in self.lines]

    def scores(self) -> dict[str, Any]:
        """Return the scores for a report or a checkpoint's metrics; None for NaN, which JSON does not have."""
        return {
            "bleu": self.bleu.value,
            "signature": self.bleu.signature,
            "chrf": self.chrf.value,
            "chrf_signature": self.chrf.signature,
            "perplexity": finite(self.perplexity.value),
            "tokens": self.perplexity.tokens,
            "sentences": len(self.lines),
        }


def finite(value: float) -> float | None:
    """Return the value; None for NaN and infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


def evaluate(
    translator: Translator,
    test: TestSet,
    *,
    beam: int | None = None,
    alpha: float | None = None,
    batch: int = 32,
    on_progress: Callable[[int], object] = lambda lines: None,
) -> Evaluation:
    """Translate a test set and compare with its references; options as for `translate_lines`."""
    started = time.monotonic()
    lines = translate_lines(translator, test.sources, beam=beam, alpha=alpha, batch=batch, on_progress=on_progress)
    seconds = time.monotonic() - started
    texts = [line.text for line in lines]
    columns = by_reference(test.references)
    firsts = [(source, each[0]) for source, each in zip(test.sources, test.references, strict=True)]
    return Evaluation(
        tuple(lines), bleu(texts, columns), chrf(texts, columns), perplexity(translator, firsts, batch), seconds
    )


def perplexity(translator: Translator, pairs: Sequence[tuple[str, str]], batch: int = 32) -> Perplexity:
    """Return the perplexity of given translations: exp of the mean negative log-likelihood, without label smoothing.

    Args:
        translator: Model and vocabulary.
        pairs: Sources and translations; a pair that is too long is left out and counted.
        batch: Pairs that are read together at most.
    """
    lengths: dict[int, int] = {}
    readable: dict[int, tuple[str, str]] = {}
    tokens = characters = 0
    for number, pair in enumerate(pairs):
        source, target = (_clean(text) for text in pair)
        try:
            ids = translator.encode_target(target).ids
            length = len(ids) + 1  # and </s>
            lengths[number] = max(len(translator.encode(source)), length)
        except SourceTooLong:
            continue
        readable[number] = (source, target)
        # The token of a language is given, so its log-probability is 0.
        tokens += length - (ids[:1] == (translator.tokenizer.special.forced_bos,))
        characters += len(target)
    total = 0.0
    for numbers in batches_by_length(lengths, batch):
        total -= sum(translator.score([readable[number] for number in numbers]))
    value = math.exp(min(total / tokens, 700.0)) if tokens else math.nan
    return Perplexity(value, tokens, len(pairs) - len(readable), total / characters if characters else math.nan)


def by_reference(references: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a list of sentences for each reference, as sacreBLEU takes them."""
    longest = max(map(len, references))
    # sacreBLEU takes None for "this sentence has no such reference", which its types do not say.
    columns = [[each[i] if i < len(each) else None for each in references] for i in range(longest)]
    return cast("list[list[str]]", columns)
