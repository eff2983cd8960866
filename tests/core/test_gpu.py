"""On a CUDA device (pytest -m gpu): the same numbers as on the CPU, training that learns, in graphs and without."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.core.tiny import inputs_for
from tests.core.training.runs import EVERYTHING, SHORT, new_model, updates
from transformer_core import TrainingConfig, Transformer
from transformer_core.data import Corpus
from transformer_core.hooks.points import POINTS, capture
from transformer_core.paper.presets import PRESETS
from transformer_core.training import graphs
from transformer_core.training.batch_loader import BatchLoader
from transformer_core.training.distributed import SINGLE_PROCESS
from transformer_core.training.failures import TrainingFailed
from transformer_core.training.trainer import Trainer

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]


def test_capture_on_the_gpu_equals_the_cpu(model: Transformer) -> None:
    batch = inputs_for((5, 3), 4)
    with torch.no_grad(), capture(model, POINTS) as on_cpu:
        expected = model(*batch)
    model.cuda()
    with torch.no_grad(), capture(model, POINTS, device="cpu") as on_gpu:
        logits = model(*(part.cuda() for part in batch))
    torch.testing.assert_close(logits.cpu(), expected, atol=1e-4, rtol=1e-3)
    torch.testing.assert_close(dict(on_gpu), dict(on_cpu), atol=1e-4, rtol=1e-3)


LONGER = EVERYTHING.replace(steps=9, log_every=4, learning_rate_factor=0.05)


def trained(corpus: Corpus, run: Path, config: TrainingConfig, dropout: float = 0.0, resume: bool = False) -> Trainer:
    """A training on the GPU whose batches are padded to few shapes, in graphs or not."""
    trainer = Trainer(new_model(corpus, dropout).cuda(), corpus, config, run, resume=resume)
    if not resume:
        trainer.progress.bucketed = True
        trainer._loader = BatchLoader(
            corpus, trainer.model.config, config, SINGLE_PROCESS, torch.device("cuda"), bucketed=True
        )
    trainer.train()
    return trainer


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_graphed_step_equal(corpus: Corpus, tmp_path: Path, precision: str, caplog: pytest.LogCaptureFixture) -> None:
    config = LONGER.replace(precision=precision)
    with caplog.at_level(logging.WARNING):
        captured = trained(corpus, tmp_path / "graphs", config)
    assert "CUDA graphs" not in caplog.text
    eager = trained(corpus, tmp_path / "eager", config.replace(cuda_graphs=False))
    torch.testing.assert_close(list(captured.model.parameters()), list(eager.model.parameters()), atol=1e-3, rtol=1e-2)
    for one, other in zip(updates(tmp_path / "graphs"), updates(tmp_path / "eager"), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-3 if precision == "float32" else 2e-2)
        assert one["target_tokens"] == other["target_tokens"]


@pytest.mark.parametrize("second", [True, False])
def test_a_training_goes_on_with_and_without_graphs(corpus: Corpus, tmp_path: Path, second: bool) -> None:
    """With dropout, whose random numbers graphs draw in the same order."""
    whole = trained(corpus, tmp_path / "whole", LONGER, dropout=0.2)
    trained(corpus, tmp_path / "parts", LONGER.replace(steps=5, cuda_graphs=not second), dropout=0.2)
    resumed = trained(corpus, tmp_path / "parts", LONGER.replace(cuda_graphs=second), dropout=0.2, resume=True)
    torch.testing.assert_close(list(whole.model.parameters()), list(resumed.model.parameters()), atol=1e-3, rtol=1e-2)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("preset", ["base", "table3-e-learned", "parsing-wsj", "tiny"])
def test_every_kind_of_preset_takes_steps(corpus: Corpus, tmp_path: Path, preset: str, precision: str) -> None:
    chosen = PRESETS[preset].model
    sizes: dict[str, Any] = {"vocab_size": len(corpus.tokenizer), "source_vocab_size": 0, "tie": "all"}
    model = Transformer(chosen.replace(**sizes)).cuda()
    config = PRESETS[preset].training.replace(
        steps=2, precision=precision, batch_tokens=600, log_every=1, max_tokens=64
    )
    Trainer(model, corpus, config, tmp_path).train()
    assert [line["step"] for line in updates(tmp_path)] == [1, 2]


def test_capture_keeps_training_out_of_graphs(corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trainer = Trainer(new_model(corpus).cuda(), corpus, SHORT, tmp_path)
    with capture(trainer.model) as weights, caplog.at_level(logging.WARNING):
        trainer.train()
    assert "training without CUDA graphs: the model has hooks" in caplog.text
    assert all(len(calls) == SHORT.steps for calls in weights.calls.values())


def test_a_step_does_not_wait_for_the_gpu(corpus: Corpus, tmp_path: Path) -> None:
    """With CUDA's own check, which raises where the host would wait."""
    trainer = Trainer(new_model(corpus).cuda(), corpus, LONGER.replace(log_every=50, steps=60), tmp_path)
    parts = graphs.graphed(trainer._step, trainer.config, trainer.group, trainer._loader.widths)
    batches = trainer._loader.steps(0, 0)
    for _ in range(20):
        trainer._queue(next(batches), parts)  # captures
    try:
        torch.cuda.set_sync_debug_mode("error")
        for _ in range(10):
            trainer._queue(next(batches), parts)
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_loss_that_is_not_finite_changes_nothing_on_the_gpu(corpus: Corpus, tmp_path: Path) -> None:
    trainer = Trainer(new_model(corpus).cuda(), corpus, SHORT.replace(log_every=4), tmp_path)
    with torch.no_grad():
        trainer.model.embedding.weight[7] = float("inf")
    before = [parameter.detach().clone() for parameter in trainer.model.parameters()]
    with pytest.raises(TrainingFailed):
        trainer.train()
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.model.parameters(), strict=True))
