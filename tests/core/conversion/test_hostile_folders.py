"""Folders of strangers: damaged, unsafe, incomplete; nothing runs, nothing is read outside, nothing is left behind."""

from __future__ import annotations

import json
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.abuse.target import within
from tests.core.cli.conftest import call as call
from tests.core.cli.workplace import Call, one_line_error
from tests.core.conversion.bart_twins import bart_folder
from tests.core.conversion.language_twins import language_folder
from tests.core.conversion.marian_twins import marian_folder
from tests.core.conversion.twins import refused
from transformer_core.checkpoint import load_checkpoint
from transformer_core.conversion import convert


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "marian"
    marian_folder(path)
    return path


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "theirs"))


def change_json(path: Path, **changes: Any) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    values.update(changes)
    path.write_text(json.dumps(values), encoding="utf-8")


def change_tensors(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    tensors = {name: tensor.clone() for name, tensor in load_file(folder / "model.safetensors").items()}
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def test_weights_as_pickle_whole_and_in_shards(tmp_path: Path) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "whole": {},
        "shards": {"shards": "20KB"},
        "zip": {"pickled": "zip"},
        "old": {"pickled": "old"},
    }
    for name, options in kinds.items():
        marian_folder(tmp_path / name, **options)
        convert(tmp_path / name, tmp_path / f"{name}-ours")
    assert len(list((tmp_path / "shards").glob("*.safetensors"))) > 2
    assert len({load_checkpoint(tmp_path / f"{name}-ours").weights_hash for name in kinds}) == 1


def test_a_pickle_with_code_is_not_run(folder: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return (open, (str(folder.parent / "owned"), "w"))

    (folder / "model.safetensors").unlink()
    torch.save({"model.shared.weight": Evil()}, folder / "pytorch_model.bin")
    refused(folder, r"pytorch_model.bin: holds more than tensors .* save the model as safetensors first")
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"model.shared.weight": Evil()}))
    refused(folder, r"pytorch_model.bin: ")


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (bytearray, (700_000_000,))


@pytest.mark.parametrize("form", ["zip", "old", "bare"])
def test_a_few_bytes_of_pickle_ask_for_all_memory(folder: Path, form: str) -> None:
    (folder / "model.safetensors").unlink()
    path, named = folder / "pytorch_model.bin", {"model.shared.weight": Bomb()}
    if form == "bare":
        path.write_bytes(pickle.dumps(named, protocol=2))
    else:
        torch.save(named, path, _use_new_zipfile_serialization=form != "old")
    with within():
        refused(folder, "holds more than tensors")


