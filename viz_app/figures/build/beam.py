"""The tree of a beam search, from the history that a Translation keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from viz_app.figures.colours.palette import Theme
from viz_app.figures.model.tree import TreeFigure, TreeNode
from viz_app.figures.text import view_captions
from viz_app.text import texts

if TYPE_CHECKING:
    from transformer_core.decoding.beam import Node
    from transformer_core.tokenizer import Tokenizer
    from transformer_core.translator import Translation


@dataclass(frozen=True)
class Search:
    """A beam search to be drawn.

    Args:
        history: Every candidate, as `transformer_core.decoding.beam` keeps them.
        best: Index of the last node of the translation that was chosen.
        text: That translation.
        score: Its score.
        piece: Text of a piece id.
    """

    history: Sequence[Node]
    best: int
    text: str
    score: float
    piece: Callable[[int], str]

    @classmethod
    def from_translation(cls, translation: Translation, tokenizer: Tokenizer) -> Search:
        """The search that found a translation."""
        chosen = translation.hypotheses[0]
        return cls(translation.history, chosen.node, translation.text, chosen.score, tokenizer.piece)


def beam_tree(
    search: Search,
    *,
    pruned: bool = True,
    upto: int | None = None,
    language: str = "en",
    theme: Theme = "light",
    provenance: Mapping[str, Any] | None = None,
) -> TreeFigure:
    """Every candidate of a beam search, pruned ones in grey, the translation that was chosen as a thick line.

    Args:
        search: The search.
        pruned: Whether candidates that were considered, but not kept, are drawn.
        upto: Steps to draw; None for all.
        language: "en" or "ko".
        theme: "light" or "dark".
        provenance: Checkpoint, hash, sentence, command, ...; plain values, written into every file.

    Raises:
        ValueError: The step does not exist.
    """
    t = texts(language)
    last = max(node.step for node in search.history)
    if upto is not None and not 1 <= upto <= last:
        raise ValueError(f"step is {upto}, but must be between 1 and {last}, the steps of the search")
    view: dict[str, Any] = {"name": "beam", **({} if pruned else {"pruned": False})}
    view |= {"step": upto} if upto is not None else {}
    view |= {"language": language} if language != "en" else {}
    figure = TreeFigure(
        nodes=_nodes(search, pruned, upto or last),
        step_title=t("figures.beam_step"),
        status_titles=(t("figures.beam_kept"), t("figures.beam_finished"), t("figures.beam_pruned")),
        best_title=t("figures.beam_best"),
        score_title=t("figures.beam_score"),
        title=t("figures.title_beam"),
        language=language,
        theme=theme,
        name="headlight_beam" + (f"_step{upto}" if upto else ""),
        provenance={**(provenance or {}), "view": view},
    )
    caption = view_captions.beam_caption(figure, search.text, search.score, language=language)
    return replace(figure, caption=caption.text, alt=f"{t('figures.alt_beam')} {caption.text}")


def _nodes(search: Search, pruned: bool, upto: int) -> list[TreeNode]:
    """The candidates that are drawn, with their parents' indices among them."""
    path = set()
    at = search.best
    while at >= 0:
        path.add(at)
        at = search.history[at].parent
    nodes: list[TreeNode] = []
    places = {-1: -1}  # from the history's indices to ours
    for i, node in enumerate(search.history):
        if node.step > upto or (node.status == "pruned" and not pruned):
            continue
        places[i] = len(nodes)
        nodes.append(
            TreeNode(
                label=search.piece(node.piece),
                parent=places[node.parent],
                step=node.step,
                log_probability=node.log_probability,
                piece_log_probability=node.piece_log_probability,
                status=node.status,
                best=i in path,
            )
        )
    return nodes
