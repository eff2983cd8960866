"""The bench "On many pairs": numbers of the atlas or measured, one of the pairs, and models without a task."""

from __future__ import annotations

import numpy as np
import pytest

from tests.app.lessons.conftest import place_of
from tests.app.lessons.lab.conftest import at
from tests.atlas_samples import drawn_atlas
from transformer_core.analysis.circuit import circuit
from transformer_core.analysis.circuit.wiring import Wiring
from transformer_core.head import Head
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.lab import limits
from viz_app.lessons.lab import numbers as lab
from viz_app.serving.measurements.head_atlas import HeadAtlas

TASKS = "transformer_core.atlas.circuits.tasks_of"


@pytest.fixture
def german(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TASKS, lambda _: ("case.en-de", "number.en-de", "pronoun.en-de"))


@pytest.mark.usefixtures("german")
def test_it_shows_the_circuit_of_the_atlas(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    config = context.service.translator.config
    atlas = drawn_atlas(config.num_layers, config.num_heads)
    assert atlas.circuits is not None
    recorded = atlas.circuits["number.en-de"]
    monkeypatch.setattr(context.service, "head_atlas", HeadAtlas(atlas=atlas))
    monkeypatch.setattr(limits, "MAX_FLOPS", 1.0)  # nothing is computed
    stage = lab.data(context)
    assert [*stage.values["tasks"].items()][:1] == [("number", "number of the subject")]
    values, wiring = stage.values["circuit"], Wiring(config.num_layers, config.num_heads)
    assert values["problem"] is None and stage.answers == {"task": "number"}
    assert [values[name] for name in ("pairs", "groups", "right", "smallest", "difference")] == [60, 12, 0.9, 4, 7.5]
    place = wiring.senders.index(values["nodes"][0][0])
    measured = (recorded.scores.value, recorded.scores.low, recorded.scores.high, recorded.null_limits)
    assert values["nodes"][0][1:] == [column[place] for column in measured]
    assert abs(recorded.scores.value[place]) == max(abs(recorded.scores.value))
    for edge, (sender, receiver, score) in zip(values["edges"], recorded.edges, strict=True):
        node, point, _ = wiring.receivers[receiver].partition(".queries")
        assert edge == {"sender": wiring.senders[sender], "node": node, "input": "Q" if point else "", "score": score}
    sentences, answers = values["example"]
    assert sentences["original"][:3] == [("The", False), ("dog", True), ("plays", True)]
    assert answers == {"original": [("Der", True), ("…", False)], "words": [("Die", True), ("…", False)]}


@pytest.mark.usefixtures("german")
def test_without_a_record_it_is_measured(context: LessonContext, translator: Translator) -> None:
    stage = lab.data(at(context, task="pronoun"))
    assert stage.values["circuit"]["problem"] == "weak" and stage.answers == {"task": "pronoun"}
    expected = circuit(translator, "pronoun.en-de").nodes.mean(dim=0)
    scores = {node: score for node, score, *_ in stage.values["circuit"]["nodes"]}
    np.testing.assert_allclose([scores[name] for name in Wiring(2, 4).senders], expected, atol=1e-5)
    unlike = lab.data(at(context, task="case"))  # this tokenizer has more tokens for "into" than for "in"
    assert unlike.values["circuit"] == {"problem": "unlike"} and unlike.answers == {"task": "case"}


@pytest.mark.usefixtures("german")
def test_too_much_to_measure_is_refused_beside_its_command(
    context: LessonContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_FLOPS", 1.0)
    assert lab.data(at(context, task="case")).values["times"] > 1000
    recipe = lab.recipe("circuit", at(context, task="case"))
    assert recipe is not None and "--task case.en-de" in recipe.command and "--source" not in recipe.command


def test_a_model_without_a_task_has_none(context: LessonContext) -> None:
    stage = lab.data(context)
    assert stage.values["tasks"] == {} and stage.values["circuit"] == {"problem": "none"}
    assert lab.recipe("circuit", context) is None


def test_the_pressed_node_is_a_head(context: LessonContext) -> None:
    assert place_of(lab.selection("circuit", at(context, chosen="cross.2.3"))) == Head("cross", 1, 2)
    assert lab.selection("circuit", at(context, chosen="encoder.1.ffn")) is None
