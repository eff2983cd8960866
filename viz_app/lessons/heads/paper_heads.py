"""Relations of the paper's Figures 3 to 5, tested for every encoder head by the model's atlas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import isnan
from typing import TYPE_CHECKING, Any

from transformer_core.analysis.ablation import Head
from transformer_core.atlas.statistics import MIN_GAIN, MIN_PLACES
from viz_app.components.explorer.selection import Selection
from viz_app.lessons.context import LessonContext
from viz_app.text.role_words import role_words

if TYPE_CHECKING:
    from transformer_core.atlas.naming import Role
    from transformer_core.atlas.record import Links
    from viz_app.serving.measurements.head_atlas import HeadAtlas

# "making ... more difficult": from a verb to its complement. Antecedents such as that of "its" stand in no treebank of
# Universal Dependencies; what is there leads from a noun, or a possessive, to the noun that it belongs to.
RELATIONS = {3: ("xcomp", "to_dependent"), 4: ("nmod", "to_head")}
_OF_STRUCTURE = 2  # heads of Figure 5, each with the relation that it follows best
# What Universal Dependencies calls loose, special and other: no structure of a sentence.
_NO_STRUCTURE = {"list", "parataxis", "orphan", "goeswith", "reparandum", "punct", "dep"}


@dataclass(frozen=True)
class PaperHead:
    """Head that follows a relation best.

    Args:
        figure: Of the paper.
        head: Kind, layer and head.
        evidence: Its accuracy beside the baseline.
        holds: Whether it follows the relation, as the atlas tests it.
    """

    figure: int
    head: Head
    evidence: Role
    holds: bool

    @property
    def verdict(self) -> str:
        """Verdict: `holds`, `none`, or `chance` for 10 points without candidacy or significance."""
        return "holds" if self.holds else "chance" if self.evidence.gain >= MIN_GAIN else "none"


def paper_heads(head_atlas: HeadAtlas) -> tuple[PaperHead, ...]:
    """Find one head for each of Figures 3 and 4, two for Figure 5; none for a model without measured relations."""
    links = head_atlas.atlas.links if head_atlas.atlas else None
    if links is None:
        return ()
    every = {pair: _best(head_atlas, links, pair) for pair in product(links.relations, links.directions)}
    heads = [(figure, every[pair]) for figure, pair in RELATIONS.items() if pair in every]
    structure = [each for (relation, _), each in every.items() if relation not in _NO_STRUCTURE]
    counted = [each for each in structure if each[1].places >= MIN_PLACES and not isnan(each[1].gain)]
    by_head: dict[Head, tuple[Head, Role]] = {}
    for each in sorted(counted, key=lambda each: (not _holds(head_atlas, each), -each[1].gain)):
        by_head.setdefault(each[0], each)
    heads += [(5, each) for each in list(by_head.values())[:_OF_STRUCTURE]]
    return tuple(PaperHead(figure, *each, holds=_holds(head_atlas, each)) for figure, each in heads)


def _best(head_atlas: HeadAtlas, links: Links, pair: tuple[str, str]) -> tuple[Head, Role]:
    """Find the head that follows a relation; else the head furthest above its baseline."""
    from transformer_core.atlas.naming import link_evidence

    ranked = [(head, role) for role, head in link_evidence(links, *pair)]
    return next((each for each in ranked if _holds(head_atlas, each)), ranked[0])


def _holds(head_atlas: HeadAtlas, each: tuple[Head, Role]) -> bool:
    head, role = each
    return any(named.label == role.label for named in head_atlas.roles[head])


def paper_values(context: LessonContext) -> dict[str, Any] | None:
    """Return values for the stage; None for a model without measured relations."""
    head_atlas = context.service.head_atlas
    rows = [_row(context, each) for each in paper_heads(head_atlas)]
    if not rows:
        return None
    assert head_atlas.atlas is not None and head_atlas.atlas.links is not None
    return {"rows": rows, "sentences": head_atlas.atlas.links.sentences}


def _row(context: LessonContext, each: PaperHead) -> Mapping[str, Any]:
    role = each.evidence
    numbers = {name: round(float(getattr(role, name)), 5) for name in ("value", "low", "high", "baseline")}
    return {
        "figure": each.figure,
        "words": role_words(context.t, each.head.kind, role),
        "relation": role.detail.split()[0],
        "head": str(each.head),
        "places": role.places,
        "verdict": each.verdict,
        **numbers,
    }


def paper_selection(context: LessonContext) -> Selection | None:
    """Return the head of the chosen row."""
    heads = paper_heads(context.service.head_atlas)
    if not heads:
        return None
    kind, layer, head = heads[int(context.state.number("row", 0, 0, len(heads) - 1))].head
    return Selection(kind=kind, layer=layer, head=head)
