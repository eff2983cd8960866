"""All options of figures of attention, each declared once.

A field here gives its flag, its place in addresses, its widget and its part of the command that makes
a figure again. A head has one name outside, such as `cross.6.8`; fields hold its place in arrays. Steps count from 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from transformer_core.atlas.measures import NAMES as MEASURES
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import place_named
from viz_app.figures.option import Choice, Number, NumberOrText, Numbers, Switch, Text, declared, option

AnyKind = Kind | Literal["own"]
Unit = Literal["tokens", "words"]
UNITS: tuple[Unit, ...] = ("tokens", "words")
SCORES = ("bleu", "chrf")
GROUPS = ("all", *KINDS)
MAX_STEPS = 12  # side by side on the page
MAX_TOKEN = 60  # characters of a token


OWN = "own"  # the kind of own arrays
_PLACES = ("layer", "head", "heads", "other_layer", "other_head")
_FLOW = ("flow",)
_FROM_ONE = Number(first=1)
_KIND = Choice(KINDS)


@dataclass(frozen=True, kw_only=True)
class HeadOptions:
    """The head that is drawn, and the head B of a comparison.

    Args:
        kind: Which attention: "encoder", "decoder", "cross", or "own" for own arrays.
        layer: Layer.
        head: Head.
        unit: "tokens" or "words".
        step: Tokens generated so far; None for all.
        other_kind: Kind of B; None for the same.
        other_layer: Layer of B; None for the same.
        other_head: Head of B; None for the same.
        names: Names of A and B in titles.
    """

    kind: AnyKind = option("cross", _KIND, metavar="KIND", about=f"{', '.join(KINDS)}; cross unless given.")
    layer: int = option(0, _FROM_ONE, about="Layer, such as cross.4; or its number, with --kind.")
    head: int = option(0, _FROM_ONE, about="Head, such as cross.4.6; or its number, with --kind and --layer.")
    unit: Unit = option(
        "tokens", Choice(UNITS), metavar="UNIT", about="tokens (subwords), or words to merge the subwords of a word."
    )
    step: int | None = option(None, Number(low=1), about="Show only what exists after N generated tokens.")
    other_kind: AnyKind | None = option(None, _KIND, metavar="KIND", about="compare: kind of B.")
    other_layer: int | None = option(None, _FROM_ONE, about="compare: layer of B.")
    other_head: int | None = option(None, _FROM_ONE, about="compare: head of B.")
    names: tuple[str, str] = ("", "")


@dataclass(frozen=True, kw_only=True)
class ViewOptions:
    """Options of single views.

    Args:
        heads: Heads of the layer, for "lines"; empty for one.
        query: The one query whose lines are drawn; None for all.
        steps: The steps of "steps"; empty for four.
        word: The token whose flow is drawn in full: its position or its text; None for all tokens.
        against: Token with which "flow" compares it; None for the mean of the vocabulary.
        unfold: Whether "flow" draws the whole way of the token, through every layer.
        share: Percentage of all flow that the ways of an unfolded flow carry.
        aligned: Whether "compare" aligns different tokens for the difference; None: between two sentences or models.
        pruned: Whether "beam" draws pruned candidates.
        confidence: Whether "tree" tints constituents by their probability.
        measure: Measure of the head atlas that "grid" shows; empty for the first.
        group: Heads that "pruning" removes: a kind of attention, or "all".
        score: "bleu" or "chrf".
        left: Heads that are left where "pruning" is read; None for no such place.
    """

    heads: tuple[int, ...] = option(
        (), Numbers(first=1), about="Several heads of the layer, for lines: 1,3; more with --texts.", views=("lines",)
    )
    query: int | None = option(None, _FROM_ONE, about="Draw only the lines of this token, from 1.", views=("lines",))
    steps: tuple[int, ...] = option(
        (),
        Numbers(low=1, kept=MAX_STEPS),
        about="The steps of the view steps: 1,4,8; four unless given.",
        views=("steps",),
    )
    pruned: bool = option(True, Switch(), about="Whether the beam tree shows discarded candidates.", views=("beam",))
    confidence: bool = option(False, Switch(), about="tree: tint constituents by their probability.", views=("tree",))
    measure: str = option(
        "", Choice(MEASURES), about=f"grid: {', '.join(MEASURES)}; the first unless given.", views=("grid",)
    )
    group: str = option(
        "all", Choice(GROUPS), about=f"pruning: which heads go: {', '.join(GROUPS)}.", views=("pruning",)
    )
    score: str = option("bleu", Choice(SCORES), about=f"pruning: {', '.join(SCORES)}.", views=("pruning",))
    left: int | None = option(
        None, Number(), about="pruning: read the curves where N heads are left.", views=("pruning",)
    )
    word: int | str | None = option(
        None,
        NumberOrText(MAX_TOKEN),
        about="flow: a generated token, from 1, or its text; all unless given.",
        views=_FLOW,
    )
    against: str | None = option(
        None, Text(MAX_TOKEN), key="versus", about="flow: compare the token with this one.", views=_FLOW
    )
    unfold: bool = option(False, Switch(), about="flow: every layer of the way of the token.", views=_FLOW)
    share: int = option(
        80, Number(low=1, high=99), about="flow: percentage of all flow that is drawn unfolded, 1 to 99.", views=_FLOW
    )
    aligned: bool | None = option(
        None, Switch(), about="compare: B - A over the tokens both sentences share.", views=("compare",)
    )


@dataclass(frozen=True, kw_only=True)
class FigureOptions(ViewOptions, HeadOptions):
    """Content of a figure of attention.

    Args:
        view: Name of the view.
        language: "en" or "ko".
    """

    view: str = "head"
    language: str = "en"


def options_of(view: str) -> tuple[str, ...]:
    """Return the names of the options that declare this view."""
    return tuple(name for name, each in declared(ViewOptions).items() if view in each.views)


def indexed(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with kinds and indices in place of the names of heads and layers.

    Raises:
        ValueError: A head or layer is no name, or several heads are not of one layer.
    """
    fields: dict[str, Any] = {name: value for name, value in parameters.items() if name not in _PLACES}
    for name in _PLACES:
        value = parameters.get(name)
        if value is None:
            continue
        places = [_place(name, each) for each in (value if name == "heads" else [value])]
        prefix = "other_" if name.startswith("other_") else ""
        if len({place[:2] for place in places}) != 1:
            raise ValueError(f"heads are {value!r}, but must be heads of one layer")
        fields |= {f"{prefix}{field}": at for field, at in zip(("kind", "layer", "head"), places[0], strict=False)}
        if name == "heads":
            fields["heads"] = tuple(place[2] for place in places)
    return fields


