"""Writer of a planned checkpoint, one tensor at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer_core.checkpoint import save_checkpoint
from transformer_core.conversion.foreign_folder import ConversionError, ForeignFolder, Shape
from transformer_core.conversion.plan import Plan
from transformer_core.model.transformer import Transformer
from transformer_core.storage.manifest import MAX_FOLDER_BYTES
from transformer_core.storage.tensor_files import TensorsOnDemand

_TOLERANCE = 2e-3  # of sinusoids, which some files hold in float16


def write(
    folder: ForeignFolder,
    plan: Plan,
    out: Path,
    *,
    metrics: dict[str, Any],
    card: str,
    on_progress: Callable[[int], object],
) -> None:
    """Write a checkpoint; a failure leaves nothing behind.

    Args:
        folder: The foreign folder.
        plan: Plan of its conversion.
        out: Folder of the checkpoint.
        metrics: Facts about the model.
        card: Its model card.
        on_progress: Called with the number of weights just written.

    Raises:
        ConversionError: A tensor is missing, left over, has the wrong shape, or has values beyond float16.
    """
    plan.check_names(folder.shapes)
    shapes = _converted_shapes(folder, plan)
    size = sum(2 * math.prod(shape) for shape in shapes.values())
    if size > MAX_FOLDER_BYTES:
        raise ConversionError(f"its weights would take {size:,} bytes, but at most {MAX_FOLDER_BYTES:,} are allowed")
    for name, other in plan.same.items():
        same_shape = folder.shapes[name] == folder.shapes[other]  # which is checked before anything is read
        if not same_shape or not torch.equal(folder.tensor(name), folder.tensor(other)):
            raise ConversionError(f"taken for {plan.family}: {name} differs from {other}, but its options tie them")
    for name, expected in plan.fixed.items():
        values = expected(folder.shapes[name])
        if values.shape != folder.shapes[name] or not _close(folder.tensor(name), values):
            raise ConversionError(f"taken for {plan.family}: {name} holds other positions than the formula gives")

    def read(name: str) -> Tensor:
        origin = plan.origins[name]
        tensor = origin.change(folder.tensor(origin.name))
        on_progress(1)
        return tensor

    try:
        save_checkpoint(
            out,
            TensorsOnDemand(shapes, read),
            plan.model,
            plan.tokenizer,
            decoding=plan.decoding,
            metrics=metrics,
            card=card,
        )
    except ConversionError:
        raise
    except ValueError as error:
        raise ConversionError(f"taken for {plan.family}: {error}") from error


def _converted_shapes(folder: ForeignFolder, plan: Plan) -> dict[str, Shape]:
    """Check the shapes of the weights; return them in the order of the foreign files."""
    expected = {name: tuple(each.shape) for name, each in _on_meta(plan).named_parameters()}
    for name in expected:
        if name not in plan.origins:
            raise ConversionError(f"taken for {plan.family}: nothing in it gives {name}")
    place = {name: number for number, name in enumerate(folder.shapes)}
    shapes = {}
    for name, origin in sorted(plan.origins.items(), key=lambda pair: place[pair[1].name]):
        shape = folder.shapes[origin.name]
        try:
            shapes[name] = origin.shape(shape)
        except (RuntimeError, IndexError) as error:
            raise ConversionError(f"taken for {plan.family}: {origin.name} has shape {shape}") from error
        if name not in expected or shapes[name] != expected[name]:
            needs = f"{name} needs {expected[name]}" if name in expected else f"the model has no {name}"
            raise ConversionError(f"taken for {plan.family}: {origin.name} has shape {shape}, but {needs}")
    return shapes


def _on_meta(plan: Plan) -> Transformer:
    with torch.device("meta"):
        return Transformer(plan.model)


def _close(one: Tensor, other: Tensor) -> bool:
    return one.numel() == 0 or bool((one.float() - other).abs().max() <= _TOLERANCE)
