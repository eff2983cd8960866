"""Lesson "Scaled dot-product attention" (Section 3.2.1): the numbers behind its pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

import numpy as np
import numpy.typing as npt

from transformer_core.analysis.attention_sinks import SINK_SHARE, most_informative_head
from transformer_core.attention_maps import Kind
from viz_app.lessons.context import LessonContext, StageData

WIDTHS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
POSITIONS = 16  # shown; of longer sentences the first ones
NARROW, WIDE = 4, 512  # widths whose products the last scene compares
BINS = 60

# Small enough to follow by hand: the second query fits the third key, the third looks around.
EXAMPLE: dict[Literal["q", "k", "v"], list[list[float]]] = {
    "q": [[1.0, 0.0, 1.0, 0.0], [0.0, 2.0, 0.0, 2.0], [1.0, 1.0, 1.0, 1.0]],
    "k": [[0.0, 1.0, 1.0, 0.0], [2.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]],
    "v": [[1.0, 2.0, 3.0, 0.0], [2.0, 8.0, 0.0, 1.0], [2.0, 6.0, 3.0, 4.0]],
}

FloatArray = npt.NDArray[np.float32]


class Histogram(TypedDict):
    """Dot products of many pairs of random vectors, counted from `low` to `high`."""

    d_k: int
    variance: float
    counts: list[int]
    low: float
    high: float


class Histograms(TypedDict):
    """Products of narrow and of wide vectors."""

    narrow: Histogram
    wide: Histogram


class Values(TypedDict):
    """Numbers for the browser.

    Args:
        example: Q, K and V of the worked example.
        three: Names of its tokens.
        widths: See `WIDTHS`.
        histograms: See there.
        tokens: Of the sentence.
        inputs: Of the decoder.
        separators: Whether a token is `</s>` or punctuation.
        layer: Of the encoder, whose vectors are shown.
        head: First one shown.
        heads: Of the encoder, in all layers.
        sink_share: A head with a larger share of its weight on separators is at rest.
        query: A word that looks at another one.
        projected: Layer and head whose projections are shown.
        largest: Number in queries and keys.
        largest_value: Number in values.
    """

    example: dict[Literal["q", "k", "v"], list[list[float]]]
    three: list[str]
    widths: list[int]
    histograms: Histograms
    tokens: list[str]
    inputs: list[str]
    separators: list[bool]
    layer: int
    head: int
    heads: int
    sink_share: float
    query: int
    projected: dict[Literal["encoder", "cross"], tuple[int, int]]
    largest: float
    largest_value: float


def data(context: LessonContext) -> StageData:
    """Return the worked example, the effect of the width, and the vectors of an encoder layer."""
    widths, vectors = _by_width(context), _vectors(context)
    layer, head = looking_head(context, "encoder")
    heads = {name: vectors[name][layer, :, :POSITIONS] for name in ("queries", "keys", "values")}
    tokens = _source(context)[1]
    separators = [not any(letter.isalnum() for letter in token) for token in tokens]
    projected = _projections(context)
    values: Values = {
        "example": EXAMPLE,
        "three": _three(context),
        "widths": list(WIDTHS),
        "histograms": context.compute_once(("dot_product.histograms",), lambda _: histograms()),
        "tokens": list(tokens),
        "inputs": list(context.result.maps.inputs.tokens[:POSITIONS]),
        "separators": separators,
        "layer": layer,
        "head": head,
        "heads": context.result.maps.encoder.shape[0] * context.result.maps.encoder.shape[1],
        "sink_share": SINK_SHARE,
        "query": choose_query(vectors["weights"][layer, head], separators),
        "projected": {"encoder": looking_head(context, "encoder"), "cross": looking_head(context, "cross")},
        "largest": float(max(np.abs(heads[name]).max() for name in ("queries", "keys"))),
        "largest_value": float(np.abs(heads["values"]).max()),
    }
    return StageData(values=values, arrays={**heads, **widths, **projected})


def _source(context: LessonContext) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return ids of the sentence without `</s>`, and the labels of the positions that are shown."""
    encoding = context.service.translator.tokenizer.source.encode(context.source)
    return encoding.ids[: POSITIONS - 1], (*encoding.tokens[: POSITIONS - 1], "</s>")


