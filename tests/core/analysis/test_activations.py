"""Activations between the boxes of Figure 1: against PyTorch's hooks on the modules, and the formulas of Section 3."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.core.tiny import tiny_model
from transformer_core.analysis.activations import SUBLAYERS, record_activations
from transformer_core.model.transformer import Transformer

SOURCE, INPUTS = torch.tensor([[5, 9, 11, 7, 2]]), torch.tensor([[1, 8, 6]])


def outputs_of_modules(model: Transformer) -> dict[str, Tensor]:
    """What every module gives, as PyTorch's own hooks see it."""
    seen: dict[str, Tensor] = {}
    handles = []
    for name, module in model.named_modules():

        def keep(_module: Any, _args: Any, out: Any, name: str = name) -> None:
            if isinstance(out, Tensor):
                seen[name] = out[0]

        handles.append(module.register_forward_hook(keep))
    with torch.no_grad():
        model(SOURCE, INPUTS, torch.ones(1, 1, 1, SOURCE.shape[1], dtype=torch.bool))
    for handle in handles:
        handle.remove()
    return seen


@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "pre"}, {"attention": "additive"}, {"window": 2}, {"positions": "learned", "max_positions": 9}],
)
def test_every_activation_is_what_its_module_gives(options: dict[str, Any]) -> None:
    model = tiny_model(**options)
    seen, result = outputs_of_modules(model), record_activations(model, SOURCE, INPUTS)
    config = model.config
    assert len(result) == 2 * 2 + config.num_layers * 2 * (2 + 3) + 1
    for each in result:
        if each.sublayer is None:
            continue
        address = f"{each.side}.layers.{each.layer}.{each.sublayer}"
        name = f"{address}_add_norm" if each.name == "add_norm" else address
        torch.testing.assert_close(each.values, seen[name], rtol=1e-5, atol=1e-6)
        if each.hidden is not None:
            assert each.hidden.shape == (len(each.values), config.d_ff)
    assert result[-1].values.shape == (INPUTS.shape[1], config.vocab_size)


def test_activations_follow_from_one_another_as_the_paper_says(model: Transformer) -> None:
    """Post-norm: LayerNorm(x + Sublayer(x)); embedding rows times the root of the width."""
    result = record_activations(model, SOURCE, INPUTS)
    d_model = model.config.d_model
    torch.testing.assert_close(result[0].values, model.embedding.weight[SOURCE[0]] * d_model**0.5)
    for number, each in enumerate(result):
        if each.name != "add_norm":
            continue
        assert each.layer is not None
        norm: Any = model.get_submodule(f"{each.side}.layers.{each.layer}.{each.sublayer}_add_norm.norm")
        x, sublayer = result[number - 2].values, result[number - 1].values
        expected = F.layer_norm(x + sublayer, (d_model,), norm.weight, norm.bias, norm.eps)
        torch.testing.assert_close(each.values, expected, rtol=1e-5, atol=1e-6)
    sides = [side for side in SUBLAYERS for each in result if each.side == side]
    assert [each.side for each in result] == sides, "the encoder first"
    torch.testing.assert_close(result[-1].values, result[-2].values @ model.embedding.weight.T)


def test_one_sentence_at_a_time() -> None:
    with pytest.raises(ValueError, match="must be one sentence"):
        record_activations(tiny_model(), SOURCE.expand(2, -1), INPUTS)
