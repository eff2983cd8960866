"""Gradients and integrated gradients: against Captum's on the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.core.analysis.attribution.sentences import SOURCE, TARGET
from tests.core.analysis.models import SHAPES, make_translator, of_shapes
from transformer_core import Tokenizer, Translator
from transformer_core.analysis.ablation import ablated
from transformer_core.analysis.attribution import Attribution, Contrast, attribute, gradients
from transformer_core.analysis.teacher_forced_run import TeacherForcedRun
from transformer_core.head import Head
from transformer_core.model.masks import causal_mask

STEPS = 9


def sides(translator: Translator, run: TeacherForcedRun) -> list[tuple[Tensor, Tensor]]:
    """Embeddings of the source and of the target, and positions as the first layer reads them without words."""
    model: Any = translator.model
    result = []
    for ids, norm, words, positions in (
        (
            *(run.source, model.encoder.embedding_norm),
            *(model.source_embedding or model.embedding, model.source_positions or model.positions),
        ),
        (run.inputs, model.decoder.embedding_norm, model.embedding, model.positions),
    ):
        places = positions(0, ids.shape[1])
        result.append(((norm(words(ids) + places) - norm(places)).detach().requires_grad_(), norm(places).detach()))
    return result


def baselines(run: TeacherForcedRun, inputs: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Zeros, but </s> of the source and <s> of the target stay."""
    source, target = (torch.zeros_like(x) for x in inputs)
    source[:, -1], target[:, 0] = inputs[0][:, -1].detach(), inputs[1][:, 0].detach()
    return source, target


def score(translator: Translator, run: TeacherForcedRun, row: int, contrast: Contrast | None) -> Callable[..., Tensor]:
    """From embeddings to log p of one token, without hooks."""
    model: Any = translator.model
    position, token = (row, int(run.outputs[row])) if contrast is None else (contrast.position, contrast.token)

    def forward(source: Tensor, target: Tensor) -> Tensor:
        x, y = (given + places for given, (_, places) in zip((source, target), sides(translator, run), strict=True))
        mask = None if translator.config.window else causal_mask(y.shape[1])
        for layer in model.encoder.layers:
            x = layer(x, run.source_mask)
        memory = model.encoder.norm(x)
        for layer in model.decoder.layers:
            y = layer(
                y,
                lambda y, layer=layer: layer.self_attention(y, y, mask),
                lambda y, layer=layer: layer.cross_attention(y, memory, run.source_mask),
            )
        logits = model.decoder.norm(y)[:, position] @ model.output_weight.T
        if model.output_bias is not None:
            logits = logits + model.output_bias
        log_p: Tensor = logits.log_softmax(dim=-1)
        return log_p[:, token] if contrast is None else log_p[:, token] - log_p[:, contrast.other]

    return forward


def check_against_captum(translator: Translator, contrast: Contrast | None = None) -> None:
    from captum.attr import InputXGradient, IntegratedGradients, Saliency

    values: dict[str, Attribution] = {
        method: attribute(translator, SOURCE, TARGET, method=method, contrast=contrast, steps=STEPS)
        for method in ("gradient", "grad-x-input", "integrated-gradients")
    }
    run = values["gradient"].run
    (source, _), (target, _) = sides(translator, run)
    inputs = source, target
    rows = 1 if contrast else len(run.outputs)
    for row in range(rows):
        forward = score(translator, run, row, contrast)
        per_token = {
            "gradient": [g.norm(dim=2) for g in Saliency(forward).attribute(inputs, abs=False)],
            "grad-x-input": [g.sum(dim=2) for g in InputXGradient(forward).attribute(inputs)],
        }
        whole, gap = IntegratedGradients(forward).attribute(
            inputs,
            baselines=baselines(run, inputs),
            n_steps=STEPS,
            method="gausslegendre",
            return_convergence_delta=True,
        )
        per_token["integrated-gradients"] = [g.sum(dim=2) for g in whole]
        for method, (source, target) in per_token.items():
            assert values[method].source[row] == pytest.approx(source[0].detach(), abs=1e-5), (method, row)
            assert values[method].target[row] == pytest.approx(target[0].detach(), abs=1e-5), (method, row)
        reported = values["integrated-gradients"].report["gap"][row]
        assert float(reported) == pytest.approx(abs(float(gap)), abs=1e-5)
    assert values["gradient"].source.shape == (rows, run.source.shape[1])


