"""Refusal of options without a counterpart, so that no exported model computes something else."""

from __future__ import annotations

from transformer_core.attention_variants import VARIANTS, Feature, supporting
from transformer_core.config import ModelConfig

_MAX_POSITION_VALUES = 2**28  # of a table of positions: 1 GB in float32


class ExportError(ValueError):
    """Model that another program cannot run; the message names the option and its supported value."""


def check_options(program: str, config: ModelConfig, **supported: object) -> None:
    """Raise ExportError for the first option with an unsupported value.

    Args:
        program: Name of the program.
        config: The model's options.
        supported: Name of an option -> its only supported value.
    """
    for name, value in supported.items():
        if getattr(config, name) != value:
            raise ExportError(f"{name} is {getattr(config, name)!r}, but {program} supports only {value!r}")


def check_variant(program: Feature, config: ModelConfig) -> None:
    """Raise ExportError unless a program supports the variant of attention."""
    if program not in VARIANTS[config.attention].supports:
        known = ", ".join(map(repr, supporting(program)))
        raise ExportError(f"attention is {config.attention!r}, but {program} supports only {known}")


def check_plain_attention(program: Feature, config: ModelConfig) -> None:
    """Raise ExportError unless attention is the paper's, over all positions, with heads of width d_model / h."""
    check_variant(program, config)
    width = config.d_model // config.num_heads
    check_options(
        program,
        config,
        scaled=True,
        causal=True,
        residual=True,
        window=0,
        d_k=width,
        d_v=width,
    )


def check_table(config: ModelConfig, rows: int) -> None:
    """Raise ExportError for a table of positions that takes too much memory."""
    if rows * config.d_model > _MAX_POSITION_VALUES:
        raise ExportError(
            f"{rows:,} positions of width {config.d_model:,} are too many for a table; lower decoding.max_source_tokens"
        )
