"""attribute: one sentence in; which words carry each token of its translation out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.attention_maps import WORD_BOUNDARY
from transformer_core.cli.arguments import Parser, UsageError, load_translator, write_table
from transformer_core.cli.sentence_files import (
    add_sentence,
    check_lengths,
    provenance_of,
    sentence_options,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.analysis.attribution import Attribution
    from transformer_core.translator import Translator

_STEPS = 32
_MAX_STEPS = 1_000


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "attribute",
        usage=(
            "--checkpoint DIR --source TEXT [--target TEXT] --method NAME [--layer N] [--head N]\n"
            "[--steps N] [--at N --tokens A B] --out FILE.npz [--force]"
        ),
        description=(
            "Say which source words, and which words already generated, carry each token of a translation.\n\n"
            "  attention              weights between encoder and decoder; mean over heads and layers, or of one\n"
            "  rollout                attention through all layers (Abnar and Zuidema 2020)\n"
            "  norm, norm-ln          length of what the weights carry; also through LayerNorm (Kobayashi 2020, 2021)\n"
            "  alti                   ALTI+, how much nearer each brings the output (Ferrando 2022)\n"
            "  gradient               length of the gradient of log p\n"
            "  grad-x-input           gradient times embedding\n"
            "  integrated-gradients   its mean on the way from an empty sentence (Sundararajan 2017)\n"
            "  leave-one-out          what log p loses when nobody may attend to the word\n\n"
            "The last three have a sign: positive speaks for the token. --at and --tokens ask these and gradient why\n"
            "token number N is A and not B.\n\n"
            "For S source tokens and T tokens of the translation the file contains\n\n"
            "  source (T, S), target (T, T)         row t explains token t; columns of target are <s> and the tokens\n"
            "                                       before. With --at there is one row\n"
            "  tokens (T,), source_tokens (S,)      the tokens\n"
            "  log_p (T,)                           their log-probability\n"
            "  gap (T,)                             integrated-gradients: by how many nats the sum of a row is wrong\n"
            "  redistributed_source, ..._target     leave-one-out: the share of attention that goes elsewhere\n"
            "  provenance                           JSON text: checkpoint and its hash, sentence, method\n\n"
            "The table shows the source word with the largest value of each row, whatever its sign, and its share of\n"
            "all source words. rollout and alti also give the share of the source against the target."
        ),
        example=(
            "  python -m transformer_core attribute --checkpoint checkpoints/en-de \\\n"
            '      --source "A man rides a bicycle." --method alti --out bicycle.npz'
        ),
    )
    result.add_checkpoint()
    add_sentence(result)
    result.add_argument("--method", type=str, required=True, metavar="NAME", help="One of those above.")
    result.add_argument("--layer", type=int, metavar="N", help="Of attention, norm and norm-ln, from 1; mean over all.")
    result.add_argument("--head", type=int, metavar="N", help="Of attention and norm, from 1; all heads.")
    result.add_number("--steps", _STEPS, "Points on the path of integrated-gradients, at most 1,000.")
    result.add_argument("--at", type=int, metavar="N", help="Number of the token of a contrast, from 1.")
    result.add_argument("--tokens", type=str, nargs=2, metavar=("A", "B"), help="The two tokens of a contrast.")
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Attribute one translation."""
    options = parser().options(arguments)
    source, target, out = sentence_options(options)
    if options.steps > _MAX_STEPS:
        raise UsageError(f"--steps is {options.steps}, but must be {_MAX_STEPS} or less")
    if (options.at is None) != (options.tokens is None):
        raise UsageError("--at and --tokens belong together")
    translator = load_translator(options)
    check_lengths(translator, source, target)

    from transformer_core.analysis.attribution import POINTS, Contrast, attribute, check_choice
    from transformer_core.analysis.teacher_forced_run import teacher_forced_run

    chosen: dict[str, Any] = {
        "method": options.method,
        "layer": _from_0("--layer", options.layer, translator.config.num_layers),
        "head": _from_0("--head", options.head, translator.config.num_heads),
        "steps": options.steps,
    }
    tokens = [_token(translator, text) for text in options.tokens or ()]
    try:
        check_choice(translator, contrast=Contrast(0, *tokens) if tokens else None, **chosen)
    except ValueError as error:
        raise UsageError(str(error)) from error
    run = teacher_forced_run(translator, source, target, points=POINTS)
    at = _from_0("--at", options.at, len(run.outputs))
    contrast = None if at is None else Contrast(at, *tokens)
    found = attribute(translator, run, contrast=contrast, **chosen)
    facts = {
        **chosen,
        "source": source,
        "target": run.text,
        "target_given": target is not None,
        "contrast": None if at is None else {"position": at, "tokens": translator.tokenizer.tokens(tokens)},
    }
    write_npz(out, _arrays(found), provenance_of(translator, **facts))
    _write_summary(found, translator)
    return 0


def _from_0(option: str, number: int | None, most: int) -> int | None:
    """What is counted from 1 on the command line. Raises UsageError for a number that is not there."""
    if number is not None and not 1 <= number <= most:
        raise UsageError(f"{option} is {number}, but must be from 1 to {most}")
    return None if number is None else number - 1


def _token(translator: Translator, text: str) -> int:
    """The id of a token, with or without the mark of a word's beginning. Raises UsageError if it is none."""
    tokenizer = translator.tokenizer
    ids = {tokenizer.token(number): number for number in range(len(tokenizer))}
    for token in (WORD_BOUNDARY + text, text):
        if token in ids:
            return ids[token]
    raise UsageError(f"--tokens has {text!r}, which is no token of this model; a word may be several")


def _arrays(found: Attribution) -> dict[str, Any]:
    import numpy as np

    run = found.run
    return {
        "source": found.source.cpu().numpy(),
        "target": found.target.cpu().numpy(),
        "tokens": np.array(run.tokens, dtype=np.str_),
        "source_tokens": np.array(run.source_tokens, dtype=np.str_),
        "log_p": run.log_p.cpu().numpy(),
        **{name: values.cpu().numpy() for name, values in found.report.items()},
    }


def _write_summary(found: Attribution, translator: Translator) -> None:
    """For each row the source word with the largest value, and its share of all source words."""
    from transformer_core.analysis.attribution import SHARES

    run, sizes = found.run, found.sizes
    sys.stdout.write(f"{run.text}\nlog-probability {float(run.log_p.sum()):.2f} nats\n\n")
    names = list(run.tokens)
    if found.contrast is not None:
        token, other = translator.tokenizer.tokens([found.contrast.token, found.contrast.other])
        names = [f"{token}, not {other}"]
    shares = sizes / sizes.sum(dim=1, keepdim=True)
    extra: dict[str, list[str]] = {}
    if found.method in SHARES:
        extra["of source"] = [f"{100 * value:.0f} %" for value in found.source.sum(dim=1).tolist()]
    if "gap" in found.report:
        extra["gap in nats"] = [f"{value:.2f}" for value in found.report["gap"].tolist()]
    words = found.source_axis.word_texts
    rows = [["token", "named first", "share", *extra]]
    for row, name in enumerate(names):
        first = int(sizes[row].argmax())
        rows.append([name, words[first], f"{100 * float(shares[row, first]):.0f} %", *(v[row] for v in extra.values())])
    write_table(rows)
