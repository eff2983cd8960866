"""Scores, alignment and probes as `metrics.json` tells them: put together by hand, and whatever else stands there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from transformer_core.storage.measurements import read_metrics
from viz_app.serving.measurements.model_card import CONVENTIONS, ContrastScores, ModelCard, Score
from viz_app.serving.models.registry import ROOT

SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"


def test_scores_are_found_wherever_they_stand() -> None:
    metrics = {
        "training": {"steps": 10},
        "scores": {
            "tatoeba-test": {"bleu": 21.5, "chrf": 44.0, "signature": SIGNATURE, "chrf_signature": "other"},
            "NTREX-128": {"bleu": 8, "signature": SIGNATURE},
            "newstest2013": {"bleu": {"value": 9.25, "signature": SIGNATURE}, "part": "validation"},
        },
    }
    assert ModelCard.from_metrics(metrics).scores == (
        Score("tatoeba-test", 21.5, 44.0, SIGNATURE),
        Score("NTREX-128", 8.0, None, SIGNATURE),
        Score("newstest2013", 9.25, None, SIGNATURE, development=True),
    )
    assert ModelCard.from_metrics(metrics).main_score == Score("tatoeba-test", 21.5, 44.0, SIGNATURE)


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("tatoeba-test", "everyday"),
        ("tatoeba-test-unseen", "everyday"),
        ("NTREX-128", "news"),
        ("newstest2013", "news"),
        ("multi30k-val", "captions"),
        ("my own set", None),
    ],
)
def test_known_sets_say_what_they_hold(name: str, holds: str | None) -> None:
    score = Score(name, 1.0, None, "")
    assert score.content == holds
    assert score.is_unseen_only == (name == "tatoeba-test-unseen")


@pytest.mark.parametrize(
    ("scores", "name"),
    [
        ({"valid": {"bleu": 9.0, "part": "validation"}, "test": {"bleu": 7.0}, "b": {"bleu": 8.0}}, "test"),
        ({"valid": {"bleu": 9.0, "part": "validation"}}, "valid"),
        ({"test": {"bleu": 7.0}, "tatoeba-valid": {"bleu": 9.0, "part": "validation"}}, "tatoeba-valid"),
        ({"tatoeba-valid": {"bleu": 9.0, "part": "validation"}, "tatoeba-test": {"bleu": 8.0}}, "tatoeba-test"),
        ({"x" * 10_000: {"bleu": 7.0}}, "x" * 100),
        ({"\ud800": {"bleu": 7.0}}, "?"),  # JSON can hold half of a character, a page cannot
        ({}, None),
        ({"test": {"chrf": 40.0}}, None),
    ],
)
def test_everyday_sentences_come_first_then_test_sets(scores: dict[str, object], name: str | None) -> None:
    score = ModelCard.from_metrics({"scores": scores}).main_score
    assert (score and score.name) == name


def test_the_longest_sentence_of_the_training_is_recorded_or_follows_from_the_preset() -> None:
    assert ModelCard.from_metrics({"training": {"preset": "en-de", "max_tokens": 300}}).trained_tokens == 300
    assert ModelCard.from_metrics({"training": {"preset": "en-de"}}).trained_tokens == 128
    for metrics in ({"training": {"preset": "of somebody else"}}, {}, {"training": "long ago"}):
        assert ModelCard.from_metrics(metrics).trained_tokens is None


def test_the_best_aligner_by_each_convention() -> None:
    aer = {"output": [[0.9, 0.7], [0.4, 0.6]], "input": [[0.3, 0.7], [0.4, 0.6]]}
    metrics = {"alignment": {"aer": aer, "sentences": 100}}
    written, read = (ModelCard.from_metrics(metrics).aligners.get(each) for each in CONVENTIONS)
    assert written is not None and read is not None
    assert [str(each.best) for each in (written, read)] == ["cross.2.1", "cross.1.1"]
    assert written.rates == ((0.9, 0.7), (0.4, 0.6))
    assert written.sentences == 100


COUNTS = {"heads": 4, "looking": 2, "resting": 1, "fixed_offset": 0, "information": [[0.5, -0.1], [0.2, 0.1]]}


def test_heads_are_counted_by_kind() -> None:
    card = ModelCard.from_metrics({"heads": {"encoder": COUNTS, "cross": COUNTS, "sentences": 80, "sets": ["a"]}})
    assert list(card.heads) == ["encoder", "cross"] and card.head_sentences == 80
    one = card.heads["cross"]
    assert (one.heads, one.looking, one.resting, one.fixed_offset) == (4, 2, 1, 0)
    assert one.information == ((0.5, -0.1), (0.2, 0.1)) and card.unreadable == ()


RATES: tuple[object, ...] = ([], "0.5", [[]], [0.5], [[0.5], [0.5, 0.5]], [[1.5]], [["<b>"]])
UNSOUND: dict[str, list[object]] = {
    "alignment": [
        None,
        3,
        "0.5",
        {},
        {"aer": None},
        {"best_head": None},
        {"best_head": {"layer": "x", "head": 0}},
        *({"aer": {"output": rates}} for rates in RATES),
    ],
    "probes": [
        None,
        [1],
        {"lingeval": 0.5},
        {"lingeval": {"groups": {"a": None, "b": {"right": 2.0, "asked": 1}, "c": {"right": 0.5, "asked": 0}}}},
        {"of somebody else": {"groups": {"a": {"right": 0.5, "asked": 1}}}},
    ],
    "languages": [
        None,
        "en-fr",
        ["en", "fr"],
        {"source": "en", "target": 3},
        {"source": "en", "target": "<b>fr</b>"},
        {"source": "", "target": "fr"},
    ],
    "heads": [{"cross": {**COUNTS, "heads": -1}}, {"cross": {**COUNTS, "information": [[0.5], [0.5, 0.5]]}}],
}


@pytest.mark.parametrize(("part", "told"), [(part, told) for part, all_told in UNSOUND.items() for told in all_told])
def test_what_makes_no_sense_says_nothing(part: str, told: object) -> None:
    card = ModelCard.from_metrics({part: told})
    assert replace(card, unreadable=()) == ModelCard()
    assert all(each.startswith(part) for each in card.unreadable)


def test_answers_are_put_together_by_what_they_are_about() -> None:
    lingeval = {
        "np_agreement.mt": {"right": 0.75, "asked": 4},
        "clause_omission.human": {"right": 0.5, "asked": 2},
        "clause_omission.mt": {"right": 0.0, "asked": 8},
    }
    contracat = {
        "1_entity_step": {"right": 0.5, "asked": 10},
        "2_coreference_step/event/chaos": {"right": 1.0, "asked": 3},
        "2_coreference_step/pleonastic/rain": {"right": 0.0, "asked": 1},
        "3_gender_step/big": {"right": 0.2, "asked": 10},
    }
    result = ModelCard.from_metrics(
        {"probes": {"lingeval": {"groups": lingeval}, "contracat": {"groups": contracat}}}
    ).answers
    assert [(one.about, one.asked) for one in result] == [
        ("clause_omission", 10),
        ("np_agreement", 4),
        ("pronoun", 20),
        ("pronoun_es", 4),
    ]
    assert [one.right for one in result] == pytest.approx([0.1, 0.75, 0.35, 0.75])
    assert [one.chance for one in result] == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3])
    metrics = {"probes": {"lingeval": {"groups": {"new_one.mt": {"right": 1.0, "asked": 1}}}}}
    unknown = (ContrastScores("new_one", 1, 1.0, 1 / 2),)
    assert ModelCard.from_metrics(metrics).answers == unknown, "a group that the app does not know keeps its name"


def test_what_cannot_be_read_is_named_and_the_rest_counts() -> None:
    metrics = {
        "languages": {"source": 3},
        "training": None,
        "scores": {"tatoeba": {"bleu": 40.0}, "chat": {"bleu": "high"}, "news": {"bleu": 900}},
        "alignment": {"best_head": {"layer": "x"}, "aer": {"output": [[0.5]], "input": [[0.5], []]}, "sentences": 9},
        "probes": {"lingeval": {"groups": {"a": {"right": 1.0, "asked": 2}, "b": {"right": 1.0}}}, "contracat": 1},
    }
    card = ModelCard.from_metrics(metrics)
    assert sorted(card.unreadable) == [
        "alignment.aer.input",
        "alignment.best_head",
        "languages",
        "probes.contracat",
        "probes.lingeval.groups.b",
        "scores.chat.bleu",
        "scores.news.bleu",
        "training",
    ]
    assert [score.name for score in card.scores] == ["tatoeba"] and card.main_score == card.scores[0]
    assert card.aligners["output"].sentences == 9 and card.best_head is None
    assert card.answers == (ContrastScores("a", 2, 1.0, 1 / 2),)


@pytest.mark.parametrize("folder", ["en-de", "en-fr", "en-fr-small"])
def test_the_cards_of_the_shipped_models_are_read_as_a_whole(folder: str) -> None:
    metrics = read_metrics(ROOT / "checkpoints" / folder)
    card = ModelCard.from_metrics(metrics)
    assert card.unreadable == ()
    assert card.languages is not None and folder.startswith(f"{card.languages.source}-{card.languages.target}")
    assert [score.name for score in card.scores] == list(metrics["scores"])
    best = metrics["alignment"]["best_head"]
    assert card.best_head == card.aligners["output"].best == ("cross", best["layer"], best["head"])
    probes = metrics.get("probes", {}).values()
    assert sum(one.asked for one in card.answers) == sum(probe["asked"] for probe in probes)


def test_a_file_does_not_choose_how_deep_it_is_read() -> None:
    metrics: dict[str, Any] = {"bleu": 1.0}
    for _ in range(900):
        metrics = {"a": metrics}
    assert ModelCard.from_metrics(metrics).scores == ()


PARSED = {
    "f1": 77.1,
    "f1_95": [74.9, 79.3],
    "precision": 78.0,
    "recall": 76.2,
    "exact_match": 20.0,
    "sentences": 245,
    "well_formed": 97.1,
    "right_branching_f1": 17.0,
}
SEARCH = {"bleu": 80.0, "part": "test", "beam": 21, "alpha": 0.3}


def test_the_scores_of_a_parser() -> None:
    card = ModelCard.from_metrics({"task": "parsing", "scores": {"ptb-sample-test": {**SEARCH, "bracketing": PARSED}}})
    scores = card.parsing["ptb-sample-test"]
    assert card.parses and not card.unreadable and not card.scores
    assert (scores.f1, scores.f1_95, scores.sentences, scores.beam) == (77.1, (74.9, 79.3), 245, 21)
    assert not scores.constrained and not card.parsing_free
    assert not ModelCard.from_metrics({"task": "translation"}).parses
    # One that generates only trees, measured with and without that.
    free = {**PARSED, "f1": 70.0, "f1_95": [65.0, 75.0]}
    measured = {**SEARCH, "constrained": True, "bracketing": PARSED, "free": free}
    card = ModelCard.from_metrics({"task": "parsing", "scores": {"a": measured, "b": {**measured, "free": 3}}})
    assert [(each.f1, each.constrained) for each in card.parsing.values()] == [(77.1, True)] * 2
    (only,) = card.parsing_free.values()
    assert (only.f1, only.constrained, only.beam) == (70.0, False, 21)
    assert card.unreadable == ("scores.b.free",)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("f1", 101),
        ("f1", float("nan")),
        ("f1_95", [80.0, 90.0]),
        ("f1_95", [1.0]),
        ("sentences", 0),
        ("sentences", 10**30),
        ("beam", -1),
        ("alpha", "<b>"),
        ("well_formed", None),
    ],
)
def test_scores_of_a_parser_that_cannot_be_are_left_out_and_named(key: str, value: object) -> None:
    good = {**SEARCH, "bracketing": PARSED}
    wrong = {**good, key: value} if key in SEARCH else {**good, "bracketing": {**PARSED, key: value}}
    card = ModelCard.from_metrics({"task": "parsing", "scores": {"good": good, "wrong": wrong}})
    if key in ("well_formed", "beam", "alpha"):  # as unknown as one that is missing
        assert list(card.parsing) == ["good", "wrong"]
        assert key == "well_formed" or card.unreadable == (f"scores.wrong.{key}",)
    else:
        assert list(card.parsing) == ["good"]
        assert all(part.startswith("scores.wrong.bracketing") for part in card.unreadable) and card.unreadable


@pytest.mark.parametrize("value", [[], 5, "x", {"a": {"bracketing": 3}}, {"a": {"bracketing": {}}}])
def test_a_parser_without_readable_scores(value: object) -> None:
    card = ModelCard.from_metrics({"task": "parsing", "scores": value})
    assert not card.parsing and card.unreadable
