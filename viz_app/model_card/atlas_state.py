"""View state of a head atlas, in reports of the browser and in addresses.

Layers and heads count from 0 in code and from 1 in the address. Invalid parts are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from transformer_core.attention_maps import KINDS
from viz_app.figures.build.atlas import ORDERS, most_left, pruned_groups
from viz_app.figures.options import GROUPS, SCORES
from viz_app.serving.checked_json import converted

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas

MAX_CHOSEN = 6  # heads side by side
_PLACE = re.compile(r"(encoder|decoder|cross)\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,2})")
_Place = Annotated[str, Meta(pattern=rf"\A{_PLACE.pattern}\Z")]
_LABEL = re.compile(r"[\w:+ -]{1,60}", re.ASCII)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,4}")


class AtlasState(Struct, frozen=True, kw_only=True):
    """The grid or the list.

    Args:
        by: Name of the measure; empty for the first.
        view: All heads as a grid, or as a ranked list.
        rising: Whether the list begins with the smallest value.
        kind: Only heads of this kind; empty for all.
        role: Only heads with this role; `none` for heads without any, empty for all.
        significant: Only heads whose effect survives the control.
        chosen: Compared heads, such as `cross.5.5`, from 0.
        maps: Whether the reader has asked for the maps of the sentence.
    """

    by: Annotated[str, Meta(max_length=40)] = ""
    view: Literal["grid", "list"] = "grid"
    rising: bool = False
    kind: Literal["", "encoder", "decoder", "cross"] = ""
    role: Annotated[str, Meta(max_length=60)] = ""
    significant: bool = False
    chosen: Annotated[tuple[_Place, ...], Meta(max_length=MAX_CHOSEN)] = ()
    maps: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the state for the browser."""
        state: dict[str, Any] = msgspec.to_builtins(self)
        return state

    def fitted(self, atlas: Atlas) -> AtlasState:
        """Return the nearest state that this atlas has."""
        from transformer_core.atlas.measures import measures

        names = [measure.name for measure in measures(atlas)]
        by = self.by if self.by in names else next(iter(names), "")
        kept = (place for place in dict.fromkeys(self.chosen) if _exists(place, atlas))
        role = self.role if _LABEL.fullmatch(self.role) else ""
        return replace(self, by=by, role=role, chosen=tuple(kept))

    @classmethod
    def from_report(cls, report: object) -> AtlasState | None:
        """Read a report of the browser; None for one that makes no sense."""
        whole = isinstance(report, Mapping) and set(report) == set(cls.__struct_fields__)
        return converted(report, cls) if whole else None

    @classmethod
    def from_query(cls, params: Mapping[str, str]) -> AtlasState:
        """Read an address."""
        chosen = [_shifted(place, -1) for place in params.get("atlas_heads", "").split(",")[:MAX_CHOSEN]]
        kind, role = params.get("atlas_kind", ""), params.get("atlas_role", "")
        return cls(
            by=params.get("atlas_by", "")[:40],
            view="list" if params.get("atlas_view") == "list" else "grid",
            rising=params.get("atlas_order") == "rising",
            kind=kind if kind in KINDS else "",
            role=role if _LABEL.fullmatch(role) else "",
            significant=params.get("atlas_effect") == "significant",
            chosen=tuple(place for place in chosen if place),
        )

    def to_query(self, first: str) -> dict[str, str | None]:
        """Return the URL parameters; None for values of the start, where `first` is the measure."""
        return {
            "atlas_by": None if self.by == first else self.by,
            "atlas_view": None if self.view == "grid" else self.view,
            "atlas_order": "rising" if self.rising else None,
            "atlas_kind": self.kind or None,
            "atlas_role": self.role or None,
            "atlas_effect": "significant" if self.significant else None,
            "atlas_heads": ",".join(_shifted(place, 1) for place in self.chosen) or None,
        }


def _shifted(place: str, by: int) -> str:
    """Return a head counted from another number; empty for invalid text."""
    found = _PLACE.fullmatch(place)
    numbers = [int(found[2]) + by, int(found[3]) + by] if found else [-1]
    return f"{found[1]}.{numbers[0]}.{numbers[1]}" if found and min(numbers) >= 0 else ""


def _exists(place: str, atlas: Atlas) -> bool:
    found = _PLACE.fullmatch(place)
    return bool(found) and int(found[2]) < atlas.layers and int(found[3]) < atlas.heads  # type: ignore[index]


class PruningState(Struct, frozen=True, kw_only=True):
    """The curves, and the heads that remain in the reader's sentence.

    Args:
        group: Heads to remove.
        score: Score that is drawn.
        order: Order of removal, in the sentence.
        left: Heads that remain there.
    """

    group: str
    score: str
    order: str
    left: int

    @classmethod
    def start(cls, atlas: Atlas, group: str = "") -> PruningState:
        """Return the start: all heads are left."""
        groups = pruned_groups(atlas)
        group = group if group in groups else groups[0]
        return cls(group=group, score=SCORES[0], order=orders(atlas, group)[0], left=most_left(atlas, group))

    @classmethod
    def from_query(cls, params: Mapping[str, str], atlas: Atlas) -> PruningState:
        """Read an address; missing or invalid parts are as at the start."""
        state = cls.start(atlas, params.get("atlas_prune", ""))
        changes: dict[str, Any] = {}
        if params.get("atlas_score") in SCORES:
            changes["score"] = params["atlas_score"]
        if params.get("atlas_by_order") in orders(atlas, state.group):
            changes["order"] = params["atlas_by_order"]
        left = params.get("atlas_left", "")
        if _NUMBER.fullmatch(left) and int(left) <= state.left:
            changes["left"] = int(left)
        return replace(state, **changes)

    def to_query(self, atlas: Atlas) -> dict[str, str | None]:
        """Return the URL parameters; None for values of the start."""
        first, own = PruningState.start(atlas), PruningState.start(atlas, self.group)
        return {
            "atlas_prune": None if self.group == first.group else self.group,
            "atlas_score": None if self.score == first.score else self.score,
            "atlas_by_order": None if self.order == own.order else self.order,
            "atlas_left": None if self.left == own.left else str(self.left),
        }

    def fitted(self, atlas: Atlas) -> PruningState:
        """Return the nearest state that this atlas has."""
        start = PruningState.start(atlas, self.group)
        score = self.score if self.score in SCORES else start.score
        order = self.order if self.order in orders(atlas, start.group) else start.order
        return PruningState(group=start.group, score=score, order=order, left=min(self.left, start.left))


def orders(atlas: Atlas, group: str) -> tuple[str, ...]:
    """Return the orders in which heads of a group were removed."""
    assert group in GROUPS
    found = {curve.order for curve in (atlas.prune.curves if atlas.prune else ()) if curve.heads == group}
    return tuple(order for order in ORDERS if order in found)
