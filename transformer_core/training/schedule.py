"""The learning-rate schedule of Section 5.3, equation 3, and a cooldown."""

from __future__ import annotations

from transformer_core.config import TrainingConfig


def learning_rate(step: int, *, d_model: int, warmup_steps: int, factor: float = 1.0) -> float:
    """Return lrate = factor * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Args:
        step: Counted from 1.
        d_model: Width of the model.
        warmup_steps: Steps over which the learning rate rises linearly to its peak.
        factor: 1 in the paper.

    Raises:
        ValueError: step is below 1, where the formula has no value.
    """
    if step < 1:
        raise ValueError(f"step is {step}, but steps are counted from 1")
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cooldown(step: int, *, steps: int, cooldown_steps: int) -> float:
    """Return the factor by which the learning rate falls linearly to 0 at the end of a training.

    The paper's learning rate is still high at the end, which averaging the last checkpoints compensates (Section 6.1).
    A cooldown to 0 settles the weights instead: Hägele et al. 2024, "Scaling Laws and
    Compute-Optimal Training Beyond Fixed Training Durations".

    Args:
        step: Counted from 1.
        steps: Total number of steps.
        cooldown_steps: Final steps over which the learning rate falls; after the last one it would be 0. 0 is the
            paper's schedule.
    """
    return min(1.0, max(0, steps + 1 - step) / (cooldown_steps + 1))


def scheduled_rate(step: int, d_model: int, config: TrainingConfig) -> float:
    """Return the learning rate of a training at a step, counted from 1: the schedule times the cooldown."""
    rate = learning_rate(step, d_model=d_model, warmup_steps=config.warmup_steps, factor=config.learning_rate_factor)
    return rate * cooldown(step, steps=config.steps, cooldown_steps=config.cooldown_steps)
