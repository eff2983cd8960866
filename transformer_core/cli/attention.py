"""attention: one sentence in, all its attention weights out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import SEARCH, Parser, UsageError, load_translator
from transformer_core.cli.sentence_files import (
    add_sentence,
    check_lengths,
    provenance_of,
    sentence_options,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.attention_maps import AttentionMaps
    from transformer_core.translator import Translator

log = logging.getLogger(__name__)


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
    result.add_languages()
    add_sentence(result)
    result.add_search()
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Write the attention of one sentence."""
    options = parser().options(arguments)
    source, target, out = sentence_options(options)
    if target is not None and any(getattr(options, name) is not None for name in SEARCH):
        raise UsageError(
            "--beam, --alpha, --length-penalty, --min-length and --constrained cannot be combined with --target, which "
            "needs no search"
        )
    translator = load_translator(options)
    maps, scores, provenance = _weights(translator, source, target, options.beam, options.alpha)
    _write(out, maps, scores, provenance)
    log.info("%s: %s", out, provenance["target"])
    return 0


def _weights(
    translator: Translator, source: str, target: str | None, beam: int | None, alpha: float | None
) -> tuple[AttentionMaps, tuple[float, ...], dict[str, Any]]:
    """Maps, log-probabilities of the outputs, and where they come from."""
    search: dict[str, Any] = {"target_given": target is not None}
    check_lengths(translator, source, target)
    if target is None:
        found = translator.translate(source, beam=beam, alpha=alpha)
        search["beam"] = translator.decoding.beam if beam is None else beam
        search["alpha"] = translator.decoding.alpha if alpha is None else alpha
        search["length_penalty"] = translator.decoding.length_penalty
        search["min_length"] = translator.decoding.min_length
        search |= {"constrained": True} if translator.decoding.constrained else {}
        target, maps, scores = found.text, found.attention, found.scores
    else:
        forced = translator.teacher_force(source, target)
        maps, scores = forced.attention, forced.scores
    provenance = provenance_of(translator, source=source, target=target, finished=maps.finished, **search)
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
    }
    write_npz(out, arrays, provenance)
