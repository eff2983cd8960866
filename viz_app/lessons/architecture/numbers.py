"""Lesson "The whole Transformer" (Sections 3.1, 3.3, 3.4): the numbers behind its pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.config import ModelConfig
from transformer_core.paper.flops import Work, multiply_adds_by_part, parameters_by_part
from transformer_core.paper.presets import PRESETS
from transformer_core.text.tokenizer import EOS_TOKEN
from viz_app.figures import CurvesFigure, MatrixFigure, Series
from viz_app.figures.model.figure import Figure
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSON_AT
from viz_app.lessons.context import LessonContext, StageData
from viz_app.serving.scheduling.single_flight_cache import ShouldStop
from viz_app.text import Texts

if TYPE_CHECKING:
    from viz_app.lessons.architecture.forward_steps import ForwardTrace

POSITIONS = 16  # shown; of longer sentences the first ones
_PARTS = {
    "attention": ("encoder self-attention", "decoder self-attention", "encoder-decoder attention"),
    "feed_forward": ("encoder feed-forward", "decoder feed-forward"),
    "matrix": ("embeddings", "positions", "output"),
    "norms": ("norms",),
}
_MAX_NEIGHBOURS = 50  # in the figure for print


def data(context: LessonContext) -> StageData:
    """Compute the forward pass of the sentence, neighbours of its tokens, and the parameters of each part."""
    translator, maps = context.service.translator, context.result.maps
    way, config = _way(context), translator.config
    source, target = _ids(context)
    return StageData(
        values={
            "tokens": {
                "encoder": list(maps.source.tokens[:POSITIONS]),
                "decoder": list(maps.inputs.tokens[:POSITIONS]),
            },
            "outputs": list(maps.outputs.tokens[:POSITIONS]),
            "ids": _read(context, source, target),
            "lengths": {"encoder": len(maps.source), "decoder": len(maps.inputs)},
            "model": {name: getattr(config, name) for name in ("d_model", "d_ff", "num_layers", "vocab_size", "norm")},
            "titles": {station: load_lesson(name, context.language).title for station, name in LESSON_AT.items()},
            "stations": way.stations,
            "order_error": way.order_error,
            "step_error": way.step_error,
            "likely": [
                [[translator.tokenizer.token(token), *rest, token] for token, *rest in row] for row in way.likely
            ],
            "shared": _shared(context, source),
            "mistakes": _mistakes(context) if context.state.scene == "mistake" else None,
            "halves": _halves(config),
            "parts": _parts(config, Work(sentences=1, source_length=len(maps.source), target_length=len(maps.inputs))),
        },
        arrays={
            name: getattr(way, name)
            for name in ("stats", "tensors", "sums", "cosines", "active", "inner", "once", "stepwise", "again")
        },
    )


def _ids(context: LessonContext) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the ids of the source and of its translation, without special tokens."""
    translation = context.result.translation
    return tuple(translation.source_encoding.ids), tuple(translation.hypotheses[0].ids)


def _read(context: LessonContext, source: Sequence[int], target: Sequence[int]) -> dict[str, list[int]]:
    """Return the ids that the model reads: tokens and end marks."""
    special = context.service.translator.tokenizer.special
    return {
        "encoder": [*source, special.eos][:POSITIONS],
        "decoder": [special.bos, *target][: min(POSITIONS, len(context.result.maps.inputs))],
    }


def _way(context: LessonContext) -> ForwardTrace:
    from viz_app.lessons.architecture.forward_steps import trace_forward

    (source, target), length = _ids(context), len(context.result.maps.inputs)
    return context.compute_once(
        ("architecture.way", source, target, length),
        lambda _: trace_forward(context.service.translator, source, target, length, POSITIONS),
    )


