"""A tiny model learns: it reverses sequences that it has never seen, which needs encoder, attention and positions."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tests.core.tiny import SPECIAL
from transformer_core.config import ModelConfig
from transformer_core.data import Batch, make_batch
from transformer_core.decoding.greedy import greedy_search
from transformer_core.hooks.points import capture
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.training.loss import output_loss
from transformer_core.training.schedule import learning_rate

SYMBOLS, LENGTH = 6, 5


def reversals(count: int, generator: torch.Generator) -> tuple[Batch, list[list[int]]]:
    rows: list[list[int]] = torch.randint(4, 4 + SYMBOLS, (count, LENGTH), generator=generator).tolist()
    return make_batch(rows, [row[::-1] for row in rows], SPECIAL), rows


def loss_of(model: Transformer, batch: Batch) -> tuple[Tensor, float]:
    """Smoothed loss for training, and plain loss; nats per token, `</s>` included."""
    mask = padding_mask(batch.source, SPECIAL.pad)
    vectors = model.decode(batch.inputs, model.encode(batch.source, mask), mask)
    loss = output_loss(vectors, model.embedding.weight, batch.outputs, pad=SPECIAL.pad, smoothing=0.05)
    return loss.smoothed / loss.tokens, float(loss.nll / loss.tokens)


def test_a_tiny_model_learns_to_reverse() -> None:
    torch.manual_seed(0)
    model = Transformer(
        ModelConfig(vocab_size=4 + SYMBOLS, d_model=32, d_ff=64, num_layers=1, num_heads=2, dropout=0.0)
    )
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    generator = torch.Generator().manual_seed(0)
    for step in range(1, 401):
        batch, _ = reversals(64, generator)
        loss, _ = loss_of(model, batch)
        optimizer.zero_grad()
        torch.autograd.backward(loss)
        optimizer.param_groups[0]["lr"] = learning_rate(step, d_model=32, warmup_steps=100, factor=0.5)
        optimizer.step()
    model.eval()
    unseen, rows = reversals(100, torch.Generator().manual_seed(99))
    with torch.no_grad():
        _, nll = loss_of(model, unseen)
    # Whoever ignores the source pays the entropy of each symbol, ln 6 = 1.79 nats, and nothing for `</s>`.
    assert nll < 0.2 * math.log(SYMBOLS) * LENGTH / (LENGTH + 1)
    written = greedy_search(model, unseen.source, SPECIAL)
    right = sum(ids == row[::-1] for ids, row in zip(written, rows, strict=True))
    assert right >= 90
    # And it looks where it has to: output t comes from source position LENGTH - 1 - t.
    with capture(model, "cross") as seen, torch.no_grad():
        model(unseen.source, unseen.inputs, padding_mask(unseen.source, SPECIAL.pad))
    weights = seen["decoder.layers.0.cross_attention.weights"].mean(dim=0)[:, :LENGTH, :LENGTH]  # (H, T, S)
    mirrored = weights.flip(-1).diagonal(dim1=1, dim2=2).mean(dim=1)  # (H,)
    assert float(mirrored.max()) > 2 / LENGTH  # uniform attention would give 1 / LENGTH
