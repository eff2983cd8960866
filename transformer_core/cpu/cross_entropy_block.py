"""Label-smoothed cross-entropy of a block of rows that fits a CPU's cache.

Shape legend: n rows, V = vocab_size.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class CrossEntropyBlock:
    """Loss and gradient of a few rows of logits, in memory that all blocks share.

    New pages of memory cost a CPU more than filling them. `log_softmax` and autograd are the readable twin.

    Args:
        logits: (rows, V) float32, space.
        p: (rows, V) float32, space.
        bias: (V,) of the output projection.
        smoothing: Mass on the other tokens.
    """

    logits: Tensor
    p: Tensor
    bias: Tensor | None
    smoothing: float

    def sums(self, low: Tensor, right: Tensor, d_bias: Tensor | None, with_gradient: bool) -> tuple[Tensor, Tensor]:
        """Sum smoothed loss and nll of (n, V) logits and (n, 1) correct tokens; the gradient overwrites the logits."""
        logits, p = self.logits[: len(low)].copy_(low), self.p[: len(low)]  # (n, V)
        if self.bias is not None:
            logits += self.bias
        torch.softmax(logits, dim=-1, out=p)
        # p = exp(logit - log_z), most exactly so for the largest; quicker than logsumexp, which takes exp once more.
        log_z = logits.amax(dim=-1, keepdim=True) - p.amax(dim=-1, keepdim=True).log()  # (n, 1)
        nll = log_z - logits.gather(1, right)
        vocabulary = low.shape[1]
        off_target = self.smoothing / (vocabulary - 1)
        # sum over k of -log p_k = V log_z - sum of logits
        all_nll = vocabulary * log_z - logits.sum(dim=-1, keepdim=True)
        smoothed = (1.0 - self.smoothing - off_target) * nll + off_target * all_nll
        if with_gradient:
            gradient = p.sub_(off_target)  # p - q, but for the right token
            gradient.scatter_add_(1, right, torch.full_like(nll, off_target - (1.0 - self.smoothing)))
            if d_bias is not None:
                d_bias += gradient.sum(dim=0)
            low.copy_(gradient)
        return smoothed.sum(), nll.sum()
