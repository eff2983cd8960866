"""Saved states, snapshots and failures of a training: all comes back, nothing half-written; averages by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.core.tiny import SPECIAL, inputs_for, sentence_pairs, tiny_model
from tests.core.training.runs import SHORT, new_trainer, same, updates, weights_of
from transformer_core import TrainingConfig, Transformer
from transformer_core.config import ConfigError
from transformer_core.data import Corpus, make_batch
from transformer_core.text.tokenizer import Tokenizer
from transformer_core.training.failures import save_failure
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.snapshots import load_snapshot, snapshot_file, snapshot_files, snapshot_steps
from transformer_core.training.state import Progress, StateError, average_weights, load_state, save_state, step_folders


@pytest.fixture
def optimizer(model: Transformer) -> Optimizer:
    """Adam after two steps of the model."""
    optimizer = Optimizer(model, TrainingConfig())
    optimizer.rate.fill_(1e-3)
    for _ in range(2):
        model(*inputs_for([5, 3], 4)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return optimizer


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_everything_comes_back(tmp_path: Path, model: Transformer, optimizer: Optimizer) -> None:
    progress = Progress(step=2, epoch=1, batch=7, target_tokens=99, seconds=1.5)
    folder = save_state(tmp_path, model, optimizer, progress, keep=5)
    drawn = torch.rand(3)

    other = tiny_model(seed=9)
    new = Optimizer(other, TrainingConfig())
    assert load_state(folder, other, new) == progress
    assert torch.equal(torch.rand(3), drawn)
    for a, b in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b) and same(optimizer.state[a], new.state[b])


def test_files_are_float32_safetensors_and_json(tmp_path: Path, model: Transformer, optimizer: Optimizer) -> None:
    folder = save_state(tmp_path, model, optimizer, Progress(step=2), keep=1)
    assert names(folder) == ["model.safetensors", "optimizer.safetensors", "state.json"]
    weights = load_file(folder / "model.safetensors")
    assert {name: w.dtype for name, w in weights.items()} == dict.fromkeys(model.state_dict(), torch.float32)
    assert json.loads((folder / "state.json").read_text())["step"] == 2


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_damaged_state_named(tmp_path: Path, file: str, damage: str, model: Transformer, optimizer: Optimizer) -> None:
    folder = save_state(tmp_path, model, optimizer, Progress(step=3), keep=1)
    path = folder / file
    contents = path.read_bytes()
    path.unlink() if damage == "missing" else path.write_bytes(
        contents[: len(contents) // 2] if damage == "cut" else b""
    )
    with pytest.raises(StateError, match="step-00000003"):
        load_state(folder, model, optimizer)


def test_a_state_of_another_model_or_format(tmp_path: Path, model: Transformer, optimizer: Optimizer) -> None:
    folder = save_state(tmp_path, model, optimizer, Progress(step=3), keep=1)
    other = tiny_model(d_ff=8)
    with pytest.raises(StateError, match=r"does not fit this model.*feed_forward"):
        load_state(folder, other, Optimizer(other, TrainingConfig()))
    values = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**values, "version": 99}))
    with pytest.raises(StateError, match="does not have format version 1"):
        load_state(folder, model, Optimizer(model, TrainingConfig()))


def test_state_of_another_data_plan_is_refused(tmp_path: Path, model: Transformer, optimizer: Optimizer) -> None:
    folder = save_state(tmp_path, model, optimizer, Progress(step=3, batch=5), keep=1)
    values = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**values, "plan": 99}))
    with pytest.raises(StateError, match=r"step-00000003 .*plan 99, here 1.*--init-from"):
        load_state(folder, model, optimizer)
    del values["plan"]  # as saved before plans had numbers
    (folder / "state.json").write_text(json.dumps(values))
    assert load_state(folder, model, optimizer).batch == 5


def saved_weights(folder: Path, **weights: list[float]) -> Path:
    folder.mkdir()
    save_file({name: torch.tensor(values) for name, values in weights.items()}, folder / "model.safetensors")
    return folder


def test_average_by_hand(tmp_path: Path) -> None:
    folders = [
        saved_weights(tmp_path / "a", w=[1.0, 2.0], v=[0.0]),
        saved_weights(tmp_path / "b", w=[4.0, 2.0], v=[-3.0]),
        saved_weights(tmp_path / "c", w=[1.0, 5.0], v=[9.0]),
    ]
    mean = average_weights(folders)
    assert {name: tensor.tolist() for name, tensor in mean.items()} == {"w": [2.0, 3.0], "v": [2.0]}
    assert mean["w"].dtype == torch.float32
    assert average_weights(folders[:1])["v"].tolist() == [0.0]


def test_average_of_what_cannot_be_averaged(tmp_path: Path) -> None:
    one = saved_weights(tmp_path / "one", w=[1.0, 2.0])
    with pytest.raises(StateError, match="other has another model than"):
        average_weights([one, saved_weights(tmp_path / "other", w=[1.0])])
    with pytest.raises(StateError, match="named has another model than"):
        average_weights([one, saved_weights(tmp_path / "named", v=[1.0, 2.0])])
    with pytest.raises(StateError, match=r"cannot read the weights in .*gone"):
        average_weights([one, tmp_path / "gone"])
    with pytest.raises(StateError, match="no saved steps"):
        average_weights([])


def test_each_side_is_written_with_its_own_vocabulary(tmp_path: Path) -> None:
    sources, targets = zip(*sentence_pairs(), strict=True)
    target = Tokenizer.train(targets, 140, threads=1)
    both = Tokenizer(target.model, Tokenizer.train(sources, 120, threads=1).model)
    ids = both.source.encode_batch(sources[:3]), both.encode_batch(targets[:3])
    folder = save_failure(tmp_path, [make_batch(*ids, SPECIAL)], [float("inf")], {"step": 7}, both, rank=1)
    assert sorted(path.name for path in folder.iterdir()) == ["batches-1.safetensors", "report-1.json"]
    report = json.loads((folder / "report-1.json").read_text(encoding="utf-8"))
    assert report == {"step": "7", "batches": [{"loss": "inf", "pairs": [list(pair) for pair in sentence_pairs()[:3]]}]}


KEPT = SHORT.replace(snapshots=3, snapshots_from=1, checkpoint_every=2, keep_checkpoints=1)


@pytest.mark.parametrize(
    ("count", "first", "last", "expected"),
    [
        (0, 100, 3000, ()),
        (1, 100, 3000, (0, 3000)),
        (2, 100, 3000, (0, 100, 3000)),
        (3, 100, 10_000, (0, 100, 1_000, 10_000)),
        (5, 1, 16, (0, 1, 2, 4, 8, 16)),
        (9, 1, 4, (0, 1, 2, 3, 4)),  # 1, 1.2, 1.4, 1.7, 2, 2.4, 2.8, 3.4, 4: closer than one step
        (4, 100, 50, (0, 50)),
    ],
)
def test_snapshots_are_spaced_geometrically(count: int, first: int, last: int, expected: tuple[int, ...]) -> None:
    assert snapshot_steps(count, first, last) == expected


def test_unusable_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="snapshots is -1"):
        TrainingConfig(snapshots=-1)
    with pytest.raises(ConfigError, match="snapshots_from is 0"):
        TrainingConfig(snapshots_from=0)


def test_snapshots_leave_training_unchanged(corpus: Corpus, tmp_path: Path, straight: dict[str, torch.Tensor]) -> None:
    kept = new_trainer(corpus, tmp_path / "kept", KEPT.replace(log_every=100), dropout=0.3)
    first = weights_of(kept)
    kept.train()
    assert same(straight, weights_of(kept))
    assert [folder.name for folder in step_folders(tmp_path / "kept")] == ["step-00000006"]
    snapshots = snapshot_files(tmp_path / "kept")
    assert list(snapshots) == [0, 1, 2, 6]  # sqrt(6) = 2.4
    # The journal tells of every one of them, whatever log_every is.
    assert [line["step"] for line in updates(tmp_path / "kept")] == [1, 2, 6]
    for weights, step in ((first, 0), (weights_of(kept), 6)):
        assert same(load_snapshot(snapshots[step]), {name: tensor.half() for name, tensor in weights.items()})


def test_resuming_gives_the_same_snapshots(corpus: Corpus, tmp_path: Path) -> None:
    new_trainer(corpus, tmp_path / "straight", KEPT, dropout=0.3).train()
    run = tmp_path / "stopped"
    stopped = new_trainer(corpus, run, KEPT, dropout=0.3)
    stopped.config = KEPT.replace(steps=4)  # it ends early, with the snapshots of the whole
    stopped.train()
    # It lived on after its last save, then was killed while it wrote.
    snapshot_file(run, 6).write_bytes(b"half")
    (run / "moments" / ".step-00000006.safetensors.4711.partial").write_bytes(b"half")
    resumed = new_trainer(corpus, run, KEPT, dropout=0.3, resume=True)
    assert list(snapshot_files(run)) == [0, 1, 2]
    resumed.train()
    names = sorted(file.name for file in (tmp_path / "straight" / "moments").iterdir())
    assert names == sorted(file.name for file in (run / "moments").iterdir())
    for name in names:
        assert (run / "moments" / name).read_bytes() == (tmp_path / "straight" / "moments" / name).read_bytes(), name


def test_weights_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    file = tmp_path / "step-00000001.safetensors"
    file.write_bytes(b"no weights")
    with pytest.raises(StateError, match="cannot read the weights"):
        load_snapshot(file)
    save_file({"w": torch.tensor([1.0, float("inf")], dtype=torch.float16)}, file)
    with pytest.raises(StateError, match="w has values that float16 cannot hold"):
        load_snapshot(file)
