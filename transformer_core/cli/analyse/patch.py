r"""Find the heads, or layers and positions, that carry the difference between two sentences.

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

Axes count from 0. For sentences with different numbers of tokens only heads can be patched; encoder heads then
at the tokens that both begin and end with, so not at the words that differ.

The table has a row for each head (head, such as cross.6.8, recovered, metric), or for each layer and position (layer,
position from 1, recovered, metric). Of --data it has one for each head of each line, beside the question of that line:
answer_clean, answer_corrupted, prefix, their position (from 1), metric_clean, metric_corrupted, and the tokens of both
sentences, tokens_clean and tokens_corrupted; a warning counts the lines in which these differ. FILE.means.csv has
the means of every head over the lines, with their 95 % intervals: `recovered` is the mean of the shares of the lines,
`recovered_of_means` the change of all lines divided by their difference. Lines whose two translations are equal or
hardly differ are skipped. Lines may diverge at different tokens; --contrast "Der|Die" takes one contrast.
`analyse circuit` finds edges between heads, too, and takes many pairs at once.

Example:
  python -m transformer_core analyse patch --checkpoint checkpoints/en-de \
      --clean "The child plays." --corrupted "The children play." --out patch.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import KINDS
from transformer_core.cli.analyse.analysis import Analysis, Columns, Measured, TextOption, head_columns, picked
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from torch import Tensor

    from transformer_core.translator import Translator

SITES = ("heads", "residual", "ffn")
DIRECTIONS = ("denoise", "noise")
PAIR = (
    TextOption("clean", "The sentence.", required=True),
    TextOption("corrupted", "One that differs in little.", required=True),
    TextOption("answers", "Their translations, if not those of the model.", translation=True, count=2),
)


def add_direction(parser: Parser) -> None:
    """Add the option for the direction of patching."""
    parser.add_choice("--direction", DIRECTIONS, "Into the corrupted run, or into the clean one.", default="denoise")


def pair_of(texts: Sequence[Any]) -> dict[str, Any]:
    """Return the arguments for two sentences and their translations, or None of them."""
    clean, corrupted, *answers = texts
    return {"clean": clean, "corrupted": corrupted, "answers": tuple(answers) if all(answers) else None}


def divergence(answers: Sequence[str], prefix: Sequence[str], metrics: Sequence[float]) -> tuple[dict[str, Any], str]:
    """Return the arrays and the paragraph on the tokens at which two translations diverge."""
    import numpy as np

    first, second = answers
    clean, corrupted = metrics
    arrays = {
        "metric_clean": np.float32(clean),
        "metric_corrupted": np.float32(corrupted),
        "answers": answers,
        "prefix": np.array(prefix, dtype=np.str_),
    }
    question = f"{'After ' + ' '.join(prefix) if prefix else 'First token'}: {first} or {second}?"
    return arrays, f"{question}\nlogit({first}) - logit({second}): {clean:.2f} clean, {corrupted:.2f} corrupted\n"


def _options(parser: Parser) -> None:
    parser.add_choice("--site", SITES, "The values that are moved.", default="heads")
    add_direction(parser)
    about = 'Lines of --data that count, by the two tokens at which they diverge, such as "Der|Die".'
    parser.add_argument("--contrast", nargs="+", default=[], metavar="CLEAN|CORRUPTED", help=about)


def _check(options: Options) -> None:
    if options.data and options.site != "heads":
        raise UsageError("--site: --data can only be combined with heads, since positions differ from line to line")
    if options.contrast and not options.data:
        raise UsageError("--contrast needs --data")


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return what each cell carries of the difference."""
    from transformer_core.analysis.patching import patching

    result = patching(translator, **pair_of(texts), **choices)
    arrays, question = divergence(result.answers, result.prefix, (result.metric_clean, result.metric_corrupted))
    values = {"recovered": result.recovered, "metric": result.metrics}
    heads = choices["site"] == "heads"
    by_kind = {name: dict(zip(KINDS, each, strict=True)) for name, each in values.items()} if heads else {}
    first, second = result.answers
    settings = {
        "answer_clean": first,
        "answer_corrupted": second,
        "prefix": " ".join(result.prefix),
        "position": len(result.prefix) + 1,
        "metric_clean": result.metric_clean,
        "metric_corrupted": result.metric_corrupted,
        "tokens_clean": result.lengths[0],
        "tokens_corrupted": result.lengths[1],
    }
    return Measured(
        columns=head_columns(**by_kind) if heads else _positions(values),
        asked=settings,
        arrays={**arrays, "recovered": result.recovered, "metrics": result.metrics, "source": result.source},
        report=[question],
    )


def _positions(values: Mapping[str, Tensor]) -> Columns:
    """Return columns with a row for each layer and position that a stack has, from (2, L, P) values."""
    places = values["recovered"].isfinite().nonzero().tolist()
    return {
        "layer": [f"{('encoder', 'decoder')[stack]}.{layer + 1}" for stack, layer, _ in places],
        "position": [position + 1 for *_, position in places],
        **{name: [float(each[tuple(place)]) for place in places] for name, each in values.items()},
    }


def _weights(columns: Columns) -> dict[str, tuple[str, Any]]:
    return {"recovered_of_means": ("recovered", columns["metric_clean"] - columns["metric_corrupted"])}


ANALYSIS = Analysis(
    "patch",
    _measure,
    _options,
    _check,
    choices=picked("site", "direction"),
    texts=PAIR,
    ranked=True,
    contrasts=("answer_clean", "answer_corrupted"),
    lengths=("tokens_clean", "tokens_corrupted"),
    weighted=_weights,
)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
