"""Read or change activations while the model runs.

Named identity modules, `HookPoint`s, sit inside every attention, feed-forward network and "Add & Norm", after the
embeddings and at the logits (see `hook_sites.py`). Their dotted names are public and stable, such as
`decoder.layers.3.cross_attention.weights`. There are two ways to use them:

* `capture(model, ...)` and `edit(model, ...)`: act only in the context (`contextvars`) that opened them; undone on
  exit. Two users of one model never see each other's captures or edits, neither in the numbers nor in the time.
* PyTorch's own `register_forward_hook` and the like: act on every run of the model, until removed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.hook_sites import HEAD_POINTS, SENTENCES_IN_ORDER, site_of
from transformer_core.hooks.hook_sites import POINTS as POINTS
from transformer_core.hooks.hook_sites import Point as Point
from transformer_core.hooks.hook_sites import Rows as Rows
from transformer_core.hooks.hook_sites import Site as Site
from transformer_core.hooks.short_addresses import HasModel, Place, captured_place, edits_by_address, find_places

Edit = Callable[[Tensor, Site], Tensor | None]
_Name = TypeVar("_Name", bound=str)

_rows: ContextVar[Rows] = ContextVar("headlight_rows", default=SENTENCES_IN_ORDER)
_open_hooks: ContextVar[frozenset[int]] = ContextVar("headlight_open_hooks", default=frozenset())
_skipping: ContextVar[bool] = ContextVar("headlight_skipping_hooks", default=False)
_lock = threading.Lock()


class HookPoint(nn.Module):
    """An identity module with a stable name, at which a value can be read or replaced.

    `is_active` is a plain bool: whether any context has a hook here. The model tests it before it calls the point.
    torch.compile guards a plain attribute, but not the dictionaries of hooks: a model that tested those would capture
    nothing once compiled.
    """

    is_active: bool

    def __init__(self) -> None:
        super().__init__()
        self.is_active = False
        self.site: Site | None = None
        self._hooks: tuple[_ActiveHook, ...] = ()
        self._native_hooks = 0

    def forward(self, value: Tensor) -> Tensor:
        """Pass the value through the hooks of this context; the shape must stay."""
        mine = _open_hooks.get()
        for hook in self._hooks:
            if hook.number in mine:
                value = hook.apply(value, self.site)
        return value

    def is_active_here(self) -> bool:
        """Return whether there is a hook of this context, or PyTorch's own."""
        mine = _open_hooks.get()
        return self._native_hooks > 0 or any(hook.number in mine for hook in self._hooks)

    def _update(self, *, add: _ActiveHook | None = None, remove: _ActiveHook | None = None, native: int = 0) -> None:
        with _lock:
            kept = tuple(hook for hook in self._hooks if hook is not remove)
            self._hooks = kept if add is None else (*kept, add)
            self._native_hooks += native
            self.is_active = bool(self._hooks) or self._native_hooks > 0

    def register_forward_hook(self, *args: Any, **kwargs: Any) -> Any:
        """Like torch.nn.Module's; also makes the point active."""
        return _CountedHandle(self, super().register_forward_hook(*args, **kwargs))

    def register_forward_pre_hook(self, *args: Any, **kwargs: Any) -> Any:
        """Like torch.nn.Module's; also makes the point active."""
        return _CountedHandle(self, super().register_forward_pre_hook(*args, **kwargs))

    def register_full_backward_hook(self, *args: Any, **kwargs: Any) -> Any:
        """Like torch.nn.Module's; also makes the point active."""
        return _CountedHandle(self, super().register_full_backward_hook(*args, **kwargs))

    def register_full_backward_pre_hook(self, *args: Any, **kwargs: Any) -> Any:
        """Like torch.nn.Module's; also makes the point active."""
        return _CountedHandle(self, super().register_full_backward_pre_hook(*args, **kwargs))


class _CountedHandle:
    """PyTorch's handle of a hook; also updates the point when the hook is removed."""

    def __init__(self, point: HookPoint, handle: Any) -> None:
        self._point = point
        self._handle = handle
        self._removed = False
        point._update(native=1)

    def remove(self) -> None:
        """Remove the hook; a second call does nothing."""
        if not self._removed:
            self._removed = True
            self._handle.remove()
            self._point._update(native=-1)

    def __enter__(self) -> _CountedHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class _ActiveHook:
    """One edit or capture at its points; active in the contexts that hold its number."""

    _next = 0

    def __init__(self, edit: Edit) -> None:
        with _lock:
            _ActiveHook._next += 1
            self.number = _ActiveHook._next
        self._edit = edit

    def apply(self, value: Tensor, site: Site | None) -> Tensor:
        if site is None:
            raise RuntimeError("a hook point without an address: call name_hook_points(model) after building the model")
        rows = _rows.get()
        changed = self._edit(value, site if rows is site.rows else replace(site, rows=rows))
        if changed is None:
            return value
        if changed.shape != value.shape:
            raise ValueError(f"edit at {site.address} returned shape {tuple(changed.shape)}, not {tuple(value.shape)}")
        return changed


