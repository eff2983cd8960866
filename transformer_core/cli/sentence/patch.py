"""Find the heads, or layers and positions, that carry the difference between two sentences.

Both sentences are translated up to the first token that differs. Then one value of one run is put into the other.
The difference is the logit of the clean sentence's next token minus the logit of the corrupted one's. 0: none of it
comes with the value; 1: all.

--site sets the values that are moved:

  heads      the output of one head, at all positions
  residual   the residual stream after a layer, at one position
  ffn        the output of a feed-forward network, at one position

--direction denoise moves values of the clean run into the corrupted one (what suffices?), noise moves
values of the corrupted run into the clean one (what is needed?).

For L layers, H heads and P positions the file contains

  recovered, metrics    (3, L, H) of heads: encoder, decoder, encoder-decoder; else (2, L, P): encoder,
                        decoder; NaN where a stack has no such position
  metric_clean, metric_corrupted   of the two runs as they are
  answers, prefix, source          the two tokens, the tokens before, the patched sentence
  provenance            JSON text: checkpoint and its hash, sentences, site, direction

Layers, heads and positions count from 0 in the file, from 1 on the screen. For sentences with different
numbers of tokens only heads can be patched.

The table of --data has a row for each head of each line: line, kind, layer, head, recovered, metric.
FILE.means.csv has the means of every head over the lines, with their 95 % intervals. Lines whose two
translations are equal or hardly differ are skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.cli.sentence.data_set import Columns, DataSet, head_columns
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, TextOption

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.translator import Translator

SITES = ("heads", "residual", "ffn")
DIRECTIONS = ("denoise", "noise")
_MAX_ROWS = 8  # of the table: the cells that carry most


def _add_options(parser: Parser) -> None:
    parser.add_choice("--site", SITES, "The values that are moved.", default="heads")
    parser.add_choice("--direction", DIRECTIONS, "Into the corrupted run, or into the clean one.", default="denoise")


def _check(options: Options) -> None:
    if options.data and options.site != "heads":
        raise UsageError("--site: --data can only be combined with heads, since positions differ from line to line")


def _columns(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Columns:
    from transformer_core.analysis.patching import patching

    found = patching(translator, *texts[:2], answers=(texts[2], texts[3]), **choices)
    return head_columns(recovered=found.recovered, metric=found.metrics)


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return the share of the difference that each cell carries, and a table of the largest."""
    import numpy as np

    from transformer_core.analysis.minimal_pairs import PatchingError
    from transformer_core.analysis.patching import patching

    answers = tuple(options.answers) if options.answers else None
    chosen = {"site": options.site, "direction": options.direction}
    try:
        found = patching(translator, options.clean, options.corrupted, answers=answers, **chosen)
    except PatchingError as error:
        raise UsageError(str(error)) from error
    first, second = found.answers
    return Measurement(
        arrays={
            "recovered": found.recovered,
            "metrics": found.metrics,
            "metric_clean": np.float32(found.metric_clean),
            "metric_corrupted": np.float32(found.metric_corrupted),
            "answers": found.answers,
            "prefix": np.array(found.prefix, dtype=np.str_),
            "source": found.source,
        },
        facts={
            "clean": options.clean,
            "corrupted": options.corrupted,
            "answers_given": answers is not None,
            **chosen,
        },
        report=[
            f"{'After ' + ' '.join(found.prefix) if found.prefix else 'First token'}: {first} or {second}?",
            f"logit({first}) - logit({second}): "
            f"{found.metric_clean:.2f} clean, {found.metric_corrupted:.2f} corrupted\n",
            _largest(found.recovered, options.site),
        ],
    )


def _largest(recovered: Tensor, site: str) -> list[list[str]]:
    """Return the rows of the cells that carry most; layers, heads and positions from 1, as on the screen."""
    flat = recovered.nan_to_num(-float("inf")).flatten()
    _, layers, columns = recovered.shape
    heads = site == "heads"
    rows = [[site, "layer.head" if heads else "layer.position", "recovered"]]
    for number in flat.topk(min(_MAX_ROWS, len(flat))).indices.tolist():
        place, layer, column = number // (layers * columns), number // columns % layers, number % columns
        name = ("encoder", "decoder", "encoder-decoder")[place]
        rows.append([name, f"{layer + 1}.{column + 1}", f"{flat[number]:.3f}"])
    return rows


COMMAND = SentenceCommand(
    name="patch",
    description=__doc__,
    example='--clean "The child plays." --corrupted "The children play."',
    texts=(
        TextOption("clean", "The sentence.", required=True),
        TextOption("corrupted", "One that differs in little.", required=True),
        TextOption("answers", "Their translations, if not those of the model.", translation=True, count=2),
    ),
    add_options=_add_options,
    check=_check,
    measure=_measure,
    data_set=DataSet(_columns, lambda translator, options: {"direction": options.direction}),
)
parser, run = COMMAND.parser, COMMAND.run
