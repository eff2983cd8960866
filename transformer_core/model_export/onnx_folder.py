"""Export to ONNX graphs: the encoder, and a decoder step with its cache; both return every attention weight."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer_core.attention_variants import Feature
from transformer_core.checkpoint import Checkpoint
from transformer_core.model_export.onnx_graphs import DecoderStepGraph, EncoderGraph
from transformer_core.model_export.refusals import ExportError, check_options, check_table, check_variant
from transformer_core.model_export.vocabulary import ids_of, token_lists, write_segmenters
from transformer_core.storage.files import write_json

_PROGRAM: Feature = "the ONNX export"
_OPSET = 18
# Names of dimensions; L, H, d_k, d_v and V are fixed.
_BATCH, _SOURCE, _PAST = "batch", "source_positions", "past_positions"
_OF_SOURCE, _OF_PAST = {1: _BATCH, 3: _SOURCE}, {1: _BATCH, 3: _PAST}

_USAGE = """```python
import json

import numpy
import onnxruntime
import sentencepiece

encoder, step = (onnxruntime.InferenceSession(f"{name}.onnx") for name in ("encoder", "decoder_step"))
source, target = (sentencepiece.SentencePieceProcessor(f"{side}.spm") for side in ("source", "target"))
ids = json.load(open("vocab.json", encoding="utf-8"))
tokens = {number: token for token, number in json.load(open("TARGET_VOCABULARY", encoding="utf-8")).items()}

said = source.encode("A man rides a bicycle.", out_type=str)
sentence = numpy.array([[ids.get(token, UNK) for token in said] + [EOS]])  # (B, S), padded with PAD
memory, keys, values, encoder_attention = encoder.run(None, {"source": sentence})
past = [numpy.zeros((LAYERS, 1, HEADS, 0, width), numpy.float32) for width in (D_K, D_V)]
written, crosses = [BOS], []
while written[-1] != EOS and len(written) < sentence.shape[1] + 50:
    given = {"source": sentence, "source_keys": keys, "source_values": values}
    given |= {"tokens": numpy.array([written[-1:]]), "past_keys": past[0], "past_values": past[1]}
    logits, *past, decoder_attention, cross_attention = step.run(None, given)
    logits[:, NEVER] = -numpy.inf  # tokens that are never generated
    written.append(int(logits[0].argmax()))
    crosses.append(cross_attention[:, 0, :, 0])  # (L, H, S): what each head attends to
print(target.decode([tokens[each] for each in written[1:] if each != EOS]))
```
"""


def write_onnx(checkpoint: Checkpoint, folder: Path) -> Sequence[str]:
    """Write encoder.onnx and decoder_step.onnx; return notes on differences.

    Raises:
        ExportError: onnx or onnxscript is not installed, or the model's attention is not supported.
    """
    model, config = checkpoint.model, checkpoint.model.config
    check_variant(_PROGRAM, config)
    check_options(_PROGRAM, config, window=0)
    lists = token_lists(_PROGRAM, checkpoint.tokenizer)
    pad = lists.special.pad
    sources = config.max_length or checkpoint.decoding.max_source_tokens + 1
    targets = config.max_length or sources + checkpoint.decoding.extra_length
    check_table(config, targets)
    encoder = EncoderGraph(model, pad, sources).eval()
    source = torch.full((2, 3), lists.special.eos)
    with torch.no_grad():
        _, keys, values, _ = encoder(source)
    _save(
        encoder,
        {"source": (source, {0: _BATCH, 1: _SOURCE})},
        ("memory", "source_keys", "source_values", "encoder_attention"),
        folder / "encoder.onnx",
    )
    past = [torch.zeros(*each.shape[:3], 4, each.shape[4]) for each in (keys, values)]
    inputs = {
        "tokens": (torch.full((2, 1), lists.special.bos), {0: _BATCH}),
        "source": (source, {0: _BATCH, 1: _SOURCE}),
        "source_keys": (keys, _OF_SOURCE),
        "source_values": (values, _OF_SOURCE),
        "past_keys": (past[0], _OF_PAST),
        "past_values": (past[1], _OF_PAST),
    }
    _save(
        DecoderStepGraph(model, pad, targets).eval(),
        inputs,
        ("logits", "keys", "values", "decoder_attention", "cross_attention"),
        folder / "decoder_step.onnx",
    )
    write_segmenters(lists, folder)
    write_json(folder / "vocab.json", ids_of(lists.source))
    if lists.separate:
        write_json(folder / "target_vocab.json", ids_of(lists.target))
    write_json(folder / "config.json", {"model": config.to_dict(), "special_ids": lists.special.to_dict()})
    return (
        *lists.notes,
        f"sources have at most {sources:,} tokens, translations {targets:,}",
        "the graphs compute one step; README.md has a greedy search, and the caller's search decides",
    )


def usage(checkpoint: Checkpoint) -> str:
    """Return an example of a greedy search with the folder."""
    config, special = checkpoint.model.config, checkpoint.tokenizer.special
    values = {
        "TARGET_VOCABULARY": "target_vocab.json" if checkpoint.tokenizer.separate else "vocab.json",
        "LAYERS": config.num_layers,
        "HEADS": config.num_heads,
        "D_K": config.d_k,
        "D_V": config.d_v,
        "UNK": special.unk,
        "EOS": special.eos,
        "BOS": special.bos,
        "PAD": special.pad,
        "NEVER": special.never_generated,
    }
    text = _USAGE
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text


def _save(
    graph: nn.Module, inputs: dict[str, tuple[Tensor, dict[int, str]]], outputs: Sequence[str], path: Path
) -> None:
    """Trace a graph with dynamic sizes and write it; weights beyond ONNX's 2 GB go into a second file."""
    try:
        import onnx as onnx
        import onnxscript as onnxscript
    except ModuleNotFoundError as error:
        raise ExportError("needs onnx and onnxscript: python -m pip install 'headlight[export]'") from error
    with _quiet(), torch.no_grad():
        program = torch.onnx.export(
            graph,
            tuple(example for example, _ in inputs.values()),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_shapes=tuple(sizes for _, sizes in inputs.values()),
            opset_version=_OPSET,
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.save(str(path))


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the exporter, which logs every rewrite and warns of packages that our graphs do not need."""
    before = {log: log.level for log in map(logging.getLogger, ("torch.onnx", "onnxscript", "onnx_ir"))}
    for log in before:
        log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for log, level in before.items():
            log.setLevel(level)
