"""Activation patching: the head, or the layer and position, that carries the difference between two sentences.

The translations of a minimal pair diverge at some token. The model reads both sentences up to that token, and one
activation of one run replaces the same activation of the other. How much of the difference comes with it? (Vig et al.
2020, Meng et al. 2022; Heimersheim and Nanda 2024 on interpretation.)

Shape legend: L layers, H heads, S source positions, T target positions, R rows, n either, P = max(S, T).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.minimal_pairs import DIRECTIONS as DIRECTIONS
from transformer_core.analysis.minimal_pairs import (
    Answers,
    Run,
    first_divergence,
    next_logits,
    read_pair,
    read_run,
    same_positions,
)
from transformer_core.analysis.minimal_pairs import Direction as Direction
from transformer_core.analysis.teacher_forced_run import batches, rows_at_once, stop_check
from transformer_core.attention_maps import KINDS
from transformer_core.hooks.hook_sites import Point, Site
from transformer_core.hooks.points import Edit, edit
from transformer_core.progress import expect
from transformer_core.short_repr import ShortRepr
from transformer_core.translator import Translation, Translator

PatchSite = Literal["heads", "residual", "ffn"]
SITES: tuple[PatchSite, ...] = get_args(PatchSite)
STACKS = ("encoder", "decoder")
Cell = tuple[int, int, int]  # kind or stack, layer, head or position
_POINTS: tuple[Point, ...] = ("head_outputs", "residual", "activations")


@dataclass(frozen=True, kw_only=True)
class Patching(ShortRepr):
    """Effect of every patch.

    Args:
        texts: Translations of the clean and the corrupted sentence.
        answers: The two tokens at which they diverge, of the clean and of the corrupted sentence.
        prefix: The tokens before, which the decoder has read in both runs.
        source: (S,) tokens of the patched sentence, `</s>` included.
        lengths: Tokens of the clean and of the corrupted sentence, `</s>` included.
        metric_clean: logit(clean answer) - logit(corrupted answer), in nats, in the clean run.
        metric_corrupted: The same difference in the corrupted run.
        metrics: The difference in the patched runs: of heads (3, L, H), of `residual` and `ffn` (2, L, P), encoder
            first; NaN where a stack has no such position.
        recovered: Share of the way from the patched run's own metric to the other run's: 0 to 1, and beyond.
    """

    texts: tuple[str, str]
    answers: tuple[str, str]
    prefix: tuple[str, ...]
    source: tuple[str, ...]
    lengths: tuple[int, int]
    metric_clean: float
    metric_corrupted: float
    metrics: Tensor
    recovered: Tensor


def patching(
    translator: Translator,
    clean: str,
    corrupted: str,
    *,
    answers: Answers | None = None,
    site: PatchSite = "heads",
    direction: Direction = "denoise",
    should_stop: Callable[[], bool] | None = None,
) -> Patching:
    """Patch each head, or each layer and position, from one run into the other.

    Args:
        translator: The model. Active edits stay active.
        clean: A sentence.
        corrupted: A sentence that differs from it in little.
        answers: Translations of the two; None takes the model's own. They are compared at the first token that differs.
        site: `heads`: the output of one head at all positions. In the encoder, if the sentences have different numbers
            of tokens, at the positions of their common beginning and end. `residual`: the residual stream after a
            layer, at one position. `ffn`: the inner activations of a feed-forward network, at one position.
        direction: `denoise` patches clean activations into the corrupted run: what suffices for the clean answer?
            `noise` patches corrupted ones into the clean run: what is needed for it?
        should_stop: Called before every batch.

    Raises:
        PatchingError: The translations are equal, or the runs hardly differ; for `residual` and `ffn` also if the
            sentences have different numbers of tokens.
        SourceTooLong: See `Translator.encode`.
        ValueError: A sentence is empty, or `site` or `direction` is unknown.
        DecodingStopped: `should_stop` returned True.
    """
    if site not in SITES:
        raise ValueError(f"site is {site!r}, but must be one of {', '.join(SITES)}")
    pair = read_pair(
        translator, clean, corrupted, answers=answers, direction=direction, points=_POINTS, aligned=site != "heads"
    )
    receiver, prefix = pair.receiver, pair.divergence.prefix
    cells = list(_cells(translator, site, receiver))
    logits = _patched_logits(translator, prefix, pair.donor, receiver, site, cells, should_stop)
    values = pair.metric(logits).cpu().double()
    config = translator.config
    positions = max(receiver.source.shape[1], len(prefix) + 1)
    last = config.num_heads if site == "heads" else positions
    grid = torch.full((len(KINDS) if site == "heads" else 2, config.num_layers, last), torch.nan, dtype=torch.float64)
    for cell, value in zip(cells, values, strict=True):
        grid[cell] = value
    tokenizer, lengths = translator.tokenizer, (pair.donor.source.shape[1], receiver.source.shape[1])
    first, second = tokenizer.tokens(list(pair.divergence.answers))
    return Patching(
        texts=pair.divergence.texts,
        answers=(first, second),
        prefix=tokenizer.tokens(list(prefix)),
        source=tokenizer.source.tokens(receiver.source[0].tolist()),
        lengths=lengths if direction == "denoise" else lengths[::-1],
        metric_clean=pair.metrics[0],
        metric_corrupted=pair.metrics[1],
        metrics=grid.float(),
        recovered=((grid - pair.start) / pair.difference).float(),
    )


_Index = tuple[int] | tuple[int, list[int]]  # a head or a position; a head at some positions


def _cells(translator: Translator, site: PatchSite, receiver: Run) -> Iterator[Cell]:
    """Yield every cell of a site."""
    layers, heads = range(translator.config.num_layers), range(translator.config.num_heads)
    if site == "heads":
        yield from ((kind, layer, head) for kind in range(len(KINDS)) for layer in layers for head in heads)
        return
    for stack in range(len(STACKS)):
        length = receiver.captured[_address(site, stack, 0)].shape[1]
        yield from ((stack, layer, at) for layer in layers for at in range(length))


def _address(site: PatchSite, place: int, layer: int) -> str:
    """Return the hook point of a kind of attention, or of a stack, in a layer."""
    if site == "heads":
        return hook_point_name(KINDS[place], layer, "head_outputs")
    point = "feed_forward_add_norm.residual" if site == "residual" else "feed_forward.activations"
    return f"{STACKS[place]}.layers.{layer}.{point}"


def translate_patched(
    translator: Translator,
    clean: str,
    corrupted: str,
    cell: Cell,
    *,
    answers: Answers | None = None,
    site: PatchSite = "heads",
    direction: Direction = "denoise",
    beam: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Translation:
    """Translate with one patch of `patching` in place.

    The translation begins with the tokens before the divergence. A decoder activation is patched at these positions and
    at the one that generates the next token; later positions are not patched.

    Args:
        translator: See `patching`.
        clean: See `patching`.
        corrupted: See `patching`. This sentence is translated; with the direction `noise`, the clean one.
        cell: Index into `recovered`: kind or stack, layer, head or position.
        answers: See `patching`.
        site: See `patching`.
        direction: See `patching`.
        beam: Hypotheses kept at each step; None takes the checkpoint's default.
        should_stop: See `Translator.translate`.

    Raises:
        PatchingError: The translations are equal.
        ValueError: There is no such cell.
    """
    divergence = first_divergence(translator, clean, corrupted, answers)
    prefix = divergence.prefix
    donor, receiver = (read_run(translator, text, prefix, _POINTS) for text in (clean, corrupted))
    if direction == "noise":
        donor, receiver = receiver, donor
    if cell not in set(_cells(translator, site, receiver)):
        raise ValueError(f"there is no cell {cell} of {site}")
    address = _address(site, *cell[:2])
    change = _kept(donor.captured[address][0], *_parts(site, cell, *_corresponding(donor, receiver)),
                   in_encoder=address.startswith("encoder"))  # fmt: skip
    with edit(translator.model, address, change):
        text = clean if direction == "noise" else corrupted
        return translator.translate(text, beam=beam, prefix=prefix, should_stop=should_stop)


def _kept(values: Tensor, there: _Index, here: _Index, *, in_encoder: bool) -> Edit:
    """Put a part of the donor's value into every row, also in cached decoding, one position at a time."""

    def change(value: Tensor, site: Site) -> Tensor:
        changed = value.clone()
        if in_encoder:
            changed[(slice(None), *here)] = values[there].to(value)
            return changed
        first, stop = site.rows.query_offset, min(site.rows.query_offset + value.shape[-2], values.shape[-2])
        if first >= stop:
            return value
        if value.ndim == 4:  # a head at all positions
            changed[:, here[0], : stop - first] = values[there[0], first:stop].to(value)
        elif first <= here[0] < stop:
            changed[:, here[0] - first] = values[there[0]].to(value)
        return changed

    return change


