"""Training as on a GPU, on the CPU: what is queued, read, launched and captured; equal to training as on a CPU."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.core.reads import CountedReads
from tests.core.training.runs import (
    EVERYTHING,
    SHORT,
    metrics,
    new_model,
    new_trainer,
    same,
    train,
    updates,
    weights_of,
)
from transformer_core import ModelConfig, Transformer, capture, devices
from transformer_core.data import Corpus
from transformer_core.model.positions import SinusoidalPositions
from transformer_core.training import graphs
from transformer_core.training.failures import TrainingFailed
from transformer_core.training.trainer import Trainer

Run = Callable[[], object]


@pytest.fixture
def as_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The CPU takes the path of a GPU without graphs."""
    kind = replace(devices.BACKENDS["cuda"], cuda_graphs=False, pins_memory=False)
    monkeypatch.setitem(devices.BACKENDS, "cpu", kind)
    yield


class Replayed:
    """Stands in for CUDA graphs: a run is warmed up when it is captured, and repeated as it is."""

    captures = 0
    replays = 0

    def __call__(self, run: Run, warm_up: Run) -> Run:
        Replayed.captures += 1
        warm_up()

        def again() -> None:
            Replayed.replays += 1
            run()

        return again


@pytest.fixture
def with_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU takes the path of a GPU with graphs, which `Replayed` stands in for."""
    monkeypatch.setitem(devices.BACKENDS, "cpu", replace(devices.BACKENDS["cuda"], pins_memory=False))
    monkeypatch.setattr(graphs, "GraphCapture", Replayed)
    Replayed.captures = Replayed.replays = 0


def gradients(corpus: Corpus, run: Path) -> list[torch.Tensor]:
    """Batches of the third step, with the head penalty."""
    trainer = new_trainer(corpus, run, EVERYTHING)
    trainer._step.inner.set_head_penalty(2.0)
    trainer._step.scale.fill_(0.01)
    *_, given = islice(trainer._loader.steps(0, 0), 3)
    for batch, _ in given.batches:
        trainer._step.add_gradients(batch)
    return [parameter.grad for parameter in trainer.model.parameters() if parameter.grad is not None]


def test_a_gpu_takes_the_steps_of_a_cpu(corpus: Corpus, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    expected = gradients(corpus, tmp_path / "gradients")
    careful = EVERYTHING.replace(learning_rate_factor=0.01)  # Adam blows up rounding, where a gradient is nothing
    on_cpu = train(corpus, tmp_path / "cpu", careful)
    request.getfixturevalue("as_on_a_gpu")
    for ours, other in zip(gradients(corpus, tmp_path / "queued"), expected, strict=True):
        torch.testing.assert_close(ours, other, atol=1e-5, rtol=1e-4)
    queued = train(corpus, tmp_path / "gpu", careful)
    torch.testing.assert_close(list(on_cpu.model.parameters()), list(queued.model.parameters()), atol=1e-4, rtol=1e-3)
    for line, expected_line in zip(updates(tmp_path / "gpu"), updates(tmp_path / "cpu"), strict=True):
        for key in ("loss", "nll", "gradient_norm", "learning_rate", "target_tokens", "epoch", "mean_nll"):
            assert line[key] == pytest.approx(expected_line[key], rel=1e-3), key


@pytest.mark.usefixtures("as_on_a_gpu")
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_how_often_it_reads_changes_nothing(corpus: Corpus, tmp_path: Path, precision: str) -> None:
    often = train(corpus, tmp_path / "often", EVERYTHING.replace(precision=precision), dropout=0.1)
    rarely = train(corpus, tmp_path / "rarely", EVERYTHING.replace(precision=precision, log_every=5), dropout=0.1)
    assert same(weights_of(often), weights_of(rarely))
    lines = {line["step"]: line for line in updates(tmp_path / "often")}
    few = updates(tmp_path / "rarely")
    assert [line["step"] for line in few] == [5, 8]
    for line in few:
        for key in ("loss", "nll", "gradient_norm", "learning_rate", "target_tokens"):
            assert line[key] == lines[line["step"]][key], key
    tokens = [lines[step]["target_tokens"] - (lines[step - 1]["target_tokens"] if step > 1 else 0) for step in lines]
    nll = [lines[step]["nll"] * count for step, count in zip(lines, tokens, strict=True)]
    assert few[0]["mean_nll"] == pytest.approx(sum(nll[:5]) / sum(tokens[:5]))


def steps_of(trainer: Trainer, count: int) -> Iterator[CountedReads]:
    """Operations of some steps, in graphs if the trainer has them; without the first and the ones that capture."""
    trainer.model.train()
    widths = trainer._loader.widths
    parts = graphs.graphed(trainer._step, trainer.config, trainer.group, widths)
    batches = trainer._loader.steps(0, 0)
    while count:
        captures, counted = Replayed.captures, CountedReads()
        given = next(batches)
        with counted:
            trainer._queue(given, parts)
        if captures == Replayed.captures and trainer.progress.step > 3:
            count -= 1
            yield counted


@pytest.mark.usefixtures("as_on_a_gpu")
@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("optimizer", ["adam", "muon"])
def test_a_step_waits_for_nothing(corpus: Corpus, tmp_path: Path, penalty: float, optimizer: str) -> None:
    options = {"head_penalty": penalty, "head_penalty_start": 0, "head_penalty_full": 1, "log_every": 50}
    trainer = new_trainer(corpus, tmp_path, SHORT.replace(optimizer=optimizer, **options), dropout=0.1)
    for counted in steps_of(trainer, 4):
        assert not counted.reads and not counted.sent


def test_the_count_sees_a_read() -> None:
    with CountedReads() as counted:
        values = torch.arange(6.0)
        float(values.sum()), values[values > 2], values.tolist(), bool((values > 3).any()), values.nonzero()
    assert len(counted.reads) == 5


@pytest.mark.usefixtures("with_graphs")
def test_few_kernels_outside_the_graphs(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = new_trainer(corpus, tmp_path, EVERYTHING.replace(log_every=50, steps=100), dropout=0.1)
    monkeypatch.setattr(trainer._step, "add_gradients", lambda batch: None)  # what a replay launches is not counted
    monkeypatch.setattr(trainer._step, "update", lambda: None)
    for counted in steps_of(trainer, 4):
        assert not counted.reads and not counted.sent
        assert counted.kernels < 15  # of two batches; and three graphs


def test_muon_is_few_operators(tmp_path: Path, corpus: Corpus) -> None:
    config = ModelConfig(vocab_size=len(corpus.tokenizer), d_model=16, d_ff=64, num_heads=2)
    assert config.num_layers == 6
    trainer = Trainer(Transformer(config), corpus, SHORT.replace(optimizer="muon"), tmp_path)
    for parameter in trainer.model.parameters():
        parameter.grad = torch.randn_like(parameter)
    (muon,) = trainer.optimizer._muon
    with CountedReads() as counted:
        muon.step()
    assert sum(len(stack.matrices) for stack in muon.stacks) == 96
    assert not counted.reads
    assert counted.operations < 80


@pytest.mark.usefixtures("with_graphs")
def test_graphed_step_equal(corpus: Corpus, tmp_path: Path) -> None:
    config = EVERYTHING.replace(log_every=3)
    captured = train(corpus, tmp_path / "graphs", config)
    widths = len(captured._loader.widths)
    assert captured.progress.bucketed and 2 <= Replayed.captures <= 1 + 4 * widths
    assert Replayed.replays == 3 * config.steps  # two batches, and an update
    eager = Trainer(new_model(corpus), corpus, config.replace(cuda_graphs=False), tmp_path / "eager")
    eager.progress.bucketed = True
    eager._loader.widths = captured._loader.widths
    eager.train()
    assert same(weights_of(captured), weights_of(eager))
    for one, other in zip(updates(tmp_path / "graphs"), updates(tmp_path / "eager"), strict=True):
        assert {**one, "tokens_per_second": 0, "seconds": 0} == {**other, "tokens_per_second": 0, "seconds": 0}


@pytest.mark.usefixtures("with_graphs")
def test_capturing_draws_no_random_numbers_of_the_training(corpus: Corpus, tmp_path: Path) -> None:
    """With dropout, a training that is broken off captures again, and goes on bit for bit."""
    whole = train(corpus, tmp_path / "whole", EVERYTHING, dropout=0.3)
    train(corpus, tmp_path / "parts", EVERYTHING.replace(steps=5), dropout=0.3)
    resumed = train(corpus, tmp_path / "parts", EVERYTHING, dropout=0.3, resume=True)
    assert same(weights_of(whole), weights_of(resumed))


def test_a_training_keeps_its_batches_on_another_device(
    corpus: Corpus, tmp_path: Path, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    """One of a GPU goes on in its few shapes on a CPU; one of a CPU goes on as it began, without graphs."""
    careful = EVERYTHING.replace(learning_rate_factor=0.01)
    train(corpus, tmp_path / "cpu", careful.replace(steps=3))
    request.getfixturevalue("with_graphs")
    whole = train(corpus, tmp_path / "whole", careful)
    train(corpus, tmp_path / "gpu", careful.replace(steps=3))
    with caplog.at_level(logging.WARNING):
        slow = train(corpus, tmp_path / "cpu", careful, resume=True)
    assert "training without CUDA graphs: this training began with batches of any width" in caplog.text
    assert not slow.progress.bucketed
    request.getfixturevalue("monkeypatch").undo()
    resumed = train(corpus, tmp_path / "gpu", careful, resume=True)
    assert resumed.progress.bucketed and resumed.progress.batch == whole.progress.batch
    torch.testing.assert_close(list(whole.model.parameters()), list(resumed.model.parameters()), atol=1e-4, rtol=1e-3)


@pytest.mark.usefixtures("with_graphs")
def test_what_cannot_be_captured_trains_anyway(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = train(corpus, tmp_path / "graphs", EVERYTHING)

    class Refusing(Replayed):
        def __call__(self, run: Run, warm_up: Run) -> Run:
            if Replayed.captures > 1:
                raise RuntimeError("operation not permitted when stream is capturing\nmore")
            return super().__call__(run, warm_up)

    Replayed.captures = 0
    monkeypatch.setattr(graphs, "GraphCapture", Refusing)
    with caplog.at_level(logging.WARNING):
        result = train(corpus, tmp_path / "refused", EVERYTHING)
    assert caplog.text.count("could not be captured: operation not permitted when stream is capturing") == 1
    assert same(weights_of(expected), weights_of(result))


@pytest.mark.usefixtures("with_graphs")
def test_why_there_are_no_graphs(corpus: Corpus, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    short = SHORT.replace(steps=1)
    with caplog.at_level(logging.WARNING):
        train(corpus, tmp_path / "again", short.replace(activation_checkpointing=True))
    assert "training without CUDA graphs: activation_checkpointing computes layers again" in caplog.text
    trainer = new_trainer(corpus, tmp_path / "hooks", short)
    with capture(trainer.model, "weights"), caplog.at_level(logging.WARNING):
        trainer.train()
    assert "training without CUDA graphs: the model has hooks" in caplog.text
    caplog.clear()
    train(corpus, tmp_path / "off", short.replace(cuda_graphs=False))
    assert not caplog.records and not Replayed.replays


@pytest.mark.parametrize("how", ["as_on_a_gpu", "with_graphs"])
def test_non_finite_step_is_undone(corpus: Corpus, tmp_path: Path, request: pytest.FixtureRequest, how: str) -> None:
    request.getfixturevalue(how)
    config = EVERYTHING.replace(log_every=6, steps=12)
    sound = train(corpus, tmp_path / "sound", config.replace(steps=3))
    broken = new_trainer(corpus, tmp_path / "broken", config)
    take = broken._step.take

    def taken(step: Any, rate: float, parts: Any) -> None:
        if broken.progress.step == 4:  # the fourth step's learning rate and batches are sound, its loss is not
            broken._step.inner.head_penalty.fill_(math.inf)
        take(step, rate, parts)

    broken._step.take = taken  # type: ignore[method-assign]
    with pytest.raises(TrainingFailed, match=r"step 4: loss (inf|nan).*failed-00000004"):
        broken.train()
    assert same(weights_of(sound), weights_of(broken))
    for parameter, value in sound.optimizer.state.items():
        assert all(bool(part.isfinite().all()) for part in value.values()), parameter
    for a, b in zip(sound.model.parameters(), broken.model.parameters(), strict=True):
        kept, result = sound.optimizer.state[a], broken.optimizer.state[b]
        assert all(torch.equal(kept[key], result[key]) for key in kept)
    report = json.loads((tmp_path / "broken" / "failed-00000004" / "report-0.json").read_text(encoding="utf-8"))
    assert report["step"] == "4" and len(report["batches"]) == 2
    (end,) = metrics(tmp_path / "broken")
    assert end["ended"].startswith("failed: step 4: loss ")


@pytest.mark.usefixtures("with_graphs")
def test_positions_grow_before_a_graph_reads_them(corpus: Corpus, tmp_path: Path) -> None:
    trainer = new_trainer(corpus, tmp_path, SHORT.replace(max_tokens=900, batch_tokens=1000))
    positions = trainer.model.positions
    assert isinstance(positions, SinusoidalPositions)
    before = len(positions.table)
    graphs.graphed(trainer._step, trainer.config, trainer.group, trainer._loader.widths)
    assert before < trainer._loader.widths[-1] <= len(positions.table)
