r"""Attribute each token of a translation to source words, and to words already generated.

  attention              weights between encoder and decoder; mean over heads and layers, or of one
  rollout                attention through all layers (Abnar and Zuidema 2020)
  norm, norm-ln          length of what the weights carry; also through LayerNorm (Kobayashi 2020, 2021)
  alti                   ALTI+, how much nearer each brings the output (Ferrando 2022)
  gradient               length of the gradient of log p
  grad-x-input           gradient times embedding
  integrated-gradients   its mean on the way from an empty sentence (Sundararajan 2017)
  leave-one-out          what log p loses when no position may attend to the word
  flow                   exact parts of the logit of the frozen model, see `analyse flow`

The last four have a sign: positive speaks for the token. --at and --tokens ask these and gradient why
token number N is A and not B.

For S source tokens and T tokens of the translation the file contains

  source (T, S), target (T, T)         row t explains token t; columns of target are <s> and the tokens
                                       before. With --at there is one row
  tokens (T,), source_tokens (S,)      the tokens
  log_p (T,)                           their log-probability
  gap (T,), difference (T,), steps     integrated-gradients: by how many nats the sum of a row misses what it
                                       should be, that number, and the points on the path
  redistributed_source, ..._target     leave-one-out: the share of attention that goes elsewhere
  biases (T,)                          flow: what no token has a part in
  provenance                           JSON text: checkpoint and its hash, sentence, method

The table has a row for each token: position, token, log_p, word (of the source, with the largest value, whatever
its sign), share (of all source words), and of_source (rollout and alti: the share of the source against the
target) or gap. Of --data it has them for each line; FILE.means.csv has the means over all tokens, with their 95 %
intervals over sentences.

Example:
  python -m transformer_core analyse attribute --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --method alti --out attribute.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.analyse.analysis import Analysis, Measured, run_arrays, run_report
from transformer_core.cli.analyse.tokens import from_0, token_ids
from transformer_core.cli.argument_types import bounded_number
from transformer_core.cli.arguments import Options, Parser, UsageError

if TYPE_CHECKING:
    from transformer_core.analysis.attribution import Attribution, Contrast
    from transformer_core.translator import Translator


def _options(parser: Parser) -> None:
    parser.add_argument("--method", required=True, metavar="NAME", help="One of those above.")
    about = "Of attention, norm and norm-ln, a layer, such as cross.6; of attention and norm also a head, cross.6.8."
    parser.add_argument("--head", metavar="HEAD", help=f"{about} The mean over all unless given.")
    about = "Points on the path of integrated-gradients, at most 1,000; enough for a gap of 1 %% unless given."
    parser.add_argument("--steps", type=bounded_number(1, 1_000), metavar="N", help=about)
    parser.add_argument("--at", type=int, metavar="N", help="Number of the token of a contrast, from 1.")
    parser.add_argument("--tokens", nargs=2, metavar=("A", "B"), help="The two tokens of a contrast.")


def _check(options: Options) -> None:
    if (options.at is None) != (options.tokens is None):
        raise UsageError("--at and --tokens belong together")
    if options.data and options.at is not None:
        raise UsageError("--at and --data cannot be combined")


def _choices(translator: Translator, options: Options) -> dict[str, Any]:
    """Return the choices of a method. Raises UsageError for choices that it does not have."""
    from transformer_core.analysis.attribution import check_choice

    tokens = token_ids(translator, options.tokens)
    choices = {name: getattr(options, name) for name in ("method", "head", "steps", "at")} | {"tokens": tokens}
    try:
        check_choice(translator, contrast=_contrast(choices, 0), **_arguments(choices))
    except ValueError as error:
        raise UsageError(f"--head: {error}" if options.head else str(error)) from error
    return choices


def _arguments(choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `attribute` but the contrast."""
    return {"method": choices["method"], "at": choices["head"], "steps": choices["steps"]}


def _contrast(choices: Mapping[str, Any], position: int) -> Contrast | None:
    from transformer_core.analysis.attribution import Contrast

    return Contrast(position, *choices["tokens"]) if choices["tokens"] else None


def _measure(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Measured:
    """Return the attribution of every token, or of one contrast."""
    from transformer_core.analysis.attribution import POINTS, attribute
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    run = teacher_forced_run(translator, *texts, points=POINTS)
    rows = range(len(run.tokens))
    if choices["at"] is not None:
        at = from_0("--at", choices["at"], len(run.tokens))
        rows = range(at, at + 1)
    attribution = attribute(translator, run, contrast=_contrast(choices, rows[0]), **_arguments(choices))
    names = translator.tokenizer.tokens(choices["tokens"])
    return Measured(
        columns={
            "position": [row + 1 for row in rows],
            "token": [f"{names[0]}, not {names[1]}"] if names else run.tokens,
            "log_p": run.log_p.cpu()[list(rows)],
            **_largest(attribution),
        },
        arrays={"source": attribution.source, "target": attribution.target, **run_arrays(run), **attribution.report},
        facts={"target": run.text, "tokens": names},
        report=[run_report(run)],
    )


def _largest(attribution: Attribution) -> dict[str, Any]:
    """Return columns of all rows: the source word with the largest value, its share, and what the method adds."""
    from transformer_core.analysis.attribution import SHARES

    sizes, words = attribution.sizes, attribution.source_axis.word_texts
    first = sizes.argmax(dim=1, keepdim=True)
    share = sizes.gather(1, first)[:, 0] / sizes.sum(dim=1)
    columns = {"word": [words[number] for number in first[:, 0].tolist()], "share": share.cpu()}
    if attribution.method in SHARES:
        columns["of_source"] = attribution.source.sum(dim=1).cpu()
    if "gap" in attribution.report:
        columns["gap"] = attribution.report["gap"].cpu()
    return columns


ANALYSIS = Analysis("attribute", _measure, _options, _check, _choices)
add_options, run = ANALYSIS.add_options, ANALYSIS.run
