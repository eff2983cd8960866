"""Log-probabilities of given tokens without the logits of all others in memory.

Logits of 144 sentences take 130 MB, and as much again for their exponentials: new pages of memory cost a CPU more than
filling them does. Blocks of the vocabulary fit its cache.

Shape legend: n rows, d = d_model, V = vocab_size.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

BLOCK_VALUES = 2**20  # logits of a block: 4 MiB in float32


def token_log_p(x: Tensor, weight: Tensor, bias: Tensor | None, tokens: Tensor) -> Tensor:
    """Return F.linear(x, weight, bias).log_softmax(-1) at one token of each row, without gradients.

    Args:
        x: (n, d).
        weight: (V, d), in float32 or as it is stored.
        bias: (V,), or None.
        tokens: (n,) ids.

    Returns:
        (n,) nats, in float32.
    """
    size = max(1, BLOCK_VALUES // max(1, len(x)))
    log_z = x.new_full((len(x),), -torch.inf, dtype=torch.float32)
    for start in range(0, len(weight), size):
        block = slice(start, start + size)
        logits = F.linear(x, weight[block].to(x.dtype), None if bias is None else bias[block])
        log_z = torch.logaddexp(log_z, logits.float().logsumexp(dim=1))
    own = (x * weight[tokens]).sum(dim=1)
    return (own if bias is None else own + bias[tokens]).float() - log_z
