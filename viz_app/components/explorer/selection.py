"""What is selected in the explorer; the same names in Python, in the browser and in the URL."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any, Literal, get_args

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

Unit = Literal["pieces", "words"]
View = Literal["heads", "layer", "kinds"]
Zoom = Literal["heads", "head", "token"]
Form = Literal["map", "lines"]
Order = Literal["layer", "entropy", "distance", "alignment", "change"]
Average = Literal["none", "layer", "all"]
Scale = Literal["linear", "sqrt", "row"]
OtherView = Literal["plotly", "head", "model"]
UNITS: tuple[Unit, ...] = get_args(Unit)
VIEWS: tuple[View, ...] = get_args(View)
ZOOMS: tuple[Zoom, ...] = get_args(Zoom)
FORMS: tuple[Form, ...] = get_args(Form)
ORDERS: tuple[Order, ...] = get_args(Order)
AVERAGES: tuple[Average, ...] = get_args(Average)
SCALES: tuple[Scale, ...] = get_args(Scale)
OTHER_VIEWS: tuple[OtherView, ...] = get_args(OtherView)
CHOICES: dict[str, tuple[str, ...]] = {
    "kind": KINDS,
    "unit": UNITS,
    "view": VIEWS,
    "zoom": ZOOMS,
    "form": FORMS,
    "order": ORDERS,
    "average": AVERAGES,
    "scale": SCALES,
}
MOST_COMPARED = 500  # characters of the sentence that is compared with

_PIN = re.compile(r"[qk](0|[1-9][0-9]{0,3})")
_HEAD = re.compile(r"(encoder|decoder|cross)\.(0|[1-9][0-9]?)\.(0|[1-9][0-9]?)")


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One state of the explorer.

    Args:
        kind: Kind of attention.
        layer: Layer, from 0.
        head: Head, from 0.
        step: Pieces written so far, from 1; None for the whole translation.
        unit: Maps over pieces or merged to words.
        view: Tiles of all heads of the kind, of the heads of one layer, or of all heads of all three kinds.
        zoom: All heads; one head with the tiles beside it; or one token in all heads.
        form: A head as a map, or as lines between two columns of tokens.
        order: How tiles are ordered: by layer and head, or by a measure of what each head does.
        average: The head by itself, or the mean over the heads of its layer or over all heads of its kind.
        scale: How weights become colours: as they are, by their square root, or relative to the largest of the row.
        special: Whether `<s>` and `</s>` are shown.
        threshold: Weights below so many percent are left out, 0 to 99.
        pin: The token that stays chosen: `q3` the query or `k3` the key at position 3, from 0; None for none.
        against: The head that the selected one is compared with, such as `cross.5.5`, from 0; None for none.
        vs: Sentence that `against` was pinned in, at most 500 characters; None for the sentence of the page.
        vsmodel: Name of the checkpoint that it is taken from; None for the one that the page shows.
        vsbranch: Branch of the beam search that it was pinned in, from 0.
        branch: Hypothesis of the beam search whose maps are shown, from 0, the best; others may be cut off branches.
    """

    kind: Kind = "cross"
    layer: int = 0
    head: int = 0
    step: int | None = None
    unit: Unit = "pieces"
    view: View = "heads"
    zoom: Zoom = "head"
    form: Form = "map"
    order: Order = "layer"
    average: Average = "none"
    scale: Scale = "linear"
    special: bool = True
    threshold: int = 0
    pin: str | None = None
    against: str | None = None
    branch: int = 0
    vs: str | None = None
    vsmodel: str | None = None
    vsbranch: int = 0

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is {getattr(self, name)!r}, but must be one of {', '.join(allowed)}")
        if not isinstance(self.special, bool):
            raise ValueError(f"special is {self.special!r}, but must be True or False")
        for name, form, example in (("pin", _PIN, "q3"), ("against", _HEAD, "cross.5.5")):
            text = getattr(self, name)
            if text is not None and not (isinstance(text, str) and form.fullmatch(text)):
                raise ValueError(f"{name} is {text!r}, but must be None or of the form {example}")
        for name in ("vs", "vsmodel"):
            text = getattr(self, name)
            if text is not None and not (isinstance(text, str) and 0 < len(text) <= MOST_COMPARED):
                raise ValueError(f"{name} is {text!r}, but must be None or 1 to {MOST_COMPARED} characters")
        self._check_numbers()

    def _check_numbers(self) -> None:
        for name, least in (("layer", 0), ("head", 0), ("step", 1), ("threshold", 0), ("branch", 0), ("vsbranch", 0)):
            value = getattr(self, name)
            if name == "step" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"{name} is {value!r}, but must be a whole number from {least} on")
        if self.threshold > 99:
            raise ValueError(f"threshold is {self.threshold!r}, but must be at most 99 percent")

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def fitted(self, maps: AttentionMaps) -> Selection:
        """The nearest selection that exists in these maps."""
        steps = len(maps.outputs)
        layers, heads = maps.weights(self.kind).shape[:2]
        return dataclasses.replace(
            self,
            layer=min(self.layer, layers - 1),
            head=min(self.head, heads - 1),
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
