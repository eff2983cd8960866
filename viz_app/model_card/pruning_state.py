"""State of the pruning curves of a head atlas, in addresses. Invalid parts are ignored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from viz_app.figures.build.atlas import ORDERS, most_left, pruned_groups
from viz_app.figures.options import GROUPS, SCORES

if TYPE_CHECKING:
    from transformer_core.atlas.record import Atlas

_NUMBER = re.compile(r"0|[1-9][0-9]{0,4}")


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
        first, start = PruningState.start(atlas), PruningState.start(atlas, self.group)
        return {
            "atlas_prune": None if self.group == first.group else self.group,
            "atlas_score": None if self.score == first.score else self.score,
            "atlas_by_order": None if self.order == start.order else self.order,
            "atlas_left": None if self.left == start.left else str(self.left),
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
    measured = {curve.order for curve in (atlas.prune.curves if atlas.prune else ()) if curve.heads == group}
    return tuple(order for order in ORDERS if order in measured)
