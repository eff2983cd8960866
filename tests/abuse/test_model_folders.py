"""Folders that a stranger made to look like a model: each is refused by name, at once and without taking memory."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from tests.abuse.samples import SMALL
from tests.abuse.target import within
from transformer_core import load_checkpoint
from transformer_core.attention_maps import MapsTooLarge
from transformer_core.checkpoint import write_manifest
from transformer_core.history.snapshots import History
from transformer_core.model_export.exporting import export_model
from transformer_core.storage.files import CheckpointError, read_regular
from transformer_core.storage.manifest import MANIFEST_FILE
from transformer_core.text.tokenizer import Tokenizer, TokenizerError
from viz_app.model_card import card
from viz_app.serving.decoding.decoding_limits import MAX_MAP_BYTES
from viz_app.serving.models.loader import get_translation_service
from viz_app.serving.models.registry import languages

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
MEGABYTE = 2**20


@pytest.fixture
def folder(random_checkpoint: Path, tmp_path: Path) -> Path:
    """A model that opens, to be made hostile."""
    copy = tmp_path / "stranger"
    shutil.copytree(random_checkpoint, copy)
    load_checkpoint(copy)
    return copy


def relist(folder: Path) -> None:
    """Write a manifest by hand: its hashes fit whatever the files hold."""
    path = folder / MANIFEST_FILE
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["files"] = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in manifest["files"]}
    manifest["weights_hash"] = ""
    path.write_text(json.dumps(manifest), encoding="utf-8")


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    edit(values)
    path.write_text(json.dumps(values), encoding="utf-8")


def refusal(folder: Path) -> CheckpointError:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder)
    return caught.value


@posix
@pytest.mark.parametrize(("kind", "said"), [("link", "is a link"), ("pipe", "not a regular file")])
@pytest.mark.parametrize("name", ["README.md", "config.json", "metrics.json", "tokenizer.model", "manifest.json"])
def test_nothing_is_read_through_a_link_and_a_pipe_keeps_nobody_waiting(
    folder: Path, tmp_path: Path, name: str, kind: str, said: str
) -> None:
    secret = (folder / name).rename(tmp_path / "secret")
    if kind == "link":
        (folder / name).symlink_to(secret)
    else:
        os.mkfifo(folder / name)
    assert said in refusal(folder).reason
    assert languages(folder) is None or name != "metrics.json"
    if name == "README.md":
        with pytest.raises(CheckpointError, match=said):
            card.prose(folder)


@posix
def test_nor_through_a_link_to_the_folder_of_what_was_derived(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.rmtree(folder / "derived", ignore_errors=True)
    elsewhere.mkdir()
    (folder / "derived").symlink_to(elsewhere)
    assert "derived: is a link" in load_checkpoint(folder).problem


def test_a_file_that_is_not_listed_is_not_shown(folder: Path) -> None:
    change(folder / MANIFEST_FILE, lambda manifest: manifest["files"].pop("README.md"))
    with pytest.raises(CheckpointError, match="is not listed"):
        card.prose(folder)


def test_a_huge_card_and_one_of_other_bytes(folder: Path) -> None:
    (folder / "README.md").write_text("x" * 36_000_000, encoding="utf-8")
    relist(folder)
    with pytest.raises(CheckpointError, match="36,000,000 bytes, but at most 100,000"):
        card.prose(folder)
    (folder / "README.md").write_bytes(b"\xff\xfe")
    relist(folder)
    with pytest.raises(CheckpointError, match="not UTF-8"):
        card.prose(folder)


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 200_000, "[" * 200_000, "null", '{"languages": {"source": 9223372036854775808, "target": []}}', "NaN"],
)
def test_strange_metrics_say_nothing_and_break_nothing(folder: Path, text: str) -> None:
    (folder / "metrics.json").write_text(text, encoding="utf-8")
    assert languages(folder) is None


def test_a_sparse_file_is_measured_before_it_is_read(folder: Path) -> None:
    with (folder / "metrics.json").open("r+b") as file:
        file.truncate(3 * 10**9)
    with within(50), pytest.raises(CheckpointError, match="3,000,000,000 bytes"):
        assert languages(folder) is None
        read_regular(folder / "metrics.json", 16 * MEGABYTE)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("model", "num_layers", 200_000),
        ("model", "d_ff", 3_000_000),
        ("model", "vocab_size", 2**63),
        ("model", "d_model", 10**9),
        ("model", "num_heads", 10**6),
        ("decoding", "extra_length", 10**9),
        ("decoding", "min_length", 20_000),
        ("decoding", "beam", 10**6),
        ("decoding", "alternatives", 10**6),
        ("decoding", "max_source_tokens", 10**9),
        *(("decoding", "alpha", alpha) for alpha in (float("inf"), float("nan"), 1e308, 11)),
    ],
)
def test_sizes_beyond_reason_are_refused_by_name(folder: Path, part: str, name: str, value: float) -> None:
    change(folder / "config.json", lambda config: config[part].update({name: value}))
    relist(folder)
    error = refusal(folder)
    assert error.path.name == "config.json" and f"{name} is {value}" in error.reason and "between" in error.reason


@pytest.mark.parametrize(("name", "value"), [("d_ff", 900_000), ("num_layers", 200), ("max_positions", 1_000_000)])
def test_sizes_that_the_weights_do_not_have_take_no_memory(folder: Path, name: str, value: int) -> None:
    change(folder / "config.json", lambda config: config["model"].update({name: value}))
    if name == "max_positions":
        change(folder / "config.json", lambda config: config["model"].update(positions="learned"))
    relist(folder)
    with within(100):  # such a d_ff alone has gigabytes
        refusal(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named(folder: Path, value: float) -> None:
    path = next(folder.glob("*.safetensors"))
    weights = load_file(path)
    name = next(iter(weights))
    weights[name].reshape(-1)[0] = value
    save_file(weights, path)
    relist(folder)
    error = refusal(folder)
    assert error.path == path and error.reason == f"{name} has values that are not finite numbers"


def test_a_vocabulary_of_other_bytes(folder: Path) -> None:
    path = folder / "tokenizer.model"
    data = path.read_bytes()
    token = Tokenizer.load(path).token(20).encode()
    path.write_bytes(data.replace(token, b"\xff" * len(token), 1))
    with pytest.raises(TokenizerError, match=r"tokenizer\.model"):
        Tokenizer.load(path)


def test_a_huge_vocabulary_is_not_read(folder: Path) -> None:
    with (folder / "tokenizer.model").open("r+b") as file:
        file.truncate(10**9)
    with pytest.raises(TokenizerError, match="1,000,000,000 bytes"):
        Tokenizer.load(folder / "tokenizer.model")


@posix
def test_a_history_through_a_link(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "checkpoints/en-de/derived/history", tmp_path / "history")
    (tmp_path / "history/history.json").rename(tmp_path / "elsewhere")
    (tmp_path / "history/history.json").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="is a link"):
        History.load(tmp_path / "history")


@pytest.mark.parametrize("name", ["config.json", "manifest.json", "tokenizer.model", "model.safetensors.index.json"])
@pytest.mark.parametrize("damage", ["missing", "a folder", "other bytes"])
def test_the_message_for_a_visitor_names_no_folder_of_this_machine(folder: Path, name: str, damage: str) -> None:
    (folder / name).unlink()
    if damage == "a folder":
        (folder / name).mkdir()
    elif damage == "other bytes":
        (folder / name).write_bytes(b"\xff")
        if name != MANIFEST_FILE:
            relist(folder)
    error = refusal(folder)
    assert str(folder.parent) not in error.in_folder and error.in_folder.startswith(f"stranger/{name}: ")


def test_a_message_steers_no_terminal(folder: Path) -> None:
    change(folder / MANIFEST_FILE, lambda manifest: manifest["files"].update({"\x1b[2J\u202e": "0" * 64}))
    error = refusal(folder)
    assert str(error).isprintable() and r"stranger/\x1b[2J\u202e: is missing" in error.in_folder


@pytest.mark.parametrize("name", ["manifest.json", "derived/manifest.json"])
def test_a_huge_manifest_is_not_read_to_tell_whether_it_has_changed(folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    with (folder / name).open("ab") as file:
        file.truncate(10**12)  # to read so much takes many minutes
    assert "has 1,000,000,000,000 bytes" in refusal(folder).reason


def test_a_huge_file_is_not_read_to_compare_its_hash(folder: Path) -> None:
    with (folder / "junk").open("wb") as file:
        file.truncate(10**12)
    change(folder / MANIFEST_FILE, lambda manifest: manifest["files"].update({"junk": "0" * 64}))
    assert "but at most 4,000,000,000 are allowed" in refusal(folder).reason


def test_the_app_limits_the_maps_of_a_stranger_who_never_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 tokens, as long as a folder may ask for, would take gigabytes: heads times tokens squared."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINT", str(folder))
    translator = get_translation_service().translator
    heads = translator.config.num_layers * translator.config.num_heads
    source = translator.encode("a b c")
    with pytest.raises(MapsTooLarge):
        translator.attention(source, [5] * 10_000, finished=True)
    assert 4 * heads * 10_000**2 > MAX_MAP_BYTES > 4 * 6 * 8 * 3 * 600**2  # of the shipped models never


@pytest.mark.parametrize("converted", [[], "mit", {"licence": ["mit"]}, {"licence": "mit\n# <script>"}], ids=str)
def test_an_export_takes_no_text_of_a_stranger_for_a_licence(tmp_path: Path, converted: Any) -> None:
    model = Path(shutil.copytree(SMALL / "base", tmp_path / "model"))
    metrics = json.loads((model / "metrics.json").read_text(encoding="utf-8"))
    (model / "metrics.json").write_text(json.dumps({**metrics, "converted": converted}), encoding="utf-8")
    write_manifest(model)
    assert export_model(model, tmp_path / "out", "transformers").licence == ""
