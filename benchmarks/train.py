"""Measure training: ours in bfloat16 against torch.nn.Transformer and MarianMT, and the whole trainer.

    python -m benchmarks.train [--quick] [--clock cpu]
    python -m benchmarks.train --device cuda --shape base --batch 780 [--data DIR] [--compile]

On a CPU torch.nn.Transformer computes in float32, as in its own examples; on a GPU all compute in bfloat16, and ours
runs twice: as it is, and in CUDA graphs.

One update on a full batch without padding: forward, smoothed cross-entropy, backward, fused Adam. Dropout is the same
in all three and in the same places: on each sub-layer's output and on the embeddings. MFU is the share of the measured
peak of matrix products in bfloat16 that the model's own matrix products reach.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import QUICK, SHAPE, SPECIAL, marian
from transformer_core.config import ModelConfig, TrainingConfig
from transformer_core.data import Batch, Corpus
from transformer_core.devices import backend
from transformer_core.model.positions import sinusoidal_positions
from transformer_core.model.transformer import Transformer
from transformer_core.paper.flops import Work, training_flops
from transformer_core.paper.presets import PRESETS
from transformer_core.training.batch_loader import StepBatches
from transformer_core.training.distributed import SINGLE_PROCESS
from transformer_core.training.graphs import GraphedStep, graphed
from transformer_core.training.objective import Objective
from transformer_core.training.optimizer import Optimizer
from transformer_core.training.step import TrainingStep
from transformer_core.training.trainer import Trainer
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


def in_graphs(config: ModelConfig, batch: Batch, device: str, compiles: bool) -> Callable[[], None]:
    """One update of ours in CUDA graphs, ready to be called."""
    training = TrainingConfig(compile=compiles)
    model = Transformer(config).to(device).train()
    objective = Objective(model, training, SPECIAL.pad)
    step = TrainingStep(objective, objective, Optimizer(model, training), training, SINGLE_PROCESS)
    parts, given = GraphedStep(step, LENGTH), StepBatches([(batch, True)], batch.outputs.numel(), 0, 0)

    def run() -> None:
        step.take(given, 1e-4, parts)
        step.start_over()

    return run


def peers(config: ModelConfig, batch: Batch, options: argparse.Namespace) -> dict[str, Callable[[], None]]:
    """An update of each."""
    device, on_cpu = options.device, torch.device(options.device).type == "cpu"
    ours = Transformer(config).to(device).train()
    theirs = TorchTransformer(config).to(device).train()
    attention = "eager" if on_cpu else "sdpa"
    twin = marian(config, attention=attention).to(device).train()

    def our_loss() -> Tensor:
        sums = batch_loss(ours, batch, smoothing=SMOOTHING, pad=SPECIAL.pad, dtype=torch.bfloat16)
        return sums.smoothed / sums.tokens

    def torch_loss() -> Tensor:
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16, enabled=not on_cpu):
            loss: Tensor = theirs(batch)
        return loss

    def marian_loss() -> Tensor:
        with torch.autocast(batch.source.device.type, dtype=torch.bfloat16):
            logits = twin(input_ids=batch.source, decoder_input_ids=batch.inputs, use_cache=False).logits
        return F.cross_entropy(logits.float().flatten(0, 1), batch.outputs.flatten(), label_smoothing=SMOOTHING)

    steps = {
        "ours_bf16": update(ours, our_loss),
        "torch_fp32" if on_cpu else "torch_bf16": update(theirs, torch_loss),
        f"marian_{attention}_bf16": update(twin, marian_loss),
    }
    if backend(torch.device(device)).cuda_graphs:
        steps |= {"ours_graphs": in_graphs(config, batch, device, compiles=False)}
        if options.compile:
            steps |= {"ours_graphs_compiled": in_graphs(config, batch, device, compiles=True)}
    return steps


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of an update, target tokens a second, ratios, MFU."""
    config = (QUICK if options.quick else SHAPE).replace(dropout=0.1)
    if options.shape != "small":
        config = PRESETS[options.shape].model
    sentences = options.batch or (4 if options.quick else 64)
    ids = torch.randint(4, config.vocab_size, (3, sentences, LENGTH), device=options.device)
    batch = Batch(ids[0], ids[1], ids[2], source_padded=False)
    rounds = options.rounds or (2 if options.quick else 9)
    seconds = interleaved(peers(config, batch, options), rounds=rounds, options=options)
    work = Work(sentences=sentences, source_length=LENGTH, target_length=LENGTH)
    on_gpu = torch.device(options.device).type != "cpu"
    peak = peak_flops(128 if options.quick else 8192 if on_gpu else 2048, torch.bfloat16, options)
    best = min(value for name, value in seconds.items() if name.startswith("ours"))
    return {
        "shape": options.shape,
        "sentences": sentences,
        "rounds": rounds,
        "ms": {name: round(1e3 * value, 1) for name, value in seconds.items()},
        "target_tokens_per_second": {name: round(sentences * LENGTH / value) for name, value in seconds.items()},
        "ours_times_as_fast": {name: round(value / best, 3) for name, value in seconds.items()},
        "peak_bf16_gflops": round(peak / 1e9, 1),
        "mfu": round(training_flops(config, work) / best / peak, 3),
    }


