"""A term of the loss that keeps heads from resting; not in the paper, and off unless asked for.

Large steps of Muon drive heads to rest on `<s>`, `</s>` and punctuation, where they stay. For each head the term is

    relu(0.22 - information) + relu(resting - 0.35) + relu(fixed offset - 0.6)

in the words of `transformer_core.analysis.head_scores`, as means over the sentences of a batch and so that a gradient
passes: the last is the largest share of weight, not of queries, on one offset from -3 to 3. Cross-attention has the
first part only. The loss of each token grows by the mean over all heads, times `TrainingConfig.head_penalty`.

Shape legend: B sentences, H heads, Q queries, K keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.paper.presets import PRESETS
from transformer_core.storage.files import CheckpointError, read_regular
from transformer_core.text.tokenizer import Tokenizer

_MIN_INFORMATION = 0.22
_MAX_RESTING = 0.35
_MAX_AT_ONE_OFFSET = 0.6
_OFFSETS = range(-3, 4)
_MAX_RECIPE_BYTES = 100_000
_MIN_ROWS = 4  # sentences with fewer queries say little about what a head depends on


@dataclass(frozen=True)
class _Side:
    """Input of one kind of attention in a batch.

    Args:
        rows: (B, Q) queries that count: no padding, not `</s>` of a source, not `<s>` of a decoder's input.
        lengths: (B,) keys of each sentence that keys can be told apart by.
        is_separator: (B, K) 1 for `<s>`, `</s>` and punctuation; None for cross-attention.
        causal: Whether the rows are masked causally.
    """

    rows: Tensor
    lengths: Tensor
    is_separator: Tensor | None
    causal: bool


def is_penalised(folder: Path, facts: Mapping[str, Any]) -> bool:
    """Tell whether a checkpoint was trained with this term.

    Its facts decide, `training` of its `metrics.json`; else its recipe, if that can be read, or the recipe's preset.
    """
    recipe: dict[str, Any] = {}
    with suppress(CheckpointError, OSError, ValueError, RecursionError):
        recipe = tomllib.loads(read_regular(folder / "recipe.toml", _MAX_RECIPE_BYTES).decode())
    preset, options = PRESETS.get(str(recipe.get("preset"))), recipe.get("training")
    known = {"head_penalty": preset.training.head_penalty if preset else 0.0}
    weight = (known | (options if isinstance(options, dict) else {}) | dict(facts))["head_penalty"]
    return isinstance(weight, int | float) and weight > 0


def separators(tokenizer: Tokenizer, device: torch.device | str = "cpu") -> tuple[Tensor, Tensor]:
    """(V,) of the source and of the target vocabulary: 1.0 for `<s>`, `</s>` and tokens without a letter or digit."""
    source, target = (_separator_ids(each).to(device) for each in (tokenizer.source, tokenizer))
    return source, target


def _separator_ids(tokenizer: Tokenizer) -> Tensor:
    texts = (token.lstrip(WORD_BOUNDARY) for token in tokenizer.tokens(range(len(tokenizer))))
    is_separator = torch.tensor([float(bool(text) and not any(map(str.isalnum, text))) for text in texts])
    is_separator[[tokenizer.special.bos, tokenizer.special.eos]] = 1.0
    return is_separator


def linear_ramp(step: int, start: int, full: int) -> float:
    """Return the share of the term that counts at a step: 0 until `start`, 1 from `full` on, linear between."""
    return min(1.0, max(0.0, (step - start) / max(1, full - start)))


def head_penalty(
    weights: Mapping[str, Tensor], source: Tensor, inputs: Tensor, is_separator: tuple[Tensor, Tensor], pad: int
) -> Tensor:
    """Return the mean of the term over all heads.

    Args:
        weights: Address of a hook point -> (B, H, Q, K), attached to the graph.
        source: (B, S) ids.
        inputs: (B, T) ids that the decoder reads.
        is_separator: From `separators`.
        pad: Id of padding.
    """
    sides = _sides(source, inputs, is_separator, pad)
    terms = [_terms(value, sides[_kind(address)]) for address, value in weights.items()]
    return torch.cat(terms).mean()


def _kind(address: str) -> str:
    return "cross" if "cross" in address else address.partition(".")[0]


def _sides(source: Tensor, inputs: Tensor, is_separator: tuple[Tensor, Tensor], pad: int) -> dict[str, _Side]:
    sources, targets = source != pad, inputs != pad
    of_source, of_target = sources.sum(1), targets.sum(1)
    places = torch.arange(source.shape[1], device=source.device)
    words = sources & (places < (of_source - 1)[:, None])
    read = targets & (torch.arange(inputs.shape[1], device=inputs.device) >= 1)
    return {
        "encoder": _Side(words, of_source, is_separator[0][source] * sources, causal=False),
        "decoder": _Side(read, of_target, is_separator[1][inputs] * targets, causal=True),
        "cross": _Side(targets, torch.minimum(of_source, of_target), None, causal=False),
    }


def _terms(weights: Tensor, side: _Side) -> Tensor:
    """(B, H, Q, K) -> (H,): the term of each head; without choosing sentences, for which a GPU would wait."""
    rows = side.rows.to(weights.dtype)
    counts = rows.sum(1)  # (B,)
    counted = (counts >= _MIN_ROWS).to(weights.dtype)
    weight = (counted / counted.sum().clamp_min(1.0))[:, None]  # (B, 1) of each sentence in a mean
    share = (rows / counts.clamp_min(1.0)[:, None])[:, None]  # (B, 1, Q): all queries equally likely
    mean = (share[:, :, None] @ weights).squeeze(2)  # (B, H, K)
    nats = _entropy(mean) - (_entropy(weights) * share).sum(2)
    if side.causal:
        nats = nats - _of_uniform(share)
    information = (weight * nats / side.lengths.clamp_min(2).to(weights.dtype).log()[:, None]).sum(0)
    term = torch.relu(_MIN_INFORMATION - information)
    if side.is_separator is not None:
        resting = (weight * (mean * side.is_separator[:, None]).sum(2)).sum(0)
        term = term + torch.relu(resting - _MAX_RESTING)
        term = term + torch.relu(_at_one_offset(weights, share, weight) - _MAX_AT_ONE_OFFSET)
    return term * counted.amax()  # nothing where no sentence counts


def _of_uniform(share: Tensor) -> Tensor:
    """(B, 1, Q) -> (B, 1): information in nats that the causal mask alone gives uniform attention."""
    size = share.shape[2]
    uniform = torch.ones(size, size, dtype=share.dtype, device=share.device).tril()
    uniform = uniform / uniform.sum(1, keepdim=True)
    return _entropy(share @ uniform) - (_entropy(uniform) * share).sum(2)


def _at_one_offset(weights: Tensor, share: Tensor, weight: Tensor) -> Tensor:
    """(B, H, Q, K), (B, 1, Q), (B, 1) -> (H,): the largest share of weight at one distance between query and key."""
    size, shares = weights.shape[2], []
    for offset in _OFFSETS:
        diagonal = weights.diagonal(offset, dim1=2, dim2=3)
        rows = share[..., : size - offset] if offset >= 0 else share[..., -offset:]
        shares.append((weight * (diagonal * rows[..., : diagonal.shape[-1]]).sum(2)).sum(0))
    return torch.stack(shares).amax(0)


def _entropy(shares: Tensor) -> Tensor:
    """(..., K) -> (...) in nats."""
    return -(shares * shares.clamp_min(1e-9).log()).sum(-1)
