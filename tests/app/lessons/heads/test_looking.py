"""Looking is not doing, and a weight is no cause: against loops, and against words that nobody may attend to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.ablation import all_heads, hook_point_name
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.points import edit
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.head_measures import SingleHeadAblations
from viz_app.lessons.heads.looking import looking_and_doing
from viz_app.lessons.heads.weight_and_effect import (
    StrongestWeights,
    dispensable_head,
    rank_correlation,
    strongest_weights,
)
from viz_app.lessons.stage import LessonState

TEXT = "The dog is fast."


def test_weights_and_effects_by_word(visit: Visit) -> None:
    context = visit("looking", TEXT)
    result = looking_and_doing(context)
    assert "".join(result.words).replace("\u2581", " ").strip() == TEXT
    maps, translator, translation = context.result.maps, context.service.translator, context.result.translation
    cross = maps.weights("cross").mean(axis=(0, 1))  # (T, S)
    batch = translator.forced_batch(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)

    @torch.no_grad()
    def log_p() -> torch.Tensor:
        logits = translator.model(batch.source, batch.inputs, None)[0].log_softmax(dim=-1)
        chosen: torch.Tensor = logits.gather(1, batch.outputs[0][:, None])[:, 0]
        return chosen

    whole, start = log_p(), 0
    for number, word in enumerate(result.words):
        tokens: list[str] = []
        while "".join(tokens) != word:
            tokens.append(context.tokens[start + len(tokens)])
        columns = list(range(start, start + len(tokens)))
        start += len(tokens)
        np.testing.assert_allclose(result.weights[:, number], cross[:, columns].sum(axis=1), atol=1e-5)

        def hide(scores: torch.Tensor, _site: Any, columns: list[int] = columns) -> torch.Tensor:
            hidden = scores.clone()
            hidden[..., columns] = -math.inf
            return hidden

        kinds: tuple[Kind, ...] = ("encoder", "cross")
        layers = range(translator.config.num_layers)
        places = [hook_point_name(kind, layer, "scores") for kind in kinds for layer in layers]
        with edit(translator.model, places, hide):
            expected = (whole - log_p()).numpy()
        np.testing.assert_allclose(result.effects[:, number], expected, atol=1e-4)


def test_only_the_open_scene_computes_it(visit: Visit) -> None:
    assert heads.data(visit("tour", TEXT)).values["looking"] is None
    context = visit("looking", TEXT)
    data = heads.data(context)
    assert data.arrays["looking_weights"].shape == (
        len(data.values["looking"]["tokens"]),
        len(data.values["looking"]["words"]),
    )


def is_word(token: str) -> bool:
    return token not in ("<s>", "</s>") and any(letter.isalnum() for letter in token)


def test_the_largest_weights_between_words_are_those_of_the_maps(visit: Visit) -> None:
    """Against a loop over every cell."""
    context = visit("cause", "The dog is fast.")
    translator = context.service.translator
    maps = translator.translate(context.text, beam=1).attention
    result = strongest_weights(maps)
    for number, (kind, layer, head) in enumerate(all_heads(translator)):
        best = max(
            (
                (float(maps.weights(kind)[layer, head, q, k]), q, k)
                for q, query in enumerate(maps.queries(kind).tokens)
                for k, key in enumerate(maps.keys(kind).tokens)
                if is_word(query) and is_word(key) and (kind == "cross" or q != k)
            ),
            default=(0.0, 0, 0),
        )
        assert result.weights[number] == pytest.approx(best[0])
        if best[0] > 0:
            row = maps.weights(kind)[layer, head, result.queries[number]]
            assert row[result.keys[number]] == pytest.approx(best[0])
            np.testing.assert_array_equal(result.rows[number, : len(row)], row)


def test_the_stage_gets_a_mark_for_every_head(visit: Visit) -> None:
    context = visit("cause", "The dog is fast.")
    result = heads.data(context)
    count = len(all_heads(context.service.translator))
    assert {len(result.arrays[name]) for name in ("strongest", "changes", "same", "rows")} == {count}
    assert len(result.values["cause"]["keys"]) == count and 0 <= result.values["cause"]["dispensable"] < count
    assert heads.data(visit("tour", "The dog is fast.")).values["cause"] is None
    assert LessonState("cause").scene == "cause" and len(KINDS) == 3


@pytest.mark.parametrize(
    ("weights", "changes", "same", "chosen"),
    [
        ([0.9, 0.85, 0.99, 0.1], [-0.5, 0.01, -3.0, 0.0], [1, 1, 0, 1], 1),  # hard and harmless, least change
        ([0.5, 0.7, 0.99, 0.1], [-0.5, 0.3, -3.0, 0.0], [1, 1, 0, 1], 1),  # none looks hard: the one that gives most
        ([0.9, 0.9, 0.9, 0.9], [-0.5, 0.3, -3.0, -0.1], [0, 0, 0, 0], 3),  # all matter: the least
    ],
)
def test_the_head_that_the_translation_can_do_without(
    weights: list[float], changes: list[float], same: list[int], chosen: int
) -> None:
    nothing = np.zeros(4, np.int32)
    strongest = StrongestWeights(np.array(weights, np.float32), nothing, nothing, np.zeros((4, 1), np.float32))
    alone = SingleHeadAblations("x", np.array(changes, np.float32), np.array(same, bool))
    assert dispensable_head(strongest, alone) == chosen


def test_rank_correlation_by_hand() -> None:
    assert rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 70.0])) == pytest.approx(1)
    assert rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([7.0, 2.0, 1.0])) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 and 2, 1, 3, 4: product 3, sums of squares 4.5 and 5.
    result = rank_correlation(np.array([1.0, 2.0, 2.0, 9.0]), np.array([2.0, 1.0, 3.0, 4.0]))
    assert result == pytest.approx(3 / np.sqrt(4.5 * 5))
    assert rank_correlation(np.ones(3), np.arange(3.0)) == 0
