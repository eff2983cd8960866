"""The lesson on warm-up: its numbers against transformer_core, torch's Adam, and recorded runs."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.app.lessons.conftest import Visit
from transformer_core.storage.files import CheckpointError
from transformer_core.training.schedule import learning_rate
from viz_app.lessons.context import LessonContext
from viz_app.lessons.small_models import TrainingCurve, warmup_curves
from viz_app.lessons.warmup import adam
from viz_app.lessons.warmup import numbers as warmup


@pytest.fixture
def context(visit: Visit) -> LessonContext:
    return visit("runs", "A man rides.")


PROBE = {
    **{"source": "A", "target": "B", "head": "cross.5.1", "queries": ["B", "</s>"], "keys": ["A", "</s>"]},
    **{"step": [0, 9], "translation": ["", "B"], "weights": [[[1, 2], [3, 4]]] * 2},
}


def course(steps: int, losses: list[float], seed: int = 1) -> TrainingCurve:
    column = np.array(losses)
    step = 5 * np.arange(1, len(losses) + 1)
    training = {"warmup_steps": steps, "learning_rate_factor": 0.3, "seed": seed}
    return TrainingCurve(training, step, column, 1, PROBE if seed == 1 else None)


def test_the_browser_computes_the_same_rates(javascript: Callable[[str], Any]) -> None:
    draw = np.random.default_rng(0)
    asked = [
        [int(draw.integers(1, 30_000)), int(draw.choice([64, 512, 1024])), int(w)]
        for w in draw.integers(1, 12_000, 100)
    ]
    script = (
        "import * as r from './lessons/warmup/js/rate.js';import * as f from './components/common/text/format.js';"
        f"const numbers = {json.dumps(asked)}.map((a) => [r.rate(...a), r.peak(a[1], a[2])]);"
        "const answer = [r.scientific(6.987e-4), r.scientific(0.0123, 0), f.formatCount(12000)];"
        "console.log(JSON.stringify([numbers, answer]));"
    )
    numbers, answer = javascript(script)
    for (step, width, steps), (rate, peak) in zip(asked, numbers, strict=True):
        assert rate == pytest.approx(learning_rate(step, d_model=width, warmup_steps=steps), rel=1e-6)
        assert peak == pytest.approx(learning_rate(steps, d_model=width, warmup_steps=steps), rel=1e-6)
    assert answer == ["6.99 \u00d7 10\u207b\u2074", "1 \u00d7 10\u207b\u00b2", "12,000"]


@pytest.mark.parametrize("problem", adam.PROBLEMS)
def test_moments_are_those_that_adam_moved_by(problem: adam.Problem) -> None:
    moments = adam.moments(problem)
    moved = -np.diff(np.concatenate([[0.0], moments["weight"]])) / adam.RATE
    np.testing.assert_allclose(moved, moments["update"], rtol=1e-9)
    # Section 5.3 by hand: beta_1 = 0.9, beta_2 = 0.98, epsilon = 1e-9.
    first = second = 0.0
    for update, gradient in enumerate(moments["gradient"]):
        first, second = 0.9 * first + 0.1 * gradient, 0.98 * second + 0.02 * gradient**2
        assert moments["first_raw"][update] == pytest.approx(first)
        assert moments["second_raw"][update] == pytest.approx(second**0.5)
        corrected = first / (1 - 0.9 ** (update + 1)), second / (1 - 0.98 ** (update + 1))
        assert moments["update"][update] == pytest.approx(corrected[0] / (corrected[1] ** 0.5 + 1e-9))
    assert abs(moments["update"][0]) == pytest.approx(1.0), "the first update is a full step, whatever the gradient"
    assert abs(moments["update_raw"][0]) == pytest.approx(0.1 / 0.02**0.5)


def test_a_steady_gradient_gives_full_steps() -> None:
    np.testing.assert_allclose(adam.moments("steady")["update"], 1.0, rtol=1e-6)


def test_runs_of_one_schedule_are_one(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = (course(1, [5.0, 7.0, 6.0]), course(200, [5.0, 4.0, 3.5]), course(200, [6.0, 5.0, 9.5], seed=2))
    monkeypatch.setattr(warmup, "warmup_curves", lambda: runs)
    result = warmup.data(context)
    common = {"factor": 0.3, "translations": ["", "B"]}
    assert result.values["runs"] == [{**common, "warmup": 1, "seeds": 1}, {**common, "warmup": 200, "seeds": 2}]
    assert result.arrays["run_step"].tolist() == [5, 10, 15]
    assert result.arrays["run_1_loss"].tolist() == [[5.0, 4.0, 3.5], [6.0, 5.0, 9.5]]
    assert result.arrays["run_1_map"].tolist() == [[[1, 2], [3, 4]]] * 2
    assert result.values["example"] == {key: PROBE[key] for key in ("target", "head", "queries", "keys", "step")}
    assert result.values["paper"] == {"d_model": 512, "warmup": 4000}


def test_running_medians() -> None:
    draw = np.random.default_rng(0)
    steps, losses = np.sort(draw.choice(1000, size=90, replace=False)), draw.normal(size=(2, 90))
    for step, median in zip(steps, warmup.running_median(steps, losses), strict=True):
        near = [index for index, at in enumerate(steps) if abs(at - step) <= 37]
        window = [row[index] for row in losses.tolist() for index in near]
        assert median == pytest.approx(statistics.median(window))


def test_the_prose_tells_what_the_shipped_runs_did() -> None:
    """The highest peaks do not recover, whatever the seed, whether their warm-up is short or long."""
    ends: dict[tuple[int, float], list[float]] = {}
    for run in warmup_curves():
        schedule = run.training["warmup_steps"], run.training["learning_rate_factor"]
        ends.setdefault(schedule, []).append(float(run.mean_nll[-40:].mean()))
    failed = {(1, 0.3), (25, 0.3), (50, 0.3), (400, 1.2)}
    assert min(min(ends[schedule]) for schedule in failed) > 5.5
    assert max(ends[800, 0.3]) < 4.5
    assert np.median(ends[800, 0.3]) == min(map(np.median, ends.values()))


def test_without_recorded_runs_there_are_none(context: LessonContext, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> Any:
        raise CheckpointError(Path("warmup"), "contains no runs")

    monkeypatch.setattr(warmup, "warmup_curves", missing)
    assert warmup.data(context).values["runs"] == []
