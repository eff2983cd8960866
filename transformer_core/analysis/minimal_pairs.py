"""Minimal pairs: two similar sentences, read up to where their translations diverge.

Shape legend: S source positions, R rows, V tokens of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from transformer_core.hooks.hook_sites import Point
from transformer_core.hooks.points import Captured, capture, has_hooks
from transformer_core.model.masks import padding_mask
from transformer_core.translator import Translation, Translator

Direction = Literal["denoise", "noise"]
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
MIN_DIFFERENCE = 0.5  # nats between the two runs; shares of a smaller difference are noise


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


@dataclass(frozen=True)
class Pair:
    """Two runs, read up to where the translations diverge.

    Args:
        divergence: The tokens before, and the two that come next.
        receiver: The patched run.
        donor: The other run.
        metrics: logit(clean answer) - logit(corrupted answer) in nats, of the clean and the corrupted run.
        start: That of the receiver.
    """

    divergence: Divergence
    receiver: Run
    donor: Run
    metrics: tuple[float, float]
    start: float

    @property
    def difference(self) -> float:
        """Metric of the donor minus metric of the receiver, in nats."""
        return sum(self.metrics) - 2 * self.start

    def metric(self, logits: Tensor) -> Tensor:
        """Return logit(clean answer) - logit(corrupted answer): (..., V) -> (...), in nats."""
        first, second = self.divergence.answers
        return logits[..., first] - logits[..., second]


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
    """Run the model over a sentence and the common prefix. Raises ValueError for an empty sentence."""
    encoding = translator.encode(text)
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    source = translator.forced_batch(encoding, list(prefix), True).source
    with capture(translator.model, points) as captured:
        logits = next_logits(translator, source, prefix)
    return Run(source, logits[0], captured)


def read_pair(
    translator: Translator,
    clean: str,
    corrupted: str,
    *,
    answers: Answers | None = None,
    direction: Direction = "denoise",
    points: Collection[Point] = (),
    aligned: bool = True,
) -> Pair:
    """Run the model over two sentences, up to where their translations diverge.

    Args:
        translator: The model.
        clean: A sentence.
        corrupted: Another sentence.
        answers: Their translations; None takes the model's own.
        direction: `denoise`: the corrupted run is the receiver; `noise`: the clean one.
        points: Activations to capture.
        aligned: Whether the sentences must have equal numbers of tokens.

    Raises:
        PatchingError: The translations are equal, the runs hardly differ, or `aligned` lengths differ.
        ValueError: A sentence is empty, or the direction is unknown.
        SourceTooLong: See `Translator.encode`.
    """
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}, but must be one of {', '.join(DIRECTIONS)}")
    divergence = first_divergence(translator, clean, corrupted, answers)
    runs = [read_run(translator, text, divergence.prefix, points) for text in (clean, corrupted)]
    lengths = [run.source.shape[1] for run in runs]
    if aligned and lengths[0] != lengths[1]:
        raise PatchingError(
            f"the sentences have {lengths[0]} and {lengths[1]} tokens, but positions can be compared only when both"
            " have as many; patch heads instead",
            "length",
        )
    first, second = divergence.answers
    metrics = [float(run.logits[first] - run.logits[second]) for run in runs]
    if abs(metrics[0] - metrics[1]) < MIN_DIFFERENCE:
        raise PatchingError(
            f"the two runs differ by {abs(metrics[0] - metrics[1]):.2f} nats, too little to say where it comes from",
            "little",
        )
    at = 1 if direction == "denoise" else 0
    return Pair(divergence, runs[at], runs[1 - at], (metrics[0], metrics[1]), metrics[at])


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
