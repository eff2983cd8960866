"""SIGKILL at each rename of a command that writes: the model loads, and the next command of its kind finishes."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.abuse.samples import SMALL
from transformer_core.checkpoint import CheckpointError, load_checkpoint
from transformer_core.cli.arguments import Parser, UsageError
from transformer_core.storage.measurements import write_derived
from viz_app.model_card.card import prose

if sys.platform == "win32":
    pytest.skip("no SIGKILL", allow_module_level=True)

from tests.abuse import killed_writes

pytestmark = pytest.mark.process

OLD_SCORES, OLD_HEADS = b'{"new": false}\n', b'{"kept": true}\n'


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model with measurements."""
    folder = tmp_path / "model"
    shutil.copytree(SMALL / "base", folder)
    files = {"scores.json": OLD_SCORES, "heads.json": OLD_HEADS}
    write_derived(folder, load_checkpoint(folder).weights_hash, files)
    return folder


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def card_of(folder: Path) -> bytes:
    return (folder / "README.md").read_bytes()


@pytest.mark.parametrize("rename", [1, 2, 3, 4])
def test_a_card_and_its_manifest(model: Path, rename: int) -> None:
    old = card_of(model)
    killed = killed_writes.run(killed_writes.derive, model, "card", rename=rename)
    assert killed == (-signal.SIGKILL if rename < 4 else 0)
    load_checkpoint(model)
    assert card_of(model) == (old if rename < 3 else killed_writes.NEW_CARD)
    assert killed_writes.run(killed_writes.derive, model, "card") == 0
    assert prose(model) == ""  # listed, whole, and nothing but its title
    assert hidden(model) == []


def test_a_card_that_was_left_out_is_listed_by_the_next_result(model: Path) -> None:
    killed_writes.run(killed_writes.derive, model, "card", rename=3)
    with pytest.raises(CheckpointError, match="is not listed"):
        prose(model)
    assert killed_writes.run(killed_writes.derive, model, "scores") == 0
    assert prose(model) == ""
    assert load_checkpoint(model).metrics["scores"] == {"new": True}


@pytest.mark.parametrize("rename", [1, 2, 3, 4])
def test_measurements(model: Path, rename: int) -> None:
    killed = killed_writes.run(killed_writes.derive, model, "scores", rename=rename)
    assert killed == (-signal.SIGKILL if rename < 4 else 0)
    load_checkpoint(model)
    assert killed_writes.run(killed_writes.derive, model, "scores") == 0
    checkpoint = load_checkpoint(model)
    assert (checkpoint.metrics["scores"], checkpoint.metrics["heads"]) == ({"new": True}, json.loads(OLD_HEADS))
    assert hidden(model) == []


@pytest.mark.parametrize("rename", [1, 2])
def test_a_folder_that_was_to_be_replaced(tmp_path: Path, rename: int) -> None:
    """It is there again before the next command asks whether it may be replaced."""
    out = tmp_path / "out [1]"
    out.mkdir()
    (out / "old").touch()
    assert killed_writes.run(killed_writes.replace, tmp_path, out.name, rename=rename) == -signal.SIGKILL
    parser = Parser("history")
    parser.add_output_folder("", "kind", lambda folder: {each.name for each in folder.iterdir()})
    with pytest.raises(UsageError, match="exists; add --force"):
        parser.options(["--out", str(out)])
    assert hidden(tmp_path) == []
