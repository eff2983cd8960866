"""Checkpoint folders: a trained model with all that is needed to run it, safe to load from any source.

    config.json       format version, every option, special ids, decoding defaults
    model-00001-of-00002.safetensors ...   float16, each under 15 MB, and model.safetensors.index.json
    tokenizer.model   SentencePiece; source_tokenizer.model beside it if the source has a vocabulary of its own
    metrics.json      scores, alignment of heads, how it was trained
    journal.json      the course of its training, and recipe.toml to train it again; not in every checkpoint
    history/          how its attention heads developed, see history.py; not in every checkpoint
    README.md         the model card
    manifest.json     sha256 of every other file; its own hash is the checkpoint's hash

Nothing is ever unpickled. Float16 on disk, float32 in use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, SpecialIds
from transformer_core.files import TOKENIZER_FILE, atomic_directory, sha256, write_json
from transformer_core.files import CheckpointError as CheckpointError
from transformer_core.model import Transformer, load_weights
from transformer_core.tensor_files import save_tensors
from transformer_core.tokenizer import Tokenizer, TokenizerError, source_file

FORMAT_VERSION = 1
SHARD_BYTES = 15_000_000
_INDEX = "model.safetensors.index.json"
# A file of the checkpoint, or of a folder in it, and never one outside.
_PLAIN = re.compile(r"(?:[^/\\:.][^/\\:]*/)?[^/\\:.][^/\\:]*")


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint folder.

    Args:
        folder: Its path.
        model: In evaluation mode, float32.
        tokenizer: Its vocabulary.
        decoding: Its decoding defaults.
        metrics: Contents of `metrics.json`; may be empty.
        hash: sha256 of the manifest; the same for the same files.
    """

    folder: Path
    model: Transformer
    tokenizer: Tokenizer
    decoding: DecodingConfig
    metrics: dict[str, Any]
    hash: str


