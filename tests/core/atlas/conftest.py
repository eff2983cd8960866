"""A model that has learnt, in a folder with room for an atlas."""

from __future__ import annotations

import pytest

from transformer_core import Translator, save_checkpoint
from transformer_core.atlas.resumable_map import ResumableMap


@pytest.fixture(scope="module")
def runner(learned: Translator, tmp_path_factory: pytest.TempPathFactory) -> ResumableMap:
    folder = tmp_path_factory.mktemp("atlas")
    weights = learned.model.state_dict()
    save_checkpoint(folder / "model", weights, learned.config, learned.tokenizer, decoding=learned.decoding)
    own = Translator.load(folder / "model")
    return ResumableMap(checkpoint=folder / "model", weights_hash=own.checkpoint_hash, folder=folder / "work")


@pytest.fixture
def translator(runner: ResumableMap) -> Translator:
    """The model as it lies there: weights in float16."""
    return Translator.load(runner.checkpoint)
