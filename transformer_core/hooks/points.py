"""Read or change activations while the model runs.

Named identity modules, `HookPoint`s, sit inside every attention, feed-forward network and "Add & Norm", after the
embeddings and at the logits (see `hook_sites.py`). Their dotted names are public and stable, such as
`decoder.layers.3.cross_attention.weights`. There are two ways to use them:

* `capture(model, ...)` and `edit(model, ...)`: act only in the context (`contextvars`) that opened them; undone on
  exit. Two users of one model never see each other's captures or edits, neither in the numbers nor in the time.
* PyTorch's own `register_forward_hook` and the like: act on every run of the model, until removed.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import cast

import torch
from torch import Tensor, nn

from transformer_core.hooks.captured import Captured as Captured
from transformer_core.hooks.hook_point import Edit as Edit
from transformer_core.hooks.hook_point import HookPoint as HookPoint
from transformer_core.hooks.hook_point import PaddingPoint, hooked
from transformer_core.hooks.hook_point import batch_context as batch_context
from transformer_core.hooks.hook_point import has_hooks as has_hooks
from transformer_core.hooks.hook_point import row_context as row_context
from transformer_core.hooks.hook_point import run_hooks as run_hooks
from transformer_core.hooks.hook_point import without_hooks as without_hooks
from transformer_core.hooks.hook_sites import POINTS as POINTS
from transformer_core.hooks.hook_sites import Point as Point
from transformer_core.hooks.hook_sites import Rows as Rows
from transformer_core.hooks.hook_sites import Site as Site
from transformer_core.hooks.hook_sites import site_of
from transformer_core.hooks.short_addresses import HasModel, edits_by_address, find_places


def name_hook_points(model: nn.Module) -> None:
    """Give every HookPoint inside a Transformer its address, kind and layer."""
    for address, module in model.named_modules():
        if isinstance(module, HookPoint):
            module.site = site_of(address)


def hook_points(model: nn.Module | HasModel) -> dict[str, HookPoint]:
    """Return all hook points of a model, compiled or not, by address, in the order of its modules."""
    module = module_of(model)
    return _by_address(module, _find_points(module, []))


def module_of(model: nn.Module | HasModel) -> nn.Module:
    """Return the module that a Translator or the like holds, or the module given."""
    return model if isinstance(model, nn.Module) else model.model


def _heads(model: nn.Module | HasModel) -> int:
    """Return H; 0 for a module without a configuration."""
    return int(getattr(getattr(module_of(model), "config", None), "num_heads", 0))


def _by_address(model: nn.Module, every: list[HookPoint]) -> dict[str, HookPoint]:
    addressed = [point for point in every if type(point) is not PaddingPoint]
    points = {point.site.address: point for point in addressed if point.site is not None}
    if len(points) == len(addressed):
        return points
    names = {module: name for name, module in model.named_modules()}
    return {point.site.address if point.site else names[point]: point for point in addressed}


def _find_points(module: nn.Module, points: list[HookPoint]) -> list[HookPoint]:
    """Collect like `modules`, PaddingPoints too, but several times faster: every capture calls this."""
    for child in module._modules.values():
        if isinstance(child, HookPoint):
            points.append(child)
        elif child is not None and child._modules:
            _find_points(child, points)
    return points


@contextmanager
def capture(
    model: nn.Module | HasModel,
    addresses: str | Collection[str] = "weights",
    *,
    device: torch.device | str | None = None,
    grad: bool = False,
) -> Iterator[Captured]:
    """Record values while the model runs in this context; by default copies of the weights of all heads.

    Args:
        model: A Transformer, compiled or not, or a Translator.
        addresses: One or several: `cross.6`, `encoder.1.keys`, kinds such as `cross`, points such as `weights`, or
            `all`. One that names a head records its whole layer.
        device: Where to keep the values, such as "cpu"; None leaves them where they are.
        grad: Whether to keep the values that the rest of the model computes with, in the autograd graph: for
            `torch.autograd.grad(loss, seen[address])`, `seen.grad[address]` after `backward`, and losses of the values.

    Yields:
        A mapping from address to tensor, of the shapes in `hook_sites.py`.

    Raises:
        AddressError: The model has no such hook point.
        ValueError: The model runs without gradients despite `grad`.
    """
    masks = dict[str, Tensor]()
    captured = Captured()

    def record(value: Tensor, site: Site) -> Tensor | None:
        if site.point not in POINTS:  # a PaddingPoint's
            masks[site.stack] = value
            return None
        if grad and not torch.is_grad_enabled():
            raise ValueError("capture(grad=True) needs gradients: call the model itself, outside of torch.no_grad()")
        place = device or value.device
        mask = masks.get(site.stack)
        if mask is not None and mask.shape != (len(value), value.shape[-2]):  # of another pass
            mask = None
        # A copy is either kept or passed on: an edit that comes later may change the value in place.
        if not grad:
            captured.add(site.address, value.detach().to(place, copy=True), mask)
            return None
        leaf = _live(value.to(place))
        captured.add(site.address, leaf, mask)
        return leaf.to(value.device, copy=True)

    every = _find_points(module_of(model), [])
    known = _by_address(module_of(model), every)
    names = {place.address for place in find_places(addresses, known, _heads(model), "weights")}
    points = [point for address, point in known.items() if address in names]
    stacks = {point.site.stack for point in points if point.site}
    padding = [point for point in every if type(point) is PaddingPoint and point.site and point.site.stack in stacks]
    with hooked([*points, *padding], record):
        yield captured


def _live(value: Tensor) -> Tensor:
    """Return a value that keeps its gradient; a new leaf where nothing before it needs one, as with frozen weights."""
    leaf = value if value.requires_grad else value.detach().requires_grad_()
    leaf.retain_grad()
    return leaf


@contextmanager
def edit(
    model: nn.Module | HasModel, addresses: str | Collection[str] | Mapping[str, Edit], change: Edit | None = None
) -> Iterator[None]:
    """Change values while the model runs in this context.

    Args:
        model: A Transformer, compiled or not, or a Translator.
        addresses: One address or several, as `hook_points(model)` lists them, or short; or a mapping from addresses to
            changes. A short one that names a head changes that head alone, by default its `head_outputs`.
        change: Called with the value and its Site; returns a tensor of the same shape, or None. It may write into the
            value: at the address of a head this is a copy, of which only that head counts.

    Raises:
        ValueError: An address that the model lacks, or an edit that changes the shape.
        TypeError: `change` cannot be called with a value and its Site.
    """
    if not addresses and not isinstance(addresses, Mapping):
        raise ValueError("addresses is empty, but must name a hook point")
    for each in addresses.values() if isinstance(addresses, Mapping) else [change]:
        _check_arguments(each)
    known = hook_points(model)
    with ExitStack() as stack:
        for names, changed in edits_by_address(addresses, change, known, _heads(model)):
            stack.enter_context(hooked([known[name] for name in names], changed))
        yield


def _check_arguments(change: Edit | None) -> None:
    try:
        inspect.signature(cast(Edit, change)).bind(None, None)
    except TypeError:
        raise TypeError(f"an edit takes two arguments, a value and its Site; {change!r} does not") from None
    except ValueError:
        return  # built-in functions have no signature
