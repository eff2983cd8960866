"""Alignment and probes as `metrics.json` tells them: put together by hand, and whatever else may stand there."""

from __future__ import annotations

import pytest

from viz_app.services.measured import Answers, aligners, answers


def test_the_best_aligner_by_each_convention() -> None:
    aer = {"output": [[0.9, 0.7], [0.4, 0.6]], "input": [[0.3, 0.7], [0.4, 0.6]]}
    metrics = {"alignment": {"aer": aer, "sentences": 100}}
    written, read = aligners(metrics, "output"), aligners(metrics, "input")
    assert written is not None and read is not None
    assert (written.best, read.best) == ((1, 0), (0, 0))
    assert written.rates == ((0.9, 0.7), (0.4, 0.6))
    assert written.sentences == 100


@pytest.mark.parametrize(
    "alignment",
    [
        None,
        "0.5",
        {},
        {"aer": None},
        {"aer": {"input": [[0.5]]}},
        {"aer": {"output": []}},
        {"aer": {"output": "0.5"}},
        {"aer": {"output": [[]]}},
        {"aer": {"output": [[0.5], [0.5, 0.5]]}},
        {"aer": {"output": [[1.5]]}},
        {"aer": {"output": [["<b>"]]}},
        {"aer": {"output": [0.5]}},
    ],
)
def test_no_aligner_where_nothing_sound_was_measured(alignment: object) -> None:
    assert aligners({"alignment": alignment}, "output") is None


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
    found = answers({"probes": {"lingeval": {"groups": lingeval}, "contracat": {"groups": contracat}}})
    assert [(one.about, one.asked) for one in found] == [
        ("clause_omission", 10),
        ("np_agreement", 4),
        ("pronoun", 20),
        ("pronoun_es", 4),
    ]
    assert [one.right for one in found] == pytest.approx([0.1, 0.75, 0.35, 0.75])
    assert [one.chance for one in found] == pytest.approx([1 / 2, 1 / 2, 1 / 3, 1 / 3])


@pytest.mark.parametrize(
    "probes",
    [
        None,
        [1],
        {"lingeval": 0.5},
        {"lingeval": {"groups": {"a": None, "b": {"right": 2.0, "asked": 1}, "c": {"right": 0.5, "asked": 0}}}},
        {"of somebody else": {"groups": {"a": {"right": 0.5, "asked": 1}}}},
    ],
)
def test_no_answers_where_nothing_sound_was_asked(probes: object) -> None:
    assert answers({"probes": probes}) == ()


def test_a_group_that_the_app_does_not_know_keeps_its_name() -> None:
    metrics = {"probes": {"lingeval": {"groups": {"new_one.mt": {"right": 1.0, "asked": 1}}}}}
    assert answers(metrics) == (Answers("new_one", 1, 1.0, 1 / 2),)
