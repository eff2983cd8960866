"""Looking is not doing: against words that no position may attend to."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from tests.app.lessons.conftest import Visit
from transformer_core.analysis.ablation import hook_point_name
from transformer_core.attention_maps import Kind
from transformer_core.hooks.points import edit
from viz_app.lessons.heads import numbers as heads
from viz_app.lessons.heads.looking import looking_and_doing

TEXT = "The dog is fast."


def test_weights_and_effects_by_word(visit: Visit) -> None:
    context = visit("looking", TEXT)
    result, data = looking_and_doing(context), heads.data(context)
    assert data.arrays["looking_weights"].shape == result.weights.shape
    assert "".join(result.words).replace("\u2581", " ").strip() == TEXT
    maps, translator, translation = context.result.maps, context.service.translator, context.result.translation
    cross = maps.weights("cross").mean(axis=(0, 1))  # (T, S)
    batch = translator.forced_batch(translation.source_encoding, translation.hypotheses[0].ids, translation.finished)

    @torch.no_grad()
    def log_p() -> torch.Tensor:
        logits = translator.model(batch.source, batch.inputs, None)[0].log_softmax(dim=-1)
        chosen: torch.Tensor = logits.gather(1, batch.outputs[0][:, None])[:, 0]
        return chosen

    whole, start = log_p(), 0
    for number, word in enumerate(result.words):
        tokens: list[str] = []
        while "".join(tokens) != word:
            tokens.append(context.tokens[start + len(tokens)])
        columns = list(range(start, start + len(tokens)))
        start += len(tokens)
        np.testing.assert_allclose(result.weights[:, number], cross[:, columns].sum(axis=1), atol=1e-5)

        def hide(scores: torch.Tensor, _site: Any, columns: list[int] = columns) -> torch.Tensor:
            hidden = scores.clone()
            hidden[..., columns] = -math.inf
            return hidden

        kinds: tuple[Kind, ...] = ("encoder", "cross")
        layers = range(translator.config.num_layers)
        places = [hook_point_name(kind, layer, "scores") for kind in kinds for layer in layers]
        with edit(translator.model, places, hide):
            expected = (whole - log_p()).numpy()
        np.testing.assert_allclose(result.effects[:, number], expected, atol=1e-4)
