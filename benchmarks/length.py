"""Measure cost against length: self-attention and the whole encoder, 16 to 1,024 tokens, with the fitted exponent.

    python -m benchmarks.length [--quick] [--clock cpu] [--window 32]

Table 1 of the paper says: n^2 for full self-attention, n for attention restricted to r neighbours. The exponent is the
slope of log(time) over log(length), by least squares over the longer half of the lengths, where the constant costs no
longer show.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import SPECIAL
from transformer_core.config import ModelConfig
from transformer_core.model.layers import EncoderLayer
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer

SHAPE = ModelConfig(vocab_size=1_000, d_model=256, d_ff=1024, num_layers=6, num_heads=8, dropout=0.0)
QUICK = SHAPE.replace(d_model=32, d_ff=64, num_layers=1, num_heads=4, d_k=8, d_v=8)


def exponent(lengths: list[int], seconds: list[float]) -> float:
    """Slope of log(seconds) over log(length), by least squares over the longer half."""
    half = len(lengths) // 2
    return float(np.polyfit(np.log(lengths[half:]), np.log(seconds[half:]), 1)[0])


@torch.no_grad()
def measure(config: ModelConfig, lengths: list[int], options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of one self-attention, without and with its four projections, and of the encoder, at each length."""
    model = Transformer(config).eval().to(options.device)
    layer = model.encoder.layers[0]
    assert isinstance(layer, EncoderLayer)
    attention = layer.self_attention
    seconds_of: dict[str, list[float]] = {"weights_and_values": [], "self_attention": [], "encoder": []}
    for length in lengths:
        ids = torch.randint(4, config.vocab_size, (1, length), device=options.device)
        mask = padding_mask(ids, SPECIAL.pad)
        x = torch.randn(1, length, config.d_model, device=options.device)
        queries = attention.project_queries(x)
        keys, values = attention.project_keys_and_values(x)

        runs: dict[str, Callable[[], object]] = {
            "weights_and_values": partial(_without_gradients, attention.attend, queries, keys, values, None),
            "self_attention": partial(_without_gradients, attention, x, x, mask),
            "encoder": partial(_without_gradients, model.encode, ids, mask),
        }
        rounds = options.rounds or (2 if options.quick else max(5, 2_000 // length))
        for name, value in interleaved(runs, rounds=rounds, options=options).items():
            seconds_of[name].append(value)
    return {
        name: {
            "ms": [round(1e3 * value, 4) for value in seconds],
            "exponent": round(exponent(lengths, seconds), 2),
        }
        for name, seconds in seconds_of.items()
    }


def _without_gradients(run: Callable[..., object], *arguments: object) -> None:
    with torch.no_grad():
        run(*arguments)


def main() -> None:
    """Print a table, then one line of JSON."""
    about = "Of restricted attention, on either side. (default: 32)"
    options = read_options(__doc__, ("--window", {"type": int, "default": 32, "metavar": "N", "help": about}))
    config = QUICK if options.quick else SHAPE
    lengths = [16, 32, 64, 128] if options.quick else [16, 32, 64, 128, 256, 512, 1024]
    models = {"full": config, f"window {options.window}": config.replace(window=options.window)}
    measurements = {name: measure(changed, lengths, options) for name, changed in models.items()}
    rows = [
        [model, part, *values["ms"], values["exponent"]]
        for model, parts in measurements.items()
        for part, values in parts.items()
    ]
    header = ["model", "ms", *map(str, lengths), "exponent"]
    report("Cost against length", header, rows, {"length": measurements, "lengths": lengths}, options)


if __name__ == "__main__":
    main()
