"""Names in files of format 1 that have changed since: of checkpoints, and of training runs that go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_NAMES = {
    "careless_share": "typo_rate",
    "first": "forced_bos",
    "max_pieces": "max_tokens",
    "max_source_pieces": "max_source_tokens",
    "moments": "snapshots",
    "moments_from": "snapshots_from",
    "pieces": "tokens",
    "recompute": "activation_checkpointing",
    "source_pieces": "source_tokens",
    "target_pieces": "target_tokens",
}
_CHOICES = {"replicate": "ddp", "shard": "fsdp"}  # of `parallel`


def current_names(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a JSON file by today's names, at every depth."""
    return {_NAMES.get(name, name): _current(name, value) for name, value in values.items()}


def _current(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return current_names(value)
    return _CHOICES.get(value, value) if name == "parallel" and isinstance(value, str) else value
