"""align: hand-made word alignments in, the alignment error rate of every encoder-decoder head out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformer_core.cli.options import Parser, load_translator, write_summary, write_table

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CONVENTIONS = {
    "output": "rows labelled by the token that they generate",
    "input": "rows labelled by the token that they read, one later",
}


def parser() -> Parser:
    """The options of this command."""
    result = Parser(
        "align",
        usage="--checkpoint DIR --gold FILE",
        description=(
            "Compare the attention of each encoder-decoder head with word alignments made by hand.\n\n"
            "FILE has one sentence pair per line: source, target and links, separated by tabs. Words are separated by\n"
            "spaces and count from 0; a link is `i-j` (sure) or `i?j` (possible). A head links each target word to\n"
            "the source word that it attends to most. The alignment error rate (Och and Ney 2000) is 0 for a head\n"
            "that finds exactly the sure links, and 100 % for one that finds none.\n\n"
            "Prints a table in per cent, layers and heads from 1; then one line of JSON, from 0. Both conventions are\n"
            "given: `output` labels a row by the token that it generates, `input` by the token that it reads."
        ),
        example="  python -m transformer_core align --checkpoint checkpoints/en-de --gold alignment.en-de.tsv",
    )
    result.add_checkpoint()
    result.add_path("--gold", "A .tsv, .tsv.xz or .tsv.gz.", required=True)
    result.add_machine()
    return result


def run(arguments: Sequence[str]) -> int:
    """Measure every encoder-decoder head."""
    options = parser().options(arguments)

    from transformer_core.analysis.alignment import alignment_report, head_alignment_errors, read_gold
    from transformer_core.data import DataError
    from transformer_core.progress import tracked

    gold = list(read_gold(options.gold))
    if not gold:
        raise DataError(f"{options.gold} has no sentences")
    translator = load_translator(options)
    errors = head_alignment_errors(translator, gold, lambda pairs: tracked(pairs, unit="sentence"))
    for name, table in errors.items():
        _write_errors(name, table)
    summary = {
        "best": {name: _best(table) for name, table in errors.items()},
        "aer": alignment_report(errors)["aer"],
        "sentences": len(gold),
        "gold": options.gold,
        "checkpoint": options.checkpoint,
        "checkpoint_hash": translator.checkpoint_hash,
    }
    write_summary(summary)
    return 0


def _best(table: npt.NDArray[np.float64]) -> dict[str, Any]:
    layer, head = divmod(int(table.argmin()), table.shape[1])
    return {"layer": layer, "head": head, "aer": round(float(table[layer, head]), 4)}


def _write_errors(name: str, table: npt.NDArray[np.float64]) -> None:
    best = _best(table)
    sys.stdout.write(f"Alignment error rate in %, {_CONVENTIONS[name]} ({name})\n")
    rows = [[f"layer {number}", *(f"{100 * value:.1f}" for value in row)] for number, row in enumerate(table, start=1)]
    write_table([["head", *(str(head) for head in range(1, table.shape[1] + 1))], *rows])
    sys.stdout.write(f"best: layer {best['layer'] + 1}, head {best['head'] + 1}: {100 * best['aer']:.1f}\n\n")
