"""attention: one sentence in, all its attention weights out."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.options import SEARCH, Parser, UsageError, check_new_file, load_translator
from transformer_core.files import atomic_write_bytes

if TYPE_CHECKING:
    from transformer_core.attention_maps import AttentionMaps
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)

FORMAT_VERSION = 1


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "attention",
        usage="--checkpoint DIR --source TEXT [--target TEXT] --out FILE.npz [--force]",
        description=(
            "Save the exact float32 weights of every head for one sentence, with the labels of both axes.\n\n"
            "Without --target the model translates; with it, the model reads the given translation.\n\n"
            "For L layers, H heads, S source and T target positions the file contains\n\n"
            "  encoder (L, H, S, S)   decoder (L, H, T, T)   cross (L, H, T, S)\n"
            "  source (S,)            tokens of the source and </s>: rows and columns of encoder, columns of cross\n"
            "  inputs (T,)            what the decoder reads, from <s> on: rows and columns of decoder\n"
            "  outputs (T,)           what it generates at the same positions: rows of cross\n"
            "  source_words, inputs_words, outputs_words   the word that each token belongs to, from 0\n"
            "  scores (T,)            log-probability of each output, in nats\n"
            "  provenance             JSON text: checkpoint and its hash, sentence, search\n\n"
            "Layers and heads count from 0. Nothing is pickled: numpy.load(FILE) reads everything."
        ),
        example=(
            "  python -m transformer_core attention --checkpoint checkpoints/en-de \\\n"
            '      --source "A man rides a bicycle." --out bicycle.npz'
        ),
    )
    result.add_checkpoint()
    result.add_argument("--source", type=str, required=True, metavar="TEXT", help="The source sentence.")
    result.add_argument("--target", type=str, metavar="TEXT", help="A translation to read instead of generating one.")
    result.add_argument("--out", type=str, required=True, metavar="FILE", help="Output file, ending with .npz.")
    result.add_argument("--force", action="store_true", help="Replace an existing file.")
    result.add_search()
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Write the attention of one sentence."""
    options = parser().options(arguments)
    out = Path(options.out)
    if out.suffix != ".npz":
        raise UsageError(f"--out is {options.out!r}, but must end with .npz")
    check_new_file("--out", out, options.force)
    source, target = _text("--source", options.source), options.target
    if target is not None:
        target = _text("--target", target)
        if any(getattr(options, name) is not None for name in SEARCH):
            raise UsageError(
                "--beam, --alpha, --length-penalty and --min-length cannot be combined with --target, "
                "which needs no search"
            )
    translator = load_translator(options)
    maps, scores, provenance = _weights(translator, source, target, options.beam, options.alpha)
    _write(out, maps, scores, provenance)
    log.info("%s: %s", out, provenance["target"])
    return 0


def _text(option: str, given: str) -> str:
    """The text of an argument. Raises UsageError when it is empty or not valid Unicode."""
    try:
        given.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{option} is not valid UTF-8") from error
    if not given.strip():
        raise UsageError(f"{option} is empty, but must be a sentence")
    return given


def _weights(
    translator: Translator, source: str, target: str | None, beam: int | None, alpha: float | None
) -> tuple[AttentionMaps, tuple[float, ...], dict[str, Any]]:
    """Maps, log-probabilities of the outputs, and where they come from."""
    from transformer_core.translator import SourceTooLong

    search: dict[str, Any] = {"target_given": target is not None}
    try:
        if target is None:
            found = translator.translate(source, beam=beam, alpha=alpha)
            search["beam"] = translator.decoding.beam if beam is None else beam
            search["alpha"] = translator.decoding.alpha if alpha is None else alpha
            search["length_penalty"] = translator.decoding.length_penalty
            search["min_length"] = translator.decoding.min_length
            target, maps, scores = found.text, found.attention, found.scores
        else:
            tokenizer = translator.tokenizer
            for option, encoding in (
                ("--source", tokenizer.source.encode(source)),
                ("--target", tokenizer.encode(target)),
            ):
                pieces, most = len(encoding), translator.decoding.max_source_pieces
                if pieces > most:
                    raise UsageError(f"{option} has {pieces} tokens, but at most {most} are allowed")
            forced = translator.force(source, target)
            maps, scores = forced.attention, forced.scores
    except SourceTooLong as error:
        raise UsageError(f"--source: {error}") from error
    provenance = {
        "format_version": FORMAT_VERSION,
        "program": "Headlight",
        "checkpoint": str(translator.checkpoint.folder) if translator.checkpoint else "",
        "checkpoint_hash": translator.checkpoint_hash,
        "source": source,
        "target": target,
        "finished": maps.finished,
        **search,
    }
    return maps, scores, provenance


def _write(out: Path, maps: AttentionMaps, scores: Sequence[float], provenance: dict[str, Any]) -> None:
    """Write the archive atomically."""
    import numpy as np

    axes = {"source": maps.source, "inputs": maps.inputs, "outputs": maps.outputs}
    arrays: dict[str, Any] = {
        "encoder": maps.encoder,
        "decoder": maps.decoder,
        "cross": maps.cross,
        **{name: np.array(axis.tokens, dtype=np.str_) for name, axis in axes.items()},
        **{f"{name}_words": np.array(axis.words, dtype=np.int64) for name, axis in axes.items()},
        "scores": np.array(scores, dtype=np.float64),
        "provenance": np.array(json.dumps(provenance, ensure_ascii=False, sort_keys=True)),
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    atomic_write_bytes(out, buffer.getvalue())
