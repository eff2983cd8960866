"""The optimizers: Adam (Section 5.3), or Muon for the matrices inside the layers and Adam for the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.model.transformer import Transformer
from transformer_core.training.distributed import SINGLE_PROCESS, ProcessGroup

_ADAM, _MUON = ("step", "exp_avg", "exp_avg_sq"), ("momentum_buffer",)


class AdamAndMuon:
    """Muon for the matrices of the layers; Adam, as in the paper, for embeddings, biases and norms.

    Where Adam scales each element of a gradient, Muon orthogonalises the matrix of a step, so that its singular
    values are all about 1 and rare directions move as far as frequent ones (Jordan et al. 2024, "Muon: An
    optimizer for hidden layers in neural networks"). Its steps are scaled to the size of Adam's (Liu et al. 2025,
    "Muon is Scalable for LLM Training", equation 4), so that both follow one learning rate; no weight decay.

    Orthogonalising takes time, so processes that train together divide the matrices: each updates some and sends the
    others its new weights, bit for bit what they would have computed themselves.

    Used like a `torch.optim.Optimizer`; `state` has the state of both, by parameter.
    """

    def __init__(self, model: Transformer, config: TrainingConfig, group: ProcessGroup = SINGLE_PROCESS) -> None:
        layers = nn.ModuleList([*model.encoder.layers, *model.decoder.layers])
        matrices = [parameter for parameter in layers.parameters() if parameter.ndim == 2]
        matrices_set = set(matrices)
        others = [parameter for parameter in model.parameters() if parameter not in matrices_set]
        self._adam = _adam(others, config)
        self._muon = torch.optim.Muon(
            [{"params": matrices, "factor": config.muon_factor}], weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
        )
        self.state = self._muon.state = self._adam.state
        self._group = group
        largest_first = sorted(matrices, key=Tensor.numel, reverse=True)
        self._owned_by = [largest_first[rank :: group.size] for rank in range(group.size)]

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Groups of parameters, each with its learning rate `lr` and, where there is one, its `factor`."""
        return [*self._adam.param_groups, *self._muon.param_groups]

    def step(self) -> None:
        """Update the weights; to be called in every process."""
        self._adam.step()
        for rank, matrices in enumerate(self._owned_by):
            for matrix in matrices if rank != self._group.rank else ():
                matrix.grad = None  # Muon skips it
        self._muon.step()  # type: ignore[no-untyped-call]
        self._exchange(lambda matrix: matrix.detach())

    def synchronize_state(self) -> None:
        """Copy the state of each matrix from its owner to all processes; to be called in every process."""
        for matrix in self._muon.param_groups[0]["params"]:
            self.state[matrix].setdefault("momentum_buffer", torch.zeros_like(matrix))
        self._exchange(lambda matrix: self.state[matrix]["momentum_buffer"])

    def _exchange(self, of: Callable[[Tensor], Tensor]) -> None:
        """Broadcast a tensor of each matrix from its owner to all processes."""
        for rank, matrices in enumerate(self._owned_by if self._group.size > 1 else ()):
            places = [of(matrix) for matrix in matrices]
            sizes = [place.numel() for place in places]
            sent = self._group.broadcast(torch.cat([place.flatten() for place in places]), rank)
            for place, numbers in zip(places, torch.split(sent, sizes), strict=True):
                place.copy_(numbers.view_as(place))

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients."""
        self._adam.zero_grad(set_to_none)
        self._muon.zero_grad(set_to_none)

    def state_names(self, parameter: Tensor) -> tuple[str, ...]:
        """Return names of the state kept for a parameter."""
        return _MUON if any(parameter is each for each in self._muon.param_groups[0]["params"]) else _ADAM


Optimizer = torch.optim.Optimizer | AdamAndMuon


def optimizer_for(model: Transformer, config: TrainingConfig, group: ProcessGroup = SINGLE_PROCESS) -> Optimizer:
    """Return the optimizer of a training configuration, over all weights of the model."""
    return AdamAndMuon(model, config, group) if config.optimizer == "muon" else _adam(list(model.parameters()), config)


def set_learning_rate(optimizer: Optimizer, rate: float) -> None:
    """Set the learning rate of the next step."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)


def state_names(optimizer: Optimizer, parameter: Tensor) -> tuple[str, ...]:
    """Return names of the state that an optimizer keeps for a parameter."""
    return optimizer.state_names(parameter) if isinstance(optimizer, AdamAndMuon) else _ADAM


def _adam(parameters: list[nn.Parameter], config: TrainingConfig) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, betas=(config.beta1, config.beta2), eps=config.adam_epsilon, fused=True)
