"""Checkpoint folders: a round trip, shards, hashes, and an error that names the file for every kind of damage."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from tests.core.tiny import sentence_pairs, tiny_config, tiny_model
from transformer_core import DecodingConfig, ModelConfig, Tokenizer
from transformer_core.checkpoint import CheckpointError, checkpoint_bytes, load_checkpoint, save_checkpoint
from transformer_core.cli import main
from transformer_core.storage import tensor_files
from transformer_core.storage.files import sha256

INDEX = "model.safetensors.index.json"
SHARD = "model-00001-of-00001.safetensors"


def config(tokenizer: Tokenizer) -> ModelConfig:
    return tiny_config(vocab_size=len(tokenizer))


def weights(tokenizer: Tokenizer) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in tiny_model(vocab_size=len(tokenizer)).named_parameters()}


@pytest.fixture
def folder(tokenizer: Tokenizer, tmp_path: Path) -> Path:
    """A sound checkpoint, to be damaged."""
    save_checkpoint(
        tmp_path / "model",
        weights(tokenizer),
        config(tokenizer),
        tokenizer,
        decoding=DecodingConfig(beam=3, alpha=0.8),
        metrics={"bleu": 12.5},
        card="# Ein Modell\n",
    )
    return tmp_path / "model"


def change_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Edit a JSON file of a checkpoint and bring the manifest up to date, with bad intent."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    sign(path.parent)


def sign(folder: Path) -> None:
    """A manifest of format 1 for whatever the folder holds, written with bad intent."""
    files = [path for path in folder.iterdir() if path.is_file() and path.name != "manifest.json"]
    (folder / "manifest.json").write_text(json.dumps({path.name: sha256(path) for path in files}))


def listed(folder: Path, **files: str | None) -> None:
    """Change what the manifest says of some files; None takes one out."""
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"] = {name: told for name, told in {**manifest["files"], **files}.items() if told is not None}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def refused(folder: Path, file: str, said: str) -> None:
    with pytest.raises(CheckpointError, match=said) as caught:
        load_checkpoint(folder)
    assert caught.value.path == folder / file
    assert str(folder / file) in str(caught.value)


# --- sound ------------------------------------------------------------------------------------------------------------


def test_round_trip(folder: Path, tokenizer: Tokenizer) -> None:
    loaded = load_checkpoint(folder)
    assert loaded.model.config == config(tokenizer)
    assert loaded.decoding == DecodingConfig(beam=3, alpha=0.8)
    assert loaded.metrics == {"bleu": 12.5}
    assert loaded.tokenizer.model == tokenizer.model
    assert not loaded.model.training
    assert (folder / "README.md").read_text(encoding="utf-8") == "# Ein Modell\n"


def test_the_files_of_a_checkpoint(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names == {"config.json", "tokenizer.model", "metrics.json", "README.md", "manifest.json", INDEX, SHARD}
    assert {tensor.dtype for tensor in load_file(folder / SHARD).values()} == {torch.float16}
    manifest = json.loads((folder / "manifest.json").read_text())
    assert set(manifest) == {"format_version", "weights_hash", "files"}
    assert manifest["files"] == {name: sha256(folder / name) for name in names - {"manifest.json"}}
    assert checkpoint_bytes(folder) == sum((folder / name).stat().st_size for name in names)
    options = json.loads((folder / "config.json").read_text())
    assert options["format_version"] == 1
    assert options["special_ids"] == {"pad": 0, "bos": 1, "eos": 2, "unk": 3}


def test_shards_stay_under_their_limit(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensor_files, "SHARD_BYTES", 4000)
    save_checkpoint(tmp_path / "model", weights(tokenizer), config(tokenizer), tokenizer)
    shards = sorted(path for path in (tmp_path / "model").glob("*.safetensors"))
    assert len(shards) > 3
    held: dict[str, str] = {}
    for number, path in enumerate(shards, start=1):
        assert path.name == f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        tensors = load_file(path)
        assert len(tensors) == 1 or sum(tensor.nbytes for tensor in tensors.values()) <= 4000
        held |= dict.fromkeys(tensors, path.name)
    assert json.loads((tmp_path / "model" / INDEX).read_text())["weight_map"] == held
    loaded = load_checkpoint(tmp_path / "model").model
    assert torch.equal(loaded.embedding.weight, weights(tokenizer)["embedding.weight"].half().float())


# --- saving -----------------------------------------------------------------------------------------------------------


def test_weights_that_float16_cannot_hold(tokenizer: Tokenizer, tmp_path: Path) -> None:
    large = weights(tokenizer)
    large["embedding.weight"][3, 2] = 70_000.0
    with pytest.raises(ValueError, match=r"embedding.weight has values that float16 cannot hold"):
        save_checkpoint(tmp_path / "model", large, config(tokenizer), tokenizer)
    assert not (tmp_path / "model").exists()


def test_weights_that_do_not_fit_are_not_saved(tokenizer: Tokenizer, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"embedding.weight has shape"):
        save_checkpoint(tmp_path / "model", weights(tokenizer), tiny_config(vocab_size=99), tokenizer)
    assert not (tmp_path / "model").exists()


# --- damaged ----------------------------------------------------------------------------------------------------------


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"checkpoint directory not found$"):
        load_checkpoint(tmp_path / "nothing")


def test_other_folders_say_what_to_do(tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A training run, a model of transformers, a name on a hub; a checkpoint without its manifest is none of them."""
    for name, files, hint in (
        ("run", {"config.json": "{}", "metrics.jsonl": ""}, "average RUN --last 5 --out MODEL"),
        ("marian", {"config.json": '{"model_type": "marian"}'}, "convert FOLDER --out MODEL"),
    ):
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(text)
        with pytest.raises(CheckpointError, match=hint):
            load_checkpoint(tmp_path / name)
    (folder / "manifest.json").unlink()
    with pytest.raises(CheckpointError, match=r"manifest\.json: is missing: the folder is no checkpoint"):
        load_checkpoint(folder)
    with pytest.raises(CheckpointError, match=r"docs/models\.md"):
        load_checkpoint("Helsinki-NLP/opus-mt-ko-en")
    assert main(["translate", "--checkpoint", "Helsinki-NLP/opus-mt-ko-en"]) == 2
    assert "convert it: docs/models.md" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["config.json", "tokenizer.model", "metrics.json", "README.md", INDEX, SHARD])
