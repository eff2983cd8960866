"""The readable twin of the chunked loss, to compare with."""

from __future__ import annotations

import torch
from torch import Tensor


def smoothed_cross_entropy(logits: Tensor, targets: Tensor, smoothing: float) -> tuple[Tensor, Tensor]:
    """Label-smoothed cross-entropy (Section 5.4) from all logits at once.

    Args:
        logits: (N, V).
        targets: (N,) ids of the correct tokens.
        smoothing: Mass on the other tokens; see `mass_on_others`.

    Returns:
        Sum of the smoothed loss, and sum of the negative log-likelihood.
    """
    log_p = torch.log_softmax(logits.float(), dim=-1)  # (N, V)
    off_target = smoothing / (logits.shape[-1] - 1)
    wanted = torch.full_like(log_p, off_target).scatter_(1, targets[:, None], 1.0 - smoothing)  # (N, V)
    nll = -log_p.gather(1, targets[:, None]).sum()
    return -(wanted * log_p).sum(), nll
