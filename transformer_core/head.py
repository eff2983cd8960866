"""Names of heads and layers: `cross.6.8` is head 8 of layer 6 of encoder-decoder attention, `cross.6` that layer."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from transformer_core.attention_maps import Kind

_NAME = re.compile(r"(encoder|decoder|cross)\.([1-9][0-9]{0,3})(?:\.([1-9][0-9]{0,3}))?", re.ASCII)


class Head(NamedTuple):
    """An attention head. Its text is its name, `cross.6.8`; its numbers are its place in arrays.

    Args:
        kind: Kind of attention.
        layer: Index of the layer, 5 for layer 6.
        head: Index of the head, 7 for head 8.
    """

    kind: Kind
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind}.{self.layer + 1}.{self.head + 1}"


class Layer(NamedTuple):
    """Attention of one kind in a layer. Its text is its name, `cross.6`.

    Args:
        kind: Kind of attention.
        layer: Index of the layer, 5 for layer 6.
    """

    kind: Kind
    layer: int

    def __str__(self) -> str:
        return f"{self.kind}.{self.layer + 1}"


def place_named(name: str) -> Head | Layer:
    """Return the head or layer of a name. Raises ValueError for another text."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name[:50]!r} is neither a head, such as cross.6.8, nor a layer, such as cross.6")
    kind, layer, head = cast(Kind, match[1]), int(match[2]) - 1, match[3]
    return Layer(kind, layer) if head is None else Head(kind, layer, int(head) - 1)


def head_named(name: str, layers: int | None = None, heads: int | None = None) -> Head:
    """Return the head of a name. Raises ValueError for another text, or a head beyond L layers of H heads."""
    head = place_named(name)
    if not isinstance(head, Head):
        raise ValueError(f"{name} is a layer, but must be a head, such as {name}.1")
    if layers is not None and heads is not None and (head.layer >= layers or head.head >= heads):
        raise ValueError(f"there is no head {name}: the model has {layers} layers of {heads} heads")
    return head
