"""Edits: ready-made ones against what they do to the weights, step by step as in one pass; PyTorch's own hooks."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from tests.core.tiny import SPECIAL, inputs_for, nobody_listens, run, tiny_model
from transformer_core import ablate_neurons, chain, force_edges, inject, knock_out, mean_of, only, patch, zero
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.config import DecodingConfig
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.hooks.points import Edit, Rows, Site, capture, edit, hook_points, row_context
from transformer_core.model.transformer import Transformer

CROSS, SELF = "cross.2", "decoder.1"
SITE = Site("decoder.layers.1.cross_attention.weights", "cross", 1, "weights")


def weights_of(model: Transformer, address: str, change: Edit, point: str) -> Tensor:
    """(B, H, Q, K) weights with a change at a point of the same attention."""
    with edit(model, f"{address}.{point}", change), capture(model) as seen:
        run(model)
    return seen[".".join(address.split(".")[:2])]


def plain_weights(model: Transformer, address: str) -> Tensor:
    with capture(model) as seen:
        run(model)
    return seen[address]


def test_a_knocked_out_edge_gives_its_weight_to_the_others_in_proportion(model: Transformer) -> None:
    before = plain_weights(model, CROSS)
    after = weights_of(model, "cross.2.4", knock_out([(2, 1)]), "scores")
    expected = before.clone()
    expected[:, 3, 2, 1] = 0.0
    expected[:, 3, 2] /= expected[:, 3, 2].sum(dim=-1, keepdim=True)
    torch.testing.assert_close(after, expected, atol=1e-6, rtol=1e-5)


def test_a_query_that_loses_all_its_keys_attends_to_nothing(model: Transformer) -> None:
    after = weights_of(model, SELF, knock_out([(0, 0)]), "scores")
    assert not bool(after[:, :, 0].any())
    assert bool(torch.isfinite(run(model)).all())


def test_a_forced_edge_takes_all_the_weight(model: Transformer) -> None:
    before = plain_weights(model, CROSS)
    with edit(model, ["cross.2.1.scores", "cross.2.2.scores"], force_edges({1: 2, 3: 0})):
        after = plain_weights(model, CROSS)
    expected = before.clone()
    for query, key in ((1, 2), (3, 0)):
        expected[:, :2, query] = 0.0
        expected[:, :2, query, key] = 1.0
    torch.testing.assert_close(after, expected, atol=1e-6, rtol=1e-5)


def test_an_injected_pattern_is_what_the_head_then_uses(model: Transformer) -> None:
    pattern = torch.eye(5)
    with edit(model, "encoder.1.3.weights", inject(pattern)), capture(model, {"values", "head_outputs"}) as seen:
        run(model)
    # Attending to oneself with all the weight gives one's own value.
    torch.testing.assert_close(seen["encoder.1.3.head_outputs"], seen["encoder.1.3.values"])


def test_mean_ablation_by_hand(model: Transformer) -> None:
    address = "cross.2.head_outputs"
    with capture(model, "head_outputs") as seen:
        run(model)
        run(model, lengths=(4, 4))
    (calls,) = [calls for long, calls in seen.calls.items() if long == seen.place(address).address]
    mean = torch.cat(calls).mean(dim=(0, 2))  # (4, d_v), of (4, 4, T, d_v)
    with edit(model, ["cross.2.2", "cross.2.4"], mean_of(seen)), capture(model, "head_outputs") as ablated:
        run(model)
    torch.testing.assert_close(ablated[address][:, [1, 3]], mean[None, [1, 3], None].expand(2, 2, 4, 5))
    torch.testing.assert_close(ablated[address][:, [0, 2]], calls[0][:, [0, 2]])


def test_patching_what_is_not_there_is_an_error(model: Transformer) -> None:
    with capture(model, "cross.1.head_outputs") as seen:
        run(model)
    with edit(model, f"{CROSS}.head_outputs", patch(seen)), pytest.raises(ValueError, match="run has no value"):
        run(model)
    with edit(model, f"{CROSS}.head_outputs", patch(torch.zeros(2, 4, 2, 5))), pytest.raises(ValueError, match="other"):
        run(model)


@pytest.mark.parametrize(
    ("address", "change"),
    [
        (f"{SELF}.scores", knock_out([(1, 0), (3, 1), (3, 3)])),
        (f"{CROSS}.3.scores", knock_out([(0, 1), (2, 0)])),
        (f"{SELF}.2.scores", force_edges({2: 0, 3: 3})),
        (f"{CROSS}.scores", force_edges({0: 2, 3: 1})),
        (f"{SELF}.4.weights", inject(torch.full((4, 4), 0.25).tril())),
        (f"{CROSS}.weights", inject(torch.full((4, 4, 5), 0.2))),
        (f"{CROSS}.1", lambda value, site: torch.ones_like(value)),
        (f"{CROSS}.3.head_results", zero),
        (f"{SELF}.1.head_results", lambda value, site: torch.ones_like(value)),
        (f"{SELF}.attention_output", patch(torch.arange(64.0).view(1, 4, 16) / 64)),
        ("decoder.2.ffn_output", patch(torch.arange(64.0).view(1, 4, 16) / 64)),
        ("decoder.2.scale", patch(torch.arange(1.0, 5.0).view(1, 4, 1))),
        (f"{CROSS}.head_outputs", patch(torch.arange(160.0).view(2, 4, 4, 5) / 160)),
        ("decoder.1.activations", ablate_neurons({0, 5, 23}, to=0.5)),
        ("decoder.embeddings", patch(torch.arange(128.0).view(2, 4, 16) / 128)),
        ("cross.2.residual", patch(torch.arange(64.0).view(1, 4, 16) / 64)),
        ("decoder.logits", lambda value, site: value + 1.0),
    ],
)
def test_an_edit_means_the_same_step_by_step_as_in_one_pass(address: str, change: Edit, model: Transformer) -> None:
    source, target, mask = inputs_for((5, 3), 4)
    with torch.no_grad(), edit(model, address, change):
        whole = model(source, target, mask)
        decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1)
        for position in range(4):
            with row_context(Rows(query_offset=position)):
                step = decoder.step(target[:, position : position + 1])
            torch.testing.assert_close(step, whole[:, position], atol=1e-5, rtol=1e-4)
    with torch.no_grad():
        assert not torch.allclose(model(source, target, mask), whole, atol=1e-4)


def test_only_some_sentences_and_beams_are_changed(model: Transformer) -> None:
    source, _, _ = inputs_for((5, 5, 5), 1)
    config = DecodingConfig(beam=2, extra_length=3)
    address = f"{CROSS}.head_outputs"
    with edit(model, address, lambda value, site: None):  # the path of those who listen, equal to the last bit
        plain = beam_search(model, source, SPECIAL, config)
    with edit(model, address, zero):
        everywhere = beam_search(model, source, SPECIAL, config)
    with edit(model, address, only(zero, sentences={1})):
        second = beam_search(model, source, SPECIAL, config)
    assert second[0] == plain[0] and second[2] == plain[2]
    assert second[1] == everywhere[1] != plain[1]
    assert plain[0] != everywhere[0]


def test_only_leaves_the_other_beams_as_they_are() -> None:
    value = torch.ones(4, 4, 1, 5)
    site = Site(SITE.address, SITE.kind, SITE.layer, SITE.point, Rows(3, (0, 0, 2, 2), (0, 1, 0, 1)))
    changed = only(lambda value, site: value * 2, sentences={2}, beams={1})(value, site)
    assert changed is not None
    assert changed[:, 0, 0, 0].tolist() == [1, 1, 1, 2]
    assert only(lambda value, site: value * 2, sentences={7})(value, site) is None
    shared = torch.ones(2, 4, 6, 5)  # keys of the source, one row a sentence
    changed = only(lambda value, site: value * 2, sentences={2})(shared, site)
    assert changed is not None
    assert changed[:, 0, 0, 0].tolist() == [1, 2]


def test_ablated_neurons_have_the_value_given(model: Transformer) -> None:
    address = "encoder.layers.0.feed_forward.activations"
    with edit(model, address, ablate_neurons({1, 23}, to=0.25)), capture(model, "activations") as seen:
        run(model)
    assert bool((seen[address][..., [1, 23]] == 0.25).all())
    with edit(model, address, ablate_neurons({24})), pytest.raises(ValueError, match="neurons 0 to 23"):
        run(model)


def test_a_chain_makes_its_changes_in_order() -> None:
    change = chain(lambda value, site: value + 1, lambda value, site: None, lambda value, site: value * 10)
    assert change(torch.tensor([1.0]), SITE).item() == 20.0


@pytest.mark.parametrize(
    ("change", "point"),
    [
        (knock_out([(0, 9)]), "scores"),
        (force_edges({0: 5}), "scores"),
        (inject(torch.zeros(2, 5)), "weights"),
        (inject(torch.zeros(4, 3)), "weights"),
        (knock_out([(0, 0)]), "weights"),
        (force_edges({0: 0}), "head_results"),
        (inject(torch.zeros(4, 5)), "scores"),
    ],
)
def test_what_does_not_exist_is_an_error_that_says_so(change: Edit, point: str, model: Transformer) -> None:
    with edit(model, f"{CROSS}.{point}", change), pytest.raises(ValueError, match=r"keys|pattern|this edit changes"):
        run(model)
    assert nobody_listens(model)


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
