r"""Save the exact float32 weights of every head for one sentence, with the labels of both axes.

Without --target the model translates; with it, the model reads the given translation.

For L layers, H heads, S source and T target positions the file contains

  encoder (L, H, S, S)   decoder (L, H, T, T)   cross (L, H, T, S)
  source (S,)            tokens of the source and </s>: rows and columns of encoder, columns of cross
  inputs (T,)            what the decoder reads, from <s> on: rows and columns of decoder
  outputs (T,)           what it generates at the same positions: rows of cross
  source_words, inputs_words, outputs_words   the word that each token belongs to, from 0
  scores (T,)            log-probability of each output, in nats
  provenance             JSON text: checkpoint and its hash, sentence, search

Axes of arrays count from 0. Nothing is pickled: numpy.load(FILE) reads everything. The table has a row for
each token of the translation.

Example:
  python -m transformer_core analyse attention --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out attention.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured
from transformer_core.cli.arguments import SEARCH, Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.translator import Translator


def _options(parser: Parser) -> None:
    parser.add_languages()
    parser.add_search()


def _check(options: Options) -> None:
    if options.target is not None and any(getattr(options, name) is not None for name in SEARCH):
        raise UsageError(
            "--beam, --alpha, --length-penalty, --min-length and --constrained cannot be combined with --target, which "
            "needs no search"
        )


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return all weights; of the model's own translation with the facts of its search."""
    import numpy as np

    source, target = texts
    search: dict[str, Any] = {}
    if target is None:
        result = translator.translate(source)
        target, maps, scores = result.text, result.attention, result.scores
        search = {name: value for name, value in translator.decoding.to_dict().items() if name in SEARCH}
    else:
        forced = translator.teacher_force(source, target)
        maps, scores = forced.attention, forced.scores
    axes = {"source": maps.source, "inputs": maps.inputs, "outputs": maps.outputs}
    return Measured(
        columns={"position": range(1, 1 + len(scores)), "token": maps.outputs.tokens, "log_p": scores},
        arrays={
            **{kind: maps.weights(kind) for kind in maps.kinds},
            **{name: axis.tokens for name, axis in axes.items()},
            **{f"{name}_words": np.array(axis.words, dtype=np.int64) for name, axis in axes.items()},
            "scores": np.array(scores, dtype=np.float64),
        },
        facts={"target": target, "finished": maps.finished, **search},
        report=[target],
    )


ANALYSIS = Analysis("attention", _measure, _options, _check, data=False)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
