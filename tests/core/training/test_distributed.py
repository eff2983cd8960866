"""Several processes train as one does: two Gloo processes on the CPU against one with twice the accumulation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.core.training.runs import SHORT, metrics, new_trainer, same, train, updates
from tests.core.training.together import Scenario, train_together
from transformer_core.config import ConfigError, TrainingConfig
from transformer_core.data import Corpus, plan_epoch
from transformer_core.training import objective
from transformer_core.training.distributed import ProcessGroup, join_process_group, local_device
from transformer_core.training.snapshots import load_snapshot, snapshot_files
from transformer_core.training.state import step_folders

# 9 batches an epoch: two updates of 2 x 2 batches, and one of a single batch.
ODD = SHORT.replace(batch_tokens=900, accumulate=2, steps=5, checkpoint_every=2, snapshots=2, snapshots_from=1)
ALIKE = {"replicated": ODD, "sharded": ODD.replace(parallel="fsdp")}
MUON = ODD.replace(optimizer="muon", checkpoint_every=1000)
STATES = ("model.safetensors", "optimizer.safetensors")


@pytest.fixture(scope="module")
def trained(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that two processes do in these tests, so that they are started once."""
    folder = tmp_path_factory.mktemp("together")
    scenarios: list[Scenario] = []
    for run, config in ALIKE.items():
        scenarios += [(run, config, 0.0, False), (f"stopped-{run}", config, 0.0, False)]
        patient = config.replace(validate_every=1, patience=2)
        scenarios += [(f"patient-{run}", patient.replace(steps=3), 0.0, False), (f"patient-{run}", patient, 0.0, True)]
    scenarios += [("muon", MUON, 0.3, False), ("undivided-muon", MUON, 0.3, False)]
    scenarios += [("broken-muon", MUON.replace(steps=3), 0.3, False), ("broken-muon", MUON, 0.3, True)]
    train_together(2, corpus.folder, folder, scenarios)
    return folder


def saved(run: Path, file: str, step: int = -1) -> dict[str, torch.Tensor]:
    return load_file(step_folders(run)[step] / file)


def undrawn(run: Path, file: str) -> dict[str, torch.Tensor]:
    """Leave out states of random numbers, of which each process has its own."""
    return {name: tensor for name, tensor in saved(run, file).items() if "random" not in name}


@pytest.mark.parametrize("run", ALIKE)
@pytest.mark.process
def test_two_processes_equal_double_accumulation(corpus: Corpus, trained: Path, tmp_path: Path, run: str) -> None:
    batches = len(plan_epoch(corpus.lengths, ODD.batch_tokens, ODD.max_tokens, ODD.seed, 0))
    assert batches == 9
    new_trainer(corpus, tmp_path, ODD.replace(accumulate=4)).train()
    for file in STATES:
        torch.testing.assert_close(undrawn(trained / run, file), undrawn(tmp_path, file), atol=1e-5, rtol=1e-4)
    lines, expected = updates(trained / run), updates(tmp_path)
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]  # only one process writes
    for line, other in zip(lines, expected, strict=True):
        for key in ("loss", "nll", "gradient_norm", "target_tokens", "epoch"):
            assert line[key] == pytest.approx(other[key], rel=1e-4)
    state, other_state = (
        json.loads((step_folders(r)[-1] / "state.json").read_text()) for r in (trained / run, tmp_path)
    )
    assert (state["epoch"], state["batch"]) == (other_state["epoch"], other_state["batch"]) != (0, 0)
    kept, others = snapshot_files(trained / run), snapshot_files(tmp_path)
    assert list(kept) == list(others) == [0, 1, 5]
    for step, moment in kept.items():
        torch.testing.assert_close(load_snapshot(moment), load_snapshot(others[step]), atol=1e-3, rtol=1e-3)  # float16


@pytest.mark.parametrize("other", ["undivided-muon", "broken-muon"])
@pytest.mark.process
def test_divided_among_processes_muon_does_what_each_would_do_alone(trained: Path, other: str) -> None:
    """Bit for bit; also where the training was broken off, when no process knew all that is remembered."""
    for file in STATES:
        divided, alone = (saved(trained / run, file) for run in ("muon", other))
        assert same(divided, alone)
    assert any(name.startswith("momentum_buffer") and tensor.any() for name, tensor in divided.items())


