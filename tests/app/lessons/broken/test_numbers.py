"""The lesson "What is wrong with this model?": its numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.storage.files import CheckpointError
from viz_app.lessons.broken import numbers as broken
from viz_app.lessons.broken import suspects
from viz_app.lessons.broken.suspects import COPYIST, HEALTHY, MAX_TOKENS, SUSPECTS
from viz_app.lessons.small_models import training_curves
from viz_app.text.examples import EXAMPLES


@pytest.mark.parametrize("scene", ["", *SUSPECTS])
def test_a_scene_has_the_evidence_of_its_suspect_and_no_name(visit: Visit, scene: str) -> None:
    result = broken.data(visit(scene))
    name = SUSPECTS[scene or "a"]
    evidence = suspects.gather_evidence(name, visit(scene))
    assert result.values["scene"] == (scene or "a") and not result.values["cut"]
    assert result.values["wrote"][1] == evidence.wrote and result.values["tokens"] == evidence.tokens
    charts = result.values["charts"]
    for exhibit, values in (("vectors", evidence.alike), ("order", evidence.moved), ("evenness", evidence.evenness)):
        np.testing.assert_allclose(charts[exhibit]["series"][1]["y"], values, rtol=1e-6, atol=1e-7)
    assert f"{np.mean(evidence.evenness):.2f} for the suspect" in charts["evenness"]["said"]
    assert [tick for _, tick in charts["evenness"]["x"]["ticks"]][-1] == f"2.{len(evidence.evenness) // 2}"
    np.testing.assert_allclose(result.arrays["attention"][1] / 255, evidence.attention, atol=1 / 500)
    for row, model in enumerate((HEALTHY, name)):
        course = training_curves()[model]
        np.testing.assert_allclose(charts["loss"]["series"][row]["y"], course.mean_nll, rtol=1e-6)
        assert charts["loss"]["series"][row]["x"] == course.step.tolist()
    assert not any(each in repr(result.values) for each in SUSPECTS.values())


def test_the_last_scene_has_what_the_copyist_does(visit: Visit) -> None:
    result = broken.data(visit("predict"))
    assert result.values["ahead"][0] == 0 < result.values["ahead"][1]
    assert result.arrays["copying"].shape == (2, len(result.values["inputs"]), len(result.values["inputs"]))
    np.testing.assert_allclose(
        result.values["charts"]["loss"]["series"][1]["y"], training_curves()[COPYIST].mean_nll, rtol=1e-6
    )


def test_a_long_sentence_is_cut_and_that_is_told(visit: Visit) -> None:
    result = broken.data(visit("c", EXAMPLES["relative"] + " " + EXAMPLES["bracket"]))
    assert result.values["cut"] and EXAMPLES["relative"].startswith(result.values["read"][:20])
    assert len(result.values["tokens"]) <= MAX_TOKENS


def test_without_the_small_models_it_says_so(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: Any, **options: Any) -> Any:
        raise CheckpointError(Path("small"), "is missing")

    monkeypatch.setattr(broken, "training_curves", missing)
    assert broken.data(visit("a")).values == {"missing": True}
