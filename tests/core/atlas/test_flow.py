"""Worth of the flow: cuts and graphs against edits of the model by hand, shares and correlations against sums."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.tiny import sentence_pairs
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.analysis.effects.head_effects import head_effects, mean_outputs
from transformer_core.analysis.flow import flow
from transformer_core.analysis.flow.cut import CUT, cut_edges
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.atlas import flow as measured_flow
from transformer_core.atlas.flow import ORDERS, TOKENS, measure_flow
from transformer_core.atlas.resumable_map import ResumableMap
from transformer_core.attention_maps import KINDS
from transformer_core.hooks.points import edit
from transformer_core.translator import Translator

PAIRS = [list(pair) for pair in sentence_pairs()[:360:90]]
PAIR = sentence_pairs()[0]
BOOTSTRAP = {"draws": 100, "seed": 3}


def drawn(length: int, number: int) -> list[int]:
    """Positions that are explained in a sentence."""
    generator = torch.Generator().manual_seed(BOOTSTRAP["seed"] + number)
    return torch.randperm(length, generator=generator)[:TOKENS].tolist()


def test_cuts_are_those_of_one_token_at_a_time(runner: ResumableMap, translator: Translator) -> None:
    """As `cut_edges` makes them, which flow/test_graph.py holds against weights that are set to 0 by hand."""
    result = measure_flow(runner, [PAIRS[0]], BOOTSTRAP)
    assert (result.sentences, result.skipped, result.tokens, result.cut_shares) == (1, 0, TOKENS, CUT)
    flows, means = flow(translator, PAIR), mean_outputs(translator, [PAIR])
    outputs = {
        hook_point_name(kind, layer, "head_outputs"): lambda value, _, mean=means[kind][layer]: mean.expand_as(value)
        for kind in KINDS
        for layer in range(translator.config.num_layers)
    }
    with edit(translator, outputs):
        nothing = teacher_forced_run(translator, *PAIR).log_p
    places = drawn(len(flows), 0)
    cuts = [cut_edges(translator, flows[at]) for at in places]
    assert float(result.whole.value) == pytest.approx(np.mean([each.log_p for each in cuts]), abs=1e-4)
    assert float(result.nothing.value) == pytest.approx(float(nothing[places].mean()), abs=1e-4)
    for order in ("flow", "attention"):
        losses = -torch.stack([getattr(each, order) for each in cuts]).mean(dim=0)
        assert result.cut[order].value == pytest.approx(losses.numpy(), abs=1e-3), order


def test_a_graph_of_all_edges_is_the_model(
    runner: ResumableMap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measured_flow, "KEPT", (1.0,) * len(CUT))
    elsewhere = replace(runner, folder=tmp_path / "work")  # results of other sizes have the same names
    result = measure_flow(elsewhere, PAIRS[:2], BOOTSTRAP)
    assert set(result.kept) == set(result.cut) == set(ORDERS)
    for order, curve in result.kept.items():
        assert curve.value == pytest.approx([float(result.whole.value)] * len(CUT), abs=1e-4), order


def test_shares_and_correlations_are_those_of_all_tokens(runner: ResumableMap, translator: Translator) -> None:
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
