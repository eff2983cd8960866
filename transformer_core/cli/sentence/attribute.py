r"""Attribute each token of a translation to source words, and to words already generated.

  attention              weights between encoder and decoder; mean over heads and layers, or of one
  rollout                attention through all layers (Abnar and Zuidema 2020)
  norm, norm-ln          length of what the weights carry; also through LayerNorm (Kobayashi 2020, 2021)
  alti                   ALTI+, how much nearer each brings the output (Ferrando 2022)
  gradient               length of the gradient of log p
  grad-x-input           gradient times embedding
  integrated-gradients   its mean on the way from an empty sentence (Sundararajan 2017)
  leave-one-out          what log p loses when no position may attend to the word

The last three have a sign: positive speaks for the token. --at and --tokens ask these and gradient why
token number N is A and not B.

For S source tokens and T tokens of the translation the file contains

  source (T, S), target (T, T)         row t explains token t; columns of target are <s> and the tokens
                                       before. With --at there is one row
  tokens (T,), source_tokens (S,)      the tokens
  log_p (T,)                           their log-probability
  gap (T,)                             integrated-gradients: by how many nats the sum of a row is wrong
  redistributed_source, ..._target     leave-one-out: the share of attention that goes elsewhere
  provenance                           JSON text: checkpoint and its hash, sentence, method

The table shows the source word with the largest value of each row, whatever its sign, and its share of
all source words. rollout and alti also give the share of the source against the target.

The table of --data has a row for each token of each line: line, position, token, log_p, word (of the
source, with the largest value), share, and of_source or gap. FILE.means.csv has the means over all tokens,
with their 95 % intervals over sentences.

Example:
  python -m transformer_core attribute --checkpoint checkpoints/en-de \
      --source "A man rides a bicycle." --method alti --out attribute.npz
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.cli.arguments import Options, Parser, UsageError
from transformer_core.cli.sentence.data_set import Columns, DataSet
from transformer_core.cli.sentence.sentence_command import Measurement, SentenceCommand, sentence_facts

if TYPE_CHECKING:
    from transformer_core.analysis.attribution import Attribution
    from transformer_core.translator import Translator

STEPS = 32
_TITLES = {"share": "share", "of_source": "of source", "gap": "gap in nats"}


def _add_options(parser: Parser) -> None:
    parser.add_argument("--method", required=True, metavar="NAME", help="One of those above.")
    parser.add_argument("--layer", type=int, metavar="N", help="Of attention, norm and norm-ln, from 1; mean over all.")
    parser.add_argument("--head", type=int, metavar="N", help="Of attention and norm, from 1; all heads.")
    parser.add_number("--steps", STEPS, "Points on the path of integrated-gradients, at most 1,000.", most=1_000)
    parser.add_argument("--at", type=int, metavar="N", help="Number of the token of a contrast, from 1.")
    parser.add_argument("--tokens", nargs=2, metavar=("A", "B"), help="The two tokens of a contrast.")


def _check(options: Options) -> None:
    if (options.at is None) != (options.tokens is None):
        raise UsageError("--at and --tokens belong together")
    if options.data and options.at is not None:
        raise UsageError("--at and --data cannot be combined")


def _measure(translator: Translator, options: Options) -> Measurement:
    """Return the attribution of every token, or of one contrast, and a table of the words with the largest shares."""
    from transformer_core.analysis.attribution import POINTS, Contrast, attribute
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    chosen, tokens = _choices(translator, options), [token_id(translator, text) for text in options.tokens or ()]
    run = teacher_forced_run(translator, options.source, options.target, points=POINTS)
    at = from_0("--at", options.at, len(run.outputs))
    contrast = None if at is None else Contrast(at, *tokens)
    found = attribute(translator, run, contrast=contrast, **chosen)
    names = translator.tokenizer.tokens(tokens)
    return Measurement(
        arrays={
            "source": found.source,
            "target": found.target,
            "tokens": run.tokens,
            "source_tokens": run.source_tokens,
            "log_p": run.log_p,
            **found.report,
        },
        facts=sentence_facts(
            options, run.text, contrast=None if at is None else {"position": at, "tokens": names}, **chosen
        ),
        report=[
            f"{run.text}\nlog-probability {float(run.log_p.sum()):.2f} nats\n",
            _largest(found, [f"{names[0]}, not {names[1]}"] if names else run.tokens),
        ],
    )


def from_0(option: str, number: int | None, most: int) -> int | None:
    """Return a number of the command line, from 1, as an index. Raises UsageError for one out of range."""
    if number is not None and not 1 <= number <= most:
        raise UsageError(f"{option} is {number}, but must be from 1 to {most}")
    return None if number is None else number - 1


def token_id(translator: Translator, text: str) -> int:
    """Return the id of a token, with or without the mark of a word's beginning. Raises UsageError if it is none."""
    tokenizer = translator.tokenizer
    ids = {tokenizer.token(number): number for number in range(len(tokenizer))}
    for token in (WORD_BOUNDARY + text, text):
        if token in ids:
            return ids[token]
    raise UsageError(f"--tokens has {text!r}, which is no token of this model; a word may be several")


def _choices(translator: Translator, options: Options) -> dict[str, Any]:
    """Return the choices of a method. Raises UsageError for those that it does not have."""
    from transformer_core.analysis.attribution import Contrast, check_choice

    chosen = {
        "method": options.method,
        "layer": from_0("--layer", options.layer, translator.config.num_layers),
        "head": from_0("--head", options.head, translator.config.num_heads),
        "steps": options.steps,
    }
    tokens = [token_id(translator, text) for text in options.tokens or ()]
    try:
        check_choice(translator, contrast=Contrast(0, *tokens) if tokens else None, **chosen)
    except ValueError as error:
        raise UsageError(str(error)) from error
    return chosen


def _columns(translator: Translator, texts: Sequence[Any], choices: Mapping[str, Any]) -> Columns:
    from transformer_core.analysis.attribution import attribute

    found = attribute(translator, *texts, **choices)
    tokens = found.run.tokens
    own = {"position": range(1, 1 + len(tokens)), "token": tokens, "log_p": found.run.log_p.cpu()}
    return {**own, **_shares(found)}


def _shares(found: Attribution) -> dict[str, Any]:
    """Return columns of all rows: the source word with the largest value, its share, and what the method adds."""
    from transformer_core.analysis.attribution import SHARES

    first, words = found.sizes.argmax(dim=1, keepdim=True), found.source_axis.word_texts
    shares = found.sizes.gather(1, first)[:, 0] / found.sizes.sum(dim=1)
    columns = {"word": [words[number] for number in first[:, 0].tolist()], "share": shares.cpu()}
    if found.method in SHARES:
        columns["of_source"] = found.source.sum(dim=1).cpu()
    if "gap" in found.report:
        columns["gap"] = found.report["gap"].cpu()
    return columns


def _largest(found: Attribution, names: Sequence[str]) -> list[list[str]]:
    """Return for each row the source word with the largest value, and its share of all source words."""
    words, *numbers = _shares(found).items()
    columns = [("token", names), ("named first", words[1])]
    for name, values in numbers:
        form = "{:.2f}" if name == "gap" else "{:.0%}"
        columns.append((_TITLES[name], [form.format(value).replace("%", " %") for value in values.tolist()]))
    return [[title for title, _ in columns], *map(list, zip(*(cells for _, cells in columns), strict=True))]


COMMAND = SentenceCommand("attribute", _measure, _add_options, _check, data_set=DataSet(_columns, _choices))
add_options, run = COMMAND.add_options, COMMAND.run
