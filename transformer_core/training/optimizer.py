"""The optimizers: Adam (Section 5.3), or Muon for the matrices inside the layers and Adam for the rest.

Both take the learning rate and a flag from tensors, and read nothing back: a step can be queued on a GPU, or captured.
"""

from __future__ import annotations

import math
from itertools import groupby

import torch
from torch import Tensor, nn

from transformer_core.config import TrainingConfig
from transformer_core.model.transformer import Transformer
from transformer_core.training.distributed import SINGLE_PROCESS, ProcessGroup

_MOMENTUM = 0.95
# Of Newton-Schulz, which brings singular values near 1 (Jordan et al. 2024).
_ITERATIONS, _A, _B, _C = 5, 3.4445, -4.7750, 2.0315


class _Stack:
    """Matrices of one shape, which Muon updates at once.

    Args:
        matrices: Parameters, (m, n) each.
    """

    def __init__(self, matrices: list[nn.Parameter]) -> None:
        self.matrices = matrices
        self.momentum = torch.zeros(len(matrices), *matrices[0].shape, device=matrices[0].device)  # (N, m, n)
        self.is_tall = matrices[0].shape[0] > matrices[0].shape[1]

    def nesterov(self, failed: Tensor) -> Tensor:
        """Add the gradients to the momentum; return (N, m, n) to orthogonalise, wide rather than tall."""
        gradients = torch.stack([matrix.grad for matrix in self.matrices if matrix.grad is not None])
        gradients = torch.where(failed, self.momentum, gradients)  # which leaves the momentum as it is
        self.momentum.lerp_(gradients, 1.0 - _MOMENTUM)
        update = gradients.lerp_(self.momentum, _MOMENTUM)
        return update.mT if self.is_tall else update


class Muon:
    """Muon with momentum of Nesterov's kind, over stacks of matrices: twin of `torch.optim.Muon`.

    Where Adam scales each element of a gradient, Muon orthogonalises the matrix of a step, so that its singular
    values are all about 1 and rare directions move as far as frequent ones (Jordan et al. 2024, "Muon: An
    optimizer for hidden layers in neural networks"). Its steps are scaled to the size of Adam's (Liu et al. 2025,
    "Muon is Scalable for LLM Training", equation 4), so that both follow one learning rate; no weight decay.

    Args:
        matrices: Parameters.
        factor: Multiplies the learning rate.
        rate: () learning rate.
        failed: () 1 if the step changes nothing.
    """

    def __init__(self, matrices: list[nn.Parameter], factor: float, rate: Tensor, failed: Tensor) -> None:
        self._factor, self._rate, self._failed = factor, rate, failed

        def shape(matrix: nn.Parameter) -> tuple[int, ...]:
            return tuple(matrix.shape)

        self.stacks = [_Stack(list(each)) for _, each in groupby(sorted(matrices, key=shape), key=shape)]
        self.state = {
            matrix: {"momentum_buffer": momentum}
            for stack in self.stacks
            for matrix, momentum in zip(stack.matrices, stack.momentum, strict=True)
        }

    @torch.no_grad()
    def step(self) -> None:
        """Update the weights."""
        rate, failed = self._rate * (self._factor * (1.0 - self._failed)), self._failed > 0
        matrices: list[Tensor] = []
        steps: list[Tensor] = []
        for shape, group in groupby(sorted(self.stacks, key=_wide_shape), key=_wide_shape):
            stacks = list(group)
            updates = [stack.nesterov(failed) for stack in stacks]
            turned = orthogonalise(torch.cat(updates) if len(updates) > 1 else updates[0])
            turned *= rate * (-0.2 * math.sqrt(max(shape)))  # steps of Adam's size
            for stack, step in zip(stacks, torch.split(turned, [len(stack.matrices) for stack in stacks]), strict=True):
                matrices += stack.matrices
                steps += (step.mT if stack.is_tall else step).unbind()
        torch._foreach_add_(matrices, steps)


