"""Ready-made changes for `edit(model, address, change)`: ablate, patch, knock out, force, inject.

Positions count from 0 over the whole sentence. In step-by-step decoding an edit finds its positions by the query
offset, so that it means the same in a forced pass and in beam search.

Shape legend: B rows of the batch, H heads, Q queries of this pass, K keys, d_v width of a head's values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

import torch
from torch import Tensor

from transformer_core.hooks.captured import Captured, mean_vector
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
    chosen = sorted(neurons)

    def ablate(value: Tensor, site: Site) -> Tensor:
        if not all(0 <= neuron < value.shape[-1] for neuron in chosen):
            raise ValueError(f"neurons is {chosen}, but {site.address} has neurons 0 to {value.shape[-1] - 1}")
        changed = value.clone()
        changed[..., chosen] = to
        return changed

    return ablate


def patch(values: Tensor | Mapping[str, Tensor] | HasCaptured) -> Edit:
    """For any point: replace the value by the value of another run.

    Args:
        values: A tensor of the point's shape, with B or 1 rows and all positions, or a capture or run that holds one
            under the same address.

    Raises:
        ValueError: when it runs: the other run lacks the address, these positions, or has another shape.
    """
    given = values if isinstance(values, Tensor | Mapping) else values.captured

    def put_in(value: Tensor, site: Site) -> Tensor:
        if isinstance(given, Mapping):
            if site.address not in given:
                raise ValueError(f"the other run has no value at {site.address}")
            other = given[site.address]
        else:
            other = given
        start, length = site.rows.query_offset, value.shape[-2]
        other = other[..., start : start + length, :].to(value)
        if other.shape[1:] != value.shape[1:] or other.shape[0] not in (1, value.shape[0]):
            raise ValueError(
                f"{site.address} is {tuple(value.shape)} at position {start}, "
                f"the other run has {tuple(other.shape)} there"
            )
        return other.expand_as(value)

    return put_in


def knock_out(edges: Collection[tuple[int, int]]) -> Edit:
    """For `scores`: mask these keys for these queries; softmax shares their weight among the other keys.

    Args:
        edges: (query position, key position); a query that loses all its keys attends to nothing.

    Raises:
        ValueError: when it runs: the point is another one, or there is no such key.
    """

    def cut(value: Tensor, site: Site) -> Tensor:
        _check_point("scores", site)
        changed = value.clone()
        for row, key in _live(edges, value, site):
            changed[:, :, row, key] = -math.inf
        return changed

    return cut


def force_edges(edges: Mapping[int, int]) -> Edit:
    """For `scores`: each of these queries gives all its weight to one key.

    Args:
        edges: Query position -> key position.

    Raises:
        ValueError: when it runs: the point is another one, or there is no such key.
    """

    def force(value: Tensor, site: Site) -> Tensor:
        _check_point("scores", site)
        changed = value.clone()
        for row, key in _live(edges.items(), value, site):
            changed[:, :, row] = -math.inf
            changed[:, :, row, key] = 0.0
        return changed

    return force


def inject(pattern: Tensor) -> Edit:
    """For `weights`: replace the pattern of the model by a given one.

    Args:
        pattern: (Q, K) or (H, Q, K) weights for all positions; rows should sum to 1. Keys that are not live yet in
            step-by-step decoding are left out.

    Raises:
        ValueError: when it runs: the pattern lacks these queries or keys.
    """

    def put_in(value: Tensor, site: Site) -> Tensor:
        _check_point("weights", site)
        start, (queries, keys) = site.rows.query_offset, value.shape[2:]
        rows = pattern[..., start : start + queries, :keys].to(value)
        if rows.shape[-2:] != (queries, keys):
            raise ValueError(
                f"{site.address} needs queries {start} to {start + queries - 1} and {keys} keys, "
                f"but the pattern is {tuple(pattern.shape)}"
            )
        return rows.expand_as(value)

    return put_in


def only(change: Edit, *, sentences: Collection[int] | None = None, beams: Collection[int] | None = None) -> Edit:
    """Return an edit restricted to some rows of the batch.

    Args:
        change: Any edit.
        sentences: Numbers of the sentences in the batch; None means all.
        beams: Numbers of the hypotheses in beam search, 0 for the best; None means all.
    """

    def change_some(value: Tensor, site: Site) -> Tensor | None:
        numbers = site.rows.sentences or tuple(range(len(value)))
        ranks = site.rows.beams or (0,) * len(numbers)
        if len(value) != len(numbers):  # keys and values of the source are shared by the beams of a sentence
            numbers, ranks = tuple(dict.fromkeys(numbers)), (0,) * len(value)
        wanted = [
            (sentences is None or number in sentences) and (beams is None or rank in beams)
            for number, rank in zip(numbers, ranks, strict=True)
        ]
        if not any(wanted):
            return None
        changed = change(value, site)
        if changed is None:
            return None
        mask = torch.tensor(wanted, device=value.device).view(-1, *[1] * (value.dim() - 1))
        return torch.where(mask, changed, value)

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


def _live(edges: Iterable[tuple[int, int]], value: Tensor, site: Site) -> list[tuple[int, int]]:
    """Return the edges of the queries of this pass, as row of the pass and key. Raises ValueError for a missing key."""
    start, (queries, keys) = site.rows.query_offset, value.shape[2:]
    live = [(query - start, key) for query, key in edges if 0 <= query - start < queries]
    beyond = [key for _, key in live if not 0 <= key < keys]
    if beyond:
        raise ValueError(f"{site.address} has keys 0 to {keys - 1}, not {beyond[0]}")
    return live
