"""The small models and courses behind the lessons: read as written, and a clear error where they cannot be."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer_core.storage.files import CheckpointError
from viz_app.lessons import small_models
from viz_app.lessons.small_models import SMALL_NAMES, small_model, small_model_scores, training_curves, warmup_curves

JOURNAL: dict[str, Any] = {
    "format_version": 1,
    "model": {"num_layers": 2},
    "training": {"warmup_steps": 400},
    "failed": None,
    "updates": {
        "step": [10, 20],
        "loss": [5.5, 4.5],
        "nll": [5.25, 4.25],
        "mean_nll": [5.0, 4.0],
        "learning_rate": [0.001, 0.002],
        "gradient_norm": [2.0, 1.0],
    },
    "validation": {"tatoeba-valid": {"step": [20], "nll": [4.75], "bleu": [1.5]}},
}
SCORES = {
    "training": {"parameters": 7},
    "scores": {"tatoeba-valid": {"bleu": 12.5, "signature": "x", "nll": 2.5}},
    "forced": {"tatoeba-valid": {"masked": 2.5, "unmasked": 3.5}},
}


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, fresh_model: None, random_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of small models in which only `base` has weights, drawn ones."""
    shutil.copytree(random_checkpoint, tmp_path / "base")
    for name in SMALL_NAMES:
        write(tmp_path / name / "journal.json", JOURNAL)
        write(tmp_path / name / "metrics.json", SCORES)
    for steps in (400, 1, 1600):
        training = {"warmup_steps": steps, "learning_rate_factor": 0.3, "seed": 1}
        write(tmp_path / "warmup" / f"{steps}.json", {**JOURNAL, "training": training})
    for factor, seed in ((0.3, 2), (0.06, 1)):
        training = {"warmup_steps": 400, "learning_rate_factor": factor, "seed": seed}
        write(tmp_path / "warmup" / f"400-{factor}-{seed}.json", {**JOURNAL, "training": training})
    monkeypatch.setattr(small_models, "SMALL", tmp_path)
    return tmp_path


def test_courses_and_scores_are_what_the_files_hold(folder: Path) -> None:
    assert list(training_curves()) == list(small_model_scores()) == list(SMALL_NAMES)
    course = training_curves()["no-mask"]
    assert course.step.tolist() == [10, 20]
    assert course.mean_nll.tolist() == JOURNAL["updates"]["mean_nll"]
    with pytest.raises(ValueError, match="read-only"):
        course.mean_nll[0] = np.inf  # all sessions share it
    schedules = [(1, 0.3, 1), (400, 0.06, 1), (400, 0.3, 1), (400, 0.3, 2), (1600, 0.3, 1)]
    assert [tuple(run.training.values()) for run in warmup_curves()] == schedules
    scores = small_model_scores()["base"]
    assert (scores.bleu, scores.nll, scores.parameters) == (12.5, 2.5, 7)
    assert (scores.nll_masked, scores.nll_unmasked) == (2.5, 3.5)


def test_one_model_with_and_without_its_mask(folder: Path, random_checkpoint: Path) -> None:
    shutil.copytree(random_checkpoint, folder / "base", dirs_exist_ok=True)  # its own metrics.json, which has its hash
    (folder / "base" / "journal.json").unlink()
    model = small_model("base")
    assert small_model("base") is model
    unmasked = small_model("base", causal=False)
    assert (model.config.causal, unmasked.config.causal) == (True, False)
    own, ahead = (one.teacher_force("A man", "Ein Mann").attention.decoder for one in (model, unmasked))
    assert np.triu(own, 1).max() == 0.0 < np.triu(ahead, 1).max()


GONE = None
UNEVEN = {**JOURNAL, "updates": {**JOURNAL["updates"], "mean_nll": [1.0]}}


@pytest.mark.parametrize(
    ("file", "content", "ask", "told"),
    [
        ("one-head/journal.json", GONE, training_curves, "one-head/journal.json: cannot be read"),
        ("one-head/journal.json", "{", training_curves, "one-head/journal.json: cannot be read"),
        (
            "base/journal.json",
            {**JOURNAL, "format_version": 2},
            training_curves,
            "base/journal.json: Invalid enum value 2 - at `$.format_version`",
        ),
        ("base/journal.json", UNEVEN, training_curves, "base/journal.json: columns of different lengths"),
        ("unscaled/metrics.json", {"scores": {}}, small_model_scores, "unscaled: Object missing required field `bleu`"),
        ("warmup", GONE, warmup_curves, "warmup: contains no runs"),
        ("unscaled/README.md", "", lambda: small_model("unscaled"), "unscaled/manifest.json: "),
        ("unscaled/README.md", "", lambda: small_model("../en-de"), "must be one of base, no-mask"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_read_is_named(
    folder: Path, file: str, content: object, ask: Callable[[], object], told: str
) -> None:
    if content is not GONE:
        write(folder / file, content)
    else:
        (folder / file).rename(folder / "gone")
    with pytest.raises(CheckpointError) as error:
        ask()
    assert told in str(error.value).replace("\\", "/")
