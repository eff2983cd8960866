"""The weights_hash: what it depends on and what not; manifests of both formats, hostile ones, bundled models."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.numpy import load_file as load_arrays
from torch import Tensor

from tests.core.tiny import tiny_config, tiny_model
from transformer_core import Tokenizer
from transformer_core.checkpoint import CheckpointError, load_checkpoint, save_checkpoint, write_manifest
from transformer_core.storage import bundled_models as shipped
from transformer_core.storage import tensor_files
from transformer_core.storage.bundled_models import SHIPPED, find_checkpoint, shipped_name
from transformer_core.storage.identity import weights_hash
from transformer_core.storage.manifest import Manifest

CHECKPOINTS = Path(__file__).resolve().parents[3] / "checkpoints"
RECORDED = Path(__file__).resolve().parents[1] / "recorded"
SHARD = "model-00001-of-00001.safetensors"
CONFIG = {"format_version": 1, "model": {"d_model": 16, "dropout": 0.1}, "decoding": {"beam": 4}}


def weights(tokenizer: Tokenizer) -> dict[str, Tensor]:
    return {name: p.detach().clone() for name, p in tiny_model(vocab_size=len(tokenizer)).named_parameters()}


def saved(folder: Path, tokenizer: Tokenizer, **changes: Any) -> Path:
    save_checkpoint(folder, weights(tokenizer), tiny_config(vocab_size=len(tokenizer)), tokenizer, **changes)
    return folder


def named(folder: Path) -> str:
    return load_checkpoint(folder).weights_hash


def change_manifest(folder: Path, change: Callable[[Any], object]) -> None:
    value = json.loads((folder / "manifest.json").read_text())
    change(value)
    (folder / "manifest.json").write_text(json.dumps(value))


def by_hand(folder: Path) -> str:
    """The definition once more, with numpy and what the docstring says."""
    config = json.loads((folder / "config.json").read_text())
    config.pop("format_version")
    tensors = {name: array for file in folder.glob("*.safetensors") for name, array in load_arrays(file).items()}
    told = {
        "config": config,
        "vocabularies": {
            file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*tokenizer.model")
        },
        "weights": {
            name: [str(array.dtype), list(array.shape), hashlib.sha256(array.tobytes()).hexdigest()]
            for name, array in tensors.items()
        },
    }
    return hashlib.sha256(json.dumps(told, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


# --- what it depends on -----------------------------------------------------------------------------------------------


def test_it_is_what_its_definition_says(tokenizer: Tokenizer, tmp_path: Path) -> None:
    folder = saved(tmp_path / "model", tokenizer)
    assert named(folder) == by_hand(folder) == json.loads((folder / "manifest.json").read_text())["weights_hash"]
    for name in ("small/base", "small/one-head"):
        assert Manifest.read(CHECKPOINTS / name).weights_hash == by_hand(CHECKPOINTS / name), name


def test_order_and_shards_do_not_matter(tokenizer: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saved(tmp_path / "whole", tokenizer)
    monkeypatch.setattr(tensor_files, "SHARD_BYTES", 4000)
    reverse = dict(reversed(weights(tokenizer).items()))
    save_checkpoint(tmp_path / "cut", reverse, tiny_config(vocab_size=len(tokenizer)), tokenizer)
    assert len(list((tmp_path / "cut").glob("*.safetensors"))) > 3
    config = json.loads((tmp_path / "cut" / "config.json").read_text())
    config["model"] = dict(reversed(config["model"].items()))
    (tmp_path / "cut" / "config.json").write_text(json.dumps(dict(reversed(config.items()))))
    write_manifest(tmp_path / "cut")
    assert named(tmp_path / "cut") == named(whole)


def test_what_is_told_of_a_model_leaves_it_alone(tokenizer: Tokenizer, tmp_path: Path) -> None:
    plain = named(saved(tmp_path / "plain", tokenizer))
    told = saved(
        tmp_path / "told",
        tokenizer,
        metrics={"training": {"steps": 3}, "scores": {"x": {"bleu": 1.0}}},
        card="# Another card\n",
        texts={"journal.json": "{}"},
        derived={"history/history.json": b"{}"},
    )
    assert named(told) == plain
    (told / "README.md").write_text("# A third one\n")
    write_manifest(told)
    assert named(told) == plain


def test_every_weight_option_and_byte_of_a_vocabulary_counts() -> None:
    tensors = {"a": torch.arange(6, dtype=torch.float16).reshape(2, 3), "b": torch.zeros(2, dtype=torch.bfloat16)}
    vocabularies = {"tokenizer.model": b"abc"}
    same = weights_hash(CONFIG, vocabularies, tensors)
    one_bit = {**tensors, "a": tensors["a"].clone()}
    one_bit["a"].view(torch.int16)[1, 2] ^= 1
    others = [
        weights_hash(CONFIG, vocabularies, one_bit),
        weights_hash(CONFIG, vocabularies, {**tensors, "a": tensors["a"].reshape(3, 2)}),
        weights_hash(CONFIG, vocabularies, {**tensors, "a": tensors["a"].T.contiguous().reshape(2, 3)}),
        weights_hash(CONFIG, vocabularies, {**tensors, "b": tensors["b"].to(torch.float16)}),  # the same bytes
        weights_hash(CONFIG, vocabularies, {"a": tensors["a"], "c": tensors["b"]}),
        weights_hash(CONFIG, vocabularies, {"a": tensors["a"]}),
        weights_hash(CONFIG, {"tokenizer.model": b"abd"}, tensors),
        weights_hash(CONFIG, {**vocabularies, "source_tokenizer.model": b"abc"}, tensors),
        weights_hash({**CONFIG, "model": {"d_model": 16, "dropout": 0.2}}, vocabularies, tensors),
        weights_hash({**CONFIG, "decoding": {"beam": 5}}, vocabularies, tensors),
    ]
    assert len({same, *others}) == len(others) + 1
    assert weights_hash({**CONFIG, "format_version": 9}, vocabularies, tensors) == same
    assert weights_hash(CONFIG, vocabularies, {**tensors, "a": tensors["a"].T.contiguous().T}) == same  # other strides


# --- older manifests and files ----------------------------------------------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A shipped model as it lay there before: scores beside config.json, and a manifest of format 1."""
    folder = tmp_path / "old"
    shutil.copytree(CHECKPOINTS / "small" / "base", folder, ignore=shutil.ignore_patterns("derived"))
    shutil.copytree(RECORDED / "format-1", folder, dirs_exist_ok=True)
    return folder