def test_every_missing_or_changed_file_is_named(folder: Path, file: str) -> None:
    contents = (folder / file).read_bytes()
    (folder / file).write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    refused(folder, file, "is damaged: its sha256")
    (folder / file).unlink()
    refused(folder, file, "is missing")


@pytest.mark.parametrize("contents", [None, b"", b"{", b"[]", b"\xff\xfe", b"[" * 200_000])
def test_an_unreadable_manifest(folder: Path, contents: bytes | None) -> None:
    (folder / "manifest.json").unlink()
    if contents is not None:
        (folder / "manifest.json").write_bytes(contents)
    refused(folder, "manifest.json", "folder is no checkpoint|cannot be read|expected a JSON object")


@pytest.mark.parametrize("file", ["config.json", "tokenizer.model", "metrics.json", INDEX, SHARD])
def test_a_file_that_the_manifest_leaves_out(folder: Path, file: str) -> None:
    listed(folder, **{file: None})
    refused(folder, file, "is not listed")


def test_another_format(folder: Path) -> None:
    change_json(folder / "config.json", lambda c: c.update(format_version=99))
    refused(folder, "config.json", "has format 99, this program reads 1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda c: c["model"].update(d_modle=3), "no option d_modle"),
        (lambda c: c["model"].update(dropout=7.0), "dropout is 7.0"),
        (lambda c: c["model"].update(d_model="16"), "d_model is '16'"),
        (lambda c: c.pop("decoding"), "decoding"),
        (lambda c: c.update(special_ids=None), "invalid options"),
    ],
    ids=["unknown", "value", "type", "missing", "null"],
)
def test_unusable_options(folder: Path, change: Callable[[dict[str, Any]], object], said: str) -> None:
    change_json(folder / "config.json", change)
    refused(folder, "config.json", said)


def test_a_tokenizer_of_another_model(folder: Path) -> None:
    texts = [text for pair in sentence_pairs() for text in pair]
    (folder / "tokenizer.model").write_bytes(Tokenizer.train(texts, 120).model)
    sign(folder)
    refused(folder, "tokenizer.model", "has 120 tokens, config.json says 160")
    (folder / "tokenizer.model").write_bytes(b"no model")
    sign(folder)
    refused(folder, "tokenizer.model", "not a valid SentencePiece model")


def test_weights_that_do_not_fit(folder: Path) -> None:
    save_file({**load_file(folder / SHARD), "surplus": torch.zeros(1)}, folder / SHARD)
    sign(folder)
    refused(folder, INDEX, "unknown.*surplus")


@pytest.mark.parametrize("index", [{}, {"weight_map": None}, {"weight_map": ["x"]}, {"weight_map": {"x": 3}}])
def test_an_index_without_its_map(folder: Path, index: dict[str, Any]) -> None:
    (folder / INDEX).write_text(json.dumps(index))
    sign(folder)
    refused(folder, INDEX, "has no weight_map")


@pytest.mark.parametrize("name", ["../outside.safetensors", "other.safetensors"])
def test_an_index_that_leads_elsewhere(folder: Path, name: str) -> None:
    save_file({"x": torch.zeros(1)}, folder.parent / "outside.safetensors")
    change_json(folder / INDEX, lambda i: i["weight_map"].update(x=name))
    refused(folder, name, "is not listed")


class Bomb:
    exploded = False

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return explode, ()


def explode() -> None:
    Bomb.exploded = True


def test_nothing_is_ever_unpickled(folder: Path) -> None:
    torch.save({"x": Bomb()}, folder / SHARD)
    sign(folder)
    refused(folder, SHARD, "cannot be read")
    (folder / SHARD).write_bytes(pickle.dumps(Bomb()))
    sign(folder)
    refused(folder, SHARD, "cannot be read")
    assert not Bomb.exploded
