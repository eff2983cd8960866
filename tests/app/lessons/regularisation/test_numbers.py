"""The lesson on regularisation: its numbers against transformer_core's loss and a real pass of the model."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.data import make_batch
from transformer_core.model.masks import padding_mask
from transformer_core.training.loss import output_loss
from viz_app.lessons.context import LessonContext
from viz_app.lessons.regularisation import numbers as regularisation
from viz_app.lessons.small_models import SMALL

T_QUANTILES = {2: 4.302653, 4: 2.776445, 6: 2.446912, 8: 2.306004}  # of Student's t, two-sided 95 %, from tables


@pytest.fixture
def context(visit: Visit) -> LessonContext:
    return visit("loss", "A man rides.", epsilon=0.2)


def reference(p: float, epsilon: float, vocabulary: int) -> float:
    """The loss of the core for a right token with probability p, all others alike."""
    logits = torch.full((1, 1, vocabulary), (1 - p) / (vocabulary - 1)).log()
    logits[0, 0, 3] = math.log(p)
    return float(output_loss(logits, torch.eye(vocabulary), torch.tensor([[3]]), pad=0, smoothing=epsilon).smoothed)


def test_the_browser_computes_the_loss_of_the_core(javascript: Callable[[str], Any]) -> None:
    draw = np.random.default_rng(0)
    asked = [
        (float(draw.uniform(0.01, 0.99)), float(draw.uniform(0.0, 0.4)), int(draw.integers(5, 900))) for _ in range(100)
    ]
    script = (
        "import * as s from './lessons/regularisation/js/smoothing.js';"
        "const of = ([p, e, v]) => [s.smoothedLoss(p, e, v), s.entropy(e, v)];"
        f"console.log(JSON.stringify({json.dumps(asked)}.map(of)))"
    )
    for (p, epsilon, vocabulary), (loss, least) in zip(asked, javascript(script), strict=True):
        assert loss == pytest.approx(reference(p, epsilon, vocabulary), rel=1e-4)
        # The best possible loss is the entropy of the target, which the core reaches at p = 1 - epsilon.
        assert least == pytest.approx(reference(1 - epsilon, epsilon, vocabulary), rel=1e-4, abs=1e-5)
        assert least <= loss + 1e-9


def test_a_step_tells_the_token_and_its_rivals(context: LessonContext) -> None:
    translation = context.result.translation
    steps = regularisation.data(context).values["steps"]
    assert [step["token"] for step in steps] == [*translation.tokens, "</s>"][: len(steps)]
    np.testing.assert_allclose(np.log([step["p"] for step in steps]), translation.scores, rtol=1e-6)
    for step in steps:
        others = [name for name, _ in step["others"]]
        assert step["token"] not in others and len(others) == 4
        assert step["p"] + sum(p for _, p in step["others"]) <= 1 + 1e-6


def test_the_scores_are_the_papers_and_those_of_our_seeds(
    context: LessonContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = regularisation.data(context).values["charts"]["scores"]
    small = regularisation._small()
    for column, name in zip(shown["charts"]["small"]["columns"], ("perplexity", "bleu"), strict=True):
        assert column["values"] == pytest.approx([row[name] for row in small], rel=1e-6)
        ends = zip(column["low"], column["high"], strict=True)
        np.testing.assert_allclose([*ends], [row["interval"][name] for row in small], rtol=1e-6)
        assert column["marks"] == [row["seeds"][name] for row in small]
    assert all(column["low"] is None for column in shown["charts"]["paper"]["columns"])
    paper = [column["texts"][0] for column in shown["charts"]["paper"]["columns"]]
    assert paper == ["4.67", "25.3"] and "from 4.67 to 4.92" in shown["said"]["paper"]  # Table 3, row (D)
    monkeypatch.setattr(regularisation, "load_results", lambda: None)
    missing = regularisation.data(context).values["charts"]["scores"]
    assert missing["charts"]["small"] is None and missing["said"]["small"].endswith("no small models.")


def test_vectors_are_those_that_dropout_would_meet(context: LessonContext) -> None:
    result = regularisation.data(context)
    translator, translation = context.service.translator, context.result.translation
    model, special = translator.model, translator.tokenizer.special
    seen: dict[str, Any] = {}

    def keep(name: str) -> Any:
        return lambda module, given, out: seen.__setitem__(name, out[0, 0].numpy())

    encoder: Any = model.encoder.layers[0]
    decoder: Any = model.decoder.layers[0]
    points = {"encoder_self": encoder.self_attention, "encoder_feed": encoder.feed_forward}
    points |= {"decoder_self": decoder.self_attention, "cross": decoder.cross_attention}
    points |= {"decoder_feed": decoder.feed_forward}
    hooks = [module.register_forward_hook(keep(name)) for name, module in points.items()]
    batch = make_batch([translation.source_encoding.ids], [list(translation.hypotheses[0].ids)], special)
    with torch.no_grad():
        model(batch.source, batch.inputs, padding_mask(batch.source, special.pad))
        seen["source"] = model.embed(batch.source, of_source=True)[0, 0].numpy()
        seen["target"] = model.embed(batch.inputs)[0, 0].numpy()
    for hook in hooks:
        hook.remove()
    for row, name in zip(result.arrays["vectors"], regularisation.PLACES, strict=True):
        np.testing.assert_allclose(row, seen[name][: regularisation.SHOWN], atol=1e-5, err_msg=name)
    assert result.arrays["drawn"].shape == result.arrays["vectors"].shape
    assert result.arrays["drawn"].min() >= 0 and result.arrays["drawn"].max() < 1


def test_small_models_stand_beside_the_paper() -> None:
    """Means and intervals of the seeds that the file names, against NumPy and the printed quantiles of Student's t."""
    small = regularisation._small()
    runs = json.loads((SMALL / "table3.json").read_text(encoding="utf-8"))["runs"]
    by_row: dict[str, list[float]] = {}
    for run in runs:
        by_row.setdefault(run["row"], []).append(run["bleu"])
    pooled = [np.array(values) for values in by_row.values() if len(values) > 1]
    degrees = sum(len(values) - 1 for values in pooled)
    deviation = np.sqrt(sum(((values - values.mean()) ** 2).sum() for values in pooled) / degrees)
    names = ("table3-d-smoothing0", "base", "table3-d-smoothing0.2")
    assert [row["epsilon"] for row in small] == [0.0, 0.1, 0.2]
    for name, row in zip(names, small, strict=True):
        assert row["seeds"]["bleu"] == by_row[name] and len(by_row[name]) == 3
        assert row["bleu"] == pytest.approx(np.mean(by_row[name]))
        half = T_QUANTILES[degrees] * deviation / np.sqrt(3)
        assert row["interval"]["bleu"] == pytest.approx([row["bleu"] - half, row["bleu"] + half])
        assert row["perplexity"] == pytest.approx(np.mean(row["seeds"]["perplexity"]))
        low, high = row["interval"]["perplexity"]
        middle = np.log(row["seeds"]["perplexity"]).mean()  # perplexity differs by factors
        assert np.log(low) + np.log(high) == pytest.approx(2 * middle) and low < row["perplexity"] < high


def test_the_verdicts_follow_from_the_seeds() -> None:
    """Smoothing raises the perplexity of every seed; BLEU of seeds with and without it overlaps."""
    without, smoothed, more = regularisation._small()
    assert without["verdict"] == {"perplexity": "same", "bleu": "noise"} == more["verdict"]
    assert smoothed["verdict"] == {"perplexity": None, "bleu": None}
    assert max(without["seeds"]["perplexity"]) < min(smoothed["seeds"]["perplexity"])
    assert max(smoothed["seeds"]["perplexity"]) < min(more["seeds"]["perplexity"])
    assert min(without["seeds"]["bleu"]) < max(smoothed["seeds"]["bleu"])
