"""Time and peak memory of a conversion: a model of M2M-100's shape (484 M parameters, 2 GB) in shards.

    python -m benchmarks.convert [--quick] [--shard MB ...]

The command runs in a process of its own. Its peak is the largest resident set (pages of mapped files included), less
that of the same command on a tiny model, in which Python and torch are all there is. The weights are random, and lie
in a temporary folder, which needs 3 GB.
"""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import sentencepiece
import torch

from benchmarks.machine import read_options, report
from transformer_core.config import ModelConfig
from transformer_core.conversion.bart_layout import layer_origins, norm_origins
from transformer_core.model.transformer import Transformer
from transformer_core.storage.tensor_files import save_tensors

SHAPE = ModelConfig(
    vocab_size=128_112, d_model=1_024, d_ff=4_096, num_layers=12, num_heads=16, norm="pre", attention_biases=True
)
TINY = SHAPE.replace(vocab_size=200, d_model=32, d_ff=64, num_layers=2, num_heads=4, d_k=8, d_v=8)
_TEXT = ("the man sees a house", "der Mann sieht ein Haus", "a woman paints the green door", "die Frau malt die Tür")


def make_model(folder: Path, config: ModelConfig, shard_bytes: int) -> int:
    """Write a folder as transformers would; returns the bytes of its largest shard."""
    folder.mkdir()
    with torch.device("meta"):
        shapes = {name: tuple(each.shape) for name, each in Transformer(config).named_parameters()}
    origins = {**dict(layer_origins(config.num_layers)), **dict(norm_origins("norm", "layer_norm"))}
    names = {"model.shared.weight": shapes["embedding.weight"]}
    names |= {origin.name: shapes[ours] for ours, origin in origins.items()}
    shards: list[dict[str, tuple[int, ...]]] = [{}]
    size = 0
    for name, shape in names.items():
        nbytes = 4 * torch.Size(shape).numel()
        if shards[-1] and size + nbytes > shard_bytes:
            shards.append({})
            size = 0
        shards[-1][name] = shape
        size += nbytes
    index = {}
    for number, shard in enumerate(shards, start=1):
        file = f"model-{number:05d}-of-{len(shards):05d}.safetensors"
        save_tensors(folder / file, {name: 0.02 * torch.randn(shape) for name, shape in shard.items()})
        index.update(dict.fromkeys(shard, file))
    _write(folder / "model.safetensors.index.json", {"weight_map": index})
    _write_rest(folder, config)
    return max(path.stat().st_size for path in folder.glob("*.safetensors"))


def _write_rest(folder: Path, config: ModelConfig) -> None:
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_TEXT), model_writer=writer, vocab_size=60, hard_vocab_limit=False, minloglevel=2
    )
    (folder / "sentencepiece.bpe.model").write_bytes(writer.getvalue())
    processor = sentencepiece.SentencePieceProcessor(model_proto=writer.getvalue())
    tokens = [processor.id_to_piece(number) for number in range(3, len(processor))]
    listed = ["<s>", "<pad>", "</s>", "<unk>", *tokens]
    _write(folder / "vocab.json", {token: number for number, token in enumerate(listed)})
    _write(folder / "special_tokens_map.json", {"additional_special_tokens": ["__en__", "__de__"]})
    sides = {"layers": config.num_layers, "attention_heads": config.num_heads, "ffn_dim": config.d_ff}
    both = {f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()}
    special = {"pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    shape = {"d_model": config.d_model, "vocab_size": config.vocab_size, "activation_function": "relu"}
    _write(folder / "config.json", {"model_type": "m2m_100", **shape, **both, **special})


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")


def elsewhere(function: Callable[..., int], *arguments: Any) -> int:
    """Return the result of a function, called in a new process, so that this one's memory does not count."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def convert(folder: Path, out: Path) -> tuple[float, float]:
    """Seconds and peak bytes of the command."""
    command = [sys.executable, "-m", "transformer_core", "convert", str(folder), "--out", str(out)]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return time.perf_counter() - start, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(options: argparse.Namespace, parent: Path) -> list[dict[str, float]]:
    """One row for each size of shards."""
    elsewhere(make_model, parent / "tiny", TINY, 10**9)
    _, alone = convert(parent / "tiny", parent / "tiny-ours")
    measurements = []
    for number, megabytes in enumerate(options.shard):
        folder, out = parent / f"theirs-{number}", parent / f"ours-{number}"
        largest = elsewhere(make_model, folder, TINY if options.quick else SHAPE, int(megabytes * 1e6))
        total = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
        seconds, peak = convert(folder, out)
        row = {"model MB": total / 1e6, "largest shard MB": largest / 1e6, "seconds": seconds}
        measurements.append({**row, "peak MB": (peak - alone) / 1e6, "peak / shard": (peak - alone) / largest})
        for path in (*folder.iterdir(), *out.iterdir()):
            path.unlink()
    return measurements


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__,
        ("--shard", {"type": float, "nargs": "+", "default": [], "metavar": "MB", "help": "(default: 600 2000)"}),
    )
    options.shard = options.shard or ([0.05] if options.quick else [600.0, 2_000.0])
    with tempfile.TemporaryDirectory() as parent:
        measurements = measure(options, Path(parent))
    rows = [[f"{each[name]:.2f}" for name in each] for each in measurements]
    ratio = max(each["peak / shard"] for each in measurements)
    report(
        "Conversion of a model of M2M-100's shape",
        list(measurements[0]),
        rows,
        {"conversion": measurements, "ratio": ratio},
        options,
    )


if __name__ == "__main__":
    main()
