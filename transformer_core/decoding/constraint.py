"""Constraints on a search where not every sequence of tokens is an answer, as with brackets that must match.

Shape legend: R rows (sentences x beams), V = vocab_size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from transformer_core.config import SpecialIds


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


class PrefixError(ValueError):
    """Tokens with which a translation cannot begin."""


def check_prefix(
    prefix: Sequence[int], limit: int, special: SpecialIds, vocab_size: int, constraint: Constraint | None, state: Any
) -> None:
    """Raise PrefixError unless a translation of `limit` tokens, `</s>` included, may begin with these ids.

    `<unk>` may stand anywhere, `</s>` at the end, a `forced_bos` must come first; the constraint allows each token from
    its state at the start.
    """
    if len(prefix) > limit:
        raise PrefixError(f"the prefix has {len(prefix)} tokens, but this translation may have at most {limit}")
    never = {*special.never_generated, special.eos} - {special.unk}
    for place, token in enumerate(prefix):
        last = place + 1 == len(prefix) and token == special.eos
        wrong = not 0 <= token < vocab_size or (token in never and not last)
        if wrong or (place == 0 and special.forced_bos not in (-1, token)):
            raise PrefixError(f"token {place} of the prefix has the id {token}, which cannot stand there")
        if constraint is not None:
            if not constraint.allowed(state)[token]:
                raise PrefixError(f"token {place} of the prefix, id {token}, breaks the constraint on this search")
            state = constraint.advance(state, token)


def only_forced(tokens: Tensor, values: Tensor, others: Tensor) -> Tensor:
    """(R, V) the rows of `others`; but where tokens (R,) has an id, and not -1, minus infinity around its own value."""
    at = tokens.clamp(min=0)[:, None]  # (R, 1)
    alone = torch.full_like(values, -math.inf).scatter_(1, at, values.gather(1, at))
    return torch.where(tokens[:, None] < 0, others, alone)
