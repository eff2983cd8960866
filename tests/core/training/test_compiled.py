"""Training a compiled model: few shapes, the same numbers, plain names."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from tests.core.training.runs import SHORT, new_model, new_trainer, train, updates
from transformer_core import ConfigError, TrainingConfig, Transformer
from transformer_core.data import Corpus, bucket_widths, plan_epoch
from transformer_core.data.plan import Plan
from transformer_core.training import objective
from transformer_core.training.state import step_folders
from transformer_core.training.trainer import Trainer

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("fresh_compiler")]
COMPILED = SHORT.replace(compile=True, batch_tokens=600, steps=8)


def test_compiled_training_equals_uncompiled(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._dynamo.testing import CompileCounter

    counter = CompileCounter()
    monkeypatch.setattr(objective, "_BACKEND", counter)
    fast = train(corpus, tmp_path / "fast", COMPILED)
    shapes = {tuple(fast._loader.batch(pairs).source.shape) for pairs in _plan(corpus)}
    assert 1 <= counter.frame_count <= len(shapes) <= len(bucket_widths(40))
    assert counter.op_count > 100  # the whole model, not a part of it
    monkeypatch.setattr(objective, "_BACKEND", "eager")
    with torch.compiler.set_stance("force_eager"):
        plain = train(corpus, tmp_path / "plain", COMPILED)
    torch.testing.assert_close(list(fast.model.parameters()), list(plain.model.parameters()), atol=1e-5, rtol=1e-4)
    for one, other in zip(updates(tmp_path / "fast"), updates(tmp_path / "plain"), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
    names = set(load_file(step_folders(tmp_path / "fast")[-1] / "model.safetensors"))
    assert names == set(new_model(corpus).state_dict())


@pytest.mark.slow
def test_the_head_penalty_is_compiled_around(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its weights leave the compiled graph at each hook point, and their gradients come back."""
    monkeypatch.setattr(objective, "_BACKEND", "eager")
    penalised = COMPILED.replace(
        steps=2, head_penalty=5.0, head_penalty_start=0, head_penalty_full=1, learning_rate_factor=0.01
    )
    fast = train(corpus, tmp_path / "fast", penalised)
    with torch.compiler.set_stance("force_eager"):
        plain = train(corpus, tmp_path / "plain", penalised)
    for one, other in zip(updates(tmp_path / "fast"), updates(tmp_path / "plain"), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
    without = train(corpus, tmp_path / "without", penalised.replace(head_penalty=0.0, compile=False, steps=1))
    assert updates(tmp_path / "fast")[0]["loss"] > updates(tmp_path / "without")[0]["loss"] + 0.05
    assert not without.progress.bucketed
    torch.testing.assert_close(list(fast.model.parameters()), list(plain.model.parameters()), atol=1e-5, rtol=1e-4)


def _plan(corpus: Corpus) -> Plan:
    widths = bucket_widths(COMPILED.max_tokens + 1)
    return plan_epoch(corpus.lengths, COMPILED.batch_tokens, COMPILED.max_tokens, COMPILED.seed, 0, widths)


def test_batches_of_a_compiled_training_hold_every_pair_once_in_few_shapes(corpus: Corpus, tmp_path: Path) -> None:
    trainer = new_trainer(corpus, tmp_path, COMPILED)
    batches = [trainer._loader.batch(pairs) for pairs in _plan(corpus)]
    seen = [
        (tuple(s[s > 2].tolist()), tuple(t[t > 2].tolist()))
        for batch in batches
        for s, t in zip(batch.source, batch.outputs, strict=True)
        if bool((t > 0).any())  # rows that fill the batch up have nothing to produce
    ]
    expected = [tuple(tuple(side.tolist()) for side in corpus.pair(i)) for i in range(len(corpus))]
    assert sorted(seen) == sorted(expected)
    for batch in batches:
        assert batch.source.shape == batch.inputs.shape == batch.outputs.shape
        rows, width = batch.source.shape
        assert width in bucket_widths(COMPILED.max_tokens + 1)
        assert rows == COMPILED.batch_tokens // width


def test_batches_are_no_wider_than_the_positions_that_were_learned(corpus: Corpus, tmp_path: Path) -> None:
    config = COMPILED.replace(max_tokens=40)
    model = Transformer(new_model(corpus).config.replace(positions="learned", max_positions=41))
    reader = Trainer(model, corpus, config, tmp_path)._loader
    assert (reader.widths[-2:], bucket_widths(41)[-2:]) == ([40, 41], [40, 48])


@pytest.mark.slow
def test_compiled_with_the_real_compiler(corpus: Corpus, tmp_path: Path) -> None:
    train(corpus, tmp_path / "fast", COMPILED.replace(steps=2))
    torch._dynamo.reset()
    with torch.compiler.set_stance("force_eager"):
        train(corpus, tmp_path / "plain", COMPILED.replace(steps=2))
    for one, other in zip(updates(tmp_path / "fast"), updates(tmp_path / "plain"), strict=True):
        assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)


@pytest.mark.parametrize("other", [{"activation_checkpointing": True}, {"parallel": "fsdp"}])
def test_what_does_not_go_together(other: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="compile is True, but must be false with activation_checkpointing"):
        TrainingConfig.from_dict({"compile": True, **other})
    with pytest.raises(ConfigError, match="compile is 1, but must be true or false"):
        TrainingConfig.from_dict({"compile": 1})