def has_hooks(*points: HookPoint) -> bool:
    """Return whether a hook of this context, or PyTorch's own, is at one of these points.

    A compiled model tests `is_active` alone, since a context variable cannot be guarded: while another user captures,
    it computes the same in the open.
    """
    for point in points:
        if point.is_active and (torch.compiler.is_compiling() or (point.is_active_here() and not _skipping.get())):
            return True
    return False


def run_hooks(point: HookPoint, value: Tensor) -> Tensor:
    """Pass a value through a point if it has hooks, outside the compiled graph if there is one."""
    if not point.is_active:
        return value
    if torch.compiler.is_compiling():
        from transformer_core.hooks.uncompiled import run_hooks_eagerly

        eager: Tensor = run_hooks_eagerly(point, value)
        return eager
    result: Tensor = value if _skipping.get() else point(value)
    return result


@contextmanager
def without_hooks() -> Iterator[None]:
    """Skip all hooks in this context, PyTorch's own at hook points included."""
    token = _skipping.set(True)
    try:
        yield
    finally:
        _skipping.reset(token)


@contextmanager
def row_context(rows: Rows) -> Iterator[None]:
    """Give every edit inside the context the meaning of the rows of the running batch."""
    token = _rows.set(rows)
    try:
        yield
    finally:
        _rows.reset(token)


def name_hook_points(model: nn.Module) -> None:
    """Give every HookPoint inside a Transformer its address, kind and layer."""
    for address, module in model.named_modules():
        if isinstance(module, HookPoint):
            module.site = site_of(address)


def hook_points(model: nn.Module | HasModel) -> dict[str, HookPoint]:
    """Return all hook points of a model, compiled or not, by address, in the order of its modules."""
    model = module_of(model)
    found: list[HookPoint] = []
    _find_points(model, found)
    points = {point.site.address: point for point in found if point.site is not None}
    if len(points) == len(found):
        return points
    named = {name: module for name, module in model.named_modules() if isinstance(module, HookPoint)}
    return {point.site.address if point.site else name: point for name, point in named.items()}


def module_of(model: nn.Module | HasModel) -> nn.Module:
    """Return the module that a Translator or the like holds, or the module given."""
    return model if isinstance(model, nn.Module) else model.model


def _heads(model: nn.Module | HasModel) -> int:
    """Return H; 0 for a module without a configuration."""
    return int(getattr(getattr(module_of(model), "config", None), "num_heads", 0))


def _find_points(module: nn.Module, found: list[HookPoint]) -> None:
    """Collect like `named_modules`, but several times faster without the names: every capture calls this."""
    for child in module._modules.values():
        if isinstance(child, HookPoint):
            found.append(child)
        elif child is not None and child._modules:
            _find_points(child, found)


def _select(
    known: Mapping[str, HookPoint],
    points: Collection[Point] | None,
    kinds: Collection[Kind] | None,
    layers: Collection[int] | None,
) -> list[HookPoint]:
    """Return the points that pass every filter. Raises ValueError for a filter that matches nothing."""
    filters: tuple[tuple[str, Collection[Any] | None, tuple[Any, ...]], ...] = (
        ("points", points, POINTS),
        ("kinds", kinds, KINDS),
        (
            "layers",
            layers,
            tuple(sorted({p.site.layer for p in known.values() if p.site and p.site.layer is not None})),
        ),
    )
    for name, given, allowed in filters:
        wrong = sorted(set(given or ()) - set(allowed))
        if wrong:
            shown = ", ".join(map(str, allowed[:12])) + (", ..." if len(allowed) > 12 else "")
            raise ValueError(f"{name} has {', '.join(map(str, wrong))}, but must be among {shown}")
    chosen = []
    for point in known.values():
        site = point.site
        assert site is not None
        if (
            (points is None or site.point in points)
            and (kinds is None or site.kind in kinds)
            and (layers is None or site.layer in layers)
        ):
            chosen.append(point)
    if not chosen:
        raise ValueError(f"no hook point matches points={points}, kinds={kinds}, layers={layers}")
    return chosen


@contextmanager
def _hooked(points: list[HookPoint], change: Edit) -> Iterator[None]:
    hook = _ActiveHook(change)
    token = _open_hooks.set(_open_hooks.get() | {hook.number})
    for point in points:
        point._update(add=hook)
    try:
        yield
    finally:
        for point in points:
            point._update(remove=hook)
        _open_hooks.reset(token)


