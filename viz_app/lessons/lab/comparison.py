"""Two translations beside each other."""

from __future__ import annotations

from typing import Any

from transformer_core.analysis.ablation import word_diff


def compared(before: str, after: str) -> dict[str, Any]:
    """Mark the words in which two translations differ, for `Compared` in `js/numbers.d.ts`."""
    original, words = word_diff(before.split(), after.split())
    return {"words": words, "original": original}
