"""A training that other ones are compared with."""

from __future__ import annotations

import pytest
import torch

from tests.core.training.runs import train, weights_of
from transformer_core.data import Corpus


@pytest.fixture(scope="session")
def straight(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> dict[str, torch.Tensor]:
    """Weights after a short training with dropout that nothing interrupted."""
    return weights_of(train(corpus, tmp_path_factory.mktemp("straight"), dropout=0.3))
