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
  tokens (T,), log_p (T,)             the tokens and their log-probability with all heads
  provenance                          JSON text: checkpoint and its hash, sentence, change

Layers and heads count from 0 in the file, from 1 on the screen and in a table.

--direct N changes nothing. It splits the logit of token number N into what each part of the decoder adds
directly (direct logit attribution); with --tokens A, the logit of A there; with --tokens A B, the logit
of A minus that of B. For S source tokens the file then contains, in nats

  cross (L, H, S), decoder (L, H, T)            heads, by source token and by decoder input
  feed_forward (L,), biases                     networks; biases and beta of every LayerNorm
  embedding, positional_encoding                of the decoder's input
  logit                                         their sum

The table of --data has a row for each head of each line: line, kind, layer, head, effect on the whole
translation. FILE.means.csv has the mean of every head over sentences, with its 95 % interval.

Example:
  python -m transformer_core effects --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --out effects.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Options, Parser, UsageError, head_rows
from transformer_core.cli.sentence.attribute import from_0, token_id
from transformer_core.cli.sentence.data_set import Columns, DataSet, head_columns
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, sentence_facts

if TYPE_CHECKING:
    from transformer_core.analysis.effects.head_effects import MeanOutputs
    from transformer_core.translator import Translator

CHANGES = ("zero", "mean", "resample", "random")
_MAX_OTHERS = 200  # sentences whose head outputs are averaged or drawn from


def _add_options(parser: Parser) -> None:
    parser.add_choice("--change", CHANGES, "Output that replaces the head's own.", default="zero")
    parser.add_path("--sentences", "Sentence pairs for mean and resample; the first 200 are read.")
    parser.add_argument("--frozen-norm", action="store_true", help="Keep the scale of the LayerNorm after the head.")
    parser.add_number("--seed", 0, "Of the draws of resample and random.", least=0)
    parser.add_argument("--direct", type=int, metavar="N", help="Number of a token whose logit is split, from 1.")
    parser.add_argument("--tokens", nargs="+", metavar="TOKEN", help="Of --direct: another token, or two.")


def _check(options: Options) -> None:
    if (options.change in ("mean", "resample")) != (options.sentences is not None):
        raise UsageError("--change mean and resample need --sentences, and no other change does")
    if len(options.tokens or ()) > (0 if options.direct is None else 2):
        raise UsageError("--tokens needs --direct, and takes one token or two")
    if options.direct is not None and {"change", "frozen_norm", "seed", "data"} & options.given.keys():
        raise UsageError("--direct cannot be combined with --change, --frozen-norm, --seed or --data")


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return the effect of every head, and a table for each kind of their effects on the whole translation."""
    from transformer_core.analysis.effects.head_effects import head_effects

    if options.direct is not None:
        return _direct(translator, options)
    chosen = _choices(translator, options)
    found = head_effects(translator, options.source, options.target, **chosen)
    report: list[Any] = [f"{found.run.text}\nlog-probability {float(found.run.log_p.sum()):.2f} nats"]
    for kind, values in found.effects.items():
        report += [f"\nEffect in nats, {kind} (layers down, heads across)"]
        report += [head_rows(values.sum(dim=2).tolist(), "+.2f")]
    return Measurement(
        arrays={
            **{str(kind): values for kind, values in found.effects.items()},
            **{f"{kind}_spread": values.std(dim=0) for kind, values in (found.draws or {}).items()},
            "tokens": found.run.tokens,
            "log_p": found.run.log_p,
        },
        facts=sentence_facts(options, found.run.text, **chosen | {"others": len(chosen["others"])}),
        report=report,
    )


def _direct(translator: Translator, options: Options) -> Measurement:
    """Return the direct parts of a logit, and a table of the heads of each kind."""
    from transformer_core.analysis.effects.direct_effects import POINTS, direct_effects
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    tokens = [token_id(translator, text) for text in options.tokens or ()]
    run = teacher_forced_run(translator, options.source, options.target, points=POINTS)
    position = from_0("--direct", options.direct, len(run.outputs))
    found = direct_effects(translator, run, position=position or 0, tokens=tokens)
    report: list[Any] = [f"{found.run.text}\n{found}"]
    for kind, values in found.heads.items():
        report += [f"\nNats, {kind} (layers down, heads across)", head_rows(values.tolist(), "+.2f")]
    return Measurement(
        arrays={
            **found.parts,
            "logit": found.logit,
            "tokens": found.run.tokens,
            "source_tokens": found.run.source_tokens,
        },
        facts=sentence_facts(options, found.run.text, position=found.position, split=found.tokens),
        report=report,
    )


def _choices(_translator: Translator, options: Options) -> dict[str, Any]:
    from transformer_core.data import DataError, read_pairs

    others = list(islice(read_pairs(options.sentences), _MAX_OTHERS)) if options.sentences else []
    if options.sentences and not others:
        raise DataError(f"{options.sentences} has no sentences")
    return {"change": options.change, "seed": options.seed, "frozen_norm": options.frozen_norm, "others": others}


def _columns(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Columns:
    import torch

    from transformer_core.analysis.effects.head_effects import head_effects

    others = tuple((source, target) for source, target in choices["others"])
    means = _means(translator, others) if choices["change"] == "mean" else None
    found = head_effects(translator, *texts, **{**choices, "others": others}, means=means)
    return head_columns(effect=torch.stack([values.sum(dim=2) for values in found.effects.values()]))


@lru_cache(maxsize=1)
def _means(translator: Translator, others: tuple[tuple[str, str], ...]) -> MeanOutputs:
    """Compute the mean outputs once for all sentences."""
    from transformer_core.analysis.effects.head_effects import mean_outputs

    return mean_outputs(translator, others)


COMMAND = SentenceCommand("effects", _measure, _add_options, _check, data_set=DataSet(_columns, _choices))
add_options, run = COMMAND.add_options, COMMAND.run