class Captured(Mapping[str, Tensor]):
    """Values recorded by a `capture`: address, long or short -> the value of the last pass.

    `calls[address]` holds the values of all passes in order, such as one for each step of decoding; `heads` the heads
    that were captured, counted from 0, or None for all.
    """

    def __init__(self, calls: dict[str, list[Tensor]] | None = None, heads: Collection[int] | None = None) -> None:
        self.calls: dict[str, list[Tensor]] = calls or {}
        self.heads = heads

    def place(self, address: str) -> Place:
        """Return where an address leads, by default to weights. Raises AddressError if nothing was captured there."""
        return captured_place(address, self.calls, self.heads)

    def __getitem__(self, address: str) -> Tensor:
        place = self.place(address)
        value = self.calls[place.address][-1]
        return value if place.head is None else value[:, place.head]

    def __iter__(self) -> Iterator[str]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)


@contextmanager
def capture(
    model: nn.Module | HasModel,
    addresses: str | Collection[str] | None = None,
    *,
    points: Point | Collection[Point] = "weights",
    kinds: Kind | Collection[Kind] | None = None,
    layers: Collection[int] | None = None,
    heads: Collection[int] | None = None,
    device: torch.device | str | None = None,
    detach: bool = True,
) -> Iterator[Captured]:
    """Record values while the model runs in this context; by default the weights of all heads.

    Args:
        model: A Transformer, compiled or not, or a Translator.
        addresses: One or several, long or short, points such as `weights`, or `all`, instead of the filters below.
            One that names a head records its whole layer.
        points: One or several of `POINTS`.
        kinds: One or several of `encoder`, `decoder`, `cross`, for points of attention; None means all.
        layers: Counted from 0; None means all.
        heads: Counted from 0, kept in rising order, for points of attention; None means all.
        device: Where to keep the values, such as "cpu"; None leaves them where they are.
        detach: Whether to detach the values from the autograd graph.

    Yields:
        A mapping from address to tensor, of the shapes in `hook_sites.py`.

    Raises:
        ValueError: A filter names something that the model lacks, or stands beside addresses.
    """
    if addresses is not None and (points != "weights" or any(each is not None for each in (kinds, layers, heads))):
        raise ValueError("points, kinds, layers and heads, counted from 0, cannot stand beside addresses")
    chosen_points, chosen_kinds = _several(points), None if kinds is None else _several(kinds)
    chosen_heads = None if heads is None else sorted(heads)
    captured = Captured(heads=chosen_heads)
    without_heads = sorted(chosen_points - set(HEAD_POINTS))
    if heads is not None and without_heads:
        raise ValueError(f"heads is {chosen_heads}, but {', '.join(without_heads)} have no heads")

    def record(value: Tensor, site: Site) -> Tensor | None:
        kept = value.detach() if detach else value
        if chosen_heads is not None:
            if not all(0 <= head < value.shape[1] for head in chosen_heads):
                raise ValueError(f"heads is {chosen_heads}, but {site.address} has heads 0 to {value.shape[1] - 1}")
            kept = kept[:, chosen_heads]
        # A copy: an edit that comes later may change the value in place.
        kept = kept.clone() if device is None else kept.to(device, copy=True)
        captured.calls.setdefault(site.address, []).append(kept)
        if detach or not kept.requires_grad or chosen_heads is not None:
            return None
        kept.retain_grad()  # the rest of the model computes with the copy
        return kept

    known = hook_points(model)
    if addresses is None:
        chosen = _select(known, chosen_points, chosen_kinds, layers)
    else:
        names = {place.address for place in find_places(addresses, known, _heads(model), "weights")}
        chosen = [point for address, point in known.items() if address in names]
    with _hooked(chosen, record):
        yield captured


@contextmanager
def edit(
    model: nn.Module | HasModel, addresses: str | Collection[str] | Mapping[str, Edit], change: Edit | None = None
) -> Iterator[None]:
    """Change values while the model runs in this context.

    Args:
        model: A Transformer, compiled or not, or a Translator.
        addresses: One address or several, as `hook_points(model)` lists them, or short; or a mapping from addresses to
            changes. A short one that names a head changes that head alone, by default its `head_outputs`.
        change: Called with the value and its Site; returns a tensor of the same shape, or None to leave it.

    Raises:
        ValueError: An address that the model lacks, or an edit that changes the shape.
    """
    known = hook_points(model)
    with ExitStack() as stack:
        for names, changed in edits_by_address(addresses, change, known, _heads(model)):
            stack.enter_context(_hooked([known[name] for name in names], changed))
        yield


def _several(names: _Name | Collection[_Name]) -> set[_Name]:
    """Return one name or several as a set; a string is itself a collection, of letters."""
    return {names} if isinstance(names, str) else set(names)
