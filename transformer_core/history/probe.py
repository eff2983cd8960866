"""Probe of a training: at every snapshot, the greedy translation of a sentence and the map of one head.

The head reads a given translation, so that its map has the same rows at every snapshot, and in every run.
"""

from __future__ import annotations

from typing import Any

from transformer_core.head import head_named
from transformer_core.history.snapshots import to_bytes
from transformer_core.history.training_history import HistoryBuilder


def probe_snapshots(builder: HistoryBuilder, source: str, target: str, head: str) -> dict[str, Any]:
    """Measure every snapshot.

    Args:
        builder: Of the history of the run.
        source: The sentence.
        target: The translation that the head reads.
        head: Its name, such as cross.5.1.

    Returns:
        `source`, `target` and `head`; the tokens `queries` and `keys`; for every snapshot its `step`, the greedy
        `translation`, and `weights`, (Q, K) bytes as in a history.

    Raises:
        ValueError: There is no such head.
    """
    translations: list[str] = []
    weights: list[Any] = []
    for step in builder.steps:
        translator = builder.translator(step)
        kind, layer, number = head_named(head, translator.config.num_layers, translator.config.num_heads)
        maps = translator.teacher_force(source, target).attention
        translations.append(translator.translate(source, beam=1).text)
        weights.append(to_bytes(maps.weights(kind)[layer, number]).tolist())
    return {
        "source": source,
        "target": target,
        "head": head,
        "queries": maps.queries(kind).tokens,
        "keys": maps.keys(kind).tokens,
        "step": builder.steps,
        "translation": translations,
        "weights": weights,
    }
