"""Headlight's core: the Transformer of "Attention Is All You Need", with every attention head open to hooks.

The names below are the public face; each is imported when it is first used, so that `--help` never waits for torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transformer_core.analysis.circuit import Circuit as Circuit
    from transformer_core.analysis.circuit import MinimalPair as MinimalPair
    from transformer_core.analysis.circuit import circuit as circuit
    from transformer_core.analysis.circuit import exact_edges as exact_edges
    from transformer_core.analysis.flow import Flow as Flow
    from transformer_core.analysis.flow import flow as flow
    from transformer_core.analysis.probe import Probe as Probe
    from transformer_core.analysis.probe import probe as probe
    from transformer_core.attention_maps import AttentionMaps as AttentionMaps
    from transformer_core.attention_maps import Axis as Axis
    from transformer_core.checkpoint import CheckpointError as CheckpointError
    from transformer_core.checkpoint import load_checkpoint as load_checkpoint
    from transformer_core.checkpoint import save_checkpoint as save_checkpoint
    from transformer_core.config import ConfigError as ConfigError
    from transformer_core.config import DecodingConfig as DecodingConfig
    from transformer_core.config import ModelConfig as ModelConfig
    from transformer_core.config import TrainingConfig as TrainingConfig
    from transformer_core.hooks.edits import ablate_neurons as ablate_neurons
    from transformer_core.hooks.edits import chain as chain
    from transformer_core.hooks.edits import force_edges as force_edges
    from transformer_core.hooks.edits import inject as inject
    from transformer_core.hooks.edits import knock_out as knock_out
    from transformer_core.hooks.edits import mean_of as mean_of
    from transformer_core.hooks.edits import only as only
    from transformer_core.hooks.edits import patch as patch
    from transformer_core.hooks.edits import zero as zero
    from transformer_core.hooks.hook_list import describe_hook_points as describe_hook_points
    from transformer_core.hooks.points import capture as capture
    from transformer_core.hooks.points import edit as edit
    from transformer_core.hooks.points import hook_points as hook_points
    from transformer_core.model.transformer import Transformer as Transformer
    from transformer_core.runs import load as load
    from transformer_core.runs import run as run
    from transformer_core.runs import stream as stream
    from transformer_core.text.tokenizer import Tokenizer as Tokenizer
    from transformer_core.translator import Translation as Translation
    from transformer_core.translator import Translator as Translator

__version__ = "0.1.0"

_HOME = {
    "analysis.circuit": ("Circuit", "MinimalPair", "circuit", "exact_edges"),
    "analysis.flow": ("Flow", "flow"),
    "analysis.probe": ("Probe", "probe"),
    "attention_maps": ("AttentionMaps", "Axis"),
    "checkpoint": ("CheckpointError", "load_checkpoint", "save_checkpoint"),
    "config": ("ConfigError", "DecodingConfig", "ModelConfig", "TrainingConfig"),
    "hooks.edits": (
        *("ablate_neurons", "chain", "force_edges", "inject", "knock_out"),
        *("mean_of", "only", "patch", "zero"),
    ),
    "hooks.hook_list": ("describe_hook_points",),
    "hooks.points": ("capture", "edit", "hook_points"),
    "model.transformer": ("Transformer",),
    "runs": ("load", "run", "stream"),
    "text.tokenizer": ("Tokenizer",),
    "translator": ("Translation", "Translator"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
