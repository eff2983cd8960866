"""Parts of a score: against gradients of the real model with weights and sigma held, formulas, and edited scores."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.core.analysis.attribution.sentences import SOURCE, TARGET, run_of_ids
from tests.core.analysis.models import make_translator, of_shapes, sublayers
from transformer_core import Tokenizer, Transformer, Translator, capture, edit
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.linearized_model import Origin
from transformer_core.analysis.score_decomposition import (
    POINTS,
    NoParts,
    ScoreDecomposition,
    decompose_score,
    neuron_view,
)
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import Kind
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.hooks.hook_sites import Site

SHAPES: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"attention_biases": True, "scaled": False},
    {"norm": "pre", "attention_biases": True, "residual": False, "embedding_norm": True},
    {"window": 3, "positions": "none"},
    {"tie": "none", "output_bias": True, "positions": "learned", "max_positions": 64},
]
HEAD = 2


def run_of(translator: Translator) -> TeacherForcedRun:
    return teacher_forced_run(translator, SOURCE, TARGET, points=POINTS)


def visible(parts: ScoreDecomposition) -> list[tuple[int, int]]:
    return [(query, key) for query, key in parts.scores.isfinite().nonzero().tolist()]


class HeldSigma(nn.Module):
    """LayerNorm through whose standard deviation no gradient flows."""

    def __init__(self, norm: nn.LayerNorm) -> None:
        super().__init__()
        self.weight, self.bias, self.eps = norm.weight, norm.bias, norm.eps

    def forward(self, x: Tensor) -> Tensor:
        sigma = (x.var(dim=-1, correction=0, keepdim=True) + self.eps).sqrt().detach()
        return self.weight * (x - x.mean(dim=-1, keepdim=True)) / sigma + self.bias


def held(model: Transformer) -> Transformer:
    """The model with every LayerNorm replaced; ReLU's own gradient is its gate."""
    changed = copy.deepcopy(model)
    for module in list(changed.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.LayerNorm):
                setattr(module, name, HeldSigma(child))
    return changed


def by_gradients(
    translator: Translator, run: TeacherForcedRun, kind: Kind, layer: int, point: str
) -> dict[str, Tensor]:
    """(n', n, d_k) for each side: the gradient of queries or keys with respect to an embedding, times that embedding.

    The words and the positions are multiplied apart; "rest" (n, d_k) is what no embedding explains.
    """
    model = held(translator.model)
    address = hook_point_name(kind, layer, point)
    leaves: dict[str, Tensor] = {}

    def leaf(value: Tensor, site: Site) -> Tensor:
        leaves[site.address.split(".")[0]] = value.detach().requires_grad_()
        return leaves[site.address.split(".")[0]]

    with (
        edit(model, [f"{stack}.embeddings" for stack in ("encoder", "decoder")], leaf),
        edit(model, [a for a in run.captured if a.endswith(".weights")], lambda value, _: value.detach()),
        capture(model, {"queries", "keys"}, grad=True) as captured,
    ):
        model(run.source, run.inputs, run.source_mask)
    value = captured[address][0, HEAD]  # (n, d_k)
    values = {}
    rest = value.detach().clone()
    for stack, ids, table, places in (
        ("encoder", run.source, model.source_embedding or model.embedding, model.source_positions or model.positions),
        ("decoder", run.inputs, model.embedding, model.positions),
    ):
        words, positions = table(ids)[0].detach(), places(0, ids.shape[1]).detach()
        norm = model.get_submodule(f"{stack}.embedding_norm")
        if isinstance(norm, HeldSigma):
            sigma = ((words + positions).var(dim=-1, correction=0, keepdim=True) + norm.eps).sqrt()
            words, positions = (norm.weight.data * (x - x.mean(-1, keepdim=True)) / sigma for x in (words, positions))
        rows: list[Tensor] = []
        for number in value.flatten():
            (gradient,) = torch.autograd.grad(number, leaves[stack], retain_graph=True, allow_unused=True)
            rows.append(torch.zeros_like(leaves[stack][0]) if gradient is None else gradient[0])
        slopes = torch.stack(rows).view(*value.shape, *rows[0].shape)  # (n, d_k, n', d)
        for role, vectors in (("word", words), ("position", positions)):
            part = torch.einsum("ncad,ad->anc", slopes, vectors)
            values[f"{stack} {role}"] = part
            rest -= part.sum(dim=0)
    return values | {"rest": rest}


@of_shapes(SHAPES)
def test_each_origin_brings_its_gradient_times_itself(translator: Translator) -> None:
    run = run_of(translator)
    sides = {"source": "encoder", "target": "decoder"}
    for kind, layer in sublayers(translator):
        parts = decompose_score(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}")
        for point, origins, result in (
            ("queries", parts.query_origins, parts.queries),
            ("keys", parts.key_origins, parts.keys),
        ):
            expected = by_gradients(translator, run, kind, layer, point)
            assert origins[-1] == Origin("bias")
            torch.testing.assert_close(result[-1], expected["rest"], atol=1e-4, rtol=1e-4)
            for origin, part in zip(origins[:-1], result[:-1], strict=True):
                assert origin.side is not None and origin.position is not None
                own = expected[f"{sides[origin.side]} {origin.role}"][origin.position]
                torch.testing.assert_close(part, own, atol=1e-4, rtol=1e-4)


