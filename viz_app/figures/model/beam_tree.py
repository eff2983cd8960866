"""Figures of a beam search: every candidate of every step, a tree from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from viz_app.figures.model.figure import Figure

STATUSES = ("kept", "finished", "pruned")
BEST = {"light": "#0072B2", "dark": "#56B4E9"}  # colour of the translation that was chosen, by theme


@dataclass(frozen=True, kw_only=True)
class TreeNode:
    """One candidate.

    Args:
        label: The token.
        parent: Index of the node that it continues; -1 at the start.
        step: Tokens written, this one included; from 1.
        log_probability: Of all tokens so far, in nats.
        token_log_probability: Of this token alone.
        status: "kept", "finished" or "pruned".
        best: Whether it is part of the translation that was chosen.
    """

    label: str
    parent: int
    step: int
    log_probability: float
    token_log_probability: float
    status: str
    best: bool = False


@dataclass(frozen=True, kw_only=True)
class BeamTreeFigure(Figure):
    """The search for one sentence.

    Args:
        nodes: Candidates; a parent stands before its children, one step earlier.
        step_title: What a column is, such as "step".
        status_titles: Names of "kept", "finished" and "pruned" for the key, in this order.
        best_title: Name of the chosen translation's path.
        score_title: What the number at each node is.

    Raises:
        ValueError: There is no node, a status is not allowed, or a parent is not one step earlier.
    """

    nodes: Sequence[TreeNode]
    step_title: str = "step"
    status_titles: tuple[str, str, str] = STATUSES
    best_title: str = "best"
    score_title: str = "log-probability"
    name: str = "headlight_beam"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "nodes", tuple(self.nodes))
        if not self.nodes:
            raise ValueError("a beam tree needs at least one node")
        for i, node in enumerate(self.nodes):
            if node.status not in STATUSES:
                raise ValueError(f"status of node {i} is {node.status!r}, but must be one of {', '.join(STATUSES)}")
            before = self.nodes[node.parent].step if 0 <= node.parent < i else 0 if node.parent == -1 else -1
            if node.step != before + 1:
                raise ValueError(
                    f"node {i} is at step {node.step}, but its parent {node.parent} is not one step earlier"
                )

    @property
    def steps(self) -> int:
        """The largest number of tokens."""
        return max(node.step for node in self.nodes)

    def ranks(self) -> tuple[int, ...]:
        """Return the rank of each node among the nodes of its step; 0 is the most probable."""
        seen: dict[int, int] = {}
        places = []
        for node in self.nodes:
            places.append(seen.get(node.step, 0))
            seen[node.step] = places[-1] + 1
        return tuple(places)
