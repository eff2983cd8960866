"""Lesson "Warm-up" (Section 5.3): the schedule, recorded runs, Adam, and a recorded training that one can watch."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from typing import Any, TypedDict, cast

import numpy as np
import numpy.typing as npt

from transformer_core.paper.presets import PRESETS
from transformer_core.storage.files import CheckpointError
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.small_models import TrainingCurve, warmup_curves
from viz_app.lessons.warmup.adam import PROBLEMS, moments
from viz_app.lessons.warmup.recorded_training import load_recorded_training

Arrays = dict[str, npt.NDArray[Any]]

MEDIAN_OF = 75  # steps


class Schedule(TypedDict):
    """Width and warm-up steps."""

    d_model: int
    warmup: float


class Run(TypedDict):
    """Recorded run: its schedule, its seeds, and the translations of its snapshots."""

    warmup: int
    factor: float
    seeds: int
    translations: list[str]


class Example(TypedDict):
    """Sentence that the snapshots read, with the head of their maps; empty while the runs are missing."""

    target: str
    head: str
    queries: list[str]
    keys: list[str]
    step: list[int]


class Snapshots(TypedDict):
    """Outputs of a training for a word after some steps."""

    word: str
    moments: tuple[int, ...]
    guesses: tuple[str, ...]


class Values(TypedDict):
    """Numbers for the browser."""

    paper: Schedule
    width: int
    example: Example | None
    runs: list[Run]
    recorded: Snapshots


def data(context: LessonContext) -> StageData:
    """Return the paper's settings, the recorded runs, Adam, and the recorded training."""
    paper = PRESETS["base"]
    recorded = load_recorded_training()
    example, runs, arrays = _runs(_curves())
    arrays = {**arrays, "recorded_loss": recorded.loss, "recorded_attention": recorded.attention}
    for problem in PROBLEMS:
        arrays |= {f"{problem}_{name}": values for name, values in moments(problem).items()}
    values: Values = {
        "paper": {"d_model": paper.model.d_model, "warmup": paper.training.warmup_steps},
        "width": PRESETS["small"].model.d_model,
        "example": example,
        "runs": runs,
        "recorded": {"word": recorded.word, "moments": recorded.moments, "guesses": recorded.guesses},
    }
    return StageData(values=values, arrays=arrays)


def running_median(steps: npt.NDArray[np.int64], losses: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the median of all seeds over the steps around each record: (N,), (seeds, N) -> (N,)."""
    return np.array([np.median(losses[:, abs(steps - step) <= MEDIAN_OF / 2]) for step in steps])


@lru_cache(maxsize=2)
def _runs(curves: tuple[TrainingCurve, ...]) -> tuple[Example | None, list[Run], Arrays]:
    """Return the sentence, a run for each schedule, and the columns of all its seeds; the first has the snapshots."""
    runs: list[Run] = []
    arrays: Arrays = {}
    example: Example | None = None
    for index, (schedule, group) in enumerate(groupby(curves, _schedule)):
        seeds = list(group)
        steps, losses = seeds[0].step, np.stack([seed.mean_nll for seed in seeds])
        arrays |= {f"run_{index}_loss": losses, f"run_{index}_median": running_median(steps, losses)}
        arrays["run_step"] = steps.astype(np.int32)
        probe = seeds[0].probe or {"translation": []}
        warmup, factor = schedule
        runs.append({"warmup": warmup, "factor": factor, "seeds": len(seeds), "translations": probe["translation"]})
        if "weights" in probe:
            arrays[f"run_{index}_map"] = np.array(probe["weights"], dtype=np.uint8)
            example = cast(Example, {name: probe[name] for name in Example.__annotations__})
    return example, runs, arrays


def _schedule(curve: TrainingCurve) -> tuple[int, float]:
    return curve.training["warmup_steps"], curve.training["learning_rate_factor"]


def _curves() -> tuple[TrainingCurve, ...]:
    """Load the recorded runs; empty while their files are missing."""
    try:
        return warmup_curves()
    except CheckpointError:
        return ()
