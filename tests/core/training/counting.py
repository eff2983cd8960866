"""Count on a CPU what a GPU would wait for, and what it would launch."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

_READ_OPERATORS = {"_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique2"}
_READ_METHODS = {"item", "tolist", "numpy", "cpu", "__bool__", "__float__", "__int__", "__index__", "__array__"}
# Views and new memory launch nothing.
_NO_KERNELS = {
    *(
        "view",
        "_unsafe_view",
        "t",
        "transpose",
        "permute",
        "expand",
        "slice",
        "select",
        "unsqueeze",
        "squeeze",
        "alias",
    ),
    *("alias", "detach", "split", "split_with_sizes", "unbind", "as_strided", "diagonal", "unfold", "lift_fresh"),
    *("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"),
}


class Counted:
    """Counts reads and operators inside the block; `reads` and `operators` are by name.

    A kernel on a list of tensors is one launch here; Adam's takes a few.
    """

    def __init__(self) -> None:
        self.reads: Counter[str] = Counter()
        self.operators: Counter[str] = Counter()
        self._modes = (_Operators(self), _Methods(self))

    @property
    def kernels(self) -> int:
        """Operators that launch a kernel."""
        return sum(count for name, count in self.operators.items() if name not in _NO_KERNELS)

    def __enter__(self) -> Counted:
        for mode in self._modes:
            mode.__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *error: Any) -> None:
        for mode in reversed(self._modes):
            mode.__exit__(*error)  # type: ignore[no-untyped-call]


class _Operators(TorchDispatchMode):
    def __init__(self, found: Counted) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._found = found

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.overloadpacket.__name__
        self._found.operators[name] += 1
        indices = args[1] if name in ("index", "index_put", "index_put_") and len(args) > 1 else ()
        chosen = any(isinstance(each, Tensor) and each.dtype in (torch.bool, torch.uint8) for each in indices)
        if name in _READ_OPERATORS or chosen:
            self._found.reads[name] += 1
        return func(*args, **(kwargs or {}))


class _Methods(TorchFunctionMode):
    def __init__(self, found: Counted) -> None:
        super().__init__()
        self._found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") in _READ_METHODS:
            self._found.reads[func.__name__] += 1
        return func(*args, **(kwargs or {}))
