"""Lesson "Scaled dot-product attention" (Section 3.2.1): the numbers behind its pictures."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from viz_app.figures import CurvesFigure, HeatmapFigure, HeatmapPanel, Request, Series, one_head
from viz_app.figures.model.spec import Figure
from viz_app.lessons.context import LessonContext, StageData

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
WAYS = ("unscaled", "scaled", "additive")
_IN_THEIR_COLOURS = ((1, "scaled"), (0, "unscaled"), (2, "additive"))  # blue, orange, green, as in js/scale.js
POSITIONS = 16  # shown; of longer sentences the first ones
NARROW, WIDE = 4, 512  # widths whose products the last scene compares
BINS = 60

# Small enough to follow by hand: the second query fits the third key, the third looks around.
EXAMPLE: dict[str, list[list[float]]] = {
    "q": [[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0]],
    "k": [[0.0, 1.0, 1.0, 0.0], [2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]],
    "v": [[1.0, 2.0, 3.0, 0.0], [2.0, 8.0, 0.0, 1.0], [2.0, 6.0, 3.0, 4.0]],
}

LIMIT = 9.9  # of a number in a field
_PACKED = re.compile("[0-9a-z]{24}")

FloatArray = npt.NDArray[np.float32]


def data(context: LessonContext) -> StageData:
    """The worked example, the effect of the width, and the vectors of a layer of the encoder for the sentence."""
    widths, vectors = _by_width(context), _vectors(context)
    layer, head = _peaked(vectors["weights"])
    shown = {name: vectors[name][layer, :, :POSITIONS] for name in ("queries", "keys", "values")}
    return StageData(
        values={
            "example": EXAMPLE,
            "three": _three(context),
            "widths": list(WIDTHS),
            "histograms": context.compute_once(("dot_product.histograms",), lambda _: histograms()),
            "tokens": list(_source(context)[1]),
            "layer": layer,
            "head": head,
            "largest": float(max(np.abs(shown[name]).max() for name in ("queries", "keys"))),
            "largest_value": float(np.abs(shown["values"]).max()),
        },
        arrays={**shown, **widths},
    )


def _source(context: LessonContext) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Ids of the sentence without `</s>`, and the labels of its positions, as far as they are shown."""
    encoding = context.service.translator.tokenizer.source.encode(context.text)
    return encoding.ids[: POSITIONS - 1], (*encoding.pieces[: POSITIONS - 1], "</s>")


def _three(context: LessonContext) -> list[str]:
    """Three names for the tokens of the worked example: the first words of the sentence."""
    words = [word.strip(".,;:!?\"'()").lower()[:8] for word in context.text.split()]
    kept = list(dict.fromkeys(word for word in words if word))
    return [*kept, *(name for name in ("a", "b", "c") if name not in kept)][:3]


def _vectors(context: LessonContext) -> dict[str, FloatArray]:
    from viz_app.lessons.dot_product.head_vectors import encoder_vectors

    source = _source(context)[0]
    key = ("dot_product.vectors", source)
    return context.compute_once(key, lambda _: encoder_vectors(context.service.translator, source))


def _peaked(weights: FloatArray) -> tuple[int, int]:
    """(L, H, S, S) -> the layer and head that look most sharply: the largest mean of each row's largest weight."""
    sharpness = weights.max(axis=-1).mean(axis=-1)
    layer, head = np.unravel_index(int(sharpness.argmax()), sharpness.shape)
    return int(layer), int(head)


def _by_width(context: LessonContext) -> dict[str, FloatArray]:
    from viz_app.lessons.dot_product.head_vectors import by_width

    return context.compute_once(("dot_product.by_width",), lambda _: by_width(WIDTHS))


def histograms() -> dict[str, Any]:
    """Products of narrow and of wide vectors over one range, which holds nearly all of both."""
    from viz_app.lessons.dot_product.head_vectors import random_products

    high = float(np.ceil(4 * WIDE**0.5 / 10) * 10)
    found = {}
    for name, d_k in (("narrow", NARROW), ("wide", WIDE)):
        values = random_products(d_k)
        counts, _ = np.histogram(values, bins=BINS, range=(-high, high))
        variance = float(values.var())
        found[name] = {"d_k": d_k, "variance": variance, "counts": counts.tolist(), "low": -high, "high": high}
    return found


def _worked(context: LessonContext) -> HeatmapFigure:
    """softmax(Q K^T / sqrt(d_k)) of the numbers as they stand in the fields."""
    q, k = (np.array(_typed(context, name)) for name in ("q", "k"))
    scores = q @ k.T / np.sqrt(q.shape[1])  # (3, 3)
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    t, tokens = context.t, _three(context)
    panel = HeatmapPanel(weights=raised / raised.sum(axis=1, keepdims=True), query_labels=tokens, key_labels=tokens)
    return HeatmapFigure(
        panels=(panel,),
        query_title=t("lesson_dot_product.query"),
        key_title=t("lesson_dot_product.key"),
        scale_title=t("figures.scale"),
        language=t.language,
    )


def _typed(context: LessonContext, name: str) -> list[list[float]]:
    """Q, K or V: the example, or what was typed, packed as in attend.js: two letters of base 36 for each number."""
    example, packed = EXAMPLE[name], context.state.settings.get(name)
    if not isinstance(packed, str) or not _PACKED.fullmatch(packed):
        return example
    numbers = [(int(packed[i : i + 2], 36) - 500) / 10 for i in range(0, len(packed), 2)]
    if max(map(abs, numbers)) > LIMIT:
        return example
    width = len(example[0])
    return [numbers[row * width : (row + 1) * width] for row in range(len(example))]


def figure(scene: str, context: LessonContext) -> Figure | None:
    """The weights of the worked example; entropy over the width; the real head. The last answer is not given away."""
    t = context.t
    if scene == "steps":
        return _worked(context)
    if scene == "scale":
        series = [
            Series(
                x=WIDTHS, y=_by_width(context)["entropy"][row], label=t(f"lesson_dot_product.{way}"), dashed=row == 2
            )
            for row, way in _IN_THEIR_COLOURS
        ]
        return CurvesFigure(
            series=series, x_title="d_k", y_title=t("lesson_dot_product.entropy"), x_log=True, language=t.language
        )
    if scene != "real":
        return None
    layer, head = _peaked(_vectors(context)["weights"])
    head = int(context.state.number("head", head, 0, len(_vectors(context)["weights"][layer]) - 1))
    return one_head(Request(maps=context.result.maps, kind="encoder", layer=layer, head=head, language=t.language))
