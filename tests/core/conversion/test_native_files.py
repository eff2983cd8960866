"""Marian's own files: its YAML, and folders that are damaged, unsafe or of another kind."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.core.conversion.native_twins import native_folder, options
from tests.core.conversion.twins import refused
from transformer_core.checkpoint import load_checkpoint
from transformer_core.conversion import convert
from transformer_core.conversion.flat_yaml import YamlError, read_flat


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "marian"
    native_folder(path, "post-norm")
    return path


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(sound, tmp_path / "theirs"))


def change_arrays(folder: Path, **changes: Any) -> None:
    with np.load(folder / "model.npz") as file:
        arrays = {name: file[name] for name in file.files}
    arrays.update({name.replace("__", ":"): value for name, value in changes.items()})
    np.savez(folder / "model.npz", **{name: value for name, value in arrays.items() if value is not None})


def change_options(folder: Path, **changes: str) -> None:
    text = options(pre_norm=False, **{name.replace("_", "-"): value for name, value in changes.items()})
    change_arrays(folder, **{"special__model.yml": np.frombuffer(text.encode() + b"\0", dtype=np.int8)})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a: 1\nb: x y\n", {"a": "1", "b": "x y"}),
        ("models:\n  - a.npz\n  - 'b.npz'\nc: 2\n", {"models": ["a.npz", "b.npz"], "c": "2"}),
        ("a: [1, 2]\nempty: []\n", {"a": ["1", "2"], "empty": []}),
        ('"\\"": 3\n"\\\\": 4\n"\\x7f": 5\n"\\u2581": 6\n', {'"': "3", "\\": "4", "\x7f": "5", "▁": "6"}),
        ("'it''s': 1\n': ': 2\n", {"it's": "1", ": ": "2"}),
        ("null: 0\ntrue: 1\n~: 2\n", {"null": "0", "true": "1", "~": "2"}),
        ('? "long"\n: 7\n', {"long": "7"}),
        ("# a comment\n\na: 1\r\n", {"a": "1"}),
        ("", {}),
    ],
)
def test_the_yaml_that_marian_writes(text: str, values: dict[str, Any]) -> None:
    assert read_flat(text) == values


@pytest.mark.parametrize(
    "text",
    [
        "b: *x",
        "no colon",
        "a:\n  b: 1",
        "a: 1\na: 2",
        '"\\UFFFFFFFF": 1',
        "<<: *all",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n",
        "a: !!python/object/apply:os.system [[ls]]",
        "a: " + "[" * 100_000,
        "a: \x01",
    ],
)
def test_other_yaml_is_refused(text: str) -> None:
    with pytest.raises(YamlError, match="line"):
        read_flat(text)


def test_without_a_decoder_file(folder: Path, tmp_path: Path) -> None:
    convert(folder, tmp_path / "first")
    (folder / "decoder.yml").unlink()
    convert(folder, tmp_path / "second")
    first, second = load_checkpoint(tmp_path / "first"), load_checkpoint(tmp_path / "second")
    assert (first.decoding.beam, first.decoding.alpha, first.decoding.length_penalty) == (4, 1.0, "power")
    assert (second.decoding.beam, second.decoding.alpha) == (6, 0.0)
    assert first.model.config == second.model.config
    assert all((a == b).all() for a, b in zip(first.model.parameters(), second.model.parameters(), strict=True))


def test_arrays_that_need_pickle(folder: Path) -> None:
    change_arrays(folder, Wemb=np.array([{"a": 1}], dtype=object))
    refused(folder, "model.npz: cannot be read: Wemb.npy holds Python objects")


def test_an_absurd_header(folder: Path) -> None:
    with np.load(folder / "model.npz") as file:
        names = file.files
    with zipfile.ZipFile(folder / "model.npz", "w") as file:
        header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
        text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000, 32), }"
        file.writestr(f"{names[0]}.npy", header + text.ljust(117) + b"\n")
    refused(folder, r"says it has shape \(1000000000000, 32\), but has")


@pytest.mark.parametrize("contents", [b"", b"PK\x03\x04 no zip", b"\x93NUMPY"])
def test_a_damaged_archive(folder: Path, contents: bytes) -> None:
    (folder / "model.npz").write_bytes(contents)
    refused(folder, "model.npz: cannot be read")


@pytest.mark.parametrize("name", ["../model.npz", "/etc/model.npz", "a/model.npz"])
def test_names_outside_the_folder(folder: Path, name: str) -> None:
    (folder / "decoder.yml").write_text(f"models:\n  - {name}\n", encoding="utf-8")
    refused(folder, "is not the name of a file in this folder")


def test_several_models(folder: Path) -> None:
    (folder / "decoder.yml").unlink()
    shutil.copy(folder / "model.npz", folder / "other.npz")
    refused(folder, "has several .npz files; keep one, or name it in decoder.yml")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"type": "s2s"}, "type is 's2s', but must be 'transformer'"),
        ({"transformer_postprocess": "dn"}, "supported are post-norm"),
        ({"transformer_preprocess": "n"}, "supported are post-norm"),
        ({"transformer_decoder_autoreg": "rnn"}, "transformer-decoder-autoreg is 'rnn', but must be 'self-attention'"),
        ({"transformer_ffn_activation": "gelu"}, "gelu, which Marian computes in another way"),
        ({"dec_depth": "1"}, "enc-depth is 2 and dec-depth is 1"),
        ({"dim_emb": "x"}, "dim-emb is 'x', but must be a whole number"),
        ({"transformer_tied_layers": "[1, 1]"}, "transformer-tied-layers is"),
        ({"transformer_postprocess_emb": "dn"}, "tensor encoder_emb_ln_scale_pre is missing"),
    ],
)
def test_options_that_are_not_supported(folder: Path, changes: dict[str, str], said: str) -> None:
    change_options(folder, **changes)
    refused(folder, said)


def test_what_is_missing_or_left_over(folder: Path) -> None:
    change_arrays(folder, more=np.zeros(3, dtype=np.float32))
    refused(folder, "tensor more is left over")
    change_arrays(folder, more=None, encoder_l1_ffn_W1=None)
    refused(folder, "tensor encoder_l1_ffn_W1 is missing")
    (folder / "source.spm").unlink()
    refused(folder, "source.spm is missing: text can only be cut by a SentencePiece model")
    change_arrays(folder, **{"special__model.yml": None})
    refused(folder, "has no special:model.yml, so it is not a model of Marian")
