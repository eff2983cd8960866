"""Minimal pairs: two similar sentences, read up to where their translations diverge.

Shape legend: S source positions, R rows, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import torch
from torch import Tensor

from transformer_core.hooks.hook_sites import Point
from transformer_core.hooks.points import Captured, capture, has_hooks
from transformer_core.model.masks import padding_mask

if TYPE_CHECKING:
    from transformer_core.translator import Translation, Translator


class PatchingError(ValueError):
    """A pair of sentences that cannot be compared.

    Args:
        message: The problem.
        reason: `same`: the translations are equal. `little`: the runs hardly differ. `length`: the sentences have
            different numbers of tokens.
    """

    def __init__(self, message: str, reason: Literal["same", "little", "length"]) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class Run:
    """Run over one sentence and the common prefix of the translations.

    Args:
        source: (1, S) ids.
        logits: (V,) of the token after the prefix.
        captured: Captured activations.
    """

    source: Tensor
    logits: Tensor
    captured: Captured


@dataclass(frozen=True)
class Divergence:
    """First difference of two translations.

    Args:
        prefix: Ids of the common tokens at the beginning.
        answers: Ids of the two next tokens.
        texts: The two translations.
    """

    prefix: tuple[int, ...]
    answers: tuple[int, int]
    texts: tuple[str, str]


Answers = tuple["str | Translation", "str | Translation"]


def first_divergence(translator: Translator, clean: str, corrupted: str, answers: Answers | None) -> Divergence:
    """Compare two translations, given or the model's own. Raises PatchingError if they are equal."""
    given = answers or (translator.translate(clean), translator.translate(corrupted))
    end, texts, ids = [translator.tokenizer.special.eos], [], []
    for each in given:
        if isinstance(each, str):
            texts.append(each)
            ids.append([*translator.encode_target(each).ids, *end])
        else:
            texts.append(each.text)
            ids.append([*each.hypotheses[0].ids, *(end if each.finished else [])])
    for place, (a, b) in enumerate(zip(*ids, strict=False)):
        if a != b:
            return Divergence(tuple(ids[0][:place]), (a, b), (texts[0], texts[1]))
    raise PatchingError("the two translations are the same, so there is no difference to look for", "same")


@torch.no_grad()
def read_run(translator: Translator, text: str, prefix: tuple[int, ...], points: Collection[Point]) -> Run:
    """Run the model over a sentence and the common prefix."""
    encoding = translator.encode(text)
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    source = translator.forced_batch(encoding, list(prefix), True).source
    with capture(translator.model, points=points) as captured:
        logits = next_logits(translator, source, prefix)
    return Run(source, logits[0], captured)


def next_logits(translator: Translator, source: Tensor, prefix: tuple[int, ...]) -> Tensor:
    """Return (R, V) logits of the token after the prefix."""
    special = translator.tokenizer.special
    inputs = torch.tensor([[special.bos, *prefix]], device=source.device).expand(len(source), -1)
    mask, model = padding_mask(source, special.pad), translator.model
    states = model.decode(inputs, model.encode(source, mask), mask)  # (R, T, d)
    if not has_hooks(model.decoder.logits):
        states = states[:, -1:]
    return model.logits(states)[:, -1].float()


def same_positions(there: list[int], here: list[int]) -> tuple[list[int], list[int]]:
    """Return corresponding positions: all for equal lengths, else the common beginning and end."""
    if len(there) == len(here):
        return list(range(len(there))), list(range(len(here)))
    shorter = min(len(there), len(here))
    front = next((at for at in range(shorter) if there[at] != here[at]), shorter)
    back = next((at for at in range(shorter - front) if there[-1 - at] != here[-1 - at]), shorter - front)
    first, second = ([*range(front), *range(len(ids) - back, len(ids))] for ids in (there, here))
    return first, second
