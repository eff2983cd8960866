"""Scores on parallel text: BLEU, chrF and perplexity of each set."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.builders import Builder, Inputs
from transformer_core.derived import json_file

if TYPE_CHECKING:
    from transformer_core.translator import Translator

PARTS = {"valid": "validation", "test": "test"}  # option -> the part that a set is called in the metrics

log = logging.getLogger(__name__)


def set_name(spec: str) -> str:
    """The name of a set: that of its file without endings."""
    return Path(spec.partition(",")[0]).name.split(".")[0]


def score_sets(translator: Translator, sets: Mapping[str, Sequence[str]], batch: int) -> dict[str, Any]:
    """Scores of every set by its name.

    Args:
        translator: With the weights as they are stored.
        sets: `valid` and `test` -> files as `evaluate` reads them.
        batch: Lines translated together at most.
    """
    from transformer_core.evaluation import TestSet, evaluate

    scores: dict[str, Any] = {}
    for part, specs in sets.items():
        for spec in specs:
            test = TestSet.read(spec)
            result = evaluate(translator, test, batch=batch)
            name = set_name(spec)
            readable = math.isfinite(result.perplexity.value)  # JSON has no NaN
            scores[name] = {
                "bleu": result.bleu.value,
                "signature": result.bleu.signature,
                "chrf": result.chrf.value,
                "chrf_signature": result.chrf.signature,
                "nll": math.log(result.perplexity.value) if readable else None,
                "perplexity": result.perplexity.value if readable else None,
                "pieces": result.perplexity.pieces,
                "sentences": len(test.sources),
                "beam": translator.decoding.beam,
                "alpha": translator.decoding.alpha,
                "part": PARTS[part],
            }
            log.info("%s: BLEU %.1f, perplexity %.2f", name, result.bleu.value, result.perplexity.value)
    return scores


def _build(inputs: Inputs) -> dict[str, bytes]:
    sets = {part: getattr(inputs.options, part) for part in PARTS}
    found = score_sets(inputs.translator, sets, inputs.options.batch)
    return {"scores.json": json_file({**inputs.metrics.get("scores", {}), **found})}  # other sets keep theirs


BUILDER = Builder(
    name="scores",
    about="BLEU, chrF and perplexity of each set",
    needs=(("valid", "test"),),
    files=("scores.json",),
    build=_build,
)
