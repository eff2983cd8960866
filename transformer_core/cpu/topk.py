"""The largest values of long rows, such as the likeliest tokens of a vocabulary.

Shape legend: R rows, V values of a row, C chunks of a row, w values of a chunk.
"""

from __future__ import annotations

import torch
from torch import Tensor

_WIDTH = 128
_MANY = 2**16  # values; with fewer one pass is as quick


def chunked_topk(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return torch.topk(values, count) over the last dimension: (R, V) -> the largest, best first, and their indices.

    On a CPU torch compares the values one by one. The maximum of every chunk takes a quarter of the time, and the
    `count` largest values are in the `count` chunks with the largest maxima. Which of equal values is chosen is
    undefined, as in torch.
    """
    if values.device.type != "cpu" or values.numel() < _MANY or values.shape[1] < 4 * count * _WIDTH:
        top, at = values.topk(count)
        return top, at
    return _by_chunks(values, count)


def _by_chunks(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    size = values.shape[1] // _WIDTH * _WIDTH
    chunks = values[:, :size].reshape(len(values), -1, _WIDTH)  # (R, C, w)
    best_chunks = chunks.amax(dim=-1).topk(count).indices[:, :, None]  # (R, count, 1)
    candidates = chunks.gather(1, best_chunks.expand(-1, -1, _WIDTH)).flatten(1)  # (R, count * w)
    places = (best_chunks * _WIDTH + torch.arange(_WIDTH)).flatten(1)
    rest = torch.arange(size, values.shape[1])  # too few for a chunk
    candidates = torch.cat((candidates, values[:, size:]), dim=1)
    places = torch.cat((places, rest.expand(len(values), -1)), dim=1)
    top, at = candidates.topk(count)
    return top, places.gather(1, at)