def _shared(context: LessonContext, source: Sequence[int]) -> dict[str, Any]:
    """Find neighbours of the sentence's tokens in the embedding matrix, and lengths of vectors."""
    from viz_app.lessons.architecture.forward_steps import median_nearest_cosine, nearest

    translator = context.service.translator
    model, tokenizer = translator.model, translator.tokenizer
    matrix = (model.source_embedding or model.embedding).weight.detach()
    ids = _read(context, source, ())["encoder"]
    positions = (model.source_positions or model.positions)(0, len(ids)).expand(len(ids), -1)
    return {
        "tied": translator.config.tie == "all",
        "neighbours": [
            [[tokenizer.source.token(other), cosine, other] for other, cosine in row] for row in nearest(matrix, ids)
        ],
        "usual": context.compute_once(("architecture.usual",), lambda _: median_nearest_cosine(matrix)),
        "row_norms": [round(float(norm), 4) for norm in matrix[list(ids)].norm(dim=1)],
        "position_norms": [round(float(norm), 4) for norm in positions.detach().norm(dim=1)],
    }


def _mistakes(context: LessonContext) -> list[dict[str, Any]]:
    """Put the second choice in place of each token that is shown, and let the model go on greedily from it."""
    translator, (source, target) = context.service.translator, _ids(context)
    special, name = dataclasses.astuple(translator.tokenizer.special), translator.tokenizer.token
    begun = [
        (*target[:place], next(other for other, *_ in row if other != target[place] and other not in special))
        for place, row in enumerate(_way(context).likely[: len(target)])
    ]

    def compute(stop: ShouldStop) -> list[dict[str, Any]]:
        found = translator.search([source] * len(begun), beam=1, prefixes=begun, should_stop=stop, constrained=False)
        return [
            {
                "tokens": [*map(name, best.ids), *[EOS_TOKEN] * best.finished][:POSITIONS],
                "probabilities": np.exp(best.log_probabilities).round(4).tolist(),
                "text": translator.tokenizer.decode(best.ids),
            }
            for best in (result.hypotheses[0] for result in found)
        ]

    return context.compute_once(("architecture.mistakes", source, target), compute) if begun else []


def _halves(config: ModelConfig) -> dict[str, int]:
    """Count the parameters of the layers of each stack; of the decoder without encoder-decoder attention."""
    counted = parameters_by_part(config)
    sides = {
        side: counted[f"{side} self-attention"] + counted[f"{side} feed-forward"] for side in ("encoder", "decoder")
    }
    return sides | {"cross": counted["encoder-decoder attention"]}


def _parts(config: ModelConfig, work: Work) -> dict[str, dict[str, list[float]]]:
    """Count parameters and multiply-adds by part, of the model and of the paper's two."""
    configs = {"this": config, "base": PRESETS["base"].model, "big": PRESETS["big"].model}
    return {name: _weighed(each, work) for name, each in configs.items()}


def _weighed(config: ModelConfig, work: Work) -> dict[str, list[float]]:
    numbers, products = parameters_by_part(config), multiply_adds_by_part(config, work)
    return {
        part: [*(sum(counted.get(name, 0) for name in names) for counted in (numbers, products)), _places(part, config)]
        for part, names in _PARTS.items()
    }