@pytest.mark.parametrize("options", SHAPES, ids=str)
def test_they_equal_captums(tokenizer: Tokenizer, options: dict[str, Any]) -> None:
    check_against_captum(make_translator(tokenizer, **options))


def test_a_contrast_is_the_difference_of_two_log_probabilities(learned: Translator) -> None:
    check_against_captum(learned, Contrast(position=3, token=17, other=40))


def test_edits_that_are_active_stay(learned: Translator) -> None:
    """A head that is switched off has no part in the gradient: the same as a model without its part of W^O."""
    with ablated(learned, [Head("cross", 1, 2)]):
        result = attribute(learned, SOURCE, TARGET, method="grad-x-input")
    weight = learned.model.decoder.layers[1].get_parameter("cross_attention.w_o.weight")
    width, whole = learned.config.d_v, weight.detach().clone()
    try:
        with torch.no_grad():
            weight[:, 2 * width : 3 * width] = 0.0
        without = attribute(learned, SOURCE, TARGET, method="grad-x-input")
    finally:
        with torch.no_grad():
            weight.copy_(whole)
    assert result.source == pytest.approx(without.source, abs=1e-5)
    assert not torch.allclose(result.source, attribute(learned, SOURCE, TARGET, method="grad-x-input").source)


@of_shapes([{"activation": "gelu"}, {"activation": "swish", "norm": "pre"}])
def test_more_steps_close_the_gap(translator: Translator) -> None:
    """The values sum to log p minus that of the baseline, in nats.

    The slope along the path is smooth here, so Gauss-Legendre converges geometrically, down to the rounding of float32.
    With relu it jumps, and the gap falls only like 1 / steps, by a factor that hangs on the weights.
    """
    four, eight, sixteen = (
        float(attribute(translator, SOURCE, TARGET, method="integrated-gradients", steps=steps).report["gap"].max())
        for steps in (4, 8, 16)
    )
    assert four > 1e-3 and eight < four / 10 and sixteen < 1e-5


def test_as_many_steps_as_close_the_gap(learned: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    result = attribute(learned, SOURCE, TARGET, method="integrated-gradients")
    run, report = result.run, result.report
    (source, _), (target, _) = sides(learned, run)
    inputs = source, target
    expected = []
    for row in range(len(run.outputs)):
        forward = score(learned, run, row, None)
        expected.append(float((forward(*inputs) - forward(*baselines(run, inputs))).detach()))
    assert report["difference"].tolist() == pytest.approx(expected, abs=1e-5)
    sums = result.source.sum(dim=1) + result.target.sum(dim=1)
    np.testing.assert_array_less((sums - torch.tensor(expected)).abs(), 0.01 * np.abs(expected) + 1e-5)
    many = attribute(learned, SOURCE, TARGET, method="integrated-gradients", steps=1_000)
    largest = many.source.abs().amax(dim=1, keepdim=True)
    assert float(((result.source - many.source) / largest).abs().max()) < 0.03
    few = attribute(learned, SOURCE, TARGET, method="integrated-gradients", steps=32)
    assert bool((few.report["gap"] > 0.01 * report["difference"].abs()).any())  # so it did take more
    monkeypatch.setattr(gradients, "_MAX_PIECES", 8)
    assert int(attribute(learned, SOURCE, TARGET, method="integrated-gradients").report["steps"]) == 32


def test_a_large_gap_is_said(learned: Translator, caplog: pytest.LogCaptureFixture) -> None:
    result = attribute(learned, SOURCE, TARGET, method="integrated-gradients", steps=1)
    sums = result.source.sum(dim=1) + result.target.sum(dim=1)
    assert bool((result.report["gap"] > 0.05 * sums.abs()).any())
    assert "sums are off by up to" in caplog.text
    caplog.clear()
    attribute(learned, SOURCE, TARGET, method="gradient")
    assert not caplog.text
