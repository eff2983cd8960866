"""The weights of every head of a forced pass: one tensor for each kind of attention, read by the host at the end.

Shape legend: L layers, B sentences, H heads, Q queries, K keys.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor

from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_point import hooked
from transformer_core.hooks.points import Site, hook_points
from transformer_core.model.transformer import Transformer


@contextmanager
def capture_maps(model: Transformer, kinds: Collection[Kind] = KINDS) -> Iterator[dict[Kind, Tensor]]:
    """Record all weights of one pass, on the device of the model: (L, B, H, Q, K) for each kind, after the pass."""
    maps: dict[Kind, Tensor] = {}

    def record(weights: Tensor, site: Site) -> None:
        assert site.kind is not None and site.layer is not None
        if site.kind not in maps:
            maps[site.kind] = weights.new_empty(model.config.num_layers, *weights.shape)
        maps[site.kind][site.layer] = weights.detach()

    points = hook_points(model).values()
    with hooked(
        [each for each in points if each.site and each.site.point == "weights" and each.site.kind in kinds], record
    ):
        yield maps


def to_host(maps: Mapping[Kind, Tensor]) -> dict[Kind, Tensor]:
    """Copy maps to the host, one transfer for each kind; from CUDA into pinned memory, with one wait for all."""
    moved = {kind: weights.to("cpu", non_blocking=weights.is_cuda) for kind, weights in maps.items()}
    for device in {weights.device for weights in maps.values() if weights.is_cuda}:
        torch.cuda.current_stream(device).synchronize()
    return moved
