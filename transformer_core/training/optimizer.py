"""What moves the weights: Adam (Section 5.3), or Muon for the matrices inside the layers and Adam for the rest."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.model import Transformer

_ADAM, _MUON = ("step", "exp_avg", "exp_avg_sq"), ("momentum_buffer",)


class AdamAndMuon:
    """Muon for the matrices of the layers; Adam, as in the paper, for embeddings, biases and norms.

    Where Adam scales each number of a gradient by itself, Muon turns the whole matrix of a step into one whose singular
    values are all about 1, so that rare directions move as far as frequent ones (Jordan et al. 2024, "Muon: An
    optimizer for hidden layers in neural networks"). Its steps are scaled to the size of Adam's (Liu et al. 2025,
    "Muon is Scalable for LLM Training", equation 4), so that both follow one learning rate; no weight decay.

    Used like a `torch.optim.Optimizer`; `state` holds what both remember, by parameter.
    """

    def __init__(self, model: Transformer, config: TrainingConfig) -> None:
        layers = nn.ModuleList([*model.encoder.layers, *model.decoder.layers])
        matrices = [parameter for parameter in layers.parameters() if parameter.ndim == 2]
        turned = set(matrices)
        others = [parameter for parameter in model.parameters() if parameter not in turned]
        self._adam = _adam(others, config)
        self._muon = torch.optim.Muon(
            [{"params": matrices, "factor": config.muon_factor}], weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
        )
        self.state = self._muon.state = self._adam.state

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Groups of parameters, each with its learning rate `lr` and, where there is one, its `factor`."""
        return [*self._adam.param_groups, *self._muon.param_groups]

    def step(self) -> None:
        """Move the weights along their gradients."""
        self._adam.step()
        self._muon.step()  # type: ignore[no-untyped-call]

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        self._adam.zero_grad(set_to_none)
        self._muon.zero_grad(set_to_none)

    def remembers(self, parameter: Tensor) -> tuple[str, ...]:
        """What is kept of a parameter from step to step."""
        return _MUON if any(parameter is each for each in self._muon.param_groups[0]["params"]) else _ADAM


Optimizer = torch.optim.Optimizer | AdamAndMuon


def optimizer_for(model: Transformer, config: TrainingConfig) -> Optimizer:
    """The optimizer that a training asks for, over all weights of the model."""
    return AdamAndMuon(model, config) if config.optimizer == "muon" else _adam(list(model.parameters()), config)


def set_rate(optimizer: Optimizer, rate: float) -> None:
    """Give the next step its learning rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group.get("factor", 1.0)


def remembered(optimizer: Optimizer, parameter: Tensor) -> tuple[str, ...]:
    """Names of what an optimizer keeps of a parameter from step to step."""
    return optimizer.remembers(parameter) if isinstance(optimizer, AdamAndMuon) else _ADAM


def _adam(parameters: list[nn.Parameter], config: TrainingConfig) -> torch.optim.Adam:
    return torch.optim.Adam(parameters, betas=(config.beta1, config.beta2), eps=config.adam_epsilon, fused=True)
