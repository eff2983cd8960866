"""The tree of a beam search, from the history that a Translation keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from viz_app.figures.build.request import Request, Search
from viz_app.figures.model.beam_tree import BeamTreeFigure, TreeNode
from viz_app.figures.text import view_captions
from viz_app.text import texts


def beam_tree(r: Request) -> BeamTreeFigure:
    """Return every candidate of a beam search, pruned ones in grey, the translation that was chosen as a thick line.

    Raises:
        ValueError: There is no search, or the step does not exist.
    """
    search, upto = r.search, r.step
    if search is None:
        raise ValueError("search is missing: the view beam draws a beam search")
    t = texts(r.language)
    last = max(node.step for node in search.history)
    if upto is not None and not 1 <= upto <= last:
        raise ValueError(f"step is {upto}, but must be between 1 and {last}, the steps of the search")
    view: dict[str, Any] = {"name": "beam", **({"step": upto} if upto is not None else {})}
    view |= {"language": r.language} if r.language != "en" else {}
    figure = BeamTreeFigure(
        nodes=_nodes(search, r.pruned, upto or last),
        step_title=t("figures.beam_step"),
        status_titles=(t("figures.beam_kept"), t("figures.beam_finished"), t("figures.beam_pruned")),
        best_title=t("figures.beam_best" if r.parse is None else "figures.beam_best_tree"),
        score_title=t("figures.beam_score"),
        title=t("figures.title_beam"),
        language=r.language,
        theme=r.theme,
        name="headlight_beam" + (f"_step{upto}" if upto else ""),
        provenance={**r.provenance, "view": view},
    )
    caption = view_captions.beam_caption(figure, search.text, search.score, language=r.language)
    return replace(figure, caption=caption.text, alt=f"{t('figures.alt_beam')} {caption.text}")


def _nodes(search: Search, pruned: bool, upto: int) -> list[TreeNode]:
    """Return the candidates that are drawn, with their parents' indices among them."""
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
                label=search.token(node.token),
                parent=places[node.parent],
                step=node.step,
                log_probability=node.log_probability,
                token_log_probability=node.token_log_probability,
                status=node.status,
                best=i in path,
            )
        )
    return nodes
