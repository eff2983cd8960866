"""The best step by a validation score, and what follows from it: early stopping, a warning of overfitting."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

log = logging.getLogger(__name__)

_RISE = 0.02  # nats per token above the lowest validation loss: 2 % of the perplexity


@dataclass
class BestStep:
    """The best step so far.

    Args:
        metric: Validation set and score, such as `valid.nll`; empty before the first validation.
        step: Its number; 0 if there is none.
        score: Its score.
        validations_since: Validations after it; none was better.
        lowest_nll: Lowest validation loss so far, in nats per token.
        training_nll: Mean training loss per token at that time.
        overfits_since: Step at which the validation loss had risen while the training loss fell; 0 if none.
    """

    metric: str = ""
    step: int = 0
    score: float = 0.0
    validations_since: int = 0
    lowest_nll: float = 0.0
    training_nll: float = 0.0
    overfits_since: int = 0

    def add(self, step: int, name: str, scores: Mapping[str, Any], metric: str, training_nll: float) -> bool:
        """Count a validation on the set of this name; return whether it is the best. Another metric begins anew."""
        if self.metric != f"{name}.{metric}":
            vars(self).update(vars(BestStep(f"{name}.{metric}")))
        nll, score = scores["nll"], scores[metric]
        if not self.lowest_nll or nll < self.lowest_nll:
            self.lowest_nll, self.training_nll, self.overfits_since = nll, training_nll, 0
        elif not self.overfits_since and nll > self.lowest_nll + _RISE and training_nll < self.training_nll:
            self.overfits_since = step
            fell = f"in training it fell from {self.training_nll:.3f} to {training_nll:.3f}"
            log.warning("overfitting: nll of %s rose from %.3f to %.3f; %s", name, self.lowest_nll, nll, fell)
        is_best = not self.step or (score > self.score if metric == "bleu" else score < self.score)
        if is_best:
            self.step, self.score, self.validations_since = step, score, 0
        else:
            self.validations_since += 1
        return is_best

    def is_stale(self, patience: int) -> bool:
        """Return whether this many validations brought no better score; never for 0."""
        return 0 < patience <= self.validations_since

    def __str__(self) -> str:
        return f"step {self.step} ({self.metric} {self.score:.4g})"