def named(view: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a view with the names of its heads and layers, as `View.figure` takes them."""
    words: dict[str, Any] = {
        name: value for name, value in view.items() if name not in (*_PLACES, "kind", "other_kind")
    }
    kind, layer = view.get("kind", "cross"), view.get("layer")
    if layer is None:
        return words | {name: view[name] for name in ("kind",) if name in view}
    if "heads" in view:
        words["heads"] = [f"{kind}.{layer + 1}.{head + 1}" for head in view["heads"]]
    elif "head" in view:
        words["head"] = f"{kind}.{layer + 1}.{view['head'] + 1}"
    else:
        words["layer"] = f"{kind}.{layer + 1}"
    if any(f"other_{name}" in view for name in ("kind", "layer", "head")):
        other = {name: view.get(f"other_{name}", view[name]) for name in ("layer", "head")}
        words["other_head"] = f"{view.get('other_kind', kind)}.{other['layer'] + 1}.{other['head'] + 1}"
    return words


def _place(name: str, text: object) -> tuple[Any, ...]:
    """Return kind and indices of a head, or of a layer."""
    kind, _, numbers = text.partition(".") if isinstance(text, str) else ("", "", "")
    try:
        _, *indices = place_named(f"cross.{numbers}" if kind == OWN else str(text))
    except ValueError:
        indices = []
    if len(indices) != (1 if name.endswith("layer") else 2):
        example = "cross.6" if name.endswith("layer") else "cross.6.8"
        raise ValueError(f"{name} is {text!r}, but must be a name such as {example}")
    return kind, *indices
