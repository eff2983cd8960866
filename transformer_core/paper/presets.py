"""Named configurations, from `presets.toml`: rows of Table 3, the paper's parsers, the shipped shapes, a tiny one."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer_core.config import ConfigError, DecodingConfig, ModelConfig, TrainingConfig


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A model, how it is trained, and how it is searched.

    Args:
        about: One line for people who choose.
        model: Shape of the model.
        training: How it is trained.
        decoding: The decoding defaults of its checkpoints.
    """

    about: str
    model: ModelConfig
    training: TrainingConfig
    decoding: DecodingConfig


def _preset(values: dict[str, Any]) -> Preset:
    return Preset(
        about=values["about"],
        model=ModelConfig.from_dict(values.get("model", {})),
        training=TrainingConfig.from_dict(values.get("training", {})),
        decoding=DecodingConfig.from_dict(values.get("decoding", {})),
    )


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PRESETS = {name: _preset(values) for name, values in _TABLES.items()}
TABLE_3 = {name: each for name, each in PRESETS.items() if name.startswith("table3-")}


def preset(name: str) -> Preset:
    """Return the preset of a name. Raises ConfigError listing the presets."""
    if name not in PRESETS:
        raise ConfigError(f"preset is {name!r}, but must be one of {', '.join(PRESETS)}")
    return PRESETS[name]