def _places(part: str, config: ModelConfig) -> int:
    """Count how often a part occurs in Figure 1 with its N layers."""
    in_a_layer = {"attention": 1 + 2, "feed_forward": 1 + 1, "norms": 2 + 3}
    return in_a_layer[part] * config.num_layers if part in in_a_layer else 1


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Return the figure of a scene for print; None for a scene whose figure would give the answer away."""
    makers = {"flow": _flow, "residual": _residual, "ffn": _ffn, "shared": _neighbours, "training": _rows}
    return makers[scene](context) if scene in makers else None


def _flow(context: LessonContext) -> Figure:
    """Plot the mean length at every station, the encoder's before the decoder's."""
    t, stations = context.t, _way(context).stations[:-1]  # without the logits
    places = np.arange(1, len(stations) + 1)
    norms = np.array([station["norm"] for station in stations], dtype=np.float64)
    kinds = np.array([_kind(station) for station in stations])
    series = []
    for kind in ("stream", "self_attention", "cross_attention", "feed_forward"):
        chosen = kinds == kind
        # A gap between the stacks: what leaves the encoder is not what the decoder starts from.
        last = np.max(places[chosen & np.array([station["side"] == "encoder" for station in stations])], initial=0)
        gap = [last + 0.5] if last else []
        x = np.array(sorted([*places[chosen], *gap]))
        y = np.array([np.nan if place in gap else norms[int(place) - 1] for place in x])
        label = _label(t, "stream" if kind == "stream" else f"station_{kind}")
        series.append(Series(x=x, y=y, label=label, dashed=kind != "stream"))
    return CurvesFigure(series=series, x_title=_label(t, "station"), y_title=_label(t, "mean_length"))


def _kind(station: Mapping[str, Any]) -> str:
    """Classify a station: the residual stream, or a kind of sub-layer."""
    return station["sublayer"] if station["sublayer"] and station["name"] != "add_norm" else "stream"


def _residual(context: LessonContext) -> Figure:
    t, way = context.t, _way(context)
    config = context.service.translator.config
    maps = context.result.maps
    series = []
    for side, start, count, tokens in (
        ("encoder", 0, 2 * config.num_layers, len(maps.source)),
        ("decoder", 2 * config.num_layers, 3 * config.num_layers, len(maps.inputs)),
    ):
        means = way.cosines[start : start + count, :tokens].mean(axis=1)
        for column, name in enumerate(("kept_step", "kept_start")):
            label = f"{_label(t, side)}: {_label(t, name)}"
            series.append(Series(x=np.arange(1, count + 1), y=means[:, column], label=label, dashed=column == 1))
    return CurvesFigure(series=series, x_title=_label(t, "sublayer"), y_title=_label(t, "cosine"))


def _ffn(context: LessonContext) -> Figure:
    t, way, state = context.t, _way(context), context.state
    layers, maps = context.service.translator.config.num_layers, context.result.maps
    stack = state.choice("stack", "encoder", ("encoder", "decoder"))
    layer = int(state.number("layer", 1, 1, layers)) - 1
    tokens = len(maps.source) if stack == "encoder" else len(maps.inputs)
    network = layer + (layers if stack == "decoder" else 0)
    return MatrixFigure(
        values=way.inner[network, :tokens].astype(np.float32) / 255,
        row_title=_label(t, "position"),
        column_title=_label(t, "inner_unit"),
        scale_title=_label(t, "of_largest"),
        row_start=1,
        column_start=1,
    )


def _neighbours(context: LessonContext) -> Figure:
    from viz_app.lessons.architecture.forward_steps import nearest

    t, translator = context.t, context.service.translator
    ids = _read(context, _ids(context)[0], ())["encoder"]
    at = int(context.state.number("at", min(2, len(ids) - 1), 0, len(ids) - 1) + 0.5)
    matrix = (translator.model.source_embedding or translator.model.embedding).weight.detach()
    (found,) = nearest(matrix, [ids[at]], min(_MAX_NEIGHBOURS, len(matrix) - 1))
    token = translator.tokenizer.source.token
    names = ", ".join(f"“{token(other).lstrip('▁')}”" for other, _ in found[:3])
    series = Series(
        x=np.arange(1, len(found) + 1),
        y=[cosine for _, cosine in found],
        label=f"“{token(ids[at]).lstrip('▁')}”: {names}, …",
    )
    return CurvesFigure(series=[series], x_title=_label(t, "by_nearness"), y_title=_label(t, "cosine"))


def _rows(context: LessonContext) -> Figure:
    t, count = context.t, len(context.result.maps.inputs)
    steps = np.arange(1, count + 1)
    series = [
        Series(x=steps, y=np.full(count, count), label=_label(t, "rows_training")),
        Series(x=steps, y=steps * (steps + 1) // 2, label=_label(t, "rows_without")),
        Series(x=steps, y=steps, label=_label(t, "rows_with"), dashed=True),
    ]
    return CurvesFigure(series=series, x_title=_label(t, "step"), y_title=_label(t, "rows_so_far"))


def _label(t: Texts, name: str) -> str:
    return t(f"lesson_architecture.{name}")
