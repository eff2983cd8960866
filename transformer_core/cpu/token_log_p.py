"""Log-probabilities of given tokens, in blocks of the vocabulary that fit a CPU's cache.

All logits of 144 rows are 130 MB, and their exponentials as much again: new pages cost more than filling them does.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK_VALUES = 2**20  # logits of a block: 4 MiB in float32


def token_log_p(x: Tensor, weight: Tensor, bias: Tensor | None, tokens: Tensor) -> Tensor:
    """Return F.linear(x, weight, bias).log_softmax(-1) at one token of each row: (n, d) and (n,) ids -> (n,) nats.

    The weight, (V, d), may be float16, as it is stored.
    """
    size = max(1, BLOCK_VALUES // max(1, len(x)))
    log_z = x.new_full((len(x),), -torch.inf, dtype=torch.float32)
    for start in range(0, len(weight), size):
        block = slice(start, start + size)
        logits = F.linear(x, weight[block].to(x.dtype), None if bias is None else bias[block])
        log_z = torch.logaddexp(log_z, logits.float().logsumexp(dim=1))
    own = (x * weight[tokens]).sum(dim=1)
    return (own if bias is None else own + bias[tokens]).float() - log_z
