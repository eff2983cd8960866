"""Findings about heads that the explorer gets after it is drawn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from transformer_core.analysis.ablation import all_heads, translate_without
from transformer_core.constituency_parser import ConstituencyParser
from transformer_core.head import Head
from transformer_core.parsing.trees import constituent_spans
from transformer_core.translator import Translator
from viz_app.explorer_view.findings import free_search, needed_head, roles, without_head
from viz_app.serving.models.head_roles import role_tables
from viz_app.serving.models.translation_service import BEAM, TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue
from viz_app.text import texts


@pytest.fixture(scope="module")
def service(random_checkpoint: Path) -> TranslationService:
    translator = Translator.load(random_checkpoint)
    translator.decoding = translator.decoding.replace(extra_length=4)  # random weights write to the limit
    return TranslationService(translator, RequestQueue(1), name="random")


def test_every_head_has_its_likeliest_role(service: TranslationService) -> None:
    told = json.loads(json.dumps(roles(service, "a", texts("en"))))["roles"]
    assert told["model"] == "random" and not told["atlas"]
    for kind, table in role_tables(service.translator).items():
        layers, heads = table.shares.shape[1:]
        for layer in range(layers):
            for head in range(heads):
                role, result = table.likeliest(layer, head), told["heads"][kind][layer][head]
                assert (result["role"], result["places"]) == (role.role, role.places)
                assert result["share"] == pytest.approx(role.share, abs=1e-4)
                assert (result["standing"] == "named") == role.named
                assert (result["standing"] == "none") == (not role.named and not role.leans)


def test_the_translation_without_a_head(service: TranslationService) -> None:
    result = service.translate("a", "The bus.")
    told = without_head(service, "a", result, Head("cross", 1, 2))["off"]
    expected = translate_without(service.translator, result.translation, [Head("cross", 1, 2)], beam=4)
    assert (told["source"], told["model"], told["head"]) == ("The bus.", "random", "cross.2.3")
    assert [told["words"], told["original"]] == [expected.words, expected.original]
    assert (told["before"], told["after"]) == pytest.approx((expected.before, expected.log_probability))


@pytest.mark.parametrize("text", ["The bus.", "A dog sleeps in the garden.", "Why?"])
def test_the_head_that_a_sentence_needs_most(service: TranslationService, text: str) -> None:
    result = service.translate("a", text)
    told = needed_head(service, "a", result)["needed"]
    heads = all_heads(service.translator)
    without = {
        str(head): translate_without(service.translator, result.translation, [head], beam=BEAM) for head in heads
    }
    largest = sorted(without, key=lambda head: without[head].log_probability)[:5]
    changed = [head for head in largest if without[head].text != result.translation.text] or largest
    assert (told["source"], told["model"], told["count"]) == (text, "random", len(heads))
    assert told["head"] == changed[0] == largest[told["rank"] - 1]


def test_heads_are_not_measured_where_it_takes_too_long(
    service: TranslationService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viz_app.explorer_view.findings.MAX_FLOPS_OF_ALL_HEADS", 1.0)
    assert needed_head(service, "a", service.translate("a", "The bus."))["needed"]["head"] is None


@pytest.mark.parametrize("head", [None, ("cross", 99, 0), ("encoder", 0, 99)])
def test_no_finding_without_a_head_of_this_model(service: TranslationService, head: None) -> None:
    assert without_head(service, "a", service.translate("a", "The bus."), head) == {"off": None}


def test_what_a_parser_makes_of_a_sentence_when_any_sequence_is_allowed(parser_checkpoint: Path) -> None:
    translator = Translator.load(parser_checkpoint)
    service = TranslationService(translator, RequestQueue(1), name="tree")
    words = "That the dog which the cat that the rat bit chased barked , he said , surprised nobody who knew them ."
    told = json.loads(json.dumps(free_search(service, "a", service.translate("a", words))))["free"]
    expected = ConstituencyParser(translator).parse(words, beam=4, constrained=False)
    assert (told["source"], told["model"], told["repairs"]) == (words, "tree", expected.repairs)
    assert expected.repairs and told["nodes"] == [list(span[:3]) for span in constituent_spans(expected.tree)]
