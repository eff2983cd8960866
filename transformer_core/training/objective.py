"""The training objective as one module, so that wrappers for several processes see every forward pass."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.data import Batch
from transformer_core.hooks.points import capture
from transformer_core.model.transformer import Transformer
from transformer_core.training.head_penalty import head_penalty
from transformer_core.training.loss import Loss, mass_on_others
from transformer_core.training.validation import batch_loss, decoder_vectors

_BACKEND = "inductor"  # of torch.compile
_GRAPHS = 200


class Objective(nn.Module):
    """The loss of a batch.

    Only the function that runs the model is compiled, so that parameters keep their names. Every new shape of a batch
    is compiled again, so batches must have few shapes.

    Args:
        model: The model to train.
        config: Gives label smoothing, number format and whether to compile.
        pad: Id of padding.
        is_separator: From `separators`; needed for a head penalty.
    """

    def __init__(
        self, model: Transformer, config: TrainingConfig, pad: int, is_separator: tuple[Tensor, Tensor] | None = None
    ) -> None:
        super().__init__()
        self.model = model
        self.pad = pad
        self.is_separator = is_separator
        self.penalises = config.head_penalty > 0  # False before the penalty sets in
        self.head_penalty = torch.full((), config.head_penalty, device=model.output_weight.device)
        self.smoothing = mass_on_others(config.label_smoothing, model.config.vocab_size, config.smoothing)
        self.dtype = number_format(config)
        self._vectors_of = decoder_vectors
        if config.compile:
            # Beyond the limit the compiler silently falls back to eager execution; each shape needs a few graphs.
            torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, _GRAPHS)
            self._vectors_of = torch.compile(decoder_vectors, dynamic=False, backend=_BACKEND)

    def set_head_penalty(self, weight: float) -> None:
        """Set the weight of the head penalty from the next batch on."""
        self.penalises = weight > 0
        self.head_penalty.fill_(weight)

    def forward(
        self, source: Tensor, inputs: Tensor, outputs: Tensor, source_padded: bool = True
    ) -> tuple[Tensor, Tensor]:
        """A batch -> its loss, which carries the gradient, and its nll; both summed over tokens, in nats.

        The loss has label smoothing, and the head penalty if there is one.
        """
        batch = Batch(source, inputs, outputs, source_padded)
        if not self.penalises or self.is_separator is None:
            loss = self._loss(batch)
            return loss.smoothed, loss.nll
        with capture(self.model, "weights", grad=True) as weights:
            loss = self._loss(batch)
        penalty = head_penalty(weights, source, inputs, self.is_separator, self.pad)
        return loss.smoothed + self.head_penalty * loss.tokens * penalty, loss.nll

    def _loss(self, batch: Batch) -> Loss:
        return batch_loss(
            self.model,
            batch,
            smoothing=self.smoothing,
            pad=self.pad,
            dtype=self.dtype,
            vectors_of=self._vectors_of,
        )


def number_format(config: TrainingConfig) -> torch.dtype:
    """Return the number format of matrix products."""
    return torch.bfloat16 if config.precision == "bfloat16" else torch.float32
