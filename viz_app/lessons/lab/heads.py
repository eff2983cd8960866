"""Heads as the Lab numbers and names them, in settings and in figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from transformer_core.analysis.attention_sinks import most_informative_head, separators
from transformer_core.attention_maps import AttentionMaps
from transformer_core.head import Head, head_named
from viz_app.lessons.context import LessonContext

_BITS = re.compile(r"h([0-9a-v]{1,255})")

Member = TypeVar("Member")


def named_head(context: LessonContext, setting: str = "chosen") -> Head | None:
    """Read the head in a setting, such as cross.6.8; None for one that this model does not have."""
    config = context.service.translator.config
    try:
        return head_named(str(context.state.settings.get(setting)), config.num_layers, config.num_heads)
    except ValueError:
        return None


def chosen_head(context: LessonContext) -> Head:
    """Return the head that was chosen, else the encoder-decoder head whose weights depend most on the query."""
    return named_head(context) or most_informative_head(context.result.maps, "cross")


def strongest_cell(maps: AttentionMaps, head: Head) -> tuple[int, int]:
    """Find the largest weight that a word gives to a word: positions of query and key."""
    kind, layer, number = head
    words = [~separators(axis) for axis in (maps.queries(kind), maps.keys(kind))]
    weights = np.where(np.outer(*words), maps.weights(kind)[layer, number], 0.0)
    query, key = divmod(int(weights.argmax()), weights.shape[1])
    return query, key


def set_of_bits(context: LessonContext, setting: str, members: Sequence[Member]) -> tuple[str, list[Member]]:
    """Read a set from a setting: "h", then a bit for each member, five in a digit of base 32.

    Returns:
        The setting as it is understood, and the members whose bit is set.
    """
    text = str(context.state.settings.get(setting))
    match = _BITS.fullmatch(text)
    if match is None:
        return "h0", []
    bits = "".join(f"{int(digit, 32):05b}" for digit in match[1])
    return text, [member for member, bit in zip(members, bits, strict=False) if bit == "1"]
