"""The bench "Why there?": its vectors make the model's own weights again, and its recipe names the part shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import place_of
from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.attention_sinks import most_informative_head
from transformer_core.attention_maps import KINDS
from transformer_core.head import Head
from transformer_core.model.transformer import Transformer
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.why import bench as why
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue

TEXT = "The dog is fast."
HEADS = [(kind, 0, 1) for kind in KINDS] + [(kind, -1, 0) for kind in KINDS]


@pytest.mark.parametrize(("kind", "layer", "head"), HEADS)
@pytest.mark.parametrize("view", why.VIEWS)
def test_softmax_of_the_summed_parts_is_the_attention_of_the_translation(
    context: LessonContext, kind: Any, layer: int, head: int, view: str
) -> None:
    layer %= context.service.translator.config.num_layers
    result = lab.data(at(context, chosen=str(Head(kind, layer, head))))
    values, arrays = result.values["why"], result.arrays
    maps = context.result.maps
    assert values["head"] == result.answers["chosen"] == str(Head(kind, layer, head))
    assert values["queries"] == list(maps.queries(kind).tokens) and values["keys"] == list(maps.keys(kind).tokens)
    queries, keys = arrays[f"why_{view}_queries"].sum(axis=0), arrays[f"why_{view}_keys"].sum(axis=0)
    scores = values["scale"] * queries.astype(np.float64) @ keys.T
    seen = arrays["why_seen"].astype(bool)
    np.testing.assert_allclose(scores[seen], arrays["why_scores"][seen], atol=1e-4)
    shares = np.where(seen, np.exp(scores - scores.max(axis=1, keepdims=True)), 0.0)
    np.testing.assert_allclose(
        shares / shares.sum(axis=1, keepdims=True), maps.weights(kind)[layer, head], atol=2e-3
    )  # the maps are float16
    assert seen.all() == (kind != "decoder")


def test_the_first_cell_is_a_word_that_looks_at_a_word(context: LessonContext) -> None:
    values = lab.data(context).values["why"]
    assert values["head"] == str(most_informative_head(context.result.maps, "cross"))
    query, key = values["start"]
    assert any(map(str.isalnum, values["queries"][query])) and any(map(str.isalnum, values["keys"][key]))
    assert place_of(lab.selection("why", at(context, chosen="decoder.1.2"))) == ("decoder", 0, 1)


def test_a_cell_that_the_mask_hides_is_not_shown(context: LessonContext) -> None:
    def shown(**settings: float | str) -> str:
        made = lab.recipe("why", at(context, chosen="decoder.1.1", view="dims", **settings))
        assert made is not None
        return made.python

    weights = context.result.maps.weights("decoder")[0, 0, 2]
    assert shown(query=2, key=5) == shown(query=2, key=int(weights.argmax()))
    assert shown(query=1e9, key=-7) == shown(query=len(weights) - 1)
    assert shown(query="x") == shown()


@pytest.mark.parametrize("part", ["tokens.2.3", "tokens.2.999"])
def test_the_recipe_scales_the_part_that_is_shown(context: LessonContext, part: str) -> None:
    there = at(context, chosen="cross.2.2", view="tokens", query=2, key=1, part=part, factor=0.25)
    made, result = lab.recipe("why", there), lab.data(there)
    assert made is not None
    queries, keys = result.arrays["why_tokens_queries"][:, 2], result.arrays["why_tokens_keys"][:, 1]
    largest = np.unravel_index(np.abs(queries @ keys.T).argmax(), (len(queries), len(keys)))
    one, other = map(int, largest) if part.endswith("999") else map(int, part.split(".")[1:])
    assert f"scaled_row(2, [{one}], [{other}], factor=0.25)" in made.python


@pytest.mark.parametrize(
    ("changes", "views"),
    [({"activation": "gelu"}, [["dims"], ["roles", "tokens", "dims"]]), ({"attention": "additive"}, [[], []])],
)
def test_a_model_without_parts_says_what_it_has(
    translator: Translator, changes: dict[str, Any], views: list[list[str]]
) -> None:
    other = Translator(Transformer(translator.config.replace(**changes)).eval(), translator.tokenizer)
    service = TranslationService(other, RequestQueue(1))
    there = LessonContext(TEXT, LessonState("why"), "en", lambda: service, "me")
    for chosen, expected in zip(("cross.1.1", "encoder.1.1"), views, strict=True):
        result = lab.data(at(there, chosen=chosen))
        assert result.values["why"]["views"] == expected
        there_chosen = at(there, chosen=chosen)
        made = lab.recipe("why", there_chosen)
        assert (made is None) == (not expected)
        assert made is None or ("decompose_score(" in made.python) == ("roles" in expected)
