"""The hook point: a module inside the model at which the hooks of a context read or replace a value."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from transformer_core.hooks.hook_sites import SENTENCES_IN_ORDER, Rows, Site

Edit = Callable[[Tensor, Site], Tensor | None]


@dataclass(frozen=True)
class _Batch:
    """Sentences of the running batch: their numbers where they were given, their lengths, and how many were given."""

    numbers: Sequence[int]
    lengths: Sequence[tuple[int, int | None]]
    total: int


_rows: ContextVar[Rows] = ContextVar("headlight_rows", default=SENTENCES_IN_ORDER)
_open_hooks: ContextVar[frozenset[int]] = ContextVar("headlight_open_hooks", default=frozenset())
_batch: ContextVar[_Batch | None] = ContextVar("headlight_batch", default=None)
_skipping: ContextVar[bool] = ContextVar("headlight_skipping_hooks", default=False)
_lock = threading.Lock()


class HookPoint(nn.Module):
    """An identity module with a stable name, at which a value can be read or replaced.

    `is_active` is a plain bool: whether any context has a hook here. The model tests it before it calls the point.
    torch.compile guards a plain attribute, but not the dictionaries of hooks: a model that tested those would capture
    nothing once compiled.
    """

    is_active: bool
    native_hooks = 0  # PyTorch's own at the points of all models

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
            hooks = tuple(hook for hook in self._hooks if hook is not remove)
            self._hooks = hooks if add is None else (*hooks, add)
            self._native_hooks += native
            HookPoint.native_hooks += native
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


class PaddingPoint(HookPoint):
    """The mask of a stack, (B, n): True where a position is no padding. Captures listen here; users do not see it."""


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
        rows, batch = _rows.get(), _batch.get()
        if batch is not None:
            rows = _numbered(rows, batch, len(value))
        changed = self._edit(value, site if rows is site.rows else replace(site, rows=rows))
        if changed is None:
            return value
        if changed.shape != value.shape:
            raise ValueError(f"edit at {site.address} returned shape {tuple(changed.shape)}, not {tuple(value.shape)}")
        return changed


def hooks_anywhere() -> bool:
    """Return whether this context has a hook at any point of any model, or PyTorch's own are at one."""
    return bool(_open_hooks.get()) or HookPoint.native_hooks > 0


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
    result: Tensor = point(value) if hooks_anywhere() and not _skipping.get() else value
    return result


def report_padding(point: PaddingPoint, ids: Tensor, mask: Tensor | None) -> None:
    """Tell captures which positions of ids (B, n) are no padding: mask (B, 1, 1, n), or None for all."""
    if has_hooks(point):
        run_hooks(point, torch.ones_like(ids, dtype=torch.bool) if mask is None else mask[:, 0, 0].expand(ids.shape))


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


@contextmanager
def batch_context(numbers: Sequence[int], total: int, lengths: Sequence[tuple[int, int | None]] = ()) -> Iterator[None]:
    """Give every edit inside the context the sentences of the running batch.

    Args:
        numbers: Where each was given, in the context around this one or among all sentences.
        total: How many were given.
        lengths: Positions of each in the encoder, and in the decoder if they are known.
    """
    outer = _batch.get()
    if outer is not None:
        numbers, total = [outer.numbers[number] for number in numbers], outer.total
    token = _batch.set(_Batch(numbers, lengths, total))
    try:
        yield
    finally:
        _batch.reset(token)


def _numbered(rows: Rows, batch: _Batch, count: int) -> Rows:
    sentences = tuple(batch.numbers[number] for number in rows.sentences or range(count))
    lengths = dict(zip(batch.numbers, batch.lengths, strict=False))
    return replace(rows, sentences=sentences, lengths=lengths, total=batch.total)


@contextmanager
def hooked(points: list[HookPoint], change: Edit) -> Iterator[None]:
    """Let a function read or change the values at some points, in this context."""
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
