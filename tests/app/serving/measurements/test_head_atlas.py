"""The atlas that ships with a model: read once for all visitors, or a problem to show."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest

from tests.atlas_samples import drawn_atlas
from transformer_core.atlas.storage import FILE, to_bytes
from transformer_core.checkpoint import Checkpoint, load_checkpoint
from transformer_core.storage.measurements import write_derived
from viz_app.serving.measurements.head_atlas import HeadAtlas, read_atlas

SHIPPED = Path(__file__).resolve().parents[4] / "checkpoints" / "en-de"


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return load_checkpoint(SHIPPED)


def test_the_shipped_atlas_names_every_head(checkpoint: Checkpoint) -> None:
    result = read_atlas(checkpoint)
    assert result.atlas is not None and not result.problem
    assert result.atlas.weights_hash == checkpoint.weights_hash
    assert len(result.roles) == 3 * result.atlas.layers * result.atlas.heads


def test_none_and_a_damaged_one_are_no_errors(checkpoint: Checkpoint, tmp_path: Path) -> None:
    assert read_atlas(None) == HeadAtlas()
    folder = tmp_path / "en-de"
    shutil.copytree(SHIPPED, folder)
    (folder / "derived" / "atlas.json").write_bytes(b"{}")
    result = read_atlas(dataclasses.replace(checkpoint, folder=folder))
    assert result.atlas is None and "atlas.json" in result.problem
    shutil.rmtree(folder / "derived")
    assert read_atlas(dataclasses.replace(checkpoint, folder=folder)) == HeadAtlas()


def test_an_atlas_of_another_size_is_a_problem(checkpoint: Checkpoint, tmp_path: Path) -> None:
    """It says that it is of this model, but names heads that the model does not have."""
    folder = tmp_path / "en-de"
    shutil.copytree(SHIPPED, folder)
    write_derived(folder, checkpoint.weights_hash, {FILE: to_bytes(drawn_atlas(7, 8, checkpoint.weights_hash))})
    result = read_atlas(dataclasses.replace(checkpoint, folder=folder))
    assert result.atlas is None and not result.roles
    assert result.problem == "derived/atlas.json: has 7 layers of 8 heads, but the model 6 of 8"
