"""The card of a head against the numbers of its atlas."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace

from tests.atlas_samples import SHIPPED, drawn_atlas, head_atlas, real_atlas, with_controls
from transformer_core.analysis.ablation import Head
from transformer_core.analysis.circuit import shipped_tasks
from transformer_core.atlas.naming import closest_roles, head_roles, link_evidence
from transformer_core.atlas.record import Atlas, Estimate, OtherModel
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.head import head_named
from transformer_core.translator import Translator
from viz_app.explorer_view.findings import card, roles
from viz_app.explorer_view.head_card import atlas_inputs
from viz_app.serving.measurements.head_atlas import HeadAtlas
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import texts
from viz_app.text.role_words import plain_words, role_words, task_words


@pytest.fixture(scope="module")
def service() -> TranslationService:
    return TranslationService(Translator.load(SHIPPED), RequestQueue(1), name="shipped")


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    return real_atlas()


def told(service: TranslationService, atlas: Atlas | None, head: Head, language: str = "en") -> Any:
    service.head_atlas = HeadAtlas() if atlas is None else head_atlas(atlas)
    return json.loads(json.dumps(card(service, texts(language), head), allow_nan=False))["card"]


def test_every_head_says_its_role_in_words(service: TranslationService, atlas: Atlas, language: str) -> None:
    t, named = texts(language), head_roles(atlas)
    told(service, atlas, Head("encoder", 0, 0))
    result = roles(service, "a", t)["roles"]
    assert result["model"] == "shipped" and result["atlas"]
    heads = [Head(kind, layer, head) for kind in KINDS for layer in range(atlas.layers) for head in range(atlas.heads)]
    for head in heads:
        expected = {"words": plain_words(t, head.kind, named[head]), "clear": bool(named[head])}
        assert result["heads"][head.kind][head.layer][head.head] == expected
    assert {bool(named[head]) for head in heads} == {True, False}


def test_the_evidence_is_that_of_the_roles(service: TranslationService, atlas: Atlas) -> None:
    t, seen = texts("en"), set()
    for head, own in head_roles(atlas).items():
        result = told(service, atlas, head)
        shown = own or closest_roles(atlas, head)
        assert result["head"] == str(head) and result["clear"] == bool(own)
        assert [each["words"] for each in result["evidence"]] == [role_words(t, head[0], role) for role in shown]
        for each, role in zip(result["evidence"], shown, strict=True):
            seen.add(each["part"])
            numbers = [each[name] for name in ("value", "low", "high", "baseline")]
            wanted = [role.value, role.low, role.high, role.baseline]
            if role.name == "aligner":  # AER
                wanted = [1 - role.value, 1 - role.high, 1 - role.low, 1 - role.baseline]
                assert atlas.align
                assert each["value"] == pytest.approx(
                    atlas.align.rows[role.detail].error.value[head[1], head[2]], abs=1e-5
                )
            assert numbers == pytest.approx(wanted, abs=1e-5)
            assert each["places"] == role.places
            assert each["data"].split(", ")[-1] in {name for name, _ in atlas.sources[each["part"]].data.values()}
    assert seen == {"looks", "links", "align"}


@pytest.mark.parametrize("head", [("encoder", 5, 4), ("decoder", 1, 2), ("cross", 5, 1)])
def test_the_other_parts_are_the_numbers_of_the_atlas(
    service: TranslationService, atlas: Atlas, head: tuple[Kind, int, int]
) -> None:
    result, (kind, layer, number) = told(service, atlas, Head(*head)), head
    assert atlas.looks and atlas.effects and atlas.decode and atlas.resembles
    looks = atlas.looks.kinds[kind]
    assert result["looks"]["offsets"] == list(atlas.looks.offsets)
    assert result["looks"]["shares"] == pytest.approx(looks.offsets[layer, number], abs=1e-5)
    for name, spread in (("entropy", looks.entropy), ("distance", looks.distance)):
        shown = result["looks"][name]
        assert shown["value"] == pytest.approx(spread.heads.value[layer, number], abs=1e-5)
        assert shown["baseline"] == pytest.approx(spread.uniform, abs=1e-5)
    control = "random-mean" if atlas.effects.differences else "random"  # of an older atlas
    effect, random = (atlas.effects.changes[name][kind] for name in ("mean", control))
    assert result["effect"]["low"] == pytest.approx(effect.low[layer, number], abs=1e-5)
    assert result["effect"]["baseline"]["value"] == pytest.approx(random.value[layer, number], abs=1e-5)
    assert result["effect"]["significant"] == (atlas.effects.q["mean"][kind][layer, number] <= 0.05)
    assert len(result["effect"]["controls"]) == 2 * bool(atlas.effects.differences), "none in an older atlas"
    score = atlas.decode.heads[kind][layer][number]
    assert (result["decode"]["bleu"], result["decode"]["whole"]) == (score.bleu, atlas.decode.whole.bleu)
    assert score.bleu != atlas.decode.whole.bleu
    near = atlas.resembles.kinds[kind].nearest[layer][number]
    named = [
        (each["model"], each["layer"] * atlas.heads + each["head"], each["distance"])
        for each in result["siblings"]["heads"]
    ]
    models = {name: other.name for name, other in atlas.resembles.models.items()} | {"": ""}
    assert named == [(models[each.model], each.number, pytest.approx(each.distance, abs=1e-5)) for each in near]
    assert {model for model, _, _ in named} == ({"", "en-fr"} if kind == "encoder" else {""})
    assert result["source"]["weights"] == atlas.weights_hash[:12]
    assert atlas.flow
    share = atlas.flow.share[kind]
    for name in ("value", "low", "high"):
        assert result["flow"][name] == pytest.approx(getattr(share, name)[layer, number], abs=1e-5)
    assert result["flow"]["baseline"] == pytest.approx(1 / 144, abs=1e-5)


def test_the_card_names_each_file_with_its_sentences_and_hash(language: str) -> None:
    atlas, t = drawn_atlas(), texts(language)
    (shown,) = atlas_inputs(atlas, t)
    assert "pairs.tsv" in shown and "50–60" in shown and "sha256 cccccccccccc" in shown, "parts use 50 or 60"
    assert atlas.links
    data = {"trees-1": ("dev.conllu", "1" * 64), "trees-2": ("test.conllu", "2" * 64)}
    sources = {name: replace(atlas.sources[name], data=data if name == "links" else {}) for name in atlas.sources}
    links = replace(atlas.links, chosen_on=1, sentences=1_234)
    first, second = atlas_inputs(replace(atlas, sources=sources, links=links), texts("en"))
    assert first == "dev.conllu (1 sentence, sha256 111111111111)"
    assert second == "test.conllu (1,234 sentences, sha256 222222222222)"
    assert atlas_inputs(replace(atlas, links=None), t) and not atlas_inputs(replace(atlas, sources={}), t)


def test_the_card_shows_effect_control_and_difference(service: TranslationService) -> None:
    atlas = with_controls(drawn_atlas())
    assert atlas.effects
    effects = atlas.effects
    result = told(service, atlas, Head("encoder", 1, 2))["effect"]
    random = effects.changes["random-mean"]["encoder"].value[1, 2]
    assert result["baseline"]["value"] == pytest.approx(random, abs=1e-5)
    assert [each["name"] for each in result["controls"]] == ["random-mean", "resample"]
    for each in result["controls"]:
        difference = effects.differences[f"mean/{each['name']}"]["encoder"]
        assert each["low"] == pytest.approx(difference.low[1, 2], abs=1e-5)
        assert each["control"] == pytest.approx(effects.changes[each["name"]]["encoder"].value[1, 2], abs=1e-5)
        assert each["significant"] == (effects.q[f"mean/{each['name']}"]["encoder"][1, 2] <= 0.05)


def test_a_head_of_another_model_is_counted_by_the_heads_of_that_model(
    service: TranslationService, atlas: Atlas
) -> None:
    assert atlas.resembles
    other = OtherModel(name="other", layers=10, heads=5)
    models = dict.fromkeys(atlas.resembles.models, other)
    resembles = msgspec.structs.replace(atlas.resembles, models=models)
    result = told(service, msgspec.structs.replace(atlas, resembles=resembles), Head("encoder", 5, 4))
    near = [each.number for each in resembles.kinds["encoder"].nearest[5][4] if each.model]
    heads = [(each["layer"], each["head"]) for each in result["siblings"]["heads"] if each["model"] == "other"]
    assert heads == [(number // 5, number % 5) for number in near]
    assert heads


def test_examples_name_the_tokens_of_their_place(service: TranslationService, atlas: Atlas) -> None:
    assert atlas.examples
    for kind in KINDS:
        shown = told(service, atlas, Head(kind, 5, 1))["examples"]
        for each, place in list(zip(shown, atlas.examples.kinds[kind][5][1], strict=True))[:3]:
            text, target = atlas.examples.sentences[place.sentence], atlas.examples.targets[place.sentence]
            forced = service.translator.teacher_force(text, target).attention
            assert (each["text"], each["at"]) == (text, place.query)
            assert each["query"] == forced.queries(kind).tokens[place.query]
            assert each["key"] == forced.keys(kind).tokens[place.key]


def test_what_was_not_measured_is_not_there(service: TranslationService, atlas: Atlas) -> None:
    parts = ("effects", "flow", "decode", "resembles", "examples", "looks")
    bare = msgspec.structs.replace(atlas, **dict.fromkeys(parts))
    result = told(service, bare, Head("encoder", 0, 0))
    assert not {"looks", "effect", "decode", "flow", "siblings", "examples"} & result.keys()
    assert [each["part"] for each in result["evidence"]] == ["links"]


def test_the_card_says_whether_the_model_was_trained_with_a_head_penalty(
    service: TranslationService, atlas: Atlas, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for penalised in (True, False):
        monkeypatch.setitem(vars(service), "head_penalty", penalised)
        said = told(service, atlas, Head("encoder", 0, 0), language)["penalty"]
        assert said == (texts(language)("roles.penalty") if penalised else "")


def test_none_without_an_atlas_and_for_no_head(service: TranslationService, atlas: Atlas) -> None:
    assert told(service, None, Head("encoder", 0, 0)) is None
    assert told(service, atlas, Head("encoder", atlas.layers, 0)) is None
    assert told(service, atlas, Head("encoder", 0, atlas.heads)) is None


def test_a_card_is_made_once(service: TranslationService, atlas: Atlas) -> None:
    service.head_atlas = head_atlas(atlas)
    first, again, korean = (
        card(service, texts(language), Head("cross", 0, 0))["card"] for language in ("en", "en", "ko")
    )
    assert again is first and korean != first


def test_a_damaged_atlas_is_said(random_checkpoint: Path) -> None:
    service = TranslationService(Translator.load(random_checkpoint), RequestQueue(1), name="random")
    service.translator.decoding = service.translator.decoding.replace(extra_length=4)
    service.head_atlas = HeadAtlas(problem="derived/atlas.json: cannot be read")
    result = roles(service, "a", texts("en"))["roles"]
    assert not result["atlas"] and result["problem"] == "derived/atlas.json: cannot be read"
    assert len(result["heads"]["encoder"]) == service.translator.config.num_layers
    assert card(service, texts("en"), Head("encoder", 0, 0)) == {"card": None}


def test_the_closest_role_is_the_best_of_its_part(atlas: Atlas) -> None:
    """Against a plain search through the arrays."""
    assert atlas.links and atlas.looks
    for kind, layer, head in head_roles(atlas):
        values = {role.name if role.name in ("link", "aligner") else "rule": role for role in
                 closest_roles(atlas, Head(kind, layer, head))}  # fmt: skip
        rules = [each.share.value[layer, head] - max(each.uniform, each.fixed or 0)
                 for each in atlas.looks.kinds[kind].patterns.values() if each.places >= 50]  # fmt: skip
        assert values["rule"].gain == pytest.approx(np.nanmax(rules))
        if kind == "encoder":
            gains = np.where(atlas.links.places >= 50, atlas.links.gain.value[:, :, layer, head], np.nan)
            assert values["link"].gain == pytest.approx(np.nanmax(gains))


def test_the_evidence_of_a_relation_begins_with_the_best_head(atlas: Atlas) -> None:
    assert atlas.links
    links = atlas.links
    at = links.directions.index("to_head"), links.relations.index("obj")
    result = link_evidence(links, "obj", "to_head")
    (role, (_, layer, head)) = result[0]
    assert len(result) == atlas.layers * atlas.heads
    assert links.accuracy.value[(*at, layer, head)] == links.accuracy.value[at].max() == role.value
    assert role.baseline == pytest.approx(max(links.fixed.value[at], links.uniform[at]), abs=1e-4)


def test_the_card_names_the_tasks_that_a_head_carries(service: TranslationService, language: str) -> None:
    drawn = drawn_atlas()
    (task,) = (drawn.circuits or {}).values()
    nodes = [f"encoder.1.{head}" for head in (1, 2, 3, 4)]  # senders 1 to 4
    values = task.scores.value.copy()
    values[1:5] = 2.0, 0.1, -1.0, 3.0  # the second is within the null, the last outside the circuit
    edges = (*((node, 20, 1.0) for node in (1, 2, 3, 3)), (4, 20, 0.1))
    task = replace(task, scores=Estimate(value=values, low=values - 0.5, high=values + 0.5), edges=edges)
    stranger = replace(task, edges=edges[:1], scores=replace(task.scores, value=values * 1.5))
    atlas = replace(drawn, circuits={"number.en-de": task, "strange.en-de": stranger})
    cards = [told(service, atlas, head_named(name), language).get("circuits") for name in nodes]
    number = texts(language)("roles.task_number")
    assert [[each["words"] for each in card or ()] for card in cards] == [["strange.en-de", number], [], [number], []]
    counts = {"null": 0.2, "whole": 7.5, "pairs": 60, "edges": 4, "all": 8}
    assert cards[2] == [{"value": -1.0, "low": -1.5, "high": -0.5, "words": number} | counts]


def test_every_task_has_words(language: str) -> None:
    words = {task: task_words(texts(language), task) for task in shipped_tasks()}
    assert not [task for task, name in words.items() if name == task]
