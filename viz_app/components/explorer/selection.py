"""What is selected in the explorer; the same names in Python, in the browser and in the URL."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal, get_args

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

Unit = Literal["pieces", "words"]
View = Literal["heads", "layer"]
UNITS: tuple[Unit, ...] = get_args(Unit)
VIEWS: tuple[View, ...] = get_args(View)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One state of the explorer.

    Args:
        kind: Kind of attention.
        layer: Layer, from 0.
        head: Head, from 0.
        step: Pieces written so far, from 1; None for the whole translation.
        unit: Maps over pieces or merged to words.
        view: Tiles of all heads, or of the heads of one layer.
    """

    kind: Kind = "cross"
    layer: int = 0
    head: int = 0
    step: int | None = None
    unit: Unit = "pieces"
    view: View = "heads"

    def __post_init__(self) -> None:
        for name, allowed in (("kind", KINDS), ("unit", UNITS), ("view", VIEWS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}, but must be one of {', '.join(allowed)}")
        for name, least in (("layer", 0), ("head", 0), ("step", 1)):
            value = getattr(self, name)
            if name == "step" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}, but must be a whole number from {least} on")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def fitted(self, maps: AttentionMaps) -> Selection:
        """The nearest selection that exists in these maps."""
        steps = len(maps.outputs)
        return dataclasses.replace(
            self,
            layer=min(self.layer, maps.num_layers - 1),
            head=min(self.head, maps.num_heads - 1),
            step=None if self.step is None or self.step >= steps else self.step,
        )

    @classmethod
    def from_state(cls, state: object, *, default: Selection) -> Selection:
        """The selection in a report from the browser, or the default when the report is not a valid one."""
        names = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(state, dict) or set(state) != names:
            return default
        try:
            return cls(**state)
        except (TypeError, ValueError):
            return default
