"""The atlas that ships with a model: read once for all visitors, or a problem to show."""

from __future__ import annotations

import shutil
from dataclasses import astuple
from pathlib import Path

from tests.app.conftest import Serve
from tests.atlas_samples import drawn_atlas
from transformer_core.atlas.storage import FILE, to_bytes
from transformer_core.checkpoint import load_checkpoint
from viz_app.serving.measurements.head_atlas import HeadAtlas, read_atlas

SHIPPED = Path(__file__).resolve().parents[4] / "checkpoints" / "en-de"


def test_the_shipped_atlas_names_every_head() -> None:
    checkpoint = load_checkpoint(SHIPPED)
    result = read_atlas(checkpoint)
    assert result.atlas is not None and not result.problem
    assert result.atlas.weights_hash == checkpoint.weights_hash
    assert len(result.roles) == 3 * result.atlas.layers * result.atlas.heads


def test_none_and_a_damaged_one_are_no_errors(serve_atlas: Serve) -> None:
    assert astuple(read_atlas(None)) == astuple(HeadAtlas())
    checkpoint = load_checkpoint(serve_atlas())
    (checkpoint.folder / "derived" / "atlas.json").write_bytes(b"{}")
    result = read_atlas(checkpoint)
    assert result.atlas is None and "atlas.json" in result.problem
    shutil.rmtree(checkpoint.folder / "derived")
    assert astuple(read_atlas(checkpoint)) == astuple(HeadAtlas())


def test_an_atlas_of_another_size_is_a_problem(serve: Serve, random_checkpoint: Path) -> None:
    """It says that it is of this model, but names heads that the model does not have."""
    atlas = drawn_atlas(3, 4, load_checkpoint(random_checkpoint).weights_hash)
    result = read_atlas(load_checkpoint(serve(None, {FILE: to_bytes(atlas)})))
    assert result.atlas is None and not result.roles
    assert result.problem == "derived/atlas.json: has 3 layers of 4 heads, but the model 2 of 4"
