"""The numbers of the lesson on decoding: the search's own, sacreBLEU's, and the same formulas in the browser's code."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.decoding.beam import length_penalty
from transformer_core.evaluation.metrics import bleu
from transformer_core.storage.bundled_models import SHIPPED
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.module import lesson_module
from viz_app.lessons.stage import LessonState
from viz_app.serving.models.translation_service import TranslationService
from viz_app.serving.scheduling.request_queue import RequestQueue


@pytest.fixture(scope="module")
def context(visit: Visit) -> LessonContext:
    return visit("tree")


def data(context: LessonContext, **settings: str) -> StageData:
    return lesson_module("decoding").data(dataclasses.replace(context, state=LessonState("bleu", settings)))


def test_bleu_of_what_was_written_is_sacrebleus(context: LessonContext) -> None:
    reference = context.result.translation.text
    other = context.service.translator.tokenizer.decode(context.result.translation.hypotheses[1].ids)
    for typed, wanted in (("", other), ("  ein  Hund ", "ein Hund"), (reference, reference)):
        numbers = data(context, text=typed)
        assert numbers.answers == {"text": " ".join(wanted.split())}
        assert numbers.values["bleu"]["score"] == pytest.approx(bleu([wanted], [[reference]]).value)
        json.dumps(numbers.values)
        parts = numbers.values["bleu"]
        precisions = [order["value"] for order in parts["orders"]]
        mean = float(np.prod(precisions)) ** 0.25
        assert 100 * parts["brevity_penalty"] * mean == pytest.approx(parts["score"], abs=1e-6)


def test_trees_have_no_bleu(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context.service, "parses", True)
    assert data(context).values["bleu"] is None


def test_the_browser_ranks_as_the_search_does(context: LessonContext, javascript: Callable[[str], Any]) -> None:
    translation = context.result.translation
    alphas = [index / 50 for index in range(101)]
    rankings = javascript(
        'import { ranked, SearchScene } from "./lessons/decoding/js/beams.js";\n'
        f"const {{ search }} = new SearchScene({{ values: {json.dumps(data(context).values)} }}, {{}});\n"
        f"console.log(JSON.stringify({json.dumps(alphas)}.map((alpha) => ranked(search, alpha, 99))));\n"
    )
    kind = context.service.translator.decoding.length_penalty
    for alpha, rows in zip(alphas, rankings, strict=True):
        for row in rows:
            node = translation.history[row["node"]]
            wanted = node.log_probability / length_penalty(node.step, alpha, kind)
            assert row["score"] == pytest.approx(wanted, abs=1e-5)  # log-probabilities travel with six digits
    own = rankings[alphas.index(context.service.translator.decoding.alpha)]
    assert [row["node"] for row in own[: len(translation.hypotheses)]] == [h.node for h in translation.hypotheses]
    finished = [
        [row["length"] for row in rows if translation.history[row["node"]].status == "finished"] for rows in rankings
    ]
    winners = [lengths[0] for lengths in finished if lengths]
    assert winners == sorted(winners), "what the last scene asks"


@pytest.mark.parametrize("name", ["en-de", "en-fr"])
def test_alpha_decides_in_the_example_of_a_shipped_model(
    name: str, visit: Visit, javascript: Callable[[str], Any]
) -> None:
    """The browser's winners win in searches with alpha 0 and with the model's own; the first is shorter."""
    service = TranslationService(Translator.load(Path(SHIPPED) / name), RequestQueue(1))
    there = dataclasses.replace(visit("alpha", "We are here."), load=lambda: service)
    decided = lesson_module("decoding").data(there).values["decided"]
    short, long = (service.translator.translate(decided["text"], beam=4, alpha=alpha).text for alpha in (0.0, 0.6))
    assert len(short) < len(long)
    rows = javascript(
        'import { ranked } from "./lessons/decoding/js/beams.js";\n'
        'import { Search } from "./components/explorer/js/data/search.js";\n'
        f"const search = new Search({json.dumps(decided['tree'])});\n"
        "console.log(JSON.stringify([0, 0.6].map((alpha) => ranked(search, alpha, 1)[0].text)));\n"
    )
    assert rows == [short, long]
    assert (
        lesson_module("decoding").data(dataclasses.replace(there, state=LessonState("tree"))).values["decided"] is None
    )


def test_every_beam_size_shows_the_search_that_has_it(context: LessonContext, javascript: Callable[[str], Any]) -> None:
    """The tree of each size ends with the hypothesis of such a search; other scenes do not wait for them."""
    values = lesson_module("decoding").data(context).values
    wanted = {
        str(size): context.service.translator.translate(context.source, beam=size).tokens for size in (1, 2, 4, 8)
    }
    shown = javascript(
        'import { Tree } from "./lessons/decoding/js/tree.js";\n'
        f"const {{ searches }} = new Tree({{ values: {json.dumps(values)} }}, {{}});\n"
        "const tokens = (s) => s.path(s.leaves[0]).filter((n) => !s.ended(n)).map((n) => s.tokens[s.token[n]]);\n"
        "const rows = Object.entries(searches).map(([size, search]) => [size, tokens(search)]);\n"
        "console.log(JSON.stringify(Object.fromEntries(rows)));\n"
    )
    assert {size: tuple(tokens) for size, tokens in shown.items()} == wanted
    assert list(data(context).values["trees"]) == [4]


def test_a_model_without_languages_has_no_example(visit: Visit) -> None:
    assert lesson_module("decoding").data(visit("alpha")).values["decided"] is None
