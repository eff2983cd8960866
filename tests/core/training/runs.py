"""Short trainings of a tiny model for the tests of the trainer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

from transformer_core import ModelConfig, TrainingConfig, Transformer
from transformer_core.data import Corpus
from transformer_core.training.trainer import Trainer
from transformer_core.training.validation import ValidationSet

SHORT = TrainingConfig(
    batch_tokens=200,
    steps=6,
    warmup_steps=10,
    precision="float32",
    seed=3,
    log_every=1,
    validate_every=1000,
    validation_sentences=2,
    checkpoint_every=1000,
    checkpoint_minutes=0.0,
    plateau_steps=0,
)

# Two batches a step, the head penalty from the third step on, clipped gradients.
EVERYTHING = SHORT.replace(
    batch_tokens=400,
    steps=8,
    accumulate=2,
    optimizer="muon",
    head_penalty=1.0,
    head_penalty_start=2,
    head_penalty_full=4,
    max_gradient_norm=1.0,
)


def new_model(corpus: Corpus, dropout: float = 0.0) -> Transformer:
    torch.manual_seed(5)
    return Transformer(
        ModelConfig(vocab_size=len(corpus.tokenizer), d_model=16, d_ff=32, num_layers=1, num_heads=2, dropout=dropout)
    )


def new_trainer(
    corpus: Corpus,
    run: Path,
    config: TrainingConfig = SHORT,
    dropout: float = 0.0,
    validation: tuple[ValidationSet, ...] = (),
    resume: bool = False,
) -> Trainer:
    """A trainer with freshly drawn weights; dropout goes on from the seed of the weights."""
    return Trainer(new_model(corpus, dropout), corpus, config, run, validation, resume)


def train(corpus: Corpus, run: Path, config: TrainingConfig = SHORT, **options: Any) -> Trainer:
    """The trainer of a whole training."""
    trainer = new_trainer(corpus, run, config, **options)
    trainer.train()
    return trainer


def weights_of(trainer: Trainer) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in trainer.model.named_parameters()}


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    """Whether all weights are equal bit for bit."""
    return set(one) == set(other) and all(torch.equal(one[name], other[name]) for name in one)


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]


def updates(run: Path) -> list[dict[str, Any]]:
    """The lines of metrics.jsonl about updates, without validations."""
    return [line for line in metrics(run) if "loss" in line]
