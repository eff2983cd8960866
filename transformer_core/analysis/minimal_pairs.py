"""Two sentences that differ in little, read up to where their translations part.

Shape legend: S source positions, R rows, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from transformer_core.hooks.hook_sites import Point
from transformer_core.hooks.points import Captured, capture
from transformer_core.model.masks import padding_mask

if TYPE_CHECKING:
    from transformer_core.translator import Translator


class PatchingError(ValueError):
    """The two sentences cannot be compared like this.

    Args:
        message: What is wrong.
        reason: `same`: their translations do not differ. `little`: the runs hardly do. `length`: the sentences have
            different numbers of tokens.
    """

    def __init__(self, message: str, reason: Literal["same", "little", "length"]) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Run:
    """What the model makes of one sentence, up to where the translations part.

    Args:
        source: (1, S) ids.
        logits: (V,) of the token after the prefix.
        captured: The values on the way.
    """

    source: Tensor
    logits: Tensor
    captured: Captured


@dataclass(frozen=True)
class Divergence:
    """Where the translations of two sentences part.

    Args:
        prefix: Ids of the tokens that both begin with.
        answers: Ids of the two tokens that come next.
        texts: The two translations.
    """

    prefix: tuple[int, ...]
    answers: tuple[int, int]
    texts: tuple[str, str]


def first_divergence(translator: Translator, clean: str, corrupted: str, answers: tuple[str, str] | None) -> Divergence:
    """Compare two translations, given or the model's own. Raises PatchingError when they do not differ."""
    if answers is None:
        first, second = (translator.translate(text) for text in (clean, corrupted))
        end = [translator.tokenizer.special.eos]
        texts = first.text, second.text
        ids = [[*each.hypotheses[0].ids, *(end if each.finished else [])] for each in (first, second)]
    else:
        texts = answers
        ids = [[*translator.encode_target(text).ids, translator.tokenizer.special.eos] for text in answers]
    for place, (a, b) in enumerate(zip(*ids, strict=False)):
        if a != b:
            return Divergence(tuple(ids[0][:place]), (a, b), texts)
    raise PatchingError("the two translations are the same, so there is no difference to look for", "same")


@torch.no_grad()
def read_run(translator: Translator, text: str, prefix: tuple[int, ...], points: Collection[Point]) -> Run:
    """The run over a sentence and the tokens before the two translations part."""
    encoding = translator.encode(text)
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    source = translator.forced_batch(encoding, list(prefix), True).source
    with capture(translator.model, points=points) as captured:
        logits = next_logits(translator, source, prefix)
    return Run(source, logits[0], captured)


def next_logits(translator: Translator, source: Tensor, prefix: tuple[int, ...]) -> Tensor:
    """(R, V): of the token after the prefix."""
    special = translator.tokenizer.special
    inputs = torch.tensor([[special.bos, *prefix]], device=source.device).expand(len(source), -1)
    found: Tensor = translator.model(source, inputs, padding_mask(source, special.pad))[:, -1].float()
    return found


def same_positions(there: list[int], here: list[int]) -> tuple[list[int], list[int]]:
    """Positions that correspond: all where both are as long, else those of the common beginning and end."""
    if len(there) == len(here):
        return list(range(len(there))), list(range(len(here)))
    shorter = min(len(there), len(here))
    front = next((at for at in range(shorter) if there[at] != here[at]), shorter)
    back = next((at for at in range(shorter - front) if there[-1 - at] != here[-1 - at]), shorter - front)
    first, second = ([*range(front), *range(len(ids) - back, len(ids))] for ids in (there, here))
    return first, second
