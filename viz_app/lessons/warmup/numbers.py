"""Lesson "Warm-up" (Section 5.3): the schedule, recorded runs, Adam, and a recorded training that one can watch."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from transformer_core.paper.presets import PRESETS
from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.small_models import TrainingCurve, warmup_curves
from viz_app.lessons.warmup.adam import PROBLEMS, moments
from viz_app.lessons.warmup.recorded_training import load_recorded_training

Arrays = dict[str, npt.NDArray[Any]]


class Schedule(TypedDict):
    """Width and warm-up steps."""

    d_model: int
    warmup: float


class Run(TypedDict):
    """Recorded run; the step at which it failed, if any."""

    warmup: int
    failed: int | None


class Snapshots(TypedDict):
    """Outputs of a training for a word after some steps."""

    word: str
    moments: tuple[int, ...]
    guesses: tuple[str, ...]


class Values(TypedDict):
    """Numbers for the browser."""

    paper: Schedule
    runs: list[Run]
    recorded: Snapshots


def data(context: LessonContext) -> StageData:
    """Return the paper's settings, the recorded runs, Adam, and the recorded training."""
    paper = PRESETS["base"]
    courses = _courses()
    arrays: Arrays = {}
    for index, course in enumerate(courses):
        columns: Arrays = {"step": course.step.astype(np.int32), "rate": course.learning_rate}
        columns |= {"loss": course.mean_nll, "gradient": course.gradient_norm}
        arrays |= {f"run_{index}_{name}": values for name, values in columns.items()}
    for problem in PROBLEMS:
        arrays |= {f"{problem}_{name}": values for name, values in moments(problem).items()}
    recorded = load_recorded_training()
    arrays |= {"recorded_loss": recorded.loss, "recorded_attention": recorded.attention}
    values: Values = {
        "paper": {"d_model": paper.model.d_model, "warmup": paper.training.warmup_steps},
        "runs": [{"warmup": course.training["warmup_steps"], "failed": course.failed_at} for course in courses],
        "recorded": {"word": recorded.word, "moments": recorded.moments, "guesses": recorded.guesses},
    }
    return StageData(values=values, arrays=arrays)


def _courses() -> tuple[TrainingCurve, ...]:
    """Load the recorded runs; empty while their files are missing."""
    try:
        return warmup_curves()
    except CheckpointError:
        return ()
