"""Constraints on a search where not every sequence of tokens is an answer, as with brackets that must match.

Shape legend: R rows (sentences x beams), V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor


class Constraint(Protocol):
    """An automaton over tokens. Its states are values: several hypotheses may continue from one."""

    def start(self, sentence: int, limit: int) -> Any:
        """Return the state before the first token.

        Args:
            sentence: Its number in the batch.
            limit: Tokens that it may have, `</s>` included.
        """

    def advance(self, state: Any, token: int) -> Any:
        """Return the state after one more token, which was allowed."""

    def allowed(self, state: Any) -> Tensor:
        """(V,) True for each token that may come next, `</s>` included; one at least."""


def forbidden_tokens(constraint: Constraint, states: Sequence[Any], device: torch.device) -> Tensor:
    """(R, V) True for each token that may not come next; a row whose state is None may have any token."""
    masks = [None if state is None else constraint.allowed(state) for state in states]
    anything = torch.ones_like(next(mask for mask in masks if mask is not None))
    return ~torch.stack([anything if mask is None else mask for mask in masks]).to(device)


def nothing_but(token: int, values: Tensor) -> Tensor:
    """(R, V) 0 for one token, minus infinity for all others: logits and log-probabilities of a token that is given."""
    nothing = torch.full_like(values, -math.inf)
    nothing[:, token].zero_()
    return nothing
