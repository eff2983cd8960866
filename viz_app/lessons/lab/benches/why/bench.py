"""Bench "Why there?": one score of a head decomposed, by dimension and by the origins of query and key.

Shape legend: Q queries, K keys, A origins of queries, B of keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.ablation import Head, hook_point_name
from transformer_core.attention_maps import Kind
from transformer_core.attention_variants import VARIANTS
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.lab import recipe as recipes
from viz_app.lessons.lab.bench import Bench
from viz_app.lessons.lab.heads import chosen_head, strongest_cell
from viz_app.lessons.lab.limits import check_work, pass_flops
from viz_app.lessons.lab.recipe import Recipe
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from transformer_core.analysis.linearized_model import By

FloatArray = npt.NDArray[np.float32]

DIMENSIONS = "dims"
BY: Mapping[str, By] = {"roles": "role", "tokens": "token"}
VIEWS = (*BY, DIMENSIONS)
STACKS: tuple[Kind, Kind] = ("encoder", "decoder")
_UNSET = -1


@dataclass(frozen=True, eq=False)
class TakenApart:
    """Scores of a head and their parts.

    Args:
        head: Of the model.
        weights: (Q, K).
        scores: (Q, K), minus infinity where the mask forbids.
        scale: Factor of a product of query and key.
        vectors: By view the parts of queries, (A, Q, d_k), and of keys, (B, K, d_k); by dimension there is one part.
            A view that this model does not have is missing.
    """

    head: Head
    weights: FloatArray
    scores: FloatArray
    scale: float
    vectors: Mapping[str, tuple[FloatArray, FloatArray]]

    def parts(self, view: str, query: int, key: int, *, relative: bool) -> FloatArray:
        """Return the parts of a score, (A, B); by dimension query, key and products, (3, d_k)."""
        queries, keys = (vectors.astype(np.float64) for vectors in self.vectors[view])
        beside = keys[:, np.isfinite(self.scores[query])].mean(axis=1) if relative else 0.0
        vector, other = queries[:, query], keys[:, key] - beside  # (A, d_k), (B, d_k)
        if view == DIMENSIONS:
            return np.stack([vector[0], keys[0, key], self.scale * vector[0] * other[0]]).astype(np.float32)
        return np.asarray(self.scale * vector @ other.T, dtype=np.float32)


def data(context: LessonContext) -> StageData:
    """Return the map of the head, and the vectors of which its scores are made."""
    score_parts, translator = _taken_apart(context), context.service.translator
    kind = score_parts.head.kind
    maps, config = context.result.maps, translator.config
    finite = np.isfinite(score_parts.scores)
    arrays: dict[str, npt.NDArray[Any]] = {
        "why_map": np.round(255 * score_parts.weights).astype(np.uint8),
        "why_weights": score_parts.weights,
        "why_scores": np.where(finite, score_parts.scores, 0.0),
        "why_seen": finite.astype(np.uint8),
    }
    for view, (queries, keys) in score_parts.vectors.items():
        arrays |= {f"why_{view}_queries": queries, f"why_{view}_keys": keys}
    return StageData(
        values={
            "head": str(score_parts.head),
            "layers": config.num_layers,
            "heads": config.num_heads,
            "queries": list(maps.queries(kind).tokens),
            "keys": list(maps.keys(kind).tokens),
            "source": list(maps.keys("encoder").tokens),
            "inputs": list(maps.keys("decoder").tokens),
            "start": list(strongest_cell(context.result.maps, score_parts.head)),
            "scale": score_parts.scale,
            "views": [view for view in VIEWS if view in score_parts.vectors],
            "activation": config.activation,
        },
        arrays=arrays,
        answers={"chosen": context.state.settings.get("chosen", "")},
    )


def _taken_apart(context: LessonContext) -> TakenApart:
    translator, translation, head = context.service.translator, context.result.translation, chosen_head(context)
    passes = pass_flops(context)
    check_work((passes.source_length + passes.target_length) * passes.whole)

    def compute(stop: ShouldStop) -> TakenApart:
        from transformer_core.analysis.score_decomposition import POINTS, NoParts, decompose_score
        from transformer_core.analysis.teacher_forced_run import teacher_forced_run

        run = teacher_forced_run(translator, context.source, translation, points=POINTS)
        kind, layer, number = head
        weights, scores, queries, keys = (
            run.captured[hook_point_name(kind, layer, point)][0, number].float().numpy()
            for point in ("weights", "scores", "queries", "keys")
        )
        products = "neuron_view" in VARIANTS[translator.config.attention].supports
        vectors = {DIMENSIONS: (queries[None], keys[None])} if products else {}
        scale = translator.config.d_k**-0.5 if translator.config.scaled else 1.0
        for view, by in BY.items():
            try:
                parts = decompose_score(translator, run, str(head), by=by, should_stop=stop)
            except NoParts:
                continue
            vectors[view] = parts.queries.numpy(), parts.keys.numpy()
        return TakenApart(head, weights, scores, scale, vectors)

    return context.compute_once(("lab.why", context.source, head), compute)


def _cell(context: LessonContext, score_parts: TakenApart) -> tuple[int, int]:
    """Return the cell that is shown; for a key that the mask hides, the key with the largest weight."""
    (queries, keys), state = score_parts.weights.shape, context.state
    query, key = (
        round(state.number(name, _UNSET, _UNSET, most - 1)) for name, most in (("query", queries), ("key", keys))
    )
    if query < 0:
        return strongest_cell(context.result.maps, score_parts.head)
    if key < 0 or not np.isfinite(score_parts.scores[query, key]):
        key = int(score_parts.weights[query].argmax())
    return query, key


def _view(context: LessonContext, score_parts: TakenApart) -> str | None:
    """Return the view that was chosen, else dimensions; None where this model has neither."""
    preferred = context.state.choice("view", VIEWS[0], VIEWS)
    return next((view for view in (preferred, DIMENSIONS) if view in score_parts.vectors), None)


def _is_relative(context: LessonContext) -> bool:
    return context.state.settings.get("relative") is True


def recipe(context: LessonContext) -> Recipe | None:
    """Give the parts of the score in Python; no command computes them."""
    score_parts = _taken_apart(context)
    head, (query, key) = str(score_parts.head), _cell(context, score_parts)
    view = _view(context, score_parts)
    if view is None:
        return None
    run = "run = teacher_forced_run(translator, source, points=POINTS)"
    imports = (
        "from transformer_core.analysis.teacher_forced_run import teacher_forced_run\n"
        "from transformer_core.analysis.score_decomposition import POINTS"
    )
    if view == DIMENSIONS:
        lines = [
            f"view = neuron_view(translator, run, {head!r}, {query}, {key})",
            "view.products  # (d_k,), they sum to view.score",
        ]
        return recipes.recipe(context, f"{imports}, neuron_view", run, *lines)
    lines = [
        f"parts = decompose_score(translator, run, {head!r}, by={BY[view]!r})",
        f"parts.of({query}, {key})  # (origins of the query, origins of the key), they sum to the score",
    ]
    part = _part(context, score_parts, view)
    factor = context.state.number("factor", 1.0, 0.0, 1.0)
    if part is not None and factor < 1.0:
        lines.append(f"parts.scaled_row({query}, [{part[0]}], [{part[1]}], factor={factor:g})  # weights of the row")
    return recipes.recipe(context, f"{imports}, decompose_score", run, *lines)


def _part(context: LessonContext, score_parts: TakenApart, view: str) -> tuple[int, int] | None:
    """Return the pair of origins that was pressed, such as tokens.3.2, else the largest part."""
    query, key = _cell(context, score_parts)
    parts = score_parts.parts(view, query, key, relative=_is_relative(context))
    name, *numbers = str(context.state.settings.get("part", "")).split(".")
    if name == view and len(numbers) == 2 and all(n.isascii() and n.isdecimal() and len(n) < 5 for n in numbers):
        one, other = map(int, numbers)
        if one < parts.shape[0] and other < parts.shape[1]:
            return one, other
    one, other = divmod(int(np.abs(parts).argmax()), parts.shape[1])
    return one, other


BENCH = Bench(data=data, recipe=recipe, head=chosen_head)
