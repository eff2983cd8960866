"""Effects of all heads at once, against one ordinary edit for each head; gradients at their outputs."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.analysis.models import FEW_SHAPES, SHAPES, SOURCE, TARGET, heads, of_shapes
from transformer_core import Translator, edit
from transformer_core.analysis.ablation import Head, ablated, hook_point_name
from transformer_core.analysis.effects import head_effects as module
from transformer_core.analysis.effects.head_effects import Change, head_effects, mean_outputs
from transformer_core.analysis.effects.head_gradients import estimated_effects, gradient_importance
from transformer_core.analysis.teacher_forced_run import SUBLAYERS, TeacherForcedRun, teacher_forced_run
from transformer_core.attention_maps import KINDS, Kind
from transformer_core.hooks.points import Site, capture
from transformer_core.model.layers import AddAndNorm

OTHERS = [("My friend buys the green door.", "Mein Freund kauft die grüne Tür."), ("A cup.", "Eine Tasse Tee.")]


@of_shapes([*SHAPES, {"causal": False}])
@pytest.mark.parametrize("target", [TARGET, "Ja", None])
def test_every_effect_is_that_of_an_ordinary_edit(translator: Translator, target: str | None) -> None:
    result = head_effects(translator, SOURCE, target)
    run = result.run
    if target is None:
        own = translator.translate(SOURCE)
        assert run.text == own.text and run.tokens[: len(own.tokens)] == own.tokens
        if translator.config.causal:  # without the mask, tokens that are written later change what is before
            assert run.log_p == pytest.approx(torch.tensor(own.scores), abs=1e-5)
    else:
        assert float(run.log_p.sum()) == pytest.approx(translator.score([(SOURCE, target)])[0], abs=1e-4)
    for kind, layer, head in heads(translator):
        with ablated(translator, [Head(kind, layer, head)]), torch.no_grad():
            logits = translator.model(run.source, run.inputs, run.source_mask)
        without = torch.log_softmax(logits[0], dim=-1).gather(1, run.outputs[:, None])[:, 0]
        assert result.effects[kind][layer, head] == pytest.approx(run.log_p - without, abs=1e-5), (kind, layer, head)


def test_only_the_named_layers_are_measured(learned: Translator) -> None:
    whole = head_effects(learned, SOURCE, TARGET).effects
    result = head_effects(learned, SOURCE, TARGET, only={("encoder", 1), ("cross", 0)}).effects
    for kind, layer in ((kind, layer) for kind in KINDS for layer in range(learned.config.num_layers)):
        if (kind, layer) in {("encoder", 1), ("cross", 0)}:
            assert result[kind][layer] == pytest.approx(whole[kind][layer], abs=1e-5)
        else:
            assert result[kind][layer].isnan().all()
    drawn = head_effects(learned, SOURCE, TARGET, change="random", draws=2, only={("cross", 0)})
    assert drawn.draws is not None and not drawn.draws["cross"][:, 0].isnan().any()


def means_by_hand(translator: Translator, kind: Kind, layer: int) -> Tensor:
    address = hook_point_name(kind, layer, "head_outputs")
    values = []
    for source, target in OTHERS:
        with capture(translator.model, f"{kind}.{layer + 1}.head_outputs") as captured:
            translator.teacher_force(source, target)
        values.append(captured[address][0])  # (H, n, d_v)
    return torch.cat(values, dim=1).mean(dim=1)  # (H, d_v)


def put(mean: Tensor, value: Tensor, _site: Site) -> Tensor:
    return mean.expand_as(value)


def test_mean_ablation_puts_in_the_mean_over_other_sentences(learned: Translator) -> None:
    result = head_effects(learned, SOURCE, TARGET, change="mean", others=OTHERS)
    for kind, layer, head in heads(learned):
        mean = means_by_hand(learned, kind, layer)
        assert mean_outputs(learned, OTHERS)[kind][layer][:, 0] == pytest.approx(mean, abs=1e-5)
        with edit(learned, f"{kind}.{layer + 1}.{head + 1}", partial(put, mean[:, None])):
            without = teacher_forced_run(learned, SOURCE, TARGET).log_p
        assert result.effects[kind][layer, head] == pytest.approx(result.run.log_p - without, abs=2e-5)
    assert result.draws is None


def test_resampling_puts_in_what_a_head_said_of_another_sentence(learned: Translator) -> None:
    """Two sentences, two draws: each of them once. The first is long enough, the second is repeated."""
    result = head_effects(learned, SOURCE, TARGET, change="resample", others=OTHERS, draws=2, seed=3)
    some: list[tuple[Kind, int, int]] = [("encoder", 0, 1), ("decoder", 1, 2), ("cross", 0, 3), ("cross", 1, 0)]
    for kind, layer, head in some:
        address, effects = hook_point_name(kind, layer, "head_outputs"), []
        for source, target in OTHERS:
            with capture(learned.model, "head_outputs") as captured:
                learned.teacher_force(source, target)
            said = captured[address][0, head]  # (n, d_v)

            def put_in(value: Tensor, _site: object, said: Tensor = said, head: int = head) -> Tensor:
                changed = value.clone()
                for position in range(value.shape[2]):
                    changed[0, head, position] = said[position % len(said)]
                return changed

            with edit(learned.model, address, put_in):
                effects.append(result.run.log_p - teacher_forced_run(learned, SOURCE, TARGET).log_p)
        both = torch.stack(effects)
        assert result.effects[kind][layer, head] == pytest.approx(both.mean(dim=0), abs=2e-5)
        assert result.draws is not None
        assert result.draws[kind][:, layer, head] == pytest.approx(both, abs=2e-5)


def test_a_random_direction_is_as_long_as_what_is_taken_away_and_has_a_seed(learned: Translator) -> None:
    one, same, other = (head_effects(learned, SOURCE, TARGET, change="random", seed=seed) for seed in (1, 1, 2))
    assert torch.equal(one.effects["cross"], same.effects["cross"])
    assert not torch.allclose(one.effects["cross"], other.effects["cross"])
    outputs, parts = torch.randn(4, 6, 5), torch.randn(4, 5, 16)
    generator = torch.Generator().manual_seed(1)
    added = module._random(generator, module._zero)("cross", 0, outputs, parts)
    assert added.norm(dim=2) == pytest.approx((outputs @ parts).norm(dim=2), rel=1e-5)
    mean = torch.randn(4, 1, 5)
    added = module._random(generator, module._replaced_by({"cross": [mean]}))("cross", 0, outputs, parts)
    assert added.norm(dim=2) == pytest.approx(((outputs - mean) @ parts).norm(dim=2), rel=1e-5)
    means = mean_outputs(learned, OTHERS)
    matched = head_effects(learned, SOURCE, TARGET, change="random", means=means, seed=1)
    assert not torch.allclose(one.effects["cross"], matched.effects["cross"])


@of_shapes([{}, {"norm": "pre"}])
def test_with_a_frozen_norm_only_the_removal_counts(translator: Translator) -> None:
    """The LayerNorm after the head, written out with the standard deviation of the unchanged run."""
    norm = translator.config.norm
    result = head_effects(translator, SOURCE, TARGET, frozen_norm=True)
    plain = head_effects(translator, SOURCE, TARGET)
    names: dict[Kind, str] = {kind: SUBLAYERS[kind] for kind in KINDS}
    for kind, layer, head in heads(translator):
        stack = "encoder" if kind == "encoder" else "decoder"
        sublayer = translator.model.get_submodule(f"{stack}.layers.{layer}.{names[kind]}_add_norm")
        assert isinstance(sublayer, AddAndNorm)
        sums: list[Tensor] = []
        handle = sublayer.norm.register_forward_pre_hook(lambda _module, given, sums=sums: sums.append(given[0]))
        teacher_forced_run(translator, SOURCE, TARGET)
        clean = sums.pop()

        def normed(
            _module: object, given: tuple[Tensor], _out: Tensor, clean: Tensor = clean, norm: Any = sublayer.norm
        ) -> Tensor:
            (total,) = given
            sigma = torch.sqrt(((clean - clean.mean(-1, keepdim=True)) ** 2).mean(-1, keepdim=True) + norm.eps)
            changed: Tensor = (total - total.mean(-1, keepdim=True)) / sigma * norm.weight + norm.bias
            return changed

        handle.remove()
        context: Any = nullcontext() if norm == "pre" else sublayer.norm.register_forward_hook(normed)
        with context, ablated(translator, [Head(kind, layer, head)]):
            without = teacher_forced_run(translator, SOURCE, TARGET).log_p
        effect = result.effects[kind][layer, head]
        assert effect == pytest.approx(result.run.log_p - without, abs=1e-5), (kind, layer, head)
    assert (norm == "pre") == all(torch.allclose(result.effects[k], plain.effects[k], atol=1e-6) for k in KINDS)


def test_edits_that_are_active_stay(learned: Translator) -> None:
    """The effect of a second head where a first one is off already; that of the first is then nothing."""
    with ablated(learned, [Head("cross", 1, 2)]):
        result = head_effects(learned, SOURCE, TARGET)
    with ablated(learned, [Head("cross", 1, 2), Head("decoder", 0, 1)]):
        both = teacher_forced_run(learned, SOURCE, TARGET).log_p
    assert result.effects["decoder"][0, 1] == pytest.approx(result.run.log_p - both, abs=1e-5)
    assert result.effects["cross"][1, 2].abs().max() < 1e-5


@pytest.mark.parametrize("change", ["mean", "resample"])
def test_what_cannot_be_measured_is_refused(learned: Translator, change: Change) -> None:
    with pytest.raises(ValueError, match="needs other sentences"):
        head_effects(learned, SOURCE, TARGET, change=change)
    with pytest.raises(ValueError, match="empty"):
        head_effects(learned, "  ", TARGET)


STEP = 1e-6


def slope(translator: Translator, run: TeacherForcedRun, head: Head, at: slice) -> float:
    """Slope of the log-probability when a head's output at some positions is made a little longer."""
    kind, layer, number = head
    rows = []
    for sign in (1, -1):

        def longer(value: torch.Tensor, _site: Any, by: float = 1 + sign * STEP) -> torch.Tensor:
            changed = value.clone()
            changed[:, number, at] *= by
            return changed

        with edit(translator.model, hook_point_name(kind, layer, "head_outputs"), longer), torch.no_grad():
            logits = translator.model(run.source, run.inputs, run.source_mask)[0]
        rows.append(float(logits.log_softmax(dim=1).gather(1, run.outputs[:, None]).sum()))
    return (rows[0] - rows[1]) / (2 * STEP)


@of_shapes(FEW_SHAPES)
def test_both_measures_are_slopes_of_the_log_probability(translator: Translator) -> None:
    """Every position's output of a head made a little longer, one after the other; then all of them together."""
    translator.model.double()
    run = teacher_forced_run(translator, SOURCE, TARGET)
    importance, estimates = gradient_importance(translator, run), estimated_effects(translator, run)
    for number, head in list(enumerate(heads(translator)))[::5]:
        length = run.source.shape[1] if head[0] == "encoder" else run.inputs.shape[1]
        alone = [abs(slope(translator, run, head, slice(at, at + 1))) for at in range(length)]
        assert float(importance[number]) == pytest.approx(sum(alone) / len(run.outputs), rel=0.02, abs=1e-4)
        whole = slope(translator, run, head, slice(None))
        assert float(estimates[number]) == pytest.approx(whole, rel=0.02, abs=1e-4)