def _three(context: LessonContext) -> list[str]:
    """Return three names for the tokens of the worked example: the first words of the sentence."""
    words = [word.strip(".,;:!?\"'()").lower()[:8] for word in context.source.split()]
    names = list(dict.fromkeys(word for word in words if word))
    return [*names, *(name for name in ("a", "b", "c") if name not in names)][:3]


def _vectors(context: LessonContext) -> dict[str, FloatArray]:
    from viz_app.lessons.dot_product.head_vectors import encoder_vectors

    source = _source(context)[0]
    key = ("dot_product.vectors", source)
    return context.compute_once(key, lambda _: encoder_vectors(context.service.translator, source))


def looking_head(context: LessonContext, kind: Kind) -> tuple[int, int]:
    """Find the layer and head whose choice of key depends most on the query, resting heads left out."""
    _, layer, head = most_informative_head(context.result.maps, kind)
    return layer, head


def choose_query(weights: FloatArray, separators: Sequence[bool]) -> int:
    """(S, S) -> the position whose row attends most sharply to another word; 0 where there is no other."""
    words = np.flatnonzero(~np.array(separators))
    if len(words) < 2:
        return 0
    between = weights[np.ix_(words, words)].copy()
    np.fill_diagonal(between, 0.0)
    return int(words[between.max(axis=1).argmax()])


def _projections(context: LessonContext) -> dict[str, FloatArray | npt.NDArray[np.uint8]]:
    """Return vectors, matrices and their products for an encoder head and an encoder-decoder head.

    Names are as in `projections.py` after `encoder_` or `cross_`; of long sentences the first positions. They are
    drawn and no more, so matrices are sent as bytes of which 128 is 0.
    """
    from viz_app.lessons.dot_product.projections import MATRICES, cross_projections, self_projections

    translator, translation = context.service.translator, context.result.translation
    matrices: dict[str, FloatArray | npt.NDArray[np.uint8]] = {}
    for kind, project in (("encoder", self_projections), ("cross", cross_projections)):
        layer, head = looking_head(context, kind)  # type: ignore[arg-type]
        arrays = context.compute_once(
            ("dot_product.projections", kind, context.source, layer, head),
            lambda _, project=project, at=(layer, head): project(translator, translation, *at),  # type: ignore[misc]
        )
        for name, values in arrays.items():
            matrix = _as_bytes(values) if name in MATRICES else values[:POSITIONS]
            matrices[f"{kind}_{name}"] = matrix
    return matrices


def _as_bytes(values: FloatArray) -> npt.NDArray[np.uint8]:
    """Scale numbers of both signs to 1 to 255, the largest at an end."""
    most = float(np.abs(values).max()) or 1.0
    scaled: npt.NDArray[np.uint8] = np.round(values / most * 127 + 128).astype(np.uint8)
    return scaled


def _by_width(context: LessonContext) -> dict[str, FloatArray]:
    from viz_app.lessons.dot_product.head_vectors import by_width

    return context.compute_once(("dot_product.by_width",), lambda _: by_width(WIDTHS))


def histograms() -> Histograms:
    """Count products of narrow and of wide vectors over one range."""
    return {"narrow": _histogram(NARROW), "wide": _histogram(WIDE)}


def _histogram(d_k: int) -> Histogram:
    from viz_app.lessons.dot_product.head_vectors import random_products

    high = float(np.ceil(4 * WIDE**0.5 / 10) * 10)
    values = random_products(d_k)
    counts, _ = np.histogram(values, bins=BINS, range=(-high, high))
    return {"d_k": d_k, "variance": float(values.var()), "counts": counts.tolist(), "low": -high, "high": high}
