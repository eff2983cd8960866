"""From opening a converted model of OPUS-MT's size to its first heatmap: seconds and memory, ours against transformers.

    python -m benchmarks.open_model [--quick] [--rounds 5] [--tokens 24]

Both open the same 77 M weights (drawn) from a folder, float32 as published; ours after `convert`. Both translate one
sentence with a beam of 4, and then have the attention weights of every head for it: ours from `Translation.attention`,
transformers' from a pass with `output_attentions=True`. `</s>` is forbidden, so both write equally many tokens.

Each run is a process of its own, and the two take turns. `seconds` and `peak MB` are the ones of the whole process;
`opened` is the part after the imports, as in an app that runs already; `MB more` the peak beyond what it held then.
`cpu` is processor time, which a machine that does other work too stretches less.
"""

from __future__ import annotations

import argparse
import importlib
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.machine import read_options, report

ROOT = Path(__file__).resolve().parents[1]
SENTENCE = "The old man who lives next door gave my sister a beautiful book about birds and trees."
SHAPE = {"d_model": 512, "ffn": 2_048, "layers": 6, "heads": 8, "vocabulary": 63_000}
QUICK = {"d_model": 32, "ffn": 64, "layers": 2, "heads": 4, "vocabulary": 9_000}
BEAM = 4
_NEVER = -10_000.0


def make_folder(folder: Path, shape: dict[str, int]) -> int:
    """Write an OPUS-MT folder with drawn weights, by transformers; returns the number of its parameters."""
    import torch
    from transformers import MarianConfig, MarianMTModel

    folder.mkdir()
    model_file = (ROOT / "checkpoints" / "en-de" / "tokenizer.model").read_bytes()
    for side in ("source", "target"):
        (folder / f"{side}.spm").write_bytes(model_file)
    size = shape["vocabulary"]
    special, tokens = ["</s>", "<unk>"], _tokens(model_file)
    listed = [*special, *(token for token in tokens if token not in (*special, "<s>", "<pad>"))]
    listed += [f"FILL{number}" for number in range(size - 1 - len(listed))] + ["<pad>"]
    ids = {token: number for number, token in enumerate(listed)}
    (folder / "vocab.json").write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    tokenizer = {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    sides = {"layers": shape["layers"], "attention_heads": shape["heads"], "ffn_dim": shape["ffn"]}
    model: Any = MarianMTModel(
        MarianConfig(
            vocab_size=size,
            d_model=shape["d_model"],
            activation_function="swish",
            scale_embedding=True,
            max_position_embeddings=512,
            pad_token_id=size - 1,
            eos_token_id=0,
            decoder_start_token_id=size - 1,
            forced_eos_token_id=None,
            **{f"{side}_{name}": value for side in ("encoder", "decoder") for name, value in sides.items()},
        )
    )
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.copy_(weight.half().float())
        model.final_logits_bias[0, 0] = _NEVER
    model.generation_config.update(num_beams=BEAM, bad_words_ids=[[size - 1]], forced_eos_token_id=None)
    model.save_pretrained(folder)
    return sum(weight.numel() for weight in model.parameters() if weight.requires_grad)


def _tokens(model: bytes) -> list[str]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(number) for number in range(len(processor))]


def _open_ours(folder: str, tokens: int) -> list[int]:
    from transformer_core.translator import Translator

    translator = Translator.load(folder)
    source = len(translator.encode(SENTENCE))
    translator.decoding = translator.decoding.replace(beam=BEAM, extra_length=max(1, tokens - source))
    maps = translator.translate(SENTENCE).attention
    assert maps.cross[0, 0].sum() > 0
    return list(maps.cross.shape)


def _open_theirs(folder: str, tokens: int) -> list[int]:
    import torch
    from transformers import MarianMTModel, MarianTokenizer

    # The only implementation that returns weights.
    model: Any = MarianMTModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = MarianTokenizer.from_pretrained(folder)
    given = tokenizer([SENTENCE], return_tensors="pt")
    with torch.no_grad():
        written = model.generate(**given, num_beams=BEAM, max_new_tokens=tokens)
        out = model(**given, decoder_input_ids=written[:, :-1], output_attentions=True)
    cross = torch.stack(out.cross_attentions)[:, 0].numpy()
    assert cross[0, 0].sum() > 0
    return list(cross.shape)


