"""Changing attention while the model runs: edits by hand, and PyTorch's own hooks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.core.tiny import inputs_for, nobody_listens, run, tiny_model
from transformer_core import Transformer, zero
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.points import Rows, capture, edit, hook_points, row_context

CROSS_1 = "decoder.layers.1.cross_attention"


@given(st.sets(st.integers(0, 3), max_size=4), st.sampled_from(KINDS), st.sampled_from((0, 1)))
def test_ablating_heads_is_zeroing_their_columns_of_w_o(heads: set[int], kind: Kind, layer: int) -> None:
    model = tiny_model()
    with edit(model, {f"{kind}.{layer + 1}.{head + 1}": zero for head in heads}):
        ablated = run(model)
    untouched = run(model)
    with torch.no_grad():
        w_o = model.get_parameter(hook_point_name(kind, layer, "w_o.weight"))  # (d, H * d_v)
        for head in heads:
            w_o[:, 5 * head : 5 * (head + 1)] = 0
    torch.testing.assert_close(ablated, run(model), atol=1e-6, rtol=1e-5)
    assert torch.allclose(ablated, untouched) == (not heads)


def test_an_edit_that_changes_the_shape_is_refused(model: Transformer) -> None:
    with (
        pytest.raises(ValueError, match=f"{CROSS_1}.values returned shape"),
        edit(model, f"{CROSS_1}.values", lambda v, s: v[:1]),
    ):
        run(model)
    assert nobody_listens(model)


def test_edits_work_in_the_order_in_which_they_were_opened(model: Transformer) -> None:
    address = f"{CROSS_1}.values"
    with (
        edit(model, address, lambda value, site: torch.ones_like(value)),
        edit(model, address, lambda value, site: 3 * value),
        capture(model, "cross.2.values") as seen,
    ):
        run(model)
    assert bool((seen[address] == 3).all())


def test_rows_are_told_within_their_context_only(model: Transformer) -> None:
    told: list[Rows] = []
    rows = Rows(query_offset=3, sentences=(0, 0, 1), beams=(0, 1, 0))
    with edit(model, f"{CROSS_1}.queries", lambda value, site: told.append(site.rows)):
        with row_context(rows):
            run(model)
        run(model)
    assert told == [rows, Rows()]


# --- PyTorch's own hooks ----------------------------------------------------------------------------------------------


def test_native_hooks_read_and_replace_until_removed(model: Transformer) -> None:
    before = run(model)
    seen: list[Tensor] = []
    point = hook_points(model)[f"{CROSS_1}.weights"]
    reader = point.register_forward_hook(lambda module, given, value: seen.append(value))
    torch.testing.assert_close(run(model), before, atol=1e-5, rtol=1e-5)
    assert [tuple(value.shape) for value in seen] == [(2, 4, 4, 5)]
    silent = point.register_forward_hook(lambda module, given, value: torch.zeros_like(value))
    assert not torch.allclose(run(model), before)
    with edit(model, "cross.2", zero):
        expected = run(model)
    torch.testing.assert_close(run(model), expected)
    reader.remove()
    assert point.is_active
    silent.remove()
    silent.remove()  # a second call does nothing
    assert nobody_listens(model)
    assert torch.equal(run(model), before)


def test_native_hooks_as_contexts_and_before_the_point(model: Transformer) -> None:
    point = hook_points(model)[f"{CROSS_1}.values"]
    seen: list[Tensor] = []
    with (
        point.register_forward_pre_hook(lambda module, given: (torch.ones_like(given[0]),)),
        point.register_forward_hook(lambda module, given, value: seen.append(value)),
    ):
        run(model)
    assert bool((seen[0] == 1).all())
    assert nobody_listens(model)


def test_native_backward_hooks_see_gradients(model: Transformer) -> None:
    point = hook_points(model)[f"{CROSS_1}.weights"]
    seen: list[tuple[Tensor, ...]] = []
    with (
        point.register_full_backward_hook(lambda module, given, out: seen.append(out)),
        capture(model, "cross.2", grad=True) as kept,
    ):
        model(*inputs_for([5, 3], 4)).square().sum().backward()
    assert kept[f"{CROSS_1}.weights"].shape == seen[0][0].shape
    assert bool(seen[0][0].any())
    assert nobody_listens(model)
