"""patch: two sentences in; which values of one run carry the difference into the other out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import Parser, UsageError, load_translator, write_table
from transformer_core.cli.sentence_files import (
    add_file,
    check_length,
    file_option,
    provenance_of,
    text_option,
    write_npz,
)

if TYPE_CHECKING:
    from transformer_core.analysis.patching import Patching

_SITES = ("heads", "residual", "ffn")
_DIRECTIONS = ("denoise", "noise")
_MAX_ROWS = 8  # of the table: the cells that carry most


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "patch",
        usage=(
            "--checkpoint DIR --clean TEXT --corrupted TEXT [--answers TEXT TEXT]\n"
            "[--site heads|residual|ffn] [--direction denoise|noise] --out FILE.npz [--force]"
        ),
        description=(
            "Translate two sentences that differ in little, stop where the translations part, and put one value of\n"
            "one run into the other: how much of the difference comes with it? The difference is the logit of the\n"
            "clean sentence's next token minus that of the corrupted one's. 0: nothing comes with it; 1: all.\n\n"
            "--site says what is moved:\n\n"
            "  heads      the output of one head, at all positions\n"
            "  residual   the residual stream after a layer, at one position\n"
            "  ffn        what a feed-forward network says, at one position\n\n"
            "--direction denoise moves values of the clean run into the corrupted one (what suffices?), noise those\n"
            "of the corrupted run into the clean one (what is needed?).\n\n"
            "For L layers, H heads and P positions the file contains\n\n"
            "  recovered, metrics    (3, L, H) of heads: encoder, decoder, encoder-decoder; else (2, L, P): encoder,\n"
            "                        decoder; NaN where a stack has no such position\n"
            "  metric_clean, metric_corrupted   of the two runs as they are\n"
            "  answers, prefix, source          the two tokens, those before, those of the patched sentence\n"
            "  provenance            JSON text: checkpoint and its hash, sentences, site, direction\n\n"
            "Layers, heads and positions count from 0 in the file, from 1 on the screen. For sentences with different\n"
            "numbers of tokens only heads can be patched."
        ),
        example=(
            '  python -m transformer_core patch --checkpoint checkpoints/en-de --clean "The child plays." \\\n'
            '      --corrupted "The children play." --out child.npz'
        ),
    )
    result.add_checkpoint()
    result.add_argument("--clean", type=str, required=True, metavar="TEXT", help="The sentence.")
    result.add_argument("--corrupted", type=str, required=True, metavar="TEXT", help="One that differs in little.")
    result.add_argument(
        "--answers", type=str, nargs=2, metavar="TEXT", help="Their translations, if not those of the model."
    )
    result.add_argument("--site", type=str, default="heads", metavar="NAME", help="What is moved: heads.")
    result.add_argument("--direction", type=str, default="denoise", metavar="NAME", help="Which way: denoise.")
    add_file(result)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Patch every cell."""
    options = parser().options(arguments)
    out = file_option(options)
    clean, corrupted = text_option("--clean", options.clean), text_option("--corrupted", options.corrupted)
    answers = None
    if options.answers is not None:
        answers = (text_option("--answers", options.answers[0]), text_option("--answers", options.answers[1]))
    for option, given, allowed in (("--site", options.site, _SITES), ("--direction", options.direction, _DIRECTIONS)):
        if given not in allowed:
            raise UsageError(f"{option} is {given!r}, but must be one of {', '.join(allowed)}")
    translator = load_translator(options)
    for option, text in (("--clean", clean), ("--corrupted", corrupted)):
        check_length(translator, option, text, translator.tokenizer.source)
    for text in answers or ():
        check_length(translator, "--answers", text, translator.tokenizer)

    from transformer_core.analysis.minimal_pairs import PatchingError
    from transformer_core.analysis.patching import patching

    try:
        found = patching(translator, clean, corrupted, answers=answers, site=options.site, direction=options.direction)
    except PatchingError as error:
        raise UsageError(str(error)) from error
    facts = {
        "clean": clean,
        "corrupted": corrupted,
        "answers_given": answers is not None,
        "site": options.site,
        "direction": options.direction,
    }
    write_npz(out, _arrays(found), provenance_of(translator, **facts))
    _write_summary(found, options.site)
    return 0


def _arrays(found: Patching) -> dict[str, Any]:
    import numpy as np

    return {
        "recovered": found.recovered.cpu().numpy(),
        "metrics": found.metrics.cpu().numpy(),
        "metric_clean": np.float32(found.metric_clean),
        "metric_corrupted": np.float32(found.metric_corrupted),
        "answers": np.array(found.answers, dtype=np.str_),
        "prefix": np.array(found.prefix, dtype=np.str_),
        "source": np.array(found.source, dtype=np.str_),
    }


def _write_summary(found: Patching, site: str) -> None:
    """The two runs, and the cells that carry most; layers, heads and positions from 1, as on the screen."""
    first, second = found.answers
    sys.stdout.write(
        f"{'After ' + ' '.join(found.prefix) if found.prefix else 'First token'}: {first} or {second}?\n"
        f"logit({first}) - logit({second}): {found.metric_clean:.2f} clean, {found.metric_corrupted:.2f} corrupted\n\n"
    )
    flat = found.recovered.nan_to_num(-float("inf")).flatten()
    _, layers, columns = found.recovered.shape
    rows = []
    for number in flat.topk(min(_MAX_ROWS, len(flat))).indices.tolist():
        place, layer, column = number // (layers * columns), number // columns % layers, number % columns
        names = ("encoder", "decoder", "encoder-decoder") if site == "heads" else ("encoder", "decoder")
        rows.append([names[place], f"{layer + 1}.{column + 1}", f"{flat[number]:.3f}"])
    write_table([[site, "layer.head" if site == "heads" else "layer.position", "recovered"], *rows])
