"""The lesson on masks: its numbers are the model's, and the browser's softmax is transformer_core's."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.model.attention import attention_weights
from transformer_core.storage.files import CheckpointError
from transformer_core.translator import Translator
from viz_app.lessons.context import LessonContext
from viz_app.lessons.masks import exam
from viz_app.lessons.masks import numbers as masks

SENTENCE = "I do not have a car because it is fast."


@pytest.fixture
def context(visit: Visit) -> LessonContext:
    return visit("rows", SENTENCE)


def test_with_the_mask_the_scores_give_the_weights_of_the_model(context: LessonContext) -> None:
    data = masks.data(context)
    count = len(data.values["inputs"])
    scores = data.arrays["scores"]
    truth = context.result.maps.decoder.reshape(-1, *context.result.maps.decoder.shape[2:])[:, :count, :count]
    np.testing.assert_allclose(masks.softmax(scores, masks.future(count)), truth, atol=1e-6)
    assert data.values["inputs"][0] == "<s>" and data.values["outputs"][:-1] == data.values["inputs"][1:]
    freed = masks.future_mass(scores)
    assert np.abs(freed[:, -1]).max() == 0 and freed[:, 0].min() > 0
    assert freed.mean(axis=1).argmax() == data.values["head"]


def test_the_batch_is_masked_as_the_model_masks_it(context: LessonContext, translator: Translator) -> None:
    """Weights of the encoder for a sentence alone are those in a batch whose padding is masked."""
    data = masks.data(context)
    padding, scores = data.values["padding"], data.arrays["padded"]
    length = padding["lengths"][1]
    assert (
        padding["tokens"][1][length:] == ["<pad>"] * (padding["lengths"][0] - length) and length < padding["lengths"][0]
    )
    alone = translator.translate(masks.SHORT).attention.encoder[padding["layer"]]
    hidden = np.arange(scores.shape[-1]) >= length
    result = masks.softmax(scores[:, 1, :length], hidden)
    np.testing.assert_allclose(result[..., :length], alone, atol=1e-6)
    assert padding["shift_masked"] < 1e-5 < padding["shift_open"]


def test_the_exam_is_read_with_and_without_the_mask(
    context: LessonContext, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under the mask rows are the model's own; without it a row sees later tokens; alone it reads what it generates."""

    def model(name: str, *, causal: bool | None = None) -> Translator:
        return translator if causal is None else translator.with_mask(causal)

    def missing(name: str, *, causal: bool | None = None) -> Translator:
        raise CheckpointError(Path(name), "is missing")

    monkeypatch.setattr(exam, "small_model", missing)
    assert exam.exam_values(context) == ([], {})
    monkeypatch.setattr(exam, "small_model", model)
    (honest, _), arrays = exam.exam_values(context)
    target = context.result.translation.text
    for name, causal in (("masked", True), ("unmasked", False)):
        truth = translator.with_mask(causal).teacher_force(SENTENCE, target)
        count = min(len(truth.scores), exam.POSITIONS)
        np.testing.assert_allclose(np.log(honest[name]), truth.scores[:count], rtol=1e-6)
        assert len(honest["tokens"]) == count
        weights = arrays[f"exam_{name}_0"]
        np.testing.assert_allclose(weights, truth.attention.decoder[-1, :, :count, :count])
        assert (np.triu(weights, 1).max() == 0) == causal
    alone = translator.translate(SENTENCE)
    count = len(honest["generated"])
    assert honest["text"] == alone.text and honest["generated"] == [*alone.attention.outputs.tokens[:count]]
    np.testing.assert_allclose(arrays["exam_alone_0"], alone.attention.decoder[-1, :, :count, :count], atol=1e-6)


def test_the_browser_computes_the_same_softmax(javascript: Callable[[str], Any]) -> None:
    scores = torch.randn(12, 10, generator=torch.Generator().manual_seed(1)) * 4
    hidden = torch.ones(12, 10, dtype=torch.bool).triu(1)
    script = """
        import { weightsUnder, parts } from "./lessons/masks/js/softmax.js";
        const all = (open) => rows.map((row, t) => weightsUnder(row, (k) => k > t, open));
        const [before, after] = [all(1), all(0)];
        console.log(JSON.stringify({ before, half: all(0.5), after, parts: parts(before[3], after[3], 0.001) }));
    """
    result = javascript(f"const rows = {json.dumps(scores.tolist())};{script}")
    for name, mask in (("before", 0.0), ("half", float(np.log(0.5))), ("after", -np.inf)):
        truth = attention_weights(scores + torch.where(hidden, mask, 0.0))
        np.testing.assert_allclose(result[name], truth, atol=1e-6)
    before, after = np.array(result["before"][3]), np.array(result["after"][3])
    leaving = np.bincount([part["from"] for part in result["parts"]], minlength=10) * 0.001
    coming = np.bincount([part["to"] for part in result["parts"]], minlength=10) * 0.001
    np.testing.assert_allclose(after - before, coming - leaving, atol=2e-3)
