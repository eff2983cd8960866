"""Translate or parse a test set and score it against reference translations or trees.

Prints a table, then one line of JSON with BLEU, chrF and their sacreBLEU signatures; programs need only
that line: `... | tail -n 1`.

perplexity is per token of the first reference, </s> included, without label smoothing. It depends on
the vocabulary; compare models with different vocabularies by nats_per_character. --compare also
translates with a second checkpoint and tests the difference with sacreBLEU's paired bootstrap
(1,000 samples): p below 0.05 is usually called significant.

heads tells whether the heads look, over the first --heads pairs: a head looks when its keys depend on
the query (information above 0.15), rests when more than half of its weight is on <s>, </s> and
punctuation, and has a fixed offset when 80 % of its queries look equally far away. median_divergence
is how much two heads of a layer differ, in nats. --head-effects counts the heads that survive the
control: the references lose more log-probability when the head gives its mean output than with a random
vector as long as this change, by a paired test over sentences (docs/atlas.md). --gold adds the best
cross head's alignment error.

--task parsing parses the sentences of a treebank instead: labelled precision, recall and F1 as evalb
computes them with COLLINS.prm, with a 95 % bootstrap interval; exact match; the share of sequences that
are trees without repair; and F1 of right-branching trees, a baseline.

Example:
  python -m transformer_core evaluate --checkpoint checkpoints/en-de --test test.en-de.tsv.xz
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    UsageError,
    check_task,
    checkpoint_names,
    counted,
    load_translator,
    write_scores,
    write_summary,
)
from transformer_core.cli.parse import load_parser, warn_of_problems
from transformer_core.config import ModelConfig
from transformer_core.storage.bundled_models import find_checkpoint

if TYPE_CHECKING:
    from transformer_core.evaluation.evaluate import Evaluation, TestSet
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)

# Options of translations alone, with their defaults.
_OF_TRANSLATION: dict[str, Any] = {
    "unseen": [],
    "causal": None,
    "compare": None,
    "gold": None,
    "per_sentence": False,
    "references": "1",
    "target_column": 2,
}


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_languages()
    parser.add_task()
    about = "A .tsv, .tsv.xz or .tsv.gz with the source in its first column, or two files: test.en,test.de; or trees."
    parser.add_path("--test", about, required=True, parallel=True)
    parser.add_number("--target-column", 2, "Column of the first reference; the source is column 1.", least=2)
    about = "Number of reference columns, or `all`; a line may have fewer."
    parser.add_argument("--references", default="1", metavar="N", help=about)
    about = "Training text; test lines whose reference occurs among its targets are left out."
    parser.add_path("--unseen", about, many=True, parallel=True)
    parser.add_search()
    parser.add_field(ModelConfig, "causal", "Default: the checkpoint's own.")
    parser.add_argument("--greedy", action="store_true", help="The same as --beam 1.")
    parser.add_batch()
    parser.add_path("--compare", "A second checkpoint, the baseline.", form="DIR", read=find_checkpoint)
    parser.add_number("--heads", 100, "Pairs of the test set on which the heads are scored; 0 for none.", least=0)
    about = "Pairs on which the heads' effects are compared with a control, 2 s each for en-de on a core; 0 for none."
    parser.add_number("--head-effects", 0, about, least=0)
    parser.add_path("--gold", "Hand-aligned sentences, as `align` reads.")
    about = "Print a row for each sentence, with its BLEU and chrF, before the scores."
    parser.add_argument("--per-sentence", action="store_true", help=about)
    parser.add_machine()


def run(options: Options) -> int:
    """Score a checkpoint on a test set."""
    check_task(options.task, "--test", [options.test])
    if options.greedy:
        if options.beam not in (None, 1):
            raise UsageError(f"--greedy is the same as --beam 1, but --beam is {options.beam}; give only one")
        options.beam = 1
    if options.task == "parsing":
        return _run_parser(options)
    if options.constrained is not None:
        raise UsageError("--constrained needs --task parsing")
    references = _references(options.references)
    if references != 1 and "," in options.test:
        raise UsageError("--references needs one file with columns, not two files")
    translator = load_translator(options)
    if options.causal is not None:
        translator = translator.with_mask(options.causal)

    from transformer_core.evaluation.evaluate import TestSet

    test = TestSet.read(options.test, target_column=options.target_column - 1, references=references)
    if options.unseen:
        test = test.unseen(options.unseen)
    result = _evaluated(translator, test, options)
    summary = _summary(translator, test, result, options)
    summary["heads"] = _heads(translator, test, options)
    if options.compare is not None:
        baseline = load_translator(Options(**{**vars(options), "checkpoint": options.compare}))
        summary["compared"] = _compared(baseline, test, result, options)
    if options.per_sentence:
        for row in _sentence_rows(test, result):
            sys.stdout.write("\t".join(row) + "\n")
        sys.stdout.write("\n")
    write_scores(summary)
    write_summary(summary)
    return 0


def _evaluated(translator: Translator, test: TestSet, options: Options) -> Evaluation:
    """Translate and score, with a progress bar and a warning for each bad line."""
    from transformer_core.evaluation.evaluate import evaluate
    from transformer_core.progress import progress_bar

    with progress_bar(unit="line", total=len(test.sources)) as bar:
        result = evaluate(translator, test, batch=options.batch, on_progress=bar.update)
    for number, line in enumerate(result.lines, start=1):
        if line.problem:
            log.warning("line %d: %s", number, line.problem)
    if result.perplexity.left_out:
        log.warning("%s too long for the perplexity", counted(result.perplexity.left_out, "pair"))
    return result


def _references(text: str) -> int | None:
    if text == "all":
        return None
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise UsageError(f"--references is {text!r}, but must be a positive whole number or all")
    return int(text)


def _run_parser(options: Options) -> int:
    """Score a checkpoint on a treebank."""
    if unfit := [name for name, default in _OF_TRANSLATION.items() if getattr(options, name) != default]:
        raise UsageError(f"--{unfit[0].replace('_', '-')} needs --task translation")

    from transformer_core.constituency_parser import score_parses
    from transformer_core.data import read_treebank
    from transformer_core.evaluation.evaluate import TestSet
    from transformer_core.parsing.bracketing import score_bracketing
    from transformer_core.parsing.trees import right_branching
    from transformer_core.progress import progress_bar

    test = TestSet.read(options.test)
    gold = list(read_treebank(options.test))
    model = load_parser(options)
    started = time.monotonic()
    with progress_bar(unit="sentence", total=len(gold)) as bar:
        parses = model.parse_all([tree.words for tree in gold], batch=options.batch, on_progress=bar.update)
    seconds = time.monotonic() - started
    warn_of_problems(dict(enumerate(parses, start=1)))
    summary = {
        **score_parses(gold, parses),
        "right_branching_f1": score_bracketing(gold, [right_branching(tree.words) for tree in gold]).f1,
        "not_parsed": sum(bool(parse.problem) for parse in parses),
        "task": options.task,
        "constrained": model.translator.decoding.constrained,
        **_search(model.translator),
        "seconds": round(seconds, 3),
        "test": options.test,
        **checkpoint_names(model.translator),
        "heads": _heads(model.translator, test, options),
    }
    write_scores(summary)
    write_summary(summary)
    return 0


def _search(translator: Translator) -> dict[str, Any]:
    return {name: getattr(translator.decoding, name) for name in ("beam", "alpha", "length_penalty", "min_length")}


def _summary(translator: Translator, test: TestSet, result: Evaluation, options: Options) -> dict[str, Any]:
    from transformer_core.evaluation.evaluate import finite

    return {
        **result.scores(),
        "nats_per_character": finite(result.perplexity.nats_per_character),
        "not_translated": sum(line.problem.startswith("not translated") for line in result.lines),
        "references": max(map(len, test.references)),
        **_search(translator),
        "causal": translator.config.causal,
        "seconds": round(result.seconds, 3),
        "test": options.test,
        "unseen": options.unseen,
        **checkpoint_names(translator),
    }


def _heads(translator: Translator, test: TestSet, options: Options) -> dict[str, Any]:
    """Count the heads that look, by kind, and measure how well the best one aligns."""
    from transformer_core.analysis.alignment import alignment_report, head_alignment_errors, read_gold
    from transformer_core.analysis.head_scores import head_counts, score_heads_of
    from transformer_core.atlas.controls import survivor_report
    from transformer_core.progress import tracked

    measurements: dict[str, Any] = {}
    pairs = [(source, first) for source, (first, *_) in zip(test.sources, test.references, strict=True)]
    if scored := pairs[: options.heads]:
        measurements = {
            **head_counts(score_heads_of(translator, tracked(scored, unit="sentence"))),
            "sentences": len(scored),
        }
    if changed := pairs[: options.head_effects]:
        effects = survivor_report(translator, changed, progress=lambda some: tracked(some, unit="sentence"))
        for kind, each in effects.items():
            counts = {name: each[name] for name in ("surviving", "surviving_by_layer")}
            measurements[kind] = {**measurements.get(kind, {}), **counts}
        measurements["effect_sentences"] = len(changed)
    if options.gold is not None:
        gold = list(read_gold(options.gold))
        report = alignment_report(head_alignment_errors(translator, gold, lambda some: tracked(some, unit="sentence")))
        measurements |= {"best_head": report["best_head"], "best_head_by_input": report["best_head_by_input"]}
    return measurements


def _compared(baseline: Translator, test: TestSet, result: Evaluation, options: Options) -> dict[str, Any]:
    """Return the scores of the baseline, the gain over it, and its p-value."""
    from transformer_core.evaluation.evaluate import by_reference, finite
    from transformer_core.evaluation.metrics import paired_bootstrap

    other = _evaluated(baseline, test, options)
    comparisons = paired_bootstrap(other.texts, result.texts, by_reference(test.references))
    metrics = {
        name: {
            "baseline": comparison.baseline,
            "gain": comparison.value - comparison.baseline,
            "p": comparison.p_value,
            "baseline_95": comparison.baseline_interval,
            "this_95": comparison.interval,
            "signature": comparison.signature,
        }
        for name, comparison in comparisons.items()
    }
    return {
        **metrics,
        "perplexity": finite(other.perplexity.value),
        "nats_per_character": finite(other.perplexity.nats_per_character),
        **checkpoint_names(baseline),
    }


def _sentence_rows(test: TestSet, result: Evaluation) -> Iterator[tuple[str, ...]]:
    """Yield a header, then number, BLEU, chrF, source, translation and references of each sentence."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    # A sentence may have no 4 words in a row; without "effective order" its BLEU would be meaningless.
    bleu, chrf = BLEU(effective_order=True), CHRF()
    most = max(map(len, test.references))
    yield ("number", "bleu", "chrf", "source", "translation", *(f"reference {i}" for i in range(1, most + 1)))
    for number, (source, line, references) in enumerate(
        zip(test.sources, result.lines, test.references, strict=True), start=1
    ):
        scores = [metric.sentence_score(line.text, list(references)).score for metric in (bleu, chrf)]
        yield (str(number), *(f"{score:.1f}" for score in scores), source, line.text, *references)
