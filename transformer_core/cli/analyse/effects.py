r"""Measure the effect of every head on one translation, or on each translation of a file.

An effect is the log-probability of a token with the head, minus without it, in nats. Positive: the head helped.
All other heads stay as they are.

--change sets the output that replaces the head's own:

  zero       nothing
  mean       its mean output over the sentences of --sentences
  resample   its output on one of those sentences at the same position; the mean of 8 draws
  random     its output plus a random vector as long as what zero takes away; the mean of 8 draws.
             An effect that is no larger than this is not specific to the head

After post-norm, taking a head away also makes the rest larger. --frozen-norm divides by the standard
deviation of the unchanged run in the LayerNorm right after the head, so that only the removal counts.

For L layers, H heads and T tokens of the translation the file contains

  encoder, decoder, cross (L, H, T)   effects in nats; with draws also encoder_spread, ...: their
                                      standard deviation
  tokens, log_p (T,), source_tokens   the tokens and their log-probability with all heads
  provenance                          JSON text: checkpoint and its hash, sentence, change

The table has a row for each head: head (such as cross.6.8), effect on the whole translation. Of --data it has
them for each line; FILE.means.csv has the mean of every head over sentences, with its 95 % interval.

Example:
  python -m transformer_core analyse effects --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out effects.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, head_columns, run_arrays, run_report
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.analysis.effects.head_effects import MeanOutputs
    from transformer_core.translator import Translator

CHANGES = ("zero", "mean", "resample", "random")
_MAX_OTHERS = 200  # sentences whose head outputs are averaged or drawn from


def _options(parser: Parser) -> None:
    parser.add_choice("--change", CHANGES, "Output that replaces the head's own.", default="zero")
    parser.add_path("--sentences", "Sentence pairs for mean and resample; the first 200 are read.")
    parser.add_argument("--frozen-norm", action="store_true", help="Keep the scale of the LayerNorm after the head.")
    parser.add_number("--seed", 0, "Of the draws of resample and random.", least=0)


def _check(options: Options) -> None:
    if (options.change in ("mean", "resample")) != (options.sentences is not None):
        raise UsageError("--change mean and resample need --sentences, and no other change does")


def _choices(_translator: Translator, options: Options) -> dict[str, Any]:
    from transformer_core.data import DataError, read_pairs

    others = list(islice(read_pairs(options.sentences), _MAX_OTHERS)) if options.sentences else []
    if options.sentences and not others:
        raise DataError(f"{options.sentences} has no sentences")
    return {"change": options.change, "seed": options.seed, "frozen_norm": options.frozen_norm, "others": others}


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the effect of every head, by token and on the whole translation."""
    from transformer_core.analysis.effects.head_effects import head_effects

    others = tuple((source, target) for source, target in choices["others"])
    means = _means(translator, others) if choices["change"] == "mean" else None
    effects = head_effects(translator, *texts, **{**choices, "others": others}, means=means)
    by_token = {str(kind): values for kind, values in effects.effects.items()}
    spreads = {f"{kind}_spread": values.std(dim=0) for kind, values in (effects.draws or {}).items()}
    return Measured(
        columns=head_columns(effect={kind: values.sum(dim=2) for kind, values in effects.effects.items()}),
        arrays={**by_token, **spreads, **run_arrays(effects.run)},
        facts={"target": effects.run.text, "others": len(others)},
        report=[run_report(effects.run), "Heads with the largest effect on the translation, in nats"],
    )


@lru_cache(maxsize=1)
def _means(translator: Translator, others: tuple[tuple[str, str], ...]) -> MeanOutputs:
    """Compute the mean outputs once for all sentences."""
    from transformer_core.analysis.effects.head_effects import mean_outputs

    return mean_outputs(translator, others)


ANALYSIS = Analysis("effects", _measure, _options, _check, _choices, ranked=True)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
