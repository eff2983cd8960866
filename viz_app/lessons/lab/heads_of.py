"""Heads as the Lab numbers and names them, in settings and on the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from transformer_core.analysis.ablation import Head, all_heads
from transformer_core.analysis.attention_sinks import separators
from transformer_core.attention_maps import AttentionMaps
from viz_app.lessons.context import LessonContext

_NAMED = re.compile(r"(encoder|decoder|cross)\.([0-9]{1,2})\.([0-9]{1,2})")
_BITS = re.compile(r"h([0-9a-v]{1,255})")

Member = TypeVar("Member")


def named_head(context: LessonContext, setting: str) -> Head | None:
    """The head that a setting names, such as cross.3.2; None for none, or one that this model does not have."""
    match = _NAMED.fullmatch(str(context.state.settings.get(setting)))
    if match is None:
        return None
    head: Head = (match[1], int(match[2]), int(match[3]))  # type: ignore[assignment]
    return head if head in all_heads(context.service.translator) else None


def strongest_cell(maps: AttentionMaps, head: Head) -> tuple[int, int]:
    """The word that gives most of its weight to a word, and that word, as positions."""
    kind, layer, number = head
    words = [~separators(axis) for axis in (maps.queries(kind), maps.keys(kind))]
    weights = np.where(np.outer(*words), maps.weights(kind)[layer, number], 0.0)
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    return query, key


def set_of_bits(context: LessonContext, setting: str, members: Sequence[Member]) -> tuple[str, list[Member]]:
    """A set: the setting as it is understood, "h" and a bit for each member, five in a digit; and those that are in."""
    text = str(context.state.settings.get(setting))
    match = _BITS.fullmatch(text)
    if match is None:
        return "h0", []
    bits = "".join(f"{int(digit, 32):05b}" for digit in match[1])
    return text, [member for member, bit in zip(members, bits, strict=False) if bit == "1"]
