"""Measure the cost of capture: a forced pass with the weights of all heads captured, over the pass without.

    python -m benchmarks.capture [--quick] [--clock cpu]

Source and target have 32 tokens. The memory of what was captured is compared with its formula: 4 bytes for each layer,
head, query and key of the three kinds of attention.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import QUICK, SHAPE, SPECIAL
from transformer_core.config import ModelConfig
from transformer_core.hooks.points import capture
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer


def computed_bytes(config: ModelConfig, sentences: int, source: int, target: int) -> int:
    """Return the bytes of all captured weights, float32: S x S, T x T and T x S for every layer and head."""
    cells = source * source + target * target + target * source
    return 4 * sentences * config.num_layers * config.num_heads * cells


@torch.no_grad()
def measure(options: argparse.Namespace, sentences: int) -> dict[str, Any]:
    """Milliseconds with and without, and bytes."""
    config = QUICK if options.quick else SHAPE
    model = Transformer(config).eval().to(options.device)
    length = options.length
    source, target = torch.randint(4, config.vocab_size, (2, sentences, length), device=options.device)
    mask = padding_mask(source, SPECIAL.pad)
    held = 0

    def seen() -> None:
        nonlocal held
        with torch.no_grad(), capture(model) as maps:
            model(source, target, mask)
        held = sum(value.numel() * value.element_size() for value in maps.values())

    def plain() -> None:
        with torch.no_grad():
            model(source, target, mask)

    rounds = options.rounds or (2 if options.quick else max(7, 60 // sentences))
    seconds = interleaved({"plain": plain, "captured": seen}, rounds=rounds, options=options)
    computed = computed_bytes(config, sentences, length, length)
    if held != computed:
        raise RuntimeError(f"captured {held} bytes, but {computed} were computed")
    return {
        "sentences": sentences,
        "tokens": length,
        "rounds": rounds,
        "ms": {name: round(1e3 * value, 2) for name, value in seconds.items()},
        "captured_over_plain": round(seconds["captured"] / seconds["plain"], 3),
        "bytes": held,
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    about = "Tokens on each side. (default: 32)"
    options = read_options(__doc__, ("--length", {"type": int, "default": 32, "metavar": "N", "help": about}))
    measurements = [measure(options, sentences) for sentences in ((1, 2) if options.quick else (1, 4, 16))]
    header = ["sentences", "tokens", "plain ms", "captured ms", "captured / plain", "MB captured"]
    rows = [
        [e["sentences"], e["tokens"], *e["ms"].values(), e["captured_over_plain"], e["bytes"] / 1e6]
        for e in measurements
    ]
    report("A forced pass, all heads captured", header, rows, {"capture": measurements}, options)


if __name__ == "__main__":
    main()
