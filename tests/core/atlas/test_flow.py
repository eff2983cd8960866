"""Worth of the flow: cuts and graphs against edits of the model by hand, shares and correlations against sums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.core.tiny import sentence_pairs
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs
from transformer_core.analysis.flow import flow
from transformer_core.analysis.flow.cut import CUT
from transformer_core.atlas import flow as measured_flow
from transformer_core.atlas.flow import ORDERS, TOKENS, measure_flow
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.attention_maps import KINDS
from transformer_core.checkpoint import save_checkpoint
from transformer_core.hooks.points import capture, edit
from transformer_core.translator import Translator

PAIRS = [list(pair) for pair in sentence_pairs()[:360:90]]
PAIR = sentence_pairs()[0]
BOOTSTRAP = {"draws": 100, "seed": 3}


@pytest.fixture(scope="module")
def runner(learned: Translator, tmp_path_factory: pytest.TempPathFactory) -> ResumableMap:
    folder = tmp_path_factory.mktemp("atlas")
    save_checkpoint(
        folder / "model", learned.model.state_dict(), learned.config, learned.tokenizer, decoding=learned.decoding
    )
    own = Translator.load(folder / "model")
    return ResumableMap(checkpoint=folder / "model", weights_hash=own.checkpoint_hash, folder=folder / "work")


def drawn(length: int, number: int) -> list[int]:
    """Positions that are explained in a sentence."""
    generator = torch.Generator().manual_seed(BOOTSTRAP["seed"] + number)
    return torch.randperm(length, generator=generator)[:TOKENS].tolist()


class Prefix:
    """The model on a sentence and the beginning of its translation, with its attention weights."""

    def __init__(self, translator: Translator, pair: list[str], at: int) -> None:
        special = translator.tokenizer.special
        self.translator, self.at = translator, at
        self.source = torch.tensor([[*translator.encode(pair[0]).ids, special.eos]])
        outputs = [*translator.encode_target(pair[1]).ids, special.eos]
        self.inputs, self.token = torch.tensor([[special.bos, *outputs[:at]]]), outputs[at]
        with capture(translator, "weights") as seen:
            self.whole = self.log_p()
        self.weights = seen

    @torch.no_grad()
    def log_p(self) -> float:
        logits = self.translator.model(self.source, self.inputs, None)[0, -1]
        return float(logits.log_softmax(dim=0)[self.token])

    def edges(self) -> list[tuple[str, int, int, int]]:
        """Address, head, query and key of all edges that are not masked."""
        return [(name, *where) for name, values in self.weights.items() for where in values[0].nonzero().tolist()]

    def without(self, edges: list[tuple[str, int, int, int]]) -> float:
        def cut(value: Tensor, site: Any) -> Tensor:
            for name, head, query, key in edges:
                if name == site.address:
                    value[0, head, query, key] = 0.0
            return value

        with edit(self.translator, "weights", cut):
            return self.log_p()


def test_cuts_are_edits_of_the_model(runner: ResumableMap) -> None:
    translator = Translator.load(runner.checkpoint)
    result = measure_flow(runner, [PAIRS[0]], BOOTSTRAP)
    assert (result.sentences, result.skipped, result.tokens, result.cut_shares) == (1, 0, TOKENS, CUT)
    flows, means = flow(translator, PAIR), mean_outputs(translator, [PAIR])
    losses: dict[str, list[list[float]]] = {"flow": [], "attention": []}
    whole, nothing = [], []
    for at in drawn(len(flows), 0):
        prefix = Prefix(translator, PAIRS[0], at)
        by_address = {
            hook_point_name(kind, layer, "weights"): flows[at].maps[kind][layer]
            for kind in KINDS
            for layer in range(translator.config.num_layers)
        }
        values = {
            "flow": lambda edge, of=by_address: of[edge[0]][edge[1:]],
            "attention": lambda edge, of=prefix: float(of.weights[edge[0]][0][edge[1:]]),
        }
        edges = prefix.edges()
        for order, value in values.items():
            ranked = sorted(edges, key=value, reverse=True)
            counts = [max(1, round(share * len(edges))) for share in CUT]
            losses[order].append([prefix.whole - prefix.without(ranked[:count]) for count in counts])
        outputs = {
            hook_point_name(kind, layer, "head_outputs"): lambda value, _, mean=means[kind][layer]: mean.expand_as(
                value
            )
            for kind in KINDS
            for layer in range(translator.config.num_layers)
        }
        with edit(translator, outputs):
            nothing.append(prefix.log_p())
        whole.append(prefix.whole)
    assert float(result.whole.value) == pytest.approx(np.mean(whole), abs=1e-4)
    assert float(result.nothing.value) == pytest.approx(np.mean(nothing), abs=1e-4)
    for order, each in losses.items():
        assert result.cut[order].value == pytest.approx(np.mean(each, axis=0), abs=1e-3), order


def test_a_graph_of_all_edges_is_the_model(
    runner: ResumableMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_flow, "KEPT", (1.0,) * len(CUT))
    elsewhere = replace(runner, folder=tmp_path / "work")  # results of other sizes have the same names
    result = measure_flow(elsewhere, PAIRS[:2], BOOTSTRAP)
    assert set(result.kept) == set(result.cut) == set(ORDERS)
    for order, curve in result.kept.items():
        assert curve.value == pytest.approx([float(result.whole.value)] * len(CUT), abs=1e-4), order


def test_shares_and_correlations_are_those_of_all_tokens(runner: ResumableMap) -> None:
    translator = Translator.load(runner.checkpoint)
    result = measure_flow(runner, [*PAIRS, ["", "nothing"]], BOOTSTRAP)
    assert (result.sentences, result.skipped) == (len(PAIRS), 1)
    sizes = {kind: np.zeros((2, 4)) for kind in KINDS}
    effects, signed = {kind: list[Any]() for kind in KINDS}, {kind: list[Any]() for kind in KINDS}
    for source, target in PAIRS:
        of_heads = head_effects(translator, source, target).effects
        for number, each in enumerate(flow(translator, (source, target))):
            for kind in KINDS:
                sizes[kind] += np.abs(each.maps[kind]).sum(axis=(2, 3))
                signed[kind].append(each.maps[kind].sum(axis=(2, 3)))
                effects[kind].append(of_heads[kind][:, :, number].numpy())
    total = sum(float(each.sum()) for each in sizes.values())
    for kind in KINDS:
        assert result.share[kind].value == pytest.approx(sizes[kind] / total, abs=1e-5)
        assert (result.share[kind].low <= result.share[kind].value).all()
    x, y = (np.concatenate([np.stack(each[kind]).ravel() for kind in KINDS]) for each in (signed, effects))
    assert float(result.with_effect.value) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-4)
    assert -1 <= float(result.heads_with_effect.low) <= float(result.heads_with_effect.value) <= 1
