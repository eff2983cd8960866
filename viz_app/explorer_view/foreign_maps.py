"""The explorer of attention that another program has computed: maps only, for Headlight does not run its model."""

from __future__ import annotations

from transformer_core.attention_maps import AttentionMaps
from viz_app.components.explorer.payload import pack
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view.snapshot import opening_view
from viz_app.text import texts

NO_ANSWERS = {"off": False, "branches": [0]}


def foreign_payload(maps: AttentionMaps, *, text: str = "", model: str = "", language: str = "en") -> bytes:
    """Return a payload of the explorer without probabilities, search, cards and translation.

    Args:
        maps: From `AttentionMaps.from_transformers` or `from_arrays`.
        text: Name of the sentence in comparisons.
        model: Name of the model.
        language: "en" or "ko", of the labels.
    """
    t, kind = texts(language), maps.kinds[-1]
    return pack(
        maps,
        steps=None,
        texts={**t.table("explorer"), **(t.table("one_sequence") if len(maps.kinds) == 1 else {})},
        selection=Selection(kind=kind, view=opening_view(maps.layers(kind), maps.heads(kind))),
        about={"text": text, "model": model, "own": model, "models": [], "answers": NO_ANSWERS},
        source_language="",  # fonts and screen readers choose by themselves
        target_language="",
    )
