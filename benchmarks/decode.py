"""Measure decoding: ours against transformers' MarianMTModel.generate and CTranslate2, with the same weights.

    python -m benchmarks.decode [--quick] [--clock cpu] [--device cuda] [--batch 1 16 64 128] [--beam 1 4] [--maps]

All write exactly 32 tokens for sources of 32 tokens, since `</s>` is forbidden. The weights are drawn and the same in
all, so that the tokens written can be compared: `same tokens` is the share of positions that agree with ours.
CTranslate2 is measured if it is installed (python -m pip install ctranslate2).

With --maps all attention weights are on the host in the end: ours from a forced pass over the best hypothesis,
MarianMT's of all hypotheses, step by step, as it returns them.

    python -m benchmarks.decode --checkpoint en-de [--text TEXT]

One sentence by a shipped model, as users have it translated, without and with the maps of every head, beside
CTranslate2, which has none.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.machine import interleaved, read_options, report
from benchmarks.peers.twins import QUICK, SHAPE, SPECIAL, copy_weights, ctranslate2_of, marian, tokens_of
from transformer_core.config import DecodingConfig, ModelConfig
from transformer_core.decoding.beam import beam_search
from transformer_core.decoding.forced_maps import capture_maps, to_host
from transformer_core.decoding.greedy import greedy_search
from transformer_core.model.masks import padding_mask
from transformer_core.model.transformer import Transformer
from transformer_core.storage.bundled_models import find_checkpoint
from transformer_core.translator import Translator

LENGTH = 32
TEXT = "The old dog sleeps in the garden, and the cat eats a fish."
Tokens = list[list[int]]


@torch.no_grad()
def never_ending(config: ModelConfig) -> Transformer:
    """A model with drawn weights for which `</s>` is never among the best."""
    model = Transformer(config).eval()
    model.embedding.weight[SPECIAL.eos] = 0  # its logit is 0, far below the best of thousands of others
    return model


def ours(model: Transformer, source: Tensor, beam: int) -> Tokens:
    """The best hypothesis of each sentence."""
    if beam == 1:
        return greedy_search(model, source, SPECIAL, extra_length=1)
    config = DecodingConfig(beam=beam, alpha=0.0, extra_length=1)
    return [list(result.hypotheses[0].ids) for result in beam_search(model, source, SPECIAL, config)]


@torch.no_grad()
def by_marian(twin: Any, source: Tensor, beam: int, *, maps: bool = False) -> Tokens:
    """Decode by MarianMTModel.generate, perhaps with the attention weights of every step."""
    written = twin.generate(
        input_ids=source,
        attention_mask=torch.ones_like(source),
        num_beams=beam,
        do_sample=False,
        max_new_tokens=LENGTH,
        length_penalty=0.0,
        output_attentions=maps,
        return_dict_in_generate=True,
    )
    if maps:
        steps = (*written.decoder_attentions, *written.cross_attentions)
        for layer in (*written.encoder_attentions, *(layer for step in steps for layer in step)):
            layer.cpu()
    tokens: Tokens = written.sequences[:, 1:].tolist()
    return tokens


@torch.no_grad()
def ours_with_maps(model: Transformer, source: Tensor, beam: int) -> Tokens:
    """As `ours`, and all attention weights from a forced pass over it."""
    written = ours(model, source, beam)
    inputs = torch.tensor([[SPECIAL.bos, *ids[:-1]] for ids in written], device=source.device)
    mask = padding_mask(source, SPECIAL.pad)
    with capture_maps(model) as maps:
        model.decode(inputs, model.encode(source, mask), mask)
    to_host(maps)
    return written


def by_ctranslate2(translator: Any, source: Tensor, beam: int) -> Tokens:
    """Decode by CTranslate2."""
    sentences = [tokens_of(row) for row in source.tolist()]
    results = translator.translate_batch(
        sentences,
        beam_size=beam,
        length_penalty=0.0,
        max_decoding_length=LENGTH,
        min_decoding_length=LENGTH,
        max_batch_size=0,
    )
    return [[int(token[1:]) for token in result.hypotheses[0]] for result in results]


def agreement(a: Tokens, b: Tokens) -> float:
    """Share of positions at which both wrote the same token."""
    same = sum(x == y for one, other in zip(a, b, strict=True) for x, y in zip(one, other, strict=False))
    return same / sum(max(len(one), len(other)) for one, other in zip(a, b, strict=True))


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One entry for each batch size and beam."""
    config = QUICK if options.quick else SHAPE
    model = never_ending(config)
    twin = marian(config, attention="eager" if options.maps else "sdpa").eval()
    copy_weights(model, twin)
    translator = None
    if options.device == "cpu" and not options.maps:
        with tempfile.TemporaryDirectory() as folder:
            translator = ctranslate2_of(twin, Path(folder), threads=options.threads)
    model, twin = model.to(options.device), twin.to(options.device)
    low = copy.deepcopy(model).bfloat16()
    decode = ours_with_maps if options.maps else ours
    entries = []
    for batch in options.batch or ((1, 2) if options.quick else (1, 16, 64, 128)):
        source = torch.randint(4, config.vocab_size, (batch, LENGTH), device=options.device)
        source[:, -1] = SPECIAL.eos
        for beam in options.beam:
            runs: dict[str, Callable[[], Tokens]] = {
                "ours": partial(decode, model, source, beam),
                "ours_bf16": partial(decode, low, source, beam),
                "marian": partial(by_marian, twin, source, beam, maps=options.maps),
            }
            if translator is not None:
                runs["ctranslate2"] = partial(by_ctranslate2, translator, source, beam)
            rounds = options.rounds or (2 if options.quick else max(3, 15 - batch // 2))
            entries.append(_entry(batch, beam, runs, rounds, options))
    return entries


def measure_sentence(options: argparse.Namespace) -> list[dict[str, Any]]:
    """One entry for each beam."""
    translator = Translator.load(find_checkpoint(options.checkpoint), options.device)
    twin = marian(translator.config, attention="sdpa").eval()
    copy_weights(translator.model, twin, may_end=True)
    with tempfile.TemporaryDirectory() as folder:
        peer = ctranslate2_of(twin, Path(folder), threads=options.threads)
    if peer is None:
        raise SystemExit("CTranslate2 is missing: python -m pip install ctranslate2")
    source = tokens_of([*translator.encode(options.text).ids, translator.tokenizer.special.eos])

    def ours(beam: int) -> Tokens:
        return [list(translator.translate(options.text, beam=beam).hypotheses[0].ids)]

    def with_maps(beam: int) -> Tokens:
        translation = translator.translate(options.text, beam=beam)
        return [list(translation.hypotheses[0].ids)] if translation.attention.cross.size else []

    def theirs(beam: int) -> Tokens:
        (result,) = peer.translate_batch([source], beam_size=beam, length_penalty=translator.decoding.alpha)
        return [[int(token[1:]) for token in result.hypotheses[0]]]

    entries = []
    for beam in options.beam:
        runs = {"ours": partial(ours, beam), "ours_with_maps": partial(with_maps, beam)}
        peers: dict[str, Callable[[], Tokens]] = {**runs, "ctranslate2": partial(theirs, beam)}
        entries.append(_entry(1, beam, peers, options.rounds or (2 if options.quick else 30), options))
    return entries


def _entry(
    batch: int, beam: int, runs: dict[str, Callable[[], Tokens]], rounds: int, options: argparse.Namespace
) -> dict[str, Any]:
    written = {name: run() for name, run in runs.items()}
    for name, tokens in written.items():
        if not options.checkpoint and any(len(sentence) != LENGTH for sentence in tokens):
            raise RuntimeError(f"{name} did not write {LENGTH} tokens for every sentence")
    seconds = interleaved(runs, rounds=rounds, options=options)
    return {
        "batch": batch,
        "beam": beam,
        "maps": options.maps,
        "rounds": rounds,
        "ms": {name: round(1e3 * value, 2) for name, value in seconds.items()},
        "ours_over": {name: round(seconds["ours"] / value, 3) for name, value in seconds.items() if name != "ours"},
        "same_tokens": {name: round(agreement(written["ours"], tokens), 4) for name, tokens in written.items()},
    }


def main() -> None:
    """Print a table, then one line of JSON."""
    several: dict[str, Any] = {"type": int, "nargs": "+", "metavar": "N"}
    options = read_options(
        __doc__,
        ("--batch", {**several, "help": "Sentences at a time. (default: 1 16 64 128)"}),
        ("--beam", {**several, "default": [1, 4], "help": "1 is greedy. (default: 1 4)"}),
        ("--maps", {"action": "store_true", "help": "Return all attention weights, too."}),
        ("--checkpoint", {"default": "", "metavar": "DIR", "help": "One sentence by this model. (default: none)"}),
        ("--text", {"default": TEXT, "metavar": "TEXT", "help": "That sentence; 12 words by default."}),
    )
    entries = measure_sentence(options) if options.checkpoint else measure(options)
    header = ["batch", "beam", "peer", "ms", "ours / peer", "same tokens"]
    rows = [
        [e["batch"], e["beam"], name, ms, e["ours_over"].get(name, 1.0), e["same_tokens"][name]]
        for e in entries
        for name, ms in e["ms"].items()
    ]
    what = f"{options.checkpoint}, {options.text}" if options.checkpoint else "Decoding 32 tokens"
    report(
        what + (", all attention weights returned" if options.maps else ""),
        header,
        rows,
        {"decode": entries},
        options,
    )


if __name__ == "__main__":
    main()
