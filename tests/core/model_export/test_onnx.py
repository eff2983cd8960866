"""Encoder and decoder step in onnxruntime: logits and every attention weight, and greedy texts through the cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.core.model_export.peers import CHECKPOINTS, searched, sentences
from transformer_core import Translator, capture
from transformer_core.data import make_batch
from transformer_core.decoding.greedy import greedy_search
from transformer_core.model.masks import padding_mask
from transformer_core.model_export import export_model

VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {"num_layers": 1},
    "pre-norm": {"norm": "pre", "positions": "learned", "tie": "none", "attention_biases": True, "output_bias": True},
}
BATCHES = [((1,), (1,)), ((7,), (5,)), ((6, 2, 9), (4, 8, 1)), ((1, 12), (9, 9))]


class Graphs:
    """The two graphs of a folder, and the translator that they were written from."""

    def __init__(self, translator: Translator, folder: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.translator = translator
        self.encoder, self.step = (
            onnxruntime.InferenceSession(str(folder / f"{name}.onnx"), options) for name in ("encoder", "decoder_step")
        )

    def run(self, source: Any, target: Any) -> tuple[Any, Any, list[tuple[Any, Any, Any]]]:
        """Of (B, S) sources and (B, T) decoder inputs: states, weights of the encoder, and the steps' results."""
        config = self.translator.config
        states, keys, values, weights = self.encoder.run(None, {"source": source})
        shape = (config.num_layers, len(source), config.num_heads, 0)
        past = [np.zeros((*shape, width), np.float32) for width in (config.d_k, config.d_v)]
        steps = []
        for position in range(target.shape[1]):
            logits, *past, own, cross = self.step.run(
                None,
                {
                    "tokens": target[:, position : position + 1],
                    "source": source,
                    "source_keys": keys,
                    "source_values": values,
                    "past_keys": past[0],
                    "past_values": past[1],
                },
            )
            steps.append((logits, own, cross))
        return states, weights, steps

    def furthest(self, sources: list[list[int]], targets: list[list[int]]) -> float:
        """The largest difference, of states, logits and weights, where nothing is padding."""
        model, special = self.translator.model, self.translator.tokenizer.special
        batch = make_batch(sources, targets, special)
        mask = padding_mask(batch.source, special.pad)
        with torch.no_grad(), capture(model, "weights") as result:
            memory = model.encode(batch.source, mask)
            logits = model.logits(model.decode(batch.inputs, memory, mask))
        states, weights, steps = self.run(batch.source.numpy(), batch.inputs.numpy())
        apart = []
        for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
            s = len(source) + 1
            apart.append(states[row, :s] - memory[row, :s].numpy())
            for layer in range(model.config.num_layers):
                own = {name: result[f"{name}_attention.weights"][row].numpy() for name in _names(layer)}
                encoder, decoder, cross = own.values()
                apart.append(weights[layer, row, :, :s] - encoder[:, :s])
                for t in range(len(target) + 1):
                    apart.append(steps[t][1][layer, row, :, 0] - decoder[:, t, : t + 1])
                    apart.append(steps[t][2][layer, row, :, 0] - cross[:, t])
            apart.extend(steps[t][0][row] - logits[row, t].numpy() for t in range(len(target) + 1))
        return max(float(abs(each).max()) for each in apart)


def _names(layer: int) -> list[str]:
    return [f"encoder.layers.{layer}.self", f"decoder.layers.{layer}.self", f"decoder.layers.{layer}.cross"]


@pytest.fixture(scope="module", params=VARIANTS)
def graphs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, drawn: Callable[..., Path]
) -> Graphs:
    """A tiny model with heads that are narrower than usual."""
    folder = tmp_path_factory.mktemp("onnx")
    options = {"d_k": 3, "d_v": 5, "max_positions": 30, **VARIANTS[request.param]}
    checkpoint = drawn(folder, **options)
    export_model(checkpoint, folder / "out", "onnx")
    return Graphs(Translator.load(checkpoint), folder / "out")


@pytest.mark.parametrize(("sources", "targets"), BATCHES, ids=str)
def test_every_weight_and_logit(graphs: Graphs, sources: tuple[int, ...], targets: tuple[int, ...]) -> None:
    """Batches of other sizes and lengths than the graphs were traced with, padded; the first step has no past."""
    generator = torch.Generator().manual_seed(4)
    size = len(graphs.translator.tokenizer)
    rows = [torch.randint(4, size, (length,), generator=generator).tolist() for length in (*sources, *targets)]
    assert graphs.furthest(rows[: len(sources)], rows[len(sources) :]) < 1e-4


@pytest.mark.slow
def test_the_shipped_model(tmp_path: Path) -> None:
    """Weights and logits on 40 sentences and their translations."""
    export_model(CHECKPOINTS / "en-de", tmp_path / "out", "onnx")
    graphs = Graphs(Translator.load(CHECKPOINTS / "en-de"), tmp_path / "out")
    translator, texts = graphs.translator, sentences(40)
    for start in range(0, len(texts), 8):
        some = texts[start : start + 8]
        result = searched(translator, some, 1)
        encodings = [list(translator.encode(text).ids) for text in some]
        assert graphs.furthest(encodings, [list(each.ids) for each in result]) < 1e-4


def test_greedy_texts(graphs: Graphs) -> None:
    """Token by token from the graphs alone."""
    translator = graphs.translator
    special = translator.tokenizer.special
    sources = [list(translator.encode(text).ids) for text in ("a b c", "d", "h g f e d c b a")]
    batch = make_batch(sources, [[] for _ in sources], special)
    ours = greedy_search(translator.model, batch.source, special, extra_length=5)
    longest = max(map(len, ours))
    inputs = torch.full((len(sources), longest + 1), special.pad)
    inputs[:, 0] = special.bos
    for length in range(1, longest + 1):
        logits = graphs.run(batch.source.numpy(), inputs[:, :length].numpy())[2][-1][0]
        logits[:, special.never_generated] = -np.inf
        inputs[:, length] = torch.from_numpy(logits.argmax(axis=1))
    assert longest >= 3
    for row, ids in enumerate(ours):
        assert inputs[row, 1 : len(ids) + 1].tolist() == ids
