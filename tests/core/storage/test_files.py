"""Folders that are either whole or not there, and tensors of finite numbers."""

from __future__ import annotations

import hashlib
import json
import math
import os
from contextlib import nullcontext
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from transformer_core.storage.files import atomic_directory, sha256, write_json
from transformer_core.storage.tensor_files import all_finite, save_tensors


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_appears_only_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "model"
    with atomic_directory(target) as partial:
        (partial / "a").write_text("1")
        assert not target.exists()
    assert (target / "a").read_text() == "1"
    assert names(tmp_path / "deep") == ["model"]


@pytest.mark.parametrize("error", [None, OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_folder_is_replaced_as_a_whole_or_not_at_all(tmp_path: Path, error: BaseException | None) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "old").write_text("old")
    with pytest.raises(type(error)) if error else nullcontext(), atomic_directory(target) as partial:
        (partial / "new").write_text("new")
        assert names(target) == ["old"]
        if error:
            raise error
    assert names(target) == ["old" if error else "new"]
    assert names(tmp_path) == ["model"]


def test_json_keeps_every_letter(tmp_path: Path) -> None:
    value = {"text": "Bücher 한국어", "n": [1, 2.5, None]}
    write_json(tmp_path / "x.json", value)
    text = (tmp_path / "x.json").read_text(encoding="utf-8")
    assert json.loads(text) == value
    assert "한국어" in text


def test_sha256_of_known_bytes(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"abc")
    # The example of FIPS 180-2.
    assert sha256(file) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    file.write_bytes(bytes(100_000))
    assert sha256(file) == hashlib.sha256(bytes(100_000)).hexdigest()


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of user, group and others")
def test_tensors_may_be_read_by_whom_other_files_may_be(tmp_path: Path) -> None:
    told = os.umask(0o027)
    try:
        (tmp_path / "text").write_text("")
        for value in (1.0, 2.0):  # a new file, and one that is there
            save_tensors(tmp_path / "weights", {"x": torch.tensor([value])})
            assert load_file(tmp_path / "weights")["x"].item() == value
            assert (tmp_path / "weights").stat().st_mode == (tmp_path / "text").stat().st_mode
    finally:
        os.umask(told)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", [(1,), (7, 3), (2, 5_000)], ids=str)
def test_one_number_that_is_not_finite_is_found_wherever_it_is(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    generator = torch.Generator().manual_seed(1)
    tensor = torch.randn(shape, generator=generator).to(dtype)
    largest = torch.finfo(dtype).max
    tensor.view(-1)[0] = largest
    assert all_finite(tensor) and all_finite(-tensor)
    for bad in (math.nan, math.inf, -math.inf):
        for place in {0, tensor.numel() // 2, tensor.numel() - 1}:
            damaged = tensor.clone()
            damaged.view(-1)[place] = bad
            assert not all_finite(damaged) and not bool(torch.isfinite(damaged).all())


def test_nothing_is_finite() -> None:
    assert all_finite(torch.empty(0, 4))
