"""Trainings of several processes on the CPU, for the tests of `distributed.py`."""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import torch
from torch.multiprocessing.spawn import spawn

from tests.core.training.runs import new_model
from transformer_core.config import TrainingConfig
from transformer_core.data import Corpus
from transformer_core.training import objective
from transformer_core.training.distributed import ProcessGroup, join_process_group
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.trainer import Trainer
from transformer_core.training.validation import ValidationSet

LOSSES = [5.0, 4.0, 4.5, 4.6, 3.0]  # of each validation of a patient training; the second is the best for long

Scenario = tuple[str, TrainingConfig, float, bool]  # run, options, dropout, resume


def train_together(processes: int, data: Path, folder: Path, scenarios: list[Scenario]) -> None:
    """Run some trainings one after the other, in a number of processes; each in its folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = (processes, port, data, folder, scenarios)
    # A test of the app leaves its script as the main module, which each new process would run.
    with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):
        spawn(_work, arguments, nprocs=processes)  # type: ignore[no-untyped-call]


def _work(rank: int, processes: int, port: int, data: Path, folder: Path, scenarios: list[Scenario]) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank)}
    os.environ |= {"WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    objective._BACKEND = "eager"  # where a model is compiled; the real compiler takes a minute
    corpus = Corpus(data)
    with join_process_group(torch.device("cpu")) as group:
        for scenario in scenarios:
            step = _train(corpus, folder, group, scenario)
            (folder / f"{scenario[0]}.{rank}").write_text(str(step))


def _train(corpus: Corpus, folder: Path, group: ProcessGroup, scenario: Scenario) -> int:
    """One training, of which nothing is left when its process group ends (see `join_process_group`); its last step."""
    run, config, dropout, resume = scenario
    kind = {"stopped": _Signalled, "patient": _Graded}.get(run.partition("-")[0], Trainer)
    trainer = kind(new_model(corpus, dropout), corpus, config, folder / run, resume=resume, group=group)
    if run.startswith("undivided"):
        trainer.optimizer = trainer._step.optimizer = Optimizer(trainer.model, config)
    return trainer.train().step


class _Signalled(Trainer):
    """Its last process gets SIGTERM, alone, in the third update."""

    def _save_snapshot(self) -> None:
        super()._save_snapshot()
        if self.progress.step == 3 and self.group.rank == self.group.size - 1:
            os.kill(os.getpid(), signal.SIGTERM)


class _Graded(Trainer):
    """Its validation losses are given; as ever, only the main process knows them."""

    def validate(self) -> dict[str, dict[str, Any]]:
        self.validation = [ValidationSet("valid", [("A", "B")])]
        return {"valid": {"nll": LOSSES[self.progress.step - 1]}} if self.group.is_main else {}