def test_no_zip_after_all(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    path = folder / "pytorch_model.bin"
    torch.save({"model.shared.weight": torch.ones(1)}, path)
    whole = path.read_bytes()
    for damage in (whole.replace(b"data.pkl", b"data.pk\xff"), whole[: len(whole) // 2] + whole[-200:]):
        path.write_bytes(damage)
        refused(folder, r"pytorch_model.bin: ")


@pytest.mark.parametrize("file", ["../elsewhere", "/etc/passwd", "a/../b.bin", "a/b.bin", ".hidden", "a\\b", 7, None])
def test_shards_outside_the_folder(folder: Path, file: Any) -> None:
    index = {"weight_map": {"model.shared.weight": file}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    refused(folder, "is not the name of a file in this folder")


def test_links_are_not_followed(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder.parent / "elsewhere.safetensors")
    (folder / "model.safetensors").symlink_to(folder.parent / "elsewhere.safetensors")
    refused(folder, r"model.safetensors: is a link, which is not followed")


@pytest.mark.parametrize(
    "contents",
    [b"", b"x" * 20, struct.pack("<Q", 2**60) + b"{}", struct.pack("<Q", 10) + b'{"a": {"d'],
    ids=["empty", "noise", "absurd header", "cut"],
)
def test_damaged_weights(folder: Path, contents: bytes) -> None:
    (folder / "model.safetensors").write_bytes(contents)
    refused(folder, r"model.safetensors: cannot be read")


def test_the_first_tensor_that_is_missing_or_left_over(folder: Path) -> None:
    change_tensors(folder, lambda tensors: tensors.pop("model.decoder.layers.1.fc1.bias"))
    refused(folder, r"tensor model.decoder.layers.1.fc1.bias is missing \(for decoder.layers.1.feed_forward.w_1.bias\)")
    change_tensors(folder, lambda tensors: tensors.update({"model.decoder.layers.1.fc1.bias": torch.zeros(48)}))
    change_tensors(folder, lambda tensors: tensors.update({"model.encoder.more": torch.zeros(1)}))
    refused(folder, r"tensor model.encoder.more is left over")


@pytest.mark.parametrize(
    ("name", "tensor", "said"),
    [
        ("model.encoder.layers.0.fc1.weight", torch.zeros(48, 31), r"has shape \(48, 31\), but .* needs \(48, 32\)"),
        ("model.encoder.layers.0.fc1.weight", torch.full((48, 32), 1e6), "values that float16 cannot hold"),
        ("model.encoder.layers.0.fc1.weight", torch.full((48, 32), torch.nan), "values that float16 cannot hold"),
        ("model.encoder.layers.0.fc1.weight", torch.zeros(48, 32, dtype=torch.int64), "is of type torch.int64"),
        ("lm_head.weight", torch.zeros(92, 32), "lm_head.weight differs from model.shared.weight"),
        ("model.encoder.embed_positions.weight", torch.zeros(128, 32), "holds other positions than the formula gives"),
        ("model.encoder.embed_positions.weight", torch.zeros(128), "holds other positions than the formula gives"),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit(folder: Path, name: str, tensor: torch.Tensor, said: str) -> None:
    change_tensors(folder, lambda tensors: tensors.update({name: tensor}))
    refused(folder, said)


def test_positions_that_a_file_holds_are_compared(folder: Path, tmp_path: Path) -> None:
    from transformers import MarianMTModel

    positions = MarianMTModel.from_pretrained(folder).model.encoder.embed_positions.weight.detach()
    change_tensors(folder, lambda tensors: tensors.update({"model.encoder.embed_positions.weight": positions.half()}))
    convert(folder, tmp_path / "ours")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model_type": "t5"}, "taken for a transformers model of type 't5', which is not supported; supported are "),
        ({"model_type": None}, "taken for no model that transformers wrote"),
        ({"model_type": ["marian"]}, "is not supported"),
        ({"decoder_layers": 3}, "encoder_layers is 2 and decoder_layers is 3; only models where both are equal"),
        ({"d_model": "32"}, "d_model is '32', but must be a whole number"),
        ({"d_model": 10**9}, "d_model is 1000000000"),
        ({"encoder_layers": 10**6, "decoder_layers": 10**6}, "num_layers is 1000000"),
        ({"encoder_attention_heads": 5, "decoder_attention_heads": 5}, "num_heads is 5, but must be a divisor"),
        ({"vocab_size": 10**9, "decoder_vocab_size": 10**9}, "the vocabulary has 1,000,000,000 tokens"),
        ({"vocab_size": 50, "decoder_vocab_size": 50}, "has id 50, but the embedding has 50 rows"),
        ({"decoder_vocab_size": 50}, "there are two vocabularies"),
        ({"activation_function": "gelu_new"}, "activation_function is 'gelu_new', but must be one of relu"),
        ({"scale_embedding": 1}, "scale_embedding is 1, but must be true or false"),
        ({"dropout": 1.5}, "dropout is 1.5"),
        ({"normalize_before": True}, "normalize_before is True, but only False is supported"),
        ({"model": {}, "format_version": 1}, "is a checkpoint of this program already"),
    ],
)  # fmt: skip
def test_options_that_are_not_supported(folder: Path, changes: dict[str, Any], said: str) -> None:
    change_json(folder / "config.json", **changes)
    refused(folder, said)


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("config.json", b"[]", "config.json: expected a JSON object"),
        ("config.json", b'{"a": ' * 100_000, "config.json: cannot be read"),
        ("vocab.json", b'{"a": 0, "b": 0, "<unk>": 1}', "'b' and 'a' have the same id 0"),
        ("vocab.json", b'{"a": -1, "<unk>": 1}', "'a' has id -1"),
        ("vocab.json", b'{"a": true, "<unk>": 1}', "'a' has id True"),
        ("vocab.json", b'{"a": 0}', "vocab.json: has no id for <unk>"),
        ("vocab.json", b'{"": 0, "<unk>": 1}', "tokens must hold texts of 1 to 1,000 characters"),
        ("vocab.json", b'{"\\ud800": 0, "<unk>": 1}', "tokens has half of a surrogate pair"),
        ("source.spm", b"nothing", "source.spm: not a valid SentencePiece model"),
        ("target.spm", None, "target.spm: No such file"),
        ("config.json", None, "has no config.json; supported are Marian"),
        ("model.safetensors", None, "has no model.safetensors or pytorch_model.bin"),
    ],
)
def test_files_that_are_damaged_or_missing(folder: Path, name: str, contents: bytes | None, said: str) -> None:
    if contents is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(contents)
    refused(folder, said)


def test_a_model_of_too_many_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.conversion.writing.MAX_FOLDER_BYTES", 1_000)
    refused(folder, "its weights would take .* bytes, but at most 1,000 are allowed")


def test_languages_and_merges_that_are_missing(tmp_path: Path) -> None:
    language_folder(tmp_path / "m2m" / "theirs", "m2m")
    (tmp_path / "m2m" / "theirs" / "special_tokens_map.json").unlink()
    file = tmp_path / "m2m" / "theirs" / "tokenizer_config.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"m2m100"', '"wmt21"'), encoding="utf-8")
    refused(tmp_path / "m2m" / "theirs", "taken for M2M-100: no language tokens")
    bart_folder(tmp_path / "bart" / "theirs")
    (tmp_path / "bart" / "theirs" / "merges.txt").write_bytes(b"a b c\n")
    refused(tmp_path / "bart" / "theirs", "taken for BART: merges.txt: not a list of merges: line 1")


def test_the_command(folder: Path, call: Call, tmp_path: Path) -> None:
    (folder / "README.md").write_text("---\nlanguage: de\nlicense: cc-by-4.0\n---\n# A model\n", encoding="utf-8")
    out = tmp_path / "ours"
    said = call("convert", folder, "--out", out)
    assert said.status == 0, said.err
    summary = json.loads(said.out)
    assert summary["family"] == "Marian / OPUS-MT (transformers)"
    assert summary["licence"] == "cc-by-4.0"
    assert summary["checkpoint_hash"] == load_checkpoint(out).weights_hash
    assert "`cc-by-4.0`, as its files state it" in (out / "README.md").read_text(encoding="utf-8")
    assert "exists; add --force" in one_line_error(call("convert", folder, "--out", out))
    assert call("convert", folder, "--out", out, "--force").status == 0
    assert call("translate", "--checkpoint", out, stdin=b"The man sees a house.\n").out.count("\n") == 1
    error = one_line_error(call("translate", "--checkpoint", out, "--target-language", "de", stdin=b""))
    assert "--target-language: this model has no choice of a target language" in error
    shutil.rmtree(folder)
    assert "folder not found" in one_line_error(call("convert", folder, "--out", out, "--force"))


def test_the_command_with_languages(call: Call, tmp_path: Path) -> None:
    language_folder(tmp_path / "theirs", "m2m")
    out = tmp_path / "ours"
    assert call("convert", tmp_path / "theirs", "--out", out, "--target-language", "ko").status == 0
    given = ["--checkpoint", out, "--beam", "1", "--nbest", "1"]
    korean = call("translate", *given, stdin=b"The man\n")
    german = call("translate", *given, "--source-language", "en", "--target-language", "de", stdin=b"The man\n")
    assert korean.status == german.status == 0
    assert korean.out != german.out
    assert json.loads(german.out)["candidates"][0]["score"] != json.loads(korean.out)["candidates"][0]["score"]
