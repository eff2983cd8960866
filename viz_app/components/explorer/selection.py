"""Selection of the explorer: each field with its default, its bounds and its form in an address.

The payload carries names and defaults to the browser; `components.types` makes the type of its JavaScript.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta

from transformer_core.attention_maps import KINDS, AttentionMaps, Kind
from transformer_core.head import head_named
from viz_app.figures.option import MAX_NUMBER, Choice, Form, Number, Switch, Text, declared, option
from viz_app.figures.options import UNITS, Unit

View = Literal["heads", "layer", "kinds"]
Zoom = Literal["heads", "head", "token"]
Drawing = Literal["map", "lines", "flow"]
Average = Literal["none", "layer", "all"]
Scale = Literal["linear", "sqrt", "row"]
OtherView = Literal["plotly", "head", "model"]
OTHER_VIEWS: tuple[OtherView, ...] = get_args(OtherView)
VIEWS: tuple[View, ...] = get_args(View)
MAX_COMPARED = 500  # characters of the sentence that is compared with
MAX_TOKEN = 60  # characters of a token that a word is compared with
MAX_FORCED = 1_000  # characters of the tokens that a translation is forced to begin with

_Index = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
_ORDER = r"[a-z][a-z-]{0,39}"
_LABEL = r"[A-Za-z0-9_][A-Za-z0-9_:+ -]{0,59}"
_Order = Annotated[str, Meta(pattern=rf"\A{_ORDER}\Z")]
_Label = Annotated[str, Meta(pattern=rf"\A{_LABEL}\Z")]
_Pin = Annotated[str, Meta(pattern=r"\A[qk](0|[1-9][0-9]{0,3})\Z")]
Head = Annotated[str, Meta(pattern=r"\A(encoder|decoder|cross)\.[1-9][0-9]?\.[1-9][0-9]?\Z")]
_Forced = Annotated[str, Meta(min_length=1, max_length=MAX_FORCED)]
_Token = Annotated[str, Meta(min_length=1, max_length=MAX_TOKEN)]
_Compared = Annotated[str, Meta(min_length=1, max_length=MAX_COMPARED)]


@dataclass(frozen=True)
class _PinForm(Form):
    """A query or key and its position, such as `q3`."""

    def loads(self, text: str) -> str:
        """Count the position from 0."""
        if not re.fullmatch(r"[qk][1-9][0-9]{0,3}", text):
            raise ValueError(f"is {text!r}, but must be q or k with a position")
        return f"{text[0]}{int(text[1:]) - 1}"

    def dumps(self, value: str) -> str:
        """Count the position from 1."""
        return f"{value[0]}{int(value[1:]) + 1}"


@dataclass(frozen=True)
class HeadForm(Form):
    """A head, such as `cross.6.8`."""

    def loads(self, text: str) -> str:
        """Read the name of a head; no model need have it."""
        return str(head_named(text, 99, 99))


@dataclass(frozen=True)
class _OrderForm(Form):
    """The name of a measure; the browser knows which there are (`MEASURES` of js/data/measures.js)."""

    def check(self, value: str) -> None:
        """Raise ValueError for what is no name."""
        if not re.fullmatch(_ORDER, value):
            raise ValueError(f"is {value!r}, but must be the name of a measure")


@dataclass(frozen=True)
class _LabelForm(Form):
    """The label of a role, such as `offset-1` or `link obj to_head`; a model need not have it."""

    def check(self, value: str) -> None:
        """Raise ValueError for what is no label."""
        if not re.fullmatch(_LABEL, value):
            raise ValueError(f"is {value!r}, but must be the label of a role")


_FROM_ONE = Number(first=1)
_COMPARED = Text(MAX_COMPARED)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """One state of the explorer. The types of the fields check reports of the browser.

    Args:
        kind: Kind of attention.
        layer: Layer, from 0.
        head: Head, from 0.
        step: Tokens written so far, from 1; None for the whole translation.
        unit: Maps over tokens or merged to words.
        view: Tiles of all heads of the kind, of the heads of one layer, or of all heads of all three kinds.
        zoom: All heads; one head with the tiles beside it; or one token in all heads.
        form: A head as a map, or as lines between two columns of tokens; or the flow, what each word is made of.
        unfold: Whether the flow shows the whole way of the chosen word, through every layer.
        share: Percentage of all flow that the ways on this picture carry, 1 to 99.
        versus: Token that the chosen word is compared with, at most 60 characters; None for the mean of the vocabulary.
        order: How tiles are ordered: by layer and head, or by a measure of what each head does.
        only: A role, `none` or `significant`: the filter of heads; None for all.
        average: The head by itself, or the mean over the heads of its layer or over all heads of its kind.
        scale: How weights become colours: as they are, by their square root, or relative to the largest of the row.
        special: Whether `<s>` and `</s>` are shown.
        threshold: Percentage below which weights are left out, 0 to 99.
        pin: The token that stays chosen: `q3` the query or `k3` the key at position 3, from 0; None for none.
        against: The head that the selected one is compared with, such as `cross.6.8`; None for none.
        vs: Sentence that `against` was pinned in, at most 500 characters; None for the sentence of the page.
        vsmodel: Name of the checkpoint that it is taken from; None for the one that the page shows.
        vsbranch: Branch of the beam search that it was pinned in, from 0.
        branch: Hypothesis of the beam search whose maps are shown, from 0, the best; others may be cut off branches.
        force: Tokens that the translation is forced to begin with, a space between, at most 1,000 characters; None for
            the model's own translation.
        card: Whether the card of the selected head is open.
    """

    kind: Kind = option("cross", Choice(KINDS), always=True)
    layer: _Index = option(0, _FROM_ONE, always=True)
    head: _Index = option(0, _FROM_ONE, always=True)
    step: Annotated[int, Meta(ge=1, le=MAX_NUMBER)] | None = option(None, Number(low=1))
    unit: Unit = option("tokens", Choice(UNITS))
    view: View = option("heads", Choice(VIEWS))
    zoom: Zoom = option("head", Choice(get_args(Zoom)))
    form: Drawing = option("map", Choice(get_args(Drawing)))
    unfold: bool = option(False, Switch())
    share: Annotated[int, Meta(ge=1, le=99)] = option(80, Number(low=1, high=99))
    versus: _Token | None = option(None, Text(MAX_TOKEN))
    order: _Order = option("layer", _OrderForm())
    only: _Label | None = option(None, _LabelForm())
    average: Average = option("none", Choice(get_args(Average)))
    scale: Scale = option("linear", Choice(get_args(Scale)))
    special: bool = option(True, Switch())
    threshold: Annotated[int, Meta(ge=0, le=99)] = option(0, Number(high=99))
    pin: _Pin | None = option(None, _PinForm())
    against: Head | None = option(None, HeadForm())
    branch: _Index = option(0, _FROM_ONE)
    force: _Forced | None = option(None, Text(MAX_FORCED))
    vs: _Compared | None = option(None, _COMPARED)
    vsmodel: _Compared | None = option(None, _COMPARED)
    vsbranch: _Index = option(0, _FROM_ONE)
    card: bool = option(False, Switch(on="open"))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        return dataclasses.asdict(self)

    def chosen_token(self, words: Sequence[int]) -> int | None:
        """Return the position of the token whose flow is shown in full: the pinned one, else the newest; None for all.

        Args:
            words: (T,) word of each generated token; where maps are over words, the pinned one is a word.
        """
        newest = None if self.step is None else self.step - 1
        if self.kind == "encoder" or self.pin is None or not self.pin.startswith("q"):
            return newest
        row = int(self.pin[1:])
        at = words.index(row) if self.unit == "words" and row in words else row
        return at if at < (len(words) if newest is None else newest + 1) else newest

    def fitted(self, maps: AttentionMaps) -> Selection:
        """Return the nearest selection that exists in these maps."""
        steps = len(maps.outputs)
        kind = self.kind if self.kind in maps.kinds else maps.kinds[-1]
        layers, heads = maps.weights(kind).shape[:2]
        target = min(self.layer, layers - 1), min(self.head, heads - 1)
        places = [(int(layer), int(head)) for layer, head in np.argwhere(maps.existing(kind))]
        layer, head = target if target in places else min(places, key=lambda place: abs(place[0] - target[0]))
        return dataclasses.replace(
            self,
            kind=kind,
            layer=layer,
            head=head,
            step=None if self.step is None or self.step >= steps else self.step,
        )

    @classmethod
    def from_state(cls, state: object, *, default: Selection) -> Selection:
        """Return the selection of a report from the browser; missing or invalid fields come from the default."""
        if not isinstance(state, dict):
            return default
        valid = {}
        for name, kind in get_type_hints(cls, include_extras=True).items():
            try:
                valid[name] = msgspec.convert(state[name], kind)
            except (KeyError, msgspec.ValidationError, UnicodeError):  # msgspec reads no half of a surrogate pair
                continue
        return dataclasses.replace(default, **valid) if valid else default


CHOICES: dict[str, tuple[str, ...]] = {
    name: each.form.choices for name, each in declared(Selection).items() if isinstance(each.form, Choice)
}
