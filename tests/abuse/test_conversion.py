"""Folders of other programs that ask for more memory or time than their bytes are worth: refused before it is taken."""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import re
import shutil
import zipfile
from itertools import product
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import pytest
import torch
from safetensors import safe_open

from tests.abuse.target import within
from tests.core.conversion.language_twins import language_folder
from tests.core.conversion.marian_twins import marian_folder
from tests.core.conversion.twins import refused
from transformer_core.text.byte_level import ByteLevelSegmenter
from transformer_core.text.segmenters import SegmenterError

BIAS, TIED, POSITIONS = "final_logits_bias", "lm_head.weight", "model.encoder.embed_positions.weight"
FEED_FORWARD = "model.encoder.layers.0.fc1.weight"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "marian"
    marian_folder(path)
    return path


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "theirs"))


@pytest.fixture
def pickled(folder: Path) -> Path:
    (folder / "model.safetensors").unlink()
    return folder / "pytorch_model.bin"


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (bytearray, (700_000_000,))


def write_safetensors(path: Path, header: bytes, data: bytes = b"") -> None:
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)


def archive(data: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    """The zip file in which torch keeps a pickle."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as entries:
        entries.writestr("archive/data.pkl", data)
        entries.writestr("archive/version", "3")
    return file.getvalue()


def test_names_and_shapes_of_many_megabytes(folder: Path) -> None:
    """The reader of 60 MB of them takes 700 MB."""
    header = json.dumps({"__metadata__": {f"{number}": "" for number in range(1_500_000)}}).encode()
    write_safetensors(folder / "model.safetensors", header)
    with within():
        refused(folder, r"model.safetensors: cannot be read: its header has more than 2,000,000 bytes")


def test_files_that_hold_the_same_tensors(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links to one file of 99,000 of them, 900 times, kept the reader busy for many minutes."""
    monkeypatch.setattr("transformer_core.conversion.foreign_folder.MAX_TENSORS", 100)
    whole = folder / "model.safetensors"
    with safe_open(whole, framework="pt") as file:
        files = {name: f"{number % 2}.safetensors" for number, name in enumerate(file.keys())}
    shutil.copy(whole, folder / "0.safetensors")
    whole.rename(folder / "1.safetensors")
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}), encoding="utf-8")
    refused(folder, "its files hold more than 100 tensors")


@pytest.mark.parametrize("number", ["x", [1], {}, None, math.inf, 1e17], ids=str)
def test_ids_that_no_others_can_follow(tmp_path: Path, number: Any) -> None:
    """After an infinite one the next free id was searched for ever."""
    path = tmp_path / "theirs" / "vocab.json"
    language_folder(path.parent, "m2m")
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "mine": number}), encoding="utf-8")
    refused(path.parent, f"vocab.json: 'mine' has id {re.escape(repr(number))}")


@pytest.mark.skipif(os.name != "posix", reason="files with holes")
@pytest.mark.parametrize(
    ("name", "shape", "said"),
    [
        (BIAS, (1, 2**30), "output_bias needs"),
        (TIED, (2**26, 32), "lm_head.weight differs from model.shared.weight"),
        (POSITIONS, (2**26, 32), "holds other positions than the formula gives"),
        (POSITIONS, (2**30,), "holds other positions than the formula gives"),
    ],
)
def test_a_file_with_holes_is_measured_before_it_is_read(
    folder: Path, name: str, shape: tuple[int, ...], said: str
) -> None:
    path = folder / "model.safetensors"
    contents = path.read_bytes()
    end = 8 + int.from_bytes(contents[:8], "little")
    header, data = json.loads(contents[8:end]), contents[end:]
    if name in header:  # its bytes stay, under another name
        header["unread"] = header.pop(name)
    size = len(data) + 2 * math.prod(shape)
    header[name] = {"dtype": "F16", "shape": shape, "data_offsets": [len(data), size]}
    write_safetensors(path, json.dumps(header).encode(), data)
    if "unread" in header:
        said = "tensor unread is left over"
    os.truncate(path, path.stat().st_size - len(data) + size)
    with within():
        refused(folder, said)


@pytest.mark.parametrize("name", [BIAS, TIED, POSITIONS, FEED_FORWARD])
def test_one_number_that_stands_for_all(pickled: Path, name: str) -> None:
    torch.save({name: torch.zeros(1, 1).expand(2**25, 32)}, pickled)
    with within():
        refused(pickled.parent, f"{name} has more numbers than the file holds")


@pytest.mark.parametrize("form", ["zip", "old"])
def test_a_pickle_of_endless_instructions(pickled: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer_core.conversion.tensor_sources._MAX_OPCODES", 1_000)
    data = b"\x80\x02" + b"]" * 1_000 + b"."
    pickled.write_bytes(archive(data) if form == "zip" else data)
    refused(pickled.parent, "its pickles have more than 1,000 instructions")


def test_an_archive_behind_which_torch_finds_another(pickled: Path) -> None:
    """Python reads the last of two archives, torch the first."""
    evil = pickle.dumps(Bomb(), protocol=2)
    pickled.write_bytes(archive(evil) + archive(b"\x80\x02}.".ljust(len(evil), b"\0")))
    with within():
        refused(pickled.parent, "holds more than tensors")


def test_an_archive_that_is_compressed(pickled: Path) -> None:
    pickled.write_bytes(archive(b"\x80\x02}." + bytes(400_000_000), zipfile.ZIP_DEFLATED))
    with within():
        refused(pickled.parent, "data.pkl is compressed")


def test_a_message_steers_no_terminal(folder: Path) -> None:
    name = "\x1b[2J\u202e" + "x" * 5_000
    write_safetensors(
        folder / "model.safetensors",
        json.dumps({name: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode(),
        bytes(4),
    )
    refused(folder, r"^[ -~]{,1100}$")


def test_thousands_of_languages(tmp_path: Path) -> None:
    """Each token was looked for in the list of all languages."""
    path = tmp_path / "theirs"
    language_folder(path, "m2m")
    names = [f"__{''.join(letters)}__" for letters in product(ascii_lowercase, repeat=3)]
    (path / "special_tokens_map.json").write_text(json.dumps({"additional_special_tokens": names}), encoding="utf-8")
    with within(seconds=3):
        refused(path, "but the embedding has 203 rows")


def test_more_merges_than_any_model_has(tmp_path: Path) -> None:
    with within(), pytest.raises(SegmenterError, match="more than 500,000 merges"):
        ByteLevelSegmenter(b"".join(b"a%d b\n" % number for number in range(1_900_000)))
