"""The bench "Trace": its matrices against the core, its words against counts by hand."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.attribution import METHODS, Contrast, agreement, attribute, faithfulness
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.head import Head
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.trace import bench as trace
from viz_app.serving.measurements.model_card import ModelCard

TEXT = "The dog is fast."


@pytest.fixture(autouse=True)
def no_aligner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "_aligner", lambda _context: None)


def test_every_method_stands_beside_the_others(context: LessonContext, translator: Translator) -> None:
    result = lab.data(context)
    values = result.values["trace"]
    assert values["methods"] == list(trace.QUICK)
    assert set(trace.QUICK) | {trace.SLOW} == set(METHODS)
    translation = context.result.translation
    expected = {method: attribute(translator, TEXT, translation, method=method) for method in trace.QUICK}
    for number, (method, each) in enumerate(expected.items()):
        np.testing.assert_allclose(result.arrays["source"][number], each.source.detach().numpy(), atol=1e-5)
        np.testing.assert_allclose(result.arrays["target"][number], each.target.detach().numpy(), atol=1e-5)
        tau = agreement(each, expected["leave-one-out"])
        assert values["agreement"][number] == pytest.approx(tau, abs=1e-5), method
    run = expected["attention"].run
    assert values["tokens"] == list(run.tokens) and values["source"] == list(run.source_tokens)


def test_the_head_that_aligns_best_stands_beside_the_mean_where_it_was_measured(
    context: LessonContext, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = dataclasses.replace(at(context, method=trace.ALIGNER, check=True), text="The dog is big.")
    other = dataclasses.replace(there, text="The dog is small.")
    assert trace.ALIGNER not in lab.data(other).values["trace"]["methods"], "nobody has measured one"
    monkeypatch.setattr(trace, "_aligner", lambda _context: Head("cross", 1, 0))
    result = lab.data(there)
    methods = result.values["trace"]["methods"]
    assert methods == ["attention", trace.ALIGNER, *trace.QUICK[1:]] and result.answers["method"] == trace.ALIGNER
    expected = attribute(translator, there.text, there.result.translation, method="attention", at="cross.2.1")
    np.testing.assert_allclose(result.arrays["source"][1], expected.source.detach().numpy(), atol=1e-5)
    made = lab.recipe("trace", there)
    assert made is not None and "--method attention --head cross.2.1 " in made.command
    assert "method='attention', at='cross.2.1')" in made.python


def test_what_many_sentences_tell_is_read_from_the_checkpoint(context: LessonContext) -> None:
    assert context.service.card.method_errors is None, "the small model of the tests was not measured"
    measured = lab.data(context).values["trace"]["measured"]
    assert measured == {"errors": [None] * 9, "taus": [None] * 9, "linked": 0, "read": 0}
    known = {
        "alignment": {"aer": {"attention": 0.54, "alti": 0.4}, "sentences": 100},
        "agreement": {"tau": {"attention": -0.2}, "sentences": 200},
    }
    service = SimpleNamespace(card=ModelCard.from_metrics({"methods": known}))
    result = trace._measured(SimpleNamespace(service=service), ["attention", "norm", "alti"])  # type: ignore[arg-type]
    assert result == {"errors": [0.54, None, 0.4], "taus": [-0.2, None, None], "linked": 100, "read": 200}
    wrong = ModelCard.from_metrics({"methods": {"agreement": {"tau": {"attention": 7.0}, "sentences": 200}}})
    assert wrong.method_agreement is None and wrong.unreadable == ("methods.agreement",)


def test_integrated_gradients_come_when_asked_for(context: LessonContext) -> None:
    assert lab.data(context).values["trace"]["gap"] is None
    result = lab.data(at(context, slow=True))
    assert result.values["trace"]["methods"] == [*trace.QUICK, trace.SLOW]
    assert result.values["trace"]["gap"] >= 0 and result.answers["slow"] is True
    assert len(result.arrays["source"]) == len(METHODS)
    # A link to a method that is not computed shows another one.
    made = lab.recipe("trace", at(context, method=trace.SLOW))
    assert made is not None and "method='alti'" in made.python


def test_the_check_is_that_of_the_chosen_method(context: LessonContext, translator: Translator) -> None:
    result = lab.data(at(context, check=True, method="norm"))
    one = attribute(translator, TEXT, context.result.translation, method="norm")
    expected = faithfulness(translator, one, words=trace.WORDS)
    for name, values in result.values["trace"]["check"].items():
        assert values == pytest.approx(getattr(expected, name).tolist(), abs=1e-5)
    assert result.answers["method"] == "norm"


def test_one_token_rather_than_another(context: LessonContext, translator: Translator) -> None:
    values = lab.data(context).values["trace"]
    assert values["contrast"] is None and {len(each) for each in values["others"]} == {4}
    row = 1
    other, token = values["others"][row][1]
    there = at(context, row=float(row), rather=float(other), method="leave-one-out")
    result = lab.data(there)
    run = teacher_forced_run(translator, TEXT, context.result.translation)
    asked = Contrast(row, int(run.outputs[row]), other)
    contrast = result.values["trace"]["contrast"]
    assert contrast["row"] == row and contrast["tokens"] == (values["tokens"][row], token)
    for number, method in enumerate(contrast["methods"]):
        expected = attribute(translator, TEXT, context.result.translation, method=method, contrast=asked)
        np.testing.assert_allclose(result.arrays["contrast_source"][number], expected.source[0].detach(), atol=1e-5)
        np.testing.assert_allclose(result.arrays["contrast_target"][number], expected.target[0].detach(), atol=1e-5)
    made = lab.recipe("trace", there)
    assert made is not None and f"Contrast({row}, {asked.token}, {other})" in made.python
    for wrong in (-1.0, 1e6, float(asked.token)):
        assert lab.data(at(context, row=float(row), rather=wrong)).values["trace"]["contrast"] is None