def measure_trainer(options: argparse.Namespace) -> dict[str, Any]:
    """Target tokens a second of the trainer on prepared text, and of the bare steps on the same batches."""
    corpus = Corpus(Path(options.data))
    sizes: dict[str, Any] = {"vocab_size": len(corpus.tokenizer)}
    if corpus.meta.get("source_vocab_size"):
        sizes |= {"source_vocab_size": len(corpus.tokenizer.source), "tie": "target"}
    config = (QUICK if options.quick else SHAPE).replace(dropout=0.1, **sizes)
    steps, every = (8, 2) if options.quick else (300, 50)
    training = TrainingConfig(
        batch_tokens=600 if options.quick else 8_000,
        steps=steps,
        log_every=every,
        optimizer="muon",
        head_penalty=1.0,
        head_penalty_start=0,
        head_penalty_full=1,
        max_tokens=128,
        checkpoint_every=10 * steps,
        checkpoint_minutes=0.0,
        validate_every=10 * steps,
        compile=options.compile,
    )
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(Transformer(config).to(options.device), corpus, training, Path(folder))
        trainer.train()
        lines = [json.loads(line) for line in (Path(folder) / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    speeds = [line["tokens_per_second"] for line in lines if "tokens_per_second" in line]
    step, widths = trainer._step, trainer._loader.widths
    parts = graphed(step, training, SINGLE_PROCESS, widths)
    device = step.scale.device
    given = [
        StepBatches([(batch.to(device), True) for batch, _ in each.batches], each.tokens, 0, 0)
        for each in islice(trainer._loader.steps(0, 0), every)
    ]

    def bare() -> None:
        for each in given:
            step.take(each, 1e-5, parts)
        step.start_over()

    seconds = interleaved({"bare": bare}, rounds=3, options=options)["bare"]
    bare_speed, trainer_speed = sum(each.tokens for each in given) / seconds, statistics.median(speeds[1:])
    return {
        "trainer_tokens_per_second": round(trainer_speed),
        "bare_tokens_per_second": round(bare_speed),
        "bare_times_as_fast": round(bare_speed / trainer_speed, 3),
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    about = "Sentences; 0 takes 64, or 4 with --quick."
    options = read_options(
        __doc__,
        ("--batch", {"type": int, "default": 0, "metavar": "N", "help": about}),
        (
            "--shape",
            {"choices": ["small", "base", "big"], "default": "small", "help": "Of the model. (default: small)"},
        ),
        ("--compile", {"action": "store_true", "help": "Compile ours, too, which takes minutes."}),
        ("--data", {"metavar": "DIR", "help": "Measure the trainer on this prepared text instead."}),
    )
    if options.data:
        measurements = measure_trainer(options)
        report("The trainer", ["", "target tokens/s"], list(measurements.items()), {"trainer": measurements}, options)
        return
    measurements = measure(options)
    rows = [
        [name, ms, measurements["target_tokens_per_second"][name], measurements["ours_times_as_fast"][name]]
        for name, ms in measurements["ms"].items()
    ]
    title = f"One update of {measurements['sentences']} pairs of {LENGTH} tokens; MFU {measurements['mfu']}"
    header = ["peer", "ms", "target tokens/s", "ours is so many times as fast"]
    report(title, header, rows, {"train": measurements}, options)


if __name__ == "__main__":
    main()
