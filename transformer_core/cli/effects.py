"""effects: one sentence in; what each of its heads does to the translation out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, UsageError, load_translator, write_table
from transformer_core.cli.sentence_files import (
    add_sentence,
    check_lengths,
    provenance_of,
    sentence_options,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.analysis.effects.head_effects import HeadEffects

_CHANGES = ("zero", "mean", "resample", "random")
_MAX_OTHERS = 200  # sentences whose head outputs are averaged or drawn from


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "effects",
        usage=(
            "--checkpoint DIR --source TEXT [--target TEXT] [--change zero|mean|resample|random]\n"
            "[--sentences FILE] [--frozen-norm] --out FILE.npz [--force]"
        ),
        description=(
            "Measure what every head does to a translation: the log-probability of each token of it with the head,\n"
            "minus without it, in nats. Positive: the head helped. All other heads stay as they are.\n\n"
            "What the head says instead is, with --change\n\n"
            "  zero       nothing\n"
            "  mean       its mean output over the sentences of --sentences\n"
            "  resample   what it said of one of those sentences at the same position; the mean of 8 draws\n"
            "  random     its output plus a random vector as long as what zero takes away; the mean of 8 draws.\n"
            "             A head whose effect is no larger than this does nothing in particular\n\n"
            "After post-norm, taking a head away also makes the rest larger. --frozen-norm divides by the standard\n"
            "deviation of the unchanged run in the LayerNorm right after the head, so that only the removal counts.\n\n"
            "For L layers, H heads and T tokens of the translation the file contains\n\n"
            "  encoder, decoder, cross (L, H, T)   effects in nats; with draws also encoder_spread, ...: their\n"
            "                                      standard deviation\n"
            "  tokens (T,), log_p (T,)             the tokens and their log-probability with all heads\n"
            "  provenance                          JSON text: checkpoint and its hash, sentence, change\n\n"
            "Layers and heads count from 0 in the file, from 1 on the screen."
        ),
        example=(
            "  python -m transformer_core effects --checkpoint checkpoints/en-de \\\n"
            '      --source "A man rides a bicycle." --out bicycle.npz'
        ),
    )
    result.add_checkpoint()
    add_sentence(result)
    result.add_argument("--change", type=str, default="zero", metavar="NAME", help="What a head says instead: zero.")
    result.add_path("--sentences", "Sentence pairs for mean and resample; the first 200 are read.")
    result.add_argument("--frozen-norm", action="store_true", help="Keep the scale of the LayerNorm after the head.")
    result.add_number("--seed", 0, "Of the draws of resample and random.", least=0)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Measure the effects of all heads."""
    options = parser().options(arguments)
    source, target, out = sentence_options(options)
    if options.change not in _CHANGES:
        raise UsageError(f"--change is {options.change!r}, but must be one of {', '.join(_CHANGES)}")
    needs = options.change in ("mean", "resample")
    if needs != (options.sentences is not None):
        raise UsageError("--change mean and resample need --sentences, and no other change does")
    others = _others(options.sentences) if needs else []
    translator = load_translator(options)
    check_lengths(translator, source, target)

    from transformer_core.analysis.effects.head_effects import head_effects

    found = head_effects(
        translator,
        source,
        target,
        change=options.change,
        others=others,
        seed=options.seed,
        frozen_norm=options.frozen_norm,
    )
    facts = {
        "source": source,
        "target": found.run.text,
        "target_given": target is not None,
        "change": options.change,
        "frozen_norm": options.frozen_norm,
        "seed": options.seed,
        "others": len(others),
    }
    write_npz(out, _arrays(found), provenance_of(translator, **facts))
    _write_summary(found)
    return 0


def _others(path: str) -> list[tuple[str, str]]:
    from itertools import islice

    from transformer_core.data import DataError, read_pairs

    pairs = list(islice(read_pairs(path), _MAX_OTHERS))
    if not pairs:
        raise DataError(f"{path} has no sentences")
    return pairs


def _arrays(found: HeadEffects) -> dict[str, Any]:
    import numpy as np

    arrays: dict[str, Any] = {kind: values.cpu().numpy() for kind, values in found.effects.items()}
    for kind, values in (found.draws or {}).items():
        arrays[f"{kind}_spread"] = values.std(dim=0).cpu().numpy()
    return {
        **arrays,
        "tokens": np.array(found.run.tokens, dtype=np.str_),
        "log_p": found.run.log_p.cpu().numpy(),
    }


def _write_summary(found: HeadEffects) -> None:
    """The effect of every head on the whole translation, a table for each kind."""
    sys.stdout.write(f"{found.run.text}\nlog-probability {float(found.run.log_p.sum()):.2f} nats\n")
    for kind, values in found.effects.items():
        sys.stdout.write(f"\nEffect in nats, {kind} (layers down, heads across)\n")
        totals = values.sum(dim=2).tolist()
        rows = [[f"layer {number}", *(f"{value:+.2f}" for value in row)] for number, row in enumerate(totals, start=1)]
        write_table([["head", *(str(head) for head in range(1, len(totals[0]) + 1))], *rows])
