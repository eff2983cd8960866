"""Settings of a training run, merged from preset, recipe and options, and kept in OUT/config.json."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from transformer_core.cli.arguments import UsageError
from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, TrainingConfig
from transformer_core.paper.presets import PRESETS, preset
from transformer_core.storage.files import write_json
from transformer_core.storage.format_1 import current_names

FORMAT_VERSION = 1
CONFIG_FILE = "config.json"

# Options that a resumed training may change: the steps done so far do not depend on them. `steps` and `cooldown_steps`
# set how many follow, and how the learning rate falls at the end.
FREE_ON_RESUME = frozenset(
    {
        "steps",
        "cooldown_steps",
        "log_every",
        "validate_every",
        "validation_sentences",
        "best_metric",
        "patience",
        "tensorboard",
        "checkpoint_every",
        "checkpoint_minutes",
        "keep_checkpoints",
        "snapshots",
        "snapshots_from",
        "plateau_steps",
        "plateau_loss",
        "parallel",
        "activation_checkpointing",
    }
)


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """All options of one training run.

    Args:
        preset: Name of the preset that it started from.
        model: Shape of the model.
        training: How it is trained.
        data: Folder of the prepared text.
        corpus: Facts of the text when training began: pairs, tokens, hash of the vocabulary.
        train: The text that was prepared for it; empty with --data.
        valid: Validation sets.
        init_from: Checkpoint whose weights it started from; empty for new weights.
        processes: How many train together; each step uses `training.accumulate` batches of each.
    """

    preset: str
    model: ModelConfig
    training: TrainingConfig
    data: str
    corpus: dict[str, Any]
    train: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    init_from: str = ""
    processes: int = 1

    @property
    def decoding(self) -> DecodingConfig:
        """Decoding defaults of the preset; the paper's where the preset is gone."""
        return PRESETS[self.preset].decoding if self.preset in PRESETS else DecodingConfig()

    def save(self, out: Path, device: str, threads: int) -> None:
        """Write OUT/config.json; device and threads are for information only."""
        machine = {"device": device, "threads": threads}
        write_json(out / CONFIG_FILE, {"format_version": FORMAT_VERSION, **asdict(self), "machine": machine})

    @classmethod
    def load(cls, out: Path) -> RunSettings:
        """Read OUT/config.json. Raises UsageError for a folder without a training run."""
        try:
            values = json.loads((out / CONFIG_FILE).read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            hint = f"{CONFIG_FILE} is missing; {prepared_text(out)}"
            raise UsageError(f"{out} is not the folder of a training run: {hint}") from error
        except (OSError, ValueError) as error:
            raise UsageError(f"{out / CONFIG_FILE} cannot be read: {error}") from error
        if not isinstance(values, dict) or values.pop("format_version", None) != FORMAT_VERSION:
            raise UsageError(f"{out / CONFIG_FILE} does not have format version {FORMAT_VERSION}")
        values, known = current_names(values), {field.name for field in fields(cls)}
        try:
            return cls(
                **{name: value for name, value in values.items() if name in known - {"model", "training"}},
                model=ModelConfig.from_dict(values["model"]),
                training=TrainingConfig.from_dict(values["training"]),
            )
        except KeyError as error:  # of a checkpoint, say
            raise UsageError(f"{out} is not the folder of a training run: {CONFIG_FILE} has no {error}") from error
        except (TypeError, ConfigError) as error:
            raise UsageError(f"{out / CONFIG_FILE} is invalid: {error}") from error


def prepared_text(out: Path) -> str:
    """Return what to do about a folder without a training run, such as one whose preparation ended too early."""
    data = out / "data"
    return f"its text is prepared: use --data {data} with another --out" if data.is_dir() else "choose a new folder"


def merged_model(base: ModelConfig, changes: dict[str, Any]) -> ModelConfig:
    """Change some options of the base; d_k and d_v follow d_model / num_heads if they did before."""
    values = base.to_dict()
    for name in ("d_k", "d_v"):
        if values[name] * base.num_heads == base.d_model:
            values[name] = 0
    return ModelConfig.from_dict({**values, **changes})


def changed_options(settings: RunSettings) -> dict[str, dict[str, Any]]:
    """Return the options in which a training run differs from its preset, by group, as a recipe has them."""
    base = preset(settings.preset)
    groups: dict[str, dict[str, Any]] = {}
    for group, ours, theirs in (
        ("model", settings.model, base.model),
        ("training", settings.training, base.training),
    ):
        was = theirs.to_dict()
        groups[group] = {name: value for name, value in ours.to_dict().items() if value != was[name]}
    for name in ("d_k", "d_v"):  # which follow d_model / num_heads by themselves
        without = {key: value for key, value in groups["model"].items() if key != name}
        try:
            if merged_model(base.model, without) == settings.model:
                groups["model"] = without
        except ConfigError:
            continue
    return {group: options for group, options in groups.items() if options}


def resumed(stored: RunSettings, explicit: dict[str, Any], processes: int = 1) -> RunSettings:
    """Change the stored settings by the options given now.

    Raises:
        UsageError: An option was changed that would change the training.
    """
    if "preset" in explicit:
        preset(explicit["preset"])
    new: dict[str, object] = {"preset": explicit.get("preset", stored.preset)}
    old: dict[str, object] = {"preset": stored.preset}
    for group in ("model", "training"):
        for name, value in explicit.get(group, {}).items():
            if name not in FREE_ON_RESUME and name != "accumulate":
                key = f"{group}.{name}"
                new[key], old[key] = value, getattr(getattr(stored, group), name)
    # 0 stands for d_model / num_heads, which is what was stored.
    changed = [key for key in new if new[key] != old[key] and not (key in ("model.d_k", "model.d_v") and not new[key])]
    if changed:
        differences = ", ".join(f"{key} is {new[key]!r}, was {old[key]!r}" for key in changed)
        raise UsageError(
            f"--resume continues the same training, but {differences}; these may change: "
            f"{', '.join(sorted(FREE_ON_RESUME))}, and --data (a copy), --valid, --device, --threads"
        )
    for name in ("train", "tokenizer", "typo_rate"):
        if name in explicit and not (name == "train" and tuple(explicit["train"]) == tuple(stored.train)):
            raise UsageError(f"--resume continues with the text in {stored.data}; leave {name} out")
    free = {name: value for name, value in explicit.get("training", {}).items() if name in FREE_ON_RESUME}
    return replace(
        stored,
        training=TrainingConfig.from_dict(
            {**stored.training.to_dict(), **free, "accumulate": _accumulate(stored, explicit, processes)}
        ),
        processes=processes,
        data=explicit.get("data", stored.data),
        valid=tuple(explicit.get("valid", stored.valid)),
    )


def _accumulate(stored: RunSettings, explicit: dict[str, Any], processes: int) -> int:
    """Return the batches of one process per step. Raises UsageError when all processes have another total."""
    accumulate: int = explicit.get("training", {}).get("accumulate", stored.training.accumulate)
    before = stored.training.accumulate * stored.processes
    if accumulate * processes != before:
        fitting = f"give --training.accumulate {before // processes}" if before % processes == 0 else "no value fits"
        raise UsageError(
            f"--resume continues the same training, but a step had training.accumulate {stored.training.accumulate} x "
            f"{stored.processes} processes, and would have {accumulate} x {processes}; {fitting}"
        )
    return accumulate
