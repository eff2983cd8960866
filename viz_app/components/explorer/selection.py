"""What is selected in the explorer; the same names in Python, in the browser and in the URL."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind

Unit = Literal["tokens", "words"]
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
MAX_COMPARED = 500  # characters of the sentence that is compared with

_LARGEST = 9_999  # as in the address
_Index = Annotated[int, Meta(ge=0, le=_LARGEST)]
_Pin = Annotated[str, Meta(pattern=r"\A[qk](0|[1-9][0-9]{0,3})\Z")]
Head = Annotated[str, Meta(pattern=r"\A(encoder|decoder|cross)\.(0|[1-9][0-9]?)\.(0|[1-9][0-9]?)\Z")]
_Compared = Annotated[str, Meta(min_length=1, max_length=MAX_COMPARED)]


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One state of the explorer. What the browser reports is checked by the types of the fields.

    Args:
        kind: Kind of attention.
        layer: Layer, from 0.
        head: Head, from 0.
        step: Tokens written so far, from 1; None for the whole translation.
        unit: Maps over tokens or merged to words.
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
        card: Whether the card of the selected head is open.
    """

    kind: Kind = "cross"
    layer: _Index = 0
    head: _Index = 0
    step: Annotated[int, Meta(ge=1, le=_LARGEST)] | None = None
    unit: Unit = "tokens"
    view: View = "heads"
    zoom: Zoom = "head"
    form: Form = "map"
    order: Order = "layer"
    average: Average = "none"
    scale: Scale = "linear"
    special: bool = True
    threshold: Annotated[int, Meta(ge=0, le=99)] = 0
    pin: _Pin | None = None
    against: Head | None = None
    branch: _Index = 0
    vs: _Compared | None = None
    vsmodel: _Compared | None = None
    vsbranch: _Index = 0
    card: bool = False

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
            return msgspec.convert(state, cls)
        except (msgspec.ValidationError, UnicodeError):  # msgspec reads no half of a surrogate pair
            return default
