"""Short addresses: which hook point and head they mean, and what they refuse. PyTorch's own hooks are the reference."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.core.tiny import run, tiny_model
from transformer_core import Transformer, Translator, capture, describe_hook_points, edit, hook_points
from transformer_core.hooks.edits import knock_out, mean_of, only, zero
from transformer_core.hooks.hook_sites import POINTS, Site
from transformer_core.hooks.short_addresses import AddressError, find_places

CROSS_2 = "decoder.layers.1.cross_attention"


def native(model: Transformer, address: str) -> Tensor:
    """The value at a long address, recorded by a hook of PyTorch."""
    seen: list[Tensor] = []
    handle = hook_points(model)[address].register_forward_hook(lambda _module, _args, value: seen.append(value.clone()))
    run(model)
    handle.remove()
    return seen[-1]


@pytest.mark.parametrize(
    ("short", "long", "head"),
    [
        ("cross.2.3", f"{CROSS_2}.weights", 2),
        ("cross.2.3.head_outputs", f"{CROSS_2}.head_outputs", 2),
        ("cross.2", f"{CROSS_2}.weights", None),
        ("cross.2.keys", f"{CROSS_2}.keys", None),
        ("encoder.1.weights", "encoder.layers.0.self_attention.weights", None),
        ("encoder.1.4.values", "encoder.layers.0.self_attention.values", 3),
        ("decoder.1.1.scores", "decoder.layers.0.self_attention.scores", 0),
        ("decoder.2.activations", "decoder.layers.1.feed_forward.activations", None),
        ("encoder.2.residual", "encoder.layers.1.feed_forward_add_norm.residual", None),
        ("decoder.1.residual", "decoder.layers.0.feed_forward_add_norm.residual", None),
        ("cross.1.residual", "decoder.layers.0.cross_attention_add_norm.residual", None),
        ("encoder.embeddings", "encoder.embeddings", None),
        ("decoder.logits", "decoder.logits", None),
        (f"{CROSS_2}.weights", f"{CROSS_2}.weights", None),
    ],
)
def test_what_an_address_means(model: Transformer, short: str, long: str, head: int | None) -> None:
    expected = native(model, long) if head is None else native(model, long)[:, head]
    with capture(model, short) as seen:
        run(model)
    assert list(seen) == [long]
    torch.testing.assert_close(seen[short], expected, equal_nan=True)
    with capture(model, POINTS) as everything:  # the same from a capture by filters
        run(model)
    torch.testing.assert_close(everything[short], expected, equal_nan=True)
    (place,) = find_places(short, hook_points(model), 4, "weights")
    assert place.address == long
    pointless = short.rpartition(".")[2] not in POINTS
    assert place.name == (f"{short}.weights" if pointless else short) and place.head == head


def test_points_and_all_name_many(model: Transformer) -> None:
    with capture(model, ["all"]) as everything, capture(model, ["weights", "decoder.logits"]) as some:
        run(model)
    assert set(everything) == set(hook_points(model))
    assert set(some) == {a for a in everything if a.endswith(".weights")} | {"decoder.logits"}
    with pytest.raises(AddressError, match="names 6 captured values, not one"):
        some["weights"]


@pytest.mark.parametrize(
    ("wrong", "nearest"),
    [
        ("cross.3.1", "cross.2.1"),
        ("cross.0.1", "cross.2.1"),
        ("cross.2.5.scores", "cross.2.4.scores"),
        ("cros.2.3", "cross.2.3"),
        ("decoder.2.activation", "decoder.2.activations"),
        ("decoder.layers.1.cross_attention.weight", f"{CROSS_2}.weights"),
        ("encoder.1.1.residual", "encoder.1.residual"),
        ("decoder.layers.9.self_attention.weights", r"decoder.layers.\d.self_attention.weights"),
    ],
)
def test_a_wrong_address_names_the_nearest(model: Transformer, wrong: str, nearest: str) -> None:
    with capture(model, POINTS) as seen:
        run(model)
    message = rf"there is no hook point {wrong}; did you mean {nearest}\?"
    for use in (lambda: capture(model, wrong), lambda: edit(model, {wrong: zero}), lambda: edit(model, wrong, zero)):
        with pytest.raises(AddressError, match=message), use():
            pass
    for read in (seen.__getitem__, seen.mean):
        with pytest.raises(AddressError, match="did you mean"):
            read(wrong)
    assert wrong not in seen and seen.get(wrong) is None
    with pytest.raises(AddressError, match="describe_hook_points"), capture(model, "?" * 10**6):
        pass


def test_a_kind_names_all_its_layers(model: Transformer) -> None:
    with capture(model, ["cross", "decoder.residual"]) as seen:
        run(model)
    residuals = [f"decoder.layers.{layer}.feed_forward_add_norm.residual" for layer in (0, 1)]
    weights = [f"decoder.layers.{layer}.cross_attention.weights" for layer in (0, 1)]
    assert sorted(seen) == sorted([*residuals, *weights])
    with edit(model, "encoder", zero), capture(model, "encoder.head_outputs") as silent:
        run(model)
    assert len(silent) == 2 and not any(value.any() for value in silent.values())
    with pytest.raises(AddressError, match="names 2 captured values, not one"):
        seen["cross"]


def test_a_head_of_any_edit(model: Transformer) -> None:
    """The edit sees the whole value; only its head changes, and the heads of knock_out are all of them."""
    sites: list[Site] = []

    def double(value: Tensor, site: Site) -> Tensor:
        sites.append(site)
        return value * 2

    with edit(model, "cross.2.3", double), capture(model, "cross.2.head_outputs") as seen:
        run(model)
    expected = native(model, f"{CROSS_2}.head_outputs")
    expected[:, 2] *= 2
    torch.testing.assert_close(seen["cross.2.head_outputs"], expected)
    assert [(site.address, site.head) for site in sites] == [(f"{CROSS_2}.head_outputs", 2)]
    with edit(model, {"cross.2.3.scores": knock_out([(1, 0)])}), capture(model, "cross.2") as cut:
        run(model)
    assert (cut["cross.2"][:, :, 1, 0] == 0).all(0).tolist() == [False, False, True, False]
    with edit(model, {"cross.2.3": only(zero, sentences={1})}), capture(model, "cross.2.3.head_outputs") as one:
        run(model)
    assert [bool(row.any()) for row in one["cross.2.3.head_outputs"]] == [True, False]
    with pytest.raises(ValueError, match="returned shape"), edit(model, {"cross.2.3": lambda value, _: value[:, :1]}):
        run(model)
    with edit(model, {"cross.2.3": lambda _value, _site: None}):
        torch.testing.assert_close(run(model), run(tiny_model()))


def test_a_mapping_or_one_change(model: Transformer) -> None:
    for given in (({"cross.2.3": zero}, zero), ("cross.2.3", None)):
        with pytest.raises((TypeError, ValueError), match=r"either a mapping|takes two"), edit(model, *given):
            pass


def test_means_need_the_same_point_and_a_width(model: Transformer) -> None:
    with capture(model, ["cross.2", "cross.2.head_outputs"]) as other:
        run(model)
    with pytest.raises(ValueError, match="no value at encoder"), edit(model, {"encoder.1": mean_of(other)}):
        run(model)
    with pytest.raises(ValueError, match="no mean over sentences"), edit(model, {"cross.2.weights": mean_of(other)}):
        run(model)


def test_a_translator_is_its_model(learned: Translator) -> None:
    assert list(hook_points(learned)) == list(hook_points(learned.model))
    assert describe_hook_points(learned) == describe_hook_points(learned.model)
    with capture(learned, "cross.1.2") as seen, edit(learned, {"cross.1": zero}):
        learned.teacher_force("A child.", "Ein Kind.")
    assert seen["cross.1.2"].dim() == 3
