"""Named points inside the model: read and change activations while it runs."""

from transformer_core.hooks.hook_sites import Site
from transformer_core.hooks.points import HookPoint, capture, edit, hook_points

__all__ = ["HookPoint", "Site", "capture", "edit", "hook_points"]
