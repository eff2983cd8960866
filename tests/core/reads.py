"""Count on a CPU what would make the host wait for a GPU, send it values, or launch kernels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from unittest.mock import patch

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten
_READS = {aten._local_scalar_dense, aten.equal, aten.is_nonzero, aten.masked_select, aten.nonzero}
_INDEXING = {aten.index, aten.index_put, aten.index_put_}
_SENDING = {aten.lift_fresh}  # of `torch.tensor(values)`
_METHODS = ("tolist", "numpy")  # these pass no dispatcher
# Views and new memory launch nothing.
_NO_KERNELS = {
    *("view", "_unsafe_view", "t", "transpose", "permute", "expand", "slice", "select", "unsqueeze", "squeeze"),
    *("alias", "detach", "split", "split_with_sizes", "unbind", "as_strided", "diagonal", "unfold", "lift_fresh"),
    *("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"),
}


class CountedReads(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Operations of this context, and which of them are none of the device alone.

    `item`, `bool` and `int` count as `_local_scalar_dense`. An index of booleans counts as `nonzero`. What moves a
    tensor to the CPU counts only where it comes from elsewhere.

    Attributes:
        reads: What waits for values of the device, in order.
        sent: What makes a tensor of values of the host.
        operators: How often each operator was called.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.reads: list[str] = []
        self.sent: list[str] = []
        self.operators: Counter[str] = Counter()
        self._patches = ExitStack()

    @property
    def operations(self) -> int:
        """Number of operations."""
        return self.operators.total()

    @property
    def kernels(self) -> int:
        """Number of operations that launch kernels; one on a list of tensors counts once."""
        return sum(count for name, count in self.operators.items() if name not in _NO_KERNELS)

    def __enter__(self) -> Self:
        for name in _METHODS:
            self._patches.enter_context(patch.object(Tensor, name, self._counted(name)))
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)  # type: ignore[no-untyped-call]
        self._patches.close()

    def _counted(self, name: str) -> Callable[..., Any]:
        method = getattr(Tensor, name)

        def counted(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            self.reads.append(name)
            return method(tensor, *args, **kwargs)

        return counted

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        packet = func.overloadpacket
        self.operators[packet.__name__] += 1
        out = func(*args, **(kwargs or {}))
        if packet in _READS:
            self.reads.append(packet.__name__)
        elif packet in _INDEXING and any(each is not None and each.dtype == torch.bool for each in args[1]):
            self.reads.append("nonzero")
        elif packet is aten._to_copy and out.device.type == "cpu" != args[0].device.type:
            self.reads.append("_to_copy")
        elif packet in _SENDING:
            self.sent.append(packet.__name__)
        return out
