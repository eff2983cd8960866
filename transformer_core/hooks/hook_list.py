"""All hook points of a model as text."""

from __future__ import annotations

from typing import cast

from torch import nn

from transformer_core.config import ModelConfig
from transformer_core.hooks.points import hook_points, module_of
from transformer_core.hooks.short_addresses import HasModel, short_names


def describe_hook_points(model: nn.Module | HasModel) -> str:
    """Return one line for each point: short address, shape with the sizes of this model, and meaning.

    `hook_points(model)[address].site` has the same for programs.
    """
    config = cast(ModelConfig, module_of(model).config)
    known = {
        "heads": config.num_heads,
        "d_k": config.d_k,
        "d_v": config.d_v,
        "d_ff": config.d_ff,
        "d_model": config.d_model,
        "vocab_size": config.vocab_size,
    }
    rows, points = [], hook_points(model)
    names = short_names(points)
    for address, point in points.items():
        assert point.site is not None
        shape = ", ".join(f"{name}={known[name]}" if name in known else name for name in point.site.shape)
        rows.append((names[address], f"({shape})", point.site.meaning))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows)
