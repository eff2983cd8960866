"""Lesson "Warm-up" (Section 5.3): the schedule, recorded runs, Adam, and a training that one can watch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from transformer_core.paper.presets import PRESETS
from transformer_core.storage.files import CheckpointError
from transformer_core.training.schedule import learning_rate
from viz_app.figures import CurvesFigure, Series
from viz_app.figures.model.figure import Figure
from viz_app.lessons.context import LessonContext, StageData
from viz_app.lessons.jobs.live_training import Progress, live_training
from viz_app.lessons.jobs.recorded_training import load_recorded_training
from viz_app.lessons.small_models import TrainingCurve, warmup_curves
from viz_app.lessons.warmup.adam import PROBLEMS, UPDATES, moments

LIVE_SCENES = frozenset({"live"})
STEPS = 20_000  # of the schedule that are shown
_WIDTHS = (256, 512, 1024)

Arrays = dict[str, npt.NDArray[Any]]
Curves = tuple[tuple[Series, ...], str, str]  # with the titles of both axes


def data(context: LessonContext) -> StageData:
    """Return the paper's settings and this model's, the recorded runs, Adam, and the recorded training."""
    paper, own = PRESETS["base"], _own(context)
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
    return StageData(
        values={
            "paper": {"d_model": paper.model.d_model, "warmup": paper.training.warmup_steps},
            "own": own,
            "widths": _widths(own),
            "runs": [{"warmup": course.training["warmup_steps"], "failed": course.failed_at} for course in courses],
            "recorded": {"word": recorded.word, "moments": recorded.moments, "guesses": recorded.guesses},
        },
        arrays=arrays,
    )


def live_data(context: LessonContext) -> StageData:
    """Return the live run where the visitor watches it; else only its state."""
    run = live_training()
    if context.state.settings.get("source") != "live":
        return StageData(values={"state": run.state})
    from viz_app.lessons.jobs.reversal_task import word_from_text

    word = word_from_text(context.text)
    view = run.watch(word)
    return StageData(values=_progress_values(view, word), arrays=_shown(view))


def on_button(context: LessonContext, button: str) -> None:
    """Start a live run, or join the one that is going on."""
    if button == "start":
        gate = context.service.queue
        live_training().start(busy=lambda: gate.working > 0)


def figure(scene: str, context: LessonContext) -> Figure | None:
    """Return the schedule, the recorded runs, Adam, or the recorded training as curves."""
    drawn = _CURVES[scene](context) if scene in _CURVES else None
    if drawn is None:
        return None
    series, x_title, y_title = drawn
    return CurvesFigure(series=series, x_title=x_title, y_title=y_title, language=context.t.language)


def _of_paper(context: LessonContext) -> Curves:
    """Plot the schedule with the paper's settings."""
    paper = PRESETS["base"]
    return _of_schedule(context, paper.model.d_model, paper.training.warmup_steps)


def _of_choice(context: LessonContext) -> Curves:
    """Plot the schedule with the chosen settings."""
    paper, settings = PRESETS["base"], context.state
    widths = tuple(map(str, _widths(_own(context))))
    d_model = int(settings.choice("width", str(paper.model.d_model), widths))
    return _of_schedule(context, d_model, round(settings.number("warmup", paper.training.warmup_steps, 1, STEPS)))


def _of_schedule(context: LessonContext, d_model: int, warmup: int) -> Curves:
    """Plot both branches up to a little above the peak, and their minimum."""
    steps = np.unique(np.concatenate([np.arange(50, STEPS + 1, 50), [warmup]]))
    rates = np.array([learning_rate(int(step), d_model=d_model, warmup_steps=warmup) for step in steps])
    rising, falling = d_model**-0.5 * steps * warmup**-1.5, (d_model * steps) ** -0.5
    most = 1.3 * rates.max()
    series = (
        Series(x=steps, y=np.where(rising < most, rising, np.nan), label="step * warmup_steps^-1.5", dashed=True),
        Series(x=steps, y=np.where(falling < most, falling, np.nan), label="step^-0.5", dashed=True),
        Series(x=steps, y=rates, label=f"d_model {d_model}, warmup_steps {warmup}"),
    )
    return series, context.t("lesson_warmup.step"), "lrate"


def _of_runs(context: LessonContext) -> Curves | None:
    """Plot the loss or the gradient norm of the recorded runs."""
    name = context.state.choice("below", "loss", ("loss", "gradient"))
    series = tuple(
        Series(
            x=course.step,
            y=course.mean_nll if name == "loss" else course.gradient_norm,
            label=f"warmup_steps = {course.training['warmup_steps']}",
        )
        for course in _courses()
    )
    y_title = context.t("lesson_warmup.loss_axis" if name == "loss" else "lesson_warmup.gradient_norm")
    return (series, context.t("lesson_warmup.step"), y_title) if series else None


def _of_adam(context: LessonContext) -> Curves:
    """Plot Adam's steps with and without bias correction."""
    course = moments("noisy" if context.state.choice("gradients", "steady", PROBLEMS) == "noisy" else "steady")
    y_title = context.t("lesson_warmup.lane_update")
    updates = np.arange(1, UPDATES + 1)
    raw = Series(x=updates, y=course["update_raw"], label=context.t("lesson_warmup.raw"), dashed=True)
    return (raw, Series(x=updates, y=course["update"], label=y_title)), context.t("lesson_warmup.update"), y_title


def _of_training(context: LessonContext) -> Curves:
    """Plot the loss of the recorded training."""
    loss = load_recorded_training().loss
    series = (Series(x=np.arange(1, len(loss) + 1), y=loss, label=context.t("lesson_warmup.recorded")),)
    return series, context.t("lesson_warmup.update"), context.t("lesson_warmup.loss_letter")


_CURVES: Mapping[str, Callable[[LessonContext], Curves | None]] = {
    "curve": _of_paper,
    "shape": _of_choice,
    "runs": _of_runs,
    "adam": _of_adam,
    "live": _of_training,
}


def _courses() -> tuple[TrainingCurve, ...]:
    """Load the recorded runs; empty while their files are missing."""
    try:
        return warmup_curves()
    except CheckpointError:
        return ()


def _own(context: LessonContext) -> dict[str, Any]:
    """Return the training settings of the current model, as far as its checkpoint has them."""
    fact, default = context.service.card.training_number, PRESETS["en-de"].training
    return {
        "d_model": context.service.translator.config.d_model,
        "warmup": fact("warmup_steps", default.warmup_steps),
        "factor": fact("learning_rate_factor", default.learning_rate_factor),
    }


def _widths(own: dict[str, Any]) -> list[int]:
    """Return the widths to choose from, with this model's."""
    return sorted({int(own["d_model"]), *_WIDTHS})


def _progress_values(view: Progress, word: str) -> dict[str, Any]:
    return {
        "state": view.state,
        "number": view.number,
        "word": word,
        "moments": view.moments,
        "guesses": [look.guess for look in view.looks],
    }


def _shown(view: Progress) -> Arrays:
    if not view.looks:
        return {}
    return {
        "loss": np.array(view.loss, dtype=np.float32),
        "attention": np.stack([look.attention for look in view.looks]),
    }
