"""The best step, early stopping and overfitting, against the journal's own numbers and scores worked out by hand."""

from __future__ import annotations

import json
import math
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from tests.core.tiny import sentence_pairs
from tests.core.training import killed
from tests.core.training.runs import SHORT, metrics, new_trainer, same, train, updates, weights_of
from transformer_core.config import ConfigError, TrainingConfig
from transformer_core.data import Corpus
from transformer_core.training.best_step import BestStep
from transformer_core.training.state import step_folders
from transformer_core.training.trainer import Trainer
from transformer_core.training.validation import ValidationSet

EVERY = SHORT.replace(steps=8, validate_every=1, checkpoint_every=3, keep_checkpoints=1)
SCORES = [5.0, 3.0, 4.0, 2.0, 4.5, 4.6, 4.7, 4.8]  # of the steps 1 to 8; the best is step 4


def graded(trainer: Trainer, losses: list[float] = SCORES) -> Trainer:
    """The trainer with validation losses that are given, so that the best step is known."""
    trainer.validation = [ValidationSet("valid", sentence_pairs()[:2])]

    def validate() -> dict[str, dict[str, Any]]:
        nll = losses[trainer.progress.step - 1]
        return {"valid": {"nll": nll, "perplexity": math.exp(nll), "bleu": 10 * nll}}

    trainer.validate = validate  # type: ignore[method-assign]
    return trainer


def best_folders(run: Path) -> list[str]:
    return [folder.name for folder in sorted(run.glob("best-*"))]


def scores_of(run: Path) -> dict[int, float]:
    return {line["step"]: line["validation"]["valid"]["nll"] for line in metrics(run) if "validation" in line}


def ended(run: Path) -> str:
    """Reason for the end of the run: the last line of the journal, and no other."""
    *others, last = metrics(run)
    assert all("ended" not in line for line in others)
    return str(last["ended"])


def test_the_weights_of_the_best_step_stay_beside_the_newest(corpus: Corpus, tmp_path: Path) -> None:
    """They equal the weights of a training that ended there, while keep_checkpoints has removed that step."""
    graded(new_trainer(corpus, tmp_path / "run", EVERY)).train()
    assert best_folders(tmp_path / "run") == ["best-00000004"]
    assert [folder.name for folder in step_folders(tmp_path / "run")] == ["step-00000008"]
    short = train(corpus, tmp_path / "short", EVERY.replace(steps=4))
    assert same(load_file(tmp_path / "run" / "best-00000004" / "model.safetensors"), weights_of(short))
    assert [line["best_step"] for line in metrics(tmp_path / "run") if "validation" in line] == [1, 2, 2, 4, 4, 4, 4, 4]
    assert ended(tmp_path / "run") == "completed"


def test_real_validations_choose_the_lowest_of_the_journal(corpus: Corpus, tmp_path: Path) -> None:
    """The first set decides; a learning rate that is too high makes the scores rise and fall."""
    sets = (ValidationSet("valid", sentence_pairs()[:3]), ValidationSet("other", sentence_pairs()[9:12]))
    train(corpus, tmp_path, EVERY.replace(learning_rate_factor=15.0), validation=sets)
    scores = scores_of(tmp_path)
    best = min(scores, key=scores.__getitem__)
    assert 1 < best < 8
    assert best_folders(tmp_path) == [f"best-{best:08d}"]


@pytest.mark.parametrize(("metric", "best"), [("bleu", 1), ("perplexity", 4), ("nll", 4)])
def test_the_metric_decides(corpus: Corpus, tmp_path: Path, metric: str, best: int) -> None:
    config = TrainingConfig.from_dict({**EVERY.to_dict(), "best_metric": metric})
    progress = graded(new_trainer(corpus, tmp_path, config)).train()
    assert (progress.best.step, progress.best.metric) == (best, f"valid.{metric}")
    assert best_folders(tmp_path) == [f"best-{best:08d}"]


