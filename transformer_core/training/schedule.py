"""The learning rate of Section 5.3, equation 3, and how it may end."""

from __future__ import annotations


def learning_rate(step: int, *, d_model: int, warmup_steps: int, factor: float = 1.0) -> float:
    """Return lrate = factor * d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Args:
        step: Update, counted from 1.
        d_model: Width of the model.
        warmup_steps: Updates over which the rate rises linearly; it peaks there.
        factor: 1 in the paper.

    Raises:
        ValueError: step is below 1, where the formula has no value.
    """
    if step < 1:
        raise ValueError(f"step is {step}, but updates are counted from 1")
    return float(factor * d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def cooldown(step: int, *, steps: int, cooldown_steps: int) -> float:
    """Return what the learning rate is multiplied by so that it falls linearly to nothing at the end of a training.

    The paper's rate is still high when its training ends, and makes up for it with the mean of the last checkpoints
    (Section 6.1). Falling to nothing settles the weights instead: Hägele et al. 2024, "Scaling Laws and
    Compute-Optimal Training Beyond Fixed Training Durations".

    Args:
        step: Update, counted from 1.
        steps: Updates in all.
        cooldown_steps: The last updates, over which the rate falls; after the very last one it would be 0. 0 is the
            paper's schedule.
    """
    return min(1.0, max(0, steps + 1 - step) / (cooldown_steps + 1))
