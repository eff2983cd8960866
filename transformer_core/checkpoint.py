"""Checkpoint folders: a trained model with all that is needed to run it, safe to load from any source.

    config.json       format version, every option, special ids, decoding defaults
    model-00001-of-00002.safetensors ...   float16, each under 15 MB, and model.safetensors.index.json
    tokenizer.model   SentencePiece; source_tokenizer.model beside it if the source has a vocabulary of its own
    vocabulary.json   tokens by id, where those are not SentencePiece's: of converted models
    metrics.json      its languages, how it was trained
    journal.json      the course of its training, and recipe.toml to train it again; not in every checkpoint
    README.md         the model card
    manifest.json     sha256 of every file above, and the weights_hash, which is the model's identity: manifest.py
    derived/          what was measured from the model since: measurements.py; not in every checkpoint

Nothing is ever unpickled. Float16 on disk; computed in float32, to which large models are raised: float16_matrices.py.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, SpecialIds
from transformer_core.model.transformer import Transformer
from transformer_core.paper.flops import LARGE_MODEL, parameters
from transformer_core.storage.bundled_models import hub_hint
from transformer_core.storage.files import (
    TOKENIZER_FILE,
    VOCABULARY_FILE,
    atomic_directory,
    atomic_write_bytes,
    problem_of,
    sha256,
    write_json,
)
from transformer_core.storage.files import CheckpointError as CheckpointError
from transformer_core.storage.format_1 import current_names
from transformer_core.storage.identity import weights_hash
from transformer_core.storage.manifest import MANIFEST_FILE, Manifest, is_plain, manifest_hash, read_object
from transformer_core.storage.measurements import FOLDER as DERIVED_FOLDER
from transformer_core.storage.measurements import MEASURED, derived_metrics, json_file, write_derived
from transformer_core.storage.tensor_files import (
    ENDING,
    INDEX_FILE,
    TensorsOnDemand,
    all_finite,
    load_shards,
    open_shards,
    save_shards,
    weight_map,
)
from transformer_core.text.tokenizer import Tokenizer, TokenizerError, source_file
from transformer_core.text.vocab_json_tokenizer import load_tokenizer

FORMAT_VERSION = 1
_MAX_JSON_BYTES = 16_000_000

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint folder.

    Args:
        folder: Its path.
        model: In evaluation mode; computes in float32.
        tokenizer: Its vocabulary.
        decoding: Its decoding defaults.
        metrics: Contents of `metrics.json`, with later measurements.
        weights_hash: The model's identity: see identity.py.
        problem: Why what was derived is left out, such as that it is of another model; empty when nothing is.
        files_hash: Changes with any file of the folder that has an effect here.
    """

    folder: Path
    model: Transformer
    tokenizer: Tokenizer
    decoding: DecodingConfig
    metrics: dict[str, Any]
    weights_hash: str
    problem: str
    files_hash: str


def save_checkpoint(
    folder: Path,
    weights: Mapping[str, Tensor],
    model: ModelConfig,
    tokenizer: Tokenizer,
    *,
    decoding: DecodingConfig | None = None,
    metrics: dict[str, Any] | None = None,
    card: str = "",
    texts: Mapping[str, str] | None = None,
    derived: Mapping[str, bytes] | None = None,
) -> None:
    """Write a checkpoint folder atomically; replaces an existing one.

    Args:
        folder: Where to.
        weights: Name -> tensor; rounded to float16. `TensorsOnDemand` are read one file's worth at a time.
        model: The configuration that fits the weights.
        tokenizer: The vocabulary.
        decoding: Defaults for translating.
        metrics: Scores and facts; what is measured goes into `derived/`.
        card: The model card, in Markdown.
        texts: Further text files by their names.
        derived: Further files of `derived/` by their names, such as `history/history.json`.

    Raises:
        ValueError: Weights that do not fit, or that float16 cannot hold.
    """
    half = TensorsOnDemand.converted(weights, _in_float16)
    Transformer.check_shapes(model, half.shapes)  # fails here rather than at the next start
    with atomic_directory(folder) as partial:
        save_shards(partial, half, torch.float16.itemsize)
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
        measured = {name: value for name, value in (metrics or {}).items() if name in MEASURED and type(value) is dict}
        facts = {name: value for name, value in (metrics or {}).items() if name not in measured}
        write_json(partial / "metrics.json", facts)
        (partial / "README.md").write_text(card or "# A model trained with Headlight\n", encoding="utf-8")
        for name, text in (texts or {}).items():
            (partial / name).write_text(text, encoding="utf-8")
        identity = write_manifest(partial).weights_hash
        of_metrics = {f"{name}.json": json_file(value) for name, value in measured.items() if value}
        if later := {**of_metrics, **(derived or {})}:
            write_derived(partial, identity, later)


