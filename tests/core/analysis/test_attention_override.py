"""Heads redirected or switched off, against hooks of torch.nn and forced passes; activations of modules."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from tests.core.analysis.models import FEW_SHAPES, SOURCE, TARGET, of_shapes
from tests.core.tiny import tiny_model
from tests.core.torch_twins import module_values
from transformer_core import Translator, edit, hook_points
from transformer_core.analysis.ablation import Head, hook_point_name, translate_without, word_diff
from transformer_core.analysis.activations import SUBLAYERS, record_activations
from transformer_core.analysis.attention_override import (
    AttentionOverride,
    OverrideError,
    continue_decoding,
    override_attention,
    uniform_row,
    with_weight,
    without_keys,
)
from transformer_core.analysis.teacher_forced_run import teacher_forced_run
from transformer_core.attention_maps import KINDS, Kind


def own_row(translator: Translator, kind: Kind, layer: int, head: int, query: int) -> tuple[float, ...]:
    run = teacher_forced_run(translator, SOURCE, TARGET, points=["weights"])
    row = run.captured[hook_point_name(kind, layer, "weights")][0, head, query]
    return tuple((row[: query + 1] if kind == "decoder" else row).tolist())


def keys_of(translator: Translator, kind: Kind, query: int) -> int:
    return query + 1 if kind == "decoder" else teacher_forced_run(translator, SOURCE, TARGET).source.shape[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_s_own_row_changes_nothing(translator: Translator, kind: Kind) -> None:
    row = AttentionOverride(f"{kind}.2.2", 2, own_row(translator, kind, 1, 1, 2))
    result = override_attention(translator, SOURCE, [row], TARGET)
    torch.testing.assert_close(result.log_p, result.run.log_p, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(result.after, result.before, atol=1e-5, rtol=1e-5)


@of_shapes(FEW_SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_those_of_a_hook_of_torch(translator: Translator, kind: Kind) -> None:
    keys = keys_of(translator, kind, 2)
    rows = [
        AttentionOverride(f"{kind}.1.2", 2, uniform_row(keys)),
        AttentionOverride(f"{kind}.2.1", 2, with_weight(uniform_row(keys), 0, 1.0)),
    ]
    result = override_attention(translator, SOURCE, rows, TARGET)
    handles = []
    for each in rows:

        def put(_module: Any, _inputs: Any, weights: Tensor, each: AttentionOverride = each) -> Tensor:
            changed = weights.clone()
            changed[0, each.place.head, each.query] = 0
            changed[0, each.place.head, each.query, :keys] = torch.tensor(each.weights)
            return changed

        point = hook_points(translator.model)[hook_point_name(kind, each.place.layer, "weights")]
        handles.append(point.register_forward_hook(put))
    run = result.run
    with torch.no_grad():
        expected = translator.model(run.source, run.inputs, run.source_mask)[0].log_softmax(dim=1)
    for handle in handles:
        handle.remove()
    torch.testing.assert_close(result.after, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(result.log_p, expected.gather(1, run.outputs[:, None])[:, 0], atol=1e-5, rtol=1e-5)
    assert not torch.allclose(result.before, result.after, atol=1e-4)
    torch.testing.assert_close(override_attention(translator, SOURCE, [], TARGET).after, result.before)


@of_shapes(FEW_SHAPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beam", [1, 3])
def test_the_cached_search_is_the_forced_pass(translator: Translator, kind: Kind, beam: int) -> None:
    rows = [
        AttentionOverride(f"{kind}.{layer + 1}.2", 2, with_weight(uniform_row(keys_of(translator, kind, 2)), 0, 0.9))
        for layer in (0, 1)
    ]
    result = continue_decoding(translator, SOURCE, rows, TARGET, prefix_length=2, beam=beam)
    best = result.hypotheses[0]
    start = teacher_forced_run(translator, SOURCE, TARGET).outputs[:2].tolist()
    assert list(best.ids[:2]) == start
    again = override_attention(translator, SOURCE, rows, result)
    count = len(best.log_probabilities)
    # Those of the forced tokens too: they count like all others.
    assert list(best.log_probabilities) == pytest.approx(again.log_p[:count].tolist(), abs=1e-4)
    if beam == 1:
        assert again.after.argmax(dim=1)[2:].tolist() == again.run.outputs[2:].tolist()


def test_rows_by_hand() -> None:
    assert without_keys((0.5, 0.3, 0.2), [0]) == pytest.approx((0, 0.6, 0.4))
    assert with_weight((0.5, 0.3, 0.2), 0, 0.75) == pytest.approx((0.75, 0.15, 0.1))
    assert with_weight((1.0, 0.0, 0.0), 0, 0.5) == pytest.approx((0.5, 0.25, 0.25))
    assert with_weight((1.0,), 0, 0.2) == (1.0,) and uniform_row(4) == (0.25,) * 4
    with pytest.raises(OverrideError, match="no other key"):
        without_keys((1.0, 0.0), [0])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (AttentionOverride("cross.10.1", 0, (1.0,)), r"no head cross\.10\.1"),
        (AttentionOverride("cross.1", 0, (1.0,)), "is a layer, but must be a head"),
        (AttentionOverride("cross.1.1", 99, (1.0,)), "query is 99"),
        (AttentionOverride("decoder.1.1", 1, (1.0,)), "has 1 weights, but this query has 2 keys"),
        (AttentionOverride("decoder.1.1", 1, (0.5, 0.4)), "sums to 0.9"),
        (AttentionOverride("decoder.1.1", 1, (1.5, -0.5)), "not negative"),
        (AttentionOverride("decoder.1.1", 1, (float("nan"), 1.0)), "finite"),
    ],
)
def test_what_is_no_row(translator: Translator, row: AttentionOverride, message: str) -> None:
    with pytest.raises(OverrideError, match=message):
        override_attention(translator, SOURCE, [row], TARGET)
    with pytest.raises(OverrideError, match=message):
        continue_decoding(translator, SOURCE, [row], TARGET, prefix_length=1)
    with pytest.raises(ValueError, match="prefix_length is 99"):
        continue_decoding(translator, SOURCE, [], TARGET, prefix_length=99)


TEXT = "The dog is fast."


def test_without_heads_the_sentence_is_translated_again(translator: Translator) -> None:
    original = translator.translate(TEXT, beam=4)
    every_head = [Head(kind, layer, head) for kind in KINDS for layer in range(2) for head in range(4)]
    nothing = translate_without(translator, original, [], beam=4)
    assert nothing.text == original.text and nothing.before == nothing.log_probability
    every = translate_without(translator, original, every_head, beam=4)
    points = [f"decoder.layers.{layer}.cross_attention.head_outputs" for layer in range(2)]
    points += [f"{stack}.layers.{n}.self_attention.head_outputs" for stack in ("encoder", "decoder") for n in range(2)]
    with edit(translator.model, points, lambda value, _site: torch.zeros_like(value)):
        assert every.text == translator.translate(TEXT, beam=4).text
        assert every.log_probability == pytest.approx(translator.score([(TEXT, original.text)])[0])
    assert every.before == nothing.before
    whole = teacher_forced_run(translator, TEXT, original.text)
    with edit(translator.model, points, lambda value, _site: torch.zeros_like(value)):
        changed = teacher_forced_run(translator, TEXT, original.text)
    at = int((whole.log_p - changed.log_p).argmax())
    assert every.worst[0] == whole.tokens[at]
    assert every.worst[1:] == pytest.approx([run.log_p[at].exp().item() for run in (whole, changed)])


def test_words_that_differ_are_marked() -> None:
    before, after = word_diff(["der", "kleine", "Hund", "spielt"], ["der", "Hund", "spielt", "hier"])
    assert before == [("der", False), ("kleine", True), ("Hund", False), ("spielt", False)]
    assert after == [("der", False), ("Hund", False), ("spielt", False), ("hier", True)]


IDS, INPUTS = torch.tensor([[5, 9, 11, 7, 2]]), torch.tensor([[1, 8, 6]])


@pytest.mark.parametrize(
    "options",
    [{}, {"norm": "pre"}, {"attention": "additive"}, {"window": 2}, {"positions": "learned", "max_positions": 9}],
)
def test_every_activation_is_what_its_module_gives(options: dict[str, Any]) -> None:
    model = tiny_model(**options)
    with torch.no_grad(), module_values(model) as seen:
        logits = model(IDS, INPUTS, torch.ones(1, 1, 1, IDS.shape[1], dtype=torch.bool))
    result, config = record_activations(model, IDS, INPUTS), model.config
    assert len(result) == 2 * 2 + config.num_layers * 2 * (2 + 3) + 1
    for each in result:
        if each.sublayer is None:
            continue
        address = f"{each.side}.layers.{each.layer}.{each.sublayer}"
        name = f"{address}_add_norm" if each.name == "add_norm" else address
        torch.testing.assert_close(each.values, seen[f"{name} out"][0], rtol=1e-5, atol=1e-6)
        if each.hidden is not None:
            assert each.hidden.shape == (len(each.values), config.d_ff)
    torch.testing.assert_close(result[0].values, model.embedding.weight[IDS[0]] * config.d_model**0.5)
    torch.testing.assert_close(result[-1].values, logits[0], rtol=1e-5, atol=1e-6)
    sides = [side for side in SUBLAYERS for each in result if each.side == side]
    assert [each.side for each in result] == sides, "the encoder first"


def test_one_sentence_at_a_time() -> None:
    with pytest.raises(ValueError, match="must be one sentence"):
        record_activations(tiny_model(), IDS.expand(2, -1), INPUTS)
