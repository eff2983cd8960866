"""Adam (Section 5.3) on problems of one number, as `torch.optim.Adam` computes it with the paper's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from transformer_core.config import TrainingConfig

Problem = Literal["steady", "noisy"]
PROBLEMS: tuple[Problem, ...] = get_args(Problem)
UPDATES = 60
RATE = 0.05
STEADY_GRADIENT = 0.05

_SEED, _SAMPLES, _NOISE, _SLOPE = 3, 4, 1.0, 2.0


@cache
def moments(problem: Problem) -> Mapping[str, npt.NDArray[np.float64]]:
    """Run Adam and return its values for each of `UPDATES` steps.

    Args:
        problem: `steady`: the loss is 0.05 w, its gradient always 0.05. `noisy`: w is the slope of a line through
            points (x, 2x + noise), of which every update sees four others.

    Returns:
        `gradient`; `first_raw` and `second_raw`, the moving mean m and the root of v; `first` and `second`, both
        with bias correction; `update`, their quotient, in units of the learning rate; `update_raw`, the quotient of
        the uncorrected ones; `weight`, w after the update.
    """
    import torch

    config = TrainingConfig()
    weight = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=RATE, betas=(config.beta1, config.beta2), eps=config.adam_epsilon)
    gradient_of = _gradients(problem)
    rows: dict[str, list[float]] = {}
    for update in range(1, UPDATES + 1):
        weight.grad = torch.tensor(gradient_of(float(weight.detach())), dtype=torch.float64)
        optimizer.step()
        state = optimizer.state[weight]
        first, second = float(state["exp_avg"]), float(state["exp_avg_sq"])
        corrected = first / (1 - config.beta1**update), second / (1 - config.beta2**update)
        row = {
            "gradient": float(weight.grad),
            "first_raw": first,
            "first": corrected[0],
            "second_raw": second**0.5,
            "second": corrected[1] ** 0.5,
            "update_raw": first / (second**0.5 + config.adam_epsilon),
            "update": corrected[0] / (corrected[1] ** 0.5 + config.adam_epsilon),
            "weight": float(weight.detach()),
        }
        for name, value in row.items():
            rows.setdefault(name, []).append(value)
    return {name: np.array(values) for name, values in rows.items()}


def _gradients(problem: Problem) -> Callable[[float], float]:
    """Return the gradient at a weight; the noisy problem draws a new one at every call."""
    if problem == "steady":
        return lambda weight: STEADY_GRADIENT
    draw = np.random.default_rng(_SEED)

    def of_four_points(weight: float) -> float:
        x = draw.normal(size=_SAMPLES)
        y = _SLOPE * x + _NOISE * draw.normal(size=_SAMPLES)
        return float(np.mean((weight * x - y) * x))

    return of_four_points
