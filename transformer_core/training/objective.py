"""What training minimises, as one module, so that wrappers for several processes see every forward pass."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.data import Batch
from transformer_core.model import Transformer
from transformer_core.training.validation import batch_loss


class Objective(nn.Module):
    """The loss of a batch.

    Args:
        model: What is trained.
        config: How; gives the label smoothing and the number format.
        pad: Id of padding.
    """

    def __init__(self, model: Transformer, config: TrainingConfig, pad: int) -> None:
        super().__init__()
        self.model = model
        self.pad = pad
        self.smoothing = config.label_smoothing
        self.dtype = number_format(config)

    def forward(self, source: Tensor, inputs: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor]:
        """A batch -> its smoothed loss, which carries the gradient, and its nll; both summed over pieces, in nats."""
        batch = Batch(source, inputs, outputs)
        loss = batch_loss(self.model, batch, smoothing=self.smoothing, pad=self.pad, dtype=self.dtype)
        return loss.smoothed, loss.nll


def number_format(config: TrainingConfig) -> torch.dtype:
    """The number format of matrix products."""
    return torch.bfloat16 if config.precision == "bfloat16" else torch.float32
