"""Training: loss, schedule, trainer, averaging (Section 5)."""
