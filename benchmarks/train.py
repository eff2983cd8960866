"""Measure training: ours in bfloat16 against torch.nn.Transformer in float32 and MarianMT (eager) in bfloat16.

    python -m benchmarks.train [--quick] [--clock cpu]

One update on a full batch without padding: forward, smoothed cross-entropy, backward, fused Adam. Dropout is the same
in all three and in the same places: on each sub-layer's output and on the embeddings. MFU is the share of the measured
peak of matrix products in bfloat16 that the model's own matrix products reach.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import QUICK, SHAPE, SPECIAL, marian
from transformer_core.config import ModelConfig
from transformer_core.data import Batch
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.model.transformer import Transformer
from transformer_core.paper.flops import Work, training_flops
from transformer_core.training.validation import batch_loss

LENGTH = 32
SMOOTHING = 0.1


class TorchTransformer(nn.Module):
    """torch.nn.Transformer with one embedding for all three uses, as a user of PyTorch would write it."""

    positions: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.register_buffer("positions", sinusoidal_positions(512, config.d_model))
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            config.d_model,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        # It also drops attention weights and inner activations, which the paper does not.
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout.p = 0.0

    def _embed(self, ids: Tensor) -> Tensor:
        scaled = self.embedding(ids) * self.embedding.embedding_dim**0.5
        out: Tensor = self.dropout(scaled + self.positions[: ids.shape[1]])
        return out

    def forward(self, batch: Batch) -> Tensor:
        """Mean loss of a batch."""
        length = batch.inputs.shape[1]
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=batch.inputs.device)
        padding = batch.source == SPECIAL.pad
        x = self.transformer(
            self._embed(batch.source),
            self._embed(batch.inputs),
            tgt_mask=mask,
            tgt_is_causal=True,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        logits = F.linear(x, self.embedding.weight).flatten(0, 1)
        return F.cross_entropy(logits, batch.outputs.flatten(), label_smoothing=SMOOTHING)


def peak_flops(size: int, dtype: torch.dtype, options: argparse.Namespace) -> float:
    """Operations a second of a large square matrix product."""
    a, b = torch.randn(2, size, size, device=options.device).to(dtype)
    seconds = interleaved({"product": lambda: a @ b}, rounds=5, options=options)["product"]
    return 2.0 * size**3 / seconds


def update(model: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    """One update of a model, ready to be called."""
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def run() -> None:
        torch.autograd.backward(loss())
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return run


def peers(config: ModelConfig, batch: Batch, device: str) -> dict[str, Callable[[], None]]:
    """An update of each."""
    ours = Transformer(config).to(device).train()
    theirs = TorchTransformer(config).to(device).train()
    twin = marian(config, attention="eager").to(device).train()

    def our_loss() -> Tensor:
        found = batch_loss(ours, batch, smoothing=SMOOTHING, pad=SPECIAL.pad, dtype=torch.bfloat16)
        return found.smoothed / found.tokens

    def marian_loss() -> Tensor:
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            logits = twin(input_ids=batch.source, decoder_input_ids=batch.inputs, use_cache=False).logits
        return F.cross_entropy(logits.float().flatten(0, 1), batch.outputs.flatten(), label_smoothing=SMOOTHING)

    return {
        "ours_bf16": update(ours, our_loss),
        "torch_fp32": update(theirs, lambda: theirs(batch)),
        "marian_eager_bf16": update(twin, marian_loss),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of an update, target tokens a second, ratios, MFU."""
    config = (QUICK if options.quick else SHAPE).replace(dropout=0.1)
    sentences = options.batch or (4 if options.quick else 64)
    ids = torch.randint(4, config.vocab_size, (3, sentences, LENGTH), device=options.device)
    batch = Batch(source=ids[0], inputs=ids[1], outputs=ids[2])
    rounds = options.rounds or (2 if options.quick else 9)
    seconds = interleaved(peers(config, batch, options.device), rounds=rounds, options=options)
    work = Work(sentences=sentences, source_length=LENGTH, target_length=LENGTH)
    peak = peak_flops(128 if options.quick else 2048, torch.bfloat16, options)
    return {
        "sentences": sentences,
        "rounds": rounds,
        "ms": {name: round(1e3 * value, 1) for name, value in seconds.items()},
        "target_tokens_per_second": {name: round(sentences * LENGTH / value) for name, value in seconds.items()},
        "ours_times_as_fast": {name: round(value / seconds["ours_bf16"], 3) for name, value in seconds.items()},
        "peak_bf16_gflops": round(peak / 1e9, 1),
        "mfu": round(training_flops(config, work) / seconds["ours_bf16"] / peak, 3),
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    about = "Sentences; 0 takes 64, or 4 with --quick."
    options = read_options(__doc__, ("--batch", {"type": int, "default": 0, "metavar": "N", "help": about}))
    found = measure(options)
    rows = [
        [name, ms, found["target_tokens_per_second"][name], found["ours_times_as_fast"][name]]
        for name, ms in found["ms"].items()
    ]
    title = f"One update of {found['sentences']} pairs of {LENGTH} tokens; MFU {found['mfu']}"
    header = ["peer", "ms", "target tokens/s", "ours is so many times as fast"]
    report(title, header, rows, {"train": found}, options)


if __name__ == "__main__":
    main()
