"""The lesson on the dot product: its numbers are the model's, and the browser evaluates the core's formulas."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.attention_sinks import most_informative_head
from transformer_core.hooks.points import Point, capture
from transformer_core.model.additive import additive_scores
from transformer_core.model.attention import attention_scores, attention_weights
from viz_app.lessons.context import LessonContext
from viz_app.lessons.dot_product import numbers as dot_product
from viz_app.lessons.dot_product.head_vectors import DRAWN, KEYS, by_width
from viz_app.lessons.dot_product.projections import cross_projections, self_projections
from viz_app.lessons.results.paper_results import TABLE_3
from viz_app.lessons.stage import settings_from_param, settings_to_param


@pytest.fixture
def context(visit: Visit) -> LessonContext:
    return visit("real", "Where did you buy it?")


def test_vectors_give_the_weights_of_the_model(context: LessonContext) -> None:
    data = dot_product.data(context)
    layer, head = data.values["layer"], data.values["head"]
    queries, keys = (torch.from_numpy(data.arrays[name])[None] for name in ("queries", "keys"))
    result = attention_weights(attention_scores(queries, keys, None))[0]
    truth = context.result.maps.encoder
    np.testing.assert_allclose(result, truth[layer], atol=1e-6)
    assert ("encoder", layer, head) == most_informative_head(context.result.maps, "encoder")
    assert data.values["tokens"] == list(context.result.maps.source.tokens)
    assert data.values["three"] == ["where", "did", "you"]


def test_the_query_that_is_shown_looks_most_sharply_at_another_word() -> None:
    weights = np.array([[0.1, 0.2, 0.1, 0.6], [0.7, 0.2, 0.1, 0.0], [0.0, 0.1, 0.8, 0.1], [0.9, 0.1, 0.0, 0.0]])
    result = dot_product.choose_query(weights, [False, False, False, True])
    assert result == 1, "0.8 lies on the query itself, 0.9 belongs to no word"
    assert dot_product.choose_query(weights[:2, :2], [False, True]) == 0


@pytest.mark.parametrize(
    ("project", "attention"),
    [
        (self_projections, "encoder.layers.{}.self_attention"),
        (cross_projections, "decoder.layers.{}.cross_attention"),
    ],
)
def test_vectors_times_matrices_are_the_queries_keys_and_values_of_the_model(
    context: LessonContext, project: Callable[..., dict[str, Any]], attention: str
) -> None:
    translator, translation = context.service.translator, context.result.translation
    points: tuple[Point, ...] = ("queries", "keys", "values", "residual")
    with capture(translator.model, points) as seen:
        translator.attention(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)
    last = translator.config.num_layers - 1
    for layer, head in ((0, 1), (last, 0)):
        result = project(translator, translation, layer, head)
        for name, source in (("q", "of_queries"), ("k", "of_keys"), ("v", "of_keys")):
            point = {"q": "queries", "k": "keys", "v": "values"}[name]
            truth = seen[f"{attention.format(layer)}.{point}"][0, head].numpy()
            np.testing.assert_allclose(result[source] @ result[f"w_{name}"], truth, atol=1e-5)
            np.testing.assert_allclose(result[name], truth, atol=1e-5)
    memory = seen[f"encoder.layers.{last}.feed_forward_add_norm.residual"][0].numpy()
    of_the_encoder = project is cross_projections
    assert np.allclose(result["of_keys"], memory, atol=1e-5) == of_the_encoder
    assert np.array_equal(result["of_keys"], result["of_queries"]) != of_the_encoder


def test_the_stage_gets_the_vectors_of_both_attentions(context: LessonContext) -> None:
    data = dot_product.data(context)
    inputs, tokens = data.values["inputs"], data.values["tokens"]
    assert inputs[0] == "<s>" and tokens[-1] == "</s>"
    assert len(data.arrays["cross_of_queries"]) == len(inputs) and len(data.arrays["cross_of_keys"]) == len(tokens)
    matrix = data.arrays["encoder_w_k"].astype(int)
    assert abs(matrix - 128).max() == 127 and matrix.min() >= 1


def test_the_width_has_the_effect_that_the_paper_expects() -> None:
    widths = [4, 64, 512]
    result = by_width(widths)
    # The variance of a sample of n numbers has a standard error of about sqrt(2 / n); products of one query depend.
    error = 8 * np.sqrt(2 / (DRAWN * KEYS))
    np.testing.assert_allclose(result["variance"][0], widths, rtol=error)
    np.testing.assert_allclose(result["variance"][1], 1, rtol=error)
    assert result["entropy"][0, 2] < 0.2 < 0.7 < result["entropy"][1, 2], (
        "unscaled weights collapse, scaled ones do not"
    )
    assert result["gradient"][0, 2] < result["gradient"][1, 2]
    # By hand: even weights have a derivative of norm sqrt(KEYS - 1) / KEYS, which additive scores come close to.
    assert result["gradient"].max() < 0.5 and (result["weights"].sum(axis=-1) - 1).max() < 1e-6
    low, high = (dot_product.histograms()[name] for name in ("narrow", "wide"))
    assert abs(low["variance"] / 4 - 1) < error and abs(high["variance"] / 512 - 1) < error
    assert sum(high["counts"]) > 0.999 * DRAWN * KEYS


def test_the_browser_evaluates_the_same_formulas(javascript: Callable[[str], Any]) -> None:
    draw = torch.Generator().manual_seed(3)
    queries, keys, values = (torch.randn(1, 1, 8, 4, generator=draw).mul(3).round(decimals=1) for _ in range(3))
    vector = torch.full((1, 4), 0.5)
    given = [tensor[0, 0].tolist() for tensor in (queries, keys, values)] + [vector[0].tolist()]
    script = """
        import { attend, additive, pack, unpack } from "./lessons/dot_product/js/attend.js";
        const rows = queries.map((query) => ({ ...attend(query, keys, values), other: additive(query, keys, vector) }));
        const word = pack(queries);
        const wrong = [unpack("dwd", 4), unpack("zzzzzzzz", 4), unpack(3, 4)];
        console.log(JSON.stringify({ rows, word, back: unpack(word, 4), wrong }));
    """
    result = javascript(f"const [queries, keys, values, vector] = {json.dumps(given)};{script}")
    scores = attention_scores(queries, keys, None)
    weights = attention_weights(scores)
    for name, truth in (
        ("products", scores * 2),
        ("scores", scores),
        ("weights", weights),
        ("output", weights @ values),
        ("other", additive_scores(queries, keys, vector, None)),
    ):
        np.testing.assert_allclose([row[name] for row in result["rows"]], truth[0, 0], atol=1e-5)
    np.testing.assert_allclose(result["back"], queries[0, 0], atol=1e-6)
    assert result["wrong"] == [None, None, None]
    three = result["word"][:24]  # as many as the lesson has in one matrix
    assert settings_from_param(settings_to_param({"q": three}) or "") == {"q": three}


def test_a_narrower_head_compares_the_first_numbers_only(
    context: LessonContext, javascript: Callable[[str], Any]
) -> None:
    """The scene of the real head against the core's attention on cut vectors; at full width against the model."""
    numbers = dot_product.data(context)
    layer, head = numbers.values["layer"], numbers.values["head"]
    arrays = {name: torch.from_numpy(numbers.arrays[name]) for name in ("queries", "keys", "values")}
    full = arrays["queries"].shape[-1]
    for width in (1, full // 2, full):
        query, key = (arrays[name][head, :, :width] for name in ("queries", "keys"))
        wanted = attention_weights(attention_scores(query[None, None], key[None, None], None))[0, 0]
        given = {name: {"shape": list(each.shape), "data": each.flatten().tolist()} for name, each in arrays.items()}
        weights = javascript(
            f"""
            import {{ NdArray }} from "./lessons/stage/js/arrays.js";
            import {{ Real }} from "./lessons/dot_product/js/real.js";
            const given = {json.dumps(given)};
            const arrays = Object.fromEntries(Object.entries(given).map(([name, {{ shape, data }}]) =>
              [name, new NdArray(Float32Array.from(data), shape)]));
            const scene = new Real({{ values: {json.dumps(numbers.values)}, arrays }}, {{}});
            const rows = scene.tokens.map((_, query) => scene.attend(query, {head}, {width}).weights);
            console.log(JSON.stringify(rows));
            """
        )
        np.testing.assert_allclose(weights, wanted, atol=1e-5)
    whole = dot_product._vectors(context)["weights"][layer, head][: len(weights), : len(weights)]
    np.testing.assert_allclose(weights, whole, atol=1e-5)


def test_the_text_says_what_table_3_says_of_a_small_d_k() -> None:
    bleu = {line.change: line.bleu for line in TABLE_3 if line.row in ("base", "B")}
    assert f"{bleu[''] - bleu['d_k = 16']:.1f}" == "0.7"
