"""Everything of one sentence as a zip: what it holds, that it is made again, what is left out."""

from __future__ import annotations

import io
import json
import shlex
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.app.conftest import SENTENCE
from transformer_core.attention_maps import KINDS, AttentionMaps
from transformer_core.cli import main
from transformer_core.translator import Translator
from viz_app.cli import PROGRAM
from viz_app.explorer_view import sentence_bundle as module


def index_of(data: bytes) -> list[dict[str, object]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        found: list[dict[str, object]] = json.loads(archive.read("index.json"))["figures"]
    return found


@pytest.mark.parametrize("options", [["--head=decoder.2.3", "--unit=words", "--language=ko", "--beam=2"], []])
def test_the_zip_is_made_again_by_the_command_in_it(
    options: list[str], run: Callable[..., int], random_checkpoint: Path, tmp_path: Path
) -> None:
    out = tmp_path / "private-name.zip"
    assert run("sentence", f"--text={SENTENCE}", *options, f"--out={out}") == 0
    with zipfile.ZipFile(out) as archive:
        page = archive.read("index.html").decode()
    assert "private-name" not in page
    command = page.partition("python -m viz_app sentence")[2].partition("</small>")[0]
    words = shlex.split(command.replace("&#x27;", "'").replace("&quot;", '"').replace("&amp;", "&"))
    assert words[-1] == f"--out={module.FILE_NAME}"
    assert main(["sentence", *words[:-1], f"--out={tmp_path / 'again.zip'}"], PROGRAM) == 0
    assert (tmp_path / "again.zip").read_bytes() == out.read_bytes()

    if not options:
        holds_all_weights_of_every_head(out, Translator.load(random_checkpoint).translate(SENTENCE).attention)


def holds_all_weights_of_every_head(out: Path, maps: AttentionMaps) -> None:
    with zipfile.ZipFile(out) as archive:
        names = set(archive.namelist())
        for kind in KINDS:
            expected = getattr(maps, kind)
            with np.load(io.BytesIO(archive.read(f"npz/headlight_{kind}_all.npz"))) as arrays:
                actual = arrays["weights"].reshape(expected.shape)
            np.testing.assert_allclose(actual, expected, atol=1e-6)
            assert {f"{format}/headlight_{kind}_all.{format}" for format in module.DRAWN} <= names
    assert {f"{format}/headlight_beam.{format}" for format in (*module.DRAWN, *module.NUMBERS)} <= names
    for figure in index_of(out.read_bytes()):
        assert figure["caption"] and figure["alt"]
        files = figure["files"]
        assert isinstance(files, list) and all("viz_app export" in file["command"] for file in files)


def test_a_given_translation_has_no_search(run: Callable[..., int], tmp_path: Path) -> None:
    out = tmp_path / "a.zip"
    assert run("sentence", f"--text={SENTENCE}", "--target=Ja.", f"--out={out}") == 0
    assert len(index_of(out.read_bytes())) == 1 + len(KINDS)


def test_numbers_of_a_long_sentence_are_left_out_and_the_index_says_so(
    run: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WEIGHTS", 100)
    out = tmp_path / "a.zip"
    assert run("sentence", f"--text={SENTENCE}", "--target=Ja.", f"--out={out}") == 0
    with zipfile.ZipFile(out) as archive:
        names = archive.namelist()
        assert "more than 100 weights" in archive.read("index.html").decode()
    assert not [name for name in names if name.startswith("npz/") and "_all" in name]
    assert [name for name in names if name.startswith("pdf/") and "_all" in name]
