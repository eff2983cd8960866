"""The learning rate of Section 5.3, equation 3."""

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