def test_without_validation_there_is_no_best_step(corpus: Corpus, tmp_path: Path) -> None:
    progress = train(corpus, tmp_path, EVERY.replace(patience=1)).progress
    assert (progress.step, progress.best) == (8, BestStep())
    assert best_folders(tmp_path) == []


# --- resume -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stop", [1, 4, 5, 7])
def test_a_resumed_run_knows_the_best_step_and_its_patience(corpus: Corpus, tmp_path: Path, stop: int) -> None:
    """Stopped anywhere, it ends at the same step, with the same best step and the same journal."""
    config = EVERY.replace(patience=3)
    straight = graded(new_trainer(corpus, tmp_path / "straight", config)).train()
    assert (straight.step, straight.best.step) == (7, 4)
    first = graded(new_trainer(corpus, tmp_path / "broken", config))
    first._stop_flag.requested = stop == 1
    if stop > 1:
        first.config = config.replace(steps=stop)
    assert first.train().step == stop
    assert ended(tmp_path / "broken") == ("stopped" if stop == 1 else "completed")
    resumed = graded(new_trainer(corpus, tmp_path / "broken", config, resume=True)).train()
    assert resumed.best == straight.best
    assert resumed.step == 7
    for name in ("straight", "broken"):
        assert best_folders(tmp_path / name) == ["best-00000004"]
        reason = "early stopping: 3 validations without a better score than at step 4 (valid.nll 2)"
        assert ended(tmp_path / name) == reason
    assert scores_of(tmp_path / "straight") == scores_of(tmp_path / "broken")
    again = graded(new_trainer(corpus, tmp_path / "broken", config, resume=True))
    assert again.train().step == 7  # it has ended; more patience goes on
    assert ended(tmp_path / "broken") == reason
    assert graded(new_trainer(corpus, tmp_path / "broken", EVERY, resume=True)).train().step == 8


def test_a_best_step_after_the_newest_saved_one_is_found_again(corpus: Corpus, tmp_path: Path) -> None:
    """Killed after step 4, the best, and before it was saved: step 3 is resumed, and it knows step 2."""
    config = EVERY.replace(steps=4)
    killed_run = graded(new_trainer(corpus, tmp_path, config))
    killed_run._save = lambda: None if killed_run.progress.step == 4 else Trainer._save(killed_run)  # type: ignore[method-assign]
    killed_run.train()
    assert best_folders(tmp_path) == ["best-00000002", "best-00000004"]
    resumed = graded(new_trainer(corpus, tmp_path, EVERY, resume=True))
    assert (resumed.progress.step, resumed.progress.best.step) == (3, 2)
    assert best_folders(tmp_path) == ["best-00000002"]
    resumed.train()
    assert best_folders(tmp_path) == ["best-00000004"]


def test_a_state_of_old_has_no_best_step(corpus: Corpus, tmp_path: Path) -> None:
    train(corpus, tmp_path, EVERY.replace(steps=3))
    file = tmp_path / "step-00000003" / "state.json"
    values = json.loads(file.read_text(encoding="utf-8"))
    del values["best"]
    file.write_text(json.dumps(values), encoding="utf-8")
    resumed = graded(new_trainer(corpus, tmp_path, EVERY, resume=True))
    assert resumed.progress.best == BestStep()
    assert resumed.train().best.step == 4


def test_another_metric_begins_anew(corpus: Corpus, tmp_path: Path) -> None:
    graded(new_trainer(corpus, tmp_path, EVERY.replace(steps=4))).train()
    config = EVERY.replace(best_metric="bleu")
    assert graded(new_trainer(corpus, tmp_path, config, resume=True)).train().best.step == 8
    assert best_folders(tmp_path) == ["best-00000008"]


# --- when something breaks --------------------------------------------------------------------------------------------


