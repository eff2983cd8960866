"""How a model is trained: loss, schedule, trainer, averaging (Section 5)."""
