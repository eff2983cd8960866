"""Activation patching: which head, or which layer and position, carries the difference between two sentences.

Two sentences that differ in little are translated; the translations part at some token. The model reads both sentences
up to there, and a value of one run is put into the other: how much of the difference comes with it? (Vig et al. 2020,
Meng et al. 2022; Heimersheim and Nanda 2024 on reading it.)

Shape legend: L layers, H heads, S source positions, T target positions, R rows, n either, P = max(S, T).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.forced_run import rows_at_once
from transformer_core.attention_maps import KINDS
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks import Captured, Edit, capture, edit
from transformer_core.masks import padding_mask
from transformer_core.sites import Point, Site

if TYPE_CHECKING:
    from transformer_core.translator import Translator

PatchSite = Literal["heads", "residual", "ffn"]
Direction = Literal["denoise", "noise"]
SITES: tuple[PatchSite, ...] = get_args(PatchSite)
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
STACKS = ("encoder", "decoder")
LEAST_DIFFERENCE = 0.5  # nats between the two runs, below which a share of it means nothing
_POINTS: tuple[Point, ...] = ("head_outputs", "residual", "activations")


class PatchingError(ValueError):
    """The two sentences cannot be compared like this."""


@dataclass(frozen=True, kw_only=True)
class Patching:
    """What comes from one run into the other with each value.

    Args:
        answers: The two tokens at which the translations part: of the clean and of the corrupted sentence.
        prefix: The tokens before, which the decoder has read in both runs.
        source: (S,) tokens of the sentence that is patched, `</s>` included.
        metric_clean: logit(answer of the clean sentence) - logit(the other one), in nats, in the clean run.
        metric_corrupted: The same in the corrupted run.
        metrics: The same in the patched run: of heads (3, L, H), of `residual` and `ffn` (2, L, P), encoder first; NaN
            where a stack has no such position.
        recovered: How far the patched run has come from its own metric to that of the other run: 0 to 1, and beyond.
    """

    answers: tuple[str, str]
    prefix: tuple[str, ...]
    source: tuple[str, ...]
    metric_clean: float
    metric_corrupted: float
    metrics: Tensor
    recovered: Tensor


@dataclass(frozen=True)
class _Run:
    source: Tensor  # (1, S)
    logits: Tensor  # (V,) after the prefix
    captured: Captured


def patching(
    translator: Translator,
    clean: str,
    corrupted: str,
    *,
    answers: tuple[str, str] | None = None,
    site: PatchSite = "heads",
    direction: Direction = "denoise",
    should_stop: Callable[[], bool] | None = None,
) -> Patching:
    """Patch each head, or each layer and position, from one run into the other.

    Args:
        translator: The model. Edits that are active in this context stay active.
        clean: A sentence.
        corrupted: One that differs from it in little.
        answers: Translations of the two; None takes the model's own. They are compared at the first token in which they
            differ, after the tokens before it.
        site: `heads`: the output of one head at all positions; in the encoder, where the sentences have different
            numbers of tokens, at those of their common beginning and end. `residual`: the residual stream after a
            layer, at one position. `ffn`: what a feed-forward network says, at one position.
        direction: `denoise` puts values of the clean run into the corrupted one: what suffices for the clean answer?
            `noise` does the reverse: what is needed for it?
        should_stop: Called before every batch.

    Raises:
        PatchingError: The translations do not differ, or the runs hardly do; for `residual` and `ffn` also when the
            sentences have different numbers of tokens.
        SourceTooLong: See `Translator.encode`.
        ValueError: A sentence is empty, or `site` or `direction` is unknown.
        DecodingStopped: `should_stop` returned True.
    """
    if site not in SITES:
        raise ValueError(f"site is {site!r}, but must be one of {', '.join(SITES)}")
    if direction not in DIRECTIONS:
        raise ValueError(f"direction is {direction!r}, but must be one of {', '.join(DIRECTIONS)}")
    prefix, first, second = _parting(translator, clean, corrupted, answers)
    runs = [_read(translator, text, prefix) for text in (clean, corrupted)]
    lengths = [run.source.shape[1] for run in runs]
    if site != "heads" and lengths[0] != lengths[1]:
        raise PatchingError(
            f"the sentences have {lengths[0]} and {lengths[1]} tokens, but positions can be compared only when both"
            " have as many; patch heads instead"
        )
    metrics = [float(run.logits[first] - run.logits[second]) for run in runs]
    if abs(metrics[0] - metrics[1]) < LEAST_DIFFERENCE:
        raise PatchingError(
            f"the two runs differ by {abs(metrics[0] - metrics[1]):.2f} nats, too little to say where it comes from"
        )
    donor, receiver = (runs[0], runs[1]) if direction == "denoise" else (runs[1], runs[0])
    start, end = (metrics[1], metrics[0]) if direction == "denoise" else (metrics[0], metrics[1])
    cells = list(_cells(translator, site, receiver))
    found = _patched_logits(translator, prefix, donor, receiver, site, cells, should_stop)
    values = (found[:, first] - found[:, second]).double()
    config = translator.config
    positions = max(receiver.source.shape[1], len(prefix) + 1)
    last = config.num_heads if site == "heads" else positions
    grid = torch.full((len(KINDS) if site == "heads" else 2, config.num_layers, last), torch.nan, dtype=torch.float64)
    for cell, value in zip(cells, values, strict=True):
        grid[cell] = value
    tokenizer = translator.tokenizer
    return Patching(
        answers=(tokenizer.pieces([first])[0], tokenizer.pieces([second])[0]),
        prefix=tokenizer.pieces(list(prefix)),
        source=tokenizer.source.pieces(receiver.source[0].tolist()),
        metric_clean=metrics[0],
        metric_corrupted=metrics[1],
        metrics=grid.float(),
        recovered=((grid - start) / (end - start)).float(),
    )


def _parting(
    translator: Translator, clean: str, corrupted: str, answers: tuple[str, str] | None
) -> tuple[tuple[int, ...], int, int]:
    """The tokens that both translations begin with, and the two that come next."""
    if answers is None:
        found = [translator.translate(text) for text in (clean, corrupted)]
        end = [translator.tokenizer.special.eos]
        ids = [[*each.hypotheses[0].ids, *(end if each.finished else [])] for each in found]
    else:
        ids = [[*translator.encode_target(text).ids, translator.tokenizer.special.eos] for text in answers]
    for place, (a, b) in enumerate(zip(*ids, strict=False)):
        if a != b:
            return tuple(ids[0][:place]), a, b
    raise PatchingError("the two translations are the same, so there is no difference to look for")


@torch.no_grad()
def _read(translator: Translator, text: str, prefix: tuple[int, ...]) -> _Run:
    """The run over a sentence and the tokens before the two translations part."""
    encoding = translator.encode(text)
    if not encoding.ids:
        raise ValueError("the sentence is empty")
    source = translator.forced_batch(encoding, list(prefix), True).source
    with capture(translator.model, points=_POINTS) as captured:
        logits = _logits(translator, source, prefix)
    return _Run(source, logits[0], captured)


def _logits(translator: Translator, source: Tensor, prefix: tuple[int, ...]) -> Tensor:
    """(R, V): of the token after the prefix."""
    special = translator.tokenizer.special
    inputs = torch.tensor([[special.bos, *prefix]], device=source.device).expand(len(source), -1)
    found: Tensor = translator.model(source, inputs, padding_mask(source, special.pad))[:, -1].float()
    return found


_Cell = tuple[int, int, int]  # kind or stack, layer, head or position
_Index = tuple[int] | tuple[int, list[int]]  # a head or a position; a head at some positions


def _cells(translator: Translator, site: PatchSite, receiver: _Run) -> Iterator[_Cell]:
    """Every value that is patched alone."""
    layers, heads = range(translator.config.num_layers), range(translator.config.num_heads)
    if site == "heads":
        yield from ((kind, layer, head) for kind in range(len(KINDS)) for layer in layers for head in heads)
        return
    for stack in range(len(STACKS)):
        length = receiver.captured[_address(site, stack, 0)].shape[1]
        yield from ((stack, layer, at) for layer in layers for at in range(length))


def _address(site: PatchSite, place: int, layer: int) -> str:
    """The hook point of a kind of attention, or of a stack, in a layer."""
    if site == "heads":
        return hook_point_name(KINDS[place], layer, "head_outputs")
    point = "feed_forward_add_norm.residual" if site == "residual" else "feed_forward.activations"
    return f"{STACKS[place]}.layers.{layer}.{point}"


@torch.no_grad()
def _patched_logits(
    translator: Translator,
    prefix: tuple[int, ...],
    donor: _Run,
    receiver: _Run,
    site: PatchSite,
    cells: list[_Cell],
    should_stop: Callable[[], bool] | None,
) -> Tensor:
    """(R, V): after the prefix, with one value of the donor in each row of the receiver."""
    size = rows_at_once(translator.config, receiver.source.shape[1], len(prefix) + 1)
    there, here = _same_positions(donor.source[0].tolist(), receiver.source[0].tolist())
    found = []
    for start in range(0, len(cells), size):
        if should_stop is not None and should_stop():
            raise DecodingStopped
        group = cells[start : start + size]
        with ExitStack() as stack:
            for place, layer in sorted({cell[:2] for cell in group}):
                address = _address(site, place, layer)
                rows = [
                    (row, *_parts(site, cell, there, here))
                    for row, cell in enumerate(group)
                    if cell[:2] == (place, layer)
                ]
                change = _put(donor.captured[address][0], rows)
                stack.enter_context(edit(translator.model, address, change))
            found.append(_logits(translator, receiver.source.expand(len(group), -1), prefix))
    return torch.cat(found)


def _parts(site: PatchSite, cell: _Cell, there: list[int], here: list[int]) -> tuple[_Index, _Index]:
    """Which part of a value a cell is, in the donor and in the receiver."""
    place, _, at = cell
    if site == "heads" and KINDS[place] == "encoder":
        return (at, there), (at, here)
    return (at,), (at,)


def _put(values: Tensor, rows: Sequence[tuple[int, _Index, _Index]]) -> Edit:
    """In each of these rows a part of the donor's value: the row, the part there, the part here."""

    def change(value: Tensor, _site: Site) -> Tensor:
        changed = value.clone()
        for row, there, here in rows:
            changed[(row, *here)] = values[there].to(value)
        return changed

    return change


def _same_positions(there: list[int], here: list[int]) -> tuple[list[int], list[int]]:
    """Positions that correspond: all where both are as long, else those of the common beginning and end."""
    if len(there) == len(here):
        return list(range(len(there))), list(range(len(here)))
    shorter = min(len(there), len(here))
    front = next((at for at in range(shorter) if there[at] != here[at]), shorter)
    back = next((at for at in range(shorter - front) if there[-1 - at] != here[-1 - at]), shorter - front)
    first, second = ([*range(front), *range(len(ids) - back, len(ids))] for ids in (there, here))
    return first, second
