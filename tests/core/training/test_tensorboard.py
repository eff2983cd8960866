"""TensorBoard: the numbers of the journal, in a writer that notes them and, where it is installed, in its own files."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.core.tiny import sentence_pairs
from tests.core.training.runs import SHORT, metrics, new_trainer, train
from transformer_core.data import Corpus
from transformer_core.training import journal
from transformer_core.training.validation import ValidationSet

WATCHED = SHORT.replace(steps=4, validate_every=2, checkpoint_every=2, tensorboard=True)
VALID = (ValidationSet("valid", sentence_pairs()[:3]),)


def scalars(run: Path) -> dict[tuple[str, int], float]:
    """Name and step of every number of the journal, written out."""
    values: dict[tuple[str, int], float] = {}
    for line in metrics(run):
        for name, value in line.items():
            if name == "validation":
                for set_name, scores in value.items():
                    values |= {(f"validation/{set_name}/{key}", line["step"]): each for key, each in scores.items()}
            elif name not in ("step", "ended"):
                values[name, line["step"]] = value
    return values


def test_all_journal_numbers_and_a_resume(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: dict[tuple[str, int], float] = {}
    opened: list[tuple[Path, int]] = []

    class Writer:
        def __init__(self, folder: Path, purge_step: int) -> None:
            opened.append((folder, purge_step))

        def add_scalar(self, name: str, value: float, step: int) -> None:
            noted[name, step] = value

        def flush(self) -> None:
            pass

    fake: Any = ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    monkeypatch.setattr(journal, "find_spec", lambda name: name)
    train(corpus, tmp_path, WATCHED.replace(steps=3), validation=VALID)
    new_trainer(corpus, tmp_path, WATCHED, validation=VALID, resume=True).train()
    assert opened == [(tmp_path / "tensorboard", 1), (tmp_path / "tensorboard", 4)]
    assert noted == scalars(tmp_path)
    assert ("validation/valid/bleu", 4) in noted
    assert ("mean_nll", 4) in noted


def test_its_own_files(corpus: Corpus, tmp_path: Path) -> None:
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    train(corpus, tmp_path, WATCHED, validation=VALID)
    read = events.EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    values = {(name, each.step): each.value for name in read.Tags()["scalars"] for each in read.Scalars(name)}
    assert values == {name: pytest.approx(value, rel=1e-6) for name, value in scalars(tmp_path).items()}
