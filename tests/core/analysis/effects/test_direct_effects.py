"""Direct logit attribution: against each part carried up through frozen LayerNorms by hand, with hooks of torch.nn."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.analysis.models import SHAPES, SOURCE, TARGET, of_shapes
from tests.core.torch_twins import module_values
from transformer_core import Translator, edit
from transformer_core.analysis.ablation import ablated
from transformer_core.analysis.effects.direct_effects import DirectEffects, direct_effects
from transformer_core.head import Head

AT = 4  # a token with some before and some after it


class Recorded:
    """Inputs and outputs of every module of one forced pass, and its logits."""

    def __init__(self, translator: Translator) -> None:
        self.model, special = translator.model, translator.tokenizer.special
        self.source = torch.tensor([[*translator.encode(SOURCE).ids, special.eos]])
        self.targets = [*translator.encode_target(TARGET).ids, special.eos]
        self.inputs = torch.tensor([[special.bos, *self.targets[:-1]]])
        with torch.no_grad(), module_values(self.model, nn.Linear, nn.LayerNorm) as self.values:
            self.logits = self.model(self.source, self.inputs, None)[0]

    def norms_above(self, sublayer: int) -> list[str]:
        """Names of the LayerNorms that the sum of a sub-layer of the decoder passes; -1 is the embedding."""
        names = ["self_attention", "cross_attention", "feed_forward"]
        config = self.model.config
        if config.norm == "pre":
            return ["decoder.norm"]
        return [
            f"decoder.layers.{number // 3}.{names[number % 3]}_add_norm.norm"
            for number in range(max(sublayer, 0), 3 * config.num_layers)
        ]

    def carried(self, vector: Tensor, sublayer: int, tokens: list[int]) -> float:
        """Carry what a sub-layer adds at `AT` up to the logits, every LayerNorm divided by its own deviation."""
        config = self.model.config
        if not config.residual and sublayer < 3 * config.num_layers - 1:
            return 0.0
        norms = self.norms_above(sublayer)
        if sublayer < 0 and config.embedding_norm:
            norms = ["decoder.embedding_norm", *norms]
        for name in norms:
            norm = self.model.get_submodule(name)
            assert isinstance(norm, nn.LayerNorm)
            deviation = (self.values[f"{name} in"][0, AT].var(unbiased=False) + norm.eps).sqrt()
            vector = norm.weight.detach() * (vector - vector.mean()) / deviation
        logits = self.model.output_weight.detach() @ vector
        return float(logits[tokens[0]] - (logits[tokens[1]] if len(tokens) == 2 else 0.0))


def expected(translator: Translator, tokens: list[int]) -> dict[str, list[Any]]:
    """The parts of embedding, heads by key, and networks; nested lists in the order of layers."""
    seen, model, config = Recorded(translator), translator.model, translator.config
    maps = translator.teacher_force(SOURCE, TARGET).attention
    result: dict[str, list[Any]] = {"decoder": [], "cross": [], "feed_forward": []}
    for layer in range(config.num_layers):
        for number, (kind, name) in enumerate((("decoder", "self_attention"), ("cross", "cross_attention"))):
            address = f"decoder.layers.{layer}.{name}"
            values, w_o = seen.values[f"{address}.w_v out"][0], model.get_submodule(f"{address}.w_o")
            assert isinstance(w_o, nn.Linear)
            weights = torch.as_tensor(getattr(maps, kind))[layer, :, AT]  # (H, keys)
            parts = []
            for head, row in enumerate(weights):
                mine = slice(head * config.d_v, (head + 1) * config.d_v)
                vectors = values[:, mine] @ w_o.weight.detach()[:, mine].T  # (keys, d)
                parts.append([
                    seen.carried(weight * vector, 3 * layer + number, tokens)
                    for weight, vector in zip(row, vectors, strict=True)
                ])  # fmt: skip
            result[kind].append(parts)
        network = seen.values[f"decoder.layers.{layer}.feed_forward.w_2 out"][0, AT]
        result["feed_forward"].append(seen.carried(network, 3 * layer + 2, tokens))
    with torch.no_grad():
        word, place = model.embedding(seen.inputs)[0, AT], model.positions(0, AT + 1)[AT]
    result["embedding"] = seen.carried(word, -1, tokens)  # type: ignore[assignment]
    result["positional_encoding"] = seen.carried(place, -1, tokens)  # type: ignore[assignment]
    return result


@of_shapes(SHAPES)
@pytest.mark.parametrize("count", [0, 1, 2], ids=["generated", "token", "difference"])
def test_every_part_is_what_a_frozen_model_makes_of_it(translator: Translator, count: int) -> None:
    seen = Recorded(translator)
    given = [7, 9][:count]
    tokens = given or [seen.targets[AT]]
    result = direct_effects(translator, SOURCE, TARGET, position=AT, tokens=given)
    for name, parts in expected(translator, tokens).items():
        torch.testing.assert_close(result.parts[name], torch.tensor(parts), atol=1e-4, rtol=1e-4, msg=name)
    logit = float(seen.logits[AT, tokens[0]] - (seen.logits[AT, tokens[1]] if count == 2 else 0.0))
    assert result.logit == pytest.approx(logit, abs=1e-4) and result.total == pytest.approx(logit, abs=1e-4)
    assert result.tokens == translator.tokenizer.tokens(tokens)
    assert not result.parts["decoder"][:, :, AT + 1 :].any()  # nothing from the future


def test_heads_and_words_are_sums(translator: Translator) -> None:
    result = direct_effects(translator, SOURCE, TARGET, position=AT)
    assert list(result.heads) == ["decoder", "cross"]
    for kind, values in result.heads.items():
        torch.testing.assert_close(values, result.parts[kind].sum(dim=2))
    words = result.source_words
    assert [word for word, _ in words] == ["The", "man", "sees", "a", "house", "today", "."]
    by_token = result.parts["cross"].sum(dim=(0, 1))
    assert sum(value for _, value in words) == pytest.approx(float(by_token[:-1].sum()), abs=1e-4)  # without </s>


def test_a_head_without_output_has_no_part(translator: Translator) -> None:
    with ablated(translator, [Head("cross", 1, 2), Head("decoder", 0, 1)]):
        result = direct_effects(translator, SOURCE, TARGET, position=AT, tokens=[7, 9])
        logits = Recorded(translator).logits[AT]
    assert not result.parts["cross"][1, 2].any() and not result.parts["decoder"][0, 1].any()
    assert result.total == pytest.approx(float(logits[7] - logits[9]), abs=1e-4)


def test_an_edited_residual_stream_has_no_exact_sum(translator: Translator) -> None:
    address = "decoder.layers.0.cross_attention_add_norm.residual"
    with (
        edit(translator.model, address, lambda value, _: value + 1.0 + value.abs()),
        pytest.raises(ValueError, match="residual"),
    ):
        direct_effects(translator, SOURCE, TARGET, position=AT)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": 99}, r"position is 99, but must be from 0 to \d+"),
        ({"position": -1}, "position is -1"),
        ({"tokens": [10**6]}, r"tokens is \[1000000\], but must be one or two ids"),
        ({"tokens": [1, 2, 3]}, "one or two ids"),
    ],
)
def test_what_is_not_there(translator: Translator, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        direct_effects(translator, SOURCE, TARGET, **options)


def test_the_text_is_short(translator: Translator) -> None:
    result: DirectEffects = direct_effects(translator, SOURCE, TARGET, position=AT, tokens=[7, 9])
    first, second = result.tokens
    assert repr(result).startswith(f"logit({first}) - logit({second}) of token {AT + 1} is {result.logit:.2f} nats")
    assert len(repr(result)) < 300
