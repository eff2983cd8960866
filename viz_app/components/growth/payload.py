"""A history for the browser, as one byte buffer.

A header and the weights, as of `viz_app.components.buffer`. A weight w is the byte round(255 w), so within 1/510 of the
true one; the header says for each sentence and kind where they start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.attention_maps import KINDS
from viz_app.components.buffer import join_buffer, plain_axis
from viz_app.components.palette import palettes

if TYPE_CHECKING:
    from transformer_core.history.snapshots import History  # with torch, which takes seconds to import


def pack(history: History, *, texts: Mapping[str, str], language: str, start: Mapping[str, Any]) -> bytes:
    """Packs a history.

    Args:
        history: With M moments, L layers, H heads.
        texts: The table [growth] in the reader's language.
        language: Its code.
        start: `sentence`, `kind`, `moment`, `layer` and `head` that a fresh component shows.
    """
    parts: list[bytes] = []
    offset = 0
    sentences = []
    for sentence in history.sentences:
        maps = {}
        for kind in KINDS:
            weights = sentence.weights[kind]  # (M, L, H, Q, K)
            maps[kind] = {"shape": list(weights.shape), "offset": offset}
            parts.append(np.ascontiguousarray(weights).tobytes())
            offset += weights.size
        axes = {name: plain_axis(axis) for name, axis in sentence.axes.items()}
        sentences.append({"source": sentence.source, "target": sentence.target, "axes": axes, "maps": maps})
    header: dict[str, Any] = {
        "language": language,
        "texts": dict(texts),
        "start": dict(start),
        "steps": list(history.steps),
        "layers": history.model["layers"],
        "heads": history.model["heads"],
        "causal": bool(history.model.get("causal", True)),
        "sentences": sentences,
        "roles": history.roles,
        "training": history.training,
        "course": history.course,
        "validation": history.validation,
        "alignment": history.alignment,
        "colours": palettes(),
    }
    return join_buffer(header, *parts)
