"""Results that the command `derived` can build from a model; add one to `BUILDERS`.

They are stored in `derived/` of the checkpoint, under the model's `weights_hash`.
"""

from __future__ import annotations

import argparse
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.contrast import FORM_NAMES, report
from transformer_core.cli.checkpoint.model_card import with_heads, with_prose_numbers, with_scores
from transformer_core.cli.training.history import build_history, read_probes
from transformer_core.cli.training.run_settings import RunSettings
from transformer_core.storage.measurements import json_file

if TYPE_CHECKING:
    from transformer_core.translator import Translator

PARTS = {"valid": "validation", "test": "test"}  # option -> the part that a set is called in the metrics
CARD_FILE = "README.md"
MIN_WORDS = 4  # of a sentence on which methods are compared
AGREEMENT_SENTENCES = 200

log = logging.getLogger(__name__)


class SkippedError(Exception):
    """Missing data of a result, in words for the user."""


@dataclass(kw_only=True)
class Inputs:
    """Inputs of builders.

    Args:
        checkpoint: The checkpoint's folder.
        options: Options of the command.
        device: Device of the model.
        metrics: All metrics of the model, with the results of earlier builders.
    """

    checkpoint: Path
    options: argparse.Namespace
    device: str
    metrics: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def translator(self) -> Translator:
        """Model, loaded when the first builder asks for it."""
        from transformer_core.translator import Translator

        return Translator.load(self.checkpoint, self.device)

    def with_known(self, part: str, values: Mapping[str, Any]) -> dict[str, bytes]:
        """Return the file of one part of the metrics; sets that are not measured now keep their numbers."""
        return {f"{part}.json": json_file({**self.metrics.get(part, {}), **values})}


@dataclass(frozen=True)
class Builder:
    """Builder of one result.

    Args:
        about: One line for the help.
        build: Returns contents by name of file, in `derived/`. Raises SkippedError.
        files: Names of its files.
        needs: Groups of options; at least one of each group must be given.
        beside: Whether its files belong to the checkpoint's own folder, as the model card does.
    """

    about: str
    build: Callable[[Inputs], Mapping[str, bytes]]
    files: tuple[str, ...]
    needs: tuple[tuple[str, ...], ...] = ()
    beside: bool = False

    def missing(self, options: argparse.Namespace) -> str:
        """Name the options that are missing; empty when none is."""
        lacking = [group for group in self.needs if not any(getattr(options, name) for name in group)]
        return ", ".join(" or ".join(f"--{name}" for name in group) for group in lacking)


def set_name(spec: str) -> str:
    """Return the name of a set: its file's, without endings."""
    return Path(spec.partition(",")[0]).name.split(".")[0]


def score_sets(translator: Translator, sets: Mapping[str, Sequence[str]], batch: int) -> dict[str, Any]:
    """Score every set, by its name.

    Args:
        translator: With the weights as they are stored.
        sets: `valid` and `test` -> files as `evaluate` reads them.
        batch: Lines translated together at most.
    """
    from transformer_core.data import is_treebank
    from transformer_core.evaluation.evaluate import TestSet, evaluate

    scores: dict[str, Any] = {}
    for part, specs in sets.items():
        for spec in specs:
            result = evaluate(translator, TestSet.read(spec), batch=batch)
            numbers, name = result.scores(), set_name(spec)
            scores[name] = {
                **numbers,
                "nll": None if numbers["perplexity"] is None else math.log(numbers["perplexity"]),
                "beam": translator.decoding.beam,
                "alpha": translator.decoding.alpha,
                "part": PARTS[part],
            }
            log.info("%s: BLEU %.1f, perplexity %.2f", name, result.bleu.value, result.perplexity.value)
            if is_treebank(spec):
                scores[name] |= _tree_scores(translator, spec, result.texts, batch)
                log.info("%s: F1 %.1f", name, scores[name]["bracketing"]["f1"])
    return scores