def _corresponding(donor: Run, receiver: Run) -> tuple[list[int], list[int]]:
    return same_positions(donor.source[0].tolist(), receiver.source[0].tolist())


@torch.no_grad()
def _patched_logits(
    translator: Translator,
    prefix: tuple[int, ...],
    donor: Run,
    receiver: Run,
    site: PatchSite,
    cells: list[Cell],
    should_stop: Callable[[], bool] | None,
) -> Tensor:
    """Return (R, V) logits after the prefix, with one value of the donor in each row of the receiver."""
    size = rows_at_once(translator.config, receiver.source.shape[1], len(prefix) + 1)
    there, here = _corresponding(donor, receiver)
    expect(should_stop, -(-len(cells) // size))
    logits = []
    for group in batches(cells, size, stop_check(should_stop)):
        rows: dict[str, list[tuple[int, _Index, _Index]]] = {}
        for row, cell in enumerate(group):
            rows.setdefault(_address(site, *cell[:2]), []).append((row, *_parts(site, cell, there, here)))
        with edit(translator, {address: _put(donor.captured[address][0], rows[address]) for address in rows}):
            logits.append(next_logits(translator, receiver.source.expand(len(group), -1), prefix))
    return torch.cat(logits)


def _parts(site: PatchSite, cell: Cell, there: list[int], here: list[int]) -> tuple[_Index, _Index]:
    """Return the index of a cell in the donor's value and in the receiver's."""
    place, _, at = cell
    if site == "heads" and KINDS[place] == "encoder":
        return (at, there), (at, here)
    return (at,), (at,)


def _put(values: Tensor, rows: Sequence[tuple[int, _Index, _Index]]) -> Edit:
    """Put parts of the donor's value into rows: row, index in the donor, index in the receiver."""

    def change(value: Tensor, _site: Site) -> Tensor:
        changed = value.clone()
        for row, there, here in rows:
            changed[(row, *here)] = values[there].to(value)
        return changed

    return change
