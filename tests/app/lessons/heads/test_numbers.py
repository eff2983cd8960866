"""The numbers of the lesson on heads, against the model run in other ways, brute force and the paper's formulas."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit, place_of
from transformer_core.analysis.ablation import all_heads
from transformer_core.head import head_named
from transformer_core.hooks.edits import zero
from transformer_core.hooks.points import edit
from transformer_core.translator import TeacherForcedInput, Translator
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.head_measures import (
    ablate_each_head,
    decompose_layer,
    twins,
)
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.head_roles import role_tables
from viz_app.text.examples import EXAMPLES

TEXT = "The dog is fast."


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("tour", TEXT)


def at(context: LessonContext, scene: str, **settings: float | str) -> LessonContext:
    """Move a visitor to another scene."""
    return dataclasses.replace(context, state=LessonState(scene, settings))


def data(context: LessonContext) -> StageData:
    return lesson_module("heads").data(context)


def test_the_parts_of_a_layer_make_up_what_the_model_computes(translator: Translator) -> None:
    translation = translator.translate(TEXT)
    kept: list[torch.Tensor] = []
    w_o = translator.model.get_submodule("decoder.layers.1.cross_attention.w_o")
    handle = w_o.register_forward_hook(lambda _module, _inputs, output: kept.append(output[0].detach()))
    try:
        parts = decompose_layer(translator, translation, "cross", 1)
    finally:
        handle.remove()
    np.testing.assert_allclose(parts.output, kept[0].numpy(), atol=1e-6)
    np.testing.assert_allclose(parts.parts.sum(0), kept[0].numpy(), atol=1e-6)
    assert parts.error < 1e-5
    head = parts.heads[2] @ parts.matrix[2 * parts.heads.shape[2] : 3 * parts.heads.shape[2]]
    np.testing.assert_allclose(parts.parts[2], head, atol=1e-6)


def test_two_heads_share_a_map_and_not_what_they_add(context: LessonContext) -> None:
    """Against loops over the heads that the stage gets; the scene opens with the last encoder-decoder attention."""
    numbers = data(at(context, "concat"))
    maps, parts = context.result.maps.cross[-1].astype(float), numbers.arrays["parts"]
    common = {
        (a, b): np.mean([sum(map(min, one, other)) for one, other in zip(maps[a], maps[b], strict=True)])
        for b in range(len(maps))
        for a in range(b)
    }
    a, b = max(common, key=lambda pair: common[pair])
    cosines = [x @ y / np.sqrt(x @ x * (y @ y)) for x, y in zip(parts[a], parts[b], strict=True)]
    assert numbers.values["parts"]["twins"] == (
        a,
        b,
        pytest.approx(common[a, b]),
        pytest.approx(np.mean(cosines), abs=1e-5),
    )
    assert twins(maps[:1], parts[:1]) is None


def test_the_sink_is_the_column_of_a_special_token_with_the_most_weight(context: LessonContext) -> None:
    """Its values are those that the projection W^V makes of what the layer reads."""
    sink, maps = data(at(context, "rest")).values["sink"], context.result.maps
    kind, layer, head = head_named(sink["head"], *maps.encoder.shape[:2])
    means = {
        (name, *place): maps.weights(name)[(*place, slice(None), key)].mean()
        for name in ("encoder", "decoder")
        for place in np.ndindex(maps.encoder.shape[:2])
        for key, special in enumerate(maps.keys(name).special)
        if special
    }
    assert max(means, key=lambda place: means[place]) == (kind, layer, head)
    assert sink["sums"] == pytest.approx(maps.weights(kind)[layer, head].sum(axis=0)) and sum(
        sink["sums"]
    ) == pytest.approx(len(maps.queries(kind)))
    translator, translation = context.service.translator, context.result.translation
    attention: Any = translator.model.get_submodule(f"{kind}.layers.{layer}.self_attention")
    read: list[torch.Tensor] = []
    handle = attention.w_v.register_forward_hook(lambda _module, inputs, output: read.append(output[0].detach()))
    try:
        translator.attention(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)
    finally:
        handle.remove()
    width = attention.w_v.out_features // translator.config.num_heads
    assert sink["lengths"] == pytest.approx(
        read[0][:, head * width : (head + 1) * width].norm(dim=1).tolist(), rel=1e-4
    )
    assert sink["tokens"][sink["key"]] in ("<s>", "</s>")


def test_a_head_switched_off_in_a_batch_is_a_head_switched_off_alone(translator: Translator) -> None:
    result = ablate_each_head(translator, TEXT)
    whole = translator.translate(TEXT, beam=1)
    before = sum(whole.scores)
    for number, (kind, layer, head) in list(enumerate(all_heads(translator)))[::5]:
        with edit(translator.model, f"{kind}.{layer + 1}.{head + 1}", zero):
            again = translator.translate(TEXT, beam=1)
            ids = whole.hypotheses[0].ids
            forced = translator._forced(TeacherForcedInput(whole.source_encoding, ids, whole.finished))[1]
        assert result.same[number] == (again.hypotheses[0].ids == ids), (kind, layer, head)
        assert result.changes[number] == pytest.approx(sum(forced) - before, abs=1e-3)


def test_table_3_costs_the_same_in_every_row() -> None:
    rows = heads.rows_of_table_3()
    assert [(row["heads"], row["d_k"], row["bleu"]) for row in rows] == [
        (1, 512, 24.9),
        (4, 128, 25.5),
        (8, 64, 25.8),
        (16, 32, 25.8),
        (32, 16, 25.4),
    ]
    assert len({row["parameters"] for row in rows}) == len({row["flops"] for row in rows}) == 1


def test_every_scene_has_its_numbers(context: LessonContext, translator: Translator) -> None:
    numbers = data(context)
    tables = role_tables(translator)
    assert [stop["role"] for stop in numbers.values["tour"]] == ["previous", "next", "self", "separator", "aligner"]
    for stop in numbers.values["tour"]:
        assert stop["share"] == round(
            max(t.best(stop["role"]).share for t in tables.values() if stop["role"] in t.roles), 4
        )
    weights = context.result.maps.cross[:, :, : heads.POSITIONS, : heads.POSITIONS]
    np.testing.assert_allclose(numbers.arrays["cross"] / 255, weights, atol=1 / 510 + 1e-6)
    assert len(EXAMPLES) == 12, "the prose says so"

    assert data(at(context, "predict")).values["alone"]["heads"] == len(all_heads(translator))
    assert numbers.values["small"] is None
    both = data(at(context, "one"))
    assert {name: both.arrays[f"small_{name}"].shape[0] for name in ("base", "one")} == {"base": 8, "one": 1}
    asked = data(at(context, "concat", kind="encoder", layer=1))
    assert asked.answers["kind"] == "encoder" and asked.answers["layer"] == 0
    assert asked.arrays["parts"].shape[1] == len(context.tokens)
    many = LessonContext("dog " * 60, LessonState("predict"), context.language, context.load, "x")
    assert (
        data(many).values["cut"]
        and data(many).values["alone"]["text"] == ablate_each_head(translator, EXAMPLES["word_order"]).text
    )


def test_the_head_of_the_tour_can_be_opened(context: LessonContext) -> None:
    first, module = data(context).values["tour"][0], lesson_module("heads")
    shown = place_of(module.selection("tour", context))
    assert shown == (first["kind"], first["layer"], first["head"])
    pressed = at(context, "tour", at=2.5, picked="encoder.2.4", pickedat=2.5)
    assert place_of(module.selection("tour", pressed)) == ("encoder", 1, 3)
    for odd in ("encoder.9.0", "<b>.0.0", "encoder.1.3.4"):
        assert place_of(module.selection("tour", at(context, "tour", picked=odd, pickedat=0.0))) == shown
    assert module.selection("concat", context) is None
    assert lesson_module("positions").selection("waves", context) is None


@pytest.mark.parametrize(
    ("scene", "name"), [("rest", "rest"), ("looking", "looking"), ("flow", "made"), ("predict", "alone")]
)
def test_what_is_costly_is_computed_where_it_is_shown(context: LessonContext, scene: str, name: str) -> None:
    assert data(context).values[name] is None
    assert data(at(context, scene)).values[name] is not None


def test_the_browser_writes_the_pressed_heads_alike(javascript: Callable[[str], Any]) -> None:
    pressed, count = [0, 3, 4, 17, 23], 24
    actual = digits(pressed, count)
    answer = javascript(
        'import { bits, digits } from "./lessons/stage/js/headset.js";\n'
        f"const written = digits({json.dumps([n in pressed for n in range(count)])});\n"
        f"const read = bits({json.dumps(actual)}).flatMap((on, n) => on ? [n] : []);\n"
        "console.log(JSON.stringify([written, read]));\n"
    )
    assert answer == [actual, pressed]


def digits(pressed: object, count: int) -> str:
    """Five heads in each digit of base 32, written another way."""
    numbers = set(pressed)  # type: ignore[call-overload]
    text = "".join("1" if number in numbers else "0" for number in range(-(-count // 5) * 5))
    return "".join("0123456789abcdefghijklmnopqrstuv"[int(text[i : i + 5], 2)] for i in range(0, len(text), 5)).rstrip(
        "0"
    )
