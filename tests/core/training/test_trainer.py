"""The loop: updates by hand, accumulation, exact resume, clean stops, loud stops."""

from __future__ import annotations

import json
import math
import os
import signal
import threading
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import Tensor, nn

from tests.core.tiny import sentence_pairs
from tests.core.training.runs import SHORT, metrics, new_model, new_trainer, same, train, updates, weights_of
from transformer_core.data import Batch, Corpus, plan_epoch
from transformer_core.model.masks import padding_mask
from transformer_core.training import batch_loader, failures, objective, trainer, validation
from transformer_core.training.failures import TrainingFailed
from transformer_core.training.schedule import learning_rate
from transformer_core.training.state import StateError, step_folders
from transformer_core.training.validation import ValidationSet

Weights = dict[str, Tensor]


def stop_after(monkeypatch: pytest.MonkeyPatch, updates: int, number: signal.Signals = signal.SIGTERM) -> None:
    """Send this process a signal while it computes the loss of a batch."""
    calls = 0
    original = validation.batch_loss

    def counted(*args: object, **kwargs: object) -> object:
        nonlocal calls
        calls += 1
        if calls == updates:
            os.kill(os.getpid(), number)
        return original(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(objective, "batch_loss", counted)


# --- updates ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", ["others", "uniform"])
def test_updates_against_plain_torch(smoothing: str, corpus: Corpus, tmp_path: Path) -> None:
    """Three updates, written out: mean of torch's cross-entropy per token, torch's Adam, the paper's rate."""
    config = SHORT.replace(steps=3, smoothing=smoothing)
    trained = train(corpus, tmp_path, config)
    model = new_model(corpus)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    vocabulary = len(corpus.tokenizer)
    epsilon = 0.1 if smoothing == "uniform" else 0.1 * vocabulary / (vocabulary - 1)
    plan = plan_epoch(corpus.lengths, config.batch_tokens, config.max_tokens, config.seed, 0)
    lines = updates(tmp_path)
    for step in (1, 2, 3):
        batch = corpus.batch(plan[step - 1])
        logits = model(batch.source, batch.inputs, padding_mask(batch.source, 0)).flatten(0, 1)
        targets = batch.outputs.flatten()
        loss = F.cross_entropy(logits, targets, ignore_index=0, label_smoothing=epsilon)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        norm = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()
        rate = learning_rate(step, d_model=16, warmup_steps=10)
        optimizer.param_groups[0]["lr"] = rate
        optimizer.step()
        line = lines[step - 1]
        assert line["loss"] == pytest.approx(float(loss.detach()), rel=1e-4)
        assert line["nll"] == pytest.approx(float(F.cross_entropy(logits, targets, ignore_index=0).detach()), rel=1e-4)
        assert line["gradient_norm"] == pytest.approx(float(norm), rel=1e-4)
        assert line["learning_rate"] == rate
        assert line["tokens_per_second"] > 0
    assert lines[2]["target_tokens"] == sum(int(corpus.lengths[b, 1].sum()) + len(b) for b in plan[:3])
    torch.testing.assert_close(list(trained.model.parameters()), list(model.parameters()), atol=1e-5, rtol=1e-4)


def halved(lengths: npt.NDArray[np.int64], *_: object) -> list[npt.NDArray[np.int64]]:
    """A plan of half batches: of the first 8 pairs, the next 8, and so on, two halves each."""
    return [np.arange(start, start + 4) for start in range(0, len(lengths), 4)]


def whole(lengths: npt.NDArray[np.int64], *_: object) -> list[npt.NDArray[np.int64]]:
    return [np.arange(start, start + 8) for start in range(0, len(lengths), 8)]


def test_the_rate_falls_to_nothing_over_the_last_updates(corpus: Corpus, tmp_path: Path) -> None:
    """A training that goes on for longer than was planned cools down at its new end."""
    new_trainer(corpus, tmp_path, SHORT.replace(steps=3)).train()
    longer = SHORT.replace(steps=8, cooldown_steps=3)
    new_trainer(corpus, tmp_path, longer, resume=True).train()
    shares = (1, 1, 1, 1, 1, 3 / 4, 2 / 4, 1 / 4)
    expected = [learning_rate(n, d_model=16, warmup_steps=10) * share for n, share in enumerate(shares, start=1)]
    assert [line["learning_rate"] for line in updates(tmp_path)] == pytest.approx(expected)


def test_two_half_batches_are_one_whole_batch(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_loader, "plan_epoch", halved)
    halves = train(corpus, tmp_path / "halves", SHORT.replace(accumulate=2))
    monkeypatch.setattr(batch_loader, "plan_epoch", whole)
    one = train(corpus, tmp_path / "one")
    torch.testing.assert_close(list(halves.model.parameters()), list(one.model.parameters()), atol=1e-5, rtol=1e-4)
    for a_line, b_line in zip(updates(tmp_path / "halves"), updates(tmp_path / "one"), strict=True):
        for key in ("loss", "nll", "gradient_norm", "target_tokens"):
            assert a_line[key] == pytest.approx(b_line[key], rel=1e-4)


def test_gradients_are_clipped_only_when_asked(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    original = torch.nn.utils.clip_grad_norm_

    def noted(parameters: object, limit: float) -> Tensor:
        limits.append(limit)
        return original(parameters, limit)  # type: ignore[arg-type]

    monkeypatch.setattr(torch.nn.utils, "clip_grad_norm_", noted)
    new_trainer(corpus, tmp_path / "free", SHORT.replace(steps=1)).train()
    new_trainer(corpus, tmp_path / "clipped", SHORT.replace(steps=1, max_gradient_norm=0.5)).train()
    assert limits == [0.5]


def test_each_epoch_uses_every_pair_once(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = len(plan_epoch(corpus.lengths, 1000, 256, 3, 0))
    used: list[Batch] = []
    original = validation.batch_loss

    def noted(model: object, batch: Batch, **kwargs: object) -> object:
        used.append(batch)
        return original(model, batch, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(objective, "batch_loss", noted)
    progress = new_trainer(corpus, tmp_path, SHORT.replace(batch_tokens=1000, steps=batches + 1)).train()
    assert (progress.epoch, progress.batch) == (1, 1)
    pairs = {
        (tuple(s[s > 2].tolist()), tuple(t[t > 2].tolist()))
        for batch in used[:batches]
        for s, t in zip(batch.source, batch.outputs, strict=True)
    }
    assert len(pairs) == len(corpus) == sum(len(batch.source) for batch in used[:batches])


# --- resume -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("stop", [1, 4])
def test_a_resumed_run_equals_an_uninterrupted_one(corpus: Corpus, tmp_path: Path, precision: str, stop: int) -> None:
    """With dropout on and over the end of an epoch, bit for bit."""
    config = SHORT.replace(batch_tokens=2500, precision=precision, steps=8)
    assert len(plan_epoch(corpus.lengths, 2500, 256, 3, 0)) < 8  # the run passes the end of an epoch
    straight = train(corpus, tmp_path / "straight", config, dropout=0.3)
    new_trainer(corpus, tmp_path / "broken", config.replace(steps=stop), dropout=0.3).train()
    torch.manual_seed(12345)  # another process stands elsewhere
    resumed = new_trainer(corpus, tmp_path / "broken", config, dropout=0.3, resume=True)
    assert resumed.progress.step == stop
    resumed.train()
    assert same(weights_of(straight), weights_of(resumed))
    lines = [
        [(line["step"], line["loss"], line["nll"], line["epoch"]) for line in updates(tmp_path / run)]
        for run in ("straight", "broken")
    ]
    assert lines[0] == lines[1]
    unlike = train(corpus, tmp_path / "unlike", config.replace(seed=4), dropout=0.3)
    assert not same(weights_of(straight), weights_of(unlike))


def test_validation_between_updates_changes_nothing(corpus: Corpus, tmp_path: Path, straight: Weights) -> None:
    data = ValidationSet("everyday", sentence_pairs()[:5])
    watched = train(corpus, tmp_path / "watched", SHORT.replace(validate_every=2), dropout=0.3, validation=(data,))
    assert same(straight, weights_of(watched))
    seen = [line for line in metrics(tmp_path / "watched") if "validation" in line]
    assert [line["step"] for line in seen] == [2, 4, 6]
    scores = seen[-1]["validation"]["everyday"]
    assert scores["perplexity"] == pytest.approx(math.exp(scores["nll"]))
    assert 0 <= scores["bleu"] <= 100
    assert watched.model.training


def test_a_resumed_run_forgets_the_lines_that_it_writes_again(corpus: Corpus, tmp_path: Path) -> None:
    config = SHORT.replace(checkpoint_every=2)
    new_trainer(corpus, tmp_path, config.replace(steps=4)).train()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"step": 5, "loss": 1.0}\n{"step": 6, "lo')  # lived on after the save, then was killed
    new_trainer(corpus, tmp_path, config, resume=True).train()
    steps = [line["step"] for line in updates(tmp_path)]
    assert steps == [1, 2, 3, 4, 5, 6]


def test_resuming_nothing_starts_anew_and_a_finished_training_does_nothing_more(corpus: Corpus, tmp_path: Path) -> None:
    done = new_trainer(corpus, tmp_path, resume=True)
    assert done.train().step == 6
    again = new_trainer(corpus, tmp_path, resume=True)
    assert again.train().step == 6
    assert same(weights_of(done), weights_of(again))


def test_a_training_is_not_overwritten(corpus: Corpus, tmp_path: Path) -> None:
    new_trainer(corpus, tmp_path, SHORT.replace(steps=2)).train()
    before = (tmp_path / "metrics.jsonl").read_bytes()
    with pytest.raises(StateError, match="already has a training"):
        new_trainer(corpus, tmp_path)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    assert [folder.name for folder in step_folders(tmp_path)] == ["step-00000002"]


# --- checkpoints ------------------------------------------------------------------------------------------------------


def test_checkpoints_by_step_keep_the_newest(corpus: Corpus, tmp_path: Path) -> None:
    new_trainer(corpus, tmp_path, SHORT.replace(steps=7, checkpoint_every=2, keep_checkpoints=3)).train()
    assert [folder.name for folder in step_folders(tmp_path)] == [f"step-{n:08d}" for n in (4, 6, 7)]


def test_what_a_killed_save_left_behind_is_removed(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / ".step-00000003.4711.partial").mkdir(parents=True)
    (tmp_path / "notes.partial").mkdir()
    new_trainer(corpus, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.partial"]


def test_checkpoints_by_time(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 10.0  # each look at the clock takes ten seconds; an update looks three times
        return now

    monkeypatch.setattr("transformer_core.training.trainer.time.monotonic", clock)
    config = SHORT.replace(steps=7, checkpoint_every=0, checkpoint_minutes=1.0, keep_checkpoints=9)
    new_trainer(corpus, tmp_path, config).train()
    steps = [int(folder.name.removeprefix("step-")) for folder in step_folders(tmp_path)]
    # Looks at the clock: three in every update, one after every save, two before.
    assert steps == [3, 6, 7]


# --- stops ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_resumes(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, straight: Weights, number: signal.Signals
) -> None:
    handlers = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        stop_after(patch, 3, number)
        assert new_trainer(corpus, tmp_path / "run", dropout=0.3).train().step == 3
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == handlers
    assert [folder.name for folder in step_folders(tmp_path / "run")] == ["step-00000003"]
    resumed = new_trainer(corpus, tmp_path / "run", dropout=0.3, resume=True)
    assert resumed.train().step == 6
    assert same(straight, weights_of(resumed))


def test_training_in_another_thread(corpus: Corpus, tmp_path: Path) -> None:
    """Only the main thread can listen to signals; elsewhere training runs without them."""
    steps: list[int] = []
    thread = threading.Thread(target=lambda: steps.append(new_trainer(corpus, tmp_path).train().step))
    thread.start()
    thread.join(timeout=60)
    assert steps == [6]


def test_a_loss_that_is_no_number_stops_loudly(corpus: Corpus, tmp_path: Path) -> None:
    config = SHORT.replace(checkpoint_every=1)
    new_trainer(corpus, tmp_path, config.replace(steps=2)).train()
    broken = new_trainer(corpus, tmp_path, config, resume=True)
    with torch.no_grad():
        broken.model.embedding.weight[:, 0] = math.nan
    with pytest.raises(TrainingFailed, match=r"step 3: loss nan.*learning_rate_factor"):
        broken.train()
    # The last good state is still there, and nothing was saved over it.
    assert [folder.name for folder in step_folders(tmp_path)] == ["step-00000001", "step-00000002"]
    assert new_trainer(corpus, tmp_path, config, resume=True).train().step == 6


def test_non_finite_gradient_is_not_applied(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = new_trainer(corpus, tmp_path)
    before = weights_of(broken)

    def spoil(module: nn.Module, given: tuple[Tensor, ...], out: object) -> tuple[Tensor, ...]:
        return given[0] * math.inf, *given[1:]

    broken.model.decoder.layers[0].register_full_backward_hook(spoil)
    with pytest.raises(TrainingFailed, match=r"gradient norm (nan|inf)"):
        broken.train()
    assert same(before, weights_of(broken))


def test_the_batches_of_an_update_that_failed_are_saved(corpus: Corpus, tmp_path: Path) -> None:
    config = SHORT.replace(accumulate=2)
    broken = new_trainer(corpus, tmp_path, config)
    with torch.no_grad():
        broken.model.embedding.weight[:, 0] = math.inf
    with pytest.raises(TrainingFailed, match=r"the batches are in .*failed-00000001"):
        broken.train()
    folder = tmp_path / "failed-00000001"
    plan = plan_epoch(corpus.lengths, config.batch_tokens, config.max_tokens, config.seed, 0)
    tensors = load_file(folder / "batches-0.safetensors")
    report = json.loads((folder / "report-0.json").read_text(encoding="utf-8"))
    assert (report["step"], report["loss"]) == ("1", "nan")
    for number in (0, 1):
        batch = corpus.batch(plan[number])
        for part, ids in zip(("source", "inputs", "outputs"), batch.ids, strict=True):
            assert torch.equal(tensors[f"{number}.{part}"], ids)
        texts = [list(sentence_pairs()[index]) for index in plan[number]]
        assert report["batches"][number] == {"loss": "nan", "pairs": texts}
    assert not step_folders(tmp_path)


def test_a_plateau_stops_loudly(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (trainer, failures):
        monkeypatch.setattr(module, "PLATEAU_WINDOW", 3)
    stuck = SHORT.replace(steps=12, plateau_steps=5, plateau_loss=0.5, learning_rate_factor=1e-9)
    with pytest.raises(TrainingFailed, match=r"step 5: the loss is still \d.*plateau_loss.*0\.5.*learning_rate_factor"):
        new_trainer(corpus, tmp_path / "stuck", stuck).train()
    lines = updates(tmp_path / "stuck")
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    tokens = np.diff([line["target_tokens"] for line in lines[1:]])
    mean = float(np.average([line["nll"] for line in lines[2:]], weights=tokens))  # over the tokens of the last 3 steps
    new_trainer(corpus, tmp_path / "resumed", stuck.replace(steps=4)).train()
    with pytest.raises(TrainingFailed, match=f"step 5: the loss is still {mean:.2f}"):
        new_trainer(corpus, tmp_path / "resumed", stuck, resume=True).train()
    assert new_trainer(corpus, tmp_path / "off", stuck.replace(plateau_steps=0)).train().step == 12
    assert new_trainer(corpus, tmp_path / "low", stuck.replace(plateau_loss=50.0)).train().step == 12


def test_a_line_holds_the_mean_over_all_tokens_since_the_line_before(corpus: Corpus, tmp_path: Path) -> None:
    new_trainer(corpus, tmp_path / "each", SHORT.replace(log_every=1, steps=7)).train()
    new_trainer(corpus, tmp_path / "third", SHORT.replace(log_every=3, steps=7)).train()
    each = updates(tmp_path / "each")
    assert [line["step"] for line in updates(tmp_path / "third")] == [3, 6, 7]
    tokens = np.diff([0, *(line["target_tokens"] for line in each)])
    nll = np.array([line["nll"] for line in each])
    expected = [np.average(nll[part], weights=tokens[part]) for part in (slice(0, 3), slice(3, 6), slice(6, 7))]
    assert [line["mean_nll"] for line in updates(tmp_path / "third")] == pytest.approx(expected, rel=1e-6)
    resumed = SHORT.replace(log_every=3, steps=7)
    stopped = new_trainer(corpus, tmp_path / "resumed", resumed)
    stopped._stop_flag.requested = True
    while stopped.progress.step < 4:  # one step, a line after the third; then it is saved
        stopped.train()
    new_trainer(corpus, tmp_path / "resumed", resumed, resume=True).train()
    assert [line["mean_nll"] for line in updates(tmp_path / "resumed")] == pytest.approx(expected, rel=1e-6)