@of_shapes(SHAPES)
def test_tokens_and_roles_are_sums_of_parts(translator: Translator) -> None:
    run = run_of(translator)
    for kind, layer in sublayers(translator):
        whole = decompose_score(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}")
        tokens = decompose_score(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}", by="token")
        roles = decompose_score(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}", by="role")
        for name in ("query", "key"):
            origins = getattr(whole, f"{name}_origins")
            of = "queries" if name == "query" else "keys"
            for result, same in ((tokens, ("side", "position")), (roles, ("role",))):
                for origin, part in zip(getattr(result, f"{name}_origins"), getattr(result, of), strict=True):
                    chosen = [
                        each
                        for one, each in zip(origins, getattr(whole, of), strict=True)
                        if all(getattr(one, field) == getattr(origin, field) for field in same)
                    ]
                    torch.testing.assert_close(part, torch.stack(chosen).sum(dim=0), atol=1e-5, rtol=1e-4)


@of_shapes([*SHAPES, {"activation": "gelu"}])
def test_products_by_dimension_sum_to_the_score(translator: Translator) -> None:
    run = run_of(translator)
    for kind, layer in sublayers(translator):
        queries, keys = (run.captured[hook_point_name(kind, layer, point)][0, HEAD] for point in ("queries", "keys"))
        scale = 1.0 / math.sqrt(translator.config.d_k) if translator.config.scaled else 1.0
        result = neuron_view(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}", 2, 1)
        for dimension, product in enumerate(result.products.tolist()):
            expected = scale * float(queries[2, dimension]) * float(keys[1, dimension])
            assert product == pytest.approx(expected, abs=1e-6)
        assert float(result.products.sum()) == pytest.approx(result.score, abs=1e-4)
        assert result.score == float(run.captured[hook_point_name(kind, layer, "scores")][0, HEAD, 2, 1])


@pytest.mark.parametrize(("kind", "layer"), [("encoder", 0), ("decoder", 1), ("cross", 1)])
@pytest.mark.parametrize("factor", [0.0, 0.3, 1.0])
@torch.no_grad()
def test_scaled_part_equals_edited_scores(translator: Translator, kind: Kind, layer: int, factor: float) -> None:
    """Scores are changed cell by cell while the model runs, and its own softmax gives the row."""
    run = run_of(translator)
    parts = decompose_score(translator, run, f"{kind}.{layer + 1}.{HEAD + 1}", by="role")
    query, (of_query, of_key) = 2, ((0,), (0, 1))

    def change(value: Tensor, site: Site) -> Tensor:
        changed = value.clone()
        for key in range(value.shape[3]):
            if parts.scores[query, key].isfinite():
                part = sum(float(parts.of(query, key)[a, b]) for a in of_query for b in of_key)
                changed[0, HEAD, query, key] -= (1 - factor) * part
        return changed

    address = hook_point_name(kind, layer, "weights")
    model = translator.model
    with edit(model, hook_point_name(kind, layer, "scores"), change), capture(model, "weights") as seen:
        model(run.source, run.inputs, run.source_mask)
    row = parts.scaled_row(query, of_query, of_key, factor)
    torch.testing.assert_close(row, seen[address][0, HEAD, query], atol=1e-5, rtol=1e-5)
    same = torch.allclose(row, run.captured[address][0, HEAD, query], atol=1e-6)
    assert same == (factor == 1.0)


def test_sequences_of_one_token(translator: Translator) -> None:
    special = translator.tokenizer.special
    run = run_of_ids(translator, [special.eos], [special.bos], [special.eos], POINTS)
    parts = decompose_score(translator, run, f"cross.2.{HEAD + 1}")
    assert parts.of(0, 0).shape == (5, 3)
    assert float(parts.of(0, 0).sum()) == pytest.approx(float(parts.scores[0, 0]), abs=1e-4)


@pytest.mark.parametrize("activation", ["gelu", "swish"])
def test_other_activations_have_parts_in_the_first_layer_only(tokenizer: Tokenizer, activation: str) -> None:
    translator = make_translator(tokenizer, activation=activation)
    run = run_of(translator)
    first: tuple[Kind, ...] = ("encoder", "decoder")
    for kind in first:
        parts = decompose_score(translator, run, f"{kind}.1.{HEAD + 1}")
        assert float(parts.of(2, 1).sum()) == pytest.approx(float(parts.scores[2, 1]), abs=1e-4)
        with pytest.raises(NoParts, match=f"need ReLU, whose gates can be frozen, but this model has {activation}"):
            decompose_score(translator, run, f"{kind}.2.{HEAD + 1}")
    with pytest.raises(NoParts, match="only self-attention in the first layer"):
        decompose_score(translator, run, f"cross.1.{HEAD + 1}")


def test_bad_input(translator: Translator) -> None:
    additive = make_translator(translator.tokenizer, attention="additive")
    for function in (
        lambda run: neuron_view(additive, run, "cross.1.1", 0, 0),
        lambda run: decompose_score(additive, run, "cross.1.1"),
    ):
        with pytest.raises(NoParts, match="additive attention"):
            function(run_of(additive))
    run = run_of(translator)
    with pytest.raises(ValueError, match=r"no head cross\.3\.1: the model has 2 layers of 4 heads"):
        decompose_score(translator, run, "cross.3.1")
    for wrong in ("cross.1.0", "self.1.1", "cross.1", "cross.01.1", ""):
        with pytest.raises(ValueError, match=r"such as cross"):
            decompose_score(translator, run, wrong)
    with pytest.raises(ValueError, match="by is 'word', but must be one of part, token, role"):
        decompose_score(translator, run, "cross.1.1", by="word")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="key is 99"):
        neuron_view(translator, run, "cross.1.1", 0, 99)
    parts = decompose_score(translator, run, "decoder.1.1")
    with pytest.raises(ValueError, match="the mask hides key 3 from query 2"):
        parts.of(2, 3)
    with pytest.raises(ValueError, match=r"factor is 1\.5, but must be from 0 to 1"):
        parts.scaled_row(2, [0], [0], 1.5)
    with pytest.raises(DecodingStopped):
        decompose_score(translator, run, "cross.1.1", should_stop=lambda: True)