def _tree_scores(translator: Translator, spec: str, sequences: Sequence[str], batch: int) -> dict[str, Any]:
    """Score the brackets as `bracketing`, and where only trees were allowed, the paper's search as `free`."""
    from transformer_core.constituency_parser import ConstituencyParser, Parse, score_parses
    from transformer_core.data import read_treebank
    from transformer_core.parsing.bracketing import score_bracketing
    from transformer_core.parsing.sequences import to_tree
    from transformer_core.parsing.trees import right_branching

    gold = list(read_treebank(spec))
    repaired = (to_tree(text.split(), tree.words) for text, tree in zip(sequences, gold, strict=True))
    trivial = score_bracketing(gold, [right_branching(tree.words) for tree in gold])
    bracketing = score_parses(gold, [Parse(each.tree, each.repairs) for each in repaired])
    baseline = {"right_branching_f1": trivial.f1}
    scores = {"constrained": translator.decoding.constrained, "bracketing": bracketing | baseline}
    if translator.decoding.constrained:
        words = [tree.words for tree in gold]
        free = ConstituencyParser(translator).parse_all(words, constrained=False, batch=batch)
        scores["free"] = score_parses(gold, free) | baseline
    return scores


def _scores(inputs: Inputs) -> dict[str, bytes]:
    sets = {part: getattr(inputs.options, part) for part in PARTS}
    return inputs.with_known("scores", score_sets(inputs.translator, sets, inputs.options.batch))


def count_heads(translator: Translator, specs: Sequence[str], most: int) -> dict[str, Any]:
    """Count the heads that look, from `head_scores`, and those that survive the control, from `controls`.

    Empty without sentences. Warns of heads that do not look.

    Args:
        translator: With the weights as they are stored.
        specs: Validation sets, taken together.
        most: Pairs that count of each set, its first.
    """
    from transformer_core.analysis.head_scores import head_report, score_heads_of, shortcomings
    from transformer_core.atlas.controls import survivor_report
    from transformer_core.data import read_pairs
    from transformer_core.progress import tracked

    pairs = [pair for spec in specs for pair in islice(read_pairs(spec), most)]
    if not pairs:
        return {}
    report = head_report(score_heads_of(translator, tracked(pairs, unit="sentence")))
    for problem in shortcomings(report):
        log.warning("%s", problem)
    effects = survivor_report(translator, pairs, progress=lambda some: tracked(some, unit="sentence"))
    counts = {kind: {**report[kind], **each} for kind, each in effects.items()}
    return {**counts, "sentences": len(pairs), "sets": [set_name(spec) for spec in specs]}


def _heads(inputs: Inputs) -> dict[str, bytes]:
    counts = count_heads(inputs.translator, inputs.options.valid, inputs.options.head_pairs)
    if not counts:
        raise SkippedError("the validation sets hold no sentences")
    return {"heads.json": json_file(counts)}


def _forced(inputs: Inputs) -> dict[str, bytes]:
    """Measure the nats per token of given translations, with the decoder's mask and without."""
    from transformer_core.evaluation.evaluate import TestSet, perplexity

    nats = {}
    for spec in inputs.options.valid:
        test = TestSet.read(spec)
        pairs = [(source, first) for source, (first, *_) in zip(test.sources, test.references, strict=True)]
        nats[set_name(spec)] = {
            name: math.log(perplexity(inputs.translator.with_mask(causal), pairs, inputs.options.batch).value)
            for name, causal in (("masked", True), ("unmasked", False))
        }
    return inputs.with_known("forced", nats)


