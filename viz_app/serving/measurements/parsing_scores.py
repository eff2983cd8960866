"""Quality of a parser's trees, from `python -m transformer_core evaluate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, structs

from viz_app.serving.checked_json import Count, Number, Parts, Percent

WEAK_F1 = 70.0  # a parser with less gets most longer sentences wrong

# Content of a test set by the start of its name: a label of the table [model].
_HOLDS = {"ptb-sample": "newspaper", "gum": "many_kinds", "masc": "many_kinds", "craft": "biomedical"}


class ParsingScores(Struct, frozen=True, kw_only=True):
    """Labelled bracketing on one test set, in percent.

    Args:
        f1: Harmonic mean of precision and recall.
        f1_95: Its 95 % interval; None when unknown.
        precision: Share of right constituents among its own.
        recall: Share of true constituents that it finds.
        exact_match: Share of the trees that are right as a whole.
        sentences: Number of sentences.
        well_formed: Share of the sequences that were trees over the words without any repair.
        right_branching_f1: F1 of trees that always branch to the right; None when unknown.
        beam: Hypotheses kept at each step; None when unknown.
        alpha: Strength of the length penalty; None when unknown.
        constrained: Whether the search could generate only trees over the words.
    """

    f1: Percent
    f1_95: tuple[Percent, Percent] | None = None
    precision: Percent | None = None
    recall: Percent | None = None
    exact_match: Percent | None = None
    sentences: Annotated[int, Meta(ge=1, le=10**9)]
    well_formed: Percent | None = None
    right_branching_f1: Percent | None = None
    beam: Count | None = None
    alpha: Number | None = None
    constrained: bool = False

    @property
    def allowed(self) -> Literal["only_trees", "any_sequence"]:
        """Kind of sequence that the search may generate."""
        return "only_trees" if self.constrained else "any_sequence"


def parsing_scores(parts: Parts, search: Literal["bracketing", "free"]) -> Iterator[tuple[str, ParsingScores]]:
    """Yield the scores of each test set, by name; note parts of another form.

    Args:
        parts: Parts of the metrics.
        search: `bracketing` for the checkpoint's own search; `free` for the paper's, if the own one is constrained.
    """
    for name, measured in (parts.get(dict[str, Any], "scores") or {}).items():
        if not isinstance(measured, Mapping) or search not in measured or measured.get("part") == "validation":
            continue
        scores = parts.get(ParsingScores, "scores", name, search)
        if scores and scores.f1_95 and not scores.f1_95[0] <= scores.f1 <= scores.f1_95[1]:
            parts.note("scores", name, search, "f1_95")
        elif scores:
            beam, alpha = parts.get(Count, "scores", name, "beam"), parts.get(Number, "scores", name, "alpha")
            constrained = search == "bracketing" and bool(parts.get(bool, "scores", name, "constrained"))
            yield name, structs.replace(scores, beam=beam, alpha=alpha, constrained=constrained)


def content_of(name: str) -> str | None:
    """Return the key of the label that describes a test set; None for an unknown set."""
    return next((label for start, label in _HOLDS.items() if name.lower().startswith(start)), None)
