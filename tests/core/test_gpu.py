"""On a CUDA device (pytest -m gpu): the same numbers as on the CPU, and training that learns."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.core.tiny import inputs_for, tiny_model
from tests.core.training.runs import SHORT, metrics, new_model
from transformer_core.config import DecodingConfig
from transformer_core.data import Corpus
from transformer_core.decoding.beam import beam_search
from transformer_core.hooks.points import POINTS, capture
from transformer_core.model.transformer import Transformer
from transformer_core.training.trainer import Trainer
from transformer_core.translator import Translator

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]


def test_capture_on_the_gpu_equals_the_cpu(model: Transformer) -> None:
    batch = inputs_for((5, 3), 4)
    with torch.no_grad(), capture(model, points=POINTS) as on_cpu:
        expected = model(*batch)
    model.cuda()
    with torch.no_grad(), capture(model, points=POINTS, device="cpu") as on_gpu:
        logits = model(*(part.cuda() for part in batch))
    torch.testing.assert_close(logits.cpu(), expected, atol=1e-4, rtol=1e-3)
    assert set(on_gpu) == set(on_cpu)
    for address in on_cpu:
        torch.testing.assert_close(on_gpu[address], on_cpu[address], atol=1e-4, rtol=1e-3)


def test_fused_kernel_and_open_attention_agree_on_the_gpu() -> None:
    model = tiny_model().cuda()
    batch = [part.cuda() for part in inputs_for((5, 3), 4)]
    with torch.no_grad():
        fused = model(*batch)
        with capture(model):
            torch.testing.assert_close(model(*batch), fused, atol=1e-4, rtol=1e-3)


def test_translations_are_the_same_on_the_gpu(learned: Translator) -> None:
    source = torch.tensor([[*learned.tokenizer.encode("The man sees a house.").ids, learned.tokenizer.special.eos]])
    config = DecodingConfig(beam=4)
    (expected,) = beam_search(learned.model, source, learned.tokenizer.special, config)
    try:
        (found,) = beam_search(learned.model.cuda(), source.cuda(), learned.tokenizer.special, config)
    finally:
        learned.model.cpu()
    assert found.hypotheses[0].ids == expected.hypotheses[0].ids


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_training_on_the_gpu_lowers_the_loss(corpus: Corpus, tmp_path: Path, precision: str) -> None:
    config = SHORT.replace(steps=60, precision=precision, learning_rate_factor=0.5)
    Trainer(new_model(corpus).cuda(), corpus, config, tmp_path).train()
    lines = [line for line in metrics(tmp_path) if "nll" in line]
    assert lines[-1]["nll"] < lines[0]["nll"] - 0.5
