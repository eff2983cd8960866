"""Saved training states: everything comes back, nothing half-written survives, and averages by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.core.tiny import inputs_for, tiny_model
from transformer_core.config import TrainingConfig
from transformer_core.model.transformer import Transformer
from transformer_core.training import state
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.state import Progress, StateError, average_weights, load_state, save_state


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
        assert torch.equal(a, b)
        assert set(optimizer.state[a]) == set(new.state[b])
        for key, value in optimizer.state[a].items():
            assert torch.equal(value, new.state[b][key])


def test_files_are_float32_safetensors_and_json(tmp_path: Path, model: Transformer, optimizer: Optimizer) -> None:
    folder = save_state(tmp_path, model, optimizer, Progress(step=2), keep=1)
    assert names(folder) == ["model.safetensors", "optimizer.safetensors", "state.json"]
    weights = load_file(folder / "model.safetensors")
    assert {name: w.dtype for name, w in weights.items()} == dict.fromkeys(model.state_dict(), torch.float32)
    assert json.loads((folder / "state.json").read_text())["step"] == 2


@pytest.mark.parametrize("failing", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_save_that_fails_leaves_the_old_states(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    failing: str,
    error: BaseException,
    model: Transformer,
    optimizer: Optimizer,
) -> None:
    old = save_state(tmp_path, model, optimizer, Progress(step=1), keep=1)
    before = {path.name: path.read_bytes() for path in old.iterdir()}

    def failing_save(path: Path, tensors: dict[str, torch.Tensor]) -> None:
        path.write_bytes(b"half of it")
        if path.name == failing:
            raise error
        save_file(tensors, path)

    def failing_json(path: Path, value: object) -> None:
        path.write_text("{", encoding="utf-8")
        raise error

    monkeypatch.setattr(state, "save_tensors", failing_save)
    if failing == "state.json":
        monkeypatch.setattr(state, "write_json", failing_json)
    for step in (1, 2):  # the same step again, and a later one
        with pytest.raises(type(error)):
            save_state(tmp_path, model, optimizer, Progress(step=step), keep=1)
    assert names(tmp_path) == ["step-00000001"]
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before
    other = tiny_model(seed=9)
    assert load_state(old, other, Optimizer(other, TrainingConfig())) == Progress(step=1)


@pytest.mark.parametrize("file", ["model.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_a_damaged_state_is_named(
    tmp_path: Path, file: str, damage: str, model: Transformer, optimizer: Optimizer
) -> None:
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


def test_a_state_whose_place_in_the_data_means_something_else(
    tmp_path: Path, model: Transformer, optimizer: Optimizer
) -> None:
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