@pytest.mark.slow
@pytest.mark.parametrize("run", ALIKE)
@pytest.mark.process
def test_a_resumed_training_of_two_processes_is_bit_equal(corpus: Corpus, tmp_path: Path, run: str) -> None:
    """With dropout, which every process draws for itself."""
    first, second = ALIKE[run].replace(steps=3), ALIKE[run]
    runs: list[Scenario] = [
        ("unbroken", second, 0.3, False),
        ("broken", first, 0.3, False),
        ("broken", second, 0.3, True),
    ]
    train_together(2, corpus.folder, tmp_path, runs)
    for file in STATES:
        unbroken, broken = (saved(tmp_path / how, file) for how in ("unbroken", "broken"))
        assert same(unbroken, broken)
    states = saved(tmp_path / "unbroken", STATES[1])
    assert not torch.equal(states["random.cpu"], states["random.cpu.1"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [{"parallel": "fsdp", "activation_checkpointing": True}, {"activation_checkpointing": True}, {"compile": True}],
)
@pytest.mark.process
def test_together_with_recomputing_and_compiling(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(objective, "_BACKEND", "eager")
    config = ODD.replace(**options, steps=3)
    new_trainer(corpus, tmp_path / "one", config.replace(accumulate=4, parallel="ddp")).train()
    train_together(2, corpus.folder, tmp_path, [("two", config, 0.0, False)])
    for file in STATES:
        one, two = (undrawn(tmp_path / run, file) for run in ("one", "two"))
        torch.testing.assert_close(two, one, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("run", ALIKE)
@pytest.mark.process
def test_saved_by_two_processes_resumed_by_one(corpus: Corpus, trained: Path, tmp_path: Path, run: str) -> None:
    one = train(corpus, tmp_path / "one", ODD.replace(accumulate=4))
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "step-00000002").symlink_to(step_folders(trained / run)[0])
    resumed = new_trainer(corpus, tmp_path / "two", ODD.replace(accumulate=4), resume=True)
    assert resumed.progress.step == 2
    resumed.train()
    torch.testing.assert_close(list(one.model.parameters()), list(resumed.model.parameters()), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("run", ALIKE)
@pytest.mark.process
def test_a_signal_to_one_process_stops_all_at_the_same_step(trained: Path, run: str) -> None:
    assert [(trained / f"stopped-{run}.{rank}").read_text() for rank in (0, 1)] == ["3", "3"]
    assert [folder.name for folder in step_folders(trained / f"stopped-{run}")][-1] == "step-00000003"
    *lines, end = metrics(trained / f"stopped-{run}")
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert end == {"step": 3, "ended": "stopped"}


@pytest.mark.parametrize("run", ALIKE)
@pytest.mark.process
def test_all_processes_end_early_at_the_same_step(trained: Path, run: str) -> None:
    """The patience goes on over a resume; the best step has the whole weights of a training without validation."""
    patient = trained / f"patient-{run}"
    assert [(trained / f"patient-{run}.{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    assert [folder.name for folder in patient.glob("best-*")] == ["best-00000002"]
    best, plain = load_file(patient / "best-00000002" / "model.safetensors"), saved(trained / run, STATES[0], 0)
    torch.testing.assert_close(best, plain)
    assert metrics(patient)[-1]["ended"].startswith("early stopping: 2 validations")


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("items", range(1, 12))
def test_every_batch_counts_once_and_all_run_equally_many(size: int, items: int) -> None:
    shares = [ProcessGroup(rank, size).share(range(items)) for rank in range(size)]
    assert sorted(item for share in shares for item, counts in share if counts) == list(range(items))
    assert {len(share) for share in shares} == {-(-items // size)}


def test_without_torchrun_there_is_a_team_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RANK", raising=False)
    with join_process_group(torch.device("cpu")) as group:
        assert (group.rank, group.size, group.is_main) == (0, 1, True)
        assert group.sum(1, 2.5) == [1, 2.5]
        assert group.any(True, False) == [True, False]
    assert local_device("cuda") == "cuda"


def test_half_an_environment_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "2"), ("LOCAL_RANK", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    monkeypatch.delenv("MASTER_PORT", raising=False)
    assert local_device("cuda") == "cuda:1"
    with (
        pytest.raises(ConfigError, match="not MASTER_ADDR and MASTER_PORT; start with torchrun"),
        join_process_group(torch.device("cpu")),
    ):
        pass


def test_sharding_needs_torchrun(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="parallel is 'fsdp', but torchrun did not start"):
        new_trainer(corpus, tmp_path, SHORT.replace(parallel="fsdp"))
    with pytest.raises(ConfigError, match="parallel is 'both', but must be ddp or fsdp"):
        TrainingConfig(parallel="both")  # type: ignore[arg-type]
