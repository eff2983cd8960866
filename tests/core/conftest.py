"""Fixtures for the core: one tokenizer, one prepared corpus, one model that has learnt, hypothesis without a clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from hypothesis import settings

from tests.core.tiny import sentence_pairs, tiny_model
from tests.core.training.runs import SHORT
from transformer_core import DecodingConfig, ModelConfig, Tokenizer, Transformer, Translator
from transformer_core.data import Corpus, prepare
from transformer_core.training.trainer import Trainer

if TYPE_CHECKING:
    from tests.core.conversion.twins import Twin

settings.register_profile("core", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("core")


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    return Tokenizer.train((text for pair in sentence_pairs() for text in pair), vocab_size=160, threads=1)


@pytest.fixture
def model() -> Transformer:
    """A tiny model with drawn weights, in evaluation mode; every test has its own."""
    return tiny_model()


@pytest.fixture
def fresh_compiler() -> Iterator[None]:
    """Nothing compiled before the test, nor left behind by it."""
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


@pytest.fixture(scope="session")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in sentence_pairs()), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def corpus(tokenizer: Tokenizer, pairs_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("corpus")
    prepare([pairs_file], folder, tokenizer)
    return Corpus(folder)


@pytest.fixture(scope="session")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Twin]:
    """Makes a converted twin by its name, each once in a process: the folders `theirs` and `ours` lie side by side."""
    from tests.core.conversion.families import TWINS

    return cache(lambda name: TWINS[name](tmp_path_factory.mktemp("twin")))


@pytest.fixture(scope="session")
def learned(tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A tiny model trained for two seconds on all made-up pairs but every seventh."""
    folder = tmp_path_factory.mktemp("learned")
    pairs = [pair for number, pair in enumerate(sentence_pairs()) if number % 7]
    (folder / "train.tsv").write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8")
    prepare([folder / "train.tsv"], folder / "data", tokenizer)
    torch.manual_seed(1)
    model = Transformer(
        ModelConfig(vocab_size=len(tokenizer), d_model=32, d_ff=64, num_layers=2, num_heads=4, dropout=0.0)
    )
    config = SHORT.replace(batch_tokens=600, steps=150, warmup_steps=60, learning_rate_factor=0.5, seed=1)
    Trainer(model, Corpus(folder / "data"), config, folder / "run").train()
    return Translator(model, tokenizer, DecodingConfig(extra_length=10, max_source_tokens=60))