def save_checkpoint(
    folder: Path,
    weights: dict[str, Tensor],
    model: ModelConfig,
    tokenizer: Tokenizer,
    *,
    decoding: DecodingConfig | None = None,
    metrics: dict[str, Any] | None = None,
    card: str = "",
    texts: Mapping[str, str] | None = None,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Write a checkpoint folder atomically; replaces an existing one.

    Args:
        folder: Where to.
        weights: Name -> tensor; rounded to float16.
        model: The configuration that fits the weights.
        tokenizer: The vocabulary.
        decoding: Defaults for translating.
        metrics: Scores and facts.
        card: The model card, in Markdown.
        texts: Further text files by their names.
        files: Further files by their names, which may name a folder in front: `history/history.json`.

    Raises:
        ValueError: Weights that do not fit, or that float16 cannot hold.
    """
    half = {name: tensor.detach().cpu().to(torch.float16).contiguous() for name, tensor in weights.items()}
    broken = [name for name, tensor in half.items() if not bool(torch.isfinite(tensor).all())]
    if broken:
        raise ValueError(f"{broken[0]} has values that float16 cannot hold")
    load_weights(Transformer(model), half)  # fails here rather than at the next start
    with atomic_directory(folder) as partial:
        _save_shards(partial, half)
        write_json(
            partial / "config.json",
            {
                "format_version": FORMAT_VERSION,
                "model": model.to_dict(),
                "special_ids": tokenizer.special.to_dict(),
                "decoding": (decoding or DecodingConfig()).to_dict(),
            },
        )
        tokenizer.save(partial / TOKENIZER_FILE)
        write_json(partial / "metrics.json", metrics or {})
        (partial / "README.md").write_text(card or "# A model trained with Headlight\n", encoding="utf-8")
        for name, text in (texts or {}).items():
            (partial / name).write_text(text, encoding="utf-8")
        for name, data in (files or {}).items():
            (partial / name).parent.mkdir(exist_ok=True)
            (partial / name).write_bytes(data)
        write_manifest(partial)


def write_manifest(folder: Path) -> None:
    """List the sha256 of every file of a checkpoint; to be called again after a change, such as to its card."""
    files = sorted(
        file for file in [*folder.glob("*"), *folder.glob("*/*")] if file.is_file() and file.name != "manifest.json"
    )
    write_json(folder / "manifest.json", {file.relative_to(folder).as_posix(): sha256(file) for file in files})


def _save_shards(folder: Path, weights: dict[str, Tensor]) -> None:
    shards: list[dict[str, Tensor]] = [{}]
    size = 0
    for name, tensor in weights.items():
        nbytes = tensor.numel() * tensor.element_size()
        if shards[-1] and size + nbytes > SHARD_BYTES:
            shards.append({})
            size = 0
        shards[-1][name] = tensor
        size += nbytes
    index = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        save_tensors(folder / file, shard)
        index.update(dict.fromkeys(shard, file))
    write_json(folder / _INDEX, {"metadata": {"format": "pt"}, "weight_map": index})


def load_checkpoint(folder: Path | str, device: torch.device | str = "cpu") -> Checkpoint:
    """Read and check a checkpoint folder: its hashes, its names and its shapes.

    Raises:
        CheckpointError: Names the file that is missing, damaged, or does not fit.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(folder, "checkpoint directory not found")
    _check_manifest(folder)
    digest = sha256(folder / "manifest.json")  # before the rest: what is put there meanwhile is another checkpoint
    config = _read_json(folder / "config.json")
    if config.get("format_version") != FORMAT_VERSION:
        raise CheckpointError(
            folder / "config.json", f"has format {config.get('format_version')!r}, this program reads {FORMAT_VERSION}"
        )
    try:
        model_config = ModelConfig.from_dict(config["model"])
        decoding = DecodingConfig.from_dict(config["decoding"])
        special = SpecialIds.from_dict(config["special_ids"])
    except (ConfigError, KeyError, TypeError) as error:
        raise CheckpointError(folder / "config.json", f"invalid options: {error}") from error
    try:
        tokenizer = Tokenizer.load(folder / TOKENIZER_FILE)
    except TokenizerError as error:
        raise CheckpointError(folder / TOKENIZER_FILE, str(error)) from error
    if len(tokenizer) != model_config.vocab_size or tokenizer.special != special:
        raise CheckpointError(
            folder / TOKENIZER_FILE, f"has {len(tokenizer)} tokens, config.json says {model_config.vocab_size}"
        )
    of_source = len(tokenizer.source) if tokenizer.separate else 0
    if of_source != model_config.source_vocab_size:
        raise CheckpointError(
            source_file(folder / TOKENIZER_FILE),
            f"has {of_source} tokens, config.json says {model_config.source_vocab_size}; 0 means no such file",
        )
    model = Transformer(model_config)
    try:
        load_weights(model, _load_shards(folder))
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(folder / _INDEX, str(error)) from error
    return Checkpoint(
        folder=folder,
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        decoding=decoding,
        metrics=_read_json(folder / "metrics.json"),
        hash=digest,
    )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointError(path, f"cannot be read: {error}") from error
    if not isinstance(value, dict):
        raise CheckpointError(path, "expected a JSON object")
    return value


def _check_manifest(folder: Path) -> None:
    """Compare every file with its hash."""
    manifest = _read_json(folder / "manifest.json")
    for name, expected in manifest.items():
        file = folder / name
        if not _PLAIN.fullmatch(name) or not file.is_file():
            raise CheckpointError(file, "is missing")
        if sha256(file) != expected:
            raise CheckpointError(file, "is damaged: its sha256 is not the one in manifest.json")
    unlisted = _needed(folder) - set(manifest)
    if unlisted:
        raise CheckpointError(folder / min(unlisted), "is not listed in manifest.json")


def _needed(folder: Path) -> set[str]:
    """Names of the files that a checkpoint cannot do without."""
    of_source = source_file(folder / TOKENIZER_FILE)
    vocabularies = {TOKENIZER_FILE, *([of_source.name] if of_source.exists() else [])}
    return {"config.json", "metrics.json", _INDEX, *vocabularies, *_weight_map(folder).values()}


def _weight_map(folder: Path) -> dict[str, str]:
    """Name of each weight -> name of the shard that holds it."""
    shards = _read_json(folder / _INDEX).get("weight_map")
    if not (isinstance(shards, dict) and all(isinstance(shard, str) for shard in shards.values())):
        raise CheckpointError(folder / _INDEX, "has no weight_map from weights to files")
    return shards


def _load_shards(folder: Path) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for file in sorted(set(_weight_map(folder).values())):
        try:
            weights.update(load_file(folder / file))
        except (OSError, SafetensorError) as error:
            raise CheckpointError(folder / file, f"cannot be read: {error}") from error
    return weights


def checkpoint_bytes(folder: Path) -> int:
    """Size of all files of a checkpoint."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
