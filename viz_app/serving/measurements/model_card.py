"""Content of a checkpoint's `metrics.json`, read once into one checked value.

The author of the checkpoint wrote the file, so nothing in it is trusted: parts of a wrong form are left out and named,
and all others count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import Head, head_named
from viz_app.serving.checked_json import Count, Number, Parts, Percent, Share, converted
from viz_app.serving.measurements.method_scores import MethodAgreement, MethodErrors
from viz_app.serving.measurements.parsing_scores import ParsingScores, parsing_scores

Convention = Literal["output", "input"]
CONVENTIONS: tuple[Convention, ...] = ("output", "input")
Fact = bool | str | Number

_Code = Annotated[str, Meta(pattern=r"\A[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*\Z")]  # of BCP 47, as far as models need it
_HeadName = Annotated[str, Meta(pattern=r"\Across\.[1-9][0-9]{0,3}\.[1-9][0-9]{0,3}\Z")]
_Row = Annotated[tuple[Share, ...], Meta(min_length=1)]
_DEEPEST = 8  # scores may be grouped, but a file may not choose how deep we look
_LONGEST = 100  # characters of the name of a set
_EVERYDAY = "tatoeba"
# Content of a test set by the start of its name: a label of the table [model].
_HOLDS = {
    "tatoeba": "everyday",
    "multi30k": "captions",
    "chat": "chat",
    "ntrex": "news",
    "newstest": "news",
    "flores": "encyclopedia",
    "generaltest": "mixed",
}
# Keys that only group other keys and say nothing to a reader.
_GROUPS = frozenset({"bleu", "evaluation", "metrics", "results", "scores", "test", "tests"})
# Chance of a right guess in the probes of `contrast`.
_CHANCE = {"lingeval": 1 / 2, "contracat": 1 / 3}
_ONLY_ES = ("event", "pleonastic")  # templates of ContraCAT in which the pronoun takes up no noun


class Languages(Struct, frozen=True):
    """Languages that a model reads and writes: BCP 47 codes; empty if unknown."""

    source: _Code = ""
    target: _Code = ""


class HeadCounts(Struct, frozen=True):
    """Counts of one kind's heads that look, rest, or have a fixed offset; see `transformer_core.analysis.head_scores`.

    Args:
        heads: Number of heads.
        looking: Heads whose keys depend on the query.
        resting: Heads with more than half of their weight on `<s>`, `</s>` and punctuation.
        fixed_offset: Heads that look at a token equally far away from nearly every query.
        information: Information of each head, by layer: 0 if all rows are alike, 1 if each query has its own key.
    """

    heads: Count
    looking: Count
    resting: Count
    fixed_offset: Count
    information: Annotated[tuple[Annotated[tuple[Number, ...], Meta(min_length=1)], ...], Meta(min_length=1)]


class _Head(Struct):
    """Head of encoder-decoder attention: its name; in metrics of before it, the indices of layer and head."""

    head: Count | _HeadName
    layer: Count = 0

    @property
    def place(self) -> Head:
        return head_named(self.head) if isinstance(self.head, str) else Head("cross", self.layer, self.head)


class _Answers(Struct):
    right: Share
    asked: Count


@dataclass(frozen=True)
class Score:
    """Quality measured on one test set.

    Args:
        name: The test set.
        bleu: 0 to 100.
        chrf: 0 to 100, or None.
        signature: Signature of sacreBLEU, which makes the numbers comparable; empty when unknown.
        development: Whether settings were chosen on it; then it proves less than a test set.
    """

    name: str
    bleu: float
    chrf: float | None
    signature: str
    development: bool = False

    @property
    def content(self) -> str | None:
        """Key of the label that describes its sentences; None for an unknown set."""
        return next((label for start, label in _HOLDS.items() if self.name.lower().startswith(start)), None)

    @property
    def is_everyday(self) -> bool:
        """Whether its sentences are everyday ones."""
        return _EVERYDAY in self.name.lower()

    @property
    def is_unseen_only(self) -> bool:
        """Whether it leaves out sentences whose reference occurs in the training text."""
        return self.name.endswith("-unseen")


@dataclass(frozen=True)
class AlignmentErrors:
    """Alignment errors of each head of encoder-decoder attention.

    Args:
        rates: Alignment error rate, 0 to 1, by layer and head.
        sentences: Hand-linked sentences of the measurement; None when unknown.
    """

    rates: tuple[tuple[float, ...], ...]
    sentences: int | None

    @property
    def best(self) -> Head:
        """The head with the fewest errors."""
        places = [Head("cross", layer, head) for layer, row in enumerate(self.rates) for head in range(len(row))]
        return min(places, key=lambda place: self.rates[place.layer][place.head])


@dataclass(frozen=True)
class ContrastScores:
    """Share of questions in which the model found the right translation likelier than one with a single error.

    Args:
        about: Subject of the questions: name of a group.
        asked: Number of questions.
        right: Share of right answers, 0 to 1.
        chance: Share of right answers by guessing, 0 to 1.
    """

    about: str
    asked: int
    right: float
    chance: float


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    """Scores and facts of a checkpoint; missing measurements are empty.

    Args:
        languages: Source and target language.
        training: Facts of its training: plain values by name.
        scores: All measurements with a BLEU, at any depth, in the order of the file.
        heads: Whether the heads look, by kind of attention.
        head_sentences: Sentence pairs of that measurement; None when unknown.
        aligners: Alignment error of each head, by whether a row of a map is named after the token that it produces
            (output) or reads (input).
        best_head: The head that aligns best by outputs.
        method_errors: Alignment errors of the attribution methods.
        method_agreement: Agreement of the attribution methods with leave-one-out.
        answers: Questions of the known probes, grouped by subject; the largest group first.
        parses: Whether it was trained on trees, so that its output is a tree.
        parsing: The quality of its trees, by test set.
        parsing_free: Quality of the trees of the paper's search, if the model's own search allows only trees.
        unreadable: Parts of the file with a wrong form, such as "alignment.best_head".
    """

    languages: Languages | None = None
    training: Mapping[str, Fact] = field(default_factory=dict)
    scores: tuple[Score, ...] = ()
    heads: Mapping[Kind, HeadCounts] = field(default_factory=dict)
    head_sentences: int | None = None
    aligners: Mapping[Convention, AlignmentErrors] = field(default_factory=dict)
    best_head: Head | None = None
    method_errors: MethodErrors | None = None
    method_agreement: MethodAgreement | None = None
    answers: tuple[ContrastScores, ...] = ()
    parses: bool = False
    parsing: Mapping[str, ParsingScores] = field(default_factory=dict)
    parsing_free: Mapping[str, ParsingScores] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()

    @classmethod
    def from_metrics(cls, metrics: Mapping[str, Any]) -> ModelCard:
        """Read the content of `metrics.json`; never fails."""
        parts = Parts(metrics)
        best = parts.get(_Head, "alignment", "best_head")
        return cls(
            languages=parts.get(Languages, "languages"),
            training=_facts(parts.get(dict[str, Any], "training") or {}),
            scores=tuple(_scores(metrics, (), parts)),
            heads=dict(_heads(parts)),
            head_sentences=parts.get(Count, "heads", "sentences"),
            aligners=dict(_aligners(parts)),
            best_head=best and best.place,
            method_errors=parts.get(MethodErrors, "methods", "alignment"),
            method_agreement=parts.get(MethodAgreement, "methods", "agreement"),
            answers=_answers(parts),
            parses=parts.get(str, "task") == "parsing",
            parsing=dict(parsing_scores(parts, "bracketing")),
            parsing_free=dict(parsing_scores(parts, "free")),
            unreadable=tuple(dict.fromkeys(parts.unreadable)),
        )

    @property
    def main_score(self) -> Score | None:
        """The score on everyday sentences, else on the first other set; test sets come first. None without any."""
        return min(self.scores, key=lambda score: (not score.is_everyday, score.development), default=None)

    @property
    def trained_tokens(self) -> int | None:
        """Tokens of the longest sentence in training; None if neither a fact nor a preset names it."""
        from transformer_core.paper.presets import PRESETS

        preset = PRESETS.get(str(self.training.get("preset")))
        tokens = self.training_number("max_tokens", preset.training.max_tokens if preset else 0)
        return int(tokens) or None

    def training_number(self, name: str, default: float) -> float:
        """Return a fact of the training that is a number of at least 0; the default if there is none."""
        value = self.training.get(name)
        return default if isinstance(value, bool | str) or value is None or value < 0 else value


def _facts(training: Mapping[str, Any]) -> dict[str, Fact]:
    facts = ((name, converted(value, Fact)) for name, value in training.items())
    return {name: value for name, value in facts if value is not None}


def _heads(parts: Parts) -> Iterator[tuple[Kind, HeadCounts]]:
    for kind in KINDS:
        counts = parts.get(HeadCounts, "heads", kind)
        if counts and len({len(row) for row in counts.information}) > 1:
            parts.note("heads", kind)
        elif counts:
            yield kind, counts


def _aligners(parts: Parts) -> Iterator[tuple[Convention, AlignmentErrors]]:
    sentences = parts.get(Count, "alignment", "sentences")
    for convention in CONVENTIONS:
        path = "alignment", "aer", convention
        rates = parts.get(Annotated[tuple[_Row, ...], Meta(min_length=1)], *path)
        if rates and len({len(row) for row in rates}) > 1:
            parts.note(*path)
        elif rates:
            yield convention, AlignmentErrors(rates, sentences)


def _answers(parts: Parts) -> tuple[ContrastScores, ...]:
    right: defaultdict[tuple[str, float], float] = defaultdict(float)
    asked: defaultdict[tuple[str, float], int] = defaultdict(int)
    for probe, chance in _CHANCE.items():
        for name in parts.get(dict[str, Any], "probes", probe, "groups") or ():
            group = parts.get(_Answers, "probes", probe, "groups", name)
            if group and group.asked:
                about = _about(probe, name), chance
                right[about] += group.right * group.asked
                asked[about] += group.asked
    put = (
        ContrastScores(about, count, right[about, chance] / count, chance) for (about, chance), count in asked.items()
    )
    return tuple(sorted(put, key=lambda one: (-one.chance, -one.asked)))


def _about(probe: str, group: str) -> str:
    """Return the subject of a group of questions: LingEval names it first, ContraCAT nests its templates."""
    if probe == "lingeval":
        return group.partition(".")[0]
    return "pronoun_es" if any(part in _ONLY_ES for part in group.split("/")) else "pronoun"


def _scores(value: Mapping[str, Any], path: tuple[str, ...], parts: Parts) -> Iterator[Score]:
    if "bleu" in value and "bracketing" not in value:  # BLEU of brackets says nothing to a reader
        bleu = _measurement(value["bleu"])
        if bleu is not None:
            named = [name for name in path if name not in _GROUPS]
            own = value["bleu"] if isinstance(value["bleu"], Mapping) else value
            signature = _encodable(own.get("signature") or value.get("bleu_signature") or "")
            chrf, development = _measurement(value.get("chrf")), value.get("part") == "validation"
            yield Score(_encodable(" ".join(named)[:_LONGEST]) or "test", bleu, chrf, signature, development)
        elif not isinstance(value["bleu"], Mapping):  # one may group the scores of several sets
            parts.note(*path, "bleu")
    for name, inner in value.items():
        if isinstance(inner, Mapping) and len(path) < _DEEPEST:
            yield from _scores(inner, (*path, name), parts)


def _encodable(text: object) -> str:
    return str(text).encode(errors="replace").decode()


def _measurement(value: object) -> float | None:
    inner = value.get("value", value.get("score")) if isinstance(value, Mapping) else value
    number: float | None = converted(inner, Percent)
    return number
