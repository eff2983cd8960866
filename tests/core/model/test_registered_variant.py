"""A variant of attention from outside the repository, compared with an independent computation of its scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.model.test_attention import listen
from tests.core.tiny import SPECIAL, inputs_for, run, tiny_config, tiny_model
from transformer_core import ConfigError, DecodingConfig, ModelConfig, Tokenizer, Translator, capture
from transformer_core.analysis.score_decomposition import POINTS, NoParts, decompose_score, neuron_view
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.attention_variants import VARIANTS, AttentionVariant, register_variant
from transformer_core.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from transformer_core.cli import PROGRAM, count
from transformer_core.data import make_batch
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.incremental import IncrementalDecoder
from transformer_core.model.attention import MultiHeadAttention
from transformer_core.model.layers import build_attention
from transformer_core.model.transformer import Transformer, count_parameters
from transformer_core.model_export.refusals import ExportError, check_plain_attention
from transformer_core.paper.flops import Work, multiply_adds_by_part, parameters
from transformer_core.training.validation import batch_loss

NAME = "negative-distance"


class DistanceAttention(MultiHeadAttention):
    """Scores a pair by its negative squared distance, times a factor of each head."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.factor = nn.Parameter(torch.empty(options["num_heads"]))

    def reset_extra_parameters(self) -> None:
        nn.init.uniform_(self.factor, 0.5, 1.5)

    def compute_scores(self, queries: Tensor, keys: Tensor, mask: Tensor | None) -> Tensor:
        scores = -self.factor[:, None, None] * torch.cdist(queries, keys).square()
        return scores if mask is None else scores.masked_fill(~mask, -torch.inf)


VARIANT = AttentionVariant(
    build=DistanceAttention,
    extra_parameters=lambda sizes: sizes.num_heads,
    operations=lambda sizes, queries, keys, pairs: 2.0 * pairs * sizes.num_heads * (sizes.d_k + sizes.d_v),
)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    register_variant(NAME, VARIANT)
    yield
    VARIANTS.pop(NAME, None)


