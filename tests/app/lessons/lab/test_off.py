"""The bench "Switch off": its numbers against edits and its recipes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit, place_of
from tests.app.lessons.lab.conftest import at
from transformer_core.analysis.ablation import ablated, all_heads
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.head import Head
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import numbers as lab
from viz_app.lessons.lab.benches.off import bench as switch_off
from viz_app.lessons.lab.benches.off import head_layers
from viz_app.lessons.lab.limits import MAX_TOKENS

TEXT = "The dog is fast."


def test_random_vectors_come_only_when_asked_for(context: LessonContext) -> None:
    assert set(lab.data(context).arrays) == {"effects", "log_p"}
    result = lab.data(at(context, band=True)).arrays
    assert (result["low"] <= result["high"]).all() and (result["low"] < result["high"]).any()
    # The range of the totals lies within the sum of the ranges.
    assert (result["total_low"] >= result["low"].sum(axis=1) - 1e-5).all()
    assert (result["total_high"] <= result["high"].sum(axis=1) + 1e-5).all()


def test_the_order_of_effects_is_checked_only_when_asked_for(context: LessonContext, translator: Translator) -> None:
    assert lab.data(context).values["off"]["check"] is None
    result = lab.data(at(context, check=True))
    check = result.values["off"]["check"]
    totals = result.arrays["effects"].sum(axis=1)
    assert check["first"][0] == pytest.approx(float(totals.max()), abs=1e-3)
    assert check["last"][0] == pytest.approx(float(totals.min()), abs=1e-3)
    assert len(check["first"]) == len(check["random"]) == min(12, len(totals)) and result.answers["check"] is True


def test_what_a_head_says_instead(context: LessonContext) -> None:
    effects = {change: lab.data(at(context, change=change)).arrays["effects"] for change in switch_off.CHANGES}
    assert not np.allclose(effects["zero"], effects["mean"]) and not np.allclose(effects["mean"], effects["resample"])
    frozen = lab.data(at(context, frozen=True)).arrays["effects"]
    assert not np.allclose(effects["zero"], frozen)
    assert lab.data(at(context, change="nonsense")).answers["change"] == "zero"


def test_the_sentence_is_translated_without_the_chosen_heads(context: LessonContext, translator: Translator) -> None:
    assert lab.data(context).values["off"]["without"] is None
    result = lab.data(at(context, off="hg"))  # the first head
    with ablated(translator, [Head("encoder", 0, 0)]):
        expected = translator.translate(TEXT, beam=4).text
    assert " ".join(word for word, _ in result.values["off"]["without"]["words"]) == expected
    assert result.answers["off"] == "hg"
    for wrong in ("", "hz", "h" + "v" * 300, "<b>", 3.0):
        assert lab.data(at(context, off=wrong)).answers["off"] == "h0"


def test_the_head_that_is_shown(context: LessonContext) -> None:
    effects = lab.data(context).arrays["effects"].sum(axis=1)
    shown = place_of(lab.selection("off", context))
    assert shown == all_heads(context.service.translator)[int(np.abs(effects).argmax())]
    for chosen, expected in (("cross.2.2", ("cross", 1, 1)), ("cross.10.10", shown), ("x", shown)):
        assert place_of(lab.selection("off", at(context, chosen=chosen))) == expected


@pytest.fixture
def large(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> LessonContext:
    """A visitor with a model that is too large to measure all heads at once."""
    monkeypatch.setattr(head_layers, "MAX_FLOPS_OF_ALL_HEADS", 0.0)
    return context


def test_of_a_large_model_the_layers_that_are_asked_for_are_measured(
    context: LessonContext, large: LessonContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = lab.data(at(large, layers="hg", band=True))  # the first layer of the encoder
    heads = context.service.translator.config.num_heads
    measured = result.values["off"]["measured"]
    assert measured[0] and sum(measured) == 1 and result.answers["layers"] == "hg"
    assert not np.isnan(result.arrays["high"][:heads]).any() and np.isnan(result.arrays["effects"][heads:]).all()
    two = lab.data(at(large, layers="ho")).arrays["effects"]
    monkeypatch.undo()
    whole = lab.data(context)
    assert whole.values["off"]["measured"] is None and "estimates" not in whole.arrays
    np.testing.assert_allclose(result.arrays["effects"][:heads], whole.arrays["effects"][:heads], atol=1e-5)
    np.testing.assert_allclose(two[: 2 * heads], whole.arrays["effects"][: 2 * heads], atol=1e-5)


def test_of_a_large_model_other_heads_are_estimated_and_the_most_promising_layer_comes_first(
    large: LessonContext, translator: Translator
) -> None:
    result = lab.data(at(large, check=True))
    estimates, heads = result.arrays["estimates"], translator.config.num_heads
    best = int(np.abs(estimates).argmax())
    assert result.values["off"]["measured"].index(True) == best // heads and result.answers["layers"] == "h0"
    translation = large.result.translation
    with ablated(translator, [all_heads(translator)[int(estimates.argmax())]]):
        without = teacher_forced_run(translator, TEXT, translation).log_p.sum()
    expected = float(teacher_forced_run(translator, TEXT, translation).log_p.sum() - without)
    assert result.values["off"]["check"]["first"][0] == pytest.approx(expected, abs=1e-3)
    totals = np.where(np.isnan(result.arrays["effects"][:, 0]), estimates, result.arrays["effects"].sum(axis=1))
    assert place_of(lab.selection("off", large)) == all_heads(translator)[int(np.abs(totals).argmax())]


def test_a_long_sentence_is_refused_and_says_how_long_it_may_be(visit: Visit) -> None:
    long = visit("off", " ".join(["The dog is fast."] * 40))
    if len(long.tokens) <= MAX_TOKENS:
        pytest.skip("the model takes no sentence that is long enough")
    result = lab.data(long)
    assert result.values["bench"] is None and result.values["most"] == MAX_TOKENS and not result.arrays
    assert lab.recipe("off", long) is None
