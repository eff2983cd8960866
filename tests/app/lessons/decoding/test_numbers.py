"""The numbers of the lesson on decoding: the search's own, and the browser's code against the search and sacreBLEU."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU

from tests.app.lessons.conftest import Visit
from transformer_core.decoding.beam import length_penalty
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


def test_trees_have_no_bleu(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    values = data(context).values
    assert values["reference"] == context.result.translation.text != values["other"]
    monkeypatch.setattr(context.service, "parses", True)
    assert data(context).values["reference"] is None


def test_the_browsers_bleu_is_sacrebleus(javascript: Callable[[str], Any]) -> None:
    words = ["der", "Hund", "die", ",", ".", "U.S.", "3,5", "12", "spielt-", "&quot;", "(ein)", "한국", "7-8", "“ja”"]
    draw = random.Random(1)
    pairs = [
        [" ".join(draw.choices(words[: draw.randint(2, 14)], k=draw.randint(1, 9))) for _ in "ab"] for _ in "x" * 300
    ]
    pairs += [["the the the the the the the", "the cat is on the mat"], ["a b c d e", "a b c d e"], ["", "a"]]
    results = javascript(
        'import { bleuParts } from "./lessons/decoding/js/bleu_parts.js";\n'
        f"console.log(JSON.stringify({json.dumps(pairs)}.map(([text, reference]) => bleuParts(text, reference))));\n"
    )
    for (text, reference), parts in zip(pairs, results, strict=True):
        expected = BLEU().corpus_score([text], [[reference]])
        assert parts["score"] == pytest.approx(expected.score, abs=1e-9), (text, reference)
        orders = parts["orders"]
        assert [order["matches"] for order in orders] == expected.counts
        assert [order["total"] for order in orders] == expected.totals
        assert parts["brevity_penalty"] == pytest.approx(expected.bp)
        if any(expected.counts):
            assert [100 * order["value"] for order in orders] == pytest.approx(expected.precisions)
    # The classic (Papineni et al. 2002): "the" seven times matches only twice; 1/2 of 6, 1/4 of 5, 1/8 of 4 follow.
    [classic, same, _] = results[-3:]
    [the] = classic["orders"][0]["counts"]
    assert (the["ngram"], the["occurrences"], the["allowed"], the["starts"]) == ("the", 7, 2, [*range(7)])
    assert [order["value"] for order in classic["orders"]] == pytest.approx([2 / 7, 0.5 / 6, 0.25 / 5, 0.125 / 4])
    assert same["score"] == pytest.approx(100)


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
