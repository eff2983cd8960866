"""Ready-made changes for `edit(model, address, change)`: ablate, patch, knock out, force, inject.

Positions count from 0 over the whole sentence. In step-by-step decoding an edit finds its positions by the query
offset, so that it means the same in a forced pass and in beam search.

Shape legend: B rows of the batch, H heads, Q queries of this pass, K keys, d_v width of a head's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from transformer_core.hooks.captured import Captured, mask_of, mean_vector
from transformer_core.hooks.hook_sites import Point, Site
from transformer_core.hooks.points import Edit


class HasCaptured(Protocol):
    """Holder of captured values, such as a run."""

    @property
    def captured(self) -> Captured:
        """The values."""


def zero(value: Tensor, site: Site) -> Tensor:
    """For any point and shape: zeros. At a short address such as `cross.6.8`, of that head alone."""
    return torch.zeros_like(value)


def mean_of(other: Captured | HasCaptured) -> Edit:
    """For any point but scores and weights: at every position the mean over all positions of a run or a capture.

    Args:
        other: A run or capture with values, (B, H, n, x) or (B, n, x), at the same address; padding does not count.

    Raises:
        ValueError: when it runs: the other run lacks the address, or the point has a value for each key.
    """
    calls = (other if isinstance(other, Captured) else other.captured).calls

    def put_mean(value: Tensor, site: Site) -> Tensor:
        if site.address not in calls:
            raise ValueError(f"the other run has no value at {site.address}")
        if site.point in ("scores", "weights"):
            raise ValueError(f"{site.address} has one value for each key, of which no mean over sentences exists")
        return mean_vector(calls[site.address]).to(value).unsqueeze(-2).expand_as(value)

    return put_mean


def ablate_neurons(neurons: Collection[int], to: float = 0.0) -> Edit:
    """For `activations`: set these inner values of a feed-forward network to `to`; neurons count from 0.

    Raises:
        ValueError: when it runs: there is no such neuron.
    """
    numbers = sorted(neurons)

    def ablate(value: Tensor, site: Site) -> Tensor:
        if not all(0 <= neuron < value.shape[-1] for neuron in numbers):
            raise ValueError(f"neurons is {numbers}, but {site.address} has neurons 0 to {value.shape[-1] - 1}")
        changed = value.clone()
        changed[..., numbers] = to
        return changed

    return ablate


def patch(values: Tensor | Mapping[str, Tensor] | HasCaptured, positions: Mapping[int, int] | None = None) -> Edit:
    """For any point: replace the value by the value of another run.

    Args:
        values: A run or capture that holds a value under the same address, or a tensor of the point's shape, with all
            positions. It has as many sentences as are changed, the first for the first, or one sentence for all.
        positions: Position -> position in the other run; all others stay. None takes all: both must have as many.

    Raises:
        ValueError: when it runs: the other run lacks the address, or has other numbers of sentences or positions, or
            another shape.
    """

    def put_in(value: Tensor, site: Site) -> Tensor:
        donors, sentences = _donors(values, site), site.sentences(value)
        total = site.rows.total or max(sentences) + 1
        if len(donors) not in (1, total):
            raise ValueError(f"{site.address} has {total} sentences, the other run has {len(donors)}")
        changed = value.clone()
        for row, sentence in enumerate(sentences):
            donor = donors[0 if len(donors) == 1 else sentence].to(value)
            _put(changed[row], donor, value, site, sentence, positions)
        return changed

    return put_in


def _donors(values: Tensor | Mapping[str, Tensor] | HasCaptured, site: Site) -> Sequence[Tensor]:
    """Return the value of each sentence of another run, without padding where it is known."""
    if isinstance(values, Tensor):
        return values.unbind()
    donors = values if isinstance(values, Mapping) else values.captured
    if site.address not in donors:
        raise ValueError(f"the other run has no value at {site.address}")
    if not isinstance(donors, Captured):
        return donors[site.address].unbind()
    calls = donors.calls[site.address]
    if donors is values and len(calls) > 1:
        raise ValueError(f"the capture holds {len(calls)} passes at {site.address}, but must hold one; give a run")
    if donors is not values:
        return [call[0] for call in calls]
    mask = mask_of(calls[0])
    return [row if mask is None else row[..., : int(mask[n].sum()), :] for n, row in enumerate(calls[0])]


def _put(
    row: Tensor, donor: Tensor, value: Tensor, site: Site, sentence: int, positions: Mapping[int, int] | None
) -> None:
    """Put the value of another run into one row of a pass."""
    start, queries = site.rows.query_offset, row.shape[-2]
    length, width = site.positions(value, sentence), row.shape[-1]
    known = length if length is not None else start + queries
    if site.point in ("scores", "weights"):
        if site.kind == "decoder" and length is None:
            donor = donor[..., :width]  # later keys are not live yet
        if donor.shape[-1] == site.keys(value, sentence):
            width = donor.shape[-1]
    too_long = positions is None and length is not None and donor.shape[-2] > length
    too_short = positions is None and donor.shape[-2] < known
    missing = positions is not None and max(positions.values(), default=-1) >= donor.shape[-2]
    if too_long or too_short or missing or donor.shape[:-2] != row.shape[:-2] or donor.shape[-1] != width:
        shape = (*row.shape[:-2], known, width)
        raise ValueError(
            f"{site.address} is {shape} in sentence {sentence}, the other run has {tuple(donor.shape)} there"
            + ("; positions={here: there} patches some positions" if too_long or too_short else "")
        )
    if positions is None:
        part = donor[..., start : start + queries, :]
        row[..., : part.shape[-2], :width] = part
        return
    for here, there in positions.items():
        if start <= here < start + queries:
            row[..., here - start, :width] = donor[..., there, :]


def knock_out(edges: Collection[tuple[int, int]]) -> Edit:
    """For `scores`: mask these keys for these queries; softmax shares their weight among the other keys.

    Args:
        edges: (query position, key position); a query that loses all its keys attends to nothing.

    Raises:
        ValueError: when it runs: the point is another one, or there is no such key.
    """
    return _at_edges(edges, forced=False)


def force_edges(edges: Mapping[int, int]) -> Edit:
    """For `scores`: each of these queries gives all its weight to one key.

    Args:
        edges: Query position -> key position.

    Raises:
        ValueError: when it runs: the point is another one, or there is no such key.
    """
    return _at_edges(edges.items(), forced=True)


def _at_edges(edges: Iterable[tuple[int, int]], *, forced: bool) -> Edit:
    def change(value: Tensor, site: Site) -> Tensor:
        _check_point("scores", site)
        changed = value.clone()
        for row, sentence in enumerate(site.sentences(value)):
            for query, key in _live(edges, value, site, sentence):
                changed[row, :, query, slice(None) if forced else key] = -math.inf
                if forced:
                    changed[row, :, query, key] = 0.0
        return changed

    return change


def inject(pattern: Tensor) -> Edit:
    """For `weights`: replace the pattern of the model by a given one.

    Args:
        pattern: (Q, K) or (H, Q, K) weights for all positions; rows should sum to 1. Of a larger pattern each sentence
            takes the part of its own positions, and each step of decoding that of its live keys.

    Raises:
        ValueError: when it runs: the pattern lacks these queries or keys.
    """

    def put_in(value: Tensor, site: Site) -> Tensor:
        _check_point("weights", site)
        start, changed = site.rows.query_offset, value.clone()
        for row, sentence in enumerate(site.sentences(value)):
            length, keys = site.positions(value, sentence), site.keys(value, sentence)
            stop = start + value.shape[2] if length is None else min(start + value.shape[2], length)
            part = pattern[..., start:stop, :keys].to(value)
            if part.shape[-2:] != (stop - start, keys):
                raise ValueError(
                    f"{site.address} needs queries {start} to {stop - 1} and {keys} keys, "
                    f"but the pattern is {tuple(pattern.shape)}"
                )
            changed[row, :, : stop - start, :keys] = part
        return changed

    return put_in


def only(change: Edit, *, sentences: Collection[int] | None = None, beams: Collection[int] | None = None) -> Edit:
    """Return an edit restricted to some rows of the batch.

    Args:
        change: Any edit.
        sentences: Numbers of the sentences in the batch; None means all.
        beams: Numbers of the hypotheses in beam search, 0 for the best; None means all.
    """

    def change_some(value: Tensor, site: Site) -> Tensor | None:
        numbers = site.sentences(value)
        ranks = site.rows.beams or (0,) * len(numbers)
        if len(ranks) != len(value):
            ranks = (0,) * len(value)
        rows_here = [
            row
            for row, (number, rank) in enumerate(zip(numbers, ranks, strict=True))
            if (sentences is None or number in sentences) and (beams is None or rank in beams)
        ]
        if not rows_here:
            return None
        rows = replace(
            site.rows,
            sentences=tuple(numbers[row] for row in rows_here),
            beams=None if site.rows.beams is None else tuple(ranks[row] for row in rows_here),
            total=site.rows.total or max(numbers) + 1,
        )
        before = value[rows_here]
        changed = change(before, replace(site, rows=rows))
        result = value.clone()
        result[rows_here] = before if changed is None else changed
        return result

    return change_some


def chain(*changes: Edit) -> Callable[[Tensor, Site], Tensor]:
    """Several edits at one point, applied in order, each to the value that the one before leaves."""

    def change_all(value: Tensor, site: Site) -> Tensor:
        for change in changes:
            changed = change(value, site)
            value = value if changed is None else changed
        return value

    return change_all


def _check_point(point: Point, site: Site) -> None:
    if site.point != point:
        raise ValueError(f"this edit changes {point}, not {site.address}")


def _live(edges: Iterable[tuple[int, int]], value: Tensor, site: Site, sentence: int) -> list[tuple[int, int]]:
    """Return the edges of the queries of this pass, as row of the pass and key. Raises ValueError for a missing key."""
    start, queries, keys = site.rows.query_offset, value.shape[2], site.keys(value, sentence)
    live = [(query - start, key) for query, key in edges if 0 <= query - start < queries]
    beyond = [key for _, key in live if not 0 <= key < keys]
    if beyond:
        raise ValueError(f"{site.address} has keys 0 to {keys - 1}, not {beyond[0]}")
    return live
