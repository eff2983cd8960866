"""Lesson "The whole Transformer" (Sections 3.1, 3.3, 3.4): the numbers behind its pictures."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from transformer_core.config import ModelConfig
from transformer_core.paper.flops import Work, multiply_adds_by_part, parameters_by_part
from transformer_core.paper.presets import PRESETS
from transformer_core.text.tokenizer import EOS_TOKEN
from viz_app.lessons import load_lesson
from viz_app.lessons.catalogue import LESSON_AT
from viz_app.lessons.context import LessonContext, StageData
from viz_app.serving.scheduling.single_flight_cache import ShouldStop

if TYPE_CHECKING:
    from viz_app.lessons.architecture.forward_steps import ForwardTrace

POSITIONS = 16  # shown; of longer sentences the first ones
_PARTS = {
    "attention": ("encoder self-attention", "decoder self-attention", "encoder-decoder attention"),
    "feed_forward": ("encoder feed-forward", "decoder feed-forward"),
    "matrix": ("embeddings", "positions", "output"),
    "norms": ("norms",),
}


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
        searches = translator.search([source] * len(begun), beam=1, prefixes=begun, should_stop=stop, constrained=False)
        return [
            {
                "tokens": [*map(name, best.ids), *[EOS_TOKEN] * best.finished][:POSITIONS],
                "probabilities": np.exp(best.log_probabilities).round(4).tolist(),
                "text": translator.tokenizer.decode(best.ids),
            }
            for best in (result.hypotheses[0] for result in searches)
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
