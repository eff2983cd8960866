"""For all tests: one thread for torch, since several would only compete for the cores of a small machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(scope="session")
def random_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the smallest kind with random weights: 2 + 2 layers, 4 heads. Do not change its files."""
    import torch

    from transformer_core.checkpoint import save_checkpoint
    from transformer_core.config import ModelConfig
    from transformer_core.model import Transformer
    from transformer_core.tokenizer import Tokenizer
    from viz_app.services.examples import EXAMPLES

    folder = tmp_path_factory.mktemp("checkpoint") / "random"
    tokenizer = Tokenizer.train(list(EXAMPLES.values()), vocab_size=120, threads=1)
    config = ModelConfig(vocab_size=len(tokenizer), d_model=16, d_ff=32, num_layers=2, num_heads=4)
    with torch.random.fork_rng():
        torch.manual_seed(7)
        weights = Transformer(config).state_dict()
    card = "# Random\n\nThis model is not trained. ![picture](https://example.org/x.png)\n"
    metrics = {"alignment": {"best_head": {"layer": 1, "head": 2}}}
    save_checkpoint(folder, weights, config, tokenizer, metrics=metrics, card=card)
    return folder