def test_a_manifest_of_format_1_still_opens(old: Path) -> None:
    loaded, today = load_checkpoint(old), load_checkpoint(CHECKPOINTS / "small" / "base")
    assert loaded.weights_hash == today.weights_hash
    assert loaded.metrics == today.metrics
    with (old / "journal.json").open("ab") as file:
        file.write(b" ")
    with pytest.raises(CheckpointError, match=r"journal\.json: is damaged"):
        load_checkpoint(old)


def test_a_manifest_of_format_1_that_is_written_anew_names_the_same_model(old: Path) -> None:
    before = load_checkpoint(old).weights_hash
    assert write_manifest(old).weights_hash == load_checkpoint(old).weights_hash == before


# --- hostile ones -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: m.update(format_version=3), "has format 3, this program reads 2 and older"),
        (lambda m: m.update(format_version=None), "has format None"),
        (lambda m: m.update(weights_hash="0" * 64), "has the weights_hash of another model"),
        (lambda m: m.update(weights_hash=7), "has no weights_hash"),
        (lambda m: m.update(weights_hash="A" * 64), "has no weights_hash"),
        (lambda m: m.pop("weights_hash"), "has no weights_hash"),
        (lambda m: m.pop("files"), "lists no files"),
        (lambda m: m.update(files=["config.json"]), "lists no files"),
        (lambda m: m["files"].update({"config.json": 3}), "has no sha256 of config.json"),
        (lambda m: m["files"].update({"../../x": "0" * 64}), "is missing"),
        (lambda m: m["files"].update({"derived/../x": "0" * 64}), "is missing"),
        (lambda m: m["files"].update({"/etc/hostname": "0" * 64}), "is missing"),
        (lambda m: m["files"].update({"": "0" * 64}), "is missing"),
        (lambda m: m.update(surplus="x" * 1_000_000), "at most 1,000,000 are allowed"),
    ],
)
def test_hostile_manifest(tokenizer: Tokenizer, tmp_path: Path, change: Callable[[Any], object], said: str) -> None:
    folder = saved(tmp_path / "model", tokenizer)
    change_manifest(folder, change)
    with pytest.raises(CheckpointError, match=said):
        load_checkpoint(folder)


@pytest.fixture(params=["checkpoints", "headlight_checkpoints"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Shipped models in a checkout, or in an installed package; the working directory is elsewhere."""
    result = tmp_path / str(request.param)
    (result / "en-de" / "history").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(shipped, "SHIPPED", result)
    monkeypatch.chdir(elsewhere)
    return result


def test_the_checkout_has_the_shipped_models() -> None:
    assert (SHIPPED / "en-de" / "config.json").is_file()
    assert shipped_name(SHIPPED / "en-de") == "checkpoints/en-de"


@pytest.mark.parametrize("name", ["en-de", "checkpoints/en-de", "checkpoints/en-de/history", "en-de/history"])
def test_a_shipped_model_is_found_from_anywhere_and_named_alike(name: str, folder: Path) -> None:
    result = Path(find_checkpoint(name))
    assert result.is_dir()
    assert result.is_relative_to(folder)
    assert shipped_name(result) == f"checkpoints/{name.removeprefix('checkpoints/')}"
    assert find_checkpoint(str(result)) == str(result)


def test_a_folder_of_ones_own_comes_first(folder: Path) -> None:
    Path("checkpoints/en-de").mkdir(parents=True)
    assert find_checkpoint("checkpoints/en-de") == "checkpoints/en-de"
    assert shipped_name(Path("checkpoints/en-de")) is None


@pytest.mark.parametrize("name", ["", ".", "checkpoints", "en-fr", "../checkpoints/en-de", "en-de/../en-de", "/en-de"])
def test_what_names_no_shipped_model_stays_as_it_is(name: str, folder: Path) -> None:
    assert find_checkpoint(name) == name