def check_best(run: Path) -> None:
    """Every best step that a saved step knows is there, and whole."""
    for folder in step_folders(run):
        best = json.loads((folder / "state.json").read_text(encoding="utf-8"))["best"]["step"]
        if folder == step_folders(run)[-1]:
            saved = run / f"best-{best:08d}"
            assert json.loads((saved / "state.json").read_text(encoding="utf-8"))["step"] == best
            assert load_file(saved / "model.safetensors")


@pytest.mark.process
def test_killed_at_one_file_operation_after_the_other(corpus: Corpus, tmp_path: Path) -> None:
    kills, status, run = 0, -signal.SIGKILL, tmp_path / "run"
    while status == -signal.SIGKILL:
        process = killed.started(killed.validate, corpus.folder, run, tmp_path / "noted", 3 * kills + 1)
        process.join()
        check_best(run)
        status, kills = process.exitcode or 0, kills + 1
    assert (status, kills > 8) == (0, True)
    graded(new_trainer(corpus, tmp_path / "straight", killed.VALIDATED, dropout=0.3), killed.LOSSES).train()
    one, other = (load_file(tmp_path / name / "best-00000003" / "model.safetensors") for name in ("run", "straight"))
    assert same(one, other)
    assert best_folders(run) == ["best-00000003"]
    assert ended(run) == ended(tmp_path / "straight")
    assert [path.name for path in run.iterdir() if path.name.startswith(".")] == []


# --- overfitting ------------------------------------------------------------------------------------------------------


def add(best: BestStep, step: int, nll: float, training: float) -> int:
    best.add(step, "valid", {"nll": nll, "bleu": 1.0}, "nll", training)
    return best.overfits_since


def test_overfitting_is_said_once_where_the_losses_part(caplog: pytest.LogCaptureFixture) -> None:
    best = BestStep()
    falling = [(1, 5.0, 5.0), (2, 4.0, 4.0)]
    assert [add(best, *each) for each in falling] == [0, 0]
    assert add(best, 3, 4.01, 3.5) == 0  # noise
    assert add(best, 4, 4.5, 4.1) == 0  # both rise: something else is wrong
    assert add(best, 5, 4.5, 3.0) == 5
    assert add(best, 6, 5.0, 2.0) == 5
    (record,) = caplog.records
    text = "overfitting: nll of valid rose from 4.000 to 4.500; in training it fell from 4.000 to 3.000"
    assert record.getMessage() == text
    assert add(best, 7, 3.9, 1.9) == 0  # a new lowest: it was none
    assert add(best, 8, 4.4, 1.8) == 8
    assert len(caplog.records) == 2


def test_overfitting_stands_in_the_journal(corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A model that learns one direction is worse and worse at the other one."""
    config = SHORT.replace(steps=40, validate_every=10, learning_rate_factor=2.0)
    other = ValidationSet("other", [(target, source) for source, target in sentence_pairs()[:8]])
    train(corpus, tmp_path, config, validation=(other,))
    lines = [line for line in metrics(tmp_path) if "validation" in line]
    nll = [line["validation"]["other"]["nll"] for line in lines]
    assert min(nll[1:]) > nll[0] + 0.02
    tokens = np.diff([0, *(line["target_tokens"] for line in updates(tmp_path))])
    trained = [line["nll"] for line in updates(tmp_path)]
    means = [np.average(trained[:step], weights=tokens[:step]) for step in (10, 20)]
    assert means[1] < means[0]
    assert [line["overfits_since"] for line in lines] == [0, 20, 20, 20]
    (said,) = [record.getMessage() for record in caplog.records if "overfitting" in record.getMessage()]
    assert said.startswith(f"overfitting: nll of other rose from {nll[0]:.3f} to {nll[1]:.3f}")
    assert said.endswith(f"from {means[0]:.3f} to {means[1]:.3f}")


def test_bleu_needs_sentences() -> None:
    with pytest.raises(ConfigError, match="validation_sentences is 0, but must be positive where best_metric is bleu"):
        TrainingConfig(best_metric="bleu", validation_sentences=0)
