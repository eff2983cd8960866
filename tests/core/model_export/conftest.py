"""Checkpoints with drawn weights and any options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.core.tiny import drawn_biases_and_norms, tiny_config
from transformer_core import DecodingConfig, Tokenizer, Transformer, save_checkpoint


def _drawn(folder: Path, tokenizer: Tokenizer | None = None, longest: int = 39, **options: Any) -> Path:
    tokenizer = tokenizer or Tokenizer.from_symbols("abcdefgh")
    config = tiny_config(vocab_size=len(tokenizer), **{"d_k": 4, "d_v": 4, **options})
    torch.manual_seed(3)
    weights = drawn_biases_and_norms(Transformer(config)).state_dict()
    decoding = DecodingConfig(max_source_tokens=longest, extra_length=5)
    save_checkpoint(folder / "ours", weights, config, tokenizer, decoding=decoding)
    return folder / "ours"


@pytest.fixture
def drawn_checkpoint(tmp_path: Path) -> partial[Path]:
    """Makes a tiny checkpoint with a vocabulary of letters, in the folder `ours` of the test's own."""
    return partial(_drawn, tmp_path)


@pytest.fixture(scope="module")
def drawn() -> Callable[..., Path]:
    """Makes such a checkpoint in the folder `ours` of a given one."""
    return _drawn
