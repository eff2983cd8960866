"""All hook points of a model as text."""

from __future__ import annotations

from torch import nn

from transformer_core.hooks.points import hook_points, module_of
from transformer_core.hooks.short_addresses import HasModel, short_names


def describe_hook_points(model: nn.Module | HasModel) -> str:
    """Return one line for each point: short address, shape with the sizes of this model, and meaning.

    `hook_points(model)[address].site` has the same for programs.
    """
    config: object = module_of(model).config
    rows, points = [], hook_points(model)
    names = short_names(points)
    for address, point in points.items():
        assert point.site is not None
        sizes = [(name, getattr(config, {"heads": "num_heads"}.get(name, name), None)) for name in point.site.shape]
        shape = ", ".join(name if size is None else f"{name}={size}" for name, size in sizes)
        rows.append((names[address], f"({shape})", point.site.meaning))
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    return "\n".join(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}" for row in rows)
