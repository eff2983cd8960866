"""Trainings of several processes on the CPU, for the tests of `distributed.py`."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.spawn import spawn

from tests.core.training.runs import new_model
from transformer_core.config import TrainingConfig
from transformer_core.data import Corpus
from transformer_core.training import objective
from transformer_core.training.distributed import ProcessGroup, join_process_group
from transformer_core.training.optimizer import optimizer_for
from transformer_core.training.trainer import Trainer

Scenario = tuple[str, TrainingConfig, float, bool]  # run, options, dropout, resume


def train_together(processes: int, data: Path, folder: Path, scenarios: list[Scenario]) -> None:
    """Run some trainings one after the other, in so many processes; each in its folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    arguments = (processes, port, data, folder, scenarios)
    spawn(_work, arguments, nprocs=processes)  # type: ignore[no-untyped-call]


def _work(rank: int, processes: int, port: int, data: Path, folder: Path, scenarios: list[Scenario]) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "RANK": str(rank)}
    os.environ |= {"WORLD_SIZE": str(processes), "LOCAL_RANK": str(rank)}
    torch.set_num_threads(1)
    objective._BACKEND = "eager"  # where a model is compiled; the real compiler takes a minute
    corpus = Corpus(data)
    with join_process_group(torch.device("cpu")) as group:
        for run, config, dropout, resume in scenarios:
            trainer = Trainer(new_model(corpus, dropout), corpus, config, folder / run, resume=resume, group=group)
            if run.startswith("undivided"):
                trainer.optimizer = optimizer_for(trainer.model, config)
            if run.startswith("stopped"):
                _signal_one_process(trainer, group)
            trainer.train()
            (folder / f"{run}.{rank}").write_text(str(trainer.progress.step))


def _signal_one_process(trainer: Trainer, group: ProcessGroup) -> None:
    """SIGTERM for the last process alone, in its third update."""
    original = trainer._check

    def check(report: dict[str, Any]) -> None:
        if report["step"] == 3 and group.rank == group.size - 1:
            os.kill(os.getpid(), signal.SIGTERM)
        original(report)

    trainer._check = check  # type: ignore[method-assign]
