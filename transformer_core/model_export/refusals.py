"""What another program has no counterpart of: refused, so that no exported model computes something else."""

from __future__ import annotations

from transformer_core.config import ModelConfig


class ExportError(ValueError):
    """A model that another program cannot run; the message names the option and what is supported."""


def check_options(program: str, config: ModelConfig, **supported: object) -> None:
    """Raise ExportError for the first option that has another value than the one that a program supports.

    Args:
        program: Its name.
        config: The model's options.
        supported: Name of an option -> its only value there.
    """
    for name, value in supported.items():
        if getattr(config, name) != value:
            raise ExportError(f"{name} is {getattr(config, name)!r}, but {program} supports only {value!r}")


def check_plain_attention(program: str, config: ModelConfig, *, scaled: bool = True) -> None:
    """Raise ExportError unless attention is the paper's, over all positions, with heads of width d_model / h.

    `scaled` is what the option of that name must be.
    """
    width = config.d_model // config.num_heads
    check_options(
        program,
        config,
        attention="dot-product",
        scaled=scaled,
        causal=True,
        residual=True,
        window=0,
        d_k=width,
        d_v=width,
    )
