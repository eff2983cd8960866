"""Compare the attention of each encoder-decoder head, and other methods, with word alignments made by hand.

FILE has one sentence pair per line: source, target and links, separated by tabs. Words are separated by
spaces and count from 0; a link is `i-j` (sure) or `i?j` (possible). A head links each target word to
the source word that it attends to most. The alignment error rate (Och and Ney 2000) is 0 for a head
that finds exactly the sure links, and 100 % for one that finds none.

Prints a table in per cent, then one line of JSON. Both conventions are
given: `output` labels a row by the token that it generates, `input` by the token that it reads.

A table of methods follows: a single head, the mean of a layer's heads, norms and ALTI of a layer, and
whole methods; see `analyse attribute --help`. A word is linked to the one with the largest size; by flow,
with the largest part. `best` is measured on the sentences on which it was chosen.
`two-fold` chooses layer and head on one half of the sentences and measures on the other, and the
other way round; `any` also chooses the method. Differences to the best head are two-fold, with 95 %
of 1,000 draws of sentences. --slow adds gradients and leave-one-out, which take minutes.

Example:
  python -m transformer_core align --checkpoint checkpoints/en-de --gold alignment.en-de.tsv
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from transformer_core.cli.arguments import (
    Options,
    Parser,
    checkpoint_names,
    head_rows,
    load_translator,
    write_summary,
    write_table,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from transformer_core.analysis.method_alignment import Choice, Compared

_CONVENTIONS = {
    "output": "rows labelled by the token that they generate",
    "input": "rows labelled by the token that they read, one later",
}


def add_options(parser: Parser) -> None:
    """Add the options of this command."""
    parser.add_checkpoint()
    parser.add_path("--gold", "A .tsv, .tsv.xz or .tsv.gz.", required=True)
    parser.add_argument("--slow", action="store_true", help="Also measure gradients and leave-one-out.")
    parser.add_machine()


def run(options: Options) -> int:
    """Measure every encoder-decoder head and method."""
    from transformer_core.analysis.alignment import alignment_report, best_head, read_gold
    from transformer_core.analysis.method_alignment import ALIGNERS, BASELINE, SLOW, compare, method_counts
    from transformer_core.data import DataError
    from transformer_core.progress import tracked

    gold = list(read_gold(options.gold))
    if not gold:
        raise DataError(f"{options.gold} has no sentences")
    translator = load_translator(options)
    aligners = [name for name in ALIGNERS if options.slow or name not in SLOW]
    counts = method_counts(translator, gold, aligners=aligners, progress=lambda pairs: tracked(pairs, unit="sentence"))
    shape = translator.config.num_layers, translator.config.num_heads
    errors: dict[str, npt.NDArray[np.float64]] = {
        name: by_method[BASELINE].errors.reshape(shape) for name, by_method in counts.items()
    }
    best = {name: best_head(table) for name, table in errors.items()}
    for name, table in errors.items():
        _write_errors(name, table, best[name])
    compared = {name: compare(by_method) for name, by_method in counts.items()} if len(gold) > 1 else {}
    for name, methods in compared.items():
        _write_methods(name, methods)
    norms = {name: counts[name]["norm"].minus(counts[name]["attention"]) for name in compared}
    for name, values in norms.items():
        difference, low, high = (f"{100 * value:+.1f}" for value in values)
        sys.stdout.write(f"norm minus attention, AER in points ({name}): {difference}, 95 % {low} to {high}\n")
    summary = {
        "best": best,
        "aer": alignment_report(errors)["aer"],
        "methods": {name: _rounded(methods) for name, methods in compared.items()},
        "norm_minus_attention": {name: [round(value, 4) for value in values] for name, values in norms.items()},
        "sentences": len(gold),
        "gold": options.gold,
        **checkpoint_names(translator),
    }
    write_summary(summary)
    return 0


def _write_methods(name: str, methods: dict[str, Compared]) -> None:
    sys.stdout.write(f"Alignment error rate in % by method, {_CONVENTIONS[name]} ({name})\n")
    rows = [["method", "best", "at", "two-fold", "minus best head", "95 %"]]
    for method, result in methods.items():
        low, high = (f"{100 * value:+.1f}" for value in result.interval)
        difference = ["", ""] if method == "attention-head" else [f"{100 * result.difference:+.1f}", f"{low} to {high}"]
        rows.append(
            [
                method,
                f"{100 * result.best_error:.1f}",
                _place(result.best, named=method == "any"),
                f"{100 * result.error:.1f}",
                *difference,
            ]
        )
    write_table(rows)
    sys.stdout.write("\n")


def _place(choice: Choice, *, named: bool) -> str:
    """Return the head or layer, perhaps after the method."""
    return " ".join(choice).rstrip() if named else choice[1]


def _rounded(methods: dict[str, Compared]) -> dict[str, Any]:
    """Return numbers for programs: rates from 0 to 1."""

    def choice(row: Choice) -> dict[str, Any]:
        return dict(zip(("method", "head"), row, strict=True))

    return {
        method: {
            "best": {**choice(result.best), "aer": round(result.best_error, 4)},
            "two_fold": {"aer": round(result.error, 4), "chosen": [choice(each) for each in result.chosen]},
            "difference": round(result.difference, 4),
            "interval": [round(value, 4) for value in result.interval],
        }
        for method, result in methods.items()
    }


def _write_errors(name: str, table: npt.NDArray[np.float64], best: dict[str, Any]) -> None:
    sys.stdout.write(f"Alignment error rate in %, {_CONVENTIONS[name]} ({name})\n")
    write_table(head_rows((100 * table).tolist(), ".1f"))
    sys.stdout.write(f"best: {best['head']}: {100 * best['aer']:.1f}\n\n")