def _in_float16(name: str, tensor: Tensor) -> Tensor:
    half = tensor.detach().cpu().to(torch.float16).contiguous()
    if not all_finite(half):
        raise ValueError(f"{name} has values that float16 cannot hold")
    return half


def write_manifest(folder: Path) -> Manifest:
    """List the files of a checkpoint with their hashes; to be called again after a change, such as to its card.

    Raises:
        CheckpointError: The configuration, a vocabulary or the weights cannot be read.
    """
    files = {
        file.relative_to(folder).as_posix(): file
        for file in sorted([*folder.glob("*"), *folder.glob("*/*")])
        if file.is_file() and file.name != MANIFEST_FILE and file.parent != folder / DERIVED_FOLDER
    }
    hashes = {name: sha256(file) for name, file in files.items() if is_plain(name)}  # not .DS_Store of a Mac
    _check_listed(folder, hashes)
    tokenizer = _load_tokenizer(folder)
    identity = weights_hash(_read_json(folder / "config.json"), _vocabularies(tokenizer), open_shards(folder))
    manifest = Manifest(files=hashes, weights_hash=identity)
    manifest.write(folder)
    return manifest


def write_beside(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace files that no model needs, such as its card, in a checkpoint whose manifest is of this format.

    The folder loads at every moment: meanwhile the manifest leaves these files out, so no reader checks them.
    """
    manifest = Manifest.read(folder)
    others = {name: digest for name, digest in manifest.files.items() if name not in files}
    listed = others | {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    replace(manifest, files=others).write(folder)
    for name, data in files.items():
        atomic_write_bytes(folder / name, data)
    replace(manifest, files=listed).write(folder)


def load_checkpoint(folder: Path | str, device: torch.device | str = "cpu", *, half: bool | None = False) -> Checkpoint:
    """Read and check a checkpoint folder: its hashes, its names and its shapes.

    Args:
        folder: Its path.
        device: Where the model computes.
        half: Whether matrices stay in float16, mapped from the files; see `float16_matrices.py`. None: for large models
            on a CPU.

    Raises:
        CheckpointError: Names the file that is missing, damaged, or does not fit.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(folder, f"checkpoint directory not found{hub_hint(str(folder))}")
    try:
        version = files_hash(folder)  # before the rest: what is put there meanwhile is another checkpoint
    except OSError as error:
        if other := _other_folder(folder):
            raise CheckpointError(folder, other) from error
        Manifest.read(folder)  # says more
        raise CheckpointError(folder / MANIFEST_FILE, f"cannot be read: {problem_of(error)}") from error
    manifest = Manifest.read(folder)
    _check_files(folder, manifest)
    config = _read_json(folder / "config.json")
    if config.get("format_version") != FORMAT_VERSION:
        raise CheckpointError(
            folder / "config.json", f"has format {config.get('format_version')!r}, this program reads {FORMAT_VERSION}"
        )
    try:
        options = current_names(config)
        model_config = ModelConfig.from_dict(options["model"])
        decoding = DecodingConfig.from_dict(options["decoding"])
        special = SpecialIds.from_dict(options["special_ids"])
    except (ConfigError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(folder / "config.json", f"invalid options: {error}") from error
    tokenizer = _load_tokenizer(folder)
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
    if half is None:
        half = torch.device(device).type == "cpu" and parameters(model_config) >= LARGE_MODEL
    weights = _checked_weights(folder, manifest)
    identity = weights_hash(config, _vocabularies(tokenizer), weights)
    if manifest.weights_hash not in ("", identity):
        _check_shards(folder, manifest)  # names the one that is damaged
        raise CheckpointError(folder / MANIFEST_FILE, "has the weights_hash of another model")
    try:
        model = Transformer.from_weights(model_config, TensorsOnDemand.draining(weights), half=half)
    except ValueError as error:
        raise CheckpointError(folder / INDEX_FILE, str(error)) from error
    measured, problem = _measured(folder, identity)
    return Checkpoint(
        folder=folder,
        model=model.to(device).eval(),
        tokenizer=tokenizer,
        decoding=decoding,
        metrics=current_names(_read_json(folder / "metrics.json") | measured),
        weights_hash=identity,
        problem=problem,
        files_hash=version,
    )


def _other_folder(folder: Path) -> str:
    """Return what to do with a training run or a model of transformers; empty for anything else."""
    if (folder / "metrics.jsonl").is_file():
        return "is a training run; average it: python -m transformer_core average RUN --last 5 --out MODEL"
    if (folder / "config.json").is_file() and "model_type" in _read_json(folder / "config.json"):
        return "is a model of transformers; convert it: python -m transformer_core convert FOLDER --out MODEL"
    return ""


def files_hash(folder: Path) -> str:
    """Return the hash of a checkpoint's manifests, which changes with any file. Raises OSError when it has none."""
    of_derived = folder / DERIVED_FOLDER / MANIFEST_FILE
    return manifest_hash(folder) + (manifest_hash(of_derived.parent) if of_derived.is_file() else "")


def _measured(folder: Path, identity: str) -> tuple[dict[str, Any], str]:
    """Return the measured parts of the metrics, or why they are left out: the model is sound without them."""
    try:
        return derived_metrics(folder, identity), ""
    except CheckpointError as error:
        log.warning("left out: %s", error)
        return {}, error.in_folder


def _load_tokenizer(folder: Path) -> Tokenizer:
    try:
        return load_tokenizer(folder / TOKENIZER_FILE)
    except TokenizerError as error:
        raise CheckpointError(folder / TOKENIZER_FILE, error.reason) from error


def _vocabularies(tokenizer: Tokenizer) -> dict[str, bytes]:
    """Return the bytes of each vocabulary by the name of its file."""
    return tokenizer.files(Path(TOKENIZER_FILE))


def _read_json(path: Path) -> dict[str, Any]:
    return read_object(path, _MAX_JSON_BYTES)


def _check_files(folder: Path, manifest: Manifest) -> None:
    """Compare every file with its hash, but the weights where the weights_hash covers them: they are read once."""
    manifest.check_size(folder)
    of_tensors = {name for name in manifest.files if name.endswith(ENDING)}
    for name in manifest.files:
        if name not in of_tensors:
            manifest.check(folder, name)
    _check_listed(folder, manifest.files)
    covered = set(weight_map(folder).values()) if manifest.weights_hash else set()
    for name in of_tensors:
        manifest.check(folder, name, contents=name not in covered)


def _check_listed(folder: Path, names: Collection[str]) -> None:
    """Raise CheckpointError when a manifest of these names leaves out what a checkpoint needs."""
    if unlisted := _needed(folder).difference(names):
        raise CheckpointError(folder / min(unlisted), f"is not listed in {MANIFEST_FILE}")


def _checked_weights(folder: Path, manifest: Manifest) -> dict[str, Tensor]:
    try:
        return load_shards(folder)
    except CheckpointError:
        _check_shards(folder, manifest)  # a damaged file cannot be read either, and damage says more
        raise


def _check_shards(folder: Path, manifest: Manifest) -> None:
    for name in set(weight_map(folder).values()):
        manifest.check(folder, name)


def _needed(folder: Path) -> set[str]:
    """Return the names of the files that a checkpoint needs."""
    others = (source_file(folder / TOKENIZER_FILE), folder / VOCABULARY_FILE)
    vocabularies = {TOKENIZER_FILE, *(file.name for file in others if file.exists())}
    return {"config.json", "metrics.json", INDEX_FILE, *vocabularies, *weight_map(folder).values()}


def checkpoint_bytes(folder: Path) -> int:
    """Return the size of all files of a checkpoint, in bytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
