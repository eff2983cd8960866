"""Flow of a translation for the browser, against the model's own logits and the library's flow."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any
from unittest.mock import Mock

import pytest

from tests.app.serving.scheduling.test_request_queue import wait_until
from transformer_core.analysis.flow import POINTS, backward, flows
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.attention_maps import KINDS
from viz_app.components.explorer.selection import Selection
from viz_app.explorer_view import flow as flow_view
from viz_app.explorer_view.flow import contrast, flow
from viz_app.serving.models.translation_service import TranslationResult, TranslationService
from viz_app.serving.scheduling.request_queue import Superseded

_TEXT = "The bus is late."


@pytest.fixture
def result(service: TranslationService) -> TranslationResult:
    return service.translate("me", _TEXT)


def test_every_word_is_the_sum_of_its_parts(service: TranslationService, result: TranslationResult) -> None:
    data = flow(service, "me", result, Selection())["flow"]
    assert (data["source"], data["tokens"]) == (_TEXT, list(result.maps.outputs.tokens))
    config = service.translator.config
    assert [len(row) for row in data["lens"]] == [len(data["tokens"])] * (config.num_layers + 1)
    for position, word in enumerate(data["words"]):
        parts = [*word["source"], *word["inputs"], word["biases"]]
        largest = max(map(abs, parts))
        assert sum(parts) == pytest.approx(word["logit"], abs=len(parts) * 1e-3 * largest)  # four digits each
        assert not any(word["inputs"][position + 1 :])
        sizes = [abs(part) for part in word["flows"]]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(sizes) >= 0.97 * word["total"]
        ways = [tuple(word["ways"][at : at + 4]) for at in range(0, len(word["ways"]), 4)]
        assert len(set(ways)) == len(ways) == len(word["flows"]) == len(word["heads"]) <= word["count"]


def test_without_ways_a_word_has_the_same_parts(service: TranslationService, result: TranslationResult) -> None:
    whole, brief = (flow(service, "me", result, Selection(), ways=ways)["flow"] for ways in (True, False))
    names = ("logit", "source", "inputs", "biases")
    words = [{name: word[name] for name in names} for word in whole["words"]]
    assert brief == {**whole, "words": words, "lens": []}


def test_without_ways_nobody_looks_for_neurons(
    service: TranslationService, result: TranslationResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backward._Backward, "_keep_neurons", Mock(side_effect=AssertionError))
    words = flow_view.flow_data(service.translator, result.translation, "small", ways=False)["words"]
    assert words[0] and words[0]["source"]


def test_parts_are_those_of_the_library(service: TranslationService, result: TranslationResult) -> None:
    data = flow(service, "me", result, Selection())["flow"]
    word = data["words"][1]
    run = teacher_forced_run(service.translator, _TEXT, result.translation, points=POINTS)
    expected = next(flows(service.translator, run, [1]))
    kind, layer, query, key = word["ways"][:4]
    edges = expected.maps[KINDS[kind]][layer, :, query, key]
    assert word["flows"][0] == pytest.approx(edges.sum(), rel=1e-3)
    head, part = word["heads"][0][:2]
    assert part == pytest.approx(edges[head], rel=1e-3)
    assert abs(part) == pytest.approx(abs(edges).max(), rel=1e-3)


def test_a_contrast_is_of_the_chosen_word_only(service: TranslationService, result: TranslationResult) -> None:
    other = service.translator.tokenizer.token(9)
    data = contrast(service, "me", result, Selection(pin="q1", versus=other))["contrast"]
    assert (data["at"], data["against"]) == (1, other)
    assert [word is not None for word in data["words"]] == [at == 1 for at in range(len(data["tokens"]))]
    run = teacher_forced_run(service.translator, _TEXT, result.translation, points=POINTS)
    logits = run.captured["decoder.logits"][0, 1]
    assert data["words"][1]["logit"] == pytest.approx(float(logits[run.outputs[1]] - logits[9]), rel=1e-3)


@pytest.mark.parametrize(
    "change", [{"versus": None}, {"versus": "no such token"}, {"pin": None}, {"pin": "k1"}, {"pin": "q99"}]
)
def test_without_a_word_or_another_token_nothing_is_compared(
    service: TranslationService, result: TranslationResult, change: dict[str, Any]
) -> None:
    selection = Selection(pin="q1", versus=service.translator.tokenizer.token(9))
    assert contrast(service, "me", result, dataclasses.replace(selection, **change)) == {"contrast": None}


def test_of_a_long_translation_the_words_around_the_chosen_one_are_explained(
    service: TranslationService, result: TranslationResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flow_view, "MAX_WORDS", 3)
    length = len(result.maps.outputs)
    for selection, first in ((Selection(), 0), (Selection(pin=f"q{length - 1}"), length - 3)):
        words = flow(service, "me", result, selection)["flow"]["words"]
        assert [at for at, word in enumerate(words) if word is not None] == [first, first + 1, first + 2]


@pytest.mark.parametrize(
    ("selection", "word"),
    [
        (Selection(), None),
        (Selection(step=2), 1),
        (Selection(step=2, pin="q0"), 0),
        (Selection(step=2, pin="k0"), 1),
        (Selection(step=2, pin="q3"), 1),
        (Selection(step=2, pin="q0", kind="encoder"), 1),
        (Selection(pin="q1", unit="words"), 2),
        (Selection(pin="q9"), None),
    ],
)
def test_the_pinned_token_is_chosen_before_the_newest(selection: Selection, word: int | None) -> None:
    assert selection.chosen_token((0, 0, 1, 2)) == word


def test_it_waits_whether_somebody_types_on(service: TranslationService, monkeypatch: pytest.MonkeyPatch) -> None:
    """A translation that is asked for at once takes its place before it has computed anything."""
    result = service.translate("me", "The bus is early.")
    monkeypatch.setattr(flow_view, "_PATIENCE", 60.0)
    monkeypatch.setattr(flow_view, "flow_data", lambda *_: pytest.fail("it computes"))
    outcome: list[type[BaseException]] = []

    def ask() -> None:
        with pytest.raises(Superseded) as error:
            flow(service, "me", result, Selection())
        outcome.append(error.type)

    thread = threading.Thread(target=ask)
    thread.start()
    wait_until(lambda: "me" in service.queue._newest)
    service.translate("me", "The bus is not late.")
    thread.join(30)
    assert outcome == [Superseded]


@pytest.mark.parametrize("number", [0.0, 1.0, -0.00012345, 9999.6, 123456.0, 0.30000001, 7e-30, 2.71828])
def test_numbers_have_four_significant_digits(number: float) -> None:
    assert flow_view._short(number) == pytest.approx(float(f"{number:.4g}"), rel=1e-12)
    assert len(repr(flow_view._short(number))) <= 10
