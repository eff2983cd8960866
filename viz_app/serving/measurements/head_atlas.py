"""Head atlas of a checkpoint: the measured job of each head, from the command `atlas`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transformer_core.storage.files import CheckpointError
from transformer_core.storage.measurements import FOLDER

if TYPE_CHECKING:
    from transformer_core.analysis.ablation import Head
    from transformer_core.atlas.naming import Role
    from transformer_core.atlas.record import Atlas
    from transformer_core.checkpoint import Checkpoint


@dataclass(frozen=True, kw_only=True, eq=False)
class HeadAtlas:
    """Atlas of a model's heads, or the reason why there is none.

    Args:
        atlas: The measurements; None if the checkpoint has none.
        roles: Roles of every head; the furthest above its baseline first.
        problem: Why the file cannot be read; empty for a sound file or none.
    """

    atlas: Atlas | None = None
    roles: dict[Head, tuple[Role, ...]] = field(default_factory=dict)
    problem: str = ""


def read_atlas(checkpoint: Checkpoint | None) -> HeadAtlas:
    """Read the atlas of a checkpoint; a damaged one is a problem to show, not an error."""
    from transformer_core.atlas.naming import head_roles
    from transformer_core.atlas.storage import FILE, shipped_atlas

    if checkpoint is None:
        return HeadAtlas()
    try:
        atlas = shipped_atlas(checkpoint.folder, checkpoint.weights_hash)
        config = checkpoint.model.config
        if atlas is not None and (atlas.layers, atlas.heads) != (config.num_layers, config.num_heads):
            sizes = (
                f"{atlas.layers} layers of {atlas.heads} heads, but the model {config.num_layers} of {config.num_heads}"
            )
            raise CheckpointError(checkpoint.folder / FOLDER / FILE, f"has {sizes}")
    except CheckpointError as error:
        return HeadAtlas(problem=error.in_folder)
    return HeadAtlas() if atlas is None else HeadAtlas(atlas=atlas, roles=head_roles(atlas))