def _wide_shape(stack: _Stack) -> tuple[int, ...]:
    return tuple(sorted(stack.momentum.shape[1:]))


def orthogonalise(x: Tensor) -> Tensor:
    """Bring the singular values of (N, m, n) matrices near 1, m <= n, by Newton-Schulz iterations in bfloat16."""
    x = x.bfloat16()
    x /= x.norm(dim=(-2, -1), keepdim=True).clamp_min(1e-7)
    for _ in range(_ITERATIONS):
        gram = torch.bmm(x, x.mT)
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=_B, alpha=_C), x, beta=_A)
    return x.float()


class Optimizer:
    """Adam, or Adam and Muon, with one learning rate and one flag.

    Orthogonalising takes time, so processes that train together divide the matrices: each updates some and sends the
    others its new weights, bit for bit what they would have computed themselves.

    Args:
        model: Its weights are updated.
        config: Options of the optimizers.
        group: The processes that train together.

    Attributes:
        rate: () learning rate of the next step.
        failed: () 1 if no step changes anything, because a loss or a gradient was not finite.
        state: What is remembered for each parameter, by name.
    """

    def __init__(self, model: Transformer, config: TrainingConfig, group: ProcessGroup = SINGLE_PROCESS) -> None:
        self._group = group
        device = model.output_weight.device
        self.rate, self.failed = torch.zeros((), device=device), torch.zeros((), device=device)
        layers = nn.ModuleList([*model.encoder.layers, *model.decoder.layers])
        matrices = [each for each in layers.parameters() if each.ndim == 2] if config.optimizer == "muon" else []
        matrices_set = set(matrices)
        others = [parameter for parameter in model.parameters() if parameter not in matrices_set]
        self._adam = _adam(others, config, self.rate)
        self._adam.found_inf = self.failed  # type: ignore[attr-defined]  # as torch.amp.GradScaler does
        largest_first = sorted(matrices, key=Tensor.numel, reverse=True)
        self._muon = [
            Muon(largest_first[rank :: group.size], config.muon_factor, self.rate, self.failed)
            for rank in range(group.size if matrices else 0)
        ]
        self.state: dict[Tensor, dict[str, Tensor]] = dict(self._adam.state)
        for muon in self._muon:
            self.state.update(muon.state)  # type: ignore[arg-type]
        self._parameters = [*others, *matrices]

    def step(self) -> None:
        """Update the weights; to be called in every process."""
        self._adam.step()
        for muon in self._muon[self._group.rank : self._group.rank + 1]:
            muon.step()
        if self._group.size > 1:
            for rank, muon in enumerate(self._muon):
                for stack in muon.stacks:
                    sent = self._group.broadcast(torch.stack([each.detach() for each in stack.matrices]), rank)
                    for matrix, weights in zip(stack.matrices, sent, strict=True):
                        matrix.detach().copy_(weights)

    def synchronize_state(self) -> None:
        """Copy the state of each matrix from the process that updates it to all; to be called in every process."""
        if self._group.size > 1:
            for rank, muon in enumerate(self._muon):
                for stack in muon.stacks:
                    self._group.broadcast(stack.momentum, rank)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset the gradients."""
        if set_to_none:
            for parameter in self._parameters:
                parameter.grad = None
        else:
            torch._foreach_zero_([each.grad for each in self._parameters if each.grad is not None])


def _adam(parameters: list[nn.Parameter], config: TrainingConfig, rate: Tensor) -> torch.optim.Adam:
    """Build Adam with a state from the beginning, so that a step can be captured and a saved state copied into it."""
    adam = torch.optim.Adam(
        parameters,
        lr=rate,
        betas=(config.beta1, config.beta2),
        eps=config.adam_epsilon,
        fused=True,
        capturable=rate.device.type == "cuda",
    )
    for parameter in parameters:
        moments = {name: torch.zeros_like(parameter, requires_grad=False) for name in ("exp_avg", "exp_avg_sq")}
        adam.state[parameter] = {"step": torch.zeros((), device=rate.device), **moments}
    return adam