def _alignment(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.analysis.alignment import alignment_report, head_alignment_errors, read_gold
    from transformer_core.progress import tracked

    gold = list(read_gold(inputs.options.gold))
    if not gold:
        raise SkippedError(f"{inputs.options.gold} holds no sentences")
    errors = head_alignment_errors(inputs.translator, gold, lambda pairs: tracked(pairs, unit="sentence"))
    return {"alignment.json": json_file({**alignment_report(errors), "sentences": len(gold)})}


def _methods(inputs: Inputs) -> dict[str, bytes]:
    """Measure each method of attribution: as an aligner, and against leave-one-out."""
    from transformer_core.analysis.alignment import read_gold
    from transformer_core.analysis.attribution import METHODS, mean_agreement
    from transformer_core.analysis.method_alignment import method_counts, method_errors
    from transformer_core.data import read_pairs
    from transformer_core.progress import tracked

    translator, options = inputs.translator, inputs.options
    methods = [method for method in METHODS if options.slow or method != "integrated-gradients"]
    results: dict[str, Any] = {}
    gold = list(read_gold(options.gold)) if options.gold else []
    if gold:
        errors = method_errors(
            translator, gold, methods=methods, progress=lambda pairs: tracked(pairs, unit="sentence")
        )
        results["alignment"] = {
            "aer": {name: round(value, 4) for name, value in errors.items()},
            "sentences": len(gold),
        }
    if len(gold) > 1:
        counts = method_counts(translator, gold, aligners=("norm", "attention"))
        results["norm_minus_attention"] = {
            name: [round(value, 4) for value in each["norm"].minus(each["attention"])] for name, each in counts.items()
        }
    sources = (source for spec in options.valid for source, _ in read_pairs(spec))
    sentences = list(islice((each for each in sources if len(each.split()) >= MIN_WORDS), AGREEMENT_SENTENCES))
    if sentences:
        taus = mean_agreement(translator, tracked(sentences, unit="sentence"), methods=methods)
        results["agreement"] = {"tau": {name: round(tau, 4) for name, tau in taus.items()}, "sentences": len(sentences)}
    if not results:
        raise SkippedError("the sets hold no sentences")
    return inputs.with_known("methods", results)


def _probes(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.analysis.contrast import FORMS, shares
    from transformer_core.progress import tracked

    reports = {}
    for form in FORM_NAMES:
        if path := getattr(inputs.options, form):
            contrasts = list(FORMS[form](path))
            if not contrasts:
                raise SkippedError(f"{path} holds no questions")
            reports[form] = report(shares(inputs.translator, contrasts, lambda some: tracked(some, unit="batch")))
    return inputs.with_known("probes", reports)


def _history(inputs: Inputs) -> dict[str, bytes]:
    options, run = inputs.options, Path(inputs.options.run)
    settings = RunSettings.load(run)
    if settings.model != inputs.translator.config:
        raise SkippedError(f"{run} trained a model of another shape")
    history = build_history(
        run,
        settings,
        read_probes("--sentences", options.sentences),
        valid=options.valid[0] if options.valid else None,
        valid_sentences=options.valid_sentences,
        gold=options.gold,
        device=inputs.device,
    )
    return history.derived_files()


def _atlas(inputs: Inputs) -> dict[str, bytes]:
    from transformer_core.atlas.storage import FILE, load_atlas, to_bytes

    return {FILE: to_bytes(load_atlas(Path(inputs.options.atlas), inputs.translator.checkpoint_hash))}


def _card(inputs: Inputs) -> dict[str, bytes]:
    """Renew the numbers in the model card: scores, heads, alignment, answers; all words stay."""
    from transformer_core.training.head_penalty import is_penalised

    scores, heads, facts = (inputs.metrics.get(part, {}) for part in ("scores", "heads", "training"))
    if not scores:
        raise SkippedError("the checkpoint has no scores")
    try:
        card = (inputs.checkpoint / CARD_FILE).read_text(encoding="utf-8")
        card = with_prose_numbers(with_scores(card, scores), inputs.metrics)
        if heads:
            card = with_heads(card, heads, penalised=is_penalised(inputs.checkpoint, facts))
        return {CARD_FILE: card.encode()}
    except (OSError, ValueError) as error:
        raise SkippedError(f"{CARD_FILE}: {error}") from error


_HISTORY_FILES = ("history/history.json", "history/attention.safetensors")

BUILDERS = {  # in this order: the card shows the scores
    "scores": Builder("BLEU, chrF and perplexity of each set", _scores, ("scores.json",), (("valid", "test"),)),
    "heads": Builder(
        "whether the heads look, and survive the control, by kind and layer", _heads, ("heads.json",), (("valid",),)
    ),
    "forced": Builder(
        "negative log-likelihood with and without the decoder's mask", _forced, ("forced.json",), (("valid",),)
    ),
    "alignment": Builder(
        "alignment error rate of every encoder-decoder head", _alignment, ("alignment.json",), (("gold",),)
    ),
    "methods": Builder(
        "alignment error of each method of attribution, and its agreement with leave-one-out",
        _methods,
        ("methods.json",),
        (("gold", "valid"),),
    ),
    "probes": Builder("share of correct answers to contrastive questions", _probes, ("probes.json",), (FORM_NAMES,)),
    "history": Builder(
        "attention at every snapshot of the training", _history, _HISTORY_FILES, (("run",), ("sentences",))
    ),
    "atlas": Builder("the head atlas, as `atlas` wrote it", _atlas, ("atlas.json",), (("atlas",),)),
    "card": Builder(
        "the numbers in README.md: scores, heads, alignment, contrastive questions", _card, (CARD_FILE,), beside=True
    ),
}
