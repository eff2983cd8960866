"""A vocabulary for each side: from text to a checkpoint and back, with nothing of one side read by the other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.core.cli.conftest import call as call
from tests.core.cli.workplace import Call, one_line_error
from tests.core.conversion.twins import tokens_model
from tests.core.tiny import sentence_pairs, tiny_config, tiny_model
from transformer_core import ConfigError, ModelConfig, Translator
from transformer_core.checkpoint import CheckpointError, load_checkpoint, save_checkpoint, write_manifest
from transformer_core.data import Corpus, prepare
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.paper.flops import parameters
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from transformer_core.training.validation import validation_loss


@pytest.fixture(scope="module")
def both() -> Tokenizer:
    """English sources with 120 tokens, German targets with 140."""
    sources, targets = zip(*sentence_pairs(), strict=True)
    target = Tokenizer.train(targets, 140, threads=1)
    return Tokenizer(target.model, Tokenizer.train(sources, 120, threads=1).model)


def model_for(both: Tokenizer) -> Transformer:
    return tiny_model(vocab_size=140, source_vocab_size=120, tie="target")


def test_each_side_has_its_own_tokens(both: Tokenizer, tmp_path: Path) -> None:
    assert (len(both), len(both.source), both.separate) == (140, 120, True)
    assert both.source.source is both.source
    assert both.source.decode(both.source.encode("The man sees a house.").ids) == "The man sees a house."
    both.save(tmp_path / "tokenizer.model")
    loaded = Tokenizer.load(tmp_path / "tokenizer.model")
    assert (loaded.model, loaded.source.model, loaded.sha256) == (both.model, both.source.model, both.sha256)
    assert both.sha256 != Tokenizer(both.model).sha256


def test_special_tokens_must_have_the_same_ids(both: Tokenizer) -> None:
    other = tokens_model([source for source, _ in sentence_pairs()], 100, "bpe", pad_id=3, unk_id=0)
    with pytest.raises(TokenizerError, match="different ids"):
        Tokenizer(both.model, other)


def test_the_source_matrix_has_the_sources_size(both: Tokenizer) -> None:
    model = model_for(both)
    assert model.source_embedding is not None
    assert model.source_embedding.weight.shape == (120, 16)
    assert model.embedding.weight.shape == model.output_weight.shape == (140, 16)
    assert count_parameters(model) == parameters(model.config)


def test_a_shared_matrix_cannot_have_two_vocabularies() -> None:
    with pytest.raises(ConfigError, match="tie is 'all', but must be target or none with a source_vocab_size"):
        ModelConfig(source_vocab_size=100)
    with pytest.raises(ConfigError, match="source_vocab_size is -1"):
        ModelConfig(source_vocab_size=-1, tie="none")


def test_prepared_text_holds_ids_of_each_side(both: Tokenizer, pairs_file: Path, tmp_path: Path) -> None:
    prepare([pairs_file], tmp_path / "data", both)
    corpus = Corpus(tmp_path / "data")
    assert corpus.tokenizer.separate
    source, target = sentence_pairs()[5]
    (row,) = [i for i in range(len(corpus)) if both.decode(corpus.pair(i)[1].tolist()) == target]
    assert both.source.decode(corpus.pair(row)[0].tolist()) == source


@torch.no_grad()
def test_translating_forcing_and_scoring_use_the_right_side(both: Tokenizer) -> None:
    translator = Translator(model_for(both), both)
    source, target = sentence_pairs()[0]
    assert translator.translate(source).source_encoding.tokens == both.source.encode(source).tokens
    forced = translator.teacher_force(source, target)
    assert forced.tokens == both.encode(target).tokens
    assert forced.attention.source.tokens == (*both.source.encode(source).tokens, "</s>")
    assert translator.score([(source, target)]) == pytest.approx([forced.log_probability], abs=1e-4)
    total, tokens = validation_loss(translator.model, [(source, target)], both, 100, torch.float32)
    assert total == pytest.approx(-forced.log_probability, abs=1e-3)
    assert tokens == len(forced.scores)


# --- checkpoints ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(both: Tokenizer, tmp_path: Path) -> Path:
    weights = {name: parameter.detach() for name, parameter in model_for(both).named_parameters()}
    config = tiny_config(vocab_size=140, source_vocab_size=120, tie="target")
    save_checkpoint(tmp_path / "model", weights, config, both)
    return tmp_path / "model"


def test_a_checkpoint_holds_both(folder: Path, both: Tokenizer) -> None:
    assert (folder / "source_tokenizer.model").read_bytes() == both.source.model
    assert "source_tokenizer.model" in json.loads((folder / "manifest.json").read_text())["files"]
    assert load_checkpoint(folder).tokenizer.sha256 == both.sha256


def test_missing_damaged_or_surplus_source_vocabulary(folder: Path, both: Tokenizer, tmp_path: Path) -> None:
    file = folder / "source_tokenizer.model"
    file.write_bytes(both.source.model[:-1])
    with pytest.raises(CheckpointError, match=r"source_tokenizer.model: is damaged"):
        load_checkpoint(folder)
    file.unlink()
    with pytest.raises(CheckpointError, match=r"source_tokenizer.model: is missing"):
        load_checkpoint(folder)
    write_manifest(folder)
    with pytest.raises(CheckpointError, match=r"source_tokenizer.model: has 0 tokens, config.json says 120"):
        load_checkpoint(folder)
    shared = Tokenizer(both.model)
    save_checkpoint(tmp_path / "shared", _weights(), tiny_config(vocab_size=140), shared)
    (tmp_path / "shared" / "source_tokenizer.model").write_bytes(both.source.model)
    with pytest.raises(CheckpointError, match=r"source_tokenizer.model: is not listed"):
        load_checkpoint(tmp_path / "shared")


def _weights() -> dict[str, torch.Tensor]:
    return {name: parameter.detach() for name, parameter in tiny_model(vocab_size=140).named_parameters()}


# --- the command line -------------------------------------------------------------------------------------------------


def test_from_prepare_to_translate(pairs_file: Path, call: Call, tmp_path: Path) -> None:
    sizes = ["--vocab-size", "140", "--source-vocab-size", "120"]
    assert call("prepare", "--train", pairs_file, *sizes, "--out", tmp_path / "data").status == 0
    train = ["train", "--preset", "tiny", "--data", tmp_path / "data", "--training.steps", "2"]
    assert "tie is 'all', but must be target or none" in one_line_error(call(*train, "--out", tmp_path / "run"))
    assert not (tmp_path / "run").exists()
    assert call(*train, "--model.tie", "target", "--out", tmp_path / "run").status == 0
    assert call("average", tmp_path / "run", "--last", "1", "--out", tmp_path / "model").status == 0
    said = call("translate", "--checkpoint", tmp_path / "model", "--beam", "1", stdin=b"The man sees a house.\n")
    assert (said.status, said.out.count("\n")) == (0, 1)
    model = load_checkpoint(tmp_path / "model").model.config
    assert (model.vocab_size, model.source_vocab_size) == (140, 120)


def test_sizes_that_do_not_fit_the_text(pairs_file: Path, call: Call, tmp_path: Path) -> None:
    call("prepare", "--train", pairs_file, "--vocab-size", "140", "--out", tmp_path / "data")
    train = ["train", "--preset", "tiny", "--data", tmp_path / "data", "--out", tmp_path / "run", "--model.tie", "none"]
    error = one_line_error(call(*train, "--model.source_vocab_size", "99"))
    assert "model.source_vocab_size is 99, but the vocabulary of" in error
