"""Snapshots of a training: at which steps, what they hold, and that they change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.core.training.runs import SHORT, new_trainer, same, updates, weights_of
from transformer_core.config import ConfigError, TrainingConfig
from transformer_core.data import Corpus
from transformer_core.training.snapshots import load_snapshot, snapshot_file, snapshot_files, snapshot_steps
from transformer_core.training.state import StateError, step_folders

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


def test_training_is_the_same_with_snapshots_and_without(
    corpus: Corpus, tmp_path: Path, straight: dict[str, torch.Tensor]
) -> None:
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