_OPENERS = {"ours": _open_ours, "transformers": _open_theirs}
_IMPORTS = {"ours": ("transformer_core.translator", "Translator"), "transformers": ("transformers", "MarianMTModel")}


def open_here(peer: str, folder: str, tokens: int) -> dict[str, Any]:
    """Open a folder in this process: seconds, processor time and memory from when all is imported."""
    module, name = _IMPORTS[peer]
    getattr(importlib.import_module(module), name)  # transformers imports its models when they are named
    held, started, used = _resident(), time.perf_counter(), time.process_time()
    shape = _OPENERS[peer](folder, tokens)
    return {
        "opened": time.perf_counter() - started,
        "opened cpu": time.process_time() - used,
        "held": held,
        "shape": shape,
    }


def _resident() -> float:
    """MB of this process now; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_elsewhere(peer: str, folder: Path, tokens: int, threads: int) -> dict[str, Any]:
    """Seconds and memory of a process that opens a folder."""
    code = (
        "import json, sys, torch; from benchmarks import open_model; torch.set_num_threads(int(sys.argv[4])); "
        "print(json.dumps(open_model.open_here(sys.argv[1], sys.argv[2], int(sys.argv[3]))))"
    )
    command = [sys.executable, "-c", code, peer, str(folder), str(tokens), str(threads)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT, env=environment, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{peer} ended with status {process.returncode}")
    opening: dict[str, Any] = json.loads(said.splitlines()[-1])
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
    return {
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "opened": opening["opened"],
        "opened cpu": opening["opened cpu"],
        "peak MB": peak,
        "MB more": peak - opening["held"],
        "shape": opening["shape"],
    }


def measure(options: argparse.Namespace, parent: Path) -> dict[str, Any]:
    """Medians of each peer, and ours over transformers'."""
    from transformer_core.conversion import convert

    folders = {"transformers": parent / "theirs", "ours": parent / "ours"}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        weights = pool.submit(make_folder, folders["transformers"], QUICK if options.quick else SHAPE).result()
    convert(folders["transformers"], folders["ours"])
    runs: dict[str, list[dict[str, Any]]] = {peer: [] for peer in _OPENERS}
    for number in range(options.rounds + 1):
        for peer, folder in folders.items():
            opening = open_elsewhere(peer, folder, options.tokens, options.threads)
            if number:  # the first one brings the files into memory
                runs[peer].append(opening)
    (shape,) = {tuple(opening["shape"]) for peer in runs for opening in runs[peer]}
    names = [name for name in runs["ours"][0] if name != "shape"]
    medians = {peer: {name: statistics.median(run[name] for run in runs[peer]) for name in names} for peer in runs}
    # Of pairs of runs that followed one another, so that a slow minute hits both.
    ratios = {
        name: statistics.median(
            ours[name] / theirs[name] for ours, theirs in zip(runs["ours"], runs["transformers"], strict=True)
        )
        for name in names
    }
    return {"parameters": weights, "cross shape": list(shape), "rounds": options.rounds, **medians, "ratio": ratios}


def main() -> None:
    """Measure and print."""
    options = read_options(
        __doc__, ("--tokens", {"type": int, "default": 24, "metavar": "N", "help": "Tokens written. (default: 24)"})
    )
    options.rounds = options.rounds or (1 if options.quick else 5)
    with tempfile.TemporaryDirectory() as parent:
        measurements = measure(options, Path(parent))
    names = list(measurements["ratio"])
    rows = [[peer, *(f"{measurements[peer][name]:.2f}" for name in names)] for peer in (*_OPENERS, "ratio")]
    report("Opening a model to its first heatmap", ["", *names], rows, {"open_model": measurements}, options)


if __name__ == "__main__":
    main()
