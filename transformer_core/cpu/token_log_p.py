"""Log-probabilities of given tokens, in blocks of the vocabulary that fit a CPU's cache.

All logits of 144 rows are 130 MB, and their exponentials as much again: new pages cost more than filling them does.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

BLOCK_VALUES = 2**20  # logits of a block: 4 MiB in float32


def token_log_p(x: Tensor, weight: Tensor, bias: Tensor | None, tokens: Tensor) -> Tensor:
    """Return F.linear(x, weight, bias).log_softmax(-1) at one token of each row: (n, d) and (n,) ids -> (n,) nats.

    The weight, (V, d), may be float16, as it is stored.
    """
    size = max(1, BLOCK_VALUES // max(1, len(x)))
    logit = (x * weight[tokens]).sum(dim=1, keepdim=True)
    if bias is not None:
        logit += bias[tokens, None]
    total = x.new_zeros(len(x))  # sum of exp(logit - own logit): no maximum is needed first, and p is its inverse
    for start in range(0, len(weight), size):
        block = slice(start, start + size)
        logits = F.linear(x, weight[block].to(x.dtype), None if bias is None else bias[block])
        total += logits.sub_(logit).exp_().sum(dim=1)
    log_p: Tensor = -total.log()
    extreme = ~total.isfinite()  # p is below e^-88
    if extreme.any():
        all_log_p = F.linear(x[extreme], weight.to(x.dtype), bias).log_softmax(dim=1)
        log_p[extreme] = all_log_p.gather(1, tokens[extreme, None])[:, 0]
    return log_p