def by_hand(layer: DistanceAttention, x: Tensor, memory: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Output and weights, pair by pair."""
    rows = [module(given) for module, given in ((layer.w_q, x), (layer.w_k, memory), (layer.w_v, memory))]
    q, k, v = (each.unflatten(-1, (layer.num_heads, -1)) for each in rows)  # (B, n, H, width)
    weights = torch.zeros(len(x), layer.num_heads, x.shape[1], memory.shape[1])
    for row, head, i in torch.cartesian_prod(*map(torch.arange, weights.shape[:3])).tolist():
        scores = [-layer.factor[head] * ((q[row, i, head] - k[row, j, head]) ** 2).sum() for j in range(k.shape[1])]
        allowed = mask.expand_as(weights)[row, head, i]
        weights[row, head, i, allowed] = torch.softmax(torch.stack(scores)[allowed], dim=0)
    heads = torch.einsum("bhqk,bkhd->bqhd", weights, v)
    return layer.w_o(heads.flatten(2)), weights


@torch.no_grad()
def test_weights_and_output_against_loops_with_and_without_hooks() -> None:
    torch.manual_seed(1)
    layer = build_attention(tiny_config(attention=NAME))
    layer.reset_extra_parameters()
    assert isinstance(layer, DistanceAttention)
    x, memory, mask = torch.randn(2, 3, 16), torch.randn(2, 4, 16), torch.ones(2, 1, 1, 4, dtype=torch.bool)
    mask[1, ..., 2:] = False
    expected, weights = by_hand(layer, x, memory, mask)
    torch.testing.assert_close(layer(x, memory, mask), expected)
    seen = listen(layer.weights)
    torch.testing.assert_close(layer(x, memory, mask), expected)
    torch.testing.assert_close(seen[0], weights)


def test_a_step_of_training_moves_its_parameters() -> None:
    model = tiny_model(attention=NAME).train()
    before = {name: parameter.detach().clone() for name, parameter in model.named_parameters()}
    batch = make_batch([[5, 6, 7], [8, 9]], [[10, 11], [12]], SPECIAL)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.autograd.backward(batch_loss(model, batch, smoothing=0.1, pad=SPECIAL.pad, dtype=torch.float32).smoothed)
    optimizer.step()
    moved = {name for name, parameter in model.named_parameters() if not torch.equal(parameter, before[name])}
    assert {name for name in moved if name.endswith("factor")} == {name for name in before if name.endswith("factor")}


@torch.no_grad()
def test_decoding_step_by_step_agrees_with_the_whole_target() -> None:
    model, (source, target, mask) = tiny_model(attention=NAME), inputs_for([5, 3], 4)
    decoder = IncrementalDecoder(model, model.encode(source, mask), mask, beams=1)
    assert decoder.fused_step is None
    steps = torch.stack([decoder.step(target[:, t : t + 1]) for t in range(4)], dim=1)
    torch.testing.assert_close(steps, model(source, target, mask), atol=1e-5, rtol=1e-5)
    results = beam_search(model, source, SPECIAL, DecodingConfig(beam=3, extra_length=4))
    plain = run(model)
    with capture(model) as seen:
        torch.testing.assert_close(run(model), plain, atol=1e-5, rtol=1e-5)
        again = beam_search(model, source, SPECIAL, DecodingConfig(beam=3, extra_length=4))
    assert [r.hypotheses[0].ids for r in results] == [r.hypotheses[0].ids for r in again]
    assert len(seen) == 3 * model.config.num_layers


def test_a_checkpoint_names_it_and_loading_waits_for_it(tokenizer: Tokenizer, tmp_path: Path) -> None:
    model = tiny_model(attention=NAME, vocab_size=len(tokenizer))
    save_checkpoint(tmp_path / "saved", model.state_dict(), model.config, tokenizer)
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["model"]["attention"] == NAME
    again = load_checkpoint(tmp_path / "saved").model
    torch.testing.assert_close(run(again), run(model), atol=0.01, rtol=0.01)  # stored in float16
    del VARIANTS[NAME]
    with pytest.raises(CheckpointError, match=rf"import the module that calls register_variant\('{NAME}', ...\) first"):
        load_checkpoint(tmp_path / "saved")
    with pytest.raises(ConfigError, match=f"attention is '{NAME}', but must be dot-product, additive, or one of your"):
        ModelConfig(attention=NAME)


def test_count_asks_it_or_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    config, work = tiny_config(attention=NAME), Work(sentences=2, source_length=7, target_length=5)
    plain = tiny_config()
    assert parameters(config) == count_parameters(Transformer(config)) == parameters(plain) + 3 * 2 * 4
    pairs = config.num_layers * (config.d_k + config.d_v) * config.num_heads * 2 * (7 * 7 + 5 * 5 + 7 * 5)
    more = sum(multiply_adds_by_part(config, work).values()) - sum(multiply_adds_by_part(plain, work).values())
    assert more == pairs
    assert count.run(PROGRAM.parser("count").options(["--model.attention", NAME])) == 0
    printed = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert printed["parameters"] == parameters(ModelConfig(attention=NAME))
    register_variant(NAME, AttentionVariant(build=DistanceAttention))
    with pytest.raises(ConfigError, match=f"the operations of attention '{NAME}' are unknown"):
        count.run(PROGRAM.parser("count").options(["--model.attention", NAME]))
    with pytest.raises(ValueError, match="was registered with"):
        Transformer(config)


@pytest.mark.parametrize("swapped", [False, True])
def test_scores_that_are_no_products_are_not_taken_apart(tokenizer: Tokenizer, swapped: bool) -> None:
    """Neither for a registered variant, nor where one was put into a layer by hand."""
    model = tiny_model(attention="dot-product" if swapped else NAME, vocab_size=len(tokenizer))
    if swapped:
        own = tiny_model(attention=NAME, vocab_size=len(tokenizer))
        model.decoder.layers[0].cross_attention = own.decoder.layers[0].cross_attention
    translator = Translator(model, tokenizer)
    forced = teacher_forced_run(translator, "A child sees a house.", translator.translate("A child."), points=POINTS)
    for refused in (
        lambda: decompose_score(translator, forced, "cross.1.1"),
        lambda: neuron_view(translator, forced, "cross.1.1", 0, 0),
    ):
        with pytest.raises(NoParts, match="needs scores that are products of a query and a key"):
            refused()
    if not swapped:
        with pytest.raises(ExportError, match="but MarianMTModel supports only 'dot-product'"):
            check_plain_attention("MarianMTModel", model.config)


def test_the_docs_example_runs() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "fidelity.md").read_text(encoding="utf-8")
    scope: dict[str, Any] = {}
    try:
        exec(page.split("```python\n")[1].split("```")[0], scope)
        assert run(scope["model"]).shape == (2, 4, 1_000)
    finally:
        VARIANTS.pop("distance", None)


def test_refusals_of_names_and_options() -> None:
    for name in ("", "dot-product", "additive"):
        with pytest.raises(ValueError, match="a variant cannot be named"):
            register_variant(name, VARIANT)
    with pytest.raises(ConfigError, match=f"window is 2, but must be 0 where attention is {NAME}"):
        tiny_config(attention=NAME, window=2)
