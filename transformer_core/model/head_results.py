"""The output of an attention as the sum of its heads' results, where hooks change them."""

from __future__ import annotations

from torch import Tensor, nn

from transformer_core.hooks.points import HookPoint, has_hooks, run_hooks


def sum_of_edited_results(point: HookPoint, w_o: nn.Linear, heads: Tensor) -> Tensor | None:
    """Return the sum over heads of what `head_results` become, plus the bias; None where no hook changes them.

    Args:
        point: The hook point `head_results`.
        w_o: W^O.
        heads: (B, H, Q, d_v).

    Returns:
        (B, Q, d).

    Raises:
        ValueError: W^O has hooks of its own, which would be skipped.
    """
    if not has_hooks(point):
        return None
    of_heads = w_o.weight.to(heads.dtype).view(-1, heads.shape[1], heads.shape[-1]).permute(1, 2, 0)
    results = heads @ of_heads  # (B, H, Q, d_v) @ (H, d_v, d) -> (B, H, Q, d)
    changed = run_hooks(point, results)
    if changed is results:
        return None
    if not is_unhooked_linear(w_o):
        raise ValueError("head_results cannot change: W^O has hooks of its own, which would be skipped")
    summed = changed.sum(dim=1)
    return summed if w_o.bias is None else summed + w_o.bias


def is_unhooked_linear(layer: nn.Module) -> bool:
    """Return whether a layer is an nn.Linear without hooks, so that its weight says all."""
    return isinstance(layer, nn.Linear) and not (
        layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks
    )
