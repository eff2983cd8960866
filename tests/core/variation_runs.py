"""Runs of rows of Table 3 with invented numbers to calculate with."""

from __future__ import annotations

from typing import Any

from transformer_core.paper.table3 import Run


def made_up(row: str = "base", seed: int = 1, **values: Any) -> Run:
    """A run of a row; `values` are what counts, such as `bleu`."""
    fields: dict[str, Any] = {
        "changes": {},
        "parameters": 1_000,
        "updates": 10,
        "target_tokens": 4_000,
        "seconds": 1.5,
        "perplexity": 9.0,
        "bleu": 12.5,
        "signature": "nrefs:1",
        "versions": {"torch": "2"},
    }
    return Run(row=row, seed=seed, **fields | values)
