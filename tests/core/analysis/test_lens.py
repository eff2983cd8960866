"""Both lenses: against the model itself at the last layer, and against a layer-by-layer loop."""

from __future__ import annotations

import pytest
import torch

from tests.core.analysis.models import SHAPES, SOURCE, TARGET, of_shapes
from transformer_core import Translator, capture, edit, patch
from transformer_core.analysis.lens import decoder_lens, logit_lens
from transformer_core.decoding.beam import DecodingStopped
from transformer_core.model.masks import padding_mask

FEW = [*SHAPES[:2], SHAPES[-1]]


@of_shapes(FEW)
@pytest.mark.parametrize("target", [TARGET, "Ja", None])
def test_the_last_layer_is_the_model(translator: Translator, target: str | None) -> None:
    result = logit_lens(translator, SOURCE, target)
    run = result.run
    with torch.no_grad():
        logits = translator.model(run.source, run.inputs, run.source_mask)[0]
    expected = logits.log_softmax(dim=1)
    assert result.log_p[-1] == pytest.approx(run.log_p, abs=1e-5)
    for position, token in enumerate(run.outputs.tolist()):
        order = logits[position].argsort(descending=True)
        assert result.rank[-1, position] == order.tolist().index(token) + 1
        assert result.top[-1, position].tolist() == order[:5].tolist()
        entropy = torch.special.entr(logits[position].softmax(dim=0)).sum()
        assert float(result.entropy[-1, position]) == pytest.approx(float(entropy), abs=1e-4)
    assert result.top_log_p[-1] == pytest.approx(expected.gather(1, result.top[-1]), abs=1e-5)


@of_shapes(FEW)
def test_every_layer_is_that_of_a_model_that_ends_there(translator: Translator) -> None:
    """A model without its last layers, which is run as a whole."""
    result = logit_lens(translator, SOURCE, TARGET)
    run, model = result.run, translator.model
    memory = model.encode(run.source, run.source_mask)
    layers = list(model.decoder.layers)
    for kept in range(len(layers) + 1):
        model.decoder.layers = torch.nn.ModuleList(layers[:kept])
        with torch.no_grad():
            logits = model.logits(model.decode(run.inputs, memory, run.source_mask))[0]
        expected = logits.log_softmax(dim=1).gather(1, run.outputs[:, None])[:, 0]
        assert result.log_p[kept] == pytest.approx(expected, abs=1e-5)
    model.decoder.layers = torch.nn.ModuleList(layers)


@of_shapes(FEW)
def test_the_decoder_reads_the_encoder_after_every_layer(translator: Translator) -> None:
    result = decoder_lens(translator, SOURCE, beam=2)
    layers = translator.config.num_layers
    assert len(result) == layers + 1
    assert result[-1].hypotheses[0].ids == translator.translate(SOURCE, beam=2).hypotheses[0].ids
    last = f"encoder.layers.{layers - 1}.feed_forward_add_norm.residual"
    with torch.no_grad(), capture(translator.model, {"residual", "embeddings"}) as captured:
        source = result[0].source_encoding
        ids = torch.tensor([[*source.ids, translator.tokenizer.special.eos]])
        translator.model.encode(ids, padding_mask(ids, translator.tokenizer.special.pad))
    states = [captured["encoder.embeddings"]]
    states += [captured[f"encoder.layers.{layer}.feed_forward_add_norm.residual"] for layer in range(layers)]
    for state, translation in zip(states, result, strict=True):
        with edit(translator.model, last, patch(state)):
            alone = translator.translate(SOURCE, beam=2)
        assert alone.hypotheses[0].ids == translation.hypotheses[0].ids
    assert len({each.hypotheses[0].ids for each in result}) > 1


def test_bad_input(translator: Translator) -> None:
    with pytest.raises(ValueError, match="the sentence is empty"):
        logit_lens(translator, "")
    with pytest.raises(ValueError, match="the sentence is empty"):
        decoder_lens(translator, "")
    with pytest.raises(ValueError, match="listed is 0, but must be from 1 to"):
        logit_lens(translator, SOURCE, TARGET, listed=0)
    with pytest.raises(DecodingStopped):
        logit_lens(translator, SOURCE, TARGET, should_stop=lambda: True)
